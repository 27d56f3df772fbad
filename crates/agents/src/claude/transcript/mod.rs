//! Claude Code's transcripts: the files under `projects/` in which it keeps its sessions.
//!
//! A session is `projects/<slug>/<session>.jsonl`; each of its subagents is
//! `<session>/subagents/agent-<id>.jsonl` beside a `.meta.json` ([`Place`]). Every line is one row.
//! [`TranscriptReader`] takes the lines in their order, one at a time, and says what each tells; what it must remember
//! from one to the next is [`ReaderState`]. [`usage`] reads nothing but what responses cost, faster.
//!
//! The laws of this room:
//!
//! - The form is no contract and changes every few weeks: what is known is taken from wherever it stands, the rest
//!   is counted, and no row is an error.
//! - A fact has the key that hooks give it, wherever hooks tell of it at all.
//! - Nothing of a row is said unless it was asked for by name, and then only after [`Rules`](crate::files::Rules).
//! - A response counts once, however many rows repeat it.

mod account;
mod additions;
mod attachments;
mod calls;
mod compaction;
mod copies;
mod diffs;
mod file;
mod marks;
mod messages;
mod meta;
mod progress;
mod prompts;
mod reader;
mod requests;
mod responses;
mod row;
mod rows;
mod scan;
mod state;
mod system;
mod task;
mod text;
mod tokens;
pub mod usage;
mod version;
mod writer;

pub use file::{Place, TranscriptFile};
pub use meta::read_meta;
pub use reader::{RowReading, TranscriptReader, task_key};
pub use rows::{RowCounts, RowScan};
pub use state::{Counts, Lane, OpenCall, ReaderState, Unsettled};
