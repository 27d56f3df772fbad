//! What a response cost, and which model gave it.

use agent_tracer_event::{Entry, Kind, Phase, Subject};
use serde_json::{Value, json};

use super::telling::{Telling, put};
use super::text::Text;
use super::tokens::{Spent, Tokens};
use super::usage::SYNTHETIC;
use super::version;

/// The usage of the row's response, if it is one of a provider and the client counts it.
pub(super) fn tokens_of(told: &Telling<'_, '_>) -> Option<Tokens> {
    let spent = spent_of(told)?;
    (spent.counted && is_counted(told)).then_some(spent.tokens)
}

/// Whether the client counts the row's response. From 2.1.326 it counts one that was cut short, with the numbers of its
/// beginning; versions before it do not, and what the rest came to is not known.
fn is_counted(told: &Telling<'_, '_>) -> bool {
    !told.row.is_aborted || version::counts_cut_answers(told.row.version)
}

fn spent_of<'a>(told: &Telling<'_, 'a>) -> Option<Spent<'a>> {
    let message = told.row.message.as_ref();
    if told.row.is_api_error || model_of(told).is(SYNTHETIC) {
        return None;
    }
    message.and_then(|message| message.usage).or(told.row.usage)
}

pub(super) fn model_of<'a>(told: &Telling<'_, 'a>) -> Text<'a> {
    let message = told.row.message.as_ref().map(|message| message.model);
    message.filter(|model| !model.is_empty()).unwrap_or(told.row.model)
}

/// Tells what the row's response cost, unless a row before it said the same.
pub(super) fn usage(told: &mut Telling<'_, '_>) {
    let Some(message) = told.row.message.as_ref() else { return };
    switched(told);
    let Some(spent) = spent_of(told) else {
        let made_up = told.row.is_api_error || model_of(told).is(SYNTHETIC);
        told.state.counts.unreadable_usage += u64::from(message.names_usage && !made_up);
        return;
    };
    if !spent.counted {
        told.state.counts.unreadable_usage += 1;
        return;
    }
    let id = if message.id.is_empty() { told.row.request } else { message.id };
    let key = if id.is_empty() { told.own_key() } else { format!("response:{}", told.word(id)) };
    if !told.state.is_news(key.as_bytes(), &spent.tokens) {
        return;
    }
    let mut entry = response(told, key, &spent);
    let payer = told.lane().paid_by.clone();
    put(&mut entry.metadata, "accountSession", payer);
    put(&mut entry.metadata, "messageId", told.word(message.id));
    put(&mut entry.metadata, "stopReason", told.word(message.stop_reason));
    if !told.row.request_ref.is_empty() {
        // A response to a request that this session did not make was copied from the one that did.
        let own = told.state.made(told.row.request_ref.raw());
        entry.metadata.insert("ownRequest".to_owned(), Value::Bool(own));
    }
    told.push(entry);
}

/// The entry of a response.
fn response(told: &mut Telling<'_, '_>, key: String, spent: &Spent<'_>) -> Entry {
    let row = told.row;
    let mut entry = told.event(Kind::TokenUsage, Phase::Close, key);
    let request = told.word(row.request);
    if !request.is_empty() {
        entry.aliases.push(format!("request:{request}"));
    }
    let model = told.word(model_of(told));
    entry.title = Some(crate::text::title(&format!(
        "Response of {}",
        if model.is_empty() { "a model" } else { &model }
    )));
    let words = [
        ("model", model),
        ("requestId", request),
        ("requestedModel", told.word(row.requested_model)),
        ("serviceTier", told.word(spent.service_tier)),
        ("speed", told.word(spent.speed)),
        ("inferenceGeo", told.word(spent.inference_geo)),
        ("effort", told.word(row.effort)),
        ("attributionSkill", told.word(row.attribution_skill)),
        ("attributionAgent", told.word(row.attribution_agent)),
        ("attributionPlugin", told.word(row.attribution_plugin)),
        ("attributionMcpServer", told.word(row.attribution_mcp_server)),
        ("attributionMcpTool", told.word(row.attribution_mcp_tool)),
    ];
    let is_counted = is_counted(told);
    let metadata = &mut entry.metadata;
    for (name, word) in words {
        put(metadata, name, word);
    }
    if row.is_aborted {
        // Only the beginning of the response was seen.
        metadata.insert("partial".to_owned(), Value::Bool(true));
        metadata.insert("partialUsage".to_owned(), json!(spent.tokens.usage()));
    }
    if is_counted {
        spent.tokens.usage().write(metadata);
    }
    for (name, number) in [
        ("cacheCreation5mTokens", spent.tokens.cache_creation_5m),
        ("cacheCreation1hTokens", spent.tokens.cache_creation_1h),
        ("webSearchRequests", Some(spent.tokens.web_searches).filter(|count| *count > 0)),
        ("webFetchRequests", Some(spent.tokens.web_fetches).filter(|count| *count > 0)),
        ("durationMs", row.duration_ms),
    ] {
        if let Some(number) = number {
            metadata.insert(name.to_owned(), Value::from(number));
        }
    }
    if let Some(cost) = row.cost_usd {
        metadata.insert("clientCostUsd".to_owned(), Value::from(cost));
    }
    if row.is_sidechain && told.agent.is_empty() {
        entry.metadata.insert("sidechain".to_owned(), Value::Bool(true));
    }
    entry
}

