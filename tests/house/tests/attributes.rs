//! Metadata keys are written through the constants of `event::attributes`.
//!
//! Law: no code outside the registry spells a declared key. Agents and HTTP spell some of their own members the same way;
//! those are listed by room, with the reason.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Rooms that do not know the registry: they run before it, or write what agents write.
const OUTSIDE: &[&str] =
    &["crates/event/src/attributes", "crates/hook", "crates/privacy", "crates/shell", "crates/testkit"];

/// Members that others spell like a declared key, by room.
const FOREIGN: &[(&str, &str, &[&str])] = &[
    (
        "crates/agents",
        "members of hooks, results, transcripts and telemetry, as the agents spell them, and of the analysis of a command",
        &[
            "activeForm",
            "agentId",
            "agentName",
            "agentType",
            "aiTitle",
            "backgroundTaskId",
            "commandName",
            "cumulativeDroppedTokens",
            "customTitle",
            "delaySeconds",
            "discardedCommits",
            "discardedFiles",
            "durationMs",
            "errorClass",
            "eventName",
            "exitCode",
            "filePath",
            "forkedFrom",
            "hasUnknownModelCost",
            "hookRunId",
            "isAsync",
            "isBuiltIn",
            "isError",
            "linesAdded",
            "linesRemoved",
            "maxRetries",
            "originalBranch",
            "originalCwd",
            "outputBytes",
            "permissionMode",
            "postTokens",
            "preTokens",
            "preventedContinuation",
            "promptOrigin",
            "readOnlyHint",
            "requestId",
            "requestShape",
            "retryAttempt",
            "retryInMs",
            "spawnedAgentType",
            "taskKind",
            "teamName",
            "timeoutMs",
            "toolUseId",
            "totalDurationMs",
            "totalToolUseCount",
            "webSearchRequests",
            "worktreeBranch",
            "worktreeName",
            "worktreePath",
        ],
    ),
    (
        "crates/fleet",
        "fields of a shipped record and of the analysis of a command",
        &["agentType", "clientVersion", "commandName", "gitBranch"],
    ),
    (
        "crates/ledger",
        "fields of a fact and of the analysis of a command",
        &["agentId", "agentType", "commandName", "toolName", "toolUseId"],
    ),
    (
        "crates/policy",
        "members of answers to hooks and of the inputs of tools",
        &["filePath", "permissionDecision", "stopReason"],
    ),
    (
        "crates/server",
        "members and parameters of HTTP calls",
        &["agentType", "lastAssistantMessage", "parentEventId", "toolInput"],
    ),
];

/// Returns the keys that the registry declares.
fn declared(root: &Path) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    for entry in fs::read_dir(root.join("crates/event/src/attributes")).expect("the registry").flatten() {
        let text = fs::read_to_string(entry.path()).expect("text");
        for line in text.lines() {
            let Some((name, rest)) = line.trim().split_once(" = \"") else { continue };
            let is_constant =
                name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
            if let (true, Some((key, _))) = (is_constant, rest.split_once("\":")) {
                keys.insert(key.to_owned());
            }
        }
    }
    keys
}

/// Returns the text before the tests of a file.
fn code(text: &str) -> &str {
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find("#[cfg(test)]\n")).map(|at| from + at) {
        let item = text.get(at..).and_then(|rest| rest.lines().nth(1)).unwrap_or_default();
        if item.contains("mod ") && item.ends_with('{') {
            return text.get(..at).unwrap_or_default();
        }
        from = at + 1;
    }
    text
}

/// Returns the string literals of a line, each with the text before it. Byte strings are wire names and do not count.
fn literals(line: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = 0;
    while let Some(start) = line.get(rest..).and_then(|text| text.find('"')).map(|at| rest + at) {
        let Some(end) = line.get(start + 1..).and_then(|text| text.find('"')).map(|at| start + 1 + at) else {
            break;
        };
        let before = line.get(..start).unwrap_or_default();
        if !before.ends_with(['b', '\\', '#']) {
            found.push((before, line.get(start + 1..end).unwrap_or_default()));
        }
        rest = end + 1;
    }
    found
}

/// Calls on metadata whose first argument is a key.
const CALLS: &[&str] =
    &["get(", "get_mut(", "insert(", "remove(", "shift_remove(", "contains_key(", "entry("];

#[test]
fn metadata_keys_are_written_through_the_registry() {
    let root = super::root();
    let keys = declared(&root);
    assert!(keys.len() > 300, "the registry declares {} keys", keys.len());
    let mut files = Vec::new();
    super::sources(&root.join("crates"), &mut files);
    let mut wrong = Vec::new();
    let mut unused: BTreeSet<(&str, &str)> =
        FOREIGN.iter().flat_map(|(room, _, members)| members.iter().map(|member| (*room, *member))).collect();
    for path in files.iter().filter(|path| path.extension().is_some_and(|ending| ending == "rs")) {
        let inside = path.strip_prefix(&root).expect("a file of the tree").to_string_lossy().into_owned();
        let is_test = inside.contains("/tests/") || inside.ends_with("tests.rs") || !inside.contains("/src/");
        if is_test || OUTSIDE.iter().any(|room| inside.starts_with(room)) {
            continue;
        }
        let text = fs::read_to_string(path).expect("text");
        for (number, line) in code(&text).lines().enumerate() {
            if line.trim_start().starts_with("//") {
                continue;
            }
            for (before, literal) in literals(line).into_iter().filter(|(_, literal)| keys.contains(*literal))
            {
                let on_metadata = CALLS.iter().any(|call| before.ends_with(&format!("metadata.{call}")));
                // A key of one plain word, such as `title`, is too common to be refused elsewhere.
                let is_plain = !literal.bytes().any(|byte| byte.is_ascii_uppercase());
                let room = FOREIGN
                    .iter()
                    .find(|(room, _, members)| inside.starts_with(room) && members.contains(&literal));
                if let Some((room, _, members)) = room {
                    let member = members.iter().find(|member| **member == literal).expect("just found");
                    unused.remove(&(*room, *member));
                }
                if on_metadata || !is_plain && room.is_none() {
                    wrong.push(format!("{inside}:{}: `{literal}`", number + 1));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "literals of declared metadata keys\n{}\nhint: use the constant of `agent_tracer_event::attributes`",
        wrong.join("\n")
    );
    assert!(unused.is_empty(), "members that nothing spells any more: {unused:?}");
}
