//! Tokens: one `token.usage` per response of the provider.
//!
//! `token_usage_record` names its response, so it is counted once however often it is read; compaction and guardian
//! calls have one too, though no hook. Files of versions before it have only `token_count` with a cumulative total
//! per thread: there the difference to the last total is what was used. A record in the file ends that for good, so
//! nothing is counted by both. A fork's total begins with what its base had used; that part is left out here.

use agent_tracer_event::{Certainty, Kind, Phase, Tokens, attributes};
use serde_json::Value;

use super::state::Totals;
use super::writer::RolloutWriter;
use crate::codex::facts::{put, response_key};
use crate::codex::wire::Members;

impl Totals {
    /// Reads six numbers as Codex writes them; none if it is no usage at all.
    pub(super) fn read(usage: &Members<'_>) -> Option<Self> {
        let number = |name: &str| usage.count(name);
        let (input, output) = (number("input_tokens"), number("output_tokens"));
        if input.is_none() && output.is_none() {
            return None;
        }
        let (input, output) = (input.unwrap_or(0), output.unwrap_or(0));
        Some(Self {
            input,
            cached: number("cached_input_tokens").unwrap_or(0),
            cache_written: number("cache_write_input_tokens").unwrap_or(0),
            output,
            reasoning: number("reasoning_output_tokens").unwrap_or(0),
            total: number("total_tokens").unwrap_or_else(|| input.saturating_add(output)),
        })
    }

    /// Returns the same in the words of every agent.
    pub(in crate::codex) fn usage(&self) -> Tokens {
        Tokens::from_inclusive(self.input, self.cached, self.cache_written, self.output, Some(self.reasoning))
    }
}

/// Reads a response of the provider: `token_usage_record`.
pub(super) fn record(writer: &mut RolloutWriter<'_>, record: &Members<'_>) {
    writer.state.has_records = true;
    let Some(used) = record.members("usage").as_ref().and_then(Totals::read) else { return };
    let response = record.word("response_id").map(|id| writer.rules.word(&id));
    let key = match &response {
        Some(response) => response_key(response),
        // A record without an id is only ever itself: two of them may have equal numbers.
        None => format!("usage:{}", writer.observation),
    };
    let mut entry = writer.event(Kind::TokenUsage, Phase::Open, key, "token_usage_record");
    put(&mut entry.metadata, attributes::RESPONSE_ID, response);
    say_usage(writer, entry, &used, "record");
}

/// Reads a cumulative count: `token_count`. Says what was used since the last one where nothing better does.
pub(super) fn difference(writer: &mut RolloutWriter<'_>, info: &Members<'_>) {
    let Some(now) = info.members("total_token_usage").as_ref().and_then(Totals::read) else { return };
    let before = writer.state.totals.replace(now);
    // The total was taken over above all the same, so that a difference never spans what records have counted.
    if writer.state.has_records || writer.state.copying {
        return;
    }
    let before = match before {
        Some(before) => before,
        // The first count of a fork holds what its base used; before any turn it holds nothing else.
        None if writer.state.forked && writer.state.turn.is_none() => return,
        None if writer.state.forked => {
            let last = info.members("last_token_usage").as_ref().and_then(Totals::read).unwrap_or_default();
            now.since(&last).unwrap_or_default()
        }
        None => Totals::default(),
    };
    let Some(used) = now.since(&before) else { return };
    let mut entry =
        writer.event(Kind::TokenUsage, Phase::Open, format!("usage:total:{}", now.total), "token_count");
    entry.evidence.certainty = Certainty::Inferred;
    entry.evidence.reason = "rollout: difference of token_count.total_token_usage".to_owned();
    say_usage(writer, entry, &used, "difference");
}

/// Reads the settings of the thread from here on: `thread_settings_applied`. They name the service that is paid for.
pub(super) fn settings(writer: &mut RolloutWriter<'_>, payload: &Members<'_>) {
    let Some(settings) = payload.members("thread_settings") else { return };
    let tier = settings.word("service_tier").map(|tier| writer.rules.word(&tier));
    writer.state.service_tier = tier.filter(|tier| !matches!(tier.as_str(), "" | "default" | "auto"));
}

fn say_usage(
    writer: &mut RolloutWriter<'_>,
    mut entry: agent_tracer_event::Entry,
    used: &Totals,
    source: &str,
) {
    used.usage().write(&mut entry.metadata);
    put(&mut entry.metadata, attributes::USAGE_SOURCE, Some(source));
    put(&mut entry.metadata, attributes::MODEL, writer.state.model.as_deref().map(Value::from));
    put(&mut entry.metadata, attributes::SERVICE_TIER, writer.state.service_tier.as_deref().map(Value::from));
    let model = writer.state.model.as_deref().unwrap_or("a model");
    entry.title = Some(crate::text::title(&format!("Response of {model}")));
    writer.say(entry);
}
