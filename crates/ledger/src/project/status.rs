//! The status of a task, as a function of its newest facts and never of the order of their arrival.

use crate::view::{TaskStatus, WaitingReason};

/// The distance within which two hooks may have arrived in any order, because each is a process of its own.
pub const SWAP_MS: i64 = 50;

/// The newest moments of a task that decide its status.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    /// The newest prompt.
    pub prompt: Option<i64>,
    /// The newest beginning of a tool call.
    pub call: Option<i64>,
    /// The newest start or resume of its process.
    pub session_start: Option<i64>,
    /// The newest end of its process.
    pub session_end: Option<i64>,
    /// The newest end of its process that was a stop by another process while it worked.
    pub cancelled: Option<i64>,
    /// The newest time that a rule kept it from ending.
    pub blocked: Option<i64>,
    /// The newest end of a turn that did not fail; `true` if work went on in the background.
    pub stop: Option<(i64, bool)>,
    /// The newest end of a turn that failed.
    pub failure: Option<i64>,
    /// The newest interruption by a person.
    pub interrupt: Option<i64>,
    /// The newest unanswered wait for a person: its beginning, its reason and its fact.
    pub pending: Option<(i64, WaitingReason, i64)>,
    /// Some subagent of it runs.
    pub children_run: bool,
    /// The moment when the process was found to be gone.
    pub gone: Option<i64>,
    /// The moment when the process of the task that it belongs to ended or was found to be gone.
    pub ancestor_end: Option<i64>,
    /// It is a subagent.
    pub background: bool,
}

/// The status of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// The status.
    pub status: TaskStatus,
    /// The reason for which it waits, the beginning of the wait, and the fact that asks.
    pub waiting: Option<(WaitingReason, i64, Option<i64>)>,
    /// The moment when it ended.
    pub ended: Option<i64>,
}

impl Standing {
    fn new(status: TaskStatus) -> Self {
        Self { status, waiting: None, ended: None }
    }

    fn at(status: TaskStatus, ended: i64) -> Self {
        Self { status, waiting: None, ended: Some(ended) }
    }
}

impl Marks {
    /// Returns the newest sign of work.
    fn work(&self) -> Option<i64> {
        self.prompt.max(self.call)
    }

