//! Answers what hooks ask.
//!
//! [`rules`] reads what the user and the projects want, and knows what is trusted; [`table`] writes `policy.tbl`, by
//! which a hook knows whether to ask at all; [`Book`] keeps both fresh while a server runs. [`Question`] is what a hook
//! asks, [`decision`] the record of what came of it.
//!
//! Laws: rules that cannot be read take nothing away that was in force, and are told to the user; a payload stays in
//! memory.

mod book;
pub mod decision;
mod question;
pub mod rules;
pub mod table;

pub use book::{Book, Listed, Looked};
pub use question::Question;
pub use rules::{InForce, PROJECT_FILE, Rules, RulesError, Trusted, in_force, project_root};
