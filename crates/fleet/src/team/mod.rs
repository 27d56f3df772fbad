//! A team's server: takes what machines ship, answers about everybody, and follows what other processes take.
//!
//! The laws: a process keeps nothing that another could not read from the store; whose a record is says the token of
//! its sender; a token is known by its hash alone, and one that was revoked is refused by every process within seconds.
//!
//! Doors: [`Team::start`] starts what runs beside the server, [`Team::doors`] is what the server is given,
//! [`Team::stop`] ends it. [`token`] makes tokens.

mod audit;
mod follow;
mod server;
pub mod token;

pub use server::Team;
