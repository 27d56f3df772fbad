//! Rows of tables and answers that hold a spend in columns of their own.

use agent_tracer_ledger::project::spend::Spend;

/// A row with the columns of a spend.
pub(crate) trait SpendRow {
    /// Returns the spend in its columns.
    fn spend(&self) -> Spend;

    /// Sets its columns.
    fn set_spend(&mut self, spend: &Spend);
}

/// Declares a row: after its own columns, which column holds which part of a [`Spend`], or `spend { all }` for a column of
/// each part. Parts without a column are zero; a row without a spend has none of these columns.
///
/// The official client reads a row column by column and knows no flattened struct, so the columns are fields.
macro_rules! spend_row {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            own { $($own:tt)* }
            spend { all }
            $($then:tt)*
        }
    ) => {
        $crate::clickhouse::spend_row::spend_row! {
            $(#[$meta])*
            $vis struct $name {
                own { $($own)* }
                spend {
                    input: input,
                    output: output,
                    cache_read: cache_read,
                    cache_write: cache_write,
                    reasoning: reasoning,
                    cost: cost,
                    responses: responses,
                    unpriced: unpriced,
                }
                $($then)*
            }
        }
    };
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            own { $($(#[$own_meta:meta])* $own_vis:vis $own:ident: $kind:ty,)* }
        }
    ) => {
        $(#[$meta])*
        $vis struct $name {
            $($(#[$own_meta])* $own_vis $own: $kind,)*
        }
    };
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            own { $($(#[$own_meta:meta])* $own_vis:vis $own:ident: $kind:ty,)* }
            spend { $($column:ident: $part:ident),+ $(,)? }
            $(then { $($(#[$more_meta:meta])* $more_vis:vis $more:ident: $more_kind:ty,)* })?
        }
    ) => {
        $(#[$meta])*
        $vis struct $name {
            $($(#[$own_meta])* $own_vis $own: $kind,)*
            $($column: i64,)+
            $($($(#[$more_meta])* $more_vis $more: $more_kind,)*)?
        }

        impl $crate::clickhouse::spend_row::SpendRow for $name {
            fn spend(&self) -> Spend {
                let mut spend = Spend::of_numbers([0; 8]);
                $(spend.$part = self.$column;)+
                spend
            }

            fn set_spend(&mut self, spend: &Spend) {
                $(self.$column = spend.$part;)+
            }
        }
    };
}
pub(crate) use spend_row;