    /// Returns the status of the task.
    #[must_use]
    pub fn standing(&self) -> Standing {
        let alive = self.work().max(self.session_start);
        let after = |moment: i64, other: Option<i64>| other.is_none_or(|other| moment + SWAP_MS >= other);
        // An end that a rule blocked is not an end. A real one comes after the block.
        let is_blocked = |end: i64| self.blocked.is_some_and(|at| at >= end);
        let stop = self.stop.map(|(at, _)| at);
        if let Some(end) = self.session_end.filter(|end| after(*end, alive) && !is_blocked(*end)) {
            // A subagent whose turn failed has ended too, but not well.
            let failed = self.background && self.failure.is_some_and(|at| stop.is_none_or(|stop| at > stop));
            return Standing::at(
                match (self.cancelled == Some(end), failed) {
                    (true, _) => TaskStatus::Abandoned,
                    (false, true) => TaskStatus::Failed,
                    (false, false) => TaskStatus::Completed,
                },
                end,
            );
        }
        let newest_end = stop.max(self.failure).max(self.interrupt);
        let own_end = newest_end.filter(|end| after(*end, self.work()) && !is_blocked(*end));
        let goes_on =
            |end: i64| self.children_run || self.stop.is_some_and(|(at, background)| at == end && background);
        // A subagent has one assignment. Its final message is its end until it is prompted again, and the end of its
        // parent does not change that.
        if let Some(end) = own_end.filter(|end| self.background && !goes_on(*end)) {
            return Standing::at(
                if self.failure == Some(end) {
                    TaskStatus::Failed
                } else if self.interrupt == Some(end) {
                    TaskStatus::Abandoned
                } else {
                    TaskStatus::Completed
                },
                end,
            );
        }
        if let Some(gone) = self.gone.filter(|gone| after(*gone, alive)) {
            return Standing::at(TaskStatus::Abandoned, gone);
        }
        if let Some(end) = self.ancestor_end.filter(|end| after(*end, alive)) {
            return Standing::at(TaskStatus::Abandoned, end);
        }
        if let Some((since, reason, fact)) = self.pending {
            return Standing {
                status: TaskStatus::Waiting,
                waiting: Some((reason, since, Some(fact))),
                ended: None,
            };
        }
        match own_end {
            Some(end) => {
                if self.failure == Some(end) {
                    return if self.background {
                        Standing::at(TaskStatus::Failed, end)
                    } else {
                        Standing::new(TaskStatus::Failed)
                    };
                }
                if goes_on(end) {
                    return Standing::new(TaskStatus::Running);
                }
                Standing {
                    status: TaskStatus::Waiting,
                    waiting: Some((WaitingReason::Idle, end, None)),
                    ended: None,
                }
            }
            // It waits for its first prompt.
            None if newest_end.is_none() && self.work().is_none() && !self.background => Standing {
                status: TaskStatus::Waiting,
                waiting: self.session_start.map(|at| (WaitingReason::Idle, at, None)),
                ended: None,
            },
            None => Standing::new(TaskStatus::Running),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(marks: Marks) -> (TaskStatus, Option<WaitingReason>) {
        let standing = marks.standing();
        (standing.status, standing.waiting.map(|(reason, _, _)| reason))
    }

    #[test]
    fn a_prompt_or_a_call_makes_it_run() {
        let marks = Marks { session_start: Some(1), ..Marks::default() };
        assert_eq!(standing(marks.clone()), (TaskStatus::Waiting, Some(WaitingReason::Idle)));
        assert_eq!(standing(Marks { prompt: Some(2), ..marks.clone() }), (TaskStatus::Running, None));
        assert_eq!(standing(Marks { call: Some(2), ..marks }), (TaskStatus::Running, None));
    }

    #[test]
    fn a_turn_that_ended_waits_for_the_next_unless_something_goes_on() {
        let marks = Marks { prompt: Some(100), stop: Some((900, false)), ..Marks::default() };
        assert_eq!(standing(marks.clone()), (TaskStatus::Waiting, Some(WaitingReason::Idle)));
        assert_eq!(standing(Marks { children_run: true, ..marks.clone() }).0, TaskStatus::Running);
        assert_eq!(standing(Marks { stop: Some((900, true)), ..marks.clone() }).0, TaskStatus::Running);
        assert_eq!(standing(Marks { prompt: Some(2000), ..marks }).0, TaskStatus::Running);
    }

    #[test]
    fn a_failed_turn_is_failed_until_the_next_prompt() {
        let marks = Marks { prompt: Some(100), failure: Some(900), ..Marks::default() };
        assert_eq!(standing(marks.clone()).0, TaskStatus::Failed);
        assert_eq!(standing(Marks { prompt: Some(2000), ..marks }).0, TaskStatus::Running);
    }

    #[test]
    fn the_end_of_the_process_completes_it_and_anything_later_reopens_it() {
        let marks =
            Marks { prompt: Some(100), stop: Some((900, false)), session_end: Some(950), ..Marks::default() };
        assert_eq!(marks.standing(), Standing::at(TaskStatus::Completed, 950));
        assert_eq!(standing(Marks { session_start: Some(5000), ..marks.clone() }).0, TaskStatus::Waiting);
        assert_eq!(standing(Marks { prompt: Some(6000), ..marks }).0, TaskStatus::Running);
    }

    #[test]
    fn what_arrives_swapped_by_a_few_milliseconds_does_not_reopen() {
        let marks = Marks { call: Some(960), session_end: Some(950), ..Marks::default() };
        assert_eq!(standing(marks).0, TaskStatus::Completed);
    }

    #[test]
    fn a_question_beats_running_and_an_end_beats_the_question() {
        let pending = Some((500, WaitingReason::Permission, 7));
        let marks = Marks { prompt: Some(100), call: Some(490), pending, ..Marks::default() };
        assert_eq!(standing(marks.clone()), (TaskStatus::Waiting, Some(WaitingReason::Permission)));
        assert_eq!(standing(Marks { session_end: Some(900), ..marks }).0, TaskStatus::Completed);
    }

    #[test]
    fn a_subagent_whose_parent_is_gone_is_abandoned() {
        let marks = Marks { call: Some(100), background: true, ancestor_end: Some(900), ..Marks::default() };
        assert_eq!(marks.standing(), Standing::at(TaskStatus::Abandoned, 900));
        let marks = Marks { call: Some(100), gone: Some(900), ..Marks::default() };
        assert_eq!(standing(marks).0, TaskStatus::Abandoned);
    }

    #[test]
    fn how_a_subagent_ended_does_not_change_when_its_session_ends() {
        let marks = Marks { call: Some(1), background: true, ..Marks::default() };
        for later in [
            Marks { ancestor_end: Some(5_000), ..marks.clone() },
            Marks { gone: Some(5_000), ..marks.clone() },
        ] {
            assert_eq!(later.standing(), Standing::at(TaskStatus::Abandoned, 5_000));
            let failed = Marks { failure: Some(900), ..later.clone() };
            assert_eq!(failed.standing(), Standing::at(TaskStatus::Failed, 900));
            let stopped = Marks { stop: Some((900, false)), ..later.clone() };
            assert_eq!(stopped.standing(), Standing::at(TaskStatus::Completed, 900));
            let cut = Marks { interrupt: Some(900), ..later.clone() };
            assert_eq!(cut.standing(), Standing::at(TaskStatus::Abandoned, 900));
            // It was prompted again and did not end a second time.
            let again = Marks { prompt: Some(2_000), ..stopped };
            assert_eq!(again.standing(), Standing::at(TaskStatus::Abandoned, 5_000));
        }
    }

    #[test]
    fn a_subagent_that_was_stopped_has_ended_when_it_was_stopped() {
        let marks = Marks {
            call: Some(100),
            session_end: Some(900),
            cancelled: Some(900),
            interrupt: Some(1_400),
            ancestor_end: Some(5_000),
            background: true,
            ..Marks::default()
        };
        assert_eq!(marks.standing(), Standing::at(TaskStatus::Abandoned, 900));
        // It was prompted again after that.
        let again = Marks { prompt: Some(2_000), ancestor_end: None, ..marks };
        assert_eq!(standing(again).0, TaskStatus::Running);
    }

    #[test]
    fn an_end_that_a_rule_blocked_is_none() {
        let marks = Marks {
            call: Some(100),
            session_end: Some(900),
            stop: Some((900, false)),
            blocked: Some(901),
            background: true,
            ..Marks::default()
        };
        assert_eq!(standing(marks.clone()).0, TaskStatus::Running);
        let ended = Marks { session_end: Some(1_500), stop: Some((1_500, false)), ..marks.clone() };
        assert_eq!(ended.standing(), Standing::at(TaskStatus::Completed, 1_500));
        let main = Marks { background: false, session_end: None, ..marks };
        assert_eq!(standing(main).0, TaskStatus::Running);
    }

    #[test]
    fn a_subagent_that_failed_has_ended() {
        let marks = Marks { call: Some(1), failure: Some(900), background: true, ..Marks::default() };
        assert_eq!(marks.standing(), Standing::at(TaskStatus::Failed, 900));
    }

    #[test]
    fn the_last_word_of_a_subagent_is_its_end_until_it_is_asked_again() {
        let marks = Marks { call: Some(1), stop: Some((900, false)), background: true, ..Marks::default() };
        assert_eq!(marks.standing(), Standing::at(TaskStatus::Completed, 900));
        assert_eq!(standing(Marks { prompt: Some(2000), ..marks }).0, TaskStatus::Running);
    }
}
