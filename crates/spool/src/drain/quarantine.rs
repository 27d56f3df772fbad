//! Puts files aside that are no envelopes: moved by name, never opened, never followed, never overwritten.
//!
//! An envelope keeps its name; a stranger's name may be anything, so it becomes
//! `stranger-<hash of the name>` and the reason's file contains the escaped name. Only the drain writes
//! here, under its lock, so a free name stays free between the look and the move.
//!
//! Files are kept here for a person to inspect, but not for ever: beyond a number of files or bytes the oldest are
//! removed, and each is counted as lost.

use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;

use super::{Refusal, scan};
use crate::checksum::xxh64;
use crate::lost::{self, Reason};
use crate::spool::{Folder, Spool};
use crate::{EnvelopeName, disk};

/// The suffix that turns the name of a file into the name of its reason.
pub(crate) const REASON_SUFFIX: &str = ".reason";

/// The beginning of the reason for a file that is no envelope.
const UNREADABLE: &str = "cannot read envelope";

/// The beginning of the reason for a whole envelope that the ledger refused.
pub(crate) const UNWRITTEN: &str = "cannot keep envelope";

/// Most files that are kept.
const FILES_MAX: usize = 1000;
/// Most bytes that are kept.
const BYTES_MAX: u64 = 64 << 20;
/// The number of quarantined files after which the folder is trimmed again.
pub(super) const TIDIED_EVERY: u32 = 64;

/// The most names tried for one file.
const NAMES_TRIED: u32 = 100;

/// A file that was refused.
#[derive(Debug)]
pub struct RefusedFile {
    /// Its name in the spool, escaped to printable ASCII.
    pub name: String,
    /// The reason.
    pub refusal: Refusal,
    /// The file's present place.
    pub disposition: Disposition,
}

/// The fate of a refused file.
#[derive(Debug)]
pub enum Disposition {
    /// It is in `quarantine/` under this name.
    Quarantined(String),
    /// It could not be moved and stays in its folder; this drain skips it.
    LeftInPlace(io::Error),
    /// It was removed and its loss counted: half an envelope of a hook that died.
    Removed,
}

/// Puts aside a file with an envelope's name.
pub(super) fn envelope(spool: &Spool, from: Folder, name: &EnvelopeName, refusal: Refusal) -> RefusedFile {
    put_aside(spool, spool.path(from, name), name.as_str(), name.as_str(), refusal)
}

/// Puts aside a file with any other name.
pub(super) fn stranger(spool: &Spool, from: Folder, name: &OsStr) -> RefusedFile {
    let bytes = disk::name_bytes(name);
    let target = format!("stranger-{:016x}", xxh64(bytes));
    put_aside(
        spool,
        spool.folder(from).join(name),
        &target,
        &bytes.escape_ascii().to_string(),
        Refusal::Stranger,
    )
}

fn put_aside(spool: &Spool, from: PathBuf, target: &str, shown: &str, refusal: Refusal) -> RefusedFile {
    let disposition = match move_away(spool, &from, target) {
        Ok(name) => {
            // The move comes first: a reason without its file is misleading, a file without its reason
            // is only less clear. So a failure to write the reason is ignored as well.
            explain(spool, &name, shown, &refusal).ok();
            Disposition::Quarantined(name)
        }
        Err(error) => Disposition::LeftInPlace(error),
    };
    RefusedFile { name: shown.to_owned(), refusal, disposition }
}

fn move_away(spool: &Spool, from: &std::path::Path, target: &str) -> io::Result<String> {
    let folder = spool.folder(Folder::Quarantine);
    for number in 0..NAMES_TRIED {
        let name = if number == 0 { target.to_owned() } else { format!("{target}.{number}") };
        let path = folder.join(&name);
        // A reason that lost its file must not explain another one.
        if disk::is_taken(&path)? || disk::is_taken(&folder.join(format!("{name}{REASON_SUFFIX}")))? {
            continue;
        }
        disk::rename(from, &path)?;
        return Ok(name);
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn explain(spool: &Spool, name: &str, shown: &str, refusal: &Refusal) -> io::Result<()> {
    let path = spool.folder(Folder::Quarantine).join(format!("{name}{REASON_SUFFIX}"));
    let attempt = if matches!(refusal, Refusal::Unwritten(_)) { UNWRITTEN } else { UNREADABLE };
    let text = format!("{attempt} `{shown}`: {refusal}\n");
    disk::write(&disk::create_new(&path)?, text.as_bytes())
}

/// Removes the oldest files beyond the limits. A file whose loss cannot be counted stays, and so do folders: a failure
/// here must not stop the drain.
pub(super) fn tidy(spool: &Spool) {
    let folder = spool.folder(Folder::Quarantine);
    let mut files = Vec::new();
    let listed = scan::each(&folder, |name, facts| {
        if !facts.is_folder && !disk::name_bytes(name).ends_with(REASON_SUFFIX.as_bytes()) {
            files.push((facts.written, name.to_owned(), facts.bytes));
        }
    });
    if listed.is_err() {
        return;
    }
    files.sort_unstable();
    let mut count = files.len();
    let mut bytes: u64 = files.iter().map(|(_, _, bytes)| bytes).sum();
    for (_, name, length) in files {
        // The newest stays at any length: it shows the present fault.
        if count <= 1 || (count <= FILES_MAX && bytes <= BYTES_MAX) {
            return;
        }
        // Counted first: dying in between counts it twice, the other order not at all.
        if lost::count(&spool.folder(Folder::Lost), Reason::Quarantine).is_err()
            || disk::remove(&folder.join(&name)).is_err()
        {
            return;
        }
        let mut reason = name;
        reason.push(REASON_SUFFIX);
        disk::try_remove(&folder.join(reason));
        count -= 1;
        bytes -= length;
    }
}
