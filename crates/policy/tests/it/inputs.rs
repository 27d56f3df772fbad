//! Inputs of tools: every file, host and command in them counts, wherever it stands, and no limit drops one silently.

use std::collections::BTreeSet;
use std::path::Path;

use agent_tracer_policy::{Call, Outcome};
use serde_json::{Value, json};

use crate::world::{decide, tool};

const UNSEEN: &str = "[[rule]]\nname = \"u\"\non = \"PreToolUse\"\ndecision = \"ask\"\nreason = \"r\"\nmatch.command = { \
                      understood = false }\n";

fn rule(decision: &str, matcher: &str) -> String {
    format!(
        "[[rule]]\nname = \"r\"\non = \"PreToolUse\"\ndecision = \"{decision}\"\nreason = \"r\"\n{matcher}\n"
    )
}

fn allow(matcher: &str) -> String {
    format!("[[rule]]\nname = \"r\"\non = \"PreToolUse\"\ndecision = \"allow\"\n{matcher}\n")
}

fn names(count: usize, last: &str) -> Value {
    (0..count).map(|number| format!("src/{number}")).chain([last.to_owned()]).collect()
}

fn patch(count: usize, last: &str) -> String {
    let files = (0..count).map(|number| format!("src/{number}")).chain([last.to_owned()]);
    let headers: String = files.map(|file| format!("*** Update File: {file}\n@@\n")).collect();
    format!("*** Begin Patch\n{headers}*** End Patch\n")
}

fn nested(levels: usize, inner: Value) -> Value {
    (0..levels).fold(inner, |value, _| json!({ "x": value }))
}

type MakeCall = fn() -> Call;

/// Every limit in the source of this crate, and a call that goes beyond it.
const LIMITS: &[(&str, MakeCall)] = &[
    ("touch::MOST", || tool("mcp__fs__read", json!({ "paths": names(400, ".env") }))),
    ("touch::MOST_LEVELS", || tool("mcp__fs__read", nested(9, json!({ "path": ".env" })))),
    ("touch::MOST_ALTERNATIVES", || {
        let many: Vec<String> = (0..70).map(|number| format!("a{number}")).collect();
        tool("Grep", json!({"pattern": "x", "glob": format!("{{{},.env}}", many.join(","))}))
    }),
    ("command::MOST_COMMANDS", || {
        tool("mcp__x__run", json!({"commands": vec!["ls"; 70], "path": names(400, ".env")}))
    }),
    ("command::MOST_BYTES", || {
        let long = format!("# {}", "x".repeat(600 * 1024));
        tool("mcp__x__run", json!({"commands": ["ls", long], "path": names(400, ".env")}))
    }),
    ("command::MOST_LEVELS", || {
        tool("mcp__x__run", nested(9, json!({"command": "rm -rf x", "path": ".env"})))
    }),
];

fn limits_in(folder: &Path, module: &str, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        let inner = if stem == "mod" { module.to_owned() } else { format!("{module}::{stem}") };
        if path.is_dir() {
            limits_in(&path, &inner, found);
            continue;
        }
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            let line = line.trim_start().trim_start_matches("pub(crate) ").trim_start_matches("pub(super) ");
            let name =
                line.strip_prefix("const ").and_then(|rest| rest.split(':').next()).unwrap_or_default();
            if name.starts_with("MOST") || name.starts_with("MAX_") {
                found.insert(format!("{inner}::{name}").trim_start_matches("::").to_owned());
            }
        }
    }
}

