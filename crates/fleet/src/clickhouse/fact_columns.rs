//! The columns of `fact` in which a [`FactRow`] is kept: declared once, for the rows that are written and for the answers
//! that are read.

use agent_tracer_ledger::project::FactRow;

/// A row with the columns of a [`FactRow`].
pub(crate) trait FactColumns {
    /// Returns the fact in its columns.
    fn into_fact(self) -> FactRow;

    /// Sets its columns.
    fn set_fact(&mut self, row: FactRow);
}

/// Declares a row with the columns of a [`FactRow`] behind its own.
///
/// The official client reads and writes a row column by column and knows no flattened struct, so the columns are fields.
macro_rules! fact_columns {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            own { $($own:tt)* }
            $($rest:tt)*
        }
    ) => {
        $crate::clickhouse::spend_row::spend_row! {
            $(#[$meta])*
            $vis struct $name {
                own {
                    $($own)*
                    fact: i64,
                    kind: String,
                    list: u8,
                    lane: String,
                    occurred: i64,
                    ord: i64,
                    ended: Option<i64>,
                    state: String,
                    open: u8,
                    tool: Option<String>,
                    turn: Option<i64>,
                    duration: Option<i64>,
                    error_class: String,
                    signature: Option<i64>,
                    certainty: String,
                    channels: u8,
                    data: String,
                    derived: String,
                }
                $($rest)*
            }
        }

        impl $crate::clickhouse::fact_columns::FactColumns for $name {
            fn into_fact(self) -> agent_tracer_ledger::project::FactRow {
                use agent_tracer_event::{CallState, Certainty, ErrorClass, Kind, Lane};
                use agent_tracer_ledger::project::row::Signature;
                use agent_tracer_ledger::project::{FactRow, List};

                let list = List::from_code(i64::from(self.list));
                FactRow {
                    fact: self.fact,
                    kind: Kind::parse(&self.kind),
                    list,
                    // A word of a newer version must not cost the row: the least lane and the least certainty claim
                    // nothing.
                    lane: Lane::parse(&self.lane).unwrap_or(Lane::Telemetry),
                    occurred: self.occurred,
                    order: self.ord,
                    ended: self.ended,
                    state: CallState::parse(&self.state),
                    open: self.open == 1,
                    tool: self.tool,
                    turn: self.turn,
                    duration: self.duration,
                    error: ErrorClass::parse(&self.error_class),
                    signature: self.signature.map(|number| Signature::of_column(list, number)),
                    certainty: Certainty::parse(&self.certainty).unwrap_or(Certainty::Guessed),
                    channels: self.channels,
                    // What cannot be read is lost for presentation; the values of the columns stay.
                    data: serde_json::from_str(&self.data).unwrap_or_default(),
                    derived: serde_json::from_str(&self.derived).unwrap_or_default(),
                }
            }

            fn set_fact(&mut self, row: agent_tracer_ledger::project::FactRow) {
                use agent_tracer_ledger::project::row::Signature;

                use $crate::clickhouse::write::word;

                self.fact = row.fact;
                self.kind = row.kind.map(word).unwrap_or_default();
                self.list = u8::try_from(row.list.code()).unwrap_or(0);
                self.lane = word(row.lane);
                self.occurred = row.occurred;
                self.ord = row.order;
                self.ended = row.ended;
                self.state = row.state.map(word).unwrap_or_default();
                self.open = u8::from(row.open);
                self.tool = row.tool;
                self.turn = row.turn;
                self.duration = row.duration;
                self.error_class = row.error.map(word).unwrap_or_default();
                self.signature = row.signature.map(Signature::number);
                self.certainty = word(row.certainty);
                self.channels = row.channels;
                self.data = serde_json::to_string(&row.data).unwrap_or_default();
                self.derived = match row.derived.is_empty() {
                    true => String::new(),
                    false => serde_json::to_string(&row.derived).unwrap_or_default(),
                };
            }
        }
    };
}
pub(crate) use fact_columns;
