//! Each job from outside, on a real ledger.

mod alerts;
mod compaction;
mod context;
