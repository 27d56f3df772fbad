//! Every tool of both clients, by what comes out for it.

mod claude;
mod claude_work;
mod codex;
mod outcomes;
mod shells;

use agent_tracer_agents::tools::{Call, Meaning, Place, understand};
use agent_tracer_event::Agent;
use serde_json::Value;

/// Holds where all calls are made.
const PLACE: Place<'_> = Place { cwd: Some("/home/dev/project"), project: Some("/home/dev/project") };

fn meaning(agent: Agent, tool: &str, input: &Value) -> Meaning {
    understand(&Call { agent, tool, input, place: PLACE })
}

/// The fixed fields on one line: kind, lane, subtype, group, family, operation, importance.
fn fixed(meaning: &Meaning) -> String {
    let semantics = &meaning.semantics;
    format!(
        "{} {} {} {} {} {} {}",
        meaning.kind,
        meaning.lane,
        semantics.subtype,
        semantics.subtype.group(),
        semantics.family,
        semantics.operation,
        semantics.importance
    )
}

/// Returns what it was about, as `type name`.
fn entity(meaning: &Meaning) -> String {
    meaning.semantics.entity.as_ref().map_or_else(|| "-".to_owned(), |(kind, name)| format!("{kind} {name}"))
}

/// Checks a table of calls: tool, input, fixed fields, entity, title.
fn check(agent: Agent, table: &[(&str, Value, &str, &str, &str)]) {
    for (tool, input, expected, about, title) in table {
        let meaning = meaning(agent, tool, input);
        assert_eq!(fixed(&meaning), *expected, "{tool} {input}");
        assert_eq!(entity(&meaning), *about, "{tool} {input}");
        assert_eq!(meaning.title, *title, "{tool} {input}");
        assert!(meaning.recognised, "{tool}");
        assert_eq!(meaning.semantics.source_tool, *tool);
    }
}
