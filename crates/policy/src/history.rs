//! The history, as conditions of rules query it.
//!
//! The ledger answers through [`History`]; without a ledger [`NoHistory`] does, and every condition is unknown.
//! Unknown is not false: the rule's `on_outage` says what holds then.

use crate::call::Call;
use crate::criteria::Work;
use crate::touch::Access;
use crate::words::{Moment, Scope};

/// Time since a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elapsed {
    /// It has not happened in this task.
    Never,
    /// So many minutes ago.
    Minutes(u64),
}

/// Answers about the history. `None` means unknown, which is also the answer of every method that is not implemented.
pub trait History {
    /// Tokens spent so far, of every kind.
    fn tokens(&self, _call: &Call, _scope: Scope) -> Option<u64> {
        None
    }
    /// Returns the cost so far, in millionths of a dollar.
    fn cost_micros(&self, _call: &Call, _scope: Scope) -> Option<u64> {
        None
    }
    /// Returns how often this very call was made before, in its task.
    fn repeats(&self, _call: &Call) -> Option<u64> {
        None
    }
    /// Returns the number of the task's latest calls that failed in a row.
    fn failures_in_a_row(&self, _call: &Call) -> Option<u64> {
        None
    }
    /// Returns whether the task has read a file, by its absolute path.
    fn was_read(&self, _call: &Call, _path: &str) -> Option<bool> {
        None
    }
    /// Returns the time since something happened.
    fn since(&self, _call: &Call, _moment: Moment) -> Option<Elapsed> {
        None
    }
    /// Returns how often a rule has deferred this stop already.
    fn deferrals(&self, _call: &Call, _rule: &str) -> Option<u64> {
        None
    }
    /// Returns the actions of the agent that wants to stop.
    fn work(&self, _call: &Call) -> Option<Work> {
        None
    }
}

/// An empty history: every answer is unknown.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHistory;

impl History for NoHistory {}

/// The truth of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// It does.
    Holds,
    /// It does not.
    Fails,
    /// Unknown.
    Unknown,
}

impl Truth {
    const fn from_answer(answer: Option<bool>) -> Self {
        match answer {
            Some(true) => Self::Holds,
            Some(false) => Self::Fails,
            None => Self::Unknown,
        }
    }

    /// Combines two truths: fails if either does, whatever is unknown.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        match (self, other) {
            // A condition that surely fails settles it: what is unknown beside it must not turn silence into an
            // outage.
            (Self::Fails, _) | (_, Self::Fails) => Self::Fails,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::Holds, Self::Holds) => Self::Holds,
        }
    }
}

/// A condition on the past.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// More tokens than this were spent.
    Tokens {
        /// Over what.
        per: Scope,
        /// More than this.
        over: u64,
    },
    /// More money than this was spent.
    Cost {
        /// Over what.
        per: Scope,
        /// More than this, in millionths of a dollar.
        over_micros: u64,
    },
    /// The same call was made at least so often before.
    Repeated(u64),
    /// At least so many calls have failed in a row.
    FailuresInARow(u64),
    /// A file that is changed was not read before (or was).
    UnreadEdit(bool),
    /// It is longer than this ago, or has never been.
    MinutesSince {
        /// The action.
        moment: Moment,
        /// More minutes than this.
        over: u64,
    },
}

impl Condition {
    /// Evaluates it for a call.
    pub fn holds(&self, call: &Call, history: &dyn History) -> Truth {
        let over = |sum: Option<u64>, limit: u64| Truth::from_answer(sum.map(|sum| sum > limit));
        let least = |count: Option<u64>, least: u64| Truth::from_answer(count.map(|count| count >= least));
        match self {
            Self::Tokens { per, over: limit } => over(history.tokens(call, *per), *limit),
            Self::Cost { per, over_micros } => over(history.cost_micros(call, *per), *over_micros),
            Self::Repeated(times) => least(history.repeats(call), *times),
            Self::FailuresInARow(times) => least(history.failures_in_a_row(call), *times),
            Self::UnreadEdit(wanted) => unread_edit(call, history).equals(*wanted),
            Self::MinutesSince { moment, over: limit } => {
                Truth::from_answer(history.since(call, *moment).map(|since| match since {
                    Elapsed::Never => true,
                    Elapsed::Minutes(minutes) => minutes > *limit,
                }))
            }
        }
    }
}

impl Truth {
    const fn equals(self, wanted: bool) -> Self {
        match (self, wanted) {
            (Self::Holds, true) | (Self::Fails, false) => Self::Holds,
            (Self::Holds, false) | (Self::Fails, true) => Self::Fails,
            (Self::Unknown, _) => Self::Unknown,
        }
    }
}

/// Returns whether any file that the call changes was never read. A call that changes nothing does not.
fn unread_edit(call: &Call, history: &dyn History) -> Truth {
    let mut truth = Truth::Fails;
    for touch in call.touches.iter().filter(|touch| touch.access == Access::Write) {
        match history.was_read(call, &touch.path) {
            Some(false) => return Truth::Holds,
            Some(true) => {}
            None => truth = Truth::Unknown,
        }
    }
    truth
}
