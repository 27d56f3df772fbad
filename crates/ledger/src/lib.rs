//! The ledger: immutable entries, and the facts that they fold into.
//!
//! The law of this room: a fact is a pure function of the *set* of its entries. In whatever order they
//! arrive, however often, from whichever channel, the same entries give the same fact. So a restart, a
//! second import and a rebuild agree with what was there before.

mod fold;

pub use fold::{Fact, Told, fold};
