//! Answers to events with rules: from the server, from the guard, and from the table in an outage.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::Output;
use std::thread::JoinHandle;

use agent_tracer_agent::Agent;
use agent_tracer_policy_abi::wire::{ANSWER_MAX, AnswerHead, QUESTION_HEAD, QuestionHead};
use agent_tracer_policy_abi::{Outage, Row, build};
use agent_tracer_spool::envelope::Channel;
use serde_json::{Value, json};

use crate::world::{World, assert_silent, files, run};

const ROW: Row<'_> = Row {
    agent: b"claude_code",
    event: b"PreToolUse",
    tool: b"Bash",
    project: b"",
    outage: Outage::Allow,
    stdout: b"",
    stderr: b"",
    exit: 0,
    rule: b"user/no-delete",
    server_only: false,
};
const DENY: Row<'_> = Row { outage: Outage::Deny, stdout: b"{\"denied\":1}\n", ..ROW };
/// A deadline that no test reaches, unless the deadline is the subject.
const PATIENT: u32 = 60_000;

fn event(name: &str, tool: &str) -> Value {
    json!({"session_id": "s-1", "cwd": "/code/app", "hook_event_name": name, "tool_name": tool,
        "tool_input": {"command": "rm -rf build"}, "tool_use_id": "toolu_1"})
}

fn payload(name: &str, tool: &str) -> Vec<u8> {
    event(name, tool).to_string().into_bytes()
}

impl World {
    fn table(&self, deadline_ms: u32, guard: &str, rows: &[Row<'_>]) {
        fs::create_dir_all(self.home()).expect("home");
        let bytes = build(deadline_ms, guard.as_bytes(), rows).expect("small");
        let mut file = fs::File::create(self.home().join("policy.tbl")).expect("a file");
        file.write_all(&bytes).expect("written");
    }

    /// Writes a guard that prints its arguments and its input.
    fn guard(&self, exit: u8) -> String {
        self.write("guard", &format!("#!/bin/sh\necho \"$@\"\ncat\necho guarded >&2\nexit {exit}\n"));
        let path = self.home().join("guard");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode");
        path.to_str().expect("text").to_owned()
    }

    fn listen(&self) -> UnixListener {
        fs::create_dir_all(self.home()).expect("home");
        UnixListener::bind(self.home().join("answers.sock")).expect("a socket")
    }

    /// Returns the decisions that were recorded.
    fn decisions(&self) -> Vec<Value> {
        let all = self.envelopes();
        let decided = all.iter().filter(|(header, _)| header.channel == Channel::Decision);
        decided.map(|(_, body)| serde_json::from_slice(body).expect("JSON")).collect()
    }
}

/// A question as the server received it.
struct Received {
    head: QuestionHead,
    name: String,
    folder: String,
    payload: Value,
    /// The envelope was in the spool when the question came.
    was_spooled: bool,
}

/// Answers one question with these bytes and returns it.
fn answering(world: &World, answer: Vec<u8>) -> JoinHandle<Received> {
    let listener = world.listen();
    let new: PathBuf = world.home().join("spool/new");
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a question");
        let mut head = [0; QUESTION_HEAD];
        stream.read_exact(&mut head).expect("a head");
        let head = QuestionHead::read(&head).expect("a question");
        let mut text = |length: usize| {
            let mut bytes = vec![0; length];
            stream.read_exact(&mut bytes).expect("a text");
            bytes
        };
        let name = String::from_utf8(text(head.name)).expect("text");
        let folder = String::from_utf8(text(head.folder)).expect("text");
        let payload = serde_json::from_slice(&text(head.payload)).expect("JSON");
        let was_spooled = !name.is_empty() && new.join(&name).exists();
        drop(stream.write_all(&answer));
        Received { head, name, folder, payload, was_spooled }
    })
}

fn said(exit: u8, stdout: &str, stderr: &str) -> Vec<u8> {
    let head = AnswerHead { exit, stdout: stdout.len(), stderr: stderr.len() }.bytes().expect("short");
    [&head[..], stdout.as_bytes(), stderr.as_bytes()].concat()
}

