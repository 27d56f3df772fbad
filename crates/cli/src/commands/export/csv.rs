//! Tables for spreadsheets, as RFC 4180 says: a line per event or task, fields quoted where they must be.
//!
//! Law: no field becomes a formula. Prompts and commands are written by others, and a spreadsheet would run
//! `=HYPERLINK(…)`; a text that begins like a formula gets an apostrophe before it. Numbers and times stay as they are.

use std::io::{self, Write};

use agent_tracer_ledger::view::{Row, Task};
use serde::Serialize;

use crate::figures;

const TASKS: &str = "task_id,title,kind,status,agent,agent_type,project,session,model,parent_task_id,started_at,\
    last_event_at,ended_at,turns,calls,failures,input_tokens,output_tokens,cache_read_tokens,cache_creation_tokens,\
    cost_usd,unpriced_responses";
const EVENTS: &str = "task_id,task_title,agent,agent_type,project,session,event_id,occurred_at,ended_at,duration_ms,kind,\
    lane,state,tool,title,body,files,turn_id,certainty";

/// A field.
enum Field<'a> {
    /// Text of a person or program.
    Text(&'a str),
    /// Text that cannot be a formula: our own words, numbers, times.
    Plain(String),
}

fn plain(value: impl ToString) -> Field<'static> {
    Field::Plain(value.to_string())
}

fn text(value: Option<&str>) -> Field<'_> {
    Field::Text(value.unwrap_or_default())
}

fn if_any(value: Option<impl ToString>) -> Field<'static> {
    Field::Plain(value.map(|value| value.to_string()).unwrap_or_default())
}

/// Writes the names of the columns.
pub(super) fn head(tasks_only: bool, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{}\r\n", if tasks_only { TASKS } else { EVENTS })
}

/// Writes a task.
pub(super) fn task(task: &Task, out: &mut dyn Write) -> io::Result<()> {
    let usage = &task.usage;
    line(
        &[
            Field::Text(&task.id),
            Field::Text(&task.title),
            Field::Plain(word(&task.kind)),
            Field::Plain(word(&task.status)),
            plain(task.agent),
            Field::Text(&task.agent_type),
            Field::Text(&task.project),
            Field::Text(&task.runtime_session_id),
            text(task.model.as_deref()),
            text(task.parent_task_id.as_deref()),
            plain(task.started_at),
            plain(task.last_event_at),
            if_any(task.ended_at),
            plain(task.turn_count),
            plain(task.tool_call_count),
            plain(task.failure_count),
            plain(usage.tokens.input),
            plain(usage.tokens.output),
            plain(usage.tokens.cache_read),
            plain(usage.tokens.cache_write),
            if_any(figures::known_cost(usage)),
            plain(usage.provenance.unpriced),
        ],
        out,
    )
}

/// Writes an event of a task.
pub(super) fn event(task: &Task, row: &Row, out: &mut dyn Write) -> io::Result<()> {
    let took = row.ended_at.map(|ended| ended.0.saturating_sub(row.occurred_at.0).max(0));
    let files = row.file_paths.join("\n");
    line(
        &[
            Field::Text(&task.id),
            Field::Text(&task.title),
            plain(task.agent),
            Field::Text(&row.agent_type),
            Field::Text(&task.project),
            Field::Text(&row.runtime_session_id),
            Field::Text(&row.id),
            plain(row.occurred_at),
            if_any(row.ended_at),
            if_any(took),
            plain(row.kind),
            plain(row.lane),
            if_any(row.state),
            text(row.tool_name.as_deref()),
            Field::Text(&row.title),
            text(row.body.as_deref()),
            Field::Text(&files),
            text(row.turn_id.as_deref()),
            plain(row.certainty),
        ],
        out,
    )
}

fn line(fields: &[Field<'_>], out: &mut dyn Write) -> io::Result<()> {
    for (index, field) in fields.iter().enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        out.write_all(render(field).as_bytes())?;
    }
    out.write_all(b"\r\n")
}

fn render(field: &Field<'_>) -> String {
    let safe = match field {
        Field::Plain(text) => text.clone(),
        // Blanks before it do not keep a spreadsheet from seeing a formula.
        Field::Text(text)
            if text.trim_start().starts_with(['=', '+', '-', '@'])
                || text.starts_with(['\t', '\r', '\n']) =>
        {
            format!("'{text}")
        }
        Field::Text(text) => (*text).to_owned(),
    };
    if safe.contains(['"', ',', '\n', '\r']) || safe.starts_with(' ') || safe.ends_with(' ') {
        format!("\"{}\"", safe.replace('"', "\"\""))
    } else {
        safe
    }
}

/// Returns the word of the wire for a value that has a name only there.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_never_becomes_a_formula_and_a_number_stays_one() {
        for (text, expected) in [
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-rm", "'-rm"),
            ("@x", "'@x"),
            ("\t=1", "'\t=1"),
            ("  =1", "'  =1"),
            ("a=1", "a=1"),
            ("=\"a\",b", "\"'=\"\"a\"\",b\""),
        ] {
            assert_eq!(render(&Field::Text(text)), expected, "{text:?}");
        }
        assert_eq!(render(&plain(-1)), "-1");
    }

    #[test]
    fn quotes_commas_and_lines_are_quoted() {
        assert_eq!(render(&Field::Text("a,b")), "\"a,b\"");
        assert_eq!(render(&Field::Text("say \"hi\"\nnow")), "\"say \"\"hi\"\"\nnow\"");
        assert_eq!(render(&Field::Text("")), "");
    }

    /// Reads one field back as a spreadsheet would.
    fn read(field: &str) -> String {
        match field.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            Some(inner) => inner.replace("\"\"", "\""),
            None => field.to_owned(),
        }
    }

    proptest! {
        #[test]
        fn every_text_comes_back_but_for_the_apostrophe(text in "(?s).{0,40}") {
            let back = read(&render(&Field::Text(&text)));
            prop_assert!(back == text || back == format!("'{text}"), "{back:?}");
            prop_assert!(!back.trim_start().starts_with(['=', '+', '-', '@']));
        }
    }
}
