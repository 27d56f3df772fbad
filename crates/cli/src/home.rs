//! Agent Tracer's own home: made ready by `install`, so that the hook finds everything in place.
//!
//! Law: what is there stays. Folders are closed to others, the key is made once, and a configuration that the user has
//! written is never touched.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use agent_tracer_event::Millis;
use agent_tracer_ledger::{ClockTrust, judge_clock};
use agent_tracer_spool::settings_file::{self, Refusal};
use agent_tracer_spool::{Home, Spool};

use crate::failure::{Failure, plain};
use crate::files;
use crate::record::Record;

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
///
/// Returns what was mended on the way, for a person to read.
pub(crate) fn prepare(home: &Home, is_default: bool) -> Result<Option<String>, Failure> {
    for folder in [home.data(), home.config()] {
        let made = files::make_folder(folder, 0o700)?;
        // A folder that the user made and named may be shown to others on purpose; ours never is. Written by others it
        // must not be: nothing in it would be obeyed.
        if made.is_some() || is_default {
            set_mode(folder, 0o700)?;
        } else if let Err(Refusal::Writable { .. }) = settings_file::check(&folder.join(" "), home.user()) {
            let facts = fs::metadata(folder).map_err(|cause| Failure::file("look at", folder, &cause))?;
            set_mode(folder, facts.mode() & 0o7777 & !0o022)?;
        }
    }
    Spool::at(&home.spool()).prepare().map_err(|error| {
        let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        Failure::new(format!("{error}: {cause}")).hint("check that you may write there")
    })?;
    // Before the key is made: a name without its bytes would count as a key that exists.
    let mended = mend_key(&home.hash_key())?;
    make_once(&home.hash_key(), || random().map(|key| key.to_vec()))?;
    make_once(&home.privacy_conf(), || Ok(PRIVACY_CONF.as_bytes().to_vec()))?;
    Ok(mended)
}

/// Replaces a key that is too short to be one, as hooks do: a power cut may leave the name without the bytes. Nothing that
/// was recorded becomes unreadable by it.
fn mend_key(path: &Path) -> Result<Option<String>, Failure> {
    let Ok(facts) = fs::symlink_metadata(path) else { return Ok(None) };
    if !facts.is_file() || facts.len() >= KEY_BYTES as u64 {
        return Ok(None);
    }
    let mended = random()
        .and_then(|key| create_beside(path, &key))
        .and_then(|temporary| fs::rename(&temporary, path))
        .and_then(|()| sync_folder(path));
    mended.map_err(|cause| Failure::file("write", path, &cause))?;
    Ok(Some(format!(
        "the key `{}` was cut short, and a new one was made: contents of files that were hashed before cannot be compared \
         with those of later ones",
        path.display()
    )))
}

/// Has the names in the folder of a file on disk.
fn sync_folder(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

/// Keeps a copy of a settings file, under a name with the time and a label.
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
            Ok(()) => {
                prune(home, now, &folder, label, &path);
                return Ok(path);
            }
        }
    }
    Err(Failure::new(format!("cannot write a backup in `{}`: every name is taken", folder.display())))
}

/// Newest backups of one file that are kept.
const BACKUPS: usize = 10;
/// Days for which any of them is kept: settings can hold keys.
const BACKUP_DAYS: u64 = 90;

/// Removes backups of one file between its first, which is what the user had before us, and the newest, and all of any
/// file that are older than [`BACKUP_DAYS`]; never one that `uninstall` would bring back. What cannot be removed is no
/// reason to fail.
fn prune(home: &Home, now: Millis, folder: &Path, label: &str, newest: &Path) {
    let needed = Record::load(home).0.bases();
    let Ok(entries) = fs::read_dir(folder) else { return };
    let entries: Vec<fs::DirEntry> = entries.flatten().collect();
    // A clock that is wrong once, and far ahead, would remove all of them.
    let is_believed = matches!(judge_clock(&home.data().join("ledger.db"), now), Ok(ClockTrust::Sound));
    for entry in entries.iter().filter(|entry| is_believed && is_outdated(entry, now)) {
        let path = entry.path();
        if path != newest && !needed.contains(&path) {
            drop(fs::remove_file(path));
        }
    }
    let mut backups: Vec<(String, u32, PathBuf)> = entries
        .iter()
        .filter_map(|entry| {
            let (stamp, number) = parse_backup(entry.file_name().to_str()?, label)?;
            Some((stamp, number, entry.path()))
        })
        .collect();
    backups.sort();
    let last = backups.len().saturating_sub(BACKUPS);
    // The first one stays for ever: it is the file as it was before us.
    for (_, _, path) in backups.into_iter().take(last).skip(1) {
        if path != newest && !needed.contains(&path) {
            drop(fs::remove_file(path));
        }
    }
}

