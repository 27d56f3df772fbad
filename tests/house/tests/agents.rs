//! Agents are named in their folders, in the table of agents, and where this file says why.
//!
//! The allowance counts lines of code and comments that name an agent, without unit tests. It only ever goes down: a line
//! more fails, and an agent that comes adds none.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// Names that only an agent's own folder knows.
const NAMES: [&str; 2] = ["claude", "codex"];

/// Folders that are about one agent, or about none: tests, and the table itself.
const EXEMPT: [&str; 9] = [
    "crates/agent/src",
    "crates/agents/src/claude",
    "crates/agents/src/codex",
    "crates/agents/src/example",
    "crates/cli/src/agents/claude",
    "crates/cli/src/agents/codex",
    "crates/policy/src/clients",
    "crates/testkit/src",
    "crates/prices/examples",
];

/// Rooms that name agents, the most lines that do, and the reason. The longest prefix counts.
const ALLOWED: &[(&str, usize, &str)] = &[
    ("crates/agents/src/", 18, "fields of two agents read alike, and the list of folders"),
    ("crates/cli/src/", 1, "an example in the format of `install.json`"),
    ("crates/cli/src/agents/", 3, "the list of folders"),
    ("crates/cli/src/arguments", 22, "examples in help"),
    ("crates/event/src/", 11, "where a key comes from, in its description"),
    ("crates/ledger/src/", 8, "why a fold or a sum has an exception, and histories of unit tests"),
    ("crates/policy/src/", 9, "examples in descriptions of keys"),
    ("crates/prices/src/", 5, "names of models"),
    ("crates/privacy/src/", 13, "sentences, patches and names of models that clients write"),
    ("crates/server/src/", 14, "where kinds of events come from, and examples in descriptions"),
    ("crates/shell/src/", 1, "programs that a command may start"),
    ("crates/spool/src/", 2, "an example in the format, and the model of tests"),
];

#[test]
fn agents_are_named_where_a_reason_is_given() {
    let root = super::root();
    let mut files: Vec<PathBuf> = Vec::new();
    super::sources(&root.join("crates"), &mut files);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for path in files {
        let inside = path.strip_prefix(&root).expect("a file of the tree").to_string_lossy().into_owned();
        let is_source = inside.contains("/src/") && inside.ends_with(".rs") && !inside.ends_with("/tests.rs");
        if !is_source || EXEMPT.iter().any(|folder| inside.starts_with(&format!("{folder}/"))) {
            continue;
        }
        let lines = naming(&fs::read_to_string(&path).expect("text"));
        if lines == 0 {
            continue;
        }
        let room =
            ALLOWED.iter().filter(|(prefix, ..)| inside.starts_with(prefix)).max_by_key(|room| room.0.len());
        match room {
            Some((prefix, ..)) => *counts.entry(prefix).or_default() += lines,
            None => wrong.push(format!("{inside}: {lines} lines name an agent")),
        }
    }
    for (prefix, most, reason) in ALLOWED {
        let count = counts.get(prefix).copied().unwrap_or(0);
        if count > *most {
            wrong.push(format!("{prefix}: {count} lines name an agent, {most} may ({reason})"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{}\nhint: put it into the agent's folder or its row of crates/agent/src/table.rs",
        wrong.join("\n")
    );
}

/// The dashboard learns from the API which agents there are; its generated types and its tests may name them.
#[test]
fn the_dashboard_names_no_agent() {
    let root = super::root();
    let mut folders = vec![root.join("web/src"), root.join("web/public")];
    let mut wrong = Vec::new();
    let mut read = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the dashboard") {
            let path = entry.expect("an entry").path();
            let inside = path.strip_prefix(&root).expect("a file of the tree").to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if !inside.starts_with("web/src/api/generated/") && !inside.ends_with(".test.ts") {
                read += 1;
                let lines = naming(&fs::read_to_string(&path).expect("text"));
                if lines > 0 {
                    wrong.push(format!("{inside}: {lines} lines name an agent"));
                }
            }
        }
    }
    assert!(read > 100, "only {read} files of the dashboard were found");
    assert!(
        wrong.is_empty(),
        "{}\nhint: ask `agents` of web/src/app/agents.svelte.ts, which has crates/agent/src/table.rs from the API",
        wrong.join("\n")
    );
}

/// Returns how many lines before a file's unit tests name an agent.
fn naming(text: &str) -> usize {
    let lines = text.lines().take_while(|line| line.trim() != "#[cfg(test)]");
    lines
        .filter(|line| {
            let line = line.to_ascii_lowercase();
            NAMES.iter().any(|name| line.contains(name))
        })
        .count()
}
