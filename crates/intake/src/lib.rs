//! Collects hooks, transcripts and lost processes, and brings them to the ledger.
//!
//! Hooks leave envelopes in the spool ([`spool`]); agents write transcripts and rollouts ([`files`]), which are read
//! once as history ([`import`]) and then as they grow ([`tail`]); a process that is gone sends nothing,
//! so its absence is looked for ([`liveness`]). All of them end as batches in a [`Sink`].
//!
//! The laws of this room:
//!
//! - Nothing is acknowledged, and no position is believed, before the sink has it on disk. So a crash at
//!   any moment brings some things twice and loses none; the ledger recognises them by their names.
//! - Memory is bounded by the batch, whatever the size of a file or the number of files.
//! - A sink that cannot take more is tried again after growing pauses. Nothing else waits long, and nothing spins.
//! - No clock: the time is a function of the caller. No printing: messages for the user are events of `tracing`.

mod catch_up;
mod drain_watcher;
pub mod files;
pub mod import;
mod intake;
mod ledger;
pub mod liveness;
mod log;
mod pace;
mod privacy;
mod process_table;
mod project;
mod purge;
pub mod reread;
mod sink;
pub mod spool;
mod stop;
pub mod tail;
mod transcript;

use std::sync::Arc;

use agent_tracer_event::Millis;

pub use catch_up::{CatchUpError, catch_up};
pub use drain_watcher::DrainWatcher;
pub use intake::{History, Intake, ProcessLister, Setup, StartError, State};
pub use pace::Pace;
pub use privacy::{Privacy, PrivacyError, PrivacyFile};
pub use project::Projects;
pub use purge::{cursor_without_content, purge_spool};
pub use sink::Sink;
pub use stop::Stop;

/// Returns the time.
pub type Clock = Arc<dyn Fn() -> Millis + Send + Sync>;
