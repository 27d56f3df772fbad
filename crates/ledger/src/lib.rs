//! Describes what happened, and what is known of it.
//!
//! Entries are what readers say; they are never changed. Facts are what people see; each is the fold of all entries
//! with its natural key, and the order in which the entries arrived does not matter.
//!
//! Doors: [`Observed`] and [`Batch`] are what is brought, [`Store`] is what may be asked, [`view`] what is answered.

// The tests inside share a made-up history with those outside, which know the crate by its name.
#[cfg(test)]
extern crate self as agent_tracer_ledger;

mod aside;
mod fold;
pub mod insights;
mod journal;
mod observed;
pub mod project;
pub mod record;
pub mod search;
mod sqlite;
mod store;
mod task_names;
pub mod view;

/// Holds what every engine does alike: places in lists, what silence means, what sums show, which texts are searched.
pub mod engine {
    pub use crate::sqlite::read::{Local, cursor, is_indexed, local_stretches, spent, staleness, texts};
}

pub use aside::AsidePurge;
pub use fold::{Fact, SourcedEntry, fold};
pub use observed::{Batch, Cursor, Observed, Receipt, Verdict};
pub use sqlite::{
    AppendError, CheckPace, ClockTrust, Committed, Contents, CopyError, FlushToken, Ledger, LostSpan,
    OpenError, Options, Outbox, Pace, PageReport, PastAction, PastPrompt, PastSpending, PendingOverlay,
    QueueFull, RetainedPayload, Retention, RunningProcess, Salvage, SalvageError, Stage, Succession,
    TaskHistory, Upgrade, Upkeep, abandon_swap, check_pages, check_store, contents, copy_holds, copy_store,
    damaged_commits, finish_swap, foreign_log, has_store, judge_clock, lost_posts, open_read_only,
    prepare_swap, purge_aside, remains, remove_copy, salvage, set_aside, succeed, swap_store, unpack,
    upgrade_copies, verify_copy,
};
pub use store::{
    Answer, Changes, DecisionFilter, Decisions, Diagnostics, Insights, MAX_LIMIT, OwnerFilter, Paging,
    QueryError, Range, RowFilter, Search, SearchFilter, Store, TaskDetails, TaskFilter, Tasks, Timeline,
    Usage, UsageBy, Utc, Zone,
};
pub use task_names::TaskNames;
