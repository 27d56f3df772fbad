//! The version of an agent decides what `install` writes, and `doctor` notices when it no longer fits.

use serde_json::json;

use crate::doctor::{SETTINGS, checks, fix, report};
use crate::world::World;

/// Script that the trial of a client runs beyond printing its version: it calls the hook, as the client would.
const CALLS: &str = "echo '{\"session_id\":\"s\",\"transcript_path\":\"\",\"cwd\":\"/\",\
    \"hook_event_name\":\"SessionStart\",\"source\":\"startup\"}' | [W]/bin/agent-tracer-hook claude";

/// Puts a client of this version into a folder of the `PATH`.
fn client(world: &World, path: &str, version: &str, script: &str) {
    world.write(
        path,
        &format!("#!/bin/sh\nif [ \"$1\" = --version ]; then echo '{version}'; exit; fi\n{script}\n"),
    );
    world.set_mode(path, 0o755);
}

fn world_with(agent: &str, version: &str, script: &str) -> World {
    let mut world = World::with_real_hook();
    client(&world, &format!("tools/{agent}"), version, script);
    world.set("PATH", "[W]/tools");
    world
}

fn registered(world: &World) -> usize {
    world.json(SETTINGS).get("hooks").and_then(serde_json::Value::as_object).map_or(0, serde_json::Map::len)
}

#[test]
fn the_version_on_the_path_decides_events_and_form() {
    for (version, count, form) in [
        ("1.0.128 (Claude Code)", 9, "shell"),
        ("2.1.100 (Claude Code)", 26, "shell"),
        ("2.1.197 (Claude Code)", 28, "exec"),
        ("2.1.326 (Claude Code)", 31, "exec"),
        ("0.2.9", 9, "shell"),
        ("no version at all", 9, "shell"),
    ] {
        let world = world_with("claude", version, "");
        world.run(&["install", "claude", "--no-verify"]).ended_with(0);
        assert_eq!(registered(&world), count, "{version}");
        let hook = world.path("bin/agent-tracer-hook").display().to_string();
        let expected = match form {
            "shell" => json!({"type": "command", "command": format!("'{hook}' claude")}),
            _ => json!({"type": "command", "command": hook, "args": ["claude"]}),
        };
        assert_eq!(world.json(SETTINGS)["hooks"]["Stop"][0]["hooks"][0], expected, "{version}");
    }
}

#[test]
fn a_dry_run_says_which_version_was_seen_and_what_is_left_out() {
    let world = world_with("claude", "2.1.250 (Claude Code)", "");
    let answer = world.run(&["install", "claude", "--dry-run"]).ended_with(0);
    assert_eq!(
        answer.stderr,
        "would change `[W]/home/.claude/settings.json`: 29 events registered, status line added; nothing was written\n\
         settings for Claude Code 2.1.250 (`[W]/tools/claude`)\n\
         left out, because this version does not know them: PreModelSwitch, PostModelSwitch\n"
    );
}

#[test]
fn the_oldest_of_several_clients_decides() {
    let mut world = world_with("claude", "2.1.326 (Claude Code)", "");
    client(&world, "more/claude", "2.1.250 (Claude Code)", "");
    world.set("PATH", "[W]/tools:[W]/more");
    let answer = world.run(&["install", "claude", "--no-verify"]).ended_with(0);
    assert_eq!(registered(&world), 29);
    assert!(
        answer.stderr.contains("note: several are installed; the oldest decides, 2.1.250\n"),
        "{}",
        answer.stderr
    );
}

#[test]
fn without_a_client_the_safe_set_is_chosen_and_said() {
    let world = World::new();
    let answer = world.run(&["install", "claude"]).ended_with(0);
    assert_eq!(registered(&world), 9);
    assert!(
        answer.stderr.contains(
            "note: `claude` is not on the `PATH`, so the settings use the form that every version accepts\n\
             hint: run `agent-tracer install claude` again once it is there, or give `--client-version`\n"
        ),
        "{}",
        answer.stderr
    );
}

