//! Rules and exclusions hold where a server is late, a file is spoiled or another user can write: nothing fails open.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use serde_json::{Value, json};

use crate::doctor::{checks, fix, report};
use crate::world::World;

const DATA: &str = "home/.local/share/agent-tracer";
const RULES: &str = "home/.config/agent-tracer/policy.toml";
const PRIVACY: &str = "home/.config/agent-tracer/privacy.conf";
const NO_DELETE: &str = "version = 1\n[[rule]]\nname = \"no-delete\"\non = \"PreToolUse\"\ndecision = \"deny\"\n\
    reason = \"by name\"\nmatch.command = { effect = \"delete\", recursive = true }\n";

fn call(command: &str) -> Value {
    json!({"session_id": "s-1", "cwd": "/code", "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": command}, "tool_use_id": "toolu_1"})
}

/// Returns the hook's answer to a call: the decision and its reason.
#[track_caller]
fn said(world: &World, agent: &str, call: &Value) -> (String, String) {
    let answer = world.hook("project", agent, &call.to_string()).ended_with(0);
    let said: Value = serde_json::from_str(&answer.stdout).unwrap_or_default();
    let text = |name: &str| {
        said.pointer(&format!("/hookSpecificOutput/{name}"))
            .and_then(Value::as_str)
            .unwrap_or("silent")
            .to_owned()
    };
    (text("permissionDecision"), text("permissionDecisionReason"))
}

fn with_rules(rules: &str) -> World {
    let world = World::with_real_hook();
    world.write(RULES, rules);
    world.run(&["policy", "apply"]).ended_with(0);
    world
}

/// A server that is stopped: it listens and never answers.
fn stopped(world: &World) -> UnixListener {
    UnixListener::bind(world.path(&format!("{DATA}/answers.sock"))).expect("a socket")
}

#[test]
fn a_rule_that_needs_no_past_holds_past_the_deadline_and_only_others_are_an_outage() {
    let past = "[[rule]]\nname = \"loop\"\non = \"PreToolUse\"\ndecision = \"deny\"\nreason = \"again\"\n\
        on_outage = \"ask\"\nwhen.repeated = 3\nmatch.command = { program = \"make\" }\n";
    let world = with_rules(&format!("{NO_DELETE}{past}"));
    let _server = stopped(&world);
    for command in ["rm -rf build", &format!("rm -rf build # {}", "x".repeat(2 << 20))] {
        let (decision, reason) = said(&world, "claude", &call(command));
        assert_eq!((decision.as_str(), reason.contains("`no-delete`")), ("deny", true), "{reason}");
    }
    let (decision, reason) = said(&world, "claude", &call("make"));
    assert_eq!(decision, "ask");
    assert!(reason.contains("what happened before could not be looked up"), "{reason}");
    assert_eq!(said(&world, "claude", &call("ls")).0, "silent");
}

#[test]
fn an_event_that_is_nested_too_deeply_to_be_judged_is_left_to_the_human() {
    let world = with_rules(NO_DELETE);
    let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
    let text = call("rm -rf build").to_string().replace("\"command\"", &format!("\"x\":{deep},\"command\""));
    for (agent, decision) in [("claude", "ask"), ("codex", "deny")] {
        let answer = world.hook("project", agent, &text).ended_with(0);
        assert!(answer.stdout.contains(&format!("\"permissionDecision\":\"{decision}\"")), "{answer:?}");
    }
}

#[test]
fn a_table_that_is_taken_away_is_made_again_and_its_rules_hold_meanwhile() {
    let world = with_rules(NO_DELETE);
    let table = format!("{DATA}/policy.tbl");
    let sound = fs::read(world.path(&table)).expect("a table");
    fs::remove_file(world.path(&table)).expect("removed");
    assert_eq!(said(&world, "codex", &call("rm -rf build")).0, "deny");
    assert_eq!(fs::read(world.path(&table)).expect("a table"), sound);
}

#[test]
fn rules_that_are_broken_or_that_others_can_write_leave_calls_to_the_human() {
    for spoil in ["broken", "writable", "folder"] {
        let world = with_rules(NO_DELETE);
        match spoil {
            "broken" => world.write(RULES, "version = 1\nbroken"),
            "writable" => world.set_mode(RULES, 0o666),
            _ => world.set_mode("home/.config/agent-tracer", 0o777),
        }
        // What was in force says what holds; without it every call is asked about.
        for is_there in [true, false] {
            if !is_there {
                fs::remove_file(world.path(&format!("{DATA}/policy.tbl"))).expect("removed");
            }
            for (agent, expected) in [("claude", "ask"), ("codex", "deny")] {
                let (decision, reason) = said(&world, agent, &call("rm -rf build"));
                assert_eq!(decision, expected, "{spoil} {is_there}: {reason}");
            }
        }
        if spoil != "broken" {
            let doctor = report(&world, &[]);
            assert!(checks(&doctor, "settings")[0].starts_with("home fail"), "{doctor}");
            assert!(fix(&doctor, "settings").contains("chmod go-w"), "{doctor}");
        }
    }
}

