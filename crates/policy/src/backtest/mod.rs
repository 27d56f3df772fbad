//! Replays a draft policy over the recorded history.
//!
//! [`run`] walks the tasks of a stretch of time, the newest first, and each with its subagents in the order in which
//! things happened. Every moment at which an agent would have asked its hooks becomes a question again
//! (`moment`), is answered by what was known then (`evidence`), and is counted (`judge`) into a [`Backtest`].
//!
//! Laws: nothing is guessed. What the ledger does not hold, such as a command that was not kept, is reported as not judged,
//! by rule and reason, and never as silence. Memory is bounded by one tree of tasks, not by the history. The caller
//! may stop it at any time and gets what was found so far, marked as such.

mod days;
mod evidence;
mod judge;
mod missing;
mod moment;
mod replay;
mod report;
#[cfg(test)]
mod tests;
mod walk;

pub use judge::EXAMPLES_MAX;
pub use report::{Backtest, Decisions, ReplayLimit, ReplayMatch, RuleReport, UnevaluatedEvents};
pub use walk::{CostOf, LocalMoment, Progress, ReplayRequest, Setting, run};
