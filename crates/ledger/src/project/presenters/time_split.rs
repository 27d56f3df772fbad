//! The division of a task's time into agents' work, waits for a person, and neither.
//!
//! Law: work and waits together are never longer than the task. A wait for a person is not work, even inside a turn,
//! and two simultaneous waits count once.

use agent_tracer_event::{Channel, attributes};

use super::number;
use crate::project::{FactRow, List};

/// The lists with rows that may wait for a person.
pub const WAITING_LISTS: [List; 2] = [List::Permission, List::Question];

/// The lists in which a hook leaves a trace of every session that it sees. They are short.
pub const HOOKED_LISTS: [List; 4] = [List::SessionStart, List::Prompt, List::Stop, List::Permission];

/// The channels that tell of permission prompts, as a set of bits.
pub const PERMISSION_CHANNELS: u8 = (1 << Channel::Hook as u8) | (1 << Channel::Http as u8);

/// From one moment to another, in milliseconds since 1970.
pub type TimeSpan = (i64, i64);

/// Returns when a row waited for a person; none if it did not, or if its end is not known.
#[must_use]
pub fn wait(row: &FactRow) -> Option<TimeSpan> {
    if !WAITING_LISTS.contains(&row.list) {
        return None;
    }
    let whole = || match row.list {
        // A question is open until it is answered: its whole time is the wait, where no channel measured it.
        List::Question => u64::try_from(row.ended?.saturating_sub(row.occurred)).ok(),
        _ => None,
    };
    let waited = number(row, attributes::WAIT_MS)
        .or_else(|| number(row, attributes::PERMISSION_WAIT_MS))
        .or_else(whole)?;
    let end = row.occurred.saturating_add_unsigned(waited);
    (end > row.occurred).then_some((row.occurred, end))
}

/// Divides time into agents' work and waits for a person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeSplit {
    /// Milliseconds in which a turn ran and no person was waited for.
    pub active_ms: u64,
    /// Milliseconds in which a person was waited for.
    pub waiting_ms: u64,
}

impl TimeSplit {
    /// Divides the time of a task that lived from one moment to another. A turn that has not ended runs until
    /// `open_until`.
    pub fn new(
        (begin, end): TimeSpan,
        turns: impl IntoIterator<Item = (i64, Option<i64>)>,
        waits: impl IntoIterator<Item = TimeSpan>,
        open_until: i64,
    ) -> Self {
        let within = |(from, to): TimeSpan| (from.max(begin), to.min(end));
        let waits = disjoint(waits.into_iter().map(within));
        let turns = turns.into_iter().map(|(from, to)| within((from, to.unwrap_or(open_until))));
        let covered = disjoint(turns.chain(waits.iter().copied()));
        let waiting_ms = length(&waits);
        Self { active_ms: length(&covered) - waiting_ms, waiting_ms }
    }

    /// Adds what was kept of rows that retention dropped, in a task that took so long.
    #[must_use]
    pub fn plus(self, kept: Self, duration_ms: u64) -> Self {
        let waiting_ms = self.waiting_ms.saturating_add(kept.waiting_ms).min(duration_ms);
        let active_ms = self.active_ms.saturating_add(kept.active_ms).min(duration_ms - waiting_ms);
        Self { active_ms, waiting_ms }
    }
}

/// Returns the same time without overlaps, in order.
pub fn disjoint(stretches: impl IntoIterator<Item = TimeSpan>) -> Vec<TimeSpan> {
    let mut sorted: Vec<TimeSpan> = stretches.into_iter().filter(|(from, to)| from < to).collect();
    sorted.sort_unstable();
    let mut joined: Vec<TimeSpan> = Vec::new();
    for (from, to) in sorted {
        match joined.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => joined.push((from, to)),
        }
    }
    joined
}

/// Returns how long stretches are together that do not overlap.
fn length(stretches: &[TimeSpan]) -> u64 {
    stretches.iter().map(|(from, to)| to.abs_diff(*from)).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_wait_inside_a_turn_is_no_work() {
        let split = TimeSplit::new((0, 22_100), [(0, Some(16_200))], [(3_000, 9_600)], i64::MIN);
        assert_eq!(split, TimeSplit { active_ms: 9_600, waiting_ms: 6_600 });
    }

    #[test]
    fn waits_at_once_count_once_and_an_open_turn_runs_on() {
        let split = TimeSplit::new((0, 100), [(10, None)], [(20, 40), (30, 50)], 90);
        assert_eq!(split, TimeSplit { active_ms: 50, waiting_ms: 30 });
    }

    proptest! {
        #[test]
        fn work_and_waits_are_never_longer_than_the_task(
            (begin, length) in (-50_i64..50, 0_i64..500),
            turns in proptest::collection::vec((-100_i64..600, proptest::option::of(-100_i64..700)), 0..12),
            waits in proptest::collection::vec((-100_i64..600, -100_i64..700), 0..12),
            open_until in -100_i64..700,
            kept in (0_u64..400, 0_u64..400),
        ) {
            let duration = length.unsigned_abs();
            let split = TimeSplit::new((begin, begin + length), turns, waits, open_until);
            prop_assert!(split.active_ms + split.waiting_ms <= duration, "{split:?}");
            let all = split.plus(TimeSplit { active_ms: kept.0, waiting_ms: kept.1 }, duration);
            prop_assert!(all.active_ms + all.waiting_ms <= duration, "{all:?}");
            prop_assert!(all.waiting_ms >= split.waiting_ms);
        }
    }
}