#[track_caller]
fn assert_said(output: &Output, exit: i32, stdout: &str, stderr: &str) {
    assert_eq!(String::from_utf8_lossy(&output.stdout), stdout, "standard output");
    assert_eq!(String::from_utf8_lossy(&output.stderr), stderr, "standard error");
    assert_eq!(output.status.code(), Some(exit), "exit code");
}

#[test]
fn no_server_is_asked_without_a_table_or_a_matching_row() {
    let world = World::new();
    let listener = world.listen();
    listener.set_nonblocking(true).expect("set");
    assert_silent(&world.run(&["claude"], &payload("PreToolUse", "Bash")));
    world.table(PATIENT, "", &[DENY]);
    for (agent, name, tool) in [
        ("claude", "PreToolUse", "Read"),
        ("claude", "PostToolUse", "Bash"),
        ("claude", "SessionStart", ""),
        ("codex", "PreToolUse", "Bash"),
        ("statusline", "PreToolUse", "Bash"),
    ] {
        let output = world.run(&[agent], &payload(name, tool));
        if agent != "statusline" {
            assert_silent(&output);
        }
    }
    assert!(listener.accept().is_err(), "the server was not asked");
    assert_eq!(world.envelopes().len(), 6, "everything was recorded");
}

#[test]
fn a_damaged_table_does_not_silence_events_that_rules_can_be_about() {
    for damage in ["damaged", ""] {
        let world = World::new();
        world.write("policy.tbl", damage);
        let server = answering(&world, said(0, "{\"out\":1}\n", ""));
        for name in ["PostToolBatch", "SessionStart", "Notification", "SessionEnd"] {
            assert_silent(&world.run(&["claude"], &payload(name, "Bash")));
        }
        assert_said(&world.run(&["claude"], &payload("PreToolUse", "Bash")), 0, "{\"out\":1}\n", "");
        assert_eq!(server.join().expect("an answer").payload["hook_event_name"], "PreToolUse");
        assert_eq!(world.decisions(), Vec::<Value>::new());
    }
}

#[test]
fn a_prompt_in_a_project_with_unknown_rules_asks_the_server() {
    let world = World::new();
    fs::create_dir_all(world.home().join("app/.agent-tracer")).expect("a folder");
    world.write("app/.agent-tracer/policy.toml", "version = 1\n");
    let root = world.home().join("app");
    let prompt = |name: &str| {
        let mut event = event(name, "");
        event["cwd"] = root.join("src").to_str().expect("text").into();
        event["prompt"] = "hello".into();
        event.to_string().into_bytes()
    };
    for (is_known, name, is_asked) in [
        (None, "UserPromptSubmit", true),
        (Some(false), "UserPromptSubmit", true),
        (Some(true), "UserPromptSubmit", false),
        (None, "PreToolUse", false),
        (Some(false), "Stop", false),
    ] {
        drop(fs::remove_file(world.home().join("policy.tbl")));
        let project = root.to_str().expect("text").as_bytes();
        match is_known {
            None => {}
            Some(false) => world.table(PATIENT, "", &[DENY]),
            Some(true) => world.table(PATIENT, "", &[Row { project, ..DENY }]),
        }
        drop(fs::remove_file(world.home().join("answers.sock")));
        if is_asked {
            let server = answering(&world, said(0, "{\"out\":1}\n", ""));
            assert_said(&world.run(&["claude"], &prompt(name)), 0, "{\"out\":1}\n", "");
            assert_eq!(server.join().expect("an answer").payload["prompt"], "hello");
        } else {
            let listener = world.listen();
            listener.set_nonblocking(true).expect("set");
            assert_silent(&world.run(&["claude"], &prompt(name)));
            assert!(listener.accept().is_err(), "{is_known:?} {name}");
        }
    }
}

#[test]
fn the_server_is_asked_after_the_event_is_spooled_and_its_answer_is_printed() {
    let world = World::new();
    world.table(PATIENT, "", &[DENY]);
    let server = answering(&world, said(2, "{\"out\":1}\n", "err\n"));
    let output =
        run(world.command(&["claude"]).env("CLAUDE_PROJECT_DIR", "/code"), &payload("PreToolUse", "Bash"));
    assert_said(&output, 2, "{\"out\":1}\n", "err\n");
    let asked = server.join().expect("an answer");
    assert!(asked.was_spooled, "{}", asked.name);
    assert_eq!((asked.head.agent, asked.folder.as_str()), (Agent::CLAUDE_CODE, "/code"));
    assert_eq!(asked.payload, event("PreToolUse", "Bash"));
    assert_eq!(world.decisions(), Vec::<Value>::new(), "the server records its own decisions");
}

