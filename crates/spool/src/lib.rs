//! The spool: the only way in for hooks.
//!
//! A hook writes one envelope per observation into a maildir and leaves; the server drains it when it
//! runs and unlinks only envelopes that it has committed. Accepted means the file is in `new/`: it survives the
//! death of the hook, of the agent and of the server. Refused envelopes are counted in `lost/`.
//!
//! Rooms: [`home`] knows every path, [`envelope`] is the format on disk, [`Spool::accept`]
//! writes, [`drain`] reads, [`doorbell`] wakes the server. Standard library only: this crate is inside the hook, which
//! is started for every action of every agent.
//!
//! Laws: nothing here prints, reads the environment or takes the clock; no payload byte ever becomes
//! part of a path; every change to the disk passes the private `disk` room.

pub mod checksum;
pub mod context;
mod dead;
mod decimal;
mod disk;
pub mod doorbell;
pub mod drain;
pub mod envelope;
pub mod home;
pub mod links;
pub mod lost;
#[cfg(test)]
mod model;
mod name;
pub mod run;
pub mod settings_file;
pub mod socket;
mod spool;
mod stats;
mod switch;
pub mod unrecorded_sessions;
mod write;

pub use dead::DeadLetter;
pub use drain::Drain;
pub use home::Home;
pub use lost::Reason;
pub use name::EnvelopeName;
pub use spool::{Limits, Spool, SpoolError};
pub use stats::Stats;
pub use switch::means_yes;
pub use write::{Accepted, Refused};