/// Returns whether a file is older than the retention of backups.
fn is_outdated(entry: &fs::DirEntry, now: Millis) -> bool {
    let now = Duration::from_millis(u64::try_from(now.0).unwrap_or(0));
    let written = entry.metadata().and_then(|facts| facts.modified()).ok();
    let since = written.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    since.is_some_and(|since| now.saturating_sub(since) > Duration::from_secs(BACKUP_DAYS * 24 * 60 * 60))
}

/// Returns the time of the backup `name` and its number at that time, if it is one of `label`.
fn parse_backup(name: &str, label: &str) -> Option<(String, u32)> {
    let (stamp, rest) = name.split_once('-')?;
    let suffix = rest.strip_prefix(label)?;
    let number = if suffix.is_empty() { 1 } else { suffix.strip_prefix('-')?.parse().ok()? };
    stamp.ends_with('Z').then(|| (stamp.to_owned(), number))
}

fn set_mode(folder: &Path, mode: u32) -> Result<(), Failure> {
    fs::set_permissions(folder, fs::Permissions::from_mode(mode))
        .map_err(|cause| Failure::file("close to others", folder, &cause))
}

/// Makes a private file unless it exists. Another process may do the same at this moment: the first one wins.
fn make_once(path: &Path, content: impl FnOnce() -> io::Result<Vec<u8>>) -> Result<(), Failure> {
    if path.exists() {
        return Ok(());
    }
    let made = content().and_then(|bytes| create_beside(path, &bytes)).and_then(|temporary| {
        // Linked, not renamed: a rename would replace the key of a process that was first.
        let linked = match fs::hard_link(&temporary, path) {
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            other => other,
        };
        drop(fs::remove_file(&temporary));
        linked.and_then(|()| sync_folder(path))
    });
    made.map_err(|cause| {
        Failure::new(format!("cannot write `{}`: {}", path.display(), plain(&cause)))
            .hint("check that you may write there")
    })
}

/// Names tried for one temporary file.
const NAMES_TRIED: u32 = 1000;

