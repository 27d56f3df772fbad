//! Everything beyond one machine.
//!
//! [`ship`] sends what this machine recorded to a team's server, as far as the team's policy allows; [`team`] is that
//! server; [`clickhouse`] is its store, which answers the same queries as the embedded one.

pub mod clickhouse;
pub mod ship;
pub mod team;
