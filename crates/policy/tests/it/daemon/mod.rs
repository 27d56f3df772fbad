//! The rooms of `answers` from outside.

mod active_rules;
mod policy_server;
mod stop_deferrals;
mod table;
mod world;
