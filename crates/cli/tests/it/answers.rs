//! Hooks that a running server answers: by the rules, by what happened before, and with a record of it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::serve::Server;
use crate::world::{Answer, World};

const USER: &str = "home/.config/agent-tracer/policy.toml";

/// Rules with time enough for a busy machine.
fn rules(rules: &str) -> String {
    format!("version = 1\ndeadline_ms = 10000\n{rules}")
}

fn rule(name: &str, on: &str, rest: &str) -> String {
    format!("[[rule]]\nname = \"{name}\"\non = \"{on}\"\ndecision = \"deny\"\nreason = \"no\"\n{rest}\n")
}

struct Session<'w> {
    world: &'w World,
    calls: u32,
}

impl Session<'_> {
    fn send(&self, event: Value) -> Answer {
        let mut event = event.as_object().cloned().expect("an object");
        let session = "5a133364-48e1-40c2-b568-cfba1112cbce";
        for (key, value) in [("session_id", session), ("cwd", "[W]/project"), ("prompt_id", "p-1")] {
            event.insert(key.to_owned(), json!(value));
        }
        self.world.hook("project", "claude", &Value::Object(event).to_string())
    }

    fn prompt(&self, text: &str) {
        self.send(json!({"hook_event_name": "UserPromptSubmit", "prompt": text})).ended_with(0);
    }

    /// Asks for a call; returns what the hook said.
    fn attempt(&mut self, tool: &str, input: Value) -> String {
        self.calls += 1;
        let event = json!({"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input,
            "tool_use_id": format!("toolu_{}", self.calls)});
        let answer = self.send(event).ended_with(0);
        assert_eq!(answer.stderr, "");
        answer.stdout
    }

    /// The last call ended.
    fn succeed(&self, tool: &str, input: Value) {
        self.send(json!({"hook_event_name": "PostToolUse", "tool_name": tool, "tool_input": input,
            "tool_use_id": format!("toolu_{}", self.calls), "tool_response": {"stdout": "", "stderr": ""}}))
            .ended_with(0);
    }

    fn fail(&self, tool: &str, input: Value) {
        self.send(json!({"hook_event_name": "PostToolUseFailure", "tool_name": tool, "tool_input": input,
            "tool_use_id": format!("toolu_{}", self.calls), "error": "Exit code 1\n", "is_interrupt": false}))
            .ended_with(0);
    }

    /// Wants to end.
    fn stop(&self, again: bool) -> String {
        let event = json!({"hook_event_name": "Stop", "stop_hook_active": again, "last_assistant_message": "done",
            "background_tasks": [], "session_crons": []});
        self.send(event).ended_with(0).stdout
    }

    fn run(&mut self, command: &str) -> String {
        let said = self.attempt("Bash", json!({"command": command}));
        if said.is_empty() {
            self.succeed("Bash", json!({"command": command}));
        }
        said
    }
}

fn session(world: &World) -> Session<'_> {
    Session { world, calls: 0 }
}

/// The items of a page of the API; none if it is no page.
fn items(server: &Server, path: &str) -> Vec<Value> {
    let answer = server.get(path);
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let page: Value = serde_json::from_str(body).unwrap_or_default();
    page.get("items").and_then(Value::as_array).cloned().unwrap_or_default()
}

/// The rules that spoke, as the API tells of them, once there are so many.
fn logged(server: &Server, many: usize) -> Vec<Value> {
    let begin = Instant::now();
    loop {
        let mut rows = Vec::new();
        for task in items(server, "/api/v1/tasks") {
            let id = task.get("id").and_then(Value::as_str).unwrap_or_default();
            rows.extend(items(server, &format!("/api/v1/tasks/{id}/timeline?kind=rule.logged")));
        }
        if rows.len() >= many {
            return rows;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "{rows:?}");
        std::thread::yield_now();
    }
}

