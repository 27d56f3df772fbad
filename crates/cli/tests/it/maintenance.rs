//! The commands that tend the ledger: rebuild, reread, purge.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::history::{full, json as json_of, nested, short, store, tasks};
use crate::serve::Server;
use crate::world::World;

/// Everything that the ledger tells, without the places at which it was delivered.
fn answers(world: &World) -> Vec<Value> {
    let text = world.run(&["export"]).ended_with(0).stdout;
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    for line in &mut lines {
        if let Some(event) = line.get_mut("event").and_then(Value::as_object_mut) {
            event.remove("seq");
        }
    }
    lines.sort_by_key(Value::to_string);
    lines
}

#[test]
fn rebuilding_changes_nothing_that_is_shown() {
    let world = full();
    let before = answers(&world);
    let answer = json_of(&world, &["rebuild"]);
    assert!(answer["tasks"].as_u64().expect("a number") as usize >= tasks(&world).len(), "{answer}");
    assert!(answer["events"].as_u64().expect("a number") > 1000, "{answer}");
    assert_eq!(answers(&world), before);
    let hits = json_of(&world, &["search", "canary"]);
    assert!(!hits["items"].as_array().expect("items").is_empty(), "search is filled anew");
    let text = world.run(&["rebuild"]).ended_with(0).stdout;
    assert!(text.starts_with("rebuilt ") && text.lines().count() == 1, "{text}");
}

#[test]
fn reading_again_changes_nothing_and_keeps_the_facts_of_vanished_files() {
    let world = full();
    let before = answers(&world);
    let answer = json_of(&world, &["reread"]);
    assert_eq!((&answer["changed"], &answer["unreadable"]), (&0.into(), &0.into()), "{answer}");
    assert!(answer["filesRead"].as_u64().expect("a number") > 200, "{answer}");
    assert_eq!(answers(&world), before);
    fs::remove_dir_all(world.path("home/.claude/projects")).expect("removed");
    let text = world.run(&["reread"]).ended_with(0).stdout;
    assert!(text.starts_with("read 0 kept events of hooks and "), "{text}");
    assert_eq!(answers(&world), before);
    assert_eq!(json_of(&world, &["import"])["rows"], 0, "no position is forgotten");
    assert_eq!(json_of(&world, &["reread", "--hooks-only"])["filesRead"], 0);
    assert_eq!(json_of(&world, &["reread", "claude"])["filesRead"], 0);
}

#[test]
fn hooks_that_were_posted_are_read_again_and_say_the_same() {
    let world = World::without_hook();
    let server = Server::start(&world);
    let mut posted = 0;
    for (agent, session) in [
        ("claude", "5a0c7d1e-7f52-4c2b-9d0e-2f6a1c3b4d5e"),
        ("codex", "019a0c7d-7f52-7c2b-9d0e-2f6a1c3b4d5e"),
    ] {
        for (number, more) in [
            json!({"hook_event_name": "SessionStart", "source": "startup"}),
            json!({"hook_event_name": "UserPromptSubmit", "prompt": "tidy up"}),
            json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "call_1",
                "tool_input": {"command": "cargo test"}}),
            json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "call_1",
                "tool_input": {"command": "cargo test"}, "tool_response": {"stdout": "ok"}}),
            json!({"hook_event_name": "Stop", "last_assistant_message": "done", "stop_hook_active": false}),
        ]
        .into_iter()
        .enumerate()
        {
            let mut payload = json!({"session_id": session, "cwd": "/nowhere/shop", "turn_id": "turn-1",
                "model": "gpt-5.5", "permission_mode": "default", "transcript_path": "/nowhere/t.jsonl"});
            let members = payload.as_object_mut().expect("an object");
            members.extend(more.as_object().expect("an object").clone());
            // A sender may name its events itself.
            let key = format!("Idempotency-Key: {agent}-{number}\r\n");
            let line = if number % 2 == 0 { key.as_str() } else { "" };
            server.post_with(&world, &format!("/hooks/{agent}"), &payload, line);
            posted += 1;
        }
    }
    server.end(Signal::SIGTERM);
    let before = answers(&world);
    assert!(before.len() > posted, "{}", before.len());
    let answer = json_of(&world, &["reread", "--hooks-only"]);
    let counts = ["hooks", "unchanged", "changed", "unreadable"].map(|name| answer[name].as_u64());
    assert_eq!(counts, [Some(posted as u64), Some(posted as u64), Some(0), Some(0)], "{answer}");
    assert_eq!(answers(&world), before);
    for agent in ["claude", "codex"] {
        assert_eq!(json_of(&world, &["reread", agent])["hooks"], 5);
    }
}

