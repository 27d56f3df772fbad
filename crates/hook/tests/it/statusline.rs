//! The status line as Claude Code calls it.

use agent_tracer_spool::envelope::Channel;
use serde_json::json;

use crate::world::{World, run};

fn payload() -> Vec<u8> {
    json!({
        "session_id": "5a133364-48e1-40c2-b568-cfba1112cbce",
        "cwd": "/home/dev/project",
        "model": {"id": "claude-sonnet-5-5", "display_name": "Sonnet 5.5"},
        "cost": {"total_cost_usd": 0.274_064},
        "context_window": {"used_percentage": 7, "context_window_size": 1_000_000},
        "rate_limits": {"five_hour": {"used_percentage": 12.3}},
    })
    .to_string()
    .into_bytes()
}

fn printed(world: &World) -> String {
    let output = world.run(&["statusline"], &payload());
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty());
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn the_line_is_printed_and_the_snapshot_recorded() {
    let world = World::new();
    assert_eq!(printed(&world), "[monitor] ctx 7% · 5h 12% · $0.274\n");
    let (header, body) = world.envelope();
    assert_eq!(header.channel, Channel::Statusline);
    assert_eq!(body["context_window"]["used_percentage"], 7);
    assert_eq!(body["model"]["id"], "claude-sonnet-5-5");
}

#[test]
fn the_users_own_line_comes_first_and_sees_the_same_input() {
    let world = World::new();
    world.write("statusline.conf", "prefix at\nchain grep -o Sonnet.5.5; echo second\n");
    assert_eq!(printed(&world), "Sonnet 5.5\nsecond\nat ctx 7% · 5h 12% · $0.274\n");
}

#[test]
fn a_line_of_the_user_that_fails_or_hangs_does_not_take_ours_along() {
    let world = World::new();
    world.write("statusline.conf", "chain exit 3\n");
    assert_eq!(printed(&world), "[monitor] ctx 7% · 5h 12% · $0.274\n");
    world.write("statusline.conf", "chain sleep 600\n");
    assert_eq!(printed(&world), "[monitor] ctx 7% · 5h 12% · $0.274\n");
}

#[test]
fn switched_off_still_shows_but_does_not_record() {
    let world = World::new();
    let output = run(world.command(&["statusline"]).env("AGENT_TRACER_OFF", "1"), &payload());
    assert_eq!(String::from_utf8_lossy(&output.stdout), "[monitor] ctx 7% · 5h 12% · $0.274\n");
    assert_eq!(world.envelopes().len(), 0);
}

#[test]
fn input_that_is_no_json_still_gives_a_line() {
    let world = World::new();
    let output = world.run(&["statusline"], b"not json");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "[monitor]\n");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_line_of_the_user_that_calls_ours_again_ends() {
    let world = World::new();
    let hook = env!("CARGO_BIN_EXE_agent-tracer-hook");
    world.write("statusline.conf", &format!("chain {hook} statusline\n"));
    let line = "[monitor] ctx 7% · 5h 12% · $0.274\n";
    assert_eq!(printed(&world), format!("{line}{line}"));
    assert_eq!(world.envelopes().len(), 2);
}
