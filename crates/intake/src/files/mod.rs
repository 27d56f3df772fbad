//! The files in which agents keep their sessions: found, read in parts, and remembered by how far they were read.
//!
//! A file is known by its path; whether it is still the file that was read is told by its number on the device, its
//! length, its time of change, a hash of its beginning and a hash of what stood before the position. If any of them
//! disagrees it is read from its beginning, which is safe: a row's name holds its place and a hash of its bytes, so what
//! was brought before is a duplicate and what is new is not.

mod bytes;
mod find;
mod lines;
mod mark;
mod read;
mod reader;
mod registry;

pub use bytes::open;
pub use find::{Facts, Found, Kind, Root, classify, find, find_named};
pub(crate) use find::{find_in, look};
pub(crate) use mark::without_content;
pub use read::{Files, ReadError, Work};
pub use registry::Counts;