#[test]
fn an_empty_answer_prints_nothing() {
    let world = World::new();
    world.table(PATIENT, "", &[Row { agent: b"codex", ..DENY }]);
    let server = answering(&world, said(0, "", ""));
    assert_silent(&world.run(&["codex"], &payload("PreToolUse", "Bash")));
    assert_eq!(server.join().expect("an answer").head.agent, Agent::CODEX);
}

#[test]
fn results_of_tools_are_not_sent_and_no_unreduced_payload_reaches_the_disk() {
    let world = World::new();
    world.table(PATIENT, "", &[Row { event: b"PostToolUse", ..DENY }]);
    let server = answering(&world, said(0, "", ""));
    let mut sent = event("PostToolUse", "Bash");
    sent["tool_response"] = json!({"stdout": "the result body", "stderr": ""});
    sent["tool_input"]["command"] = json!("deploy --token ghp_0123456789abcdefghijABCDEFGHIJ012345");
    assert_silent(&world.run(&["claude"], sent.to_string().as_bytes()));
    let asked = server.join().expect("an answer").payload;
    assert_eq!(asked["tool_response"], Value::Null);
    assert_eq!(asked["tool_input"], sent["tool_input"], "rules see the command as it is");
    for file in files(&world.home()) {
        let bytes = fs::read(&file).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("the result body") && !text.contains("ghp_0123"), "{}", file.display());
    }
}

#[test]
fn past_the_deadline_the_tables_outage_decision_holds_and_is_recorded() {
    for (row, exit, stdout, stderr, outcome) in [
        (ROW, 0, "", "", "silent"),
        (DENY, 0, "{\"denied\":1}\n", "", "deny"),
        (Row { outage: Outage::Ask, stdout: b"{\"ask\":1}\n", ..ROW }, 0, "{\"ask\":1}\n", "", "ask"),
        (Row { outage: Outage::Deny, stderr: b"no\n", exit: 2, ..ROW }, 2, "", "no\n", "deny"),
    ] {
        let world = World::new();
        world.table(1, "", &[row]);
        // Listens and never answers.
        let _listener = world.listen();
        let output = world.run(&["claude"], &payload("PreToolUse", "Bash"));
        assert_said(&output, exit, stdout, stderr);
        let decisions = world.decisions();
        let [decision] = decisions.as_slice() else { panic!("{decisions:?}") };
        assert_eq!((&decision["session_id"], &decision["tool_use_id"]), (&json!("s-1"), &json!("toolu_1")));
        assert_eq!(decision.get("tool_input"), None);
        let record = &decision["decision"];
        assert_eq!((&record["answered_by"], &record["outcome"]), (&json!("outage"), &json!(outcome)));
        assert_eq!(record["rules"][0]["rule"], "no-delete");
        assert!(record["took_us"].is_u64());
        assert_eq!(world.envelopes().len(), 2, "the event itself is recorded too");
    }
}

#[test]
fn a_malformed_answer_is_an_outage() {
    for answer in [
        b"HTTP/1.1 200 OK\r\n\r\n".to_vec(),
        Vec::new(),
        said(0, "{}", "")[..17].to_vec(),
        [b"ATA1\0\0\0\0".to_vec(), u32::try_from(ANSWER_MAX + 1).unwrap().to_le_bytes().repeat(2)].concat(),
    ] {
        let world = World::new();
        world.table(PATIENT, "", &[DENY]);
        let server = answering(&world, answer);
        assert_said(&world.run(&["claude"], &payload("PreToolUse", "Bash")), 0, "{\"denied\":1}\n", "");
        server.join().expect("it was asked");
    }
}

