//! Files of other programs: read with a cap, replaced as a whole, never torn.
//!
//! Law: a settings file is either the old one or the new one, with the owner and the mode it had, except that others
//! may no longer write it, and a new one is for the user alone; a link stays a link and its target is what changes; and
//! a concurrent change by another program is never overwritten.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use agent_tracer_spool::settings_file;

use crate::failure::Failure;

/// The longest settings file that is read. Real ones have a few kilobytes.
const BYTES_MAX: u64 = 8 << 20;

/// A settings file as it was found.
#[derive(Debug, Clone)]
pub(crate) struct SettingsFile {
    /// Path of the bytes: the file itself, or the target of the link.
    pub(crate) target: PathBuf,
    /// The bytes, or `None` if there is no such file.
    pub(crate) bytes: Option<Vec<u8>>,
}

impl SettingsFile {
    /// Returns the content, empty for a file that is not there.
    pub(crate) fn text(&self) -> Result<&str, Failure> {
        std::str::from_utf8(self.bytes.as_deref().unwrap_or_default()).map_err(|cause| {
            let at = cause.valid_up_to();
            Failure::new(format!("cannot read `{}`: byte {at} is not UTF-8", self.target.display()))
                .hint("save the file as UTF-8; nothing was written")
        })
    }

    /// Returns whether there is such a file.
    pub(crate) fn exists(&self) -> bool {
        self.bytes.is_some()
    }
}

/// Reads a settings file, through a link if it is one.
pub(crate) fn find(path: &Path) -> Result<SettingsFile, Failure> {
    // The target is replaced and not the link: people keep their settings in a repository and link to them.
    let target = match path.canonicalize() {
        Ok(target) => target,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
            if fs::symlink_metadata(path).is_ok() {
                return Err(Failure::new(format!("`{}` is a broken link", path.display()))
                    .hint("create the file it points to, or remove the link"));
            }
            return Ok(SettingsFile { target: path.to_owned(), bytes: None });
        }
        Err(cause) => return Err(Failure::file("read", path, &cause)),
    };
    let bytes = read_capped(&target, BYTES_MAX)?;
    Ok(SettingsFile { target, bytes: Some(bytes) })
}

/// Reads a regular file of at most `bytes_max` bytes.
pub(crate) fn read_capped(path: &Path, bytes_max: u64) -> Result<Vec<u8>, Failure> {
    let fail = |cause: io::Error| Failure::file("read", path, &cause);
    // Checked before opening: opening a pipe would block until it has a writer.
    if !fs::metadata(path).map_err(fail)?.is_file() {
        return Err(Failure::new(format!("cannot read `{}`: it is not a regular file", path.display())));
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(bytes_max + 1).read_to_end(&mut bytes)).map_err(fail)?;
    if bytes.len() as u64 > bytes_max {
        return Err(Failure::new(format!("cannot read `{}`: it is over {bytes_max} bytes", path.display())));
    }
    Ok(bytes)
}

/// Reads a file of our own folders; `None` if there is none. One that another user can write is not obeyed.
pub(crate) fn read_own(path: &Path, bytes_max: usize) -> Result<Option<Vec<u8>>, Failure> {
    let user = nix::unistd::geteuid().as_raw();
    settings_file::read(path, Some(user), bytes_max).map_err(|refusal| {
        Failure::new(format!("cannot read `{}`: {refusal}", path.display())).hint(refusal.hint(path))
    })
}

/// Refuses a file below a project, or its folder, that is a link: a repository could lead us to any other file.
pub(crate) fn refuse_links(file: &Path) -> Result<(), Failure> {
    for path in [file.parent(), Some(file)].into_iter().flatten() {
        if let Ok(target) = fs::read_link(path) {
            let text = format!(
                "`{}` is a link to `{}`, and links of a project are not followed",
                path.display(),
                target.display()
            );
            return Err(Failure::new(text).hint("replace the link by its target; nothing was written"));
        }
    }
    Ok(())
}

