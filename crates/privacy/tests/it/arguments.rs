//! Long texts, patches and rarer names: the rules where they are easy to slip past.

use serde_json::{Value, json};

use crate::fixtures::{claude, codex};

fn called(tool: &str, arguments: Value) -> Value {
    codex(&json!({"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": arguments}))["tool_input"]
        .clone()
}

#[test]
fn of_long_texts_in_arguments_only_commands_and_prompts_stay() {
    let long = "a long text ".repeat(200);
    for name in ["description", "message", "title", "plan", "explanation", "subject", "question"] {
        let kept = called("mcp__x__y", json!({name: long}));
        assert_eq!(kept[name]["bytes"], json!(long.len()), "{name}");
        let short = json!({name: "a short text"});
        assert_eq!(called("mcp__x__y", short.clone()), short);
    }
    for (tool, name) in [
        ("spawn_agent", "message"),
        ("send_input", "message"),
        ("Bash", "command"),
        ("Task", "prompt"),
        ("SendMessage", "message"),
    ] {
        assert_eq!(called(tool, json!({name: long}))[name], json!(long), "{tool}");
    }
}

#[test]
fn a_patch_is_recognised_at_any_start_and_in_any_argument() {
    let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n-canary\n+canary\n*** End Patch\n";
    for text in [
        patch.to_owned(),
        format!("apply_patch <<'EOF'\n{patch}EOF"),
        format!("\u{feff}{patch}"),
        format!("\n  some garbage\r\n{patch}"),
        format!("x\u{1}\n{patch}"),
    ] {
        for (tool, arguments) in [
            ("Bash", json!({"command": text})),
            ("apply_patch", json!({"input": text})),
            ("Edit", json!({"command": text, "file_path": "x"})),
            ("apply_patch", json!(text)),
            ("x", json!({"patch": text})),
        ] {
            let kept = called(tool, arguments).to_string();
            assert!(
                !kept.contains("canary") && kept.contains("*** Update File: a.rs"),
                "{tool} {text:?}: {kept}"
            );
        }
    }
    let odd = called("apply_patch", json!({"command": "@@ canary"})).to_string();
    assert!(!odd.contains("canary"), "{odd}");
    let plain = json!({"command": "echo '***' and no patch"});
    assert_eq!(called("Bash", plain.clone()), plain);
}

#[test]
fn the_last_message_of_an_agent_without_a_type_is_only_measured() {
    for agent in [json!(null), json!(""), json!(" \t")] {
        let kept = claude(
            &json!({"hook_event_name": "SubagentStop", "last_assistant_message": "a summary", "agent_type": agent}),
        );
        assert_eq!(kept["last_assistant_message"], json!({"bytes": 9}), "{agent}");
    }
    let kept = claude(&json!({"hook_event_name": "SubagentStop", "last_assistant_message": "a summary"}));
    assert_eq!(kept["last_assistant_message"], "a summary");
}

#[test]
fn results_are_known_in_every_spelling_of_their_name() {
    for name in [
        "Tool_Response",
        "toolResponse",
        "TOOL-RESPONSE",
        "tool_results",
        "response",
        "structuredContent",
        "structured_content",
        "aggregated_output",
        "StdOut",
    ] {
        let kept = claude(&json!({name: "canary", "deep": {name: ["canary"]}}));
        assert_eq!(kept[name], json!({"outputBytes": 6}), "{name}");
        assert!(!kept.to_string().contains("canary"), "{name}");
        assert_eq!(called("x", json!({name: "kept"}))[name], "kept", "arguments are no results");
    }
    for tag in ["Result", "RESULTS", "results"] {
        let prompt = format!("<task-notification>\n<{tag}>canary</{tag}>\n</task-notification>");
        let kept = claude(&json!({"prompt": prompt})).to_string();
        assert!(!kept.contains("canary") && kept.contains("[6 bytes]"), "{kept}");
    }
}

#[test]
fn the_first_line_of_anything_like_a_shell_does_not_stay() {
    for tool in [
        "sh",
        "zsh",
        "pwsh",
        "cmd",
        "REPL",
        "mcp__host__ssh",
        "mcp__x__repl",
        "mcp__a__sh",
        "remote_shell",
        "exec",
    ] {
        let payload =
            json!({"hook_event_name": "PostToolUseFailure", "tool_name": tool, "error": "some output"});
        assert_eq!(claude(&payload)["error"].get("firstLine"), None, "{tool}");
    }
}

#[test]
fn every_directory_that_a_payload_names_counts_for_exclusion() {
    let (config, _) = agent_tracer_privacy::Config::parse(b"exclude /srv/secret\n");
    for text in [
        r#"{"cwd":"/srv/secret","cwd":"/srv/open"}"#,
        r#"{"cwd":"/srv/open","cwd":"/srv/x/../secret"}"#,
        r#"{"cwd":"/srv/open","new_cwd":"/srv/secret/a"}"#,
        r#"{"workspace":{"current_dir":"/srv/secret","project_dir":"/srv/open"}}"#,
        r#"{"workspace":{"current_dir":"/srv/open","project_dir":"/srv/secret"}}"#,
    ] {
        let source = agent_tracer_privacy::Source::StatusLine;
        let kept =
            agent_tracer_privacy::reduce(text.as_bytes(), source, &config, &mut || [0; 16], &mut Vec::new());
        let named = [kept.cwd, kept.project_dir];
        assert!(named.iter().flatten().any(|path| config.excludes(path, None)), "{text}");
    }
}
