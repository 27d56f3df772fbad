//! Describes what is shown of rows: the items of every list, made of a row and of what the rows of its task have in common.
//!
//! Every store shows the same of the same row, because it is made here and nowhere else. Nothing here asks anything.

mod about;
mod context;
pub mod lanes;
pub mod limits;
mod lists;
pub mod numbers;
mod rules;
mod task;
mod time_split;
mod turns;

pub use about::{About, MAIN, MOST_STAYS, SUBAGENT, resumes, task_id};
pub use context::thinned;
pub use lists::{
    CALLS, command_run, duration, exploration, number, permission, question, tool_call, web_lookup,
};
pub use rules::{decision, rule_stats};
pub use task::{Seen, TreeSums};
pub use time_split::{HOOKED_LISTS, PERMISSION_CHANNELS, TimeSpan, TimeSplit, WAITING_LISTS, wait};
pub use turns::{
    Called, MOST_SESSIONS, MOST_TODOS, RUN_ENDS, RUN_STARTS, TurnEdges, compactions, runs, sessions, todos,
    turn,
};
