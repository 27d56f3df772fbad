//! Reads what rules of the user's decided on an event: our own record, in the agent's frame.
//!
//! Whose event it was stands in the members that the agent itself uses; what was decided stands under `decision`, in our
//! words. Each rule that spoke is an event of its own, those too that did nothing because they only rehearse. A call that was
//! refused ends here.

use agent_tracer_event::semantics::Importance;
use agent_tracer_event::{CallState, Entry, ErrorClass, Kind, Phase, Subject, Unrecognised, attributes};
use serde_json::{Map, Value};

use crate::text;

/// The member under which a decision stands.
pub(crate) const MEMBER: &str = "decision";
/// The most rules of one decision that are kept.
const RULES_MAX: usize = 64;
const NAME_CHARS: usize = 100;
const PLACE_CHARS: usize = 1000;
/// The events that a rule can put off.
const ENDS: &[&str] = &["Stop", "SubagentStop", "TaskCompleted", "TeammateIdle"];

/// Returns whether a rule did not let its event happen.
pub(crate) fn blocks(entry: &Entry) -> bool {
    let says = |name: &str, word: &str| entry.metadata.get(name).is_some_and(|value| value == word);
    entry.subject == Subject::Event(Kind::RuleLogged)
        && says(attributes::RULE_OUTCOME, "block_stop")
        && says(attributes::RULE_STATUS, "enforced")
}

/// Returns the name of the envelope of the event that a record is about. Records of older versions do not say it.
pub(crate) fn event_of(record: &Map<String, Value>) -> Option<&str> {
    record.get(MEMBER)?.get("event")?.as_str().filter(|event| !event.is_empty())
}

/// Returns the events of a record, made by `make` from a kind, a phase and what tells them apart.
pub(crate) fn entries(
    payload: &Map<String, Value>,
    mut make: impl FnMut(Kind, Phase, &str) -> Entry,
) -> Result<Vec<Entry>, Unrecognised> {
    let unknown = || Unrecognised::Event("decision".to_owned());
    let decision = payload.get(MEMBER).and_then(Value::as_object).ok_or_else(unknown)?;
    let rules = decision.get("rules").and_then(Value::as_array).ok_or_else(unknown)?;
    let member = |name: &str| payload.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let event = member("hook_event_name").unwrap_or_default();
    let mut out = Vec::new();
    for (place, rule) in rules.iter().take(RULES_MAX).enumerate() {
        let word =
            |name: &str| text::line(rule.get(name).and_then(Value::as_str).unwrap_or("unknown"), NAME_CHARS);
        let (name, wish, basis) = (word("rule"), word("decision"), word("basis"));
        let is_counted = rule.get("counted").and_then(Value::as_bool).unwrap_or(false);
        let outcome = match wish.as_str() {
            "stop" => "block_stop",
            // A denied end lets the agent go on, which is `block_stop` whatever word the rule has for it.
            "deny" if ENDS.contains(&event) => "block_stop",
            "silent" => "allow",
            other => other,
        };
        let status = match (is_counted, word("mode").as_str(), basis.as_str()) {
            (_, "dry_run", _) => "dry_run",
            // The rule of a project that the user has not trusted: it spoke, and nothing was done.
            (false, ..) => "held_back",
            (true, _, "let_go") => "let_go",
            (true, ..) => "enforced",
        };
        let mut entry = make(Kind::RuleLogged, Phase::Open, &format!("rule:{place}"));
        let subject = member("tool_name").or(member("hook_event_name")).unwrap_or("event");
        entry.title = Some(text::title(&format!("{} `{name}`: {subject}", title(outcome, status))));
        entry.tool_name = member("tool_name").map(|tool| text::line(tool, NAME_CHARS));
        entry.tool_use_id = member("tool_use_id").map(|id| text::cut(id, 300).into_owned());
        let importance = match (status, outcome) {
            ("enforced", "deny" | "block_stop") => Importance::Critical,
            ("enforced" | "let_go", _) => Importance::Normal,
            _ => Importance::Minor,
        };
        let words = [
            (attributes::RULE_ID, name.as_str()),
            (attributes::RULE_SOURCE, &word("origin")),
            (attributes::RULE_OUTCOME, outcome),
            (attributes::RULE_DECISION, &wish),
            (attributes::RULE_STATUS, status),
            (attributes::RULE_BASIS, &basis),
            (attributes::RULE_POLICY, "agent_tracer"),
            (attributes::IMPORTANCE, importance.as_str()),
        ];
        for (key, value) in words {
            entry.metadata.insert(key.to_owned(), Value::from(value));
        }
        if rule.get("project").is_some_and(Value::is_string) {
            let project = rule.get("project").and_then(Value::as_str).unwrap_or_default();
            entry
                .metadata
                .insert(attributes::RULE_PROJECT.to_owned(), Value::from(text::line(project, PLACE_CHARS)));
        }
        if let Some(cwd) = member("cwd") {
            entry.metadata.insert(attributes::CWD.to_owned(), Value::from(text::line(cwd, PLACE_CHARS)));
        }
        if rule.get("severity").is_some() {
            entry.metadata.insert(attributes::SEVERITY.to_owned(), Value::from(word("severity")));
        }
        let by = decision.get("answered_by").and_then(Value::as_str).unwrap_or("unknown");
        entry.metadata.insert(attributes::ANSWERED_BY.to_owned(), Value::from(text::line(by, NAME_CHARS)));
        for (name, key) in [
            ("took_us", attributes::DECISION_US),
            ("waited_us", attributes::DECISION_WAIT_US),
            ("looked_us", attributes::DECISION_LOOK_US),
        ] {
            if let Some(took) = decision.get(name).and_then(Value::as_u64) {
                entry.metadata.insert(key.to_owned(), Value::from(took));
            }
        }
        if let Some(tool) = member("tool_name") {
            entry
                .metadata
                .insert(attributes::TOOL_NAME.to_owned(), Value::from(text::line(tool, NAME_CHARS)));
        }
        let is_refused =
            status == "enforced" && matches!(wish.as_str(), "deny" | "stop") && event == "PreToolUse";
        let refused = entry.tool_use_id.clone().filter(|_| is_refused);
        out.push(entry);
        if let Some(id) = refused {
            out.push(call_refused(make(Kind::ToolUsed, Phase::Close, &format!("rule:{place}")), id, &name));
        }
    }
    Ok(out)
}

/// Returns the end of a call that a rule refused: what the client says of it comes later, and not always.
fn call_refused(mut call: Entry, id: String, rule: &str) -> Entry {
    call.key = format!("tool:{id}");
    call.tool_use_id = Some(id);
    call.state = Some(CallState::Denied);
    call.ended_at = Some(call.occurred_at);
    for (key, value) in [
        (attributes::ERROR_CLASS, ErrorClass::PolicyDenied.as_str()),
        (attributes::DENIED_BY_RULE, rule),
        (attributes::IMPORTANCE, Importance::Critical.as_str()),
    ] {
        call.metadata.insert(key.to_owned(), Value::from(value));
    }
    call
}

/// Returns the words before the name of the rule.
fn title(outcome: &str, status: &str) -> &'static str {
    match (status, outcome) {
        ("dry_run", _) => "Would speak: rule",
        ("held_back", _) => "Held back, not trusted: rule",
        ("let_go", _) => "Not put off any longer: rule",
        (_, "deny") => "Denied by rule",
        (_, "block_stop") => "Blocked by rule",
        (_, "ask") => "Asked by rule",
        (_, "allow") => "Let pass by rule",
        (_, "rewrite") => "Rewritten by rule",
        (_, "warn") => "Warned by rule",
        _ => "Rule",
    }
}