/// Replaces a settings file that was found as `found`. Missing folders are made; returns the topmost one that was.
pub(crate) fn replace(found: &SettingsFile, bytes: &[u8]) -> Result<Option<PathBuf>, Failure> {
    let path = &found.target;
    let folder = path.parent().unwrap_or(Path::new("/"));
    // Whatever the umask is: a settings file names commands that are run.
    let made = make_folder(folder, 0o700)?;
    check_unchanged(found)?;
    let before = fs::metadata(path).ok();
    write(path, bytes, before.as_ref(), Mode::Kept)?;
    Ok(made)
}

/// Replaces a file of our own that was found as `found`, for its owner alone. Its folder must be there.
pub(crate) fn replace_private(found: &SettingsFile, bytes: &[u8]) -> Result<(), Failure> {
    check_unchanged(found)?;
    let before = fs::metadata(&found.target).ok();
    write(&found.target, bytes, before.as_ref(), Mode::Private)
}

/// Writes a file of our own, for us alone.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    make_folder(path.parent().unwrap_or(Path::new("/")), 0o700)?;
    write(path, bytes, None, Mode::Private)
}

/// Removes a settings file that was found as `found`.
pub(crate) fn remove(found: &SettingsFile) -> Result<(), Failure> {
    check_unchanged(found)?;
    fs::remove_file(&found.target).map_err(|cause| Failure::file("remove", &found.target, &cause))
}

/// Makes a folder and those above it; returns the topmost one that was made.
pub(crate) fn make_folder(folder: &Path, mode: u32) -> Result<Option<PathBuf>, Failure> {
    use std::os::unix::fs::DirBuilderExt;
    // Looked up before the folders are made: `uninstall` removes only what did not exist before.
    let topmost = folder.ancestors().take_while(|folder| !folder.exists()).last().map(Path::to_owned);
    fs::DirBuilder::new().recursive(true).mode(mode).create(folder).map_err(|cause| {
        Failure::file("create the folder", folder, &cause).hint("check that you may write there")
    })?;
    Ok(topmost)
}

/// Returns whether the file is executable.
pub(crate) fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|facts| facts.is_file() && facts.mode() & 0o111 != 0)
}

/// Refuses to go on if the file is not what it was when we read it.
fn check_unchanged(found: &SettingsFile) -> Result<(), Failure> {
    let now = match File::open(&found.target) {
        Ok(file) => {
            let mut bytes = Vec::new();
            file.take(BYTES_MAX + 1)
                .read_to_end(&mut bytes)
                .map_err(|cause| Failure::file("read", &found.target, &cause))?;
            Some(bytes)
        }
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => None,
        Err(cause) => return Err(Failure::file("read", &found.target, &cause)),
    };
    // The bytes are compared, not the time of change: two writes within one tick of the clock have the same time.
    if now == found.bytes {
        return Ok(());
    }
    Err(Failure::new(format!("`{}` was changed by another program meanwhile", found.target.display()))
        .hint("run the command again; nothing was written"))
}

/// The mode of a file that takes the place of another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// That of the other, except that others may no longer write it.
    Kept,
    /// For its owner alone.
    Private,
}

fn write(path: &Path, bytes: &[u8], before: Option<&Metadata>, mode: Mode) -> Result<(), Failure> {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    // Beside the file, because a rename works within one file system only.
    name.push(format!(".agent-tracer-{}", std::process::id()));
    let temporary = path.with_file_name(name);
    let written = fill(&temporary, bytes, before, mode).and_then(|()| fs::rename(&temporary, path));
    written.map_err(|cause| {
        // A leftover is worse than a second error without a remedy.
        drop(fs::remove_file(&temporary));
        let failure = Failure::file("write", path, &cause);
        match cause.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                failure.hint("check that you may write to the file's folder; nothing was changed")
            }
            _ => failure.hint("nothing was changed"),
        }
    })
}

