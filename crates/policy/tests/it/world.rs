//! Short ways to a rule, a call and a past.

use std::collections::BTreeMap;

use agent_tracer_event::Agent;
use agent_tracer_policy::{
    Call, Elapsed, History, LocalTime, Moment, NoHistory, Policy, RuleFile, Scope, Surroundings, Verdict,
    Weekday, Work, read,
};
use serde_json::{Value, json};

/// Reads rules that must be sound.
#[track_caller]
pub(crate) fn rules(text: &str) -> RuleFile {
    let text = format!("version = 1\n{text}");
    match read(&text) {
        Ok(file) => file,
        Err(faults) => {
            let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
            panic!("{}\n{text}", faults.join("\n"))
        }
    }
}

pub(crate) fn around() -> Surroundings {
    Surroundings {
        project: Some("/code/app".to_owned()),
        home: Some("/home/dev".to_owned()),
        now: Some(LocalTime { weekday: Weekday::Wednesday, minute: 10 * 60 }),
    }
}

/// Returns a call with these fields on top of those that every payload has.
#[track_caller]
pub(crate) fn call_of(agent: Agent, fields: Value) -> Call {
    let mut payload = json!({"session_id": "s", "cwd": "/code/app", "transcript_path": "/t.jsonl"});
    payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    Call::read(agent, payload.to_string().as_bytes(), around()).unwrap().unwrap()
}

/// Returns a tool about to run in Claude Code.
#[track_caller]
pub(crate) fn tool(name: &str, input: Value) -> Call {
    call_of(
        Agent::CLAUDE_CODE,
        json!({"hook_event_name": "PreToolUse", "tool_name": name, "tool_input": input, "tool_use_id": "t"}),
    )
}

#[track_caller]
pub(crate) fn bash(command: &str) -> Call {
    tool("Bash", json!({"command": command}))
}

/// Decides a call by the user's rules without a history.
#[track_caller]
pub(crate) fn decide(text: &str, call: &Call) -> Verdict {
    Policy::of_user(rules(text)).decide(call, &NoHistory)
}

/// A history made by hand.
#[derive(Clone, Debug, Default)]
pub(crate) struct FixedHistory {
    pub(crate) tokens: BTreeMap<Scope, u64>,
    pub(crate) cost: BTreeMap<Scope, u64>,
    pub(crate) repeats: Option<u64>,
    pub(crate) failures: Option<u64>,
    pub(crate) read: Option<Vec<String>>,
    pub(crate) since: BTreeMap<Moment, Elapsed>,
    pub(crate) put_off: Option<u64>,
    pub(crate) work: Option<Work>,
}

impl History for FixedHistory {
    fn tokens(&self, _: &Call, scope: Scope) -> Option<u64> {
        self.tokens.get(&scope).copied()
    }
    fn cost_micros(&self, _: &Call, scope: Scope) -> Option<u64> {
        self.cost.get(&scope).copied()
    }
    fn repeats(&self, _: &Call) -> Option<u64> {
        self.repeats
    }
    fn failures_in_a_row(&self, _: &Call) -> Option<u64> {
        self.failures
    }
    fn was_read(&self, _: &Call, path: &str) -> Option<bool> {
        self.read.as_ref().map(|read| read.iter().any(|known| known == path))
    }
    fn since(&self, _: &Call, moment: Moment) -> Option<Elapsed> {
        self.since.get(&moment).copied()
    }
    fn deferrals(&self, _: &Call, _: &str) -> Option<u64> {
        self.put_off
    }
    fn work(&self, _: &Call) -> Option<Work> {
        self.work.clone()
    }
}