#[test]
fn without_a_server_the_guard_answers_with_the_same_payload() {
    let world = World::new();
    let guard = world.guard(2);
    world.table(PATIENT, &guard, &[DENY]);
    let output = world.run(&["claude"], &payload("PreToolUse", "Bash"));
    let name = fs::read_dir(world.home().join("spool/new")).unwrap().next().unwrap().unwrap().file_name();
    let expected = format!("guard claude --for-hook {}\n{}", name.display(), event("PreToolUse", "Bash"));
    assert_said(&output, 2, &expected, "guarded\n");
    // A dead server leaves its socket file behind.
    drop(world.listen());
    let output = world.run(&["claude"], &payload("PreToolUse", "Bash"));
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("guard claude --for-hook "));
    // The guard gets a home that only the command line names.
    let home = world.home();
    let mut command = world.command(&["claude", "--home", home.to_str().unwrap()]);
    let output = run(command.env_remove("AGENT_TRACER_HOME"), &payload("PreToolUse", "Bash"));
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(printed.lines().next().unwrap().ends_with(&format!("--home {}", home.display())), "{printed}");
}

/// The server listens and never answers, as one that is stopped.
#[test]
fn past_the_deadline_the_guard_judges_by_the_rules() {
    let world = World::new();
    let guard = world.guard(2);
    world.table(1, &guard, &[ROW]);
    let listener = world.listen();
    let output = world.run(&["claude"], &payload("PreToolUse", "Bash"));
    let name = fs::read_dir(world.home().join("spool/new")).unwrap().next().unwrap().unwrap().file_name();
    let expected = format!("guard claude --for-hook {}\n{}", name.display(), event("PreToolUse", "Bash"));
    assert_said(&output, 2, &expected, "guarded\n");
    assert_eq!(world.decisions(), Vec::<Value>::new(), "the guard records its own decisions");
    // More hooks than the system queues: the next one cannot even connect.
    let path = world.home().join("answers.sock");
    listener.set_nonblocking(true).expect("set");
    let waiting: Vec<_> =
        (0..8).filter_map(|_| std::os::unix::net::UnixStream::connect(&path).ok()).collect();
    assert_eq!(waiting.len(), 8);
    let output = world.run(&["claude"], &payload("PreToolUse", "Bash"));
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("guard claude"), "{output:?}");
}

#[test]
fn a_rule_that_only_the_server_can_judge_is_an_outage_past_the_deadline() {
    let world = World::new();
    let guard = world.guard(2);
    world.table(1, &guard, &[Row { server_only: true, ..ROW }]);
    let _listener = world.listen();
    assert_silent(&world.run(&["claude"], &payload("PreToolUse", "Bash")));
    assert_eq!(world.decisions()[0]["decision"]["answered_by"], "outage");
}

#[test]
fn after_a_malformed_answer_or_for_a_long_payload_the_guard_answers() {
    let world = World::new();
    let guard = world.guard(2);
    world.table(PATIENT, &guard, &[ROW]);
    let server = answering(&world, b"HTTP/1.1 200 OK\r\n\r\n".to_vec());
    let output = world.run(&["claude"], &payload("PreToolUse", "Bash"));
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("guard claude"), "{output:?}");
    server.join().expect("it was asked");
    for bytes in [2 << 20, 17 << 20] {
        let mut long = event("PreToolUse", "Bash");
        long["tool_input"]["command"] = json!("x".repeat(bytes));
        drop(fs::remove_file(world.home().join("answers.sock")));
        world.table(1, &guard, &[ROW]);
        let _listener = world.listen();
        let output = world.run(&["claude"], long.to_string().as_bytes());
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stdout.len() > bytes, "all of it: {}", output.stdout.len());
    }
}

#[test]
fn a_missing_table_does_not_silence_events_while_the_user_has_rules() {
    for (agent, decision) in [("claude", "ask"), ("codex", "deny")] {
        let world = World::new();
        world.write("policy.toml", "version = 1\n");
        // Neither a server nor a guard: the human decides.
        let output = world.run(&[agent], &payload("PreToolUse", "Bash"));
        let said: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(said["hookSpecificOutput"]["permissionDecision"], decision);
        for name in ["PostToolUse", "Stop", "SessionStart", "UserPromptSubmit"] {
            assert_silent(&world.run(&[agent], &payload(name, "Bash")));
        }
        let server = answering(&world, said_bytes());
        assert_said(&world.run(&[agent], &payload("PreToolUse", "Bash")), 0, "{\"out\":1}\n", "");
        server.join().expect("it was asked");
        fs::remove_file(world.home().join("policy.toml")).expect("gone");
        assert_silent(&world.run(&[agent], &payload("PreToolUse", "Bash")));
        world.write("policy.toml", "version = 1\n");
        world.table(PATIENT, "", &[]);
        assert_silent(&world.run(&[agent], &payload("PreToolUse", "Bash")));
    }
}

