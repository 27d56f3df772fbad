//! The record of agents' work: entries as they were reported, and the facts derived from them.
//!
//! An entry is a report of a reader and never changes. A fact is shown to people; it is the fold of all entries with
//! its natural key, whatever the order of their arrival.
//!
//! Observations come in as [`Observed`] in a [`Batch`]. [`Store`] has the queries, and [`view`] the types of their
//! answers.

// Unit tests share a synthetic history with the integration tests, which name the crate.
#[cfg(test)]
extern crate self as agent_tracer_ledger;

mod aside_folder;
pub mod causes;
mod error_text;
mod fault_cause;
mod fold;
pub mod insights;
mod journal;
mod observation;
pub mod project;
pub mod search;
pub mod shipment;
mod sqlite;
mod store;
mod task_names;
pub mod timing;
pub mod view;

/// Rules that every engine shares: cursors of lists, staleness of tasks, the presentation of sums, and the texts that
/// are searched.
pub mod engine {
    pub use crate::sqlite::read::{
        LocalStretch, cursor, is_indexed, local_stretches, staleness, texts, usage_sum,
    };
}

pub use aside_folder::AsidePurge;
pub use error_text::error_text;
pub use fault_cause::FaultCause;
pub use fold::{Fact, SourcedEntry, fold};
pub use observation::{Batch, Cursor, Observed, Receipt, Verdict};
pub use project::past_action::{
    PastAction, PastPrompt, PastSpending, failures_in_a_row, interrupts_calls, opened_files,
};
pub use sqlite::{
    AppendError, CheckPace, ClockTrust, Committed, Contents, CopyError, FlushToken, Ledger, LostSpan,
    OpenError, Options, Outbox, Pace, PageReport, PendingOverlay, QueueFull, RetainedPayload, Retention,
    RunningProcess, Salvage, SalvageError, Stage, Succession, TaskHistory, Upgrade, Upkeep, abandon_swap,
    check_pages, check_store, contents, copy_holds, copy_store, damaged_commits, finish_swap, foreign_log,
    has_store, judge_clock, lost_posts, open_read_only, prepare_swap, purge_aside, remains, remove_copy,
    salvage, set_aside, succeed, swap_store, unpack, upgrade_copies, verify_copy,
};
pub use store::{
    Answer, Changes, DecisionFilter, Decisions, Diagnostics, Insights, MAX_LIMIT, OwnerFilter, Paging,
    QueryError, Range, RowFilter, Search, SearchFilter, Store, TaskDetails, TaskFilter, Tasks, Timeline,
    Usage, UsageBy, Utc, Zone,
};
pub use task_names::TaskNames;
