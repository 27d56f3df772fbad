//! `agent-<id>.meta.json`: what a subagent is, who called it, and how deep it stands in the tree.
//!
//! It is the only place where the parent of a nested agent is named, and it is there as soon as the agent is. The folder
//! that it lies in says nothing of the parent: an agent that outlives `/clear` has one in the folder of each session.

use agent_tracer_event::{
    Agent, Certainty, Entry, Evidence, Millis, Phase, Reading, Subject, TaskKey, Unrecognised, attributes,
};
use agent_tracer_privacy::Level;
use serde_json::{Map, Value};

use super::file::{TranscriptFile, is_compaction_helper};
use super::writer::put;
use crate::files::Rules;
use crate::text::title;

/// Names and states that stay at every level: theirs, and ours.
const WORDS: &[(&str, &str)] = &[
    ("agentType", attributes::AGENT_TYPE),
    ("spawnedAgentType", attributes::SPAWNED_AGENT_TYPE),
    ("name", attributes::AGENT_NAME),
    ("teamName", attributes::TEAM_NAME),
    ("taskKind", attributes::TASK_KIND),
    ("model", attributes::REQUESTED_MODEL),
    ("permissionMode", attributes::PERMISSION_MODE),
    ("toolUseId", attributes::PARENT_TOOL_USE_ID),
    ("requestShape", attributes::REQUEST_SHAPE),
    ("worktreePath", attributes::WORKTREE_PATH),
];

/// Reads the file. `arrived` is when it was seen: it has no time of its own.
#[must_use]
pub fn read_meta(rules: &Rules<'_>, file: &TranscriptFile, content: &[u8], arrived: Millis) -> Reading {
    let Some(agent) = file.agent_id.as_deref().filter(|agent| !is_compaction_helper(agent)) else {
        return Reading::default();
    };
    let Ok(Value::Object(meta)) = serde_json::from_slice::<Value>(content) else {
        return Reading {
            unrecognised: vec![Unrecognised::Line("not JSON".to_owned())],
            ..Reading::default()
        };
    };
    let agent = rules.word(agent);
    let evidence = Evidence::reported("meta.json of the agent");
    let task = TaskKey::subagent(Agent::CLAUDE_CODE, &agent);
    let mut entry = Entry::new(Subject::Task, Phase::Update, task, "task", arrived, evidence);
    put(&mut entry.metadata, attributes::AGENT_ID, agent);
    for (from, to) in WORDS {
        // Byte for byte as given, and empty if it is: a type is what its rows are compared by.
        if let Some(text) = meta.get(*from).and_then(Value::as_str) {
            entry.metadata.insert((*to).to_owned(), Value::from(rules.word(text)));
        }
    }
    for (from, to) in [
        ("spawnDepth", attributes::DEPTH),
        ("finished", attributes::FINISHED),
        ("isBuiltIn", attributes::IS_BUILT_IN),
    ] {
        put(
            &mut entry.metadata,
            to,
            meta.get(from).filter(|value| value.is_number() || value.is_boolean()).cloned(),
        );
    }
    parent(rules, &meta, &mut entry);
    if let Some(description) = meta.get("description").and_then(Value::as_str)
        && rules.level() != Level::Metadata
    {
        let title = title(&agent_tracer_privacy::mask(description));
        put(&mut entry.metadata, attributes::TITLE, title);
        put(&mut entry.metadata, attributes::TITLE_SOURCE, "description");
    }
    Reading { entries: vec![entry], ..Reading::default() }
}

/// Tells which agent called this one, if one did.
fn parent(rules: &Rules<'_>, meta: &Map<String, Value>, entry: &mut Entry) {
    let named = meta.get("parentAgentId").and_then(Value::as_str).filter(|id| !id.is_empty());
    if let Some(agent) = named {
        let parent = TaskKey::subagent(Agent::CLAUDE_CODE, &rules.word(agent)).runtime_session;
        put(&mut entry.metadata, attributes::PARENT_SESSION, parent);
        put(&mut entry.metadata, attributes::PARENT_CERTAINTY, Certainty::Reported.as_str());
    }
}