#[test]
fn a_rule_denies_what_it_is_about_and_is_silent_about_everything_else() {
    let world = World::with_real_hook();
    world.write(USER, &rules(&rule("no-delete", "PreToolUse", "match.command = { effect = \"delete\" }")));
    let server = Server::start(&world);
    assert_eq!(world.mode("home/.local/share/agent-tracer/answers.sock"), 0o600);
    let rule = &items(&server, "/api/v1/policies")[0];
    let source = world.path(USER).display().to_string();
    for (key, value) in [
        ("name", json!("no-delete")),
        ("source", json!(source)),
        ("enabled", json!(true)),
        ("origin", json!("user")),
        ("events", json!(["PreToolUse"])),
        ("decision", json!("deny")),
        ("matches", json!(["a command whose effect is `delete`"])),
        ("mode", json!("enforce")),
        ("onOutage", json!("allow")),
    ] {
        assert_eq!(rule[key], value, "{key}");
    }
    assert_eq!(rule["counts"]["count"], 0);
    let mut session = session(&world);
    assert_eq!(session.run("ls"), "");
    let said = session.run("sudo bash -c 'rm -rf build'");
    assert!(
        said.contains("\"permissionDecision\":\"deny\"") && said.contains("[policy rule `no-delete`]"),
        "{said}"
    );
    assert_eq!(session.attempt("Read", json!({"file_path": "a"})), "");
    let rows = logged(&server, 1);
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(rows[0]["title"], "Denied by rule `no-delete`: Bash");
    assert_eq!(rows[0]["metadata"]["answeredBy"], "server");
    assert_eq!(rows[0]["metadata"]["ruleOutcome"], "deny");
    let counts = &items(&server, "/api/v1/policies")[0]["counts"];
    assert_eq!((&counts["count"], &counts["outcomes"]), (&json!(1), &json!({"deny": 1})));
    let decided = items(&server, "/api/v1/policies/decisions?rule=no-delete&decision=deny&mode=enforce");
    assert_eq!(decided.len(), 1, "{decided:?}");
    assert_eq!(decided[0]["id"], rows[0]["id"]);
    assert_eq!(decided[0]["inputs"]["event"], "PreToolUse");
    let call = decided[0]["callId"].as_str().expect("the call");
    let call = server.get(&format!("/api/v1/events/{call}"));
    for part in [
        "\"toolName\":\"Bash\"",
        "\"state\":\"denied\"",
        "\"errorClass\":\"policy_denied\"",
        "\"deniedByRule\":\"no-delete\"",
    ] {
        assert!(call.contains(part), "{part}: {call}");
    }
    let failures = items(&server, "/api/v1/failures");
    assert_eq!((&failures[0]["errorClass"], &failures[0]["count"]), (&json!("policy_denied"), &json!(1)));
    server.end(nix::sys::signal::Signal::SIGTERM);
    assert!(!world.exists("home/.local/share/agent-tracer/answers.sock"));
    let said = session.run("rm -rf build");
    assert!(said.contains("\"deny\""), "without a server the guard answers: {said}");
}

#[test]
fn a_call_that_is_made_again_and_again_is_noticed_at_once() {
    let world = World::with_real_hook();
    world.write(USER, &rules(&rule("loop", "PreToolUse", "when.repeated = 2\nmatch.tool = \"Bash\"")));
    let _server = Server::start(&world);
    let mut session = session(&world);
    session.prompt("go on");
    for _ in 0..2 {
        assert_eq!(session.run("make check"), "");
        assert_eq!(session.run("make other"), "");
    }
    let said = session.run("make check");
    assert!(said.contains("[policy rule `loop`]"), "{said}");
}

#[test]
fn failures_in_a_row_and_files_that_were_not_read_are_known() {
    let world = World::with_real_hook();
    let failing = rule("failing", "PreToolUse", "when.failures_in_a_row = 2\nmatch.tool = \"Bash\"");
    let unread = rule("unread", "PreToolUse", "when.unread_edit = true\nmatch.tool = \"Edit\"");
    world.write(USER, &rules(&format!("{failing}{unread}")));
    let _server = Server::start(&world);
    let mut session = session(&world);
    session.prompt("go on");
    for _ in 0..2 {
        assert_eq!(session.attempt("Bash", json!({"command": "cargo test"})), "");
        session.fail("Bash", json!({"command": "cargo test"}));
    }
    let said = session.attempt("Bash", json!({"command": "cargo test"}));
    assert!(said.contains("[policy rule `failing`]"), "{said}");
    let edit = json!({"file_path": "[W]/project/a.rs", "old_string": "a", "new_string": "b"});
    let said = session.attempt("Edit", edit.clone());
    assert!(said.contains("[policy rule `unread`]"), "{said}");
    let read = json!({"file_path": "[W]/project/a.rs"});
    session.attempt("Read", read.clone());
    session.succeed("Read", read);
    assert_eq!(session.attempt("Edit", edit), "");
}

#[test]
fn an_end_is_put_off_until_the_tests_have_passed_and_never_for_ever() {
    let world = World::with_real_hook();
    let tests = rule("tests", "Stop", "require.tests_passed = true\nat_most = 2");
    world.write(USER, &rules(&tests));
    let server = Server::start(&world);
    let mut session = session(&world);
    session.prompt("change it");
    assert_eq!(session.stop(false), "", "nothing was changed");
    let write = json!({"file_path": "[W]/project/a.rs", "content": "x"});
    session.attempt("Write", write.clone());
    session.succeed("Write", write.clone());
    let said = session.stop(false);
    assert!(
        said.contains("\"decision\":\"block\"") && said.contains("no tests ran after the last change"),
        "{said}"
    );
    session.run("cargo test || true");
    let said = session.stop(true);
    assert!(said.contains("does not say whether the tests passed"), "{said}");
    session.run("cargo test");
    assert_eq!(session.stop(true), "", "released");
    session.attempt("Write", write.clone());
    session.succeed("Write", write);
    assert!(session.stop(false).contains("\"block\""));
    assert!(session.stop(true).contains("\"block\""));
    let said = session.stop(true);
    assert!(
        said.contains("systemMessage") && said.contains("not put off any longer") && !said.contains("block"),
        "{said}"
    );
    let rows = logged(&server, 5);
    let status: Vec<&str> = rows.iter().filter_map(|row| row["metadata"]["ruleStatus"].as_str()).collect();
    assert_eq!(status, ["enforced", "enforced", "enforced", "enforced", "let_go"]);
}

