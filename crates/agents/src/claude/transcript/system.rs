//! Rows of the system: how long turns took, retries, compactions, models that gave way to others, blocked prompts.
//!
//! Their texts are the client's messages to its user and may quote anything, so none of them is kept.

use agent_tracer_event::semantics::Importance;
use agent_tracer_event::{Kind, Phase, Subject, Unrecognised, attributes};
use serde_json::{Map, Value};

use super::writer::{RowWriter, put};
use super::{compaction, prompts, responses};
use crate::hooks::verified_rule;

/// Subtypes that say nothing which is not said elsewhere.
const SILENT: &[&str] = &[
    "agents_killed",
    "away_summary",
    "bridge_status",
    "memory_saved",
    "model_refusal_no_fallback",
    "permission_retry",
    "scheduled_task_fire",
    "thinking",
    "files_persisted",
    "microcompact_boundary",
    "api_metrics",
    "task_started",
    "task_notification",
    "task_progress",
    "hook_started",
    "hook_response",
    "init",
    "status",
];

/// Reads a row of the system.
pub(super) fn system(writer: &mut RowWriter<'_, '_>) {
    let Some(line) = writer.line else { return };
    let Ok(Value::Object(row)) = serde_json::from_slice::<Value>(line) else { return };
    let subtype = writer.row.subtype.head(60);
    match &*subtype {
        "compact_boundary" => compaction::boundary(writer, &row),
        "turn_duration" => turn(
            writer,
            &row,
            &[
                ("durationMs", attributes::DURATION_MS),
                ("pendingBackgroundAgentCount", attributes::BACKGROUND_TASK_COUNT),
            ],
        ),
        "stop_hook_summary" => stop_hooks(writer, &row),
        "api_error" => retry(writer, &row),
        "model_fallback" | "model_refusal_fallback" => fallback(writer, &row),
        "local_command" => local_command(writer, &row),
        "informational" => informational(writer, &row),
        // Rows of clients that did not sort them yet.
        "" => {}
        silent if SILENT.contains(&silent) => {}
        other => {
            let other = writer.rules.word(other);
            writer.state.counts.unrecognised += 1;
            writer.reading.unrecognised.push(Unrecognised::Row(format!("system/{other}")));
        }
    }
}

/// Adds numbers to the turn that is being worked on.
fn turn(writer: &mut RowWriter<'_, '_>, row: &Map<String, Value>, numbers: &[(&str, &str)]) {
    let Some(turn) = writer.turn() else { return };
    let mut entry = writer.entry(Subject::Turn, Phase::Update, format!("turn:{turn}"));
    entry.turn = Some(turn);
    for (from, to) in numbers {
        if let Some(number) = row.get(*from).filter(|number| number.is_number()) {
            entry.metadata.insert((*to).to_owned(), number.clone());
        }
    }
    if entry.metadata.contains_key(attributes::DURATION_MS) {
        put(&mut entry.metadata, attributes::DURATION_SOURCE, "agent");
    }
    if !entry.metadata.is_empty() {
        writer.push(entry);
    }
}

/// Writes what the hooks at the end of a turn cost: everybody's, not only ours.
fn stop_hooks(writer: &mut RowWriter<'_, '_>, row: &Map<String, Value>) {
    let Some(turn) = writer.turn() else { return };
    let list = |name: &str| row.get(name).and_then(Value::as_array);
    let mut entry = writer.entry(Subject::Turn, Phase::Update, format!("turn:{turn}"));
    entry.turn = Some(turn);
    let total: u64 = (list("hookInfos").into_iter().flatten())
        .filter_map(|hook| hook.get("durationMs").and_then(Value::as_u64))
        .fold(0, u64::saturating_add);
    if let Some(count) = row.get("hookCount").and_then(Value::as_u64) {
        put(&mut entry.metadata, attributes::STOP_HOOK_COUNT, count);
        put(&mut entry.metadata, attributes::STOP_HOOK_DURATION_MS, total);
    }
    let errors = list("hookErrors").map_or(0, Vec::len);
    if errors > 0 {
        put(&mut entry.metadata, attributes::STOP_HOOK_ERROR_COUNT, errors);
    }
    if row.get("preventedContinuation").and_then(Value::as_bool) == Some(true) {
        put(&mut entry.metadata, attributes::PREVENTED_CONTINUATION, true);
    }
    writer.push(entry);
    verdicts(writer, row);
}

