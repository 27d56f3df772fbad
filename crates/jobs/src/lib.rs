//! Work that runs beside recording.
//!
//! [`alerts`] tells a person when to look, [`context`] keeps the page that an agent reads when a session starts,
//! [`compaction`] reads what a compaction removed and copies transcripts before one. Threads and timers belong to the
//! binary: everything here is called.

pub mod alerts;
pub mod compaction;
pub mod context;
