//! Reads Claude Code's own telemetry, event by event and span by span.
//!
//! `session.id` is the root's inside a subagent too; `agent_id` tells them apart. Of what requests cost, only
//! `api_request` counts: it comes once per request and names it. It is also the only word of requests that stand in no
//! transcript, such as those of compactions. Prompts and arguments are blacked out unless the user asked for them.

use agent_tracer_event::{
    CallState, Certainty, Entry, Kind, Phase, Subject, Tokens, Unrecognised, attributes,
};
use serde_json::Value;

use super::identity;
use crate::extent::Bounds;
use crate::otlp::RecordWriter;
use crate::text;
use crate::tools::outcome;

/// Events that say nothing which another channel does not say, or nothing that may be kept.
const SILENT: &[&str] = &[
    "api_request_body",
    "api_response_body",
    "at_mention",
    "auth",
    "compaction",
    "feedback_survey",
    "hook_execution_complete",
    "hook_execution_start",
    "hook_plugin_metrics",
    "hook_registered",
    "internal_error",
    "managed_settings_resolved",
    "plugin_installed",
    "plugin_loaded",
    // The definition of a tool, with its whole description.
    "tool",
];

/// The name that stands for any tool of a server that the user configured.
const SOME_SERVER_TOOL: &str = "mcp_tool";

/// Reads a log event; says whether anybody knows it.
pub(crate) fn event(writer: &mut RecordWriter<'_>) -> bool {
    match writer.name {
        "user_prompt" => prompt(writer),
        "api_request" => request(writer),
        "api_error" | "api_retries_exhausted" | "api_refusal" => failed_request(writer),
        "assistant_response" => response(writer),
        "tool_decision" => decision(writer),
        "tool_result" => result(writer),
        "subagent_completed" => subagent(writer),
        "skill_activated" => skill(writer),
        "mcp_server_connection" => server(writer),
        "permission_mode_changed" => mode(writer),
        name => return SILENT.contains(&name),
    }
    true
}

/// Reads a span; says whether anybody knows it.
pub(crate) fn span(writer: &mut RecordWriter<'_>) -> bool {
    match writer.name {
        "llm_request" => request_span(writer),
        "tool" | "tool.execution" | "tool.blocked_on_user" => tool_span(writer),
        "interaction" | "hook" => {}
        _ => return false,
    }
    true
}

fn prompt(writer: &mut RecordWriter<'_>) {
    let prompt = writer.id(&["prompt.id"]);
    let key = prompt.as_ref().map_or_else(|| writer.own_key(), |prompt| format!("prompt:{prompt}"));
    let mut entry = writer.event(Kind::UserMessage, Phase::Open, key);
    // Hooks and rows make its text a part of the key, which telemetry seldom has.
    entry.series = prompt.as_deref().and_then(|prompt| identity::prompt_series(Some(prompt), None));
    entry.title = Some("Prompt".to_owned());
    entry.metadata.insert(attributes::PROMPT_ORIGIN.to_owned(), Value::from("user"));
    writer.carry(
        &mut entry.metadata,
        &[
            (&["prompt_length"], attributes::PROMPT_CHARACTERS_COUNT),
            (&["command_name"], attributes::COMMAND_NAME),
            (&["command_source"], attributes::COMMAND_SOURCE),
        ],
    );
    if let Some(body) = writer.body(&["prompt", "prompt_text"]) {
        entry.title = Some(text::title(&body)).filter(|title| !title.is_empty()).or(entry.title);
        entry.body = Some(body);
    }
    let turn = entry.turn.clone();
    writer.say(entry);
    if let Some(turn) = turn {
        let mut entry = writer.entry(Subject::Turn, Phase::Open, writer.actor(), format!("turn:{turn}"));
        entry.turn = Some(turn);
        writer.say(entry);
    }
}

/// Returns the names that a request has in the other channels.
fn request_keys(writer: &RecordWriter<'_>) -> (String, String, Option<String>) {
    match writer.id(&["request_id"]) {
        Some(id) => (format!("request:{id}"), format!("model-request:{id}"), Some(id)),
        None => (writer.own_key(), format!("model-request:{}", writer.own_name()), None),
    }
}

