//! The agents' session files: found, read in parts, and remembered with the position in each.
//!
//! A file is known by its path. Its number on the device, its length, its time of change, a hash of its beginning and
//! a hash of the bytes before the position show whether it is still the file that was read. If any of them
//! disagrees, it is read from its beginning. That is safe: a row's name holds its place and a hash of its bytes, so a
//! row that was brought before is a duplicate.

mod bytes;
mod find;
mod lines;
mod mark;
pub(crate) mod plain;
mod read;
mod reader;
mod registry;

pub use bytes::open;
pub use find::{Facts, FoundFile, Root, find, find_named, find_up_to};
pub(crate) use find::{find_in, read_facts};
pub(crate) use mark::without_content;
pub use read::{Files, ReadError, ReadOutcome};
pub use registry::Counts;
