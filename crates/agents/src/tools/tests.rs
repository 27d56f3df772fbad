//! Every tool by what comes out for it.

use agent_tracer_event::semantics::{EntityType, Importance, SubtypeKey};
use serde_json::{Value, json};

use super::*;

const PLACE: Place<'_> = Place { cwd: Some("/home/dev/project/src"), project: Some("/home/dev/project") };

fn claude(tool: &str, input: Value) -> Meaning {
    understand(&Call { agent: Agent::CLAUDE_CODE, tool, input: &input, place: PLACE })
}

fn codex(tool: &str, input: Value) -> Meaning {
    understand(&Call { agent: Agent::CODEX, tool, input: &input, place: PLACE })
}

#[test]
fn no_tool_is_in_two_tables() {
    let mut names: Vec<&str> = row::names().collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    for name in names {
        assert_eq!(shell::of(name), None, "{name} is a shell");
        assert_eq!(mcp::parts(name), None, "{name} is of a server");
    }
}

#[test]
fn a_glued_namespace_comes_off_only_in_front_of_an_agent_tool() {
    for (glued, plain) in [
        ("multi_agent_v1wait_agent", "wait_agent"),
        ("multi_agent_v1close_agent", "close_agent"),
        ("multi_agent_v1send_input", "send_input"),
        ("multi_agent_v1resume_agent", "resume_agent"),
        ("collaborationspawn_agent", "spawn_agent"),
        ("collaborationwait_agent", "wait_agent"),
        ("collaborationwait", "wait_agent"),
        ("collaboration.list_agents", "list_agents"),
        ("collaborationx", "collaborationx"),
        ("spawn_agent", "spawn_agent"),
        ("exec_command", "exec_command"),
    ] {
        assert_eq!(agents::without_namespace(glued), plain);
    }
}

#[test]
fn the_two_waits_of_codex_differ_by_their_input() {
    assert_eq!(codex("wait", json!({"cell_id": "1"})).title, "Wait for running code");
    assert_eq!(codex("wait", json!({"targets": ["a"]})).title, "Wait for an agent");
    assert_eq!(codex("collaborationwait_agent", json!({"timeout_ms": 5})).title, "Wait for agents");
}

#[test]
fn a_shell_that_privacy_left_the_program_of_says_only_that() {
    let meaning =
        claude("Bash", json!({"command": {"program": "git", "bytes": 31}, "description": {"bytes": 4}}));
    assert_eq!(meaning.kind, Kind::TerminalCommand);
    assert_eq!(meaning.title, "Run git");
    assert_eq!(meaning.metadata["program"], "git");
    assert_eq!(meaning.metadata["commandBytes"], 31);
    assert_eq!(meaning.metadata.get("commandAnalysis"), None);
    assert_eq!(meaning.semantics.entity, Some((EntityType::Command, "git".to_owned())));
}

#[test]
fn an_unknown_tool_is_an_event_all_the_same() {
    let meaning = claude("Teleport", json!({"to": "moon"}));
    assert!(!meaning.recognised);
    assert_eq!(meaning.kind, Kind::ToolUsed);
    assert_eq!(meaning.title, "Use Teleport");
    assert_eq!(meaning.semantics.subtype, SubtypeKey::Uncategorized);
    assert_eq!(meaning.metadata["toolInput"], json!({"to": "moon"}));
    assert_eq!(claude("", Value::Null).title, "Use a tool");
}

#[test]
fn a_deletion_by_patch_is_critical() {
    let patch = "*** Begin Patch\n*** Delete File: a.rs\n*** End Patch";
    let meaning = codex("apply_patch", json!({"command": patch}));
    assert_eq!(meaning.semantics.importance, Importance::Critical);
    assert_eq!(meaning.file_paths, ["/home/dev/project/src/a.rs"]);
    assert_eq!(meaning.title, "Delete a.rs");
}
