//! Context for an agent that starts, if the user switched it on: counts of earlier work in its project.
//!
//! [`Settings`] is the table `[context]`, [`summary`] makes the text from the ledger, [`PageWriter`] keeps one page for
//! each folder with recent work; the hook reads that page and nothing else.
//!
//! Laws: off unless the user switches it on. Our words, counts, and names of a plain shape: a text of a payload never
//! reaches a page, whatever a file, a command or a skill is called. Everything has a bound.

mod page_writer;
mod settings;
pub mod summary;
mod words;

pub use page_writer::PageWriter;
pub use settings::Settings;