#[test]
fn an_event_that_rules_cannot_stop_passes_in_silence_while_they_are_broken() {
    let world = with_rules(NO_DELETE);
    world.write(RULES, "version = 1\nbroken");
    for is_there in [true, false] {
        if !is_there {
            fs::remove_file(world.path(&format!("{DATA}/policy.tbl"))).expect("removed");
        }
        let mut returned = call("rm -rf build");
        returned["hook_event_name"] = "PostToolUse".into();
        for agent in ["claude", "codex"] {
            let answer = world.hook("project", agent, &returned.to_string()).ended_with(0);
            assert_eq!((answer.stdout.as_str(), answer.stderr.as_str()), ("", ""), "{agent}");
        }
    }
}

#[test]
fn settings_that_cannot_be_relied_on_fail_doctor_with_the_way_out() {
    let world = World::with_real_hook();
    world.run(&["install", "claude"]).ended_with(0);
    for (text, mode, fixed) in [("exlude /x\n", 0o600, "`level` and `exclude`"), ("", 0o666, "chmod go-w")] {
        world.write(PRIVACY, text);
        world.set_mode(PRIVACY, mode);
        let doctor = report(&world, &[]);
        let privacy = checks(&doctor, "privacy");
        assert!(privacy[0].starts_with("home fail nothing is recorded"), "{privacy:?}");
        assert!(fix(&doctor, "privacy").contains(fixed), "{}", fix(&doctor, "privacy"));
        let before = world.names(&format!("{DATA}/spool/new")).len();
        world.hook("project", "claude", &call("ls").to_string()).ended_with(0);
        assert_eq!(world.names(&format!("{DATA}/spool/new")).len(), before);
    }
    world.run(&["import"]).ended_with(1);
    world.set_mode(PRIVACY, 0o600);
    let lost = checks(&report(&world, &[]), "lost");
    assert!(lost[0].contains("unreadable_privacy 2"), "{lost:?}");
}

#[test]
fn everything_that_is_written_is_for_the_user_alone_whatever_the_umask() {
    let world = World::new();
    world.write("bin/open", "#!/bin/sh\numask 000\nexec '[W]/bin/agent-tracer' \"$@\"\n");
    world.set_mode("bin/open", 0o755);
    for arguments in [
        &["install", "claude"][..],
        &["install", "codex"],
        &["install", "claude", "--scope", "project"],
        &["policy", "init"],
        &["policy", "init", "--project"],
        &["policy", "apply"],
        &["context", "on"],
    ] {
        world.run_script("bin/open", arguments).ended_with(0);
    }
    let mut open = vec![world.path("home"), world.path("project")];
    let mut seen = 0;
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            let name =
                path.strip_prefix(world.path("")).expect("in the world").to_str().expect("text").to_owned();
            assert_eq!(world.mode(&name) & 0o077, 0, "{name}");
            seen += 1;
            if path.is_dir() {
                open.push(path);
            }
        }
    }
    assert!(seen > 20, "{seen}");
    // A file that was there keeps its mode, except that others may no longer write it.
    world.write("home/.claude/settings.json", "{}");
    world.set_mode("home/.claude/settings.json", 0o646);
    world.run(&["install", "claude"]).ended_with(0);
    assert_eq!(world.mode("home/.claude/settings.json"), 0o644);
}

#[test]
fn links_of_a_project_are_not_followed() {
    let world = World::new();
    world.write("elsewhere/settings.json", "{}");
    symlink(world.path("elsewhere"), world.path("project/.claude")).expect("a link");
    let answer = world.run(&["install", "claude", "--scope", "project"]).ended_with(1);
    assert!(answer.stderr.contains("is a link to `[W]/elsewhere`"), "{}", answer.stderr);
    fs::remove_file(world.path("project/.claude")).expect("removed");
    fs::create_dir(world.path("project/.claude")).expect("a folder");
    for name in ["settings.json", "settings.local.json"] {
        symlink(world.path("elsewhere/settings.json"), world.path(&format!("project/.claude/{name}")))
            .expect("a link");
    }
    world.run(&["install", "claude", "--scope", "project"]).ended_with(1);
    world.run(&["install", "claude", "--scope", "local"]).ended_with(1);
    symlink(world.path("elsewhere"), world.path("project/.agent-tracer")).expect("a link");
    world.run(&["policy", "init", "--project"]).ended_with(1);
    assert_eq!((world.read("elsewhere/settings.json").as_str(), world.names("elsewhere").len()), ("{}", 1));
}
