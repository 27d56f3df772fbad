//! What arrives, brought to the ledger.
//!
//! Hooks leave envelopes in the spool ([`spool`]); agents write transcripts and rollouts ([`files`]), which are read
//! once as history ([`import`]) and then as they grow ([`tail`]); a process that is gone says nothing at all, so
//! somebody looks ([`liveness`]). All of them end as batches in a [`Sink`].
//!
//! The laws of this room:
//!
//! - Nothing is acknowledged, and no position is believed, before the sink has said that it is on disk. So dying at
//!   any moment brings some things twice and loses none; the ledger knows them by their names.
//! - Memory is bounded by the batch, whatever the size of a file or the number of files.
//! - A sink that cannot take more is waited for, in growing pauses. Nothing else ever waits long, and nothing spins.
//! - No clock: the time is a function that is handed in. No printing: what a person may want to know is a [`Note`].

mod drained;
pub mod files;
pub mod import;
mod intake;
mod ledger;
pub mod liveness;
mod note;
mod pace;
mod privacy;
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

pub use drained::Drained;
pub use intake::{History, Intake, Running, Setup, StartError, State};
pub use note::{Note, Notes};
pub use pace::Pace;
pub use privacy::{Privacy, PrivacyError, PrivacyFile};
pub use project::Projects;
pub use purge::{cursor_without_content, purge_spool};
pub use sink::Sink;
pub use stop::Stop;

/// Tells the time.
pub type Clock = Arc<dyn Fn() -> Millis + Send + Sync>;
