//! Every sum of money that a captured Claude Code wrote down, against ours. The difference allowed is a millionth of a
//! dollar; the clients themselves add up floats.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use agent_tracer_prices::{BilledUsage, PicoDollars, Prices, Prompt};
use serde_json::Value;

/// A millionth of a dollar, in dollars.
const TOLERANCE: f64 = 0.000_001;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a readable folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|ending| ending == "jsonl") {
            out.push(path);
        }
    }
    out.sort();
}

/// Every row of every captured file below the folder; rows that are no JSON are the readers' business, not ours.
fn rows(folder: &Path) -> Vec<(PathBuf, Value)> {
    let mut paths = Vec::new();
    files(folder, &mut paths);
    let mut rows = Vec::new();
    for path in paths {
        let bytes = fs::read(&path).expect("a readable file");
        for line in bytes.split(|byte| *byte == b'\n') {
            if let Ok(row) = serde_json::from_slice::<Value>(line) {
                rows.push((path.clone(), row));
            }
        }
    }
    rows
}

fn count(object: &Value, key: &str) -> u64 {
    object.get(key).and_then(Value::as_u64).unwrap_or(0)
}

/// The account's tokens of one model. They are a sum, so no threshold applies.
fn of_account(usage: &Value) -> BilledUsage {
    let written = count(usage, "cacheCreationInputTokens");
    let for_an_hour = count(usage, "cacheCreationEphemeral1hInputTokens");
    BilledUsage {
        input: count(usage, "inputTokens"),
        output: count(usage, "outputTokens"),
        cache_read: count(usage, "cacheReadInputTokens"),
        cache_write_5m: written - for_an_hour,
        cache_write_1h: for_an_hour,
        web_searches: count(usage, "webSearchRequests"),
        prompt: Prompt::Short,
        ..BilledUsage::default()
    }
}

