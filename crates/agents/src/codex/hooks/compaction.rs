//! Compaction: before and after. The rollout tells the second with the size of the summary.

use agent_tracer_event::{Kind, Phase, Reading, attributes};

use super::Event;
use super::hook::Hook;
use crate::codex::facts::{compaction_key, put};
use crate::text;

pub(super) const EVENTS: &[Event] = &[
    Event {
        name: "PreCompact",
        members: &["trigger"],
        read: |hook, reading| phase(hook, "before", "Context is being compacted", reading),
    },
    Event {
        name: "PostCompact",
        members: &["trigger"],
        read: |hook, reading| phase(hook, "after", "Context compacted", reading),
    },
];

fn phase(hook: &Hook<'_>, phase: &str, title: &str, reading: &mut Reading) {
    hook.expect_one_of("trigger", &["manual", "auto"], reading);
    reading.entries.push(hook.task());
    let key = hook.turn.as_ref().map_or_else(|| hook.own_key(), |turn| compaction_key(phase, turn, 1));
    let mut entry = hook.event(Kind::ContextSaved, Phase::Open, key);
    entry.title = Some(title.to_owned());
    put(
        &mut entry.metadata,
        attributes::TRIGGER,
        hook.text("trigger").map(|trigger| text::line(trigger, 60)),
    );
    put(&mut entry.metadata, attributes::COMPACT_PHASE, Some(phase));
    // Only before: the length of the file at this moment bounds what went into the compaction.
    if let Some(seen) = hook.observation.context.transcript.as_ref().filter(|_| phase == "before") {
        seen.write(&mut entry.metadata);
    }
    reading.entries.push(entry);
}
