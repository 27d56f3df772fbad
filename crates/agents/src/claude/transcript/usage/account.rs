//! The client's own account of a session, as a scan reads it: `cost-state`.

use std::collections::BTreeMap;

use agent_tracer_event::{Millis, Tokens};
use serde_json::Value;

use crate::usage::{BilledTokens, ScannedAccount};

/// The most models that one account names.
const MODELS: usize = 100;

/// Returns whether a line is an account; its type stands at its beginning.
pub(super) fn is_account(line: &[u8]) -> bool {
    // Looking at the beginning only: a prompt may quote such a row.
    let head = line.get(..48).unwrap_or(line);
    memchr::memmem::find(head, b"\"cost-state\"").is_some()
}

/// Reads the account of a row, with the session that it names.
pub(super) fn read(line: &[u8], at: Option<Millis>) -> Option<(Option<String>, ScannedAccount)> {
    let row: Value = serde_json::from_slice(line).ok()?;
    if row.get("type")?.as_str()? != "cost-state" {
        return None;
    }
    let mut models = BTreeMap::new();
    for (name, model) in row.get("modelUsage")?.as_object()?.iter().take(MODELS) {
        let count = |key: &str| model.get(key).and_then(Value::as_u64);
        let tokens = Tokens {
            input: count("inputTokens").unwrap_or(0),
            output: count("outputTokens").unwrap_or(0),
            cache_read: count("cacheReadInputTokens").unwrap_or(0),
            cache_write: count("cacheCreationInputTokens").unwrap_or(0),
            reasoning: None,
        };
        let billed = BilledTokens {
            tokens,
            cache_write_5m: count("cacheCreationEphemeral5mInputTokens"),
            cache_write_1h: count("cacheCreationEphemeral1hInputTokens"),
            web_searches: count("webSearchRequests").unwrap_or(0),
            web_fetches: 0,
        };
        models.insert(name.clone(), (billed, model.get("costUSD").and_then(Value::as_f64)));
    }
    let started = row.get("startTime").and_then(Value::as_i64).map(Millis);
    let session = row.get("sessionId").and_then(Value::as_str).map(str::to_owned);
    Some((session, ScannedAccount { at: at.or(started), started, models }))
}
