//! `import`: history into a ledger, with a home of its own.

use std::fs::File;

use serde_json::Value;

use crate::world::World;

const ROWS: &str = concat!(
    r#"{"type":"user","uuid":"u1","sessionId":"5a13","cwd":"/nowhere/shop","timestamp":"2026-11-15T21:10:04.001Z","promptId":"p1","message":{"role":"user","content":"hello"}}"#,
    "\n",
    r#"{"type":"assistant","uuid":"u2","sessionId":"5a13","cwd":"/nowhere/shop","timestamp":"2026-11-15T21:10:05.001Z","message":{"id":"msg_1","role":"assistant","model":"m","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2}}}"#,
    "\n"
);
const ROLLOUT: &str = "rollout-2026-11-15T19-33-11-01a1e0b3-0708-7a91-bca0-aa31b76b9484.jsonl";
const THREAD: &str = concat!(
    r#"{"timestamp":"2026-11-15T21:32:25.250Z","ordinal":0,"type":"session_meta","payload":{"id":"01a1e0b3-0708-7a91-bca0-aa31b76b9484","cwd":"/nowhere/shop","cli_version":"0.166.0"}}"#,
    "\n"
);

fn history() -> World {
    let world = World::without_hook();
    world.write("home/.claude/projects/-nowhere-shop/5a13.jsonl", ROWS);
    world.write(&format!("home/.codex/sessions/2026/11/15/{ROLLOUT}"), THREAD);
    world
}

fn json(world: &World, arguments: &[&str]) -> Value {
    let mut all = vec!["import", "--json"];
    all.extend(arguments);
    serde_json::from_str(&world.run(&all).ended_with(0).stdout).expect("JSON")
}

#[test]
fn the_history_of_both_agents_is_read_once() {
    let world = history();
    let first = world.run(&["import"]).ended_with(0);
    assert!(first.stdout.starts_with("read 2 of 2 files: 3 rows, "), "{}", first.stdout);
    assert_eq!(first.stderr, "");
    let second = json(&world, &[]);
    assert_eq!((&second["filesUnchanged"], &second["rows"]), (&2.into(), &0.into()));
    assert_eq!(world.mode("home/.local/share/agent-tracer/ledger.db"), 0o600);
}

#[test]
fn every_account_is_read_and_doctor_names_them() {
    let mut world = history();
    world.write(
        "home/.claude-work/projects/-nowhere-shop/6b24.jsonl",
        &ROWS.replace("5a13", "6b24").replace("msg_1", "msg_2"),
    );
    world.write("home/.claude-empty/settings.json", "{}");
    assert_eq!(json(&world, &["claude", "--dry-run"])["filesFound"], 2);
    world.set("CLAUDE_CONFIG_DIR", "[W]/accounts/three");
    world.write(
        "accounts/three/projects/-nowhere-shop/7c35.jsonl",
        &ROWS.replace("5a13", "7c35").replace("msg_1", "msg_3"),
    );
    assert_eq!(json(&world, &["claude"])["filesFound"], 3);
    let usage: Value =
        serde_json::from_str(&world.run(&["usage", "--json", "--files"]).ended_with(0).stdout).expect("JSON");
    assert_eq!(usage["total"]["outputTokens"], 6, "{usage:#}");
    let report = crate::doctor::report(&world, &[]);
    let homes = crate::doctor::checks(&report, "homes");
    assert_eq!(
        homes,
        [
            "claude info session files are read in 3 homes: `[W]/accounts/three`, `[W]/home/.claude`, `[W]/home/.claude-work`"
        ]
    );
}

