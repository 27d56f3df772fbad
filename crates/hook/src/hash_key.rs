//! The key of a home: 16 random bytes that make hashes of file contents useless to others.
//!
//! Made by `install`, or by the first hook that needs it. Two hooks may make it at once: a link fails if
//! the name is taken, so exactly one of them wins and both use the winner's.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use agent_tracer_spool::{Home, settings_file};

/// Returns the key of this home.
pub(crate) fn load_or_make(home: &Home) -> [u8; 16] {
    let path = home.hash_key();
    let stored = || stored(&path, home.user());
    stored()
        .or_else(|| make(&path, &stored).ok().and_then(|()| stored()))
        // A home that cannot hold a key (read-only, full) gets hashes that cannot be compared or guessed.
        .unwrap_or_else(random)
}

/// Returns the stored key, if it is whole and no other user can have put it there.
fn stored(path: &Path, user: Option<u32>) -> Option<[u8; 16]> {
    let mut key = [0_u8; 16];
    settings_file::open(path, user).ok()??.read_exact(&mut key).ok()?;
    Some(key)
}

fn make(path: &Path, stored: &dyn Fn() -> Option<[u8; 16]>) -> io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(std::process::id().to_string());
    let temporary = Path::new(&name);
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(temporary)
        // Once in the life of a home: a name that a power cut leaves without its bytes would be no key.
        .and_then(|mut file| file.write_all(&random()).and_then(|()| file.sync_all()));
    let linked = written.and_then(|()| match fs::hard_link(temporary, path) {
        // A key that is there but too short (a crash, an editor) is replaced; a whole one has won.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && stored().is_none() => {
            fs::rename(temporary, path)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    });
    drop(fs::remove_file(temporary));
    linked
}

fn random() -> [u8; 16] {
    let mut key = [0_u8; 16];
    let read = File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut key));
    if read.is_err() {
        // The hash map's own seed comes from the system by another way.
        let (low, high) = (RandomState::new().hash_one(0_u8), RandomState::new().hash_one(1_u8));
        key = ((u128::from(high) << 64) | u128::from(low)).to_ne_bytes();
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_use_makes_the_key_and_later_ones_find_it() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::in_folder(folder.path());
        let first = load_or_make(&home);
        assert_ne!(first, [0; 16]);
        assert_eq!(load_or_make(&home), first);
        let left: Vec<_> =
            fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(left, [home.hash_key().file_name().unwrap()]);
    }

    #[test]
    fn a_key_that_was_cut_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::in_folder(folder.path());
        File::create(home.hash_key()).unwrap().write_all(b"short").unwrap();
        let first = load_or_make(&home);
        assert_eq!(load_or_make(&home), first);
    }

    #[test]
    fn a_home_that_cannot_hold_a_key_still_gets_an_unguessable_one() {
        let home = Home::in_folder("/nowhere/at/all");
        assert_ne!(load_or_make(&home), load_or_make(&home));
    }

    #[test]
    fn only_the_user_can_read_the_key() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let home = Home::in_folder(folder.path());
        load_or_make(&home);
        assert_eq!(fs::metadata(home.hash_key()).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
