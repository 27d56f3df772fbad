//! Compactions: the mark in the file, and the summary that takes the place of what went before.

use agent_tracer_event::{Kind, Phase, Subject, attributes};
use serde_json::{Map, Value};

use super::writer::{Member, RowWriter, put};

/// The numbers of a compaction, by their names in the row, and ours.
const NUMBERS: &[(&str, &str)] = &[
    ("preTokens", attributes::PRE_TOKENS),
    ("postTokens", attributes::POST_TOKENS),
    ("cumulativeDroppedTokens", attributes::CUMULATIVE_DROPPED_TOKENS),
    ("durationMs", attributes::DURATION_MS),
];

/// Reads the mark where a conversation was compacted.
pub(super) fn boundary(writer: &mut RowWriter<'_, '_>, row: &Map<String, Value>) {
    let name = writer.name.clone();
    writer.lane().compaction = Some(name.clone());
    let mut entry = writer.event(Kind::ContextSaved, Phase::Close, format!("compact:{name}"));
    entry.title = Some("Context compacted".to_owned());
    entry.ended_at = Some(writer.at);
    put(&mut entry.metadata, attributes::COMPACT_PHASE, "after");
    let about = row.get("compactMetadata").and_then(Value::as_object);
    if let Some(trigger) = about.and_then(|about| about.get(attributes::TRIGGER)).and_then(Value::as_str) {
        put(&mut entry.metadata, attributes::TRIGGER, writer.rules.word(trigger));
    }
    for (from, to) in NUMBERS {
        if let Some(number) = about.and_then(|about| about.get(*from)).filter(|number| number.is_number()) {
            entry.metadata.insert((*to).to_owned(), number.clone());
        }
    }
    writer.push(entry);
}

/// Reads the summary, which is a row of the user's.
pub(super) fn summary(writer: &mut RowWriter<'_, '_>, text: &str) {
    let mark = writer.lane().compaction.take().unwrap_or_else(|| writer.name.clone());
    let kept = writer.reduce_member("PostCompact", None, "compact_summary", Member::Str(text));
    let mut entries = writer.as_hook("PostCompact", vec![("compact_summary", kept)]);
    // Mark and summary are two rows of one compaction: the summary only completes the fact of the mark.
    entries.retain(|entry| entry.subject == Subject::Event(Kind::ContextSaved));
    for entry in &mut entries {
        entry.key = format!("compact:{mark}");
        entry.phase = Phase::Update;
    }
    writer.reading.entries.append(&mut entries);
}
