//! The version of the workspace is written once; a file that has to repeat it has the same, and packages take it from
//! there.

use std::fs;
use std::path::{Path, PathBuf};

use super::root;

/// Files that repeat the version because another program reads them as they are, and the words before it.
/// `scripts/set-version` writes them.
const REPEATED: [(&str, &str); 4] = [
    ("plugin/claude/.claude-plugin/plugin.json", "\"version\": \""),
    ("plugin/codex/.codex-plugin/plugin.json", "\"version\": \""),
    ("crates/server/openapi.json", "\"version\": \""),
    ("deploy/kubernetes/agent-tracer.yaml", "/agent-tracer:"),
];

fn version() -> String {
    let manifest = read("Cargo.toml");
    let section = manifest.split("[workspace.package]").nth(1).expect("the workspace has a package");
    let (_, rest) = section.split_once("version = \"").expect("a version");
    rest.split('"').next().expect("its end").to_owned()
}

fn read(path: &str) -> String {
    let text = fs::read_to_string(root().join(path));
    assert!(text.is_ok(), "cannot read `{path}`: {text:?}");
    text.unwrap_or_default()
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

#[test]
fn files_that_repeat_the_version_have_that_of_the_workspace() {
    let version = version();
    for (path, before) in REPEATED {
        let text = read(path);
        let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("`{path}` names no version"));
        let found = rest.split(['"', '\n']).next();
        assert_eq!(found, Some(version.as_str()), "`{path}`; run `scripts/set-version`");
    }
}

#[test]
fn every_crate_has_the_version_of_the_workspace() {
    for package in super::workspace()["packages"].as_array().expect("packages") {
        assert_eq!(package["version"], version().as_str(), "{}", package["name"]);
    }
}

#[test]
fn no_package_is_made_with_a_version_of_its_own() {
    let version = version();
    let mut files = files_below(&root().join("packaging"));
    files.extend(files_below(&root().join(".github")));
    files.extend(["install.sh", "release.toml", "deploy/Containerfile"].map(|path| root().join(path)));
    for path in files.iter().filter(|path| !path.to_string_lossy().contains("__pycache__")) {
        let text = String::from_utf8_lossy(&fs::read(path).expect("a file")).into_owned();
        assert!(!text.contains(&version), "`{}` repeats the version of the workspace", path.display());
    }
}