#[test]
fn every_limit_of_the_source_is_in_the_table() {
    let mut found = BTreeSet::new();
    limits_in(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")), "", &mut found);
    let known: BTreeSet<String> = LIMITS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(known, found);
}

#[test]
fn what_lies_beyond_a_limit_is_denied_and_never_allowed() {
    let reads = rule("deny", "match.reads = \".env\"");
    let path = allow("match.path = \"src/**\"");
    for (name, call) in LIMITS {
        assert_eq!(decide(&reads, &call()).outcome, Outcome::Deny, "{name}");
        assert_ne!(decide(&path, &call()).outcome, Outcome::Allow, "{name}");
    }
    for last in ["src/x", ".env"] {
        let files = tool("mcp__fs__read", json!({ "paths": names(400, last) }));
        let patch = tool("apply_patch", json!({ "command": patch(400, last) }));
        for call in [files, patch] {
            assert_eq!(decide(UNSEEN, &call).outcome, Outcome::Ask, "{last}");
            assert_eq!(
                decide(&rule("deny", "match.path = \".env\""), &call).outcome,
                Outcome::Deny,
                "{last}"
            );
            assert_eq!(decide(&allow("match.path = \"src/**\""), &call).outcome, Outcome::Silent, "{last}");
            let kept = rule("deny", "match.writes = \"/**\"\nunless.writes = \"src/**\"");
            assert_eq!(decide(&kept, &call).outcome, Outcome::Deny, "{last}");
        }
    }
    let long = format!("# {}\nrm -rf x", "x".repeat(600 * 1024));
    for commands in [json!(vec!["ls"; 65]), json!(["ls", long])] {
        let call = tool("mcp__x__run", json!({ "commands": commands }));
        assert_eq!(decide(UNSEEN, &call).outcome, Outcome::Ask);
    }
    let twice = tool("apply_patch", json!({"command": patch(1, "src/a"), "input": patch(1, ".env")}));
    assert_eq!(decide(&rule("deny", "match.path = \".env\""), &twice).outcome, Outcome::Deny);
    let few = tool("mcp__fs__read", json!({ "paths": names(399, "src/x") }));
    assert_eq!(decide(&allow("match.path = \"src/**\""), &few).outcome, Outcome::Allow);
    assert_eq!(decide(UNSEEN, &few).outcome, Outcome::Silent);
}

#[test]
fn paths_and_hosts_are_found_wherever_a_server_takes_them() {
    let reads = rule("deny", "match.reads = \".env\"");
    for input in [
        json!({"path": ".env"}),
        json!({"paths": ["a", ".env"]}),
        json!({"files": [{"path": ".env"}]}),
        json!({"file": {"path": ".env"}}),
        json!({"request": {"path": ".env"}}),
        json!({"requests": [{"a": 1}, {"uri": "file:///code/app/.env"}]}),
    ] {
        assert_eq!(decide(&reads, &tool("mcp__fs__read", input.clone())).outcome, Outcome::Deny, "{input}");
    }
    let host = rule("deny", "match.host = \"*\"\nunless.host = \"github.com\"");
    for input in [
        json!({"url": "https://github.com", "uri": "https://evil.example"}),
        json!({"urls": ["https://github.com", "https://evil.example"]}),
        json!({"request": {"url": "https://evil.example"}}),
    ] {
        assert_eq!(decide(&host, &tool("mcp__x__get", input.clone())).outcome, Outcome::Deny, "{input}");
        let good = allow("match.host = \"github.com\"\nmatch.path = \"/**\"");
        assert_eq!(decide(&good, &tool("mcp__x__get", input.clone())).outcome, Outcome::Silent, "{input}");
    }
}

#[test]
fn the_patterns_of_a_search_are_seen_from_its_folder() {
    let reads = rule("deny", "match.reads = \".env\"");
    for glob in [
        "/*",
        "*",
        "*.env",
        "?env",
        "[.]env",
        "**/*",
        "/.env",
        "*.rs .env",
        "*.rs,.env",
        "!*.rs .env",
        "/{a,.env}",
        "!*.rs",
    ] {
        let call = tool("Grep", json!({"pattern": "x", "glob": glob, "output_mode": "content"}));
        assert_eq!(decide(&reads, &call).outcome, Outcome::Deny, "{glob}");
    }
    let call = tool("Grep", json!({"pattern": "x", "glob": "/src/*.rs", "output_mode": "content"}));
    assert_eq!(decide(&reads, &call).outcome, Outcome::Silent);
}

#[test]
fn every_command_of_an_input_is_a_step_and_anything_else_is_not_understood() {
    let text =
        format!("{}{UNSEEN}", rule("deny", "match.command = { effect = \"delete\", recursive = true }"));
    let outcome = |input: Value| decide(&text, &tool("mcp__x__run", input)).outcome;
    for input in [
        json!({"command": "rm -rf victim"}),
        json!({"command": "ls", "cmd": "rm -rf victim"}),
        json!({"command": "ls \\", "cmd": "rm -rf victim"}),
        json!({"command": "cat <<E", "cmd": "rm -rf victim"}),
        json!({"command": "rm() { :; }", "cmd": "rm -rf victim"}),
        json!({"command": "rm", "args": "-rf victim"}),
        json!({"command": "rm", "args": ["-rf"], "arguments": ["victim"]}),
        json!({"command": "rm", "args": ["-rf", 1]}),
        json!({"commandLine": "rm -rf victim"}),
        json!({"command_line": "rm -rf victim"}),
        json!({"commands": ["ls", "rm -rf victim"]}),
        json!({"commands": [["rm", "-rf", "victim"]]}),
        json!({"commands": "rm -rf victim"}),
        json!({"code": "rm -rf victim"}),
        json!({"program": "rm", "args": ["-rf", "victim"]}),
        json!({"executable": "rm", "argv": ["-rf", "victim"]}),
        json!({"argv": ["rm", "-rf", "victim"]}),
        json!({"params": {"command": "rm -rf victim"}}),
        json!({"steps": [{"command": "ls"}, {"command": "rm -rf victim"}]}),
        json!({"shell": "rm -rf victim"}),
        json!({"command": "ls", "command2": "rm -rf victim"}),
        json!({"setupCommand": "rm -rf victim"}),
        json!("rm -rf victim"),
        json!(["rm", "-rf", "victim"]),
    ] {
        assert_eq!(outcome(input.clone()), Outcome::Deny, "{input}");
    }
    for (name, input) in [
        ("local_shell_call", json!({"action": {"command": ["rm", "-rf", "victim"]}})),
        ("mcp__terminal__send", json!({"input": "rm -rf victim\n"})),
        ("mcp__tmux__send_keys", json!({"keys": "rm -rf victim"})),
    ] {
        assert_eq!(decide(&text, &tool(name, input.clone())).outcome, Outcome::Deny, "{name} {input}");
    }
    for input in [
        json!({"command": {"program": "ls"}}),
        json!({"command": 3}),
        json!({"command": ["rm", ["-rf", "victim"]]}),
        json!({"command": "rm", "args": {"a": "-rf victim"}}),
        json!({"commands": [{"x": "rm -rf victim"}]}),
        json!({"code": "ls"}),
        json!({"command": "ls", "shell": "./evil"}),
        json!({"command": ["./evil", "-c", "ls"]}),
        json!({"command": "ls", "env": {"LD_PRELOAD": "./x.so"}}),
        json!({"command": "ls", "environment": ["BASH_ENV=x.sh"]}),
        json!({"command": "ls", "env": "x"}),
    ] {
        assert_eq!(outcome(input.clone()), Outcome::Ask, "{input}");
    }
    for input in [
        json!({"command": "ls"}),
        json!({"command": "ls", "shell": "bash", "timeout": 3}),
        json!({"command": ["bash", "-lc", "ls"]}),
        json!({"command": "ls", "args": [], "env": {}}),
        json!({"query": "x"}),
    ] {
        assert_eq!(outcome(input.clone()), Outcome::Silent, "{input}");
    }
    let ls = allow("match.command = { program = \"ls\" }");
    let decided = |input: Value| decide(&ls, &tool("mcp__x__run", input)).outcome;
    assert_eq!(decided(json!({"command": "ls"})), Outcome::Allow);
    assert_eq!(decided(json!({"command": "ls", "cmd": "touch x"})), Outcome::Silent);
    assert_eq!(decided(json!({"command": "ls", "env": {"FOO": "1"}})), Outcome::Silent);
}

#[test]
fn a_command_is_seen_from_the_folder_in_which_it_starts() {
    let reads = rule("deny", "match.reads = \"/etc/**\"");
    let inside = allow("match.reads = \"src/**\"");
    for key in ["workdir", "cwd", "working_directory", "workingDirectory"] {
        for shell in ["exec_command", "mcp__x__run"] {
            let call = tool(shell, json!({"cmd": "cat passwd", key: "/etc"}));
            assert_eq!(decide(&reads, &call).outcome, Outcome::Deny, "{shell} {key}");
            let call = tool(shell, json!({"cmd": "cat src/a", key: "/tmp"}));
            assert_eq!(decide(&inside, &call).outcome, Outcome::Silent, "{shell} {key}");
        }
    }
    let call = tool("exec_command", json!({"cmd": "cat a", "workdir": "src"}));
    assert_eq!(decide(&inside, &call).outcome, Outcome::Allow);
    let target = rule("deny", "match.command = { target = \"/etc/passwd\" }");
    let call = tool("exec_command", json!({"cmd": "cat passwd", "workdir": "/etc"}));
    assert_eq!(decide(&target, &call).outcome, Outcome::Deny);
}

#[test]
fn a_call_that_leaves_the_sandbox_is_allowed_only_by_a_rule_that_says_so() {
    let ls = allow("match.command = { program = \"ls\" }");
    for (field, value, expected) in [
        ("dangerouslyDisableSandbox", json!(true), Outcome::Silent),
        ("dangerouslyDisableSandbox", json!("yes"), Outcome::Silent),
        ("dangerouslyDisableSandbox", json!(false), Outcome::Allow),
        ("with_escalated_permissions", json!(true), Outcome::Silent),
        ("sandbox_permissions", json!("require_escalated"), Outcome::Silent),
        ("sandbox_permissions", json!("use_default"), Outcome::Allow),
        ("description", json!("x"), Outcome::Allow),
    ] {
        let call = tool("Bash", json!({"command": "ls", field: value}));
        assert_eq!(decide(&ls, &call).outcome, expected, "{field}: {value}");
    }
    let call = tool("Bash", json!({"command": "ls", "dangerouslyDisableSandbox": true}));
    let rewrite = |change: &str| {
        let rule = allow(&format!("match.command = {{ program = \"ls\" }}\n{change}"));
        decide(&rule.replace("\"allow\"", "\"rewrite\""), &call).outcome
    };
    assert_eq!(rewrite("rewrite.remove = [\"dangerouslyDisableSandbox\"]"), Outcome::Rewrite);
    assert_eq!(rewrite("rewrite.set = { timeout = 5 }"), Outcome::Ask);
}