const REQUEST: &[(&[&str], &str)] = &[
    (&["model"], attributes::MODEL),
    (&["duration_ms"], attributes::DURATION_MS),
    (&["ttft_ms"], attributes::TTFT_MS),
    (&["query_source"], attributes::QUERY_SOURCE),
    (&["effort"], attributes::EFFORT),
    (&["speed"], attributes::SPEED),
    (&["skill.name"], attributes::ATTRIBUTION_SKILL),
    (&["agent.name"], attributes::ATTRIBUTION_AGENT),
    (&["mcp_server.name"], attributes::ATTRIBUTION_MCP_SERVER),
    (&["mcp_tool.name"], attributes::ATTRIBUTION_MCP_TOOL),
];

fn request(writer: &mut RecordWriter<'_>) {
    let (key, request_key, id) = request_keys(writer);
    let count = |names: &[&str]| writer.attributes.count(names);
    let (input, output) = (count(&["input_tokens"]), count(&["output_tokens"]));
    let short = count(&["cache_creation_5m_tokens", "cache_creation_ephemeral_5m_tokens"]);
    let long = count(&["cache_creation_1h_tokens", "cache_creation_ephemeral_1h_tokens"]);
    let written = count(&["cache_creation_tokens", "cache_creation_input_tokens"]);
    let usage = (input.is_some() || output.is_some()).then(|| Tokens {
        input: input.unwrap_or(0),
        output: output.unwrap_or(0),
        cache_read: count(&["cache_read_tokens", "cache_read_input_tokens"]).unwrap_or(0),
        cache_write: written.unwrap_or_else(|| short.unwrap_or(0).saturating_add(long.unwrap_or(0))),
        reasoning: count(&["thinking_tokens", "reasoning_tokens"]),
    });
    let model = writer.id(&["model"]).unwrap_or_else(|| "a model".to_owned());
    // A request without an id cannot be distinguished from the same one in a transcript: it must not count.
    if let (Some(usage), Some(id)) = (usage, &id) {
        let mut entry = writer.event(Kind::TokenUsage, Phase::Close, key);
        entry.title = Some(text::title(&format!("Response of {model}")));
        usage.write(&mut entry.metadata);
        entry.metadata.insert(attributes::REQUEST_ID.to_owned(), Value::from(id.as_str()));
        entry.metadata.insert(attributes::USAGE_SOURCE.to_owned(), Value::from("otlp"));
        writer.carry(&mut entry.metadata, REQUEST);
        for (name, number) in
            [(attributes::CACHE_CREATION_5M_TOKENS, short), (attributes::CACHE_CREATION_1H_TOKENS, long)]
        {
            if let Some(number) = number {
                entry.metadata.insert(name.to_owned(), Value::from(number));
            }
        }
        if let Some(cost) = writer.attributes.real(&["cost_usd"]).filter(|cost| *cost >= 0.0) {
            entry.metadata.insert(attributes::CLIENT_COST_USD.to_owned(), Value::from(cost));
        }
        writer.say(entry);
    }
    let mut entry = writer.event(Kind::ModelRequest, Phase::Close, request_key);
    entry.title = Some(text::title(&format!("{model} answered")));
    entry.state = Some(CallState::Succeeded);
    entry.ended_at = Some(writer.at);
    entry.metadata.insert(attributes::STATUS.to_owned(), Value::from("completed"));
    writer.carry(&mut entry.metadata, REQUEST);
    writer.carry(&mut entry.metadata, &[(&["request_id"], attributes::REQUEST_ID)]);
    writer.say(entry);
}