#[test]
fn shared_settings_are_for_every_version_unless_one_is_given() {
    let world = world_with("claude", "2.1.326 (Claude Code)", "");
    let count = |world: &World| {
        world.json("project/.claude/settings.json")["hooks"].as_object().expect("hooks").len()
    };
    let answer = world.run(&["install", "claude", "--scope", "project", "--no-verify"]).ended_with(0);
    assert!(answer.stderr.contains("note: these settings are shared"), "{}", answer.stderr);
    assert_eq!(count(&world), 9);
    let shared = report(&world, &[]);
    assert_eq!(checks(&shared, "hooks")[0].split(' ').nth(1), Some("ok"), "{shared:#}");
    world
        .run(&["install", "claude", "--scope", "project", "--no-verify", "--client-version", "2.1.326"])
        .ended_with(0);
    assert_eq!(count(&world), 31);
}

#[test]
fn what_is_no_version_and_what_no_version_knows_is_refused() {
    let world = World::new();
    let answer = world.run(&["install", "claude", "--client-version", "newest"]).ended_with(2);
    assert_eq!(
        answer.stderr,
        "error: invalid version `newest` of Claude Code\nhint: write three numbers, as `claude --version` prints them\n"
    );
    let answer = world
        .run(&["install", "claude", "--client-version", "2.1.100", "--events", "PostToolBatch"])
        .ended_with(2);
    assert!(
        answer.stderr.starts_with("error: Claude Code 2.1.100 does not know PostToolBatch\n"),
        "{}",
        answer.stderr
    );
    assert!(!world.exists(SETTINGS));
}

#[test]
fn an_upgrade_and_a_downgrade_are_noticed_by_doctor() {
    let world = world_with("claude", "2.1.326 (Claude Code)", "");
    world.run(&["install", "claude", "--no-verify"]).ended_with(0);
    let well = report(&world, &[]);
    assert_eq!(checks(&well, "client_events"), [""; 0]);
    assert_eq!(checks(&well, "client_form"), [""; 0]);

    client(&world, "tools/claude", "2.1.250 (Claude Code)", "");
    let warned = report(&world, &[]);
    assert_eq!(
        checks(&warned, "client_events"),
        [
            "claude warn Claude Code 2.1.250 shows a warning at each start because it does not know PreModelSwitch, PostModelSwitch"
        ]
    );
    assert_eq!(fix(&warned, "client_events"), "agent-tracer install claude");

    client(&world, "tools/claude", "2.1.100 (Claude Code)", "");
    let harmed = report(&world, &[]);
    assert!(
        checks(&harmed, "client_events")[0].starts_with(
            "claude fail Claude Code 2.1.100 ignores all of `[W]/home/.claude/settings.json` because it does not know "
        ),
        "{harmed:#}"
    );
    assert!(
        checks(&harmed, "client_form")[0].starts_with("claude fail Claude Code 2.1.100 does not pass `args`")
    );

    world.run(&["install", "claude", "--no-verify"]).ended_with(0);
    let mended = report(&world, &[]);
    assert_eq!(checks(&mended, "client_events"), [""; 0]);
    assert_eq!(checks(&mended, "client_form"), [""; 0]);
    assert_eq!(checks(&mended, "form"), [""; 0], "the form of an older version is no older form");

    client(&world, "tools/claude", "2.1.326 (Claude Code)", "");
    let upgraded = report(&world, &[]);
    assert!(checks(&upgraded, "hooks")[0].starts_with("claude warn 26 of 31 events"), "{upgraded:#}");
    assert_eq!(fix(&upgraded, "hooks"), "agent-tracer install claude");
    assert_eq!(
        checks(&upgraded, "client_form"),
        ["claude info each event starts a shell, which Claude Code 2.1.326 does not need"]
    );
}

#[test]
fn a_client_that_calls_the_hook_proves_it_and_leaves_nothing_in_the_home() {
    let mut world = world_with("claude", "2.1.326 (Claude Code)", "");
    // What the client sees is written down: nothing of the user's may be in it.
    client(&world, "tools/claude", "2.1.326 (Claude Code)", &format!("export -p > [W]/seen\n{CALLS}"));
    world.set("A_SECRET_OF_THE_USERS", "1");
    world.write(
        SETTINGS,
        r#"{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "mine"}]}]}}"#,
    );
    let answer = world.run(&["install", "claude"]).ended_with(0);
    assert!(
        answer.stderr.contains("verified: Claude Code 2.1.326 called the hook (SessionStart)\n"),
        "{}",
        answer.stderr
    );
    assert_eq!(world.names("home/.local/share/agent-tracer/spool/new"), [""; 0]);
    assert_eq!(world.names("home/.claude"), ["settings.json"]);
    let seen = world.read("seen");
    assert!(
        !seen.contains("A_SECRET_OF_THE_USERS") && seen.contains("ANTHROPIC_BASE_URL='http://127.0.0.1:"),
        "{seen}"
    );
    assert!(seen.contains("HTTPS_PROXY='http://127.0.0.1:"), "{seen}");

    let verified = report(&world, &["--verify"]);
    assert_eq!(
        checks(&verified, "client_calls"),
        ["claude ok Claude Code 2.1.326 called the hook (SessionStart)"]
    );
}

