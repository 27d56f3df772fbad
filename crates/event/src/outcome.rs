//! Covers what became of something that arrived.

use crate::words;

words! {
    /// The outcome of an observation. Every one ends in exactly one of these: received = the sum of all.
    Outcome {
        /// It changed something.
        Recorded = "recorded",
        /// It changed nothing: all of it was known.
        Duplicate = "duplicate",
        /// Well-formed, kept, and of a kind we do not know.
        Unrecognised = "unrecognised",
        /// Not what its channel promises.
        Malformed = "malformed",
        /// Understood and turned away, with a reason.
        Refused = "refused",
    }
}
