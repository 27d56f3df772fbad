//! When a person should look: who waits, is stuck, loops, fails, was denied, or runs out of budget or limit.
//!
//! [`Settings`] is the user's `alerts.toml`; [`Watch`] asks the ledger and says what is worth an [`Alert`], each once in a
//! while; [`webhook`] carries one to the address that the user named. Who shows it on the desktop is the binary's business.
//!
//! Laws: nothing without the user's own file, and never because of a project's. An alert holds our words, counts, ids and
//! the project's path, no text of a payload. Whatever goes wrong here is counted and told, and holds nobody up.

mod alert;
mod counts;
mod settings;
mod watch;
pub mod webhook;

pub use alert::{Alert, Kind};
pub use counts::{Counts, Outcome};
pub use settings::{Format, Settings, Thresholds, Webhook};
pub use watch::Watch;
