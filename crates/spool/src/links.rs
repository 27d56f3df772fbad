//! Resolves links in paths, for exclusions by folder.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// The longest path that the system takes.
const BYTES_MAX: usize = 4096;
/// The most names at the end of a path that may be missing on disk. A removed folder still counts as below its parents.
const MISSING_MAX: usize = 64;

/// Returns an absolute path without links; `None` if it is not absolute or cannot be followed.
///
/// Names at its end that do not exist stay as they are.
pub fn resolve(path: &[u8]) -> Option<Vec<u8>> {
    if path.len() > BYTES_MAX || !path.starts_with(b"/") {
        return None;
    }
    let path = Path::new(OsStr::from_bytes(path));
    for (missing, folder) in path.ancestors().take(MISSING_MAX).enumerate() {
        let Ok(real) = folder.canonicalize() else { continue };
        let rest = path.strip_prefix(folder).ok()?;
        let whole = if missing == 0 { real } else { real.join(rest) };
        return Some(whole.into_os_string().into_vec());
    }
    None
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_followed_above_missing_names() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("real/in")).unwrap();
        symlink(root.join("real"), root.join("link")).unwrap();
        symlink(root.join("nowhere"), root.join("dangling")).unwrap();
        for (path, expected) in [
            ("link", "real"),
            ("link/in", "real/in"),
            ("link/in/gone/deep", "real/in/gone/deep"),
            ("link/../link/in/.", "real/in"),
            ("real", "real"),
            ("dangling/x", "dangling/x"),
        ] {
            let found = resolve(root.join(path).as_os_str().as_bytes());
            assert_eq!(found, Some(root.join(expected).into_os_string().into_vec()), "{path}");
        }
        assert_eq!(resolve(b"relative"), None);
        assert_eq!(resolve(&[b'/'; BYTES_MAX + 1]), None);
        assert_eq!(resolve("/x".repeat(MISSING_MAX + 1).as_bytes()), None);
    }
}
