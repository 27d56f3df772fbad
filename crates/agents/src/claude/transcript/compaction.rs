//! Compactions: the mark in the file, and the summary that takes the place of what went before.

use agent_tracer_event::{Kind, Phase, Subject, attributes};
use serde_json::{Map, Value};

use super::telling::{Member, Telling, put};

/// The numbers of a compaction, by their names in the row, and ours.
const NUMBERS: &[(&str, &str)] = &[
    ("preTokens", attributes::PRE_TOKENS),
    ("postTokens", attributes::POST_TOKENS),
    ("cumulativeDroppedTokens", attributes::CUMULATIVE_DROPPED_TOKENS),
    ("durationMs", attributes::DURATION_MS),
];

/// The mark where a conversation was compacted.
pub(super) fn boundary(told: &mut Telling<'_, '_>, row: &Map<String, Value>) {
    let name = told.name.clone();
    told.lane().compaction = Some(name.clone());
    let mut entry = told.event(Kind::ContextSaved, Phase::Close, format!("compact:{name}"));
    entry.title = Some("Context compacted".to_owned());
    entry.ended_at = Some(told.at);
    put(&mut entry.metadata, attributes::COMPACT_PHASE, "after");
    let about = row.get("compactMetadata").and_then(Value::as_object);
    if let Some(trigger) = about.and_then(|about| about.get(attributes::TRIGGER)).and_then(Value::as_str) {
        put(&mut entry.metadata, attributes::TRIGGER, told.rules.word(trigger));
    }
    for (from, to) in NUMBERS {
        if let Some(number) = about.and_then(|about| about.get(*from)).filter(|number| number.is_number()) {
            entry.metadata.insert((*to).to_owned(), number.clone());
        }
    }
    told.push(entry);
}

/// The summary, which is a row of the user's.
pub(super) fn summary(told: &mut Telling<'_, '_>, text: &str) {
    let mark = told.lane().compaction.take().unwrap_or_else(|| told.name.clone());
    let kept = told.kept("PostCompact", None, "compact_summary", Member::Str(text));
    let mut entries = told.as_hook("PostCompact", vec![("compact_summary", kept)]);
    entries.retain(|entry| entry.subject == Subject::Event(Kind::ContextSaved));
    for entry in &mut entries {
        entry.key = format!("compact:{mark}");
        entry.phase = Phase::Update;
    }
    told.reading.entries.append(&mut entries);
}