fn failed_request(writer: &mut RecordWriter<'_>) {
    let (_, key, _) = request_keys(writer);
    let mut entry = writer.event(Kind::ModelRequest, Phase::Close, key);
    let model = writer.id(&["model"]).unwrap_or_else(|| "the model".to_owned());
    entry.title = Some(text::title(&format!("Request to {model} failed")));
    entry.state = Some(CallState::Failed);
    entry.ended_at = Some(writer.at);
    entry.metadata.insert(attributes::STATUS.to_owned(), Value::from("failed"));
    writer.carry(&mut entry.metadata, REQUEST);
    writer.carry(
        &mut entry.metadata,
        &[
            (&["status_code"], attributes::HTTP_STATUS),
            (&["attempt", "total_attempts"], attributes::ATTEMPT),
            (&["request_id"], attributes::REQUEST_ID),
            (&["error_type"], attributes::ERROR_TYPE),
        ],
    );
    if let Some(error) = writer.error(&["error"]) {
        entry.metadata.insert(attributes::ERROR.to_owned(), Value::from(error));
    }
    writer.say(entry);
}

/// Reads the text of one answer. Whether it was the last of its turn is not said, so it only adds to the response.
fn response(writer: &mut RecordWriter<'_>) {
    let Some(id) = writer.id(&["request_id"]) else { return };
    let mut entry = writer.event(Kind::TokenUsage, Phase::Update, format!("request:{id}"));
    entry.metadata.insert(attributes::REQUEST_ID.to_owned(), Value::from(id));
    writer.carry(
        &mut entry.metadata,
        &[
            (&["response_length"], attributes::RESPONSE_CHARACTERS_COUNT),
            (&["model"], attributes::MODEL),
            (&["query_source"], attributes::QUERY_SOURCE),
        ],
    );
    writer.say(entry);
}

/// Returns the call that the record names. The input is there only if the user asked for it, and kept only at level
/// `full`.
fn call(writer: &mut RecordWriter<'_>, phase: Phase) -> Entry {
    let tool = writer.id(&["tool_name", "gen_ai.tool.name"]).unwrap_or_default();
    let id = writer.id(&["tool_use_id", "gen_ai.tool.call.id"]).or_else(|| writer.call.map(str::to_owned));
    let given = writer.attributes.display_text(&["tool_input"]);
    let given = given.and_then(|text| Bounds::ARGUMENTS.parse::<Value>(text)).unwrap_or(Value::Null);
    let input = writer.reduced("PreToolUse", &tool, "tool_input", &given);
    if tool == SOME_SERVER_TOOL {
        let key = id.as_ref().map_or_else(|| writer.own_key(), |id| format!("tool:{id}"));
        let mut entry = writer.event(Kind::AgentActivityLogged, phase, key);
        entry.title = Some("Call an MCP tool".to_owned());
        entry.tool_use_id = id;
        entry.metadata.insert(attributes::ACTIVITY_TYPE.to_owned(), Value::from("mcp_call"));
        return entry;
    }
    writer.tool_call(&tool, id, &input, phase)
}

fn decision(writer: &mut RecordWriter<'_>) {
    let decision = writer.id(&["decision"]).unwrap_or_default();
    if !matches!(decision.as_str(), "accept" | "reject") {
        writer.reading.unrecognised.push(Unrecognised::Value(format!("decision={decision}")));
    }
    let refused = decision == "reject";
    let mut entry = call(writer, if refused { Phase::Close } else { Phase::Update });
    writer.carry(
        &mut entry.metadata,
        &[(&["decision"], attributes::PERMISSION_DECISION), (&["source"], attributes::PERMISSION_SOURCE)],
    );
    if entry.tool_use_id.is_none() {
        // The call is unknown: the decision is a row of its own.
        rule(writer, &mut entry, refused);
    } else if refused {
        entry.state = Some(CallState::Denied);
        entry.ended_at = Some(writer.at);
        entry.metadata.insert(attributes::ERROR_CLASS.to_owned(), Value::from("permission"));
    }
    writer.say(entry);
}

fn rule(writer: &RecordWriter<'_>, entry: &mut Entry, refused: bool) {
    let (word, outcome) = if refused { ("Refused", "deny") } else { ("Allowed", "allow") };
    let what = entry.title.take().unwrap_or_default();
    let mut rule = writer.event(Kind::RuleLogged, Phase::Open, writer.own_key());
    rule.title = Some(text::title(&format!("{word}: {what}")));
    rule.tool_name = entry.tool_name.take();
    for (name, value) in [(attributes::RULE_STATUS, "decided"), (attributes::RULE_OUTCOME, outcome)] {
        rule.metadata.insert(name.to_owned(), Value::from(value));
    }
    writer.carry(
        &mut rule.metadata,
        &[(&["source"], attributes::RULE_POLICY), (&["decision"], attributes::PERMISSION_DECISION)],
    );
    *entry = rule;
}

