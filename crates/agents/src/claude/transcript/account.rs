//! `cost-state`: the client's own account of a session, cumulative, with its subagents and compactions in it.
//!
//! It is written when a session ends or is left, more than once if it is resumed; the last one counts. The account of a
//! fork begins with its parent's numbers.

use agent_tracer_event::{Millis, Phase, Subject, Tokens, attributes};
use serde_json::{Map, Value, json};

use super::writer::{RowWriter, put};

/// The key of the account.
// One for all rows: the account is cumulative, so a later row replaces an earlier one and is never added to it.
const KEY: &str = "account";

/// Numbers of the session, by their names in the row, and ours.
const NUMBERS: &[(&str, &str)] = &[
    ("totalCostUSD", attributes::CLIENT_COST_USD),
    ("totalAPIDuration", attributes::API_DURATION_MS),
    ("totalAPIDurationWithoutRetries", attributes::API_DURATION_WITHOUT_RETRIES_MS),
    ("totalToolDuration", attributes::TOOL_DURATION_MS),
    ("totalDuration", attributes::DURATION_MS),
    ("totalLinesAdded", attributes::LINES_ADDED),
    ("totalLinesRemoved", attributes::LINES_REMOVED),
];

/// The most models that one account names.
const MODELS: usize = 100;

/// Reads the account.
pub(super) fn cost_state(writer: &mut RowWriter<'_, '_>) {
    let Some(Ok(Value::Object(row))) = writer.line.map(serde_json::from_slice::<Value>) else { return };
    let mut entry = writer.entry(Subject::Account, Phase::Update, KEY);
    let metadata = &mut entry.metadata;
    for (from, to) in NUMBERS {
        put(metadata, to, row.get(*from).filter(|number| number.is_number()).cloned());
    }
    if let Some(start) = row.get("startTime").and_then(Value::as_i64) {
        put(metadata, attributes::STARTED_AT, Millis(start).to_string());
    }
    if row.get("hasUnknownModelCost").and_then(Value::as_bool) == Some(true) {
        put(metadata, attributes::HAS_UNKNOWN_MODEL_COST, true);
    }
    // The row sums cost and durations; tokens it has by model alone.
    let mut total = Tokens::default();
    let mut models = Map::new();
    for (name, model) in row.get("modelUsage").and_then(Value::as_object).into_iter().flatten().take(MODELS) {
        let count = |key: &str| model.get(key).and_then(Value::as_u64);
        let usage = Tokens {
            input: count("inputTokens").unwrap_or(0),
            output: count("outputTokens").unwrap_or(0),
            cache_read: count("cacheReadInputTokens").unwrap_or(0),
            cache_write: count("cacheCreationInputTokens").unwrap_or(0),
            reasoning: count("thinkingTokens"),
        };
        total = total.plus(&usage);
        let Value::Object(mut kept) = json!(usage) else { continue };
        for (from, to) in [
            ("cacheCreationEphemeral5mInputTokens", attributes::CACHE_CREATION_5M_TOKENS),
            ("cacheCreationEphemeral1hInputTokens", attributes::CACHE_CREATION_1H_TOKENS),
            ("webSearchRequests", attributes::WEB_SEARCH_REQUESTS),
            ("costUSD", attributes::CLIENT_COST_USD),
        ] {
            put(&mut kept, to, model.get(from).filter(|number| number.is_number()).cloned());
        }
        models.insert(writer.rules.word(name), Value::Object(kept));
    }
    total.write(&mut entry.metadata);
    entry.metadata.insert(attributes::MODELS.to_owned(), Value::Object(models));
    writer.push(entry);
}
