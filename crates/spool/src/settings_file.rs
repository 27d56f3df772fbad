//! Reads files that this program obeys: settings, rules, tables and keys.
//!
//! Law: a file is obeyed only where no other user can change it. It is a regular file, it and its folder belong to the
//! user or to root, and neither is writable for the group or for others; the user's private group, which has the user's
//! own number, may write. A link is followed, because people keep their settings elsewhere; its target is judged. Absence
//! counts only in such a folder: where others may write, they may also remove.
//!
//! A file system that keeps no modes (exFAT, shared folders of virtual machines) shows every file as writable. There a
//! fresh private file shows the same, and only owners are judged.

use std::fmt;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::disk;

/// The reason why a file is not obeyed.
#[derive(Debug)]
pub enum Refusal {
    /// The system did not give the file.
    Unreadable(io::Error),
    /// It is a folder, a pipe, a socket or a device.
    NotAFile,
    /// It is longer than a file of its kind can be.
    TooLong {
        /// The limit in bytes.
        bytes_max: usize,
    },
    /// The file or its folder belongs to another user.
    Foreign {
        /// The file or the folder, whichever is foreign.
        path: PathBuf,
        /// The owner's user id.
        owner: u32,
    },
    /// Other users may write the file or its folder.
    Writable {
        /// The file or the folder, whichever is writable.
        path: PathBuf,
    },
}