fn fill(temporary: &Path, bytes: &[u8], before: Option<&Metadata>, mode: Mode) -> io::Result<()> {
    let create = || OpenOptions::new().write(true).create_new(true).mode(0o600).open(temporary);
    let mut file = match create() {
        // Left behind by a dead process with our number: no other process uses this name.
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(temporary).and_then(|()| create())?
        }
        created => created?,
    };
    file.write_all(bytes)?;
    if let Some(before) = before {
        let now = file.metadata()?;
        if (now.uid(), now.gid()) != (before.uid(), before.gid()) {
            // A foreign file, edited with `sudo`: it must keep its owner, or the agent cannot read it. A group that we
            // may not give is no reason to give up.
            let given = chown(temporary, Some(before.uid()), Some(before.gid()));
            if now.uid() != before.uid() {
                given?;
            }
        }
        // The mode stays as it was, but a file that names commands is not left for others to write.
        let writable = if before.gid() == before.uid() { 0o002 } else { 0o022 };
        let kept = match mode {
            Mode::Kept => before.mode() & 0o7777 & !writable,
            Mode::Private => 0o600,
        };
        file.set_permissions(fs::Permissions::from_mode(kept))?;
    }
    // The rename must not become durable before the content does.
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn put(path: &Path, text: &str) {
        File::create(path).and_then(|mut file| file.write_all(text.as_bytes())).expect("a file");
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn the_mode_stays_and_nothing_is_left_beside_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("settings.json");
        put(&path, "old");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("a mode");
        let found = find(&path).expect("found");
        assert_eq!(replace(&found, b"new").expect("written"), None);
        assert_eq!(fs::read(&path).expect("read"), b"new");
        assert_eq!(fs::metadata(&path).expect("facts").mode() & 0o777, 0o640);
        assert_eq!(names(folder.path()), ["settings.json"]);
    }

    #[test]
    fn what_a_dead_process_left_behind_is_no_obstacle() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("settings.json");
        put(&folder.path().join(format!(".settings.json.agent-tracer-{}", std::process::id())), "torn");
        replace(&find(&path).expect("looked"), b"{}").expect("written");
        assert_eq!(names(folder.path()), ["settings.json"]);
    }

    #[test]
    fn a_link_stays_a_link_and_its_target_changes() {
        let folder = tempfile::tempdir().expect("a folder");
        let real = folder.path().join("dotfiles.json");
        let link = folder.path().join("settings.json");
        put(&real, "old");
        symlink("dotfiles.json", &link).expect("a link");
        replace(&find(&link).expect("found"), b"new").expect("written");
        assert_eq!(fs::read(&real).expect("read"), b"new");
        assert!(fs::symlink_metadata(&link).expect("facts").is_symlink());
    }

    #[test]
    fn a_link_to_nowhere_and_a_folder_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let link = folder.path().join("settings.json");
        symlink("gone.json", &link).expect("a link");
        assert!(find(&link).expect_err("dangling").to_string().contains("broken link"));
        assert!(find(folder.path()).expect_err("a folder").to_string().contains("not a regular file"));
    }

    #[test]
    fn a_file_that_changed_since_it_was_read_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("settings.json");
        let absent = find(&path).expect("looked");
        put(&path, "foreign");
        for found in [absent, SettingsFile { target: path.clone(), bytes: Some(b"older".to_vec()) }] {
            let failure = replace(&found, b"ours").expect_err("changed");
            assert!(failure.to_string().contains("changed by another program"), "{failure}");
            assert!(remove(&found).is_err());
        }
        assert_eq!(fs::read(&path).expect("read"), b"foreign");
        assert_eq!(names(folder.path()), ["settings.json"]);
    }

    #[test]
    fn missing_folders_are_made_and_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a/b/settings.json");
        let made = replace(&find(&path).expect("looked"), b"{}").expect("written");
        assert_eq!(made, Some(folder.path().join("a")));
    }

    #[test]
    fn a_file_over_the_cap_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("big");
        put(&path, "12345");
        assert!(read_capped(&path, 5).is_ok());
        assert!(read_capped(&path, 4).expect_err("too big").to_string().contains("over 4 bytes"));
    }
}
