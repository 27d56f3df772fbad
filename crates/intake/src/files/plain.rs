//! Opens agents' files: regular files only, never through a link, and never waiting for a pipe.
//!
//! A file in a folder that is followed lies where its agent puts it. A file that a hook names may lie anywhere, and the hook's
//! payload is not to be trusted: such a file is read only if [`judge`] finds nothing against it.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Component, Path};

use agent_tracer_agents::sessions::{self, Form, SessionFile};
use nix::fcntl::OFlag;

use super::bytes::Bytes;

/// The most bytes of a first line that are looked at.
const HEAD_BYTES: u64 = 64 * 1024;

/// The reason why a file that a hook named is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The path goes up, or is not absolute.
    Path,
    /// It is a link, a folder, a pipe or a device.
    NotAFile,
    /// It belongs to another user.
    Foreign,
    /// Its beginning is not that of a file of the agent.
    Unlike,
}

impl Refusal {
    /// Returns the reason in words that fit after "is not read: ".
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Path => "the path is relative or contains `..`",
            Self::NotAFile => "it is not a regular file",
            Self::Foreign => "it belongs to another user",
            Self::Unlike => "it does not begin like a session file",
        }
    }
}

/// Opens a file for reading. A link, a pipe or a device is an error.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits()).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a regular file")) }
}

/// Returns `true` if a path is absolute and goes nowhere up.
pub(crate) fn is_plain(path: &Path) -> bool {
    path.is_absolute() && path.components().all(|part| !matches!(part, Component::ParentDir))
}

/// Returns what speaks against reading a file that a hook named; `None` if nothing does, or there is no such file yet.
///
/// `user` is the one that it has to belong to; `None` for any.
pub(crate) fn judge(path: &Path, about: &SessionFile, user: Option<u32>) -> Option<Refusal> {
    if !is_plain(path) {
        return Some(Refusal::Path);
    }
    // Looked at before it is opened: to open a device may do something.
    let facts = match std::fs::symlink_metadata(path) {
        Ok(facts) => facts,
        Err(_) => return None,
    };
    if !facts.is_file() {
        return Some(Refusal::NotAFile);
    }
    let Ok(file) = open(path) else { return Some(Refusal::NotAFile) };
    // Of the file that was opened: another one may be in its place by now.
    if user.is_some_and(|user| file.metadata().map_or(true, |facts| facts.uid() != user)) {
        return Some(Refusal::Foreign);
    }
    if facts.len() == 0 {
        return None;
    }
    let mut head = Vec::new();
    let read = Bytes::open(file, about.form == Form::CompressedLines, 0)
        .and_then(|bytes| bytes.take(HEAD_BYTES).read_to_end(&mut head));
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    // A line that is longer, or not written to its end, is judged by its beginning.
    let is_whole = line.len() < head.len();
    let fits = sessions::of(about.agent).is_some_and(|door| match about.form {
        Form::Description => head.trim_ascii_start().starts_with(b"{"),
        Form::Lines | Form::CompressedLines => door.begins_with(line, is_whole),
    });
    (read.is_err() || !fits).then_some(Refusal::Unlike)
}