fn said_bytes() -> Vec<u8> {
    said(0, "{\"out\":1}\n", "")
}

#[test]
fn a_table_that_others_can_write_is_not_obeyed_and_no_server_beside_it_is_asked() {
    for folder in [false, true] {
        let world = World::new();
        world.table(PATIENT, "", &[ROW]);
        let listener = world.listen();
        listener.set_nonblocking(true).expect("set");
        let spoiled = if folder { world.home() } else { world.home().join("policy.tbl") };
        fs::set_permissions(&spoiled, fs::Permissions::from_mode(0o777)).expect("a mode");
        let output = world.run(&["claude"], &payload("PreToolUse", "Bash"));
        let said: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "ask");
        assert!(listener.accept().is_err(), "the server was not asked");
    }
}

#[test]
fn a_long_payload_reaches_the_guard_whole() {
    let world = World::new();
    let guard = world.guard(0);
    world.table(PATIENT, &guard, &[DENY]);
    let mut long = event("PreToolUse", "Bash");
    long["tool_input"]["command"] = json!("x".repeat(300_000));
    let output = world.run(&["claude"], long.to_string().as_bytes());
    assert!(output.stdout.len() > 300_000, "{}", output.stdout.len());
}

#[test]
fn the_guard_does_not_run_where_only_the_server_can_judge() {
    let world = World::new();
    let guard = world.guard(2);
    world.table(PATIENT, &guard, &[Row { server_only: true, ..ROW }]);
    assert_silent(&world.run(&["claude"], &payload("PreToolUse", "Bash")));
    assert_eq!(world.decisions(), Vec::<Value>::new());
}

#[test]
fn a_guard_that_cannot_start_is_an_outage() {
    for guard in ["", "relative/guard", "/nowhere/at/all"] {
        let world = World::new();
        world.table(PATIENT, guard, &[DENY]);
        assert_said(&world.run(&["claude"], &payload("PreToolUse", "Bash")), 0, "{\"denied\":1}\n", "");
        assert_eq!(world.decisions().len(), 1, "{guard}");
    }
}

#[test]
fn an_event_that_is_not_recorded_is_answered_and_the_decision_is_not_recorded_either() {
    let world = World::new();
    world.table(PATIENT, "", &[DENY]);
    world.write("privacy.conf", "exclude /code/**\n");
    let server = answering(&world, said(0, "", ""));
    assert_silent(&world.run(&["claude"], &payload("PreToolUse", "Bash")));
    assert_eq!(server.join().expect("an answer").name, "");
    fs::remove_file(world.home().join("answers.sock")).unwrap();
    assert_said(&world.run(&["claude"], &payload("PreToolUse", "Bash")), 0, "{\"denied\":1}\n", "");
    world.write("privacy.conf", "");
    let output = run(world.command(&["claude"]).env("AGENT_TRACER_OFF", "1"), &payload("PreToolUse", "Bash"));
    assert_said(&output, 0, "{\"denied\":1}\n", "");
    assert_eq!(world.envelopes().len(), 0);
}

#[test]
fn a_payload_that_is_too_long_to_send_is_an_outage_and_no_way_past_a_rule() {
    let world = World::new();
    world.table(PATIENT, "", &[DENY]);
    let listener = world.listen();
    listener.set_nonblocking(true).expect("set");
    let mut long = event("PreToolUse", "Bash");
    long["tool_input"]["command"] = json!("x".repeat(17 << 20));
    let whole = long.to_string();
    assert_said(&world.run(&["claude"], whole.as_bytes()), 0, "{\"denied\":1}\n", "");
    let (cut, _) = whole.split_at(whole.len() - 5);
    let sorted = cut.replacen("{", "{\"tool_name\":\"Bash\",\"hook_event_name\":\"PreToolUse\",", 1);
    assert_said(&world.run(&["claude"], sorted.as_bytes()), 0, "{\"denied\":1}\n", "");
    assert!(listener.accept().is_err(), "the server was not asked");
}
