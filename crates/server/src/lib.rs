//! The HTTP side of Agent Tracer: questions, the live stream, what others bring, and the dashboard.
//!
//! [`serve`] starts a [`Server`] on threads of its own and gives it back; it runs until it is stopped or dropped.
//! Everything it needs of other rooms comes through [`ServerDeps`], and how it is set up stands in [`Config`].
//!
//! The laws of the room: access is decided before anything else is read; every error is
//! `application/problem+json`; nothing that was posted is written before it passed privacy, and nothing is answered
//! before it is on disk; the store is asked only where waiting is allowed; every buffer, body, list and wait has an end.

mod app;
mod assets;
mod backtest;
mod config;
mod connection_slots;
mod dead_letters;
mod deps;
mod epoch;
#[cfg(test)]
mod event_page;
mod event_schema;
mod excluded_tasks;
mod guard;
mod half_open;
mod health;
mod ingest;
mod live;
mod local_zone;
mod login;
mod memory;
mod metrics;
mod openapi;
mod otlp;
mod problem;
mod query;
mod request_log;
mod routes;
mod security;
mod serve;
mod stream;

pub use config::{Config, Limits, PeerOwner, PeerUser, Proxy, Scope, Token};
pub use deps::{
    AccessEvent, ActiveRule, Append, Asset, AuditEntry, AuditFilter, Capabilities, Cause, ExcludedSessions,
    FindAsset, FindHolder, Holder, ListAccess, PolicyFile, PolicyListing, Provider, ReadCompactions,
    RecordAccess, ServerDeps, ShipmentError, SpoolView, StoreShipment, Team, WriteCallback,
};
pub use live::Live;
pub use local_zone::{LocalZone, ParsedTime, TIME_FORMS, TimeError, ZoneError};
pub use problem::{FieldError, Problem};
pub use security::{LINK_MINUTES, TokenError, owner_token, peer_owner};
pub use serve::{ServeError, Server, draw_token, serve};
