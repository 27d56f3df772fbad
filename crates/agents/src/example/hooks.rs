//! Reads the hooks of the made-up agent.

use agent_tracer_event::{CallState, Entry, Evidence, Kind, Phase, Reading, Subject, TaskKey, Unrecognised};
use serde_json::{Map, Value};

use crate::observation::Observation;
use crate::text;
use crate::tools::{self, Call, Place};

/// Reads one event.
pub(super) fn read(observation: &Observation<'_>) -> Reading {
    let Ok(payload) = serde_json::from_slice::<Map<String, Value>>(observation.body) else {
        let line = Unrecognised::Line("not JSON".to_owned());
        return Reading { unrecognised: vec![line], ..Reading::default() };
    };
    let text = |name: &str| payload.get(name).and_then(Value::as_str).unwrap_or_default();
    let event = text("hook_event_name");
    let task = TaskKey::new(observation.agent, text("session_id"));
    let entry = |subject: Subject, key: String| {
        let evidence = Evidence::measured(format!("hook {event}"));
        Entry::new(subject, Phase::Open, task.clone(), key, observation.arrived, evidence)
    };
    let mut reading = Reading::default();
    reading.entries.push(entry(Subject::Task, "task".to_owned()));
    match event {
        "prompt" => {
            let mut prompt = entry(Subject::Event(Kind::UserMessage), format!("prompt:{}", observation.name));
            prompt.title = Some(text::title(text("prompt")));
            prompt.body = Some(text("prompt").to_owned());
            reading.entries.push(prompt);
        }
        "tool" => {
            let input = payload.get("tool_input").unwrap_or(&Value::Null);
            let call =
                Call { agent: observation.agent, tool: text("tool_name"), input, place: Place::default() };
            let meaning = tools::understand(&call);
            let mut used = entry(Subject::Event(meaning.kind), format!("tool:{}", text("call_id")));
            meaning.write(&mut used);
            used.tool_name = Some(text("tool_name").to_owned());
            used.tool_use_id = Some(text("call_id").to_owned());
            used.state = Some(CallState::Succeeded);
            used.ended_at = Some(observation.arrived);
            reading.entries.push(used);
        }
        other => reading.unrecognised.push(Unrecognised::Event(text::line(other, 100))),
    }
    reading.write_reasons();
    reading
}
