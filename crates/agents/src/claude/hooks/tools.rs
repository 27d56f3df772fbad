//! Tool calls: attempted, returned, failed, denied, and reported again when their batch is done.
//!
//! All of them speak of the fact `tool:<tool_use_id>`. The attempt opens it, the first of the others closes it. A call
//! that only its batch tells of (a bad input, a denial) is complete here too.

use agent_tracer_event::semantics::Importance;
use agent_tracer_event::{
    CallState, Certainty, Entry, Evidence, Kind, Phase, Reading, Subject, Unrecognised, attributes,
};
use serde_json::Value;

use super::Event;
use super::hook::Hook;
use crate::claude::wire::{Members, TextOrLength};
use crate::text::{self, call_signature};
use crate::tools::outcome::{self, Outcome};
use crate::tools::{self as meaning, Call, Meaning, NAME_CHARS};

use super::results;
use super::subagents;

pub(super) const EVENTS: &[Event] = &[
    Event {
        name: "PreToolUse",
        members: &["tool_name", "tool_input", "tool_use_id", "mcp_server"],
        read: attempted,
    },
    Event {
        name: "PostToolUse",
        members: &[
            "tool_name",
            "tool_input",
            "tool_response",
            "tool_output",
            "tool_use_id",
            "duration_ms",
            "mcp_server",
            "success",
        ],
        read: returned,
    },
    Event {
        name: "PostToolUseFailure",
        members: &[
            "tool_name",
            "tool_input",
            "tool_use_id",
            "error",
            "is_interrupt",
            "duration_ms",
            "mcp_server",
        ],
        read: failed,
    },
    Event { name: "PostToolBatch", members: &["tool_calls", "tool_use_ids"], read: batch },
    Event {
        name: "PermissionDenied",
        members: &["tool_name", "tool_input", "tool_use_id", "reason", "mcp_server"],
        read: denied,
    },
];

const NULL: Value = Value::Null;

/// A call as a payload, or a member of a batch, tells of it.
pub(super) struct CallPayload<'a> {
    pub(super) tool: &'a str,
    pub(super) input: &'a Value,
    pub(super) id: Option<String>,
    members: Members<'a>,
}

impl<'a> CallPayload<'a> {
    pub(super) fn new(members: Members<'a>) -> Self {
        Self {
            tool: members.text(&["tool_name"]).unwrap_or_default(),
            input: members.0.get("tool_input").unwrap_or(&NULL),
            id: members.id(&["tool_use_id"]),
            members,
        }
    }

    fn response(&self) -> &'a Value {
        // `tool_output` is the spelling of older documents; no client that was driven wrote it.
        self.members.get(&["tool_response", "tool_output"]).unwrap_or(&NULL)
    }

    pub(super) fn meaning(&self, hook: &Hook<'_>) -> Meaning {
        meaning::understand(&Call {
            agent: hook.observation.agent,
            tool: self.tool,
            input: self.input,
            place: hook.place(),
        })
    }

    pub(super) fn signature(&self, hook: &Hook<'_>) -> String {
        call_signature(hook.observation.agent, self.tool, self.input)
    }

    pub(super) fn key(&self, hook: &Hook<'_>) -> String {
        self.id.as_ref().map_or_else(|| hook.own_key(), |id| format!("tool:{id}"))
    }

    /// Returns the entry of the call, with all that its input says.
    fn entry(&self, hook: &Hook<'_>, phase: Phase, meaning: Meaning) -> Entry {
        let mut entry = hook.event(Kind::ToolUsed, phase, self.key(hook));
        entry.tool_name = Some(text::line(self.tool, NAME_CHARS));
        entry.tool_use_id = self.id.clone();
        meaning.write(&mut entry);
        if let Some(server) = self.members.object(&["mcp_server"]) {
            if let Some(name) = server.text(&["name"]) {
                entry.metadata.insert(attributes::MCP_SERVER.to_owned(), Value::from(text::line(name, 200)));
            }
            if let Some(source) = server.text(&["source"]) {
                entry
                    .metadata
                    .insert(attributes::MCP_SERVER_SOURCE.to_owned(), Value::from(text::line(source, 200)));
            }
        }
        entry
    }

    pub(super) fn check(&self, meaning: &Meaning, reading: &mut Reading) {
        if !meaning.recognised {
            reading.unrecognised.push(Unrecognised::Tool(text::line(self.tool, NAME_CHARS)));
        }
    }
}