fn result(writer: &mut RecordWriter<'_>) {
    let mut entry = call(writer, Phase::Close);
    entry.ended_at = Some(writer.at);
    if let Some(good) = writer.attributes.flag(&["success"]) {
        let refused = writer.attributes.text(&["decision_type", "decision"]) == Some("reject");
        entry.state = Some(match (good, refused) {
            (true, _) => CallState::Succeeded,
            (false, true) => CallState::Denied,
            (false, false) => CallState::Failed,
        });
    }
    if writer.attributes.text(&["tool_name"]) == Some("Bash") && entry.state == Some(CallState::Succeeded) {
        // It says that the tool worked, not how its command ended.
        entry.evidence.certainty = Certainty::Inferred;
    }
    writer.carry(
        &mut entry.metadata,
        &[
            (&["duration_ms"], attributes::DURATION_MS),
            (&["tool_result_size_bytes"], attributes::OUTPUT_BYTES),
            (&["tool_input_size_bytes"], attributes::INPUT_BYTES),
            (&["decision_type"], attributes::PERMISSION_DECISION),
            (&["decision_source"], attributes::PERMISSION_SOURCE),
            (&["error_type"], attributes::ERROR_TYPE),
            (&["mcp_server_name", "mcp_server.name"], attributes::MCP_SERVER),
            (&["mcp_tool_name", "mcp_tool.name"], attributes::MCP_TOOL),
        ],
    );
    if entry.metadata.contains_key(attributes::DURATION_MS) {
        entry.metadata.insert(attributes::DURATION_SOURCE.to_owned(), Value::from("agent"));
    }
    if let Some(error) = writer.error(&["error"]) {
        let outcome = outcome::failed(&Value::Null, false);
        entry.metadata.insert(attributes::ERROR.to_owned(), Value::from(error));
        entry.metadata.extend(outcome.metadata);
    }
    writer.say(entry);
}

/// Closes a subagent's row on the parent.
fn subagent(writer: &mut RecordWriter<'_>) {
    let agent = writer.agent_id();
    let key = agent.as_ref().map_or_else(|| writer.own_key(), |agent| format!("subagent:{agent}"));
    let mut entry = writer.event(Kind::ActionLogged, Phase::Close, key);
    entry.task = writer.root();
    entry.turn = writer.id(&["prompt.id"]);
    entry.agent_id = None;
    let kind = writer.id(&["agent_type", "agent.name"]);
    entry.title = Some(
        kind.as_ref().map_or_else(|| "Subagent".to_owned(), |kind| text::title(&format!("Subagent {kind}"))),
    );
    entry.agent_type = Some("main".to_owned());
    entry.ended_at = Some(writer.at);
    let good = writer.attributes.flag(&["success"]) != Some(false);
    let status = if good { "completed" } else { "failed" };
    entry.metadata.insert(attributes::ASYNC_STATUS.to_owned(), Value::from(status));
    if let Some(agent) = agent {
        entry.metadata.insert(attributes::AGENT_ID.to_owned(), Value::from(agent.as_str()));
        entry.metadata.insert(attributes::ASYNC_TASK_ID.to_owned(), Value::from(agent.as_str()));
        let child = identity::task(&writer.session(), Some(&agent)).runtime_session;
        entry.metadata.insert(attributes::CHILD_SESSION.to_owned(), Value::from(child));
    }
    writer.carry(
        &mut entry.metadata,
        &[
            (&["agent_type", "agent.name"], attributes::AGENT_TYPE),
            (&["agent.source"], attributes::AGENT_SOURCE),
            (&["duration_ms", "total_duration_ms"], attributes::TOTAL_DURATION_MS),
            (&["total_tool_uses", "tool_use_count", "num_tool_uses"], attributes::TOTAL_TOOL_USE_COUNT),
            (&["model"], attributes::AGENT_RESOLVED_MODEL),
        ],
    );
    writer.say(entry);
}

