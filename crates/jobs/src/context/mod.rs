//! What an agent is told when it begins, where the user wants that: counts of what happened in its project before.
//!
//! [`Settings`] is the user's `context.conf`, [`summary`] makes the text from the ledger, [`Keeper`] keeps one page for
//! each folder in which somebody works; the hook reads that page and nothing else.
//!
//! Laws: off unless the user switches it on. Our words, counts, and names of a plain shape: a text of a payload never
//! reaches a page, whatever a file, a command or a skill is called. Everything has a bound.

mod keeper;
mod settings;
pub mod summary;
mod words;

pub use keeper::Keeper;
pub use settings::{Settings, SettingsError};
