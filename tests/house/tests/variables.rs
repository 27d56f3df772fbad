//! Environment variables: what the sources name and what the registry lists are the same.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use super::{root, sources};

/// The registry.
const REGISTRY: &str = "crates/cli/src/variables.rs";

/// Names of ours that no program reads from its environment, and why.
const NOT_READ: &[(&str, &str)] = &[
    ("AGENT_TRACER_VERSION", "given by the build script to the compiler"),
    ("AGENT_TRACER_TEST_KILLED_AT", "given by a test to itself"),
];

/// Returns every name that begins with our prefix.
fn names(text: &str) -> BTreeSet<String> {
    let parts = text.split("AGENT_TRACER_").skip(1);
    let ends = |letter: char| !letter.is_ascii_uppercase() && !letter.is_ascii_digit() && letter != '_';
    let rests = parts.filter_map(|part| part.split(ends).next()).filter(|rest| !rest.is_empty());
    rests.map(|rest| format!("AGENT_TRACER_{rest}")).collect()
}

/// Returns the files of the programs that are given away.
fn files() -> Vec<PathBuf> {
    let mut files = vec![root().join("install.sh")];
    for entry in fs::read_dir(root().join("crates")).expect("crates").flatten() {
        sources(&entry.path().join("src"), &mut files);
        files.extend(Some(entry.path().join("build.rs")).filter(|path| path.exists()));
    }
    files.retain(|path| !path.ends_with(REGISTRY));
    files
}

#[test]
fn the_registry_lists_every_variable_that_is_read_and_no_other() {
    let registry = names(&fs::read_to_string(root().join(REGISTRY)).expect("the registry"));
    let files = files();
    assert!(files.len() > 500, "the walk found the sources");
    let mut read: BTreeSet<String> =
        files.iter().flat_map(|path| names(&fs::read_to_string(path).expect("text"))).collect();
    for (name, why) in NOT_READ {
        assert!(read.remove(*name), "`{name}` ({why}) is gone: take it out of the list");
    }
    let missing: Vec<_> = read.difference(&registry).collect();
    let idle: Vec<_> = registry.difference(&read).collect();
    assert!(missing.is_empty(), "not in {REGISTRY}: {missing:?}\nhint: add a row with its effect");
    assert!(idle.is_empty(), "in {REGISTRY}, but read nowhere: {idle:?}");
}
