//! The commands that tend the ledger: rebuild, reread, purge.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::history::{full, json, nested, short, store, tasks};
use crate::serve::Server;
use crate::world::World;

/// Everything that the ledger tells, without the places at which it was delivered.
fn told(world: &World) -> Vec<Value> {
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
fn rebuilding_changes_nothing_that_is_told() {
    let world = full();
    let before = told(&world);
    let answer = json(&world, &["rebuild"]);
    assert!(answer["tasks"].as_u64().expect("a number") as usize >= tasks(&world).len(), "{answer}");
    assert!(answer["events"].as_u64().expect("a number") > 1000, "{answer}");
    assert_eq!(told(&world), before);
    let hits = json(&world, &["search", "canary"]);
    assert!(!hits["items"].as_array().expect("items").is_empty(), "search is filled anew");
    let text = world.run(&["rebuild"]).ended_with(0).stdout;
    assert!(text.starts_with("rebuilt ") && text.lines().count() == 1, "{text}");
}

#[test]
fn reading_again_changes_nothing_and_keeps_what_vanished_files_told() {
    let world = full();
    let before = told(&world);
    let answer = json(&world, &["reread"]);
    assert_eq!((&answer["changed"], &answer["unreadable"]), (&0.into(), &0.into()), "{answer}");
    assert!(answer["filesRead"].as_u64().expect("a number") > 200, "{answer}");
    assert_eq!(told(&world), before);
    fs::remove_dir_all(world.path("home/.claude/projects")).expect("removed");
    let text = world.run(&["reread"]).ended_with(0).stdout;
    assert!(text.starts_with("read 0 kept events of hooks and "), "{text}");
    assert_eq!(told(&world), before);
    assert_eq!(json(&world, &["import"])["rows"], 0, "no position is forgotten");
    assert_eq!(json(&world, &["reread", "--hooks-only"])["filesRead"], 0);
    assert_eq!(json(&world, &["reread", "claude"])["filesRead"], 0);
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
    let old = json(&world, &["purge", "--before", "2000-01-01", "--yes"]);
    assert_eq!((&old["deleted"], &old["tasks"]), (&0.into(), &Value::Array(Vec::new())));
    let project = &all[0].project;
    let dry = json(&world, &["purge", "--project", project, "--before", "2100-01-01", "--dry-run"]);
    let meant = all.iter().filter(|task| task.project == *project).count();
    assert!(dry["tasks"].as_array().expect("tasks").len() >= meant, "{dry}");
    assert_eq!(tasks(&world).len(), all.len());
    let gone = json(&world, &["purge", "--all", "--yes"]);
    // One captured session has a task and no event of its own: nobody lists it, and it goes all the same.
    let named = gone["tasks"].as_array().expect("tasks").len();
    assert!(named > all.len(), "{named} and {}", all.len());
    assert_eq!(gone["deleted"], named);
    assert_eq!(json(&world, &["purge", "--all", "--yes"])["deleted"], 0, "nothing is left");
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
    assert!(unsaid.contains("retention.conf") && unsaid.contains("hint: add `--days 90`"), "{unsaid}");
    world.write("home/.config/agent-tracer/retention.conf", "months 3\n");
    let wrong = world.run(&["retain"]).ended_with(1).stderr;
    assert!(wrong.contains("line 1: `months` is no setting") && wrong.contains("hint: "), "{wrong}");
    // Everything was captured before this test was written, and nothing will ever be a hundred years old.
    world.write("home/.config/agent-tracer/retention.conf", "days 36500\n");
    assert_eq!(json(&world, &["retain"])["events"], 0);
    assert_eq!(json(&world, &["retain", "--days", "36500", "--dry-run"])["tasks"], 0);
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
    world.write("home/.config/agent-tracer/prices.toml", "");
    world.run(&["rebuild"]).ended_with(0);
    assert!((cost(&world) - built_in).abs() < 1e-9);
}

#[test]
fn beside_a_server_one_may_ask_and_follow_but_not_change() {
    let world = full();
    let server = Server::start(&world);
    let count = store(&world).seq().expect("a place");
    assert!(count > 0);
    assert_eq!(json(&world, &["tasks", "--limit", "3"])["items"].as_array().expect("items").len(), 3);
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
