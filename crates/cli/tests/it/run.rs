//! `run`: an agent that is a script, with what it gets, and what becomes of its end.

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdout, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::world::World;

/// Returns a world in which the agent is this script, after its answer to `--version`.
fn world(script: &str) -> World {
    let mut world = World::with_real_hook();
    let answer = "[ \"$1\" = --version ] && { echo '2.1.326 (Claude Code)'; exit 0; }";
    for agent in ["claude", "codex"] {
        world.write(&format!("agents/{agent}"), &format!("#!/bin/sh\n{answer}\n{script}\n"));
        world.set_mode(&format!("agents/{agent}"), 0o755);
    }
    world.set("PATH", "[W]/agents:/usr/bin:/bin");
    world.set("AGENT_TRACER_HOME", "[W]/tracer");
    world
}

/// A script that sends an event through the hook of its settings file, and leaves its transcript.
const SESSION: &str = r#"
settings=$2
id=5a133364-48e1-40c2-b568-cfba1112cbce
path=$HOME/elsewhere/projects/-p/$id.jsonl
mkdir -p "$(dirname "$path")"
hook=$(sed -n 's/.*"command":"\([^"]*agent-tracer-hook\)".*/\1/p' "$settings")
event() { printf '{"session_id":"%s","transcript_path":"%s","cwd":"%s","hook_event_name":"%s"%s}' "$id" "$path" "$PWD" "$1" "$2" | "$hook" claude; }
event SessionStart ',"source":"startup"'
event UserPromptSubmit ',"prompt_id":"11111111-1111-4111-8111-111111111111","prompt":"hi"'
now=$(date -u +%Y-%m-%dT%H:%M:%S.999Z)
printf '{"type":"user","uuid":"u1","sessionId":"%s","cwd":"%s","version":"2.1.326","timestamp":"%s","promptId":"11111111-1111-4111-8111-111111111111","message":{"role":"user","content":"hi"}}\n' "$id" "$PWD" "$now" > "$path"
printf '{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"%s","cwd":"%s","version":"2.1.326","timestamp":"%s","requestId":"req_1","message":{"id":"msg_1","role":"assistant","model":"%s","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":5,"cache_read_input_tokens":7,"cache_creation_input_tokens":11}}}\n' "$id" "$PWD" "$now" "${MODEL:-claude-opus-4-5}" >> "$path"
event Stop ',"prompt_id":"11111111-1111-4111-8111-111111111111","stop_hook_active":false'
event SessionEnd ',"reason":"other"'
exit 3
"#;

#[test]
fn a_receipt_holds_what_the_agent_did_and_its_code_is_ours() {
    let world = world(SESSION);
    world.run(&["run", "--receipt", "receipt.json", "claude", "-p", "hi"]).ended_with(3);
    let receipt = world.json("project/receipt.json");
    assert_eq!(world.mode("project/receipt.json"), 0o600);
    let part = |name: &str| receipt[name].clone();
    assert_eq!(
        (part("schema"), part("agent"), part("agentVersion")),
        (json!(1), json!("claude_code"), json!("2.1.326"))
    );
    assert_eq!(
        (part("exitCode"), part("signal"), part("matchedBy")),
        (json!(3), Value::Null, json!("hooks"))
    );
    assert_eq!(receipt["tasks"].as_array().expect("tasks").len(), 1);
    assert_eq!(receipt["tasks"][0]["sessionId"], "5a133364-48e1-40c2-b568-cfba1112cbce");
    let tokens =
        json!({"inputTokens": 3, "outputTokens": 5, "cacheReadTokens": 7, "cacheCreationTokens": 11});
    assert_eq!(part("tokens"), tokens, "the transcript is in a folder that no setting names");
    assert!(part("costUsd").as_f64().expect("a price") > 0.0);
    assert_eq!(part("turns"), json!(1));
    assert_eq!(world.names("tracer/runs"), Vec::<String>::new());
    assert!(!world.exists("home/.claude"), "no settings file is made");
}

#[test]
fn a_model_without_a_price_has_no_cost() {
    let mut world = world(SESSION);
    world.set("MODEL", "unpriced-model-9");
    let answer = world.run(&["run", "--receipt", "-", "claude"]).ended_with(3);
    let receipt: Value = serde_json::from_str(&answer.stdout).expect("JSON alone");
    assert_eq!(receipt["costUsd"], Value::Null);
    assert_eq!(receipt["usageByModel"][0]["costUsd"], Value::Null);
    assert_eq!(receipt["tokens"]["outputTokens"], 5);
    assert!(receipt["unknown"].to_string().contains("no price"));
}

#[test]
fn nothing_recorded_is_unknown_and_not_zero() {
    let world = world("exit 0");
    let answer = world.run(&["run", "--receipt", "-", "codex"]).ended_with(0);
    let receipt: Value = serde_json::from_str(&answer.stdout).expect("JSON alone");
    for name in ["tokens", "costUsd", "time", "permissionPrompts", "matchedBy"] {
        assert_eq!(receipt[name], Value::Null, "{name}");
    }
    assert_eq!(receipt["unknown"], json!(["sessions: nothing was recorded"]));
}

