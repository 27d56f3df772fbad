//! Lists the versions of Codex: the events that each one calls, and whether it asks for trust first.
//!
//! An event that a version does not know is ignored without a word by every version that was driven, so all events are
//! registered whatever the version, and an upgrade finds them there. What differs is what the user may expect of it.
//!
//! The events are those whose schemas each version's program carries; the rest is from driving it offline
//! (`tests/real-clients/versions`). A test holds this table to `tests/real-clients/versions.json`.

use crate::client_version::ClientVersion;

/// Versions from one on, until the next range begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// The first version of the range.
    pub from: ClientVersion,
    /// The events that it calls and the range before does not.
    pub adds: &'static [&'static str],
    /// True if it runs a hook only after the user has reviewed it.
    pub asks_for_trust: bool,
}

const fn range(minor: u32, adds: &'static [&'static str]) -> Range {
    Range { from: ClientVersion::release(0, minor, 0), adds, asks_for_trust: true }
}

/// All ranges, the oldest first.
pub const RANGES: [Range; 6] = [
    Range {
        asks_for_trust: false,
        ..range(
            128,
            &["SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop"],
        )
    },
    range(129, &["PreCompact", "PostCompact"]),
    range(133, &["SubagentStart", "SubagentStop"]),
    range(147, &["SessionEnd"]),
    range(150, &["Interrupt"]),
    range(164, &["PreModelRequest", "PostModelRequest"]),
];

/// The oldest version that was driven.
pub const OLDEST_DRIVEN: ClientVersion = RANGES[0].from;

/// The first version that can be started with `--dangerously-bypass-hook-trust`.
// From 0.129 to here hooks wait for a review that a trial without a person cannot give.
pub const FIRST_WITH_BYPASS: ClientVersion = ClientVersion::release(0, 131, 0);

/// Returns whether a version calls an event.
pub fn calls(client: ClientVersion, event: &str) -> bool {
    RANGES.iter().take_while(|range| range.from <= client).any(|range| range.adds.contains(&event))
}

/// Returns whether a version runs a hook only after the user has reviewed it. Older ones than were driven count as
/// those that were: they have no place to keep trust in.
pub fn asks_for_trust(client: ClientVersion) -> bool {
    RANGES.iter().rev().find(|range| range.from <= client).is_some_and(|range| range.asks_for_trust)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codex::events::EVENTS;

    #[test]
    fn each_event_begins_in_one_range_and_ranges_are_in_order() {
        assert!(RANGES.windows(2).all(|pair| pair[0].from < pair[1].from));
        for event in EVENTS {
            assert_eq!(
                RANGES.iter().filter(|range| range.adds.contains(&event.name)).count(),
                1,
                "{}",
                event.name
            );
        }
    }

    #[test]
    fn both_sides_of_a_boundary_differ() {
        let release = |minor| ClientVersion::release(0, minor, 0);
        assert!(
            !asks_for_trust(release(128)) && asks_for_trust(release(131)) && asks_for_trust(release(200))
        );
        assert!(!calls(release(163), "PreModelRequest") && calls(release(169), "PreModelRequest"));
        assert!(!calls(release(100), "Stop"));
    }
}
