//! Alerts for a person: an agent waits, is stuck, loops, fails, was denied, or runs out of budget or limit.
//!
//! [`Settings`] is the user's table `[alerts]`; [`Watch`] finds each [`Alert`] in the ledger, at most once in a
//! while; [`webhook`] carries one to the address that the user named. The binary shows it on the desktop.
//!
//! Laws: nothing without the user's own file, and never because of a project's. An alert holds our words, counts, ids and
//! the project's path, no text of a payload. Every failure here is counted and reported, and blocks nothing else.

mod alert;
mod counts;
mod settings;
mod watch;
pub mod webhook;

pub use alert::{Alert, Kind};
pub use counts::{Counts, Outcome};
pub use settings::{Format, Settings, Thresholds, Webhook};
pub use watch::Watch;
pub use webhook::WebhookError;
