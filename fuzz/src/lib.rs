//! Fuzz targets, and a harness that runs them on the stable toolchain.
//!
//! A target is a plain `fn(&[u8])` that panics if a law is broken ([`targets`]). The harness feeds it the
//! corpus as it is and then mutations of it. Every run is a function of (seed, target, number), so a
//! failure can be repeated from what is printed, on any machine. There is no coverage feedback: this
//! finds what a few million cheap tries near real inputs find. The same functions can be handed to
//! libFuzzer where it is available.

pub mod arguments;
pub mod corpus;
pub mod harness;
pub mod mutate;
pub mod random;
pub mod report;
pub mod targets;
