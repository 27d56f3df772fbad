//! Shell tools: what a command does decides what its call means.

use agent_tracer_agents::tools::shell::command_of;
use agent_tracer_event::Agent;
use serde_json::json;

use super::{entity, fixed, meaning};

#[test]
fn the_command_decides_lane_subtype_and_importance() {
    for (command, expected) in [
        ("cargo test -p spool", "terminal.command implementation run_test execution terminal execute normal"),
        (
            "rm -rf target",
            "terminal.command implementation delete_file file_ops terminal delete_file critical",
        ),
        ("grep -rn TODO src", "terminal.command exploration shell_probe shell terminal search minor"),
    ] {
        for (agent, tool) in
            [(Agent::CLAUDE_CODE, "Bash"), (Agent::CODEX, "Bash"), (Agent::CODEX, "shell_command")]
        {
            let meaning = meaning(agent, tool, &json!({"command": command}));
            let said: Vec<String> = fixed(&meaning).split(' ').map(str::to_owned).collect();
            let wanted: Vec<&str> = expected.split(' ').collect();
            // The verb is the other room's word; everything else is ours to hold.
            for (place, (said, wanted)) in
                said.iter().zip(&wanted).enumerate().filter(|(place, _)| *place != 5)
            {
                assert_eq!(said, wanted, "{command}, word {place}");
            }
            assert!(meaning.recognised);
        }
    }
}

#[test]
fn the_analysis_is_kept_under_its_fixed_names() {
    let meaning =
        meaning(Agent::CLAUDE_CODE, "Bash", &json!({"command": "cd web && npm test 2>&1 | tail -20"}));
    let analysis = &meaning.metadata["commandAnalysis"];
    assert_eq!(analysis["raw"], "cd web && npm test 2>&1 | tail -20");
    assert_eq!(analysis["overallEffect"], "execute_check");
    assert_eq!(analysis["failureMasked"], true);
    assert!(analysis["steps"].as_array().is_some_and(|steps| steps.len() == 2), "{analysis:#}");
    for name in ["structure", "confidence", "decisiveStep"] {
        assert!(analysis.get(name).is_some(), "{name}");
    }
    assert_eq!(meaning.title, "Run tests: npm test");
    assert_eq!(entity(&meaning), "command npm");
}

#[test]
fn files_of_a_command_say_what_happens_to_them() {
    let meaning =
        meaning(Agent::CLAUDE_CODE, "Bash", &json!({"command": "cat a.txt > /tmp/b.txt; rm old.txt"}));
    assert_eq!(meaning.file_paths, ["/tmp/b.txt", "/home/dev/project/old.txt", "/home/dev/project/a.txt"]);
    assert_eq!(
        meaning.metadata["fileOperations"],
        json!([
            {"path": "/tmp/b.txt", "operation": "modify"},
            {"path": "/home/dev/project/old.txt", "operation": "delete"},
            {"path": "/home/dev/project/a.txt", "operation": "read"},
        ])
    );
}

#[test]
fn what_else_a_shell_call_keeps() {
    let meaning = meaning(
        Agent::CLAUDE_CODE,
        "Bash",
        &json!({"command": "ls", "description": "List", "timeout": 5000, "run_in_background": true,
                "dangerouslyDisableSandbox": true}),
    );
    assert_eq!(meaning.metadata["description"], "List");
    assert_eq!(meaning.metadata["timeoutMs"], 5000);
    assert_eq!(meaning.metadata["runInBackground"], true);
    assert_eq!(meaning.metadata["sandboxDisabled"], true);
    assert_eq!(meaning.metadata["command"], "ls");
}

#[test]
fn a_command_is_found_in_every_form_that_codex_gives_it() {
    for (tool, input) in [
        ("Bash", json!({"command": "git status"})),
        ("exec_command", json!({"cmd": "git status", "workdir": "/home/dev/project"})),
        ("shell", json!({"command": ["bash", "-lc", "git status"]})),
        ("local_shell", json!({"command": ["/usr/bin/zsh", "-c", "git status"]})),
        ("shell", json!({"command": ["git", "status"]})),
        ("user_shell", json!("git status")),
    ] {
        assert_eq!(meaning(Agent::CODEX, tool, &input).metadata["command"], "git status", "{tool} {input}");
    }
    assert_eq!(command_of(&["echo", "it's", "a b", ""]), "echo 'it'\\''s' 'a b' ''");
}

#[test]
fn a_relative_path_starts_in_the_directory_of_the_call() {
    let meaning = meaning(Agent::CODEX, "exec_command", &json!({"cmd": "cat a.txt", "workdir": "/srv/x"}));
    assert_eq!(meaning.file_paths, ["/srv/x/a.txt"]);
}

#[test]
fn reading_a_skill_through_the_shell_activates_it() {
    let meaning = meaning(Agent::CODEX, "Bash", &json!({"command": "cat .codex/skills/deploy/SKILL.md"}));
    assert_eq!(meaning.metadata["skillName"], "deploy");
    assert_eq!(meaning.metadata["skillActivation"], "read");
}

#[test]
fn powershell_is_read_as_powershell() {
    let meaning =
        meaning(Agent::CLAUDE_CODE, "PowerShell", &json!({"command": "Remove-Item -Recurse C:\\tmp"}));
    assert_eq!(meaning.metadata["commandAnalysis"]["overallEffect"], "destructive");
}

#[test]
fn a_shell_call_without_a_command_is_still_a_command() {
    for input in
        [json!({}), json!(null), json!({"command": ""}), json!({"command": 7}), json!({"nope": 1}), json!([])]
    {
        let meaning = meaning(Agent::CODEX, "Bash", &input);
        assert_eq!(meaning.title, "Run a command", "{input}");
        assert_eq!(
            fixed(&meaning),
            "terminal.command implementation run_command execution terminal execute normal"
        );
    }
}

#[test]
fn a_huge_script_makes_a_bounded_fact() {
    let script =
        format!("cat <<'EOF' > big.txt\n{}\nEOF\n{}", "line\n".repeat(40_000), "echo step\n".repeat(3_000));
    let meaning = meaning(Agent::CLAUDE_CODE, "Bash", &json!({"command": script}));
    let weight = serde_json::to_string(&meaning.metadata).expect("metadata is JSON").len();
    assert!(weight < 400_000, "{weight} bytes of metadata for {} bytes of script", script.len());
    assert!(meaning.title.chars().count() <= 120);
}