/// Makes a private file beside `path` under a name that is free. In a container the number of a process that was killed
/// comes back, and what it left must not be in the way.
fn create_beside(path: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    for number in 0..NAMES_TRIED {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}.{number}", std::process::id()));
        let temporary = PathBuf::from(name);
        match create(&temporary, bytes) {
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {}
            Err(cause) => {
                // Half of it may be there.
                drop(fs::remove_file(&temporary));
                return Err(cause);
            }
            Ok(()) => return Ok(temporary),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn create(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    // A name that a power cut leaves without its bytes is worse than no name.
    file.sync_all()
}

/// The length of a key.
const KEY_BYTES: usize = 16;

fn random() -> io::Result<[u8; KEY_BYTES]> {
    let mut key = [0; KEY_BYTES];
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
    fn a_key_that_was_cut_short_is_made_anew_with_a_word_and_a_whole_one_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::in_folder(folder.path());
        assert_eq!(prepare(&home, false).expect("prepared"), None);
        for left in [0, 15] {
            fs::remove_file(home.hash_key()).expect("removed");
            create(&home.hash_key(), &vec![7; left]).expect("cut");
            let word = prepare(&home, false).expect("prepared").expect("a word");
            assert!(word.contains("cut short"), "{word}");
            let key = fs::read(home.hash_key()).expect("a key");
            assert!(key.len() == 16 && !key.starts_with(&[7; 15]));
            assert_eq!(prepare(&home, false).expect("prepared"), None);
            assert_eq!(fs::read(home.hash_key()).expect("a key"), key);
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

    #[test]
    fn what_a_killed_process_of_the_same_number_left_is_not_in_the_way() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::in_folder(folder.path());
        for number in 0..3 {
            let mut left = home.hash_key().into_os_string();
            left.push(format!(".{}.{number}", std::process::id()));
            create(Path::new(&left), b"half").expect("left");
        }
        let mut left = home.hash_key().into_os_string();
        left.push(format!(".{}", std::process::id()));
        create(Path::new(&left), b"half").expect("left");
        prepare(&home, false).expect("prepared");
        assert_eq!(fs::read(home.hash_key()).expect("a key").len(), 16);
    }

    #[test]
    fn of_many_backups_the_first_the_newest_and_the_needed_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::in_folder(folder.path());
        let label = "claude-user-settings.json";
        back_up(&home, Millis(0), "codex-user-hooks.json", b"other").expect("kept");
        back_up(&home, Millis(0), &format!("{label}-found"), b"found").expect("kept");
        let made: Vec<PathBuf> = (0..30)
            .map(|number| {
                back_up(&home, Millis(number / 2), label, number.to_string().as_bytes()).expect("kept")
            })
            .collect();
        let there: Vec<usize> = (0..made.len()).filter(|number| made[*number].exists()).collect();
        let newest: Vec<usize> = (20..30).collect();
        assert_eq!(there[0], 0, "what was there before us stays");
        assert_eq!(there[1..], newest);
        assert_eq!(
            fs::read_dir(home.backups()).expect("a folder").count(),
            1 + 10 + 2,
            "others are not touched"
        );
    }

    #[test]
    fn old_backups_go_whichever_file_they_are_of() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::in_folder(folder.path());
        back_up(&home, Millis(0), "codex-user-hooks.json", b"old").expect("kept");
        back_up(&home, Millis(0), "claude-user-settings.json", b"old").expect("kept");
        let day = 24 * 60 * 60 * 1000;
        let written = fs::metadata(home.backups()).and_then(|facts| facts.modified()).expect("a time");
        let written = written.duration_since(UNIX_EPOCH).expect("after 1970").as_millis();
        let now = Millis(i64::try_from(written).expect("small"));
        back_up(&home, Millis(now.0 + 89 * day), "claude-user-settings.json", b"new").expect("kept");
        assert_eq!(fs::read_dir(home.backups()).expect("a folder").count(), 3);
        back_up(&home, Millis(now.0 + 91 * day), "claude-user-settings.json", b"newer").expect("kept");
        assert_eq!(fs::read_dir(home.backups()).expect("a folder").count(), 1);
    }

    #[test]
    fn a_clock_that_jumps_ahead_makes_no_backup_old() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::in_folder(folder.path());
        let day = 24 * 60 * 60 * 1000;
        back_up(&home, Millis(0), "codex-user-hooks.json", b"old").expect("kept");
        let written = fs::metadata(home.backups()).and_then(|facts| facts.modified()).expect("a time");
        let written = written.duration_since(UNIX_EPOCH).expect("after 1970").as_millis();
        let now = Millis(i64::try_from(written).expect("small"));
        let store = home.data().join("ledger.db");
        let ledger = agent_tracer_ledger::Ledger::open(&store, Default::default()).expect("a ledger");
        ledger.trust_clock(now).expect("noted");
        ledger.close();
        let ahead = Millis(now.0 + 400 * day);
        back_up(&home, ahead, "claude-user-settings.json", b"new").expect("kept");
        assert_eq!(fs::read_dir(home.backups()).expect("a folder").count(), 2);
    }

    #[test]
    fn a_backup_that_uninstall_would_bring_back_is_never_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::in_folder(folder.path());
        let label = "claude-user-settings.json";
        back_up(&home, Millis(0), label, b"first").expect("kept");
        let base = back_up(&home, Millis(1), label, b"base").expect("kept");
        let record = serde_json::json!({"version": 1, "installations": [{
            "agent": "claude", "file": "/x/settings.json", "base": base, "written": "sha256:0",
            "hook": "/x/hook", "installedAt": "2026-01-01T00:00:00.000Z", "undo": {},
        }]});
        files::write_private(&home.install_record(), record.to_string().as_bytes()).expect("written");
        assert_eq!(Record::load(&home).0.bases(), std::slice::from_ref(&base));
        for number in 2..40 {
            back_up(&home, Millis(number), label, b"later").expect("kept");
        }
        assert!(base.exists());
    }
}
