//! Agent Tracer's own home: made ready by `install`, so that the hook finds everything in place.
//!
//! Law: what is there stays. Folders are closed to others, the key is made once, and a configuration that the user has
//! written is never touched.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use agent_tracer_event::Millis;
use agent_tracer_spool::{Home, Spool};

use crate::failure::{Failure, plain};
use crate::files;

/// The configuration that a new home gets: all of it comments, so that it says what can be said and changes nothing.
const PRIVACY_CONF: &str = "\
# How much Agent Tracer keeps of what your agents do. Read before every event: a change counts at once.
#
# level metadata    names, paths, programs and sizes; no prompts and no commands
# level actions     also prompts and commands, secrets masked; results only as sizes (this is the default)
# level full        also the head and the tail of results, secrets masked
#
# Nothing at all is recorded below an excluded folder:
# exclude ~/clients/secret/**
";

/// Makes every folder and file that the hook and the later commands expect.
pub(crate) fn prepare(home: &Home, is_default: bool) -> Result<(), Failure> {
    for folder in [home.data(), home.config()] {
        let made = files::make_folder(folder, 0o700)?;
        // A folder that the user made and named may be shared on purpose; ours never is.
        if made.is_some() || is_default {
            close(folder)?;
        }
    }
    Spool::at(&home.spool()).prepare().map_err(|error| {
        let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        Failure::new(format!("{error}: {cause}")).hint("check that you may write there")
    })?;
    make_once(&home.hash_key(), || random().map(|key| key.to_vec()))?;
    make_once(&home.privacy_conf(), || Ok(PRIVACY_CONF.as_bytes().to_vec()))
}

/// Keeps a copy of a settings file, under a name that tells when, whose and which.
pub(crate) fn back_up(home: &Home, now: Millis, label: &str, bytes: &[u8]) -> Result<PathBuf, Failure> {
    let folder = home.backups();
    files::make_folder(&folder, 0o700)?;
    let stamp: String = now.to_string().chars().filter(char::is_ascii_alphanumeric).collect();
    for number in 1..1000 {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let path = folder.join(format!("{stamp}-{label}{suffix}"));
        match create(&path, bytes) {
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {}
            Err(cause) => return Err(Failure::file("write", &path, &cause).hint("nothing was changed")),
            Ok(()) => return Ok(path),
        }
    }
    Err(Failure::new(format!("cannot keep a backup in `{}`: every name is taken", folder.display())))
}

fn close(folder: &Path) -> Result<(), Failure> {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
        .map_err(|cause| Failure::file("close to others", folder, &cause))
}

/// Makes a private file unless it exists. Another process may do the same at this moment: the first one wins.
fn make_once(path: &Path, content: impl FnOnce() -> io::Result<Vec<u8>>) -> Result<(), Failure> {
    if path.exists() {
        return Ok(());
    }
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}", std::process::id()));
    let temporary = Path::new(&temporary);
    let made = content().and_then(|bytes| create(temporary, &bytes)).and_then(|()| {
        match fs::hard_link(temporary, path) {
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            other => other,
        }
    });
    drop(fs::remove_file(temporary));
    made.map_err(|cause| {
        Failure::new(format!("cannot write `{}`: {}", path.display(), plain(&cause)))
            .hint("check that you may write there")
    })
}

fn create(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)
}

fn random() -> io::Result<[u8; 16]> {
    let mut key = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut key)?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use agent_tracer_privacy::{Config, Level};

    use super::*;

    #[test]
    fn the_configuration_of_a_new_home_changes_nothing() {
        let (config, faults) = Config::parse(PRIVACY_CONF.as_bytes());
        assert_eq!(config, Config::default());
        assert_eq!(config.level, Level::Actions);
        assert!(faults.is_empty());
    }

    #[test]
    fn each_setting_that_the_configuration_shows_is_one() {
        for line in PRIVACY_CONF.lines().filter_map(|line| line.strip_prefix("# ")) {
            let words: Vec<&str> = line.split("   ").collect();
            if line.starts_with("level ") || line.starts_with("exclude ") {
                let (_, faults) = Config::parse(words[0].as_bytes());
                assert!(faults.is_empty(), "{line}: {faults:?}");
            }
        }
    }

    #[test]
    fn a_second_preparation_keeps_key_and_configuration() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::in_folder(folder.path().join("home"));
        prepare(&home, false).expect("prepared");
        let key = fs::read(home.hash_key()).expect("a key");
        assert_eq!(key.len(), 16);
        files::write_private(&home.privacy_conf(), b"level full\n").expect("written");
        prepare(&home, false).expect("prepared again");
        assert_eq!(fs::read(home.hash_key()).expect("a key"), key);
        assert_eq!(fs::read(home.privacy_conf()).expect("text"), b"level full\n");
        for (path, mode) in [(home.data().to_owned(), 0o700), (home.spool(), 0o700), (home.hash_key(), 0o600)]
        {
            let facts = fs::metadata(&path).expect("facts");
            assert_eq!(facts.permissions().mode() & 0o777, mode, "{}", path.display());
        }
    }

    #[test]
    fn a_named_folder_that_was_there_keeps_its_mode() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("a mode");
        let home = Home::in_folder(folder.path());
        prepare(&home, false).expect("prepared");
        let mode = |path: &Path| fs::metadata(path).expect("facts").permissions().mode() & 0o777;
        assert_eq!(mode(folder.path()), 0o755);
        assert_eq!(mode(&home.spool()), 0o700);
    }

    #[test]
    fn backups_of_one_moment_do_not_replace_each_other() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::in_folder(folder.path());
        let one = back_up(&home, Millis(0), "claude-settings.json", b"one").expect("kept");
        let two = back_up(&home, Millis(0), "claude-settings.json", b"two").expect("kept");
        assert_eq!(one.file_name().expect("a name"), "19700101T000000000Z-claude-settings.json");
        assert_eq!(two.file_name().expect("a name"), "19700101T000000000Z-claude-settings.json-2");
        assert_eq!(fs::read(one).expect("read"), b"one");
    }
}
