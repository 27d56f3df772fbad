//! The status of silent tasks. A task without events for a long time is stale, and at last it counts as ended:
//! abandoned if it worked or waited for an answer, completed if it only waited for the next prompt.
//!
//! The store keeps where a task stands by what was reported about it. How long ago that was is a matter of when one
//! asks, so these limits are applied here and nowhere else, to what is shown and to what is filtered alike.

use crate::view::{TaskStatus, WaitingReason};

const MINUTE_MS: i64 = 60_000;

/// A running task without an open call that says nothing for this long is stale.
pub const STALE_MS: i64 = 15 * MINUTE_MS;

/// Any task that is not over and says nothing for this long is stale: even a long call ends sooner.
pub const SILENT_MS: i64 = 6 * 60 * MINUTE_MS;

/// A task that is not over and says nothing for this long will hardly come back.
pub const OVER_MS: i64 = 24 * 60 * MINUTE_MS;

/// Every status, in the order of their stored numbers.
pub const STATUSES: [TaskStatus; 5] = [
    TaskStatus::Running,
    TaskStatus::Waiting,
    TaskStatus::Completed,
    TaskStatus::Failed,
    TaskStatus::Abandoned,
];

/// Returns whether a task of this status is not over.
fn is_alive(status: TaskStatus) -> bool {
    matches!(status, TaskStatus::Running | TaskStatus::Waiting)
}

/// Returns the condition that a row of the task table is of a task that is not over.
pub(crate) fn alive() -> String {
    format!("status IN ({}, {})", TaskStatus::Running as i64, TaskStatus::Waiting as i64)
}

/// Returns whether a waiting task only waits for the next prompt.
fn is_idle(waiting: Option<WaitingReason>) -> bool {
    waiting.is_none_or(|reason| reason == WaitingReason::Idle)
}

/// A task as the store keeps it, as far as silence matters.
#[derive(Clone, Copy, Debug)]
pub struct ReportedState {
    /// The last reported status.
    pub status: TaskStatus,
    /// The reason for which it waits.
    pub waiting: Option<WaitingReason>,
    /// The moment when it was last active.
    pub last: i64,
    /// It has a call without a recorded end.
    pub has_open_call: bool,
}

/// Returns whether an open call decides if a task is stale.
#[must_use]
pub fn may_be_stale(status: TaskStatus, last: i64, now: i64) -> bool {
    status == TaskStatus::Running && now.saturating_sub(last) >= STALE_MS
}

/// Returns the presented status of a task, and `true` if it is stale.
pub fn present(kept: ReportedState, now: i64) -> (TaskStatus, bool) {
    let ReportedState { status, waiting, last, has_open_call } = kept;
    let silent = now.saturating_sub(last);
    if !is_alive(status) {
        return (status, false);
    }
    if silent >= OVER_MS {
        let is_done = status == TaskStatus::Waiting && is_idle(waiting);
        return (if is_done { TaskStatus::Completed } else { TaskStatus::Abandoned }, false);
    }
    let is_stale =
        silent >= SILENT_MS || (silent >= STALE_MS && status == TaskStatus::Running && !has_open_call);
    (status, is_stale)
}

/// The tasks of one stored status that were last active in a stretch of time: `from <= last < to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusWindow {
    /// The stored status.
    pub status: TaskStatus,
    /// Only those that wait for the next prompt, or only those that do not.
    pub idle: Option<bool>,
    /// From this moment on.
    pub from: i64,
    /// Before this moment.
    pub to: i64,
}

/// Returns the stored tasks that are shown with one of these statuses. No two stretches share a task.
pub fn stretches(shown: &[TaskStatus], now: i64) -> Vec<StatusWindow> {
    // The last moment of which it is over by now, plus one.
    let edge = now.saturating_sub(OVER_MS).saturating_add(1);
    let is_wanted = |status: TaskStatus| shown.contains(&status);
    let mut stretches = Vec::new();
    for status in STATUSES.into_iter().filter(|status| is_wanted(*status)) {
        let from = if is_alive(status) { edge } else { i64::MIN };
        stretches.push(StatusWindow { status, idle: None, from, to: i64::MAX });
    }
    let mut over = |status, idle| stretches.push(StatusWindow { status, idle, from: i64::MIN, to: edge });
    if is_wanted(TaskStatus::Abandoned) {
        over(TaskStatus::Running, None);
    }
    match (is_wanted(TaskStatus::Abandoned), is_wanted(TaskStatus::Completed)) {
        (true, true) => over(TaskStatus::Waiting, None),
        (true, false) => over(TaskStatus::Waiting, Some(false)),
        (false, true) => over(TaskStatus::Waiting, Some(true)),
        (false, false) => {}
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
    fn silence_makes_stale_and_then_over() {
        let after = |silent, status, waiting, has_open_call| {
            present(ReportedState { status, waiting, last: 0, has_open_call }, silent)
        };
        let running = |silent, open| after(silent, TaskStatus::Running, None, open);
        assert_eq!(running(STALE_MS - 1, false), (TaskStatus::Running, false));
        assert_eq!(running(STALE_MS, false), (TaskStatus::Running, true));
        assert_eq!(running(STALE_MS, true), (TaskStatus::Running, false));
        assert_eq!(running(SILENT_MS, true), (TaskStatus::Running, true));
        assert_eq!(running(OVER_MS, true), (TaskStatus::Abandoned, false));
        let waiting = |silent, reason| after(silent, TaskStatus::Waiting, Some(reason), false);
        assert_eq!(waiting(SILENT_MS - 1, WaitingReason::Idle), (TaskStatus::Waiting, false));
        assert_eq!(waiting(SILENT_MS, WaitingReason::Idle), (TaskStatus::Waiting, true));
        assert_eq!(waiting(OVER_MS, WaitingReason::Idle), (TaskStatus::Completed, false));
        assert_eq!(waiting(OVER_MS, WaitingReason::Question), (TaskStatus::Abandoned, false));
        assert_eq!(after(i64::MAX, TaskStatus::Failed, None, false), (TaskStatus::Failed, false));
    }

    proptest! {
        #[test]
        fn filters_agree_with_what_is_shown(
            status in proptest::sample::select(STATUSES.to_vec()),
            waiting in proptest::sample::select(vec![None, Some(WaitingReason::Idle), Some(WaitingReason::Plan)]),
            silent in prop_oneof![0..2 * OVER_MS, OVER_MS - 2..OVER_MS + 2],
            wanted in proptest::sample::subsequence(STATUSES.to_vec(), 0..=5),
        ) {
            let now = 1_800_000_000_000;
            let last = now - silent;
            let (seen, _) = present(ReportedState { status, waiting, last, has_open_call: false }, now);
            let found = stretches(&wanted, now)
                .iter()
                .filter(|stretch| stretch.status == status && (stretch.from..stretch.to).contains(&last))
                .filter(|stretch| stretch.idle.is_none_or(|idle| idle == is_idle(waiting)))
                .count();
            prop_assert_eq!(found, usize::from(wanted.contains(&seen)));
        }
    }
}
