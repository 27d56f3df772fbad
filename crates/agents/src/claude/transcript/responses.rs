//! Reads the cost of a response, and the model that gave it.

use agent_tracer_event::{Entry, Kind, Phase, Subject, attributes};
use serde_json::{Value, json};

use super::row::{Content, Message};
use super::text::Text;
use super::tokens::Usage;
use super::usage::SYNTHETIC;
use super::writer::{RowWriter, put};
use super::{requests, version};
use crate::usage::BilledTokens;

/// Returns the usage of the row's response, if it is one of a provider and the client counts it.
pub(super) fn tokens_of(writer: &RowWriter<'_, '_>) -> Option<BilledTokens> {
    let usage = usage_of(writer)?;
    (usage.counted && is_counted(writer)).then_some(usage.billed)
}

/// Returns whether the client counts the row's response. From 2.1.326 it counts one that was cut short, with the numbers of its
/// beginning; versions before it do not, and what the rest came to is not known.
fn is_counted(writer: &RowWriter<'_, '_>) -> bool {
    !writer.row.is_aborted || version::counts_cut_answers(writer.row.version)
}

fn usage_of<'a>(writer: &RowWriter<'_, 'a>) -> Option<Usage<'a>> {
    let message = writer.row.message.as_ref();
    if writer.row.is_api_error || model_of(writer).is(SYNTHETIC) {
        return None;
    }
    message.and_then(|message| message.usage).or(writer.row.usage)
}

pub(super) fn model_of<'a>(writer: &RowWriter<'_, 'a>) -> Text<'a> {
    let message = writer.row.message.as_ref().map(|message| message.model);
    message.filter(|model| !model.is_empty()).unwrap_or(writer.row.model)
}

/// Tells what the row's response cost, unless a row before it said the same.
pub(super) fn usage(writer: &mut RowWriter<'_, '_>) {
    let Some(message) = writer.row.message.as_ref() else { return };
    switched(writer);
    let Some(usage) = usage_of(writer) else {
        let made_up = writer.row.is_api_error || model_of(writer).is(SYNTHETIC);
        writer.state.counts.unreadable_usage += u64::from(message.names_usage && !made_up);
        return;
    };
    if !usage.counted {
        writer.state.counts.unreadable_usage += 1;
        return;
    }
    let id = if message.id.is_empty() { writer.row.request } else { message.id };
    let key = if id.is_empty() { writer.own_key() } else { format!("response:{}", writer.word(id)) };
    if !writer.state.remember_counts(key.as_bytes(), &usage.billed) {
        return;
    }
    let mut entry = response(writer, key, &usage);
    let payer = writer.lane().paid_by.clone();
    put(&mut entry.metadata, attributes::ACCOUNT_SESSION, payer);
    put(&mut entry.metadata, attributes::MESSAGE_ID, writer.word(message.id));
    put(&mut entry.metadata, attributes::STOP_REASON, writer.word(message.stop_reason));
    if begins_with_thinking(message) {
        put(&mut entry.metadata, attributes::THOUGHT_UNTIL, writer.at.0);
    }
    if !writer.row.request_ref.is_empty() {
        // A response to a request that this session did not make was copied from the one that did.
        let own = writer.state.has_made(writer.row.request_ref.raw());
        entry.metadata.insert(attributes::OWN_REQUEST.to_owned(), Value::Bool(own));
    }
    requests::describe(writer, &mut entry);
    let additions = std::mem::take(&mut writer.lane().additions);
    if !additions.is_empty() {
        entry.metadata.insert(attributes::CONTEXT_ADDITIONS.to_owned(), Value::Array(additions));
    }
    writer.push(entry);
}

/// Returns `true` if the row holds a thinking block alone: each block is written when it is complete.
fn begins_with_thinking(message: &Message<'_>) -> bool {
    let Content::Blocks(blocks) = &message.content else { return false };
    !blocks.is_empty()
        && blocks.iter().all(|block| block.kind.is("thinking") || block.kind.is("redacted_thinking"))
}

/// Returns the entry of a response.
fn response(writer: &mut RowWriter<'_, '_>, key: String, usage: &Usage<'_>) -> Entry {
    let row = writer.row;
    let mut entry = writer.event(Kind::TokenUsage, Phase::Close, key);
    let request = writer.word(row.request);
    if !request.is_empty() {
        // Telemetry knows the request and not the message.
        entry.aliases.push(format!("request:{request}"));
    }
    let model = writer.word(model_of(writer));
    entry.title = Some(crate::text::title(&format!(
        "Response of {}",
        if model.is_empty() { "a model" } else { &model }
    )));
    let words = [
        (attributes::MODEL, model),
        (attributes::REQUEST_ID, request),
        (attributes::REQUESTED_MODEL, writer.word(row.requested_model)),
        (attributes::SERVICE_TIER, writer.word(usage.service_tier)),
        (attributes::SPEED, writer.word(usage.speed)),
        (attributes::INFERENCE_GEO, writer.word(usage.inference_geo)),
        (attributes::EFFORT, writer.word(row.effort)),
        (attributes::ATTRIBUTION_SKILL, writer.word(row.attribution_skill)),
        (attributes::ATTRIBUTION_AGENT, writer.word(row.attribution_agent)),
        (attributes::ATTRIBUTION_PLUGIN, writer.word(row.attribution_plugin)),
        (attributes::ATTRIBUTION_MCP_SERVER, writer.word(row.attribution_mcp_server)),
        (attributes::ATTRIBUTION_MCP_TOOL, writer.word(row.attribution_mcp_tool)),
    ];
    let is_counted = is_counted(writer);
    let metadata = &mut entry.metadata;
    for (name, word) in words {
        put(metadata, name, word);
    }
    if row.is_aborted {
        // Only the beginning of the response was seen.
        metadata.insert(attributes::PARTIAL.to_owned(), Value::Bool(true));
        metadata.insert(attributes::PARTIAL_USAGE.to_owned(), json!(usage.billed.tokens));
    }
    // The client leaves some responses out of its own account, and sums have to agree with it.
    if is_counted {
        usage.billed.tokens.write(metadata);
    }
    for (name, number) in [
        (attributes::CACHE_CREATION_5M_TOKENS, usage.billed.cache_write_5m),
        (attributes::CACHE_CREATION_1H_TOKENS, usage.billed.cache_write_1h),
        (attributes::WEB_SEARCH_REQUESTS, Some(usage.billed.web_searches).filter(|count| *count > 0)),
        (attributes::WEB_FETCH_REQUESTS, Some(usage.billed.web_fetches).filter(|count| *count > 0)),
        (attributes::DURATION_MS, row.duration_ms),
    ] {
        if let Some(number) = number {
            metadata.insert(name.to_owned(), Value::from(number));
        }
    }
    if let Some(cost) = row.cost_usd {
        metadata.insert(attributes::CLIENT_COST_USD.to_owned(), Value::from(cost));
    }
    if row.is_sidechain && writer.agent.is_empty() {
        entry.metadata.insert(attributes::SIDECHAIN.to_owned(), Value::Bool(true));
    }
    entry
}

