//! `token_count`: how full the context window is, and how much of the limits is used.
//!
//! Codex repeats equal counts around every step; only a change is recorded. After a compaction the last usage is an
//! estimate of the total and nothing else.

use agent_tracer_event::{Kind, Metadata, Millis, Phase, attributes};
use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_64;

use super::state::Totals;
use super::writer::RolloutWriter;
use crate::codex::facts::put;
use crate::codex::wire::Members;

/// Reads the event, unless it says what the last one said.
pub(super) fn token_count(writer: &mut RolloutWriter<'_>, event: &Members<'_>) {
    let mut keys = Metadata::new();
    if let Some(info) = event.members("info") {
        window(&info, &mut keys);
    }
    let has_window = !keys.is_empty();
    let has_limits = event.members("rate_limits").is_some_and(|limits| limits_of(writer, &limits, &mut keys));
    if !has_window && !has_limits {
        return;
    }
    // The moments at which limits are reset move by a second from one answer to the next and are no news.
    let hash = xxh3_64(fingerprint(&keys).as_bytes());
    if writer.state.snapshot.replace(hash) == Some(hash) {
        return;
    }
    put(&mut keys, attributes::MODEL_ID, writer.state.model.as_deref());
    let key = format!("snapshot:{}", writer.observation);
    let mut entry = writer.event(Kind::ContextSnapshot, Phase::Open, key, "token_count");
    entry.title = keys.get(attributes::CONTEXT_WINDOW_USED_PCT).map_or_else(
        || Some("Limits".to_owned()),
        |used| Some(format!("Context {}% used", used.as_f64().unwrap_or(0.0).round())),
    );
    entry.metadata = keys;
    writer.say(entry);
}

fn fingerprint(keys: &Metadata) -> String {
    let mut text = String::new();
    for (name, value) in keys {
        if name.ends_with("ResetsAt") {
            continue;
        }
        let limits = value.as_array().map(Vec::as_slice).unwrap_or_default();
        let used: Vec<_> = limits.iter().map(|limit| limit.get("usedPct")).collect();
        text.push_str(&if limits.is_empty() {
            format!("{name}={value}\n")
        } else {
            format!("{name}={used:?}\n")
        });
    }
    text
}

fn window(info: &Members<'_>, keys: &mut Metadata) {
    let size = info.count("model_context_window").filter(|size| *size > 0);
    let Some(last) = info.members("last_token_usage").as_ref().and_then(Totals::read) else { return };
    if last.total == 0 && size.is_none() {
        return;
    }
    put(keys, attributes::CONTEXT_WINDOW_TOTAL_TOKENS, Some(last.total));
    put(keys, attributes::CONTEXT_WINDOW_SIZE, size);
    if let Some(size) = size {
        let used = percent(last.total as f64 * 100.0 / size as f64);
        put(keys, attributes::CONTEXT_WINDOW_USED_PCT, Some(used));
        put(keys, attributes::CONTEXT_WINDOW_REMAINING_PCT, Some(percent(100.0 - used)));
    }
    if last.input > 0 || last.output > 0 {
        let usage = last.usage();
        put(keys, attributes::CONTEXT_WINDOW_INPUT_TOKENS, Some(usage.input));
        put(keys, attributes::CONTEXT_WINDOW_OUTPUT_TOKENS, Some(usage.output));
        put(keys, attributes::CONTEXT_WINDOW_CACHE_CREATION_TOKENS, Some(usage.cache_write));
        put(keys, attributes::CONTEXT_WINDOW_CACHE_READ_TOKENS, Some(usage.cache_read));
    }
}

/// Returns a percentage between 0 and 100, to a hundredth.
fn percent(value: f64) -> f64 {
    (value.clamp(0.0, 100.0) * 100.0).round() / 100.0
}

/// Reads the limits; whether there is any.
fn limits_of(writer: &RolloutWriter<'_>, limits: &Members<'_>, keys: &mut Metadata) -> bool {
    let mut any = false;
    let mut others = Vec::new();
    for name in ["primary", "secondary"] {
        let Some(limit) = limits.members(name) else { continue };
        let Some(used) = limit.real("used_percent") else { continue };
        any = true;
        let resets = limit.whole("resets_at").and_then(|seconds| seconds.checked_mul(1000)).or_else(|| {
            // Older versions count the seconds from now.
            let seconds = limit.whole("resets_in_seconds")?;
            writer.at.0.checked_add(seconds.checked_mul(1000)?)
        });
        let resets = resets
            .filter(|millis| (0..YEAR_10000_MS).contains(millis))
            .map(|millis| Millis(millis).to_string());
        let minutes = limit.count("window_minutes");
        let (used_key, resets_key) = match minutes {
            // Some versions say 299 and 10079.
            Some(290..=310) => {
                (attributes::RATE_LIMIT_FIVE_HOUR_USED_PCT, attributes::RATE_LIMIT_FIVE_HOUR_RESETS_AT)
            }
            Some(10_000..=10_100) => {
                (attributes::RATE_LIMIT_SEVEN_DAY_USED_PCT, attributes::RATE_LIMIT_SEVEN_DAY_RESETS_AT)
            }
            _ => {
                others.push(json!({"windowMinutes": minutes, "usedPct": percent(used), "resetsAt": resets}));
                continue;
            }
        };
        keys.insert(used_key.to_owned(), Value::from(percent(used)));
        put(keys, resets_key, resets);
    }
    if !others.is_empty() {
        keys.insert(attributes::OTHER_RATE_LIMITS.to_owned(), Value::Array(others));
    }
    if any {
        writer.put_word(keys, attributes::PLAN_TYPE, limits.word("plan_type"));
        writer.put_word(keys, attributes::RATE_LIMIT_REACHED, limits.word("rate_limit_reached_type"));
    }
    any
}

const YEAR_10000_MS: i64 = 253_402_300_800_000;