/// Holds how an agent's verdict on a criterion that was not met begins.
const NOT_MET: &str = "Agent hook condition was not met";

/// Writes what verifiers of ours said, which the client itself asked: each is the verdict of a rule.
fn verdicts(writer: &mut RowWriter<'_, '_>, row: &Map<String, Value>) {
    let list = |name: &str| row.get(name).and_then(Value::as_array).into_iter().flatten();
    let errors: Vec<&str> = list("hookErrors").filter_map(Value::as_str).collect();
    for (place, hook) in list("hookInfos").enumerate() {
        let text = hook.get("promptText").or(hook.get("command")).and_then(Value::as_str).unwrap_or_default();
        let Some(rule) = verified_rule(text) else { continue };
        let is_prompt = hook.get("promptText").is_some();
        let refused = errors.iter().any(|error| match is_prompt {
            true => error.strip_prefix('[').is_some_and(|rest| rest.starts_with(&format!("{text}]: "))),
            false => error.starts_with(NOT_MET),
        });
        // An error that is no verdict belongs to one of the hooks; the row does not say to which.
        let is_unclear =
            !refused && errors.iter().any(|error| !error.starts_with('[') && !error.starts_with(NOT_MET));
        let (outcome, basis) = match (refused, is_unclear) {
            (true, _) => ("block_stop", "applies"),
            (false, true) => ("allow", "outage"),
            (false, false) => ("allow", "applies"),
        };
        let mut entry =
            writer.event(Kind::RuleLogged, Phase::Open, format!("{}:rule:{place}", writer.own_key()));
        let said = if refused { "Blocked by rule" } else { "Let pass by rule" };
        entry.title = Some(format!("{said} `{rule}`: Stop"));
        entry.hook_event_name = Some("Stop".to_owned());
        let importance = if refused { Importance::Critical } else { Importance::Minor };
        for (key, value) in [
            (attributes::RULE_ID, rule),
            (attributes::RULE_SOURCE, "user"),
            (attributes::RULE_OUTCOME, outcome),
            (attributes::RULE_DECISION, "deny"),
            (attributes::RULE_STATUS, "enforced"),
            (attributes::RULE_BASIS, basis),
            (attributes::RULE_POLICY, "agent_tracer"),
            (attributes::ANSWERED_BY, if is_prompt { "claude_prompt" } else { "claude_agent" }),
            (attributes::IMPORTANCE, importance.as_str()),
        ] {
            put(&mut entry.metadata, key, value);
        }
        if let Some(ms) = hook.get("durationMs").and_then(Value::as_u64) {
            put(&mut entry.metadata, attributes::DECISION_US, ms.saturating_mul(1000));
        }
        writer.push(entry);
    }
}

