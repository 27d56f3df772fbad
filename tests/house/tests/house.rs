//! The house keeps its own rules.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace has a root")
}

fn workspace() -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo metadata runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON")
}

/// The room's name without the common prefix.
fn room(package: &str) -> &str {
    package.strip_prefix("agent-tracer-").unwrap_or(package)
}

/// For each room the rooms that it may know. `cli` may know every crate; tests, benches and fuzz targets too.
fn allowed() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let table: &[(&str, &[&str])] = &[
        ("event", &[]),
        ("spool", &[]),
        ("privacy", &[]),
        ("shell", &[]),
        ("policy-table", &[]),
        ("hook", &["spool", "privacy", "policy-table"]),
        ("agents", &["privacy", "event", "shell"]),
        ("policy", &["event", "shell", "policy-table"]),
        ("prices", &["event"]),
        ("ledger", &["event", "prices"]),
        ("clickhouse", &["event", "ledger"]),
        ("ship", &["event", "ledger", "privacy"]),
        ("team", &["event", "ledger", "clickhouse", "server"]),
        ("intake", &["spool", "privacy", "agents", "ledger", "event"]),
        ("answers", &["spool", "privacy", "agents", "policy", "policy-table", "ledger", "event"]),
        ("alerts", &["ledger", "event"]),
        ("compaction", &["privacy", "agents", "intake", "ledger", "event"]),
        ("context", &["spool", "ledger", "event"]),
        ("backtest", &["policy", "ledger", "event"]),
        (
            "server",
            &["spool", "privacy", "agents", "policy", "backtest", "compaction", "ledger", "event", "shell"],
        ),
    ];
    table.iter().map(|(room, knows)| (*room, knows.iter().copied().collect())).collect()
}

#[test]
fn rooms_know_only_the_rooms_they_may_know() {
    let allowed = allowed();
    let mut wrong = Vec::new();
    for package in workspace()["packages"].as_array().expect("packages") {
        let manifest = package["manifest_path"].as_str().expect("a path");
        if !manifest.contains("/crates/") {
            continue;
        }
        let name = room(package["name"].as_str().expect("a name"));
        if matches!(name, "cli" | "testkit") {
            continue;
        }
        let Some(knows) = allowed.get(name) else {
            wrong.push(format!("`{name}` is not in the table of rooms"));
            continue;
        };
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let other = dependency["name"].as_str().expect("a name");
            // `kind` is null for what ships; tests may use more.
            if other.starts_with("agent-tracer-")
                && dependency["kind"].is_null()
                && !knows.contains(room(other))
            {
                wrong.push(format!("`{name}` must not know `{}`", room(other)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_rooms_of_the_hook_take_nothing_from_outside() {
    for package in workspace()["packages"].as_array().expect("packages") {
        let name = room(package["name"].as_str().expect("a name"));
        if !matches!(name, "spool" | "privacy" | "policy-table") {
            continue;
        }
        let shipped: Vec<&str> = package["dependencies"]
            .as_array()
            .expect("dependencies")
            .iter()
            .filter(|dependency| dependency["kind"].is_null())
            .filter_map(|dependency| dependency["name"].as_str())
            .collect();
        assert!(shipped.is_empty(), "`{name}` is std only but depends on {shipped:?}");
    }
}

fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a readable folder").flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            if !matches!(
                name.as_str(),
                "target" | "node_modules" | "dist" | "fixtures" | ".git" | "generated"
            ) {
                sources(&path, out);
            }
        } else if [".rs", ".ts", ".tsx", ".svelte", ".py"].iter().any(|ending| name.ends_with(ending)) {
            out.push(path);
        }
    }
}

#[test]
fn no_source_file_grows_past_eight_hundred_lines() {
    let mut files = Vec::new();
    sources(&root(), &mut files);
    assert!(files.len() > 10, "the walk found the sources");
    let long: Vec<String> = files
        .iter()
        .map(|path| (path, fs::read_to_string(path).expect("text").lines().count()))
        .filter(|(_, lines)| *lines > 800)
        .map(|(path, lines)| format!("{}: {lines} lines", path.display()))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn every_room_says_what_it_holds() {
    let mut files = Vec::new();
    sources(&root().join("crates"), &mut files);
    let silent: Vec<String> = files
        .iter()
        .filter(|path| path.extension().is_some_and(|ending| ending == "rs"))
        .filter(|path| !fs::read_to_string(path).expect("text").trim_start().starts_with("//!"))
        .map(|path| path.display().to_string())
        .collect();
    assert!(silent.is_empty(), "files without an opening `//!`:\n{}", silent.join("\n"));
}

#[test]
fn the_readme_starts_with_the_two_commands() {
    let readme = fs::read_to_string(root().join("README.md")).expect("README.md");
    let makefile = fs::read_to_string(root().join("Makefile")).expect("Makefile");
    for target in ["run", "test"] {
        assert!(readme.contains(&format!("make {target}")), "README.md does not name `make {target}`");
    }
    for target in ["run", "build", "test", "test-real", "check", "bench", "help"] {
        assert!(
            makefile.lines().any(|line| line.starts_with(&format!("{target}:"))),
            "Makefile has no `{target}`"
        );
    }
}

#[test]
fn the_api_page_names_every_path() {
    let text =
        fs::read_to_string(root().join("crates/server/openapi.json")).expect("the description of the API");
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let page = fs::read_to_string(root().join("docs/api.md")).expect("the page");
    let paths = document["paths"].as_object().expect("paths");
    let missing: Vec<_> = paths.keys().filter(|path| !page.contains(&format!("{path}`"))).collect();
    assert!(missing.is_empty(), "docs/api.md does not name {missing:?}");
}
