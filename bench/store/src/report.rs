//! Collects what was measured: text for people as it comes, JSON at the end, and a verdict.

use std::fs;
use std::io::Write;
use std::path::Path;

use serde_json::{Map, Value, json};

/// Holds the measurements so far.
#[derive(Default)]
pub(crate) struct Report {
    kept: Map<String, Value>,
    bars: Vec<Value>,
    failed: bool,
}

impl Report {
    pub(crate) fn title(&mut self, text: &str) {
        self.line(&format!("\n{text}"));
    }

    /// Prints a line at once: a run takes minutes.
    pub(crate) fn line(&mut self, text: &str) {
        // Standard output is closed: no more lines; the JSON is still written.
        drop(writeln!(std::io::stdout(), "{text}"));
    }

    /// Keeps a value for the JSON; of the same name there may be several.
    pub(crate) fn keep(&mut self, name: &str, value: Value) {
        if let Value::Array(list) = self.kept.entry(name).or_insert_with(|| json!([])) {
            list.push(value);
        }
    }

    /// Holds a measure against its bar.
    pub(crate) fn judge(&mut self, name: &str, what: &str, holds: bool) {
        self.failed |= !holds;
        self.line(&format!("  {} {name}: {what}", if holds { "ok  " } else { "FAIL" }));
        self.bars.push(json!({ "bar": name, "what": what, "holds": holds }));
    }

    /// Repeats the bars, writes the JSON, and says whether every bar holds.
    pub(crate) fn end(mut self, json: Option<&Path>) -> Result<bool, String> {
        let failed = self.bars.iter().filter(|bar| bar.get("holds") == Some(&Value::Bool(false))).count();
        let all = self.bars.len();
        self.title(&format!("{} of {all} bars hold", all - failed));
        if let Some(path) = json {
            let fail = |error: std::io::Error| format!("cannot write `{}`: {error}", path.display());
            let report = json!({ "measured": self.kept, "bars": self.bars, "holds": !self.failed });
            let mut file = fs::File::create(path).map_err(fail)?;
            writeln!(file, "{report:#}").map_err(fail)?;
        }
        Ok(!self.failed)
    }
}

/// Says what went wrong, on standard error.
pub(crate) fn complain(message: &str) {
    // There is no other output if this fails too.
    drop(writeln!(std::io::stderr(), "{message}"));
}
