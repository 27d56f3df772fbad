//! One row, one line.

use std::collections::HashMap;

use agent_tracer_event::Lane;
use agent_tracer_ledger::view::Row;

use crate::commands::show::paint_of;
use crate::failure::Failure;
use crate::figures;
use crate::local_time::LocalTime;
use crate::output::{Output, Paint, one_line};
use crate::table::cut;

/// Limit of rows with a remembered line.
const REMEMBERED: usize = 4_096;
/// Columns of what it is.
const WHAT: usize = 18;

/// Writes rows.
pub(super) struct Lines {
    zone: LocalTime,
    is_json: bool,
    /// Last printed line of each row.
    shown: HashMap<String, String>,
}

impl Lines {
    pub(super) fn new(zone: LocalTime, is_json: bool) -> Lines {
        Lines { zone, is_json, shown: HashMap::new() }
    }

    /// Writes a row, unless it would look as it did before.
    pub(super) fn show(&mut self, row: &Row, output: &mut Output) -> Result<(), Failure> {
        // A program gets every version of a row; equal lines are kept from people alone.
        if self.is_json {
            let text = serde_json::to_string(row)
                .map_err(|error| Failure::new(format!("cannot write a row as JSON: {error}")))?;
            return output.data(&(text + "\n"));
        }
        let line = line(row, &self.zone, output);
        if self.shown.get(&row.id) == Some(&line) {
            return Ok(());
        }
        // All at once: the worst of it is a line that is printed a second time.
        if self.shown.len() >= REMEMBERED {
            self.shown.clear();
        }
        output.data(&format!("{line}\n"))?;
        self.shown.insert(row.id.clone(), line);
        Ok(())
    }
}

fn line(row: &Row, zone: &LocalTime, output: &Output) -> String {
    let what = one_line(row.tool_name.as_deref().unwrap_or(row.kind.as_str()));
    let what = format!("{:<WHAT$}", cut(&what, WHAT));
    let what = match row.lane {
        Lane::User | Lane::Questions => output.paint(Paint::Blue, &what),
        Lane::Rule => output.paint(Paint::Yellow, &what),
        _ => what,
    };
    let state = row.state.map_or("", |state| state.as_str());
    let state = match row.state.and_then(paint_of) {
        Some(paint) => output.paint(paint, &format!("{state:<11}")),
        None => format!("{state:<11}"),
    };
    let took = row.ended_at.map(|ended| ended.0.saturating_sub(row.occurred_at.0)).filter(|took| *took > 0);
    let took = took.and_then(|took| u64::try_from(took).ok()).map(figures::duration).unwrap_or_default();
    let by = match row.agent_type.as_str() {
        "main" | "" => String::new(),
        kind => format!("[{}] ", one_line(kind)),
    };
    let title = one_line(&row.title);
    let head = format!("{}  {}  ", zone.time(row.occurred_at), figures::short_id(&row.task_id));
    let room = output
        .width()
        .map_or(usize::MAX, |width| width.saturating_sub(head.chars().count() + WHAT + 11 + 6 + 6).max(8));
    let text = cut(&format!("{by}{title}"), room);
    let line = format!("{}{what}  {state}  {took:>6}  {text}", output.paint(Paint::Dim, &head));
    line.trim_end().to_owned()
}
