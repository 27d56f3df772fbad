//! Reads the status line of Claude Code: how full the context is, what it has cost, which model answers.
//!
//! The client refreshes it after every answer and on every change of mode, so most refreshes say nothing new: a
//! snapshot's key is made of what it holds, and an equal one is the same fact. Without a percentage and without rate
//! limits there is no snapshot; what the payload says of the task is told either way.

use agent_tracer_event::{Entry, Evidence, Kind, Metadata, Millis, Phase, Reading, Unrecognised};
use serde_json::{Value, json};

use super::hooks::hook::{Hook, carry};
use super::wire::{BASE, Members};
use crate::observation::Observation;
use crate::text;
use crate::tools::sanitise;

/// The members of its own.
const MEMBERS: &[&str] = &[
    "session_name",
    "model",
    "workspace",
    "version",
    "output_style",
    "cost",
    "context_window",
    "exceeds_200k_tokens",
    "fast_mode",
    "thinking",
    "prompt_cache",
    "rate_limits",
    "vim",
    "agent",
    "remote",
    "pr",
    "worktree",
];

/// Reads one refresh.
pub(crate) fn read(observation: &Observation<'_>) -> Reading {
    let payload = match serde_json::from_slice::<Value>(observation.body) {
        Ok(payload) => payload,
        Err(_) => {
            return Reading {
                unrecognised: vec![Unrecognised::Line("not JSON".to_owned())],
                ..Reading::default()
            };
        }
    };
    let empty = serde_json::Map::new();
    let hook = Hook::new(observation, Members(payload.as_object().unwrap_or(&empty)));
    let mut reading = Reading {
        client_version: hook.payload.text(&["version"]).map(|version| text::line(version, 60)),
        ..Reading::default()
    };
    reading.entries.push(told(task(&hook)));
    let snapshot = snapshot(hook.payload);
    if snapshot.contains_key("contextWindowUsedPct")
        || snapshot.keys().any(|key| key.starts_with("rateLimit"))
    {
        reading.entries.push(told(event(&hook, snapshot)));
    }
    for (name, value) in hook.payload.0 {
        if BASE.contains(&name.as_str()) || MEMBERS.contains(&name.as_str()) {
            continue;
        }
        let name = text::line(name, 100);
        reading.unrecognised.push(Unrecognised::Field(format!("StatusLine.{name}")));
        if let Some(entry) = reading.entries.last_mut() {
            entry.metadata.insert(format!("other.{name}"), sanitise(value));
        }
    }
    reading
}

/// The status line is no hook event, but what it says is as sure: the latest word on model and place wins.
fn told(mut entry: Entry) -> Entry {
    entry.hook_event_name = None;
    entry.evidence = Evidence::measured("status line");
    entry
}

fn task(hook: &Hook<'_>) -> Entry {
    let mut entry = hook.task();
    let metadata = &mut entry.metadata;
    let mut put = |name: &str, text: Option<&str>| {
        if let Some(text) = text {
            metadata.insert(name.to_owned(), Value::from(text::cut(text, 1024).as_ref()));
        }
    };
    let inside = |object: &str, key: &str| hook.payload.object(&[object])?.text(&[key]);
    put("cwd", inside("workspace", "current_dir"));
    put("projectDir", inside("workspace", "project_dir"));
    put("model", inside("model", "id"));
    put("clientVersion", hook.payload.text(&["version"]));
    put("agentType", inside("agent", "name"));
    put("gitBranch", inside("worktree", "branch"));
    if let Some(name) = hook.payload.text(&["session_name"]).map(text::title).filter(|name| !name.is_empty())
    {
        put("title", Some(&name));
        put("titleSource", Some("session_title"));
    }
    entry
}

fn event(hook: &Hook<'_>, snapshot: Metadata) -> Entry {
    let key = format!("snapshot:{}", text::hash16(&text::canonical(&Value::Object(snapshot.clone()))));
    let mut entry = hook.event(Kind::ContextSnapshot, Phase::Open, key);
    entry.title = Some(match snapshot.get("contextWindowUsedPct") {
        Some(used) => format!("Context {used}% used"),
        None => "Context".to_owned(),
    });
    entry.metadata.extend(snapshot);
    entry
}

/// The snapshot under its fixed names.
fn snapshot(payload: Members<'_>) -> Metadata {
    let mut metadata = Metadata::new();
    let numbers = |object: Option<Members<'_>>, metadata: &mut Metadata, pairs: &[(&str, &str)]| {
        let Some(object) = object else { return };
        for (from, to) in pairs {
            if let Some(number) = object.number(&[from]) {
                metadata.insert((*to).to_owned(), number.clone());
            }
        }
    };
    let window = payload.object(&["context_window"]);
    numbers(
        window,
        &mut metadata,
        &[("used_percentage", "contextWindowUsedPct"), ("remaining_percentage", "contextWindowRemainingPct")],
    );
    // Of the latest request: what went in, cached or not, and what came out.
    let total = |key: &str| window.and_then(|window| window.natural(&[key]));
    if let (Some(input), output) = (total("total_input_tokens"), total("total_output_tokens").unwrap_or(0)) {
        metadata.insert("contextWindowTotalTokens".to_owned(), json!(input.saturating_add(output)));
    }
    numbers(window, &mut metadata, &[("context_window_size", "contextWindowSize")]);
    numbers(
        window.and_then(|window| window.object(&["current_usage"])),
        &mut metadata,
        &[
            ("input_tokens", "contextWindowInputTokens"),
            ("output_tokens", "contextWindowOutputTokens"),
            ("cache_creation_input_tokens", "contextWindowCacheCreationTokens"),
            ("cache_read_input_tokens", "contextWindowCacheReadTokens"),
        ],
    );
    let limits = payload.object(&["rate_limits"]);
    for (window, name) in [("five_hour", "rateLimitFiveHour"), ("seven_day", "rateLimitSevenDay")] {
        let Some(limit) = limits.and_then(|limits| limits.object(&[window])) else { continue };
        if let Some(used) = limit.number(&["used_percentage", "used_percent"]) {
            metadata.insert(format!("{name}UsedPct"), used.clone());
        }
        if let Some(resets) = limit.get(&["resets_at"]).and_then(time) {
            metadata.insert(format!("{name}ResetsAt"), Value::from(resets.to_string()));
        }
    }
    numbers(payload.object(&["cost"]), &mut metadata, &[("total_cost_usd", "costTotalUsd")]);
    if let Some(model) = payload.object(&["model"]) {
        carry(model, &mut metadata, &[(&["id"], "modelId"), (&["display_name"], "modelDisplayName")]);
    }
    carry(payload, &mut metadata, &[(&["version"], "sessionVersion")]);
    metadata
}

/// A time, as seconds since 1970 (the client) or RFC 3339 (as some documents show it).
fn time(value: &Value) -> Option<Millis> {
    match value {
        Value::String(text) => Millis::parse(text).or_else(|| seconds(text.trim().parse().ok()?)),
        Value::Number(number) => seconds(number.as_f64()?),
        _ => None,
    }
}

/// Numbers of this size are seconds up to the year 5138, and milliseconds from 1973 on.
fn seconds(number: f64) -> Option<Millis> {
    if !(0.0..=4e12).contains(&number) {
        return None;
    }
    let millis = if number < 1e11 { number * 1000.0 } else { number };
    Some(Millis(millis.round() as i64))
}
