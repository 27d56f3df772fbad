//! The presentation of rows: the items of every list, made from a row and the values that all rows of its task share.
//!
//! Every store presents a row alike, because presentation happens here and nowhere else. Nothing here queries a store.

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
mod usage_parts;

pub use about::{About, MAIN, MOST_STAYS, SUBAGENT, resumes, task_id};
pub use context::thinned;
pub use lists::{
    CALLS, command_run, duration, exploration, number, permission, question, tool_call, web_lookup,
};
pub use rules::{decision, rule_stats};
pub use task::{TaskSurroundings, TreeSums};
pub use time_split::{HOOKED_LISTS, PERMISSION_CHANNELS, TimeSpan, TimeSplit, WAITING_LISTS, disjoint, wait};
pub use turns::{
    MOST_SESSIONS, MOST_TODOS, RUN_ENDS, RUN_STARTS, TurnActivity, TurnEdges, compactions, runs, sessions,
    todos, turn,
};
pub use usage_parts::UsageParts;