/// Reads the request of the helper that writes the summary of a compaction: no turn, but a cost of the session.
pub(super) fn compaction(writer: &mut RowWriter<'_, '_>) {
    if !writer.row.kind.is("assistant") {
        return;
    }
    usage(writer);
    for entry in &mut writer.reading.entries {
        entry.turn = None;
        entry.metadata.insert(attributes::QUERY_SOURCE.to_owned(), Value::from("compact"));
    }
}

/// Reads a response as a document of the time before us spells it: the usage beside the message, with its price.
pub(super) fn api_response(writer: &mut RowWriter<'_, '_>) {
    let row = writer.row;
    let failed = row.status_code.is_some_and(|status| status >= 400);
    let name = [row.request, row.id, row.uuid].into_iter().find(|id| !id.is_empty());
    let name = name.map_or_else(|| writer.name.clone(), |id| writer.word(id));
    let usage = row.usage.filter(|usage| usage.counted && !failed);
    let entry = match usage {
        Some(usage) => {
            let mut entry = response(writer, format!("response:{name}"), &usage);
            if let Some(status) = row.status_code {
                entry.metadata.insert(attributes::HTTP_STATUS.to_owned(), Value::from(status));
            }
            entry
        }
        None => {
            let mut entry = writer.event(Kind::ModelRequest, Phase::Close, format!("request:{name}"));
            entry.title = Some(if failed { "Request failed".to_owned() } else { "Request".to_owned() });
            put(&mut entry.metadata, attributes::MODEL, writer.word(row.model));
            put(&mut entry.metadata, attributes::STATUS, if failed { "error" } else { "completed" });
            if let Some(status) = row.status_code {
                entry.metadata.insert(attributes::HTTP_STATUS.to_owned(), Value::from(status));
            }
            if let Some(duration) = row.duration_ms {
                entry.metadata.insert(attributes::DURATION_MS.to_owned(), Value::from(duration));
                entry.metadata.insert(attributes::DURATION_SOURCE.to_owned(), Value::from("agent"));
            }
            entry
        }
    };
    writer.push(entry);
}

/// Reads that another model answered than the one before it.
fn switched(writer: &mut RowWriter<'_, '_>) {
    let model = model_of(writer);
    // Errors of the API stand in rows of a made-up model, which would look like a switch and one back.
    if model.is_empty() || model.is(SYNTHETIC) || writer.row.is_api_error {
        return;
    }
    let model = writer.word(model);
    // By lane: a subagent with another model is no switch of the session.
    let before = writer.lane().model.replace(model.clone());
    let mut task = None;
    if before.as_ref() != Some(&model) {
        let mut entry = writer.entry(Subject::Task, Phase::Update, "task");
        put(&mut entry.metadata, attributes::MODEL, model.as_str());
        task = Some(entry);
    }
    if let Some(before) = before.filter(|before| *before != model) {
        let entry = switch(writer, &before, &model, "response");
        writer.push(entry);
    }
    if let Some(task) = task {
        writer.push(task);
    }
}

/// Returns the entry of a switch, under the key that its hook has.
pub(super) fn switch(writer: &mut RowWriter<'_, '_>, from: &str, to: &str, source: &str) -> Entry {
    // A switch by `/model` has its hook under the prompt of the command, any other under the prompt that was worked
    // on.
    let prompt = writer.lane().model_command.take().or_else(|| writer.lane().prompt.clone());
    let key = match prompt {
        Some(prompt) => format!("model:{prompt}:{from}:{to}"),
        None => writer.own_key(),
    };
    let mut entry = writer.event(Kind::ModelSwitched, Phase::Close, key);
    entry.title = Some(crate::text::title(&format!("Model {from} → {to}")));
    entry.ended_at = Some(writer.at);
    put(&mut entry.metadata, attributes::FROM_MODEL, from);
    put(&mut entry.metadata, attributes::TO_MODEL, to);
    put(&mut entry.metadata, attributes::SWITCHED, true);
    put(&mut entry.metadata, attributes::SEEN_IN, source);
    entry
}