#[test]
fn every_account_of_a_session_is_reproduced() {
    let prices = Prices::embedded();
    let (mut accounts, mut models) = (0, BTreeMap::<String, usize>::new());
    let mut wrong = Vec::new();
    for (path, row) in rows(&fixtures()) {
        if row.get("type").and_then(Value::as_str) != Some("cost-state") {
            continue;
        }
        accounts += 1;
        let mut total = PicoDollars::ZERO;
        for (model, usage) in row["modelUsage"].as_object().expect("usage by model") {
            *models.entry(model.clone()).or_default() += 1;
            let theirs = usage["costUSD"].as_f64().expect("a cost");
            match prices.cost(model, &of_account(usage)) {
                Some(ours) if (ours.dollars() - theirs).abs() <= TOLERANCE => total += ours,
                ours => wrong.push(format!("{}: {model}: {ours:?}, not {theirs}", path.display())),
            }
        }
        let theirs = row["totalCostUSD"].as_f64().expect("a total");
        if (total.dollars() - theirs).abs() > TOLERANCE {
            wrong.push(format!("{}: {total:?} in all, not {theirs}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(accounts >= 125, "the walk found {accounts} accounts");
    assert!(models.len() >= 3 && models.values().sum::<usize>() >= 112, "{models:?}");
}

/// One response out of a transcript: when it came, and what it cost by our table.
fn response(prices: &Prices, row: &Value) -> Option<(String, String, PicoDollars)> {
    let message = row.get("message").filter(|_| row["type"] == "assistant")?;
    // Not finished, so not paid for as far as the client knows.
    if row.get("isAbortedMidStream").and_then(Value::as_bool) == Some(true) {
        return None;
    }
    let usage = message.get("usage")?;
    let written = count(usage, "cache_creation_input_tokens");
    let for_an_hour = count(&usage["cache_creation"], "ephemeral_1h_input_tokens");
    let spent = BilledUsage {
        input: count(usage, "input_tokens"),
        output: count(usage, "output_tokens"),
        cache_read: count(usage, "cache_read_input_tokens"),
        cache_write_5m: written - for_an_hour,
        cache_write_1h: for_an_hour,
        ..BilledUsage::default()
    };
    let cost = prices.cost(message["model"].as_str()?, &spent)?;
    Some((message["id"].as_str()?.to_owned(), row["timestamp"].as_str()?.to_owned(), cost))
}

/// Returns what the status line shows is the sum of the responses so far, and of what no row tells of (a compaction):
/// that is the last account of the session without all its responses.
#[test]
fn every_status_line_shows_a_sum_of_our_costs() {
    let prices = Prices::embedded();
    let mut responses: BTreeMap<String, BTreeMap<String, (String, PicoDollars)>> = BTreeMap::new();
    let mut accounts: BTreeMap<String, f64> = BTreeMap::new();
    let mut shown: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    for (_, row) in rows(&fixtures().join("claude-code")) {
        let session = |row: &Value, key: &str| row.get(key).and_then(Value::as_str).map(str::to_owned);
        if row.get("channel").and_then(Value::as_str) == Some("statusline") {
            let payload = &row["payload"];
            let (Some(session), Some(cost)) =
                (session(payload, "session_id"), payload["cost"]["total_cost_usd"].as_f64())
            else {
                continue;
            };
            if cost > 0.0 {
                shown.entry(session).or_default().insert(cost.to_bits());
            }
        } else if let Some(session) = session(&row, "sessionId") {
            if row["type"] == "cost-state" {
                accounts.insert(session, row["totalCostUSD"].as_f64().expect("a total"));
            } else if let Some((id, at, cost)) = response(&prices, &row) {
                responses.entry(session).or_default().insert(id, (at, cost));
            }
        }
    }
    let (mut compared, mut with_more) = (0, 0);
    for (session, costs) in shown {
        let mut order: Vec<_> = responses.remove(&session).unwrap_or_default().into_values().collect();
        order.sort();
        let sums: Vec<f64> = order
            .iter()
            .scan(PicoDollars::ZERO, |sum, (_, cost)| {
                *sum += *cost;
                Some(sum.dollars())
            })
            .collect();
        let untold = accounts.get(&session).map(|total| total - sums.last().copied().unwrap_or(0.0));
        for cost in costs.into_iter().map(f64::from_bits) {
            let is_sum = |more: f64| sums.iter().any(|sum| (sum + more - cost).abs() <= TOLERANCE);
            let by_more = !is_sum(0.0);
            assert!(
                !by_more || untold.is_some_and(is_sum),
                "{session}: {cost} is none of {sums:?}, {untold:?}"
            );
            compared += 1;
            with_more += usize::from(by_more);
        }
    }
    assert!(compared >= 20, "only {compared} status lines were compared");
    // Two of a compaction and a web search, three after answers that were cut short, which count from 2.1.326 on.
    assert!(with_more <= 5, "{with_more} status lines hold something that no row tells of");
}

#[test]
fn the_window_is_the_one_that_the_client_shows() {
    let prices = Prices::embedded();
    let mut compared = 0;
    for (path, row) in rows(&fixtures().join("claude-code")) {
        let window = &row["payload"]["context_window"]["context_window_size"];
        let model = &row["payload"]["model"]["id"];
        if let (Some(window), Some(model)) = (window.as_u64(), model.as_str()) {
            assert_eq!(prices.window(model), Some(window), "{}: {model}", path.display());
            compared += 1;
        }
    }
    assert!(compared >= 30, "only {compared} windows were compared");
}

/// Names that stand where a model's name stands and mean no model, or whatever model is the newest.
const NO_MODELS: [&str; 3] = ["", "<synthetic>", "sonnet"];

#[test]
fn every_model_that_a_captured_client_names_has_a_price() {
    fn models(value: &Value, out: &mut BTreeSet<String>) {
        match value {
            Value::Object(members) => {
                for (key, value) in members {
                    match value.as_str() {
                        Some(name) if key == "model" => {
                            out.insert(name.to_owned());
                        }
                        _ => models(value, out),
                    }
                }
            }
            Value::Array(values) => values.iter().for_each(|value| models(value, out)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let prices = Prices::embedded();
    let mut named = BTreeSet::new();
    for folder in ["claude-code", "codex"] {
        rows(&fixtures().join(folder)).iter().for_each(|(_, row)| models(row, &mut named));
    }
    let (known, unknown): (BTreeSet<_>, BTreeSet<_>) =
        named.iter().map(String::as_str).partition(|name| prices.find(name).is_some());
    assert!(
        ["claude-opus-5-5", "claude-sonnet-5-5", "gpt-5.5", "gpt-6.1-sol"]
            .iter()
            .all(|name| known.contains(name))
    );
    let surprises: Vec<_> = unknown.iter().filter(|name| !NO_MODELS.contains(name)).collect();
    assert!(surprises.is_empty(), "{surprises:?}");
}
