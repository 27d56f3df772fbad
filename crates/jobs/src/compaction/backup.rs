//! Copies of what went into a compaction, where the user wants them: `<task>-<time>-main.jsonl.zst` and
//! `<task>-<time>-subagent-<type>-<id>.jsonl.zst` in one folder, for the user alone.
//!
//! Law: a name is made of ids of ours and of plain letters; a copy is whole or not there; no copy outlives its task, its
//! age or the room that the user gives. The copy is the agent's own file as it is, so it is opt-in and documented as such.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use agent_tracer_agents::sessions::Form;
use agent_tracer_event::{Millis, TaskId};
use agent_tracer_intake::files::open;
use agent_tracer_ledger::view::{Task, TaskKind};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

/// So much is compressed at a time, each part a frame of its own.
const PART: u64 = 4 << 20;
/// More than this is not copied.
const COPY_MAX: u64 = 1 << 30;
const ENDING: &str = ".jsonl.zst";

/// A copy that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    /// The name of its file.
    pub name: String,
    /// The task.
    pub task: String,
    /// The time, as `20261115T211004001Z`.
    pub stamp: String,
    /// Its length, compressed.
    pub bytes: u64,
}

/// Writes a time as it stands in names.
#[must_use]
pub fn stamp(at: Millis) -> String {
    at.to_string().chars().filter(char::is_ascii_alphanumeric).collect()
}

fn name(task: &Task, at: Millis) -> Option<String> {
    let id = TaskId::parse(&task.id)?;
    let plain = |text: &str| -> String {
        let kept: String =
            text.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '-').take(40).collect();
        if kept.is_empty() { "unknown".to_owned() } else { kept }
    };
    let who = match task.kind {
        TaskKind::Primary => "main".to_owned(),
        TaskKind::Background => {
            format!(
                "subagent-{}-{}",
                plain(&task.agent_type),
                plain(task.agent_id.as_deref().unwrap_or_default())
            )
        }
    };
    Some(format!("{id}-{}-{who}{ENDING}", stamp(at)))
}

/// Copies the first bytes of the file of a task. Returns the copy; none if there is one already, or the file is shorter
/// or too long.
///
/// # Errors
/// If the system does not let us read or write; nothing is left then.
pub fn keep(
    folder: &Path,
    task: &Task,
    at: Millis,
    file: impl Read,
    bytes: u64,
) -> io::Result<Option<PathBuf>> {
    let Some(name) = name(task, at).filter(|_| bytes <= COPY_MAX) else { return Ok(None) };
    let path = folder.join(&name);
    if path.exists() {
        return Ok(None);
    }
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    // Hidden and with the number of the process: no list shows half a copy, and two servers do not share one.
    let temporary = folder.join(format!(".{name}.{}", std::process::id()));
    drop(fs::remove_file(&temporary));
    let written = copy(&temporary, file, bytes).and_then(|is_whole| {
        if is_whole { fs::rename(&temporary, &path).map(|()| Some(path)) } else { Ok(None) }
    });
    if !matches!(written, Ok(Some(_))) {
        drop(fs::remove_file(&temporary));
    }
    written
}

fn copy(path: &Path, file: impl Read, bytes: u64) -> io::Result<bool> {
    let mut out = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    let mut file = file.take(bytes);
    let mut left = bytes;
    while left > 0 {
        let mut part = Vec::new();
        let read = (&mut file).take(PART).read_to_end(&mut part)? as u64;
        if read == 0 {
            return Ok(false);
        }
        // The encoder takes its input whole: a frame for each part bounds the memory, and readers take frames in a row as one.
        out.write_all(&compress_to_vec(part.as_slice(), CompressionLevel::Fastest))?;
        left -= read.min(left);
    }
    out.sync_all()?;
    Ok(true)
}

/// Lists every copy, the oldest first.
///
/// # Errors
/// If the folder cannot be read; one that is not there is empty.
pub fn list(folder: &Path) -> io::Result<Vec<Backup>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let facts = entry.metadata()?;
        if let Some((task, stamp)) = parts(&name).filter(|_| facts.is_file()) {
            let (task, stamp) = (task.to_owned(), stamp.to_owned());
            found.push(Backup { name, task, stamp, bytes: facts.len() });
        }
    }
    found.sort_by(|one, two| (&one.stamp, &one.name).cmp(&(&two.stamp, &two.name)));
    Ok(found)
}

/// Returns the task and the time in a name; `None` if it is not a name of ours.
fn parts(name: &str) -> Option<(&str, &str)> {
    let mut parts = name.strip_suffix(ENDING)?.split('-');
    let (task, stamp) = (parts.next()?, parts.next()?);
    parts.next()?;
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte));
    (TaskId::parse(task).is_some() && stamp.ends_with('Z') && is_plain).then_some((task, stamp))
}

/// Reads a copy.
///
/// # Errors
/// If there is no such copy, or it cannot be read.
pub fn restore(folder: &Path, name: &str) -> io::Result<impl Read + use<>> {
    // A name that comes from outside must not lead out of the folder.
    if parts(name).is_none() {
        return Err(io::ErrorKind::NotFound.into());
    }
    open(&folder.join(name), Form::CompressedLines)
}

/// Removes the copies that are meant. Returns how many went.
///
/// # Errors
/// If one cannot be removed.
pub fn remove(folder: &Path, is_meant: impl Fn(&Backup) -> bool) -> io::Result<u64> {
    let mut removed = 0;
    for backup in list(folder)?.iter().filter(|backup| is_meant(backup)) {
        fs::remove_file(folder.join(&backup.name))?;
        removed += 1;
    }
    remove_halves(folder, is_meant)?;
    Ok(removed)
}

/// Removes what a process left that was ended while it copied, if it is of what is meant.
fn remove_halves(folder: &Path, is_meant: impl Fn(&Backup) -> bool) -> io::Result<()> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some((whole, _)) = name.strip_prefix('.').and_then(|name| name.rsplit_once('.')) else {
            continue;
        };
        let Some((task, stamp)) = parts(whole) else { continue };
        let half =
            Backup { name: whole.to_owned(), task: task.to_owned(), stamp: stamp.to_owned(), bytes: 0 };
        if is_meant(&half) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// Removes what is older than a moment, and the oldest of what needs more room than there is.
///
/// # Errors
/// If one cannot be removed.
pub fn retain(folder: &Path, before: Millis, room_bytes: u64) -> io::Result<u64> {
    let (first, mut left) = (stamp(before), room_bytes);
    let mut kept = Vec::new();
    for backup in list(folder)?.into_iter().rev() {
        let fits = backup.bytes <= left;
        // After the first that does not fit no older one is kept: the copies reach back without a gap.
        left = if fits { left - backup.bytes } else { 0 };
        if fits && backup.stamp >= first {
            kept.push(backup.name);
        }
    }
    remove(folder, |backup| !kept.contains(&backup.name))
}