/// Reads a request that failed and is tried again.
fn retry(writer: &mut RowWriter<'_, '_>, row: &Map<String, Value>) {
    let error = row.get("error").and_then(Value::as_object);
    let request = error.and_then(|error| error.get("requestId")).and_then(Value::as_str);
    let request = request.and_then(|request| writer.rules.code(request)).unwrap_or_default();
    let key = if request.is_empty() { writer.own_key() } else { format!("request:{request}") };
    let mut entry = writer.event(Kind::ModelRequest, Phase::Close, key);
    entry.ended_at = Some(writer.at);
    put(&mut entry.metadata, attributes::STATUS, "error");
    put(&mut entry.metadata, attributes::REQUEST_ID, request);
    let number = |object: Option<&Map<String, Value>>, name: &str| {
        object?.get(name).filter(|value| value.is_number()).cloned()
    };
    let status = number(error, "status");
    entry.title = Some(match &status {
        Some(status) => format!("Request failed with status {status}, trying again"),
        None => "Request failed, trying again".to_owned(),
    });
    for (name, value) in [
        (attributes::HTTP_STATUS, status),
        (attributes::RETRY_ATTEMPT, number(Some(row), "retryAttempt")),
        (attributes::RETRY_IN_MS, number(Some(row), "retryInMs")),
        (attributes::MAX_RETRIES, number(Some(row), "maxRetries")),
    ] {
        put(&mut entry.metadata, name, value);
    }
    let connection =
        error.and_then(|error| error.get("connection")).and_then(|connection| connection.get("code"));
    if let Some(code) = connection.and_then(Value::as_str).and_then(|code| writer.rules.code(code)) {
        put(&mut entry.metadata, attributes::CONNECTION_ERROR, code);
    }
    writer.push(entry);
}

/// Reads that another model took over because the first one could not answer.
fn fallback(writer: &mut RowWriter<'_, '_>, row: &Map<String, Value>) {
    let word = |name: &str| row.get(name).and_then(Value::as_str).map(|text| writer.rules.word(text));
    let (from, to, why) = (word("originalModel"), word("fallbackModel"), word("trigger"));
    let (Some(from), Some(to)) = (from, to) else { return };
    writer.lane().model = Some(to.clone());
    let mut entry = responses::switch(writer, &from, &to, "fallback");
    put(&mut entry.metadata, attributes::SOURCE, "fallback");
    put(&mut entry.metadata, attributes::FALLBACK_TRIGGER, why);
    writer.push(entry);
}

/// Reads a command of the client's own. Newer clients write a row of the user's before it; this one follows as its
/// answer.
fn local_command(writer: &mut RowWriter<'_, '_>, row: &Map<String, Value>) {
    // The row of the user's before it has reported the command already.
    if row.contains_key("commandRun") {
        return;
    }
    let content = row.get("content").and_then(Value::as_str).unwrap_or_default();
    let inner = |tag: &str| {
        let (_, rest) = content.split_once(&format!("<{tag}>"))?;
        rest.split_once(&format!("</{tag}>")).map(|(inside, _)| inside.trim().to_owned())
    };
    if let Some(name) = inner("command-name") {
        let args = inner("command-args").unwrap_or_default();
        prompts::own_command(writer, &format!("/{}", name.trim_start_matches('/')), &args);
    }
}

/// Reads a prompt that a hook of the user's did not let through. Anything else of this kind is for the screen only.
fn informational(writer: &mut RowWriter<'_, '_>, row: &Map<String, Value>) {
    let ending = row.get("promptSubmitEnding").and_then(|ending| ending.get("ending"));
    let kind = ending.and_then(|ending| ending.get("kind")).and_then(Value::as_str).unwrap_or_default();
    if kind != "blocked_by_hook" && row.get("preventContinuation").and_then(Value::as_bool) != Some(true) {
        return;
    }
    let mut entry = writer.event(Kind::RuleLogged, Phase::Close, writer.own_key());
    entry.title = Some("Prompt blocked by a hook".to_owned());
    entry.ended_at = Some(writer.at);
    put(&mut entry.metadata, attributes::RULE_STATUS, "denied");
    put(&mut entry.metadata, attributes::RULE_OUTCOME, "deny");
    put(&mut entry.metadata, attributes::RULE_POLICY, "user_hook");
    put(&mut entry.metadata, attributes::HOOK_EVENT, "UserPromptSubmit");
    put(&mut entry.metadata, attributes::ENDING_KIND, writer.rules.word(kind));
    put(&mut entry.metadata, attributes::IMPORTANCE, "critical");
    writer.push(entry);
}
