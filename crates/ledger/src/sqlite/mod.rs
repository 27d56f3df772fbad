//! The embedded store: one SQLite file.

pub(crate) mod codec;
pub(crate) mod facts;
pub(crate) mod words;
