//! What is shown of rows: the items of every list, made of a row and of what the rows of its task have in common.
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
mod turns;

pub use about::{About, MAIN, MOST_STAYS, resumes, task_id};
pub use context::thinned;
pub use lists::{
    CALLS, command_run, duration, exploration, number, permission, question, tool_call, web_lookup,
};
pub use rules::{decision, rule_stats};
pub use task::Seen;
pub use turns::{Called, MOST_SESSIONS, MOST_TODOS, active_ms, compactions, sessions, todos, turn};
