//! Reads the input and the output of a compaction from the agent's own file, on request.
//!
//! [`mod@file`] finds the file of a task, [`mod@scan`] reads it, [`view`] is what is answered. Nothing is copied and nothing is
//! kept, unless the user wants a [`backup`]. What the hook saw when a compaction began, the length of the file and the hash of it up to there, is held
//! against the file as it is now.
//!
//! Laws: a text passes privacy before it is answered, and that of a tool's result never is. Files, lines and answers have
//! bounds; a file that is gone is said to be gone.

pub mod backup;
pub mod file;
pub mod scan;
pub mod view;

pub use scan::{FileSnapshot, ScanRequest, ScanResult, Side, scan};
pub use view::{Compaction, CompactionItem, CompactionSide};