/// The request of the helper that writes the summary of a compaction: nobody's turn, but the session's cost.
pub(super) fn compaction(told: &mut Telling<'_, '_>) {
    if !told.row.kind.is("assistant") {
        return;
    }
    usage(told);
    for entry in &mut told.reading.entries {
        entry.turn = None;
        entry.metadata.insert("querySource".to_owned(), Value::from("compact"));
    }
}

/// A response as a document of the time before us spells it: the usage beside the message, with its price.
pub(super) fn api_response(told: &mut Telling<'_, '_>) {
    let row = told.row;
    let failed = row.status_code.is_some_and(|status| status >= 400);
    let name = [row.request, row.id, row.uuid].into_iter().find(|id| !id.is_empty());
    let name = name.map_or_else(|| told.name.clone(), |id| told.word(id));
    let spent = row.usage.filter(|spent| spent.counted && !failed);
    let entry = match spent {
        Some(spent) => {
            let mut entry = response(told, format!("response:{name}"), &spent);
            if let Some(status) = row.status_code {
                entry.metadata.insert("httpStatus".to_owned(), Value::from(status));
            }
            entry
        }
        None => {
            let mut entry = told.event(Kind::ModelRequest, Phase::Close, format!("request:{name}"));
            entry.title = Some(if failed { "Request failed".to_owned() } else { "Request".to_owned() });
            put(&mut entry.metadata, "model", told.word(row.model));
            put(&mut entry.metadata, "status", if failed { "error" } else { "completed" });
            if let Some(status) = row.status_code {
                entry.metadata.insert("httpStatus".to_owned(), Value::from(status));
            }
            if let Some(duration) = row.duration_ms {
                entry.metadata.insert("durationMs".to_owned(), Value::from(duration));
                entry.metadata.insert("durationSource".to_owned(), Value::from("agent"));
            }
            entry
        }
    };
    told.push(entry);
}

/// Another model answered than the one before it.
fn switched(told: &mut Telling<'_, '_>) {
    let model = model_of(told);
    if model.is_empty() || model.is(SYNTHETIC) || told.row.is_api_error {
        return;
    }
    let model = told.word(model);
    let before = told.lane().model.replace(model.clone());
    let mut task = None;
    if before.as_ref() != Some(&model) {
        let mut entry = told.entry(Subject::Task, Phase::Update, "task");
        put(&mut entry.metadata, "model", model.as_str());
        task = Some(entry);
    }
    if let Some(before) = before.filter(|before| *before != model) {
        let entry = switch(told, &before, &model, "response");
        told.push(entry);
    }
    if let Some(task) = task {
        told.push(task);
    }
}

/// The entry of a switch, under the key that its hook has.
pub(super) fn switch(told: &mut Telling<'_, '_>, from: &str, to: &str, source: &str) -> Entry {
    let prompt = told.lane().model_command.take().or_else(|| told.lane().prompt.clone());
    let key = match prompt {
        Some(prompt) => format!("model:{prompt}:{from}:{to}"),
        None => told.own_key(),
    };
    let mut entry = told.event(Kind::ModelSwitched, Phase::Close, key);
    entry.title = Some(crate::text::title(&format!("Model {from} → {to}")));
    entry.ended_at = Some(told.at);
    put(&mut entry.metadata, "fromModel", from);
    put(&mut entry.metadata, "toModel", to);
    put(&mut entry.metadata, "switched", true);
    put(&mut entry.metadata, "seenIn", source);
    entry
}
