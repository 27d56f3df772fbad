//! The hook as an agent meets it: a process with standard input, an environment and an exit code.

mod behaviour;
mod canary;
mod limits;
mod statusline;
mod world;
