//! The owner's token: 256 random bits in a file that only its owner may read.
//!
//! The one place in this room that touches the disk, for the program that starts the server.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::secret::random;

/// A reason why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The file cannot be read or made.
    #[error("cannot read the token `{}`", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// Others may read it.
    #[error("other users may read the token `{}`\nhint: run `chmod 600` on it", .0.display())]
    Open(PathBuf),
    /// It holds no token.
    #[error("the token `{}` holds no token\nhint: remove the file; the next start creates one", .0.display())]
    Broken(PathBuf),
}

/// The fewest characters of a token.
const FEWEST: usize = 32;

/// Reads the token in this file; makes it if there is none.
///
/// Two who make it at once get the same one: only one of them can link the name.
pub fn owner_token(path: &Path) -> Result<String, TokenError> {
    let io = |source| TokenError::Io { path: path.to_owned(), source };
    match read(path) {
        Err(TokenError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
        other => return other,
    }
    let temporary = make_beside(path).map_err(io)?;
    let linked = match fs::hard_link(&temporary, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    };
    drop(fs::remove_file(&temporary));
    linked.map_err(io)?;
    read(path)
}

/// Names tried for one temporary file.
const NAMES_TRIED: u32 = 1000;

/// Makes a token beside `path` under a name that is free. In a container the number of a process that was killed comes
/// back, and what it left must not be in the way.
fn make_beside(path: &Path) -> io::Result<PathBuf> {
    for number in 0..NAMES_TRIED {
        let temporary = path.with_extension(format!("{}.{number}.new", std::process::id()));
        match make(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => {
                // Half of it may be there.
                drop(fs::remove_file(&temporary));
                return Err(error);
            }
            Ok(()) => return Ok(temporary),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn make(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    writeln!(file, "{}", random().map_err(io::Error::other)?)?;
    // Synced before it is linked: after a crash the name must not lead to an empty file.
    file.sync_all()
}

fn read(path: &Path) -> Result<String, TokenError> {
    let io = |source| TokenError::Io { path: path.to_owned(), source };
    let file = File::open(path).map_err(io)?;
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::mode(&file.metadata().map_err(io)?) & 0o077 != 0 {
        return Err(TokenError::Open(path.to_owned()));
    }
    let mut text = String::new();
    // A token has 64 characters: of anything else that stands at this path little is read.
    file.take(1024).read_to_string(&mut text).map_err(io)?;
    let token = text.trim();
    let is_token = token.len() >= FEWEST && token.bytes().all(|byte| byte.is_ascii_graphic());
    if is_token { Ok(token.to_owned()) } else { Err(TokenError::Broken(path.to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn the_first_use_makes_a_token_that_only_its_owner_reads() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let first = owner_token(&path).unwrap();
        assert_eq!(first.len(), 64);
        assert_eq!(owner_token(&path).unwrap(), first);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left behind");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(owner_token(&path), Err(TokenError::Open(_))));
    }

    #[test]
    fn what_a_killed_process_of_the_same_number_left_is_not_in_the_way() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        for left in ["new", "0.new", "1.new"] {
            make(&path.with_extension(format!("{}.{left}", std::process::id()))).unwrap();
        }
        assert_eq!(owner_token(&path).unwrap().len(), 64);
    }

    #[test]
    fn an_empty_file_is_no_token() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        make(&path).unwrap();
        OpenOptions::new().write(true).truncate(true).open(&path).unwrap();
        assert!(matches!(owner_token(&path), Err(TokenError::Broken(_))));
    }
}
