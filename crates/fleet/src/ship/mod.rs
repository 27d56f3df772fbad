//! Brings what this machine recorded to a team's server, as far as the team's policy lets it.
//!
//! The laws: nothing leaves that the policy excludes, and a policy that is not understood lets nothing leave; what was
//! acknowledged is not sent again, what was not is; a place that was reached is on disk before it is relied on; what is
//! sent never has a smaller version than what was sent before. No more is in memory than a few parts of the way.
//!
//! Entry points: [`Policy`] selects the data that may leave, [`Shipper::step`] sends the next part, [`Backoff`]
//! computes the delay after a failure. [`Copier`] moves everything elsewhere. Waiting is left to the caller.

mod backoff;
mod copy;
mod cursor;
mod http;
mod part;
mod policy;
mod redact;
mod shipper;

pub use backoff::Backoff;
pub use copy::Copier;
pub use cursor::{Cursor, CursorError};
pub use http::{Http, Target, TargetError};
pub use policy::{Policy, PolicyError, Settings};
pub use shipper::{Carrier, SendCounts, ShipError, Shipper, Step, lag};