#[test]
fn arguments_input_and_output_pass_through() {
    let world = world(r#"[ "$1" = --settings ] && shift 2; printf '<%s>' "$@"; cat; echo oops >&2; exit 7"#);
    let answer = world
        .run_with("project", &["run", "claude", "-p", "--home", "a b", "", "--", "--receipt"], "from input")
        .ended_with(7);
    assert_eq!(answer.stdout, "<-p><--home><a b><><--><--receipt>from input");
    assert_eq!(answer.stderr, "oops\n");
    assert_eq!(world.run(&["run", "claude", "--", "x"]).ended_with(7).stdout, "<x>");
    assert_eq!(world.run(&["run", "claude", "--help"]).ended_with(7).stdout, "<--help>");
}

#[test]
fn a_missing_program_and_an_unknown_agent_are_clear_errors() {
    let mut world = world("exit 0");
    world.set("PATH", "[W]/empty");
    let answer = world.run(&["run", "claude"]).ended_with(1);
    assert_eq!(
        answer.stderr,
        "error: cannot find Claude Code: no program `claude` on the `PATH`\n\
         hint: install Claude Code, or add the folder of `claude` to the `PATH`\n"
    );
    let answer = world.run(&["run", "bash", "-c", "true"]).ended_with(2);
    assert!(
        answer.stderr.contains("unknown agent `bash`\nhint: name one of `claude`, `codex`"),
        "{}",
        answer.stderr
    );
    let answer = world.run(&["run", "--receipt", "missing/r.json", "claude"]).ended_with(2);
    assert!(answer.stderr.contains("its folder does not exist"), "{}", answer.stderr);
}

#[test]
fn settings_stay_to_the_byte_and_installed_hooks_record_once() {
    let world = world(SESSION);
    let own = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}}"#;
    world.write("home/.claude/settings.json", own);
    world.run(&["install", "claude", "--no-verify", "--no-statusline"]).ended_with(0);
    let before = world.read("home/.claude/settings.json");
    world.write(
        "agents/claude",
        &world.read("agents/claude").replace("settings=$2", "cat \"$2\" > \"$HOME/seen.json\"; exit 0"),
    );
    world.run(&["run", "claude"]).ended_with(0);
    assert_eq!(world.read("home/.claude/settings.json"), before);
    assert_eq!(world.json("home/seen.json"), json!({"hooks": {}}), "every event is installed");
}

/// Starts an agent. Returns it when it has printed its first line, with the line.
fn started(world: &World) -> (Child, BufReader<ChildStdout>, String) {
    // A caller without a terminal may ignore signals, which started programs inherit: `env` sets them back.
    let mut child = Command::new("/usr/bin/env")
        .arg("--default-signal")
        .arg(world.path("bin/agent-tracer"))
        .args(["run", "--receipt", "receipt.json", "claude"])
        .current_dir(world.path("project"))
        .env_clear()
        .env("HOME", world.path("home"))
        .envs(world.variables())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut output = BufReader::new(child.stdout.take().expect("an output"));
    let line = next_line(&mut output);
    (child, output, line)
}

fn next_line(output: &mut impl BufRead) -> String {
    let mut line = String::new();
    output.read_line(&mut line).expect("a line");
    line.trim_end().to_owned()
}

fn send(child: &Child, signal: Signal) {
    kill(Pid::from_raw(i32::try_from(child.id()).expect("a process")), signal).expect("sent");
}

#[test]
fn signals_reach_the_agent_and_it_decides() {
    let names = ["INT", "TERM", "HUP", "QUIT", "TSTP", "CONT", "USR1", "USR2"];
    let traps: String = names.iter().map(|name| format!("trap 'echo {name}' {name}\n")).collect();
    let world = world(&format!("{traps}trap 'exit 9' ALRM\necho ready $$\nwhile :; do sleep 0.05; done"));
    let (mut child, mut output, line) = started(&world);
    let agent: i32 = line.strip_prefix("ready ").expect("ready").parse().expect("a number");
    let signals = [
        Signal::SIGINT,
        Signal::SIGTERM,
        Signal::SIGHUP,
        Signal::SIGQUIT,
        Signal::SIGTSTP,
        Signal::SIGCONT,
        Signal::SIGUSR1,
        Signal::SIGUSR2,
    ];
    for (signal, name) in signals.into_iter().zip(names) {
        send(&child, signal);
        assert_eq!(next_line(&mut output), name);
    }
    kill(Pid::from_raw(agent), Signal::SIGALRM).expect("sent");
    assert_eq!(child.wait().expect("an end").code(), Some(9));
}

#[test]
fn an_agent_that_a_signal_ends_gives_its_code_and_a_receipt() {
    for (signal, code) in
        [(Signal::SIGTERM, 143), (Signal::SIGINT, 130), (Signal::SIGHUP, 129), (Signal::SIGQUIT, 131)]
    {
        let world = world("echo ready\nexec sleep 600");
        let (mut child, _output, line) = started(&world);
        assert_eq!(line, "ready");
        send(&child, signal);
        let end = child.wait().expect("an end");
        assert_eq!((end.code(), end.signal()), (Some(code), None));
        let receipt = world.json("project/receipt.json");
        assert_eq!(
            (receipt["exitCode"].clone(), receipt["signal"].clone()),
            (json!(code), json!(signal.as_str()))
        );
    }
}

#[test]
fn a_group_gets_each_signal_and_the_agent_stays_in_it() {
    let world = world("ps -o pgid= -p $$ -p $PPID | sort -u | wc -l");
    let answer = world.run(&["run", "claude"]).ended_with(0);
    assert_eq!(answer.stdout.trim(), "1", "agent and caller are one process group");
}
