//! Answers what hooks ask.
//!
//! [`rules`] reads what the user and the projects want, and knows what is trusted; [`table`] writes `policy.tbl`, by
//! which a hook knows whether to ask at all; [`ActiveRules`] keeps both fresh while a server runs. [`Question`] is what a hook
//! asks, [`decision`] the record of what came of it, [`PolicyServer`] where a server answers, by the past too.
//!
//! Laws: rules that cannot be read take nothing away that was in force, and are reported to the user; a payload stays in
//! memory.

mod active_rules;
pub(crate) mod arrivals;
pub mod decision;
pub(crate) mod evidence;
mod policy_server;
mod question;
pub mod rules;
mod stop_deferrals;
pub mod table;

pub use active_rules::{ActiveRule, ActiveRules, ReloadReport, RuleFileStatus};
pub use arrivals::Arrivals;
pub use policy_server::{CurrentTime, PolicyServer, Setup};
pub use question::{Question, Sender};
pub use rules::{EffectivePolicy, PROJECT_FILE, Rules, RulesError, TrustList, load_effective, project_root};
pub use stop_deferrals::StopDeferrals;