#[test]
fn a_rehearsal_is_recorded_and_changes_nothing() {
    let world = World::with_real_hook();
    world.write(USER, &rules(&rule("dry", "PreToolUse", "mode = \"dry_run\"\nmatch.tool = \"Bash\"")));
    let server = Server::start(&world);
    assert_eq!(items(&server, "/api/v1/policies")[0]["enabled"], false);
    assert_eq!(session(&world).run("ls"), "");
    let rows = logged(&server, 1);
    assert_eq!(rows[0]["metadata"]["ruleStatus"], "dry_run");
    server.end(nix::sys::signal::Signal::SIGTERM);
    assert_eq!(session(&world).run("ls"), "", "without a server there is no rehearsal");
}

#[test]
fn an_unknown_project_is_held_to_its_rules() {
    let world = World::with_real_hook();
    let server = Server::start(&world);
    world.write("project/.git/HEAD", "");
    world.write(
        "project/.agent-tracer/policy.toml",
        &rules(&rule("theirs", "PreToolUse", "match.tool = \"Write\"")),
    );
    let mut session = session(&world);
    // No time passes between the first prompt and the first call.
    session.prompt("hello");
    let said = session.attempt("Write", json!({"file_path": "a", "content": "x"}));
    assert!(said.contains("[policy rule `theirs` of this project]"), "{said}");
    let rows = logged(&server, 1);
    assert_eq!(rows[0]["metadata"]["ruleSource"], "project");
}

#[test]
fn what_the_day_has_cost_is_known_to_rules() {
    let world = World::with_real_hook();
    let budget = rule(
        "budget",
        "PreToolUse",
        "when.tokens = { per = \"day\", over = 0 }\nmatch.tool = \"Bash\"\non_outage = \"ask\"",
    );
    let minutes = rule(
        "fresh",
        "PreToolUse",
        "when.minutes_since = { last = \"test\", over = 5 }\nmatch.tool = \"Write\"",
    );
    world.write(USER, &rules(&format!("{budget}{minutes}")));
    let _server = Server::start(&world);
    let mut session = session(&world);
    assert_eq!(session.run("ls"), "", "nothing was spent, and that is known");
    let said = session.attempt("Write", json!({"file_path": "a", "content": "x"}));
    assert!(said.contains("[policy rule `fresh`]"), "never is longer ago than five minutes: {said}");
}

#[test]
fn an_unknown_project_is_held_to_its_rules_without_a_server() {
    let world = World::with_real_hook();
    world.write("project/.git/HEAD", "");
    world.write(
        "project/.agent-tracer/policy.toml",
        &rules(&rule("theirs", "PreToolUse", "match.tool = \"Write\"")),
    );
    let mut session = session(&world);
    session.prompt("hello");
    let said = session.attempt("Write", json!({"file_path": "a", "content": "x"}));
    assert!(said.contains("[policy rule `theirs` of this project]"), "{said}");
    assert_eq!(session.attempt("Read", json!({"file_path": "a"})), "");
}

#[test]
fn a_damaged_table_is_mended_and_takes_no_rule_away_meanwhile() {
    const TABLE: &str = "home/.local/share/agent-tracer/policy.tbl";
    let world = World::with_real_hook();
    world.write(USER, &rules(&rule("no-delete", "PreToolUse", "match.command = { effect = \"delete\" }")));
    let server = Server::start(&world);
    let mut session = session(&world);
    let sound = std::fs::read(world.path(TABLE)).expect("a table");
    world.write(TABLE, "damaged");
    let said = session.run("rm -rf build");
    assert!(said.contains("[policy rule `no-delete`]"), "while it is damaged: {said}");
    let begin = Instant::now();
    while std::fs::read(world.path(TABLE)).expect("a table") != sound {
        assert!(begin.elapsed() < Duration::from_secs(60), "the server did not mend it");
        std::thread::yield_now();
    }
    server.end(nix::sys::signal::Signal::SIGTERM);
    world.write(TABLE, "damaged");
    let said = session.run("rm -rf build");
    assert!(said.contains("[policy rule `no-delete`]"), "without a server: {said}");
    assert_eq!(std::fs::read(world.path(TABLE)).expect("a table"), sound, "the stand-in mended it");
}