#[test]
fn a_home_that_install_connected_is_read_without_its_variable() {
    let mut world = World::new();
    world.write("home/.claude/projects/-nowhere-shop/5a13.jsonl", ROWS);
    world.write("accounts/three/projects/-nowhere-shop/7c35.jsonl", &ROWS.replace("5a13", "7c35"));
    world.write("accounts/four/projects/-nowhere-shop/8d46.jsonl", &ROWS.replace("5a13", "8d46"));
    let found = |world: &World| json(world, &["claude", "--dry-run"])["filesFound"].clone();
    assert_eq!(found(&world), 1);
    // A project's settings have the name of a user's, and are no home.
    world.write("project/.claude/projects/-nowhere-shop/9e57.jsonl", &ROWS.replace("5a13", "9e57"));
    world.run(&["install", "claude", "--no-verify", "--scope", "project"]).ended_with(0);
    for account in ["three", "four"] {
        world.set("CLAUDE_CONFIG_DIR", &format!("[W]/accounts/{account}"));
        world.run(&["install", "claude", "--no-verify"]).ended_with(0);
    }
    world.set("CLAUDE_CONFIG_DIR", "");
    assert_eq!(found(&world), 3);
    world.set("CLAUDE_CONFIG_DIR", "[W]/accounts/four");
    world.run(&["uninstall", "claude"]).ended_with(0);
    world.set("CLAUDE_CONFIG_DIR", "");
    assert_eq!(found(&world), 2);
}

#[test]
fn a_dry_run_says_what_there_is_and_reads_nothing() {
    let world = history();
    let answer = world.run(&["import", "--dry-run"]).ended_with(0);
    let bytes = ROWS.len() + THREAD.len();
    assert_eq!(answer.stdout, format!("would read 2 of 2 files ({bytes} B); 0 unchanged\n"));
    assert_eq!(json(&world, &["--dry-run"])["filesToRead"], 2);
    assert_eq!(json(&world, &[])["rows"], 3);
}

#[test]
fn one_agent_one_folder_and_a_beginning_may_be_named() {
    let world = history();
    assert_eq!(json(&world, &["codex", "--dry-run"])["filesFound"], 1);
    let elsewhere = World::without_hook();
    elsewhere.write("backup/.claude/projects/x/5a13.jsonl", ROWS);
    elsewhere.write(&format!("loose/{ROLLOUT}"), THREAD);
    let both = ["--path", "[W]/backup/.claude", "--path", "[W]/loose", "--dry-run"];
    assert_eq!(json(&elsewhere, &both)["filesFound"], 2);
    let file = File::open(world.path("home/.claude/projects/-nowhere-shop/5a13.jsonl")).expect("a file");
    file.set_modified(std::time::UNIX_EPOCH).expect("a time");
    let recent = json(&world, &["--since", "7d", "--dry-run"]);
    assert_eq!((&recent["filesTooOld"], &recent["filesToRead"]), (&1.into(), &1.into()));
}

#[test]
fn what_makes_no_sense_is_said_with_a_way_out() {
    let world = history();
    for arguments in [&["import", "--since", "someday"][..], &["import", "--path", "[W]/nowhere"]] {
        let answer = world.run(arguments).ended_with(2);
        assert!(answer.stderr.contains("\nhint: "), "{}", answer.stderr);
    }
}

#[test]
fn nothing_to_read_is_said() {
    let answer = World::without_hook().run(&["import"]).ended_with(0);
    assert!(answer.stdout.starts_with("read 0 of 0 files"), "{}", answer.stdout);
    assert!(answer.stderr.contains("no history in `[W]/home/.claude/projects`"), "{}", answer.stderr);
}

#[test]
fn a_damaged_archive_is_named_and_the_rest_is_read() {
    let world = history();
    world.write(&format!("home/.codex/archived_sessions/{ROLLOUT}.zst"), "this is no archive");
    let answer = world.run(&["import"]).ended_with(1);
    assert!(answer.stdout.contains("1 could not be read"), "{}", answer.stdout);
    assert!(
        answer.stderr.contains("warning: cannot read `[W]/home/.codex/archived_sessions/"),
        "{}",
        answer.stderr
    );
}
