//! Answers what hooks ask.
//!
//! [`rules`] reads what the user and the projects want, and knows what is trusted; [`table`] writes `policy.tbl`, by
//! which a hook knows whether to ask at all; [`Book`] keeps both fresh while a server runs. [`Question`] is what a hook
//! asks, [`decision`] the record of what came of it, [`Desk`] where a server answers, by the past too.
//!
//! Laws: rules that cannot be read take nothing away that was in force, and are told to the user; a payload stays in
//! memory.

mod arrivals;
mod book;
pub mod decision;
mod desk;
mod past;
mod put_off;
mod question;
pub mod rules;
pub mod table;

pub use arrivals::Arrivals;
pub use book::{Book, KnownFile, Listed, Looked};
pub use desk::{Desk, Now, Setup};
pub use put_off::PutOff;
pub use question::{Question, Sender};
pub use rules::{InForce, PROJECT_FILE, Rules, RulesError, Trusted, in_force, project_root};
