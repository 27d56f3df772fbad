//! What silence means: a task that says nothing for long is stale, and at last abandoned.
//!
//! The store keeps where a task stands by what was told of it. How long ago that was is a matter of when one asks, so
//! these limits are applied here and nowhere else, to what is shown and to what is filtered alike.

use crate::view::TaskStatus;

const MINUTE_MS: i64 = 60_000;

/// A running task without an open call that says nothing for this long is stale.
pub(crate) const STALE_MS: i64 = 15 * MINUTE_MS;

/// Any task that is not over and says nothing for this long is stale: even a long call ends sooner.
pub(crate) const SILENT_MS: i64 = 6 * 60 * MINUTE_MS;

/// A task that is not over and says nothing for this long will hardly come back.
pub(crate) const ABANDONED_MS: i64 = 24 * 60 * MINUTE_MS;

/// Every status, in the order of their stored numbers.
pub(crate) const STATUSES: [TaskStatus; 5] = [
    TaskStatus::Running,
    TaskStatus::Waiting,
    TaskStatus::Completed,
    TaskStatus::Failed,
    TaskStatus::Abandoned,
];

/// Whether a task of this status is not over.
fn is_alive(status: TaskStatus) -> bool {
    matches!(status, TaskStatus::Running | TaskStatus::Waiting)
}

/// What is shown of a task that was last heard of at `last`: its status, and whether it is stale.
pub(crate) fn shown(status: TaskStatus, last: i64, now: i64, has_open_call: bool) -> (TaskStatus, bool) {
    let silent = now.saturating_sub(last);
    if !is_alive(status) {
        return (status, false);
    }
    if silent >= ABANDONED_MS {
        return (TaskStatus::Abandoned, false);
    }
    let is_stale =
        silent >= SILENT_MS || (silent >= STALE_MS && status == TaskStatus::Running && !has_open_call);
    (status, is_stale)
}

/// The tasks of one stored status that were last heard of in a stretch of time: `from <= last < to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// The stored status.
    pub(crate) status: TaskStatus,
    /// From this moment on.
    pub(crate) from: i64,
    /// Before this moment.
    pub(crate) to: i64,
}

/// The stored tasks that are shown with one of these statuses.
pub(crate) fn stretches(shown: &[TaskStatus], now: i64) -> Vec<Stretch> {
    // The last moment at which a task is already given up, plus one.
    let edge = now.saturating_sub(ABANDONED_MS).saturating_add(1);
    let is_wanted = |status: TaskStatus| shown.contains(&status);
    let mut stretches = Vec::new();
    for status in STATUSES {
        let (old, new) = if is_alive(status) {
            (is_wanted(TaskStatus::Abandoned), is_wanted(status))
        } else {
            (is_wanted(status), is_wanted(status))
        };
        match (old, new) {
            (true, true) => stretches.push(Stretch { status, from: i64::MIN, to: i64::MAX }),
            (true, false) => stretches.push(Stretch { status, from: i64::MIN, to: edge }),
            (false, true) => stretches.push(Stretch { status, from: edge, to: i64::MAX }),
            (false, false) => {}
        }
    }
    stretches
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn stored_numbers_are_places() {
        for (place, status) in STATUSES.iter().enumerate() {
            assert_eq!(*status as usize, place);
        }
    }

    #[test]
    fn silence_makes_stale_and_then_abandoned() {
        let running = |silent, open| shown(TaskStatus::Running, 0, silent, open);
        assert_eq!(running(STALE_MS - 1, false), (TaskStatus::Running, false));
        assert_eq!(running(STALE_MS, false), (TaskStatus::Running, true));
        assert_eq!(running(STALE_MS, true), (TaskStatus::Running, false));
        assert_eq!(running(SILENT_MS, true), (TaskStatus::Running, true));
        assert_eq!(running(ABANDONED_MS, true), (TaskStatus::Abandoned, false));
        assert_eq!(shown(TaskStatus::Waiting, 0, SILENT_MS - 1, false), (TaskStatus::Waiting, false));
        assert_eq!(shown(TaskStatus::Waiting, 0, SILENT_MS, false), (TaskStatus::Waiting, true));
        assert_eq!(shown(TaskStatus::Completed, 0, i64::MAX, false), (TaskStatus::Completed, false));
    }

    proptest! {
        #[test]
        fn filters_agree_with_what_is_shown(
            status in proptest::sample::select(STATUSES.to_vec()),
            silent in prop_oneof![0..2 * ABANDONED_MS, ABANDONED_MS - 2..ABANDONED_MS + 2],
            wanted in proptest::sample::subsequence(STATUSES.to_vec(), 0..=5),
        ) {
            let now = 1_800_000_000_000;
            let last = now - silent;
            let (seen, _) = shown(status, last, now, false);
            let found = stretches(&wanted, now)
                .iter()
                .filter(|stretch| stretch.status == status && (stretch.from..stretch.to).contains(&last))
                .count();
            prop_assert_eq!(found, usize::from(wanted.contains(&seen)));
        }
    }
}
