//! Everything that is stored and asked, on the real engine (feature `engine`), and what needs none.
#![expect(clippy::panic, clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that fails says so")]

mod statements;
mod versions;
mod world;

#[cfg(feature = "engine")]
mod contract;
#[cfg(feature = "engine")]
mod days;
#[cfg(feature = "engine")]
mod generated;
#[cfg(feature = "engine")]
mod limits;
#[cfg(feature = "engine")]
mod numbers;
#[cfg(feature = "engine")]
mod older;
#[cfg(feature = "engine")]
mod owner_isolation;
#[cfg(feature = "engine")]
mod retention;
#[cfg(feature = "engine")]
mod shards;
#[cfg(feature = "engine")]
mod tables;
#[cfg(feature = "engine")]
mod tls;
#[cfg(feature = "engine")]
mod writing;
