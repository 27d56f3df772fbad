//! The commands that the real clients sent, as they were captured.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use agent_tracer_shell::{Confidence, Context, describe};
use serde_json::Value;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a readable folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "json" || ending == "jsonl") {
            found.push(path);
        }
    }
}

/// Every `command` of a shell call anywhere in a value: hook payloads and transcripts name it differently.
fn commands(value: &Value, found: &mut BTreeSet<String>) {
    let text = |keys: &[&str]| keys.iter().find_map(|key| value.get(key)?.as_str());
    let is_shell = matches!(text(&["tool_name", "name"]), Some("Bash" | "PowerShell"));
    let input = ["tool_input", "input"].iter().find_map(|key| value.get(key));
    if is_shell && let Some(command) = input.and_then(|input| input.get("command")?.as_str()) {
        found.insert(command.to_owned());
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| commands(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| commands(field, found)),
        _ => {}
    }
}

#[test]
fn captured_commands_are_understood() {
    let mut paths = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures"), &mut paths);
    let mut found = BTreeSet::new();
    for path in paths {
        for line in fs::read_to_string(&path).expect("a readable fixture").lines() {
            if let Ok(value) = serde_json::from_str::<Value>(line) {
                commands(&value, &mut found);
            }
        }
    }
    assert!(found.len() >= 20, "the walk found {} commands", found.len());
    let mut unsure = Vec::new();
    for command in &found {
        let call = describe(command, &Context::default());
        assert!(!call.analysis.steps.is_empty(), "{command}");
        assert_eq!(call.analysis.raw, *command);
        if call.analysis.confidence < Confidence::High {
            unsure.push(command);
        }
    }
    // A capture may run a program that is in no table; most must be understood.
    assert!(
        unsure.len() * 10 <= found.len(),
        "{} of {} are not understood: {unsure:?}",
        unsure.len(),
        found.len()
    );
}
