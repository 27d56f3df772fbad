//! The vocabulary of Agent Tracer.
//!
//! Names everything that happens: the actor ([`Agent`], [`TaskKey`]), the event
//! ([`Kind`], [`Lane`], [`semantics`]), how we know ([`Channel`], [`Certainty`]), and what became of what
//! arrived ([`Outcome`]). Agents' own spellings never reach this crate. Every key of the metadata is declared in
//! [`attributes`]. The crate knows no clock, no file and no network: everything here is a value.

pub mod attributes;
mod entry;
mod ids;
mod kind;
mod outcome;
#[cfg(feature = "schema")]
pub mod schema;
pub mod semantics;
mod time;
mod tokens;
mod words;

/// Does nothing: without the feature `schema` no set of words describes itself.
#[cfg(not(feature = "schema"))]
#[doc(hidden)]
#[macro_export]
macro_rules! schema_of_words {
    ($name:ident, $about:expr) => {};
}

pub use agent_tracer_agent::Agent;
pub use entry::{Entry, Evidence, Metadata, Reading, Series, Subject, Unrecognised};
pub use ids::{EntryId, FactId, SessionId, TaskId, TaskKey, TurnId};
pub use kind::{Kind, Lane};
pub use outcome::Outcome;
pub use time::Millis;
pub use tokens::Tokens;
pub use words::{CallState, Certainty, Channel, CompletionReason, ErrorClass, Phase};