fn attempted(hook: &Hook<'_>, reading: &mut Reading) {
    let call_payload = CallPayload::new(hook.payload);
    let meaning = call_payload.meaning(hook);
    call_payload.check(&meaning, reading);
    reading.entries.push(hook.task());
    let mut entry = call_payload.entry(hook, Phase::Open, meaning);
    entry.state = Some(CallState::Running);
    entry.metadata.insert(attributes::CALL_SIGNATURE.to_owned(), Value::from(call_payload.signature(hook)));
    reading.entries.push(entry);
}

fn returned(hook: &Hook<'_>, reading: &mut Reading) {
    let call_payload = CallPayload::new(hook.payload);
    let mut outcome = outcome::returned(call_payload.response());
    if hook.payload.flag(&["success"]) == Some(false) && outcome.state == CallState::Succeeded {
        outcome.state = CallState::Failed;
    }
    close(hook, &call_payload, outcome, reading);
}

fn failed(hook: &Hook<'_>, reading: &mut Reading) {
    let call_payload = CallPayload::new(hook.payload);
    let error = hook.payload.0.get("error").unwrap_or(&NULL);
    let outcome = outcome::failed(error, hook.payload.flag(&["is_interrupt"]) == Some(true));
    close(hook, &call_payload, outcome, reading);
}

/// Reads the end of a call, and what its result says of other things.
fn close(hook: &Hook<'_>, call_payload: &CallPayload<'_>, outcome: Outcome, reading: &mut Reading) {
    let meaning = call_payload.meaning(hook);
    call_payload.check(&meaning, reading);
    reading.entries.push(hook.task());
    let subtype = meaning.semantics.subtype;
    let mut entry = call_payload.entry(hook, Phase::Close, meaning);
    let state = outcome.state;
    end(&mut entry, hook, outcome, outcome::importance(state, subtype));
    if let Some(duration) = hook.payload.number(&["duration_ms"]) {
        entry.metadata.insert(attributes::DURATION_MS.to_owned(), duration.clone());
        entry.metadata.insert(attributes::DURATION_SOURCE.to_owned(), Value::from("agent"));
    }
    let more = results::of(hook, call_payload, &mut entry);
    reading.entries.push(entry);
    reading.entries.extend(more);
    // No event reports its end: its answer is the last thing that it does.
    if hook.is_verifier() && call_payload.tool == "StructuredOutput" && state == CallState::Succeeded {
        reading.entries.push(subagents::ended(hook));
    }
}

fn end(entry: &mut Entry, hook: &Hook<'_>, outcome: Outcome, importance: Option<Importance>) {
    entry.state = Some(outcome.state);
    entry.ended_at = Some(hook.at);
    for (name, value) in outcome.metadata {
        // Members of the input stay; a result only adds.
        entry.metadata.entry(name).or_insert(value);
    }
    if entry.subject == Subject::Event(Kind::QuestionLogged) {
        meaning::settle_question(entry);
    }
    if let Some(importance) = importance {
        entry.metadata.insert(attributes::IMPORTANCE.to_owned(), Value::from(importance.as_str()));
    }
}

fn denied(hook: &Hook<'_>, reading: &mut Reading) {
    let call_payload = CallPayload::new(hook.payload);
    let meaning = call_payload.meaning(hook);
    call_payload.check(&meaning, reading);
    reading.entries.push(hook.task());
    let what = meaning.title.clone();
    let subtype = meaning.semantics.subtype;
    let mut rule = hook.event(Kind::RuleLogged, Phase::Open, hook.own_key());
    rule.title = Some(text::title(&format!("Denied: {what}")));
    rule.tool_name = Some(text::line(call_payload.tool, NAME_CHARS));
    rule.tool_use_id = call_payload.id.clone();
    for (name, value) in [
        (attributes::RULE_STATUS, "denied"),
        (attributes::RULE_OUTCOME, "auto_deny"),
        (attributes::RULE_POLICY, "auto_mode_classifier"),
        (attributes::IMPORTANCE, Importance::Critical.as_str()),
    ] {
        rule.metadata.insert(name.to_owned(), Value::from(value));
    }
    if let Some(id) = &call_payload.id {
        rule.metadata.insert(attributes::TOOL_USE_ID.to_owned(), Value::from(id.as_str()));
    }
    super::hook::carry_text(
        &mut rule.metadata,
        attributes::REASON,
        hook.payload.text_or_length(&["reason"]),
        1000,
    );
    if let Some(TextOrLength::Text(reason)) = hook.payload.text_or_length(&["reason"]) {
        rule.body = Some(text::cut(reason, 1000).into_owned());
    }
    let mut entry = call_payload.entry(hook, Phase::Close, meaning);
    let outcome = Outcome {
        state: CallState::Denied,
        error_class: Some(agent_tracer_event::ErrorClass::Permission),
        metadata: [(attributes::ERROR_CLASS.to_owned(), Value::from("permission"))].into_iter().collect(),
    };
    end(&mut entry, hook, outcome, outcome::importance(CallState::Denied, subtype));
    reading.entries.push(rule);
    if call_payload.id.is_some() {
        reading.entries.push(entry);
    } else {
        // Without an id the denial cannot be tied to a call, and closing another fact would be a guess: what was wanted
        // stands on the denial itself.
        let wanted = entry.metadata.shift_remove(attributes::TOOL_INPUT);
        if let (Some(rule), Some(wanted)) = (reading.entries.last_mut(), wanted) {
            rule.metadata.insert(attributes::TOOL_INPUT.to_owned(), wanted);
            rule.metadata.insert(
                attributes::TOOL_INPUT_SUMMARY.to_owned(),
                Value::from(super::dialogs::summary(call_payload.input)),
            );
            rule.file_paths = entry.file_paths;
        }
    }
}

