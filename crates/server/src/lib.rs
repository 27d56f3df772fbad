//! The HTTP side of Agent Tracer.

mod app;
mod config;
mod doors;
mod health;
mod ingest;
mod live;
mod metrics;
mod openapi;
mod problem;
mod query;
mod security;
mod stream;

pub use config::{Config, Limits, PeerIs, PeerOwner, Scope, Token};
pub use doors::{Append, AppendError, Asset, Done, Doors, Privacy, SpoolView};
pub use live::Live;
pub use problem::{Problem, Wrong};
pub use security::{TokenError, owner_token, peer_owner};
