//! The time of a task: requests to the model as spans, and the class of each moment.
//!
//! Everything here is a pure function of the rows of a task and of the tasks below it. A time is measured where a channel
//! reported it, inferred where something else ended or began at it, and unknown otherwise.
//!
//! - [`model`] reads each response, and each attempt that failed, as a span.
//! - [`agent`] reads the activities of one agent.
//! - [`path`] finds the activities that decided when the tree ended.
//! - [`ledger`] divides the time of a tree of agents among classes.

pub mod agent;
pub mod ledger;
pub mod model;
pub mod path;

/// Says how a time is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Basis {
    /// A channel reported it.
    Measured,
    /// It follows from the times of other things.
    Inferred,
}

/// Holds a time, in milliseconds since 1970, and how it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The time.
    pub at: i64,
    /// The basis on which it is known.
    pub basis: Basis,
}

impl Moment {
    /// Returns a time that a channel reported.
    #[must_use]
    pub const fn measured(at: i64) -> Self {
        Self { at, basis: Basis::Measured }
    }

    /// Returns a time that follows from the times of other things.
    #[must_use]
    pub const fn inferred(at: i64) -> Self {
        Self { at, basis: Basis::Inferred }
    }
}