/// Closes all calls of one answer of the model. For a call that nothing else closed this is the only word of its end.
fn batch(hook: &Hook<'_>, reading: &mut Reading) {
    reading.entries.push(hook.task());
    let calls = hook.payload.list(&["tool_calls"]).unwrap_or_default();
    // Older documents list the ids beside the calls.
    let ids = hook.payload.list(&["tool_use_ids"]).unwrap_or_default();
    let listed =
        |index: usize| ids.get(index).and_then(Value::as_str).map(|id| text::cut(id, 300).into_owned());
    let call_payloads: Vec<CallPayload<'_>> = calls
        .iter()
        .enumerate()
        .filter_map(|(index, call)| {
            let mut call_payload = CallPayload::new(Members(call.as_object()?));
            call_payload.id = call_payload.id.or_else(|| listed(index));
            Some(call_payload)
        })
        .collect();
    let mut names: Vec<String> = call_payloads.iter().filter_map(|call| call.id.clone()).collect();
    if names.is_empty() {
        names = (0..ids.len()).filter_map(listed).collect();
    }
    let batch = names.first().cloned();
    let key = batch.as_ref().map_or_else(|| hook.own_key(), |first| format!("batch:{first}"));
    let mut saved = hook.event(Kind::ContextSaved, Phase::Open, key);
    let count = calls.len().max(ids.len());
    saved.title = Some(match count {
        1 => "Tool call done".to_owned(),
        many => format!("{many} tool calls done"),
    });
    saved.metadata.insert(attributes::TRIGGER.to_owned(), Value::from("tool_batch_completed"));
    saved.metadata.insert(attributes::ITEM_COUNT.to_owned(), Value::from(count));
    saved.metadata.insert(attributes::TOOL_USE_IDS.to_owned(), Value::from(names));
    if let Some(batch) = &batch {
        saved.metadata.insert(attributes::BATCH_ID.to_owned(), Value::from(batch.as_str()));
    }
    reading.entries.push(saved);
    for call in &call_payloads {
        let meaning = call.meaning(hook);
        call.check(&meaning, reading);
        if call.id.is_none() {
            continue;
        }
        let subtype = meaning.semantics.subtype;
        let outcome = outcome::returned(call.response());
        let importance = outcome::importance(outcome.state, subtype);
        let mut entry = call.entry(hook, Phase::Close, meaning);
        entry.evidence = Evidence {
            certainty: Certainty::Inferred,
            reason: "hook PostToolBatch, text of the result".to_owned(),
        };
        end(&mut entry, hook, outcome, importance);
        if let Some(batch) = &batch {
            entry.metadata.insert(attributes::BATCH_ID.to_owned(), Value::from(batch.as_str()));
        }
        // The attempt, which is surer, has rated the call by what it was about to do; the rating of a refusal must
        // stand beside it.
        let raised = importance.map(|importance| {
            let mut raised = hook.event(Kind::ToolUsed, Phase::Update, entry.key.clone());
            raised.subject = entry.subject;
            raised.tool_use_id = entry.tool_use_id.clone();
            raised.metadata =
                [("importance".to_owned(), Value::from(importance.as_str()))].into_iter().collect();
            raised
        });
        reading.entries.push(entry);
        reading.entries.extend(raised);
    }
}
