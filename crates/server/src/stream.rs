//! Which rows may be followed.
use crate::query::{Param, Reads, agents, kinds, lanes, may};

/// Which rows are followed.
pub(crate) const PARAMS: &[Param] = &[
    may("after", Reads::Whole(0, (1 << 53) - 1), "Begin behind this `seq`, as `Last-Event-ID` says it."),
    may("task", Reads::Task, "Rows of this task."),
    may("tree", Reads::Flag, "With the rows of its subagents."),
    may("lane", Reads::Many(lanes), "In one of these lanes."),
    may("kind", Reads::Many(kinds), "Of one of these kinds."),
    may("agent", Reads::One(agents), "Of this agent."),
    may("project", Reads::Text, "In this project."),
];
