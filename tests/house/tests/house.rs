//! The house keeps its own rules.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

mod agents;
mod attributes;
mod comments;
mod dependencies;
mod generated;
mod summaries;
mod variables;
mod version;
mod words;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace has a root")
}

fn workspace() -> Value {
    metadata(&["--no-deps"])
}

/// Returns what cargo knows of the packages, with these arguments.
fn metadata(arguments: &[&str]) -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline"])
        .args(arguments)
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
        ("agent", &[]),
        ("event", &["agent"]),
        ("spool", &["agent"]),
        ("privacy", &["agent"]),
        ("shell", &["event"]),
        ("policy-abi", &["agent"]),
        ("hook", &["agent", "spool", "privacy", "policy-abi"]),
        ("agents", &["agent", "privacy", "event", "shell"]),
        ("prices", &["event"]),
        ("ledger", &["event", "prices"]),
        ("policy", &["event", "shell", "policy-abi", "spool", "privacy", "agents", "ledger"]),
        ("intake", &["spool", "privacy", "agents", "ledger", "event"]),
        ("jobs", &["spool", "privacy", "agents", "intake", "ledger", "event"]),
        // `spool` and `intake` are what the server describes: dead letters and settings are theirs, and a copy of
        // their types here was one more place to change.
        ("server", &["spool", "privacy", "agents", "intake", "policy", "jobs", "ledger", "event"]),
        ("fleet", &["privacy", "event", "ledger", "server"]),
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
        let shipped = |room_name: &&&str| {
            package["dependencies"].as_array().expect("dependencies").iter().any(|dependency| {
                dependency["kind"].is_null() && dependency["name"].as_str().map(room) == Some(**room_name)
            })
        };
        for unused in knows.iter().filter(|room_name| !shipped(room_name)) {
            wrong.push(format!("`{name}` may know `{unused}` but does not: take it out of the table"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_rooms_of_the_hook_take_nothing_from_outside() {
    for package in workspace()["packages"].as_array().expect("packages") {
        let name = room(package["name"].as_str().expect("a name"));
        if !matches!(name, "agent" | "spool" | "privacy" | "policy-abi") {
            continue;
        }
        // `agent` has one that is optional: `serde`, which `event` turns on and no room of the hook.
        let shipped: Vec<&str> = package["dependencies"]
            .as_array()
            .expect("dependencies")
            .iter()
            .filter(|dependency| dependency["kind"].is_null() && dependency["optional"] == false)
            .filter_map(|dependency| dependency["name"].as_str())
            .filter(|dependency| *dependency != "agent-tracer-agent")
            .collect();
        assert!(shipped.is_empty(), "`{name}` is std only but depends on {shipped:?}");
        let features: Vec<&Value> = package["dependencies"]
            .as_array()
            .expect("dependencies")
            .iter()
            .filter(|dependency| dependency["kind"].is_null() && dependency["name"] == "agent-tracer-agent")
            .flat_map(|dependency| dependency["features"].as_array().expect("features"))
            .collect();
        assert!(features.is_empty(), "`{name}` turns on {features:?} of the table of agents");
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

/// Modules of `policy` that meet the disk, the clock or threads. Everything else there is values.
const POLICY_DRIVERS: [&str; 2] = ["daemon", "backtest"];

#[test]
fn deciding_by_rules_has_no_clock_no_disk_and_no_thread() {
    let folder = root().join("crates/policy/src");
    let mut files = Vec::new();
    sources(&folder, &mut files);
    let mut wrong = Vec::new();
    for path in files {
        let inside = path.strip_prefix(&folder).expect("a file of the folder");
        if POLICY_DRIVERS.iter().any(|driver| inside.starts_with(driver)) {
            continue;
        }
        let text = fs::read_to_string(&path).expect("text");
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let drivers = ["std::fs", "std::thread", "SystemTime", "Instant::", "std::net", "std::process"];
        // Evidence is made of the ledger's values, and queries a store that its caller hands over.
        let is_over_ledger = inside == Path::new("evidence.rs");
        let is_wrong = |line: &str| {
            drivers.iter().any(|driver| line.contains(driver))
                || !is_over_ledger && line.contains("agent_tracer_ledger")
        };
        for line in code.filter(|line| is_wrong(line)) {
            wrong.push(format!("{}: {}", inside.display(), line.trim()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Files of tests that no `mod` line names are never compiled, and so never fail.
#[test]
fn every_test_file_is_compiled() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for entry in fs::read_dir(root().join("crates")).expect("crates").flatten() {
        let tests = entry.path().join("tests");
        let mut files = Vec::new();
        if tests.is_dir() {
            sources(&tests, &mut files);
        }
        for path in files.iter().filter(|path| path.extension().is_some_and(|ending| ending == "rs")) {
            let folder = path.parent().expect("a folder");
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let (module, parents) = if name == "main" {
                continue;
            } else if name == "mod" {
                let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
                (name, parents_of(folder.parent().expect("a folder")))
            } else {
                (name, parents_of(folder))
            };
            seen += 1;
            let line = format!("mod {module};");
            let named = parents.iter().any(|parent| {
                fs::read_to_string(parent).is_ok_and(|text| text.lines().any(|own| own.trim() == line))
            });
            if !named {
                wrong.push(path.display().to_string());
            }
        }
    }
    assert!(seen > 100, "the walk found the tests");
    assert!(wrong.is_empty(), "files of tests that no `mod` line names:\n{}", wrong.join("\n"));
}

/// Returns the files that may declare the modules of a folder.
fn parents_of(folder: &Path) -> [PathBuf; 3] {
    [folder.join("main.rs"), folder.join("mod.rs"), folder.with_extension("rs")]
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

#[test]
fn the_index_of_the_docs_names_every_page() {
    let index = fs::read_to_string(root().join("docs/README.md")).expect("docs/README.md");
    let missing: Vec<String> = fs::read_dir(root().join("docs"))
        .expect("docs")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".md") && name != "README.md")
        .filter(|name| !index.contains(&format!("({name})")))
        .collect();
    assert!(missing.is_empty(), "docs/README.md does not link {missing:?}");
}

#[test]
fn links_between_pages_lead_to_files() {
    let mut pages = Vec::new();
    words::collect(&root(), &mut pages);
    let mut broken = Vec::new();
    for page in pages.iter().filter(|path| path.extension().is_some_and(|ending| ending == "md")) {
        let text = fs::read_to_string(page).expect("text");
        let folder = page.parent().expect("a folder");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
            let inside = !link.is_empty() && !link.contains("://") && !link.contains([' ', '`', '$']);
            if inside && !folder.join(link).exists() {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
}

/// Returns the candidates for each path in backticks on a line: the path itself, and below each folder on that line.
fn paths_of(line: &str) -> Vec<Vec<String>> {
    let names: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
    let folders: Vec<&str> = names.iter().copied().filter(|name| name.ends_with('/')).collect();
    let endings = [".rs", ".csv", ".svelte", ".sql", ".ts"];
    names
        .iter()
        .filter(|name| !name.contains([' ', '*', '<', '{']))
        .filter(|name| name.starts_with("crates/") || endings.iter().any(|ending| name.ends_with(ending)))
        .map(|name| {
            let inside = folders.iter().map(|folder| format!("{folder}{name}"));
            std::iter::once((*name).to_owned()).chain(inside).collect()
        })
        .collect()
}

#[test]
fn the_map_names_files_that_exist() {
    let page = fs::read_to_string(root().join("docs/ARCHITECTURE.md")).expect("the page");
    let mut seen = 0;
    let mut missing = Vec::new();
    for places in page.lines().flat_map(paths_of) {
        seen += 1;
        if !places.iter().any(|place| root().join(place).exists()) {
            missing.extend(places.into_iter().next());
        }
    }
    assert!(seen > 40, "the page names files");
    assert!(
        missing.is_empty(),
        "docs/ARCHITECTURE.md names {missing:?}\nhint: name the file that has taken over"
    );
}

#[test]
fn the_index_of_decisions_names_every_decision() {
    let index = fs::read_to_string(root().join("docs/adr/README.md")).expect("the index");
    let missing: Vec<String> = fs::read_dir(root().join("docs/adr"))
        .expect("docs/adr")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name != "README.md" && !index.contains(&format!("({name})")))
        .collect();
    assert!(missing.is_empty(), "docs/adr/README.md does not link {missing:?}");
}

#[test]
fn the_map_has_the_arrows_of_the_table() {
    let page = fs::read_to_string(root().join("docs/ARCHITECTURE.md")).expect("the page");
    let allowed = allowed();
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for line in page.lines() {
        let cells: Vec<&str> = line.split(" | ").collect();
        let (Some(first), Some(last), 3) = (cells.first(), cells.last(), cells.len()) else { continue };
        let Some(name) = first.strip_prefix("| `crates/").and_then(|rest| rest.strip_suffix('`')) else {
            continue;
        };
        let Some(knows) = allowed.get(name) else { continue };
        seen.insert(name);
        let drawn: BTreeSet<&str> =
            last.trim_end_matches(" |").split(", ").filter(|room| !matches!(*room, "std" | "–")).collect();
        if drawn != *knows {
            wrong.push(format!("`{name}`: the page draws {drawn:?}, the table has {knows:?}"));
        }
    }
    assert_eq!(seen, allowed.keys().copied().collect(), "every room has a row in docs/ARCHITECTURE.md");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