impl Refusal {
    /// Returns a way out, as a command where there is one.
    #[must_use]
    pub fn hint(&self, file: &Path) -> String {
        match self {
            Self::Unreadable(_) => format!("check that you may read '{}'", file.display()),
            Self::NotAFile => format!("move '{}' away, or make it a regular file", file.display()),
            Self::TooLong { .. } => format!("shorten '{}'", file.display()),
            Self::Foreign { path, .. } => {
                format!("review its contents, then run: chown \"$(id -u)\" '{}'", path.display())
            }
            Self::Writable { path } => {
                format!("review its contents, then run: chmod go-w '{}'", path.display())
            }
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(cause) => {
                let text = cause.to_string();
                f.write_str(&text.split(" (os error").next().unwrap_or(&text).to_lowercase())
            }
            Self::NotAFile => f.write_str("it is not a regular file"),
            Self::TooLong { bytes_max } => write!(f, "it is over {bytes_max} bytes"),
            Self::Foreign { path, owner } => {
                write!(f, "`{}` belongs to the user with id {owner}", path.display())
            }
            Self::Writable { path } => write!(f, "other users may write `{}`", path.display()),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<io::Error> for Refusal {
    fn from(cause: io::Error) -> Self {
        Self::Unreadable(cause)
    }
}

/// Reads a file of at most `bytes_max` bytes for the user with this id; `None` if it does not exist.
///
/// Without a user id only types, lengths and modes are judged.
pub fn read(path: &Path, user: Option<u32>, bytes_max: usize) -> Result<Option<Vec<u8>>, Refusal> {
    let Some(file) = open(path, user)? else { return Ok(None) };
    let limit = u64::try_from(bytes_max).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    if bytes.len() > bytes_max {
        return Err(Refusal::TooLong { bytes_max });
    }
    Ok(Some(bytes))
}

/// Opens a file for the user with this id; `None` if it does not exist.
pub fn open(path: &Path, user: Option<u32>) -> Result<Option<File>, Refusal> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let facts = match fs::metadata(folder) {
        Ok(facts) => facts,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    // The folder too: another user who may write in it can put another file under the name.
    judge(&facts, user, folder, folder)?;
    // The type is asked for before opening: to open a pipe would wait until a process writes to it.
    match fs::metadata(path) {
        Ok(facts) if facts.is_file() => {}
        Ok(_) => return Err(Refusal::NotAFile),
        Err(error) if is_absent(&error) && fs::symlink_metadata(path).is_err() => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    let file = File::open(path)?;
    // The opened file is judged and not the name, which may lead to another file by now.
    judge(&file.metadata()?, user, path, folder)?;
    Ok(Some(file))
}

/// Checks whether a file is obeyed, without reading it. A file that does not exist is.
pub fn check(path: &Path, user: Option<u32>) -> Result<(), Refusal> {
    open(path, user).map(drop)
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn judge(facts: &Metadata, user: Option<u32>, path: &Path, folder: &Path) -> Result<(), Refusal> {
    let rights = Rights { owner: facts.uid(), group: facts.gid(), mode: facts.mode() };
    if let Some(user) = user
        && !rights.belongs_to(user)
    {
        return Err(Refusal::Foreign { path: path.to_owned(), owner: rights.owner });
    }
    if rights.others_may_write(user) && keeps_modes(folder) {
        return Err(Refusal::Writable { path: path.to_owned() });
    }
    Ok(())
}

/// The owner, the group and the mode of a file.
#[derive(Clone, Copy)]
struct Rights {
    owner: u32,
    group: u32,
    mode: u32,
}

impl Rights {
    fn belongs_to(self, user: u32) -> bool {
        self.owner == user || self.owner == 0
    }

    fn others_may_write(self, user: Option<u32>) -> bool {
        // Many systems give each user a group of the same number and let it write by default; clusters give a volume to
        // root and to the group of the user.
        let is_private_group = self.group == user.unwrap_or(self.owner);
        self.mode & 0o002 != 0 || (self.mode & 0o020 != 0 && !is_private_group)
    }
}

/// Returns `true` if a fresh private file in this folder has the mode of a private file.
fn keeps_modes(folder: &Path) -> bool {
    let probe = folder.join(format!(".mode-{}", std::process::id()));
    let shown = disk::create_new(&probe).and_then(|file| disk::facts_of(&file));
    if shown.is_ok() {
        disk::try_remove(&probe);
    }
    shown.map_or(true, |facts| !facts.is_exposed())
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn put(path: &Path, mode: u32) {
        File::create(path).unwrap().write_all(b"text").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn own(path: &Path) -> u32 {
        fs::metadata(path).unwrap().uid()
    }

    #[test]
    fn a_private_file_is_read_and_an_absent_one_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let user = Some(own(folder.path()));
        let path = folder.path().join("privacy.conf");
        assert_eq!(read(&path, user, 10).unwrap(), None);
        assert_eq!(read(&folder.path().join("none/privacy.conf"), user, 10).unwrap(), None);
        for mode in [0o600, 0o644, 0o444] {
            put(&path, mode);
            assert_eq!(read(&path, user, 4).unwrap().as_deref(), Some(&b"text"[..]), "{mode:o}");
            fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn files_and_folders_that_others_may_write_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("privacy.conf");
        for mode in [0o602, 0o666, 0o777] {
            put(&path, mode);
            assert!(
                matches!(read(&path, None, 10), Err(Refusal::Writable { path: it }) if it == path),
                "{mode:o}"
            );
        }
        put(&path, 0o600);
        for mode in [0o777, 0o1777, 0o703] {
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
            let absent = folder.path().join("absent");
            for path in [&path, &absent] {
                assert!(
                    matches!(read(path, None, 10), Err(Refusal::Writable { path: it }) if it == folder.path()),
                    "{mode:o}"
                );
            }
        }
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let left: Vec<_> =
            fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(left, ["privacy.conf"], "no probe stays");
    }

    #[test]
    fn a_file_of_another_user_is_refused_and_one_of_root_is_not() {
        let rights = |owner, group, mode| Rights { owner, group, mode };
        assert!(rights(1000, 1000, 0).belongs_to(1000) && rights(0, 0, 0).belongs_to(1000));
        assert!(!rights(1001, 1000, 0).belongs_to(1000) && !rights(1000, 0, 0).belongs_to(0));
        for (rights, expected) in [
            (rights(1000, 1000, 0o100_664), false),
            (rights(0, 1000, 0o042_775), false),
            (rights(0, 0, 0o042_775), true),
            (rights(1000, 100, 0o100_664), true),
            (rights(1000, 1000, 0o100_666), true),
            (rights(1000, 100, 0o100_644), false),
        ] {
            assert_eq!(rights.others_may_write(Some(1000)), expected, "{:o} {}", rights.mode, rights.group);
        }
        let folder = tempfile::tempdir().unwrap();
        put(&folder.path().join("file"), 0o600);
        let another = own(folder.path()) + 1;
        if own(folder.path()) != 0 {
            assert!(matches!(open(&folder.path().join("file"), Some(another)), Err(Refusal::Foreign { .. })));
        }
    }

    #[test]
    fn a_link_is_followed_and_special_files_are_refused_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        put(&at("target"), 0o600);
        symlink(at("target"), at("link")).unwrap();
        assert_eq!(read(&at("link"), None, 10).unwrap().as_deref(), Some(&b"text"[..]));
        symlink(at("nowhere"), at("dangling")).unwrap();
        assert!(matches!(read(&at("dangling"), None, 10), Err(Refusal::Unreadable(_))));
        fs::create_dir(at("folder")).unwrap();
        let socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        for name in ["folder", "socket"] {
            assert!(matches!(read(&at(name), None, 10), Err(Refusal::NotAFile)), "{name}");
        }
        drop(socket);
        assert!(matches!(read(&at("target"), None, 3), Err(Refusal::TooLong { bytes_max: 3 })));
    }
}
