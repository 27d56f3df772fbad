//! Reads the status line of Claude Code: how full the context is, what it has cost, which model answers.
//!
//! The client refreshes it after every answer and on every change of mode, so most refreshes say nothing new: a
//! snapshot's key is made of what it holds, and an equal one is the same fact. Without a percentage and without rate
//! limits there is no snapshot; the attributes of the task are recorded either way.

use agent_tracer_event::{Entry, Evidence, Kind, Metadata, Millis, Phase, Reading, Unrecognised, attributes};
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
    reading.entries.push(as_reported(task(&hook)));
    let snapshot = snapshot(hook.payload);
    // The percentage is null at first, and a refresh without it would be a row that shows nothing.
    if snapshot.contains_key(attributes::CONTEXT_WINDOW_USED_PCT)
        || snapshot.keys().any(|key| key.starts_with("rateLimit"))
    {
        reading.entries.push(as_reported(event(&hook, snapshot)));
    }
    for (name, value) in hook.payload.0 {
        if BASE.contains(&name.as_str()) || MEMBERS.contains(&name.as_str()) {
            continue;
        }
        let name = text::line(name, 100);
        reading.unrecognised.push(Unrecognised::Field(format!("StatusLine.{name}")));
        if let Some(entry) = reading.entries.last_mut() {
            entry.metadata.insert(format!("{}{name}", attributes::OTHER_PREFIX), sanitise(value));
        }
    }
    reading
}

/// Marks an entry as reported, as a hook's is: the latest word on model and place wins.
fn as_reported(mut entry: Entry) -> Entry {
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
    put(attributes::CWD, inside("workspace", "current_dir"));
    put(attributes::PROJECT_DIR, inside("workspace", "project_dir"));
    put(attributes::MODEL, inside("model", "id"));
    put(attributes::CLIENT_VERSION, hook.payload.text(&["version"]));
    put(attributes::AGENT_TYPE, inside("agent", "name"));
    put(attributes::GIT_BRANCH, inside("worktree", "branch"));
    if let Some(name) = hook.payload.text(&["session_name"]).map(text::title).filter(|name| !name.is_empty())
    {
        put(attributes::TITLE, Some(&name));
        put(attributes::TITLE_SOURCE, Some("session_title"));
    }
    entry
}

fn event(hook: &Hook<'_>, snapshot: Metadata) -> Entry {
    let key = format!("snapshot:{}", text::hash16(&text::canonical(&Value::Object(snapshot.clone()))));
    let mut entry = hook.event(Kind::ContextSnapshot, Phase::Open, key);
    entry.title = Some(match snapshot.get(attributes::CONTEXT_WINDOW_USED_PCT) {
        Some(used) => format!("Context {used}% used"),
        None => "Context".to_owned(),
    });
    entry.metadata.extend(snapshot);
    entry
}

/// Returns the snapshot under its fixed names.
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
        &[
            ("used_percentage", attributes::CONTEXT_WINDOW_USED_PCT),
            ("remaining_percentage", attributes::CONTEXT_WINDOW_REMAINING_PCT),
        ],
    );
    // Of the latest request: what went in, cached or not, and what came out.
    let total = |key: &str| window.and_then(|window| window.natural(&[key]));
    if let (Some(input), output) = (total("total_input_tokens"), total("total_output_tokens").unwrap_or(0)) {
        metadata
            .insert(attributes::CONTEXT_WINDOW_TOTAL_TOKENS.to_owned(), json!(input.saturating_add(output)));
    }
    numbers(window, &mut metadata, &[("context_window_size", attributes::CONTEXT_WINDOW_SIZE)]);
    numbers(
        window.and_then(|window| window.object(&["current_usage"])),
        &mut metadata,
        &[
            ("input_tokens", attributes::CONTEXT_WINDOW_INPUT_TOKENS),
            ("output_tokens", attributes::CONTEXT_WINDOW_OUTPUT_TOKENS),
            ("cache_creation_input_tokens", attributes::CONTEXT_WINDOW_CACHE_CREATION_TOKENS),
            ("cache_read_input_tokens", attributes::CONTEXT_WINDOW_CACHE_READ_TOKENS),
        ],
    );
    let limits = payload.object(&["rate_limits"]);
    let windows = [
        ("five_hour", attributes::RATE_LIMIT_FIVE_HOUR_USED_PCT, attributes::RATE_LIMIT_FIVE_HOUR_RESETS_AT),
        ("seven_day", attributes::RATE_LIMIT_SEVEN_DAY_USED_PCT, attributes::RATE_LIMIT_SEVEN_DAY_RESETS_AT),
    ];
    for (window, used_key, resets_key) in windows {
        let Some(limit) = limits.and_then(|limits| limits.object(&[window])) else { continue };
        if let Some(used) = limit.number(&["used_percentage", "used_percent"]) {
            metadata.insert(used_key.to_owned(), used.clone());
        }
        if let Some(resets) = limit.get(&["resets_at"]).and_then(time) {
            metadata.insert(resets_key.to_owned(), Value::from(resets.to_string()));
        }
    }
    numbers(payload.object(&["cost"]), &mut metadata, &[("total_cost_usd", attributes::COST_TOTAL_USD)]);
    if let Some(model) = payload.object(&["model"]) {
        carry(
            model,
            &mut metadata,
            &[(&["id"], attributes::MODEL_ID), (&["display_name"], attributes::MODEL_DISPLAY_NAME)],
        );
    }
    carry(payload, &mut metadata, &[(&["version"], attributes::SESSION_VERSION)]);
    metadata
}

/// Returns a time, as seconds since 1970 (the client) or RFC 3339 (as some documents show it).
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
