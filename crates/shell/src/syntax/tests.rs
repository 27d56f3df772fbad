//! The grammar on its own.