#[test]
fn a_client_that_does_not_call_the_hook_is_said_plainly() {
    let world = world_with("claude", "2.1.326 (Claude Code)", "echo 'hooks are off here'");
    let answer = world.run(&["install", "claude"]).ended_with(0);
    assert!(
        answer.stderr.contains(
            "warning: Claude Code 2.1.326 was started and did not call the hook; it printed `hooks are off here`\n"
        ),
        "{}",
        answer.stderr
    );
    let verified = report(&world, &["--verify"]);
    assert!(checks(&verified, "client_calls")[0].starts_with("claude fail "), "{verified:#}");

    client(&world, "tools/claude", "nothing to read", "");
    let answer = world.run(&["install", "claude"]).ended_with(0);
    assert!(
        answer.stderr.contains("could not be tried: `[W]/tools/claude` prints no version\n"),
        "{}",
        answer.stderr
    );
}

#[test]
fn a_codex_without_trust_is_not_asked_for_it() {
    let world = world_with("codex", "codex-cli 0.128.0", "");
    world.run(&["install", "codex", "--no-verify"]).ended_with(0);
    let old = report(&world, &[]);
    assert_eq!(checks(&old, "trust"), ["codex ok Codex 0.128.0 runs hooks without asking for your trust"]);
    assert!(
        checks(&old, "client_events")[0]
            .starts_with("codex info Codex 0.128.0 has 6 of the registered events")
    );

    client(&world, "tools/codex", "codex-cli 0.133.0", "");
    let asked = report(&world, &[]);
    assert_eq!(
        checks(&asked, "trust"),
        ["codex fail hooks that you have not trusted yet, so Codex does not run them: all 10"]
    );
}

#[test]
fn hooks_that_verify_rules_are_for_versions_that_are_known_to_take_them() {
    const RULE: &str = "version = 1\n[[rule]]\nname = \"docs\"\non = \"Stop\"\ndecision = \"deny\"\nverify = \"prompt\"\n\
        match.agent = \"claude_code\"\ncondition = \"the docs follow\"\n";
    for (version, is_written) in
        [("2.0.77 (Claude Code)", false), ("no version", false), ("2.1.100", false), ("2.1.326", true)]
    {
        let world = world_with("claude", version, "");
        world.run(&["install", "claude", "--no-verify"]).ended_with(0);
        let before = world.read(SETTINGS);
        world.write("home/.config/agent-tracer/policy.toml", RULE);
        let answer = world.run(&["policy", "apply"]).ended_with(i32::from(!is_written));
        assert_eq!(world.read(SETTINGS) == before, !is_written, "{version}: {}", answer.stderr);
        if !is_written {
            assert!(
                answer.stderr.contains("verify `docs`") && answer.stderr.contains("hint: "),
                "{}",
                answer.stderr
            );
        }
    }
}

#[test]
fn hooks_that_verify_rules_go_when_the_client_is_exchanged_for_an_older_one() {
    const RULE: &str = "version = 1\n[[rule]]\nname = \"docs\"\non = \"Stop\"\ndecision = \"deny\"\nverify = \"agent\"\n\
        match.agent = \"claude_code\"\ncondition = \"the docs follow\"\n";
    let world = world_with("claude", "2.1.326", "");
    world.run(&["install", "claude", "--no-verify"]).ended_with(0);
    let before = world.read(SETTINGS);
    world.write("home/.config/agent-tracer/policy.toml", RULE);
    world.run(&["policy", "apply"]).ended_with(0);
    client(&world, "tools/claude", "2.1.100", "");
    let doctor = report(&world, &[]);
    assert!(checks(&doctor, "client_verifiers")[0].starts_with("claude fail "), "{doctor:#}");
    assert_eq!(fix(&doctor, "client_verifiers"), "agent-tracer policy apply");
    world.run(&["policy", "apply"]).ended_with(1);
    assert_eq!(world.read(SETTINGS), before);
}