#[test]
fn a_clock_that_is_far_ahead_of_what_was_recorded_drops_nothing_unless_it_is_said_to_be_right() {
    let world = World::without_hook();
    let row = r#"{"type":"user","uuid":"u1","sessionId":"5a13","cwd":"/nowhere/shop","timestamp":"2025-01-15T21:10:04.001Z","promptId":"p1","message":{"role":"user","content":"long ago"}}"#;
    world.write("home/.claude/projects/-nowhere-shop/5a13.jsonl", &format!("{row}\n"));
    world.run(&["import"]).ended_with(0);
    let refused = world.run(&["retain", "--days", "90"]).ended_with(1).stderr;
    assert!(
        refused.contains("nothing was dropped: the clock shows ") && refused.contains("--yes"),
        "{refused}"
    );
    let dry = world.run(&["retain", "--days", "90", "--dry-run"]).ended_with(0);
    assert!(
        dry.stdout.starts_with("would drop 2 events of 1 tasks") && dry.stderr.contains("warning: "),
        "{}",
        dry.stderr
    );
    assert_eq!(
        json_of(&world, &["retain", "--days", "36500"])["events"],
        0,
        "nothing is old enough: nothing is refused"
    );
    assert_eq!(json_of(&world, &["retain", "--days", "90", "--yes"])["events"], 2);
}

#[test]
fn what_is_purged_is_shown_first_and_does_not_come_back() {
    let world = full();
    let root = nested();
    let before = tasks(&world).len();
    let shown = world.run(&["purge", short(&root), "--dry-run"]).ended_with(0).stdout;
    assert!(
        shown.contains("Delegate [[agent_nested]]") && shown.contains("would delete 3 tasks with "),
        "{shown}"
    );
    let unasked = world.run(&["purge", &root]).ended_with(2).stderr;
    assert!(unasked.contains("--yes") && unasked.contains("Delegate [[agent_nested]]"), "{unasked}");
    assert_eq!(tasks(&world).len(), before);

    let answer = world.run(&["purge", &root, "--yes", "--export", "gone.jsonl"]).ended_with(0);
    assert!(answer.stdout.starts_with("deleted 3 tasks with "), "{}", answer.stdout);
    assert!(
        answer.stderr.contains("transcripts stay where they are: `[W]/home/.claude/projects`"),
        "{}",
        answer.stderr
    );
    assert_eq!(tasks(&world).len(), before - 3);
    let kept = world.read("project/gone.jsonl");
    assert_eq!(kept.lines().filter(|line| line.starts_with("{\"task\":")).count(), 3);
    assert!(kept.contains("\"event\":"));
    world.run(&["show", &root]).ended_with(1);
    world.run(&["import"]).ended_with(0);
    world.run(&["reread"]).ended_with(0);
    assert_eq!(tasks(&world).len(), before - 3, "neither import nor reread brings it back");
    assert!(world.exists("home/.claude/projects"));
}

#[test]
fn tasks_are_purged_by_project_by_age_and_all_of_them() {
    let world = full();
    let all = tasks(&world);
    let old = json_of(&world, &["purge", "--before", "2000-01-01", "--yes"]);
    assert_eq!((&old["deleted"], &old["tasks"]), (&0.into(), &Value::Array(Vec::new())));
    let project = &all[0].project;
    let dry = json_of(&world, &["purge", "--project", project, "--before", "2100-01-01", "--dry-run"]);
    let meant = all.iter().filter(|task| task.project == *project).count();
    assert!(dry["tasks"].as_array().expect("tasks").len() >= meant, "{dry}");
    assert_eq!(tasks(&world).len(), all.len());
    let gone = json_of(&world, &["purge", "--all", "--yes"]);
    // One captured session has a task and no event of its own: no list shows it, and it goes all the same.
    let named = gone["tasks"].as_array().expect("tasks").len();
    assert!(named > all.len(), "{named} and {}", all.len());
    assert_eq!(gone["deleted"], named);
    assert_eq!(json_of(&world, &["purge", "--all", "--yes"])["deleted"], 0, "nothing is left");
    let events: u64 = all.iter().map(|task| task.event_count).sum();
    assert_eq!(gone["events"], events);
    let empty = world.run(&["tasks"]).ended_with(0);
    assert!(empty.stdout.is_empty() && empty.stderr.contains("nothing is recorded"), "{}", empty.stderr);
    for arguments in [&["purge"][..], &["purge", "--all", "--project", "x"], &["purge", "t", "--all"]] {
        world.run(arguments).ended_with(2);
    }
}

