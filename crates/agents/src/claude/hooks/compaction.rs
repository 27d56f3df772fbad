//! Compaction: before and after.

use agent_tracer_event::{Entry, Kind, Phase, Reading, attributes};
use serde_json::Value;

use super::Event;
use super::hook::{Hook, carry, carry_text};
use crate::claude::wire::TextOrLength;
use crate::text;

pub(super) const EVENTS: &[Event] = &[
    Event { name: "PreCompact", members: &["trigger", "custom_instructions"], read: before },
    Event { name: "PostCompact", members: &["trigger", "compact_summary"], read: after },
];

/// The most characters of a summary that are kept.
// The contract's bound at level `actions`: a summary repeats prompts, outputs and files of the whole session.
const SUMMARY_CHARS: usize = 1000;

fn phase(hook: &Hook<'_>, phase: &str, title: &str, reading: &mut Reading) -> Entry {
    hook.expect_one_of("trigger", &["manual", "auto"], reading);
    reading.entries.push(hook.task());
    let mut entry = hook.event(Kind::ContextSaved, Phase::Open, hook.own_key());
    entry.title = Some(title.to_owned());
    carry(hook.payload, &mut entry.metadata, &[(&["trigger"], attributes::TRIGGER)]);
    entry.metadata.insert(attributes::COMPACT_PHASE.to_owned(), Value::from(phase));
    entry
}

fn before(hook: &Hook<'_>, reading: &mut Reading) {
    let mut entry = phase(hook, "before", "Context is being compacted", reading);
    if let Some(seen) = hook.transcript_seen() {
        seen.write(&mut entry.metadata);
    }
    let said = hook.payload.text_or_length(&["custom_instructions"]);
    carry_text(&mut entry.metadata, attributes::CUSTOM_INSTRUCTIONS, said, 10_000);
    if let Some(TextOrLength::Text(text)) = said {
        entry.body = Some(text::cut(text, 10_000).into_owned()).filter(|body| !body.is_empty());
    }
    reading.entries.push(entry);
}

fn after(hook: &Hook<'_>, reading: &mut Reading) {
    let mut entry = phase(hook, "after", "Context compacted", reading);
    match hook.payload.get(&["compact_summary"]) {
        Some(Value::String(summary)) => {
            entry.metadata.insert(attributes::COMPACT_SUMMARY_BYTES.to_owned(), Value::from(summary.len()));
            entry.body = Some(text::cut(summary, SUMMARY_CHARS).into_owned());
        }
        // What the hook leaves of it: the size at every level, and no more than its beginning.
        Some(Value::Object(reduced)) => {
            if let Some(bytes) = reduced.get("bytes").and_then(Value::as_u64) {
                entry.metadata.insert(attributes::COMPACT_SUMMARY_BYTES.to_owned(), Value::from(bytes));
            }
            let head = reduced.get("head").and_then(Value::as_str);
            entry.body = head.map(|head| text::cut(head, SUMMARY_CHARS).into_owned());
        }
        _ => {}
    }
    reading.entries.push(entry);
}
