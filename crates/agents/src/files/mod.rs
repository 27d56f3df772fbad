//! Files that an agent appends to while we read: cut into lines, and distinguished from their replacements.
//!
//! The law of the room: no IO. The caller that reads the disk hands over chunks and numbers, and gets their meaning back. A
//! line that has not ended yet is never handed on, so a torn write is read once, whole, when its end arrives.

mod identity;
mod lines;
mod rules;

pub use identity::{Change, FileIdentity, FileSight};
pub use lines::{Line, LineSplitter};
pub use rules::Rules;