#[test]
fn what_is_old_is_dropped_by_hand_and_stays_in_the_totals() {
    let world = full();
    let before = tasks(&world);
    let unsaid = world.run(&["retain"]).ended_with(2).stderr;
    assert!(
        unsaid.contains("config.toml` sets no `retention.days`") && unsaid.contains("hint: add `--days 90`"),
        "{unsaid}"
    );
    world.write("home/.config/agent-tracer/retention.conf", "months 3\n");
    let wrong = world.run(&["retain"]).ended_with(1).stderr;
    assert!(wrong.contains("line 1: unknown setting `months`") && wrong.contains("hint: "), "{wrong}");
    world.write("home/.config/agent-tracer/config.toml", "[retention]\nmonths = 3\n");
    let wrong = world.run(&["retain"]).ended_with(1).stderr;
    assert!(wrong.contains("config.toml`: line 2, column 1: unknown key `retention.months`"), "{wrong}");
    world.run(&["retain", "--days", "36500", "--dry-run"]).ended_with(0);
    world.write("home/.config/agent-tracer/config.toml", "");
    // Everything was captured before this test was written, and nothing will ever be a hundred years old.
    world.write("home/.config/agent-tracer/retention.conf", "days 36500\n");
    assert_eq!(json_of(&world, &["retain"])["events"], 0);
    assert_eq!(json_of(&world, &["retain", "--days", "36500", "--dry-run"])["tasks"], 0);
    assert_eq!(tasks(&world), before);
    world.run(&["retain", "--days", "0"]).ended_with(2);
}

#[test]
fn own_prices_count_from_the_next_start_and_mistakes_are_named() {
    let world = full();
    let cost = |world: &World| -> f64 { tasks(world).iter().map(|task| task.usage.cost_usd).sum() };
    let built_in = cost(&world);
    assert!(built_in > 0.0);
    let models = "['gpt-5.5']\ninput = 1000\noutput = 1000\n".replace("['", "[models.'");
    world.write("home/.config/agent-tracer/prices.toml", &models);
    world.run(&["import"]).ended_with(0);
    assert!(cost(&world) > built_in, "costs are counted anew");
    world.write("home/.config/agent-tracer/prices.toml", "[models.x]\ninput = 1\noutput = 'two'\n");
    for arguments in [&["import"][..], &["rebuild"], &["serve", "--listen", "127.0.0.1:0"]] {
        let wrong = world.run(arguments).ended_with(1).stderr;
        assert!(wrong.contains("prices.toml`: line 3, column 10: "), "{wrong}");
        assert!(wrong.contains("hint: "), "{wrong}");
    }
    world.write("home/.config/agent-tracer/config.toml", "[prices.models.gpt-5.5]\ninput = 1\n");
    let wrong = world.run(&["import"]).ended_with(1).stderr;
    assert!(
        wrong.contains("config.toml`: line 1, column ") && wrong.contains("dots needs quotes"),
        "{wrong}"
    );
    world.write("home/.config/agent-tracer/config.toml", "\n[prices.models.x]\ninput = 1\n");
    let wrong = world.run(&["import"]).ended_with(1).stderr;
    assert!(wrong.contains("config.toml`: line 2, column 16: `x` is not built in"), "{wrong}");
    let table = "[prices.models.'gpt-5.5'] # ours\ninput = 1000\noutput = 1000\n";
    world.write("home/.config/agent-tracer/config.toml", table);
    world.run(&["import"]).ended_with(0);
    assert!(cost(&world) > built_in, "the table is read, and the older file is not");
    world.write("home/.config/agent-tracer/config.toml", "[prices]\n");
    world.run(&["rebuild"]).ended_with(0);
    assert!((cost(&world) - built_in).abs() < 1e-9);
}

#[test]
fn beside_a_server_one_may_ask_and_follow_but_not_change() {
    let world = full();
    let server = Server::start(&world);
    let count = store(&world).seq().expect("a place");
    assert!(count > 0);
    assert_eq!(json_of(&world, &["tasks", "--limit", "3"])["items"].as_array().expect("items").len(), 3);
    for arguments in [&["rebuild"][..], &["reread"], &["purge", "--all", "--yes"]] {
        let refused = world.run(arguments).ended_with(1).stderr;
        assert!(refused.contains("in use by process") && refused.contains("hint: "), "{refused}");
    }
    let mut child = Command::new(world.path("bin/agent-tracer"))
        .args(["tail", "-n", "1", "--lane", "user"])
        .env_clear()
        .env("HOME", world.path("home"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut lines = BufReader::new(child.stdout.take().expect("standard output")).lines();
    lines.next().expect("what was before").expect("text");
    let row = r#"{"type":"user","uuid":"u1","sessionId":"5a13","cwd":"/nowhere/shop","timestamp":"2026-11-15T21:10:04.001Z","promptId":"p1","message":{"role":"user","content":"something new"}}"#;
    world.write("home/.claude/projects/-nowhere-shop/5a13.jsonl", &format!("{row}\n"));
    let line = lines.next().expect("what is new").expect("text");
    child.kill().expect("ended");
    child.wait().expect("ended");
    assert!(line.contains("something new"), "{line}");
    server.end(Signal::SIGTERM);
    world.run(&["rebuild"]).ended_with(0);
}
