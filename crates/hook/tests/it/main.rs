//! The hook as an agent meets it: a process with standard input, an environment and an exit code.

#![expect(clippy::indexing_slicing, reason = "a missing element fails the test, which is what it is for")]

mod behaviour;
mod canary;
mod context;
mod example_agent;
mod limits;
mod policy_check;
mod settings;
mod statusline;
mod world;
