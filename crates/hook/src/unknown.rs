//! Whether an agent works in a project that has rules of which nobody knows yet.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use agent_tracer_policy_table::PROJECT_FILE;

/// Looks for the rules of the project that the agent names, else of where it works: in the nearest folder above that has
/// any, or that is the root of a repository. Says whether there are some that `is_known` does not know.
pub(crate) fn has_rules(directories: &[&[u8]], is_known: impl Fn(&Path) -> bool) -> bool {
    let Some(folder) = directories.iter().find(|folder| folder.starts_with(b"/")) else { return false };
    for root in Path::new(OsStr::from_bytes(folder)).ancestors() {
        if root.join(PROJECT_FILE).exists() {
            return !is_known(root);
        }
        if root.join(".git").exists() {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_project_decides_and_only_rules_that_are_not_known_count() {
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
        assert!(
            !has_rules(&[&at("without"), &at("with")], |_| false),
            "the project that is named comes first"
        );
        assert!(!has_rules(&[b"", b"relative"], |_| false));
    }
}