fn skill(writer: &mut RecordWriter<'_>) {
    let name = writer.id(&["skill.name", "skill_name"]).unwrap_or_default();
    let turn = writer.id(&["prompt.id"]);
    let key = turn.map_or_else(|| writer.own_key(), |turn| format!("skill:{turn}:{name}"));
    let mut entry = writer.event(Kind::AgentActivityLogged, Phase::Open, key);
    entry.title = Some(text::title(&format!("Skill {name} activated")));
    entry.metadata.insert(attributes::ACTIVITY_TYPE.to_owned(), Value::from("skill_use"));
    writer.carry(
        &mut entry.metadata,
        &[
            (&["skill.name", "skill_name"], attributes::SKILL_NAME),
            (&["skill.source"], attributes::SKILL_SOURCE),
            (&["invocation_trigger"], attributes::SKILL_TRIGGER),
        ],
    );
    writer.say(entry);
}

fn server(writer: &mut RecordWriter<'_>) {
    let status = writer.id(&["status"]).unwrap_or_else(|| "unknown".to_owned());
    let mut entry = writer.event(Kind::ContextSaved, Phase::Open, writer.own_key());
    let name = writer.id(&["server_name", "mcp_server.name"]);
    let server = name.map_or_else(|| "MCP server".to_owned(), |name| format!("MCP server {name}"));
    entry.title = Some(text::title(&format!("{server} {status}")));
    entry.metadata.insert(attributes::TRIGGER.to_owned(), Value::from(format!("mcp_server:{status}")));
    writer.carry(
        &mut entry.metadata,
        &[
            (&["server_name", "mcp_server.name"], attributes::MCP_SERVER),
            (&["transport_type"], attributes::TRANSPORT),
            (&["server_scope"], attributes::MCP_SERVER_SOURCE),
            (&["duration_ms"], attributes::DURATION_MS),
            (&["error_code"], attributes::ERROR_CODE),
        ],
    );
    writer.say(entry);
}

fn mode(writer: &mut RecordWriter<'_>) {
    let mut entry = writer.event(Kind::ContextSaved, Phase::Open, writer.own_key());
    let mode = writer.id(&["to_mode", "mode"]).unwrap_or_else(|| "unknown".to_owned());
    entry.title = Some(text::title(&format!("Permission mode {mode}")));
    entry.metadata.insert(attributes::TRIGGER.to_owned(), Value::from("permission_mode_changed"));
    writer.carry(
        &mut entry.metadata,
        &[
            (&["to_mode", "mode"], attributes::PERMISSION_MODE),
            (&["from_mode"], attributes::FROM_PERMISSION_MODE),
            (&["trigger"], attributes::CHANGED_BY),
        ],
    );
    writer.say(entry);
}

/// Reads a request as a span: its times, and never what it cost.
fn request_span(writer: &mut RecordWriter<'_>) {
    if writer.id(&["request_id"]).is_none() {
        return;
    }
    let (_, key, _) = request_keys(writer);
    let mut entry = writer.event(Kind::ModelRequest, Phase::Update, key);
    writer.carry(&mut entry.metadata, REQUEST);
    writer.carry(
        &mut entry.metadata,
        &[(&["request_id"], attributes::REQUEST_ID), (&["stop_reason"], attributes::STOP_REASON)],
    );
    writer.say(entry);
}

fn tool_span(writer: &mut RecordWriter<'_>) {
    let id = writer.id(&["tool_use_id", "gen_ai.tool.call.id"]).or_else(|| writer.call.map(str::to_owned));
    let Some(id) = id else { return };
    let mut entry = writer.event(Kind::ToolUsed, Phase::Update, format!("tool:{id}"));
    entry.tool_use_id = Some(id);
    let duration = match writer.name {
        "tool.blocked_on_user" => attributes::PERMISSION_WAIT_MS,
        "tool.execution" => attributes::EXECUTION_MS,
        _ => attributes::SPAN_MS,
    };
    writer.carry(
        &mut entry.metadata,
        &[(&["duration_ms"], duration), (&["anthropic.mcp.server.name"], attributes::MCP_SERVER)],
    );
    writer.say(entry);
}
