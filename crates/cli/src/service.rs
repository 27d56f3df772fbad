//! The server as a service of the user: its file, its manager, and its state.
//!
//! Law: the file says that it is ours, and only such a file is replaced or removed. The manager is asked by its own program,
//! with a time limit; where it does not answer, its state is unknown, not off.

mod definition;
mod manager;
mod plist;
mod status;
mod unit;

pub(crate) use definition::Definition;
pub(crate) use manager::{Command, Manager};
pub(crate) use status::Status;

/// The words by which a file of ours is known.
const MARK: &str = "Written by `agent-tracer service install`";
/// The words before the folder that was made for the file.
const MADE: &str = "Folder made for it: ";

/// Returns whether a file is one of ours.
pub(crate) fn is_ours(text: &str) -> bool {
    text.contains(MARK)
}

/// Returns the topmost folder that was made for a file of ours.
pub(crate) fn made_folder(text: &str) -> Option<std::path::PathBuf> {
    let (_, rest) = text.split_once(MADE)?;
    rest.lines().next().filter(|line| line.starts_with('/')).map(std::path::PathBuf::from)
}
