//! Finds project rules that the table does not know yet.

use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use agent_tracer_policy_abi::PROJECT_FILE;
use nix::unistd::{AccessFlags, access};

/// Returns `true` if the project has rules that `is_known` does not know. The project is the one that the agent names,
/// else its working directory; the rules are those of the nearest folder above that has any or is a repository's root.
///
/// Every prompt pays for this, so paths are assembled in one buffer and only tested for existence.
pub(crate) fn has_rules(directories: &[&[u8]], is_known: impl Fn(&Path) -> bool) -> bool {
    let Some(folder) = directories.iter().find(|folder| folder.starts_with(b"/")) else { return false };
    let mut path = Vec::with_capacity(folder.len() + PROJECT_FILE.len() + 2);
    // Most folders have no rules above them. Only if there are some does the repository's root matter.
    let Some(root) = above(folder).find(|root| is_there(&mut path, root, PROJECT_FILE.as_bytes())) else {
        return false;
    };
    let mut nearer = above(folder).take_while(|folder| folder.len() > root.len());
    if nearer.any(|folder| is_there(&mut path, folder, b".git")) {
        return false;
    }
    !is_known(Path::new(OsStr::from_bytes(if root.is_empty() { b"/" } else { root })))
}

/// Returns a folder and all above it, without trailing slashes; the last is empty.
fn above(folder: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::successors(Some(trimmed(folder)), |folder: &&[u8]| {
        let end = folder.iter().rposition(|byte| *byte == b'/')?;
        folder.get(..end).map(trimmed)
    })
}

fn trimmed(mut folder: &[u8]) -> &[u8] {
    while let [above @ .., b'/'] = folder {
        folder = above;
    }
    folder
}

fn is_there(path: &mut Vec<u8>, root: &[u8], name: &[u8]) -> bool {
    path.clear();
    for part in [root, b"/", name, b"\0"] {
        path.extend_from_slice(part);
    }
    CStr::from_bytes_with_nul(path).is_ok_and(|path| access(path, AccessFlags::F_OK).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_project_decides_and_only_unknown_rules_count() {
        let folder = tempfile::tempdir().unwrap();
        let make = |path: &str| std::fs::create_dir_all(folder.path().join(path)).unwrap();
        make("with/.agent-tracer");
        std::fs::File::create(folder.path().join("with").join(PROJECT_FILE)).unwrap();
        make("with/src/deep");
        make("with/inner/.git");
        make("without");
        let at = |path: &str| folder.path().join(path).into_os_string().into_encoded_bytes();
        let with = folder.path().join("with");
        for (path, expected) in [
            ("with", true),
            ("with/src/deep", true),
            ("with/inner", false),
            ("without", false),
            ("none", false),
        ] {
            assert_eq!(has_rules(&[b"", &at(path)], |_| false), expected, "{path}");
            assert!(!has_rules(&[&at(path), b""], |root| root == with), "{path}");
        }
        assert!(!has_rules(&[&at("without"), &at("with")], |_| false), "the named project comes first");
        assert!(!has_rules(&[b"", b"relative"], |_| false));
    }
}
