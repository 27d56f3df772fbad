//! A team's server: takes what machines ship, answers about all owners, and follows what other processes take.
//!
//! The laws: a process keeps nothing that another could not read from the store; the owner of a record is the one in
//! its sender's token; a token is known by its hash alone, and a revoked one is refused by every process within
//! seconds.
//!
//! Doors: [`Team::start`] starts what runs beside the server, [`Team::deps`] is what the server is given,
//! [`Team::stop`] ends it. [`token`] makes tokens.

mod arrivals;
mod audit;
mod server;
pub mod token;

pub use server::Team;
