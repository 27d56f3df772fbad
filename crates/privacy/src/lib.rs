//! Reduces the payloads of agents to the parts that may be written to disk.
//!
//! Every channel passes through this room before the first write: [`reduce()`] makes one forward scan over
//! the bytes of a payload, without building a tree, and appends the parts that may be kept. Result bodies become
//! quantities, file contents become size and keyed hash, secrets are masked ([`mask()`]). A payload that
//! it cannot read is not written at all: the result is then a [`Fault`] with its kind and its position.
//!
//! The law: nothing of a result body leaves here but numbers, named states and ids of the expected shape,
//! for any payload. The room has no dependency, no IO, no clock and no recursion.

mod classify;
mod config;
mod container_stack;
mod fault;
mod glob;
mod keep;
mod lanes;
mod mask;
pub mod pattern;
mod pieces;
mod reduce;
mod scan;
mod siphash;
mod swar;
mod table;
mod text;

pub use config::{Config, ConfigFault, ConfigProblem, Level, Links, ResolveLinks};
pub use fault::{Fault, FaultKind};
pub use glob::Glob;
pub use mask::mask;
pub use reduce::{Moment, Reduction, Source, reduce};
