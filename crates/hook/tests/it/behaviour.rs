//! The hook's promises to agents and users.

use std::process::Stdio;

use agent_tracer_spool::Home;
use agent_tracer_spool::envelope::{Agent, Channel};
use serde_json::json;

use crate::world::{World, assert_silent, files, mode, run};

const PROMPT: &[u8] = br#"{"session_id":"5a133364-48e1-40c2-b568-cfba1112cbce","cwd":"/home/dev/project","hook_event_name":"UserPromptSubmit","prompt":"hello"}
"#;

#[test]
fn an_event_becomes_one_envelope_and_the_hook_prints_nothing() {
    let world = World::new();
    assert_silent(&world.run(&["claude"], PROMPT));
    let (header, body) = world.envelope();
    assert_eq!(header.agent, Agent::CLAUDE_CODE);
    assert_eq!(header.channel, Channel::Hook);
    assert_eq!(header.received_bytes, Some(PROMPT.len() as u64));
    assert_eq!(header.level.as_deref(), Some("actions"));
    assert_eq!(header.writer.as_deref(), Some(env!("CARGO_PKG_VERSION")));
    assert!(header.arrived_nanos > 1_700_000_000_000_000_000);
    assert!(header.fault.is_none());
    assert_eq!(body["prompt"], "hello");
    assert_eq!(body["hook_event_name"], "UserPromptSubmit");
}

#[test]
fn the_command_line_names_the_agent() {
    let world = World::new();
    assert_silent(&world.run(&["codex"], PROMPT));
    assert_eq!(world.envelope().0.agent, Agent::CODEX);
}

#[test]
fn the_process_that_acts_is_named_for_certain() {
    let world = World::new();
    assert_silent(&world.run(&["claude"], PROMPT));
    let header = world.envelope().0;
    assert_eq!(header.parent_pid, Some(std::process::id()));
    assert_eq!(header.pid, Some(std::process::id()));
    assert!(header.hook_pid.is_some_and(|pid| pid != std::process::id()));
    if cfg!(target_os = "macos") || std::path::Path::new("/proc/self/stat").exists() {
        assert!(header.pid_start.is_some());
        assert!(header.pid_namespace.is_some());
    }
}

#[test]
fn the_process_that_the_agent_names_is_recorded() {
    let world = World::new();
    let output = run(world.command(&["claude"]).env("CLAUDE_PID", "1"), PROMPT);
    assert_silent(&output);
    assert_eq!(world.envelope().0.pid, Some(1));
}

#[test]
fn named_variables_are_recorded_and_no_others() {
    let world = World::new();
    let mut command = world.command(&["claude"]);
    command
        .env("CLAUDE_PROJECT_DIR", "/home/dev/project")
        .env("CLAUDE_CODE_ENTRYPOINT", "cli")
        .env("CLAUDE_CODE_MESSAGING_TOKEN", "canary-token")
        .env("ANTHROPIC_API_KEY", "canary-key")
        .env("SOMETHING_ELSE", "canary-else");
    assert_silent(&run(&mut command, PROMPT));
    let names: Vec<String> = world.envelope().0.env.iter().map(|(name, _)| name.to_string()).collect();
    assert_eq!(names, ["CLAUDE_PROJECT_DIR", "CLAUDE_CODE_ENTRYPOINT"]);
    for path in files(&world.home()) {
        let bytes = std::fs::read(&path).expect("a file");
        assert!(!bytes.windows(7).any(|window| window == b"canary-"), "{}", path.display());
    }
}

#[test]
fn a_secret_in_a_path_or_a_variable_is_masked() {
    let world = World::new();
    let secret = format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a");
    let place = world.home().with_file_name(&secret);
    std::fs::create_dir_all(&place).expect("a folder");
    let mut command = world.command(&["claude"]);
    command.current_dir(&place).env("CLAUDE_PROJECT_DIR", &place);
    assert_silent(&run(&mut command, PROMPT));
    for path in files(&world.home()) {
        let text = String::from_utf8_lossy(&std::fs::read(&path).expect("a file")).into_owned();
        assert!(!text.contains(&secret), "{text}");
    }
    assert!(world.envelope().0.cwd.is_some_and(|cwd| cwd.ends_with(b"]")));
}

#[test]
fn a_limit_on_file_sizes_does_not_kill_the_hook() {
    let world = World::new();
    let hook = env!("CARGO_BIN_EXE_agent-tracer-hook");
    let mut command = std::process::Command::new("/bin/sh");
    command.arg("-c").arg(format!("ulimit -f 0; exec {hook} claude")).env("AGENT_TRACER_HOME", world.home());
    assert_silent(&run(&mut command, PROMPT));
    assert_eq!(world.envelopes().len(), 0);
}

#[test]
fn everything_on_disk_is_the_users_alone() {
    let world = World::new();
    let write =
        json!({"hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": {"content": "x"}});
    assert_silent(&world.run(&["claude"], write.to_string().as_bytes()));
    for path in files(&world.home()) {
        assert_eq!(mode(&path), 0o600, "{}", path.display());
        assert_eq!(mode(path.parent().expect("a folder")), 0o700, "{}", path.display());
    }
}

#[test]
fn the_switch_turns_recording_off() {
    let world = World::new();
    assert_silent(&run(world.command(&["claude"]).env("AGENT_TRACER_OFF", "1"), PROMPT));
    assert_eq!(world.envelopes().len(), 0);
    assert_silent(&run(world.command(&["claude"]).env("AGENT_TRACER_OFF", "0"), PROMPT));
    assert_eq!(world.envelopes().len(), 1);
}

#[test]
fn a_session_without_recording_leaves_its_id_and_nothing_else() {
    let world = World::new();
    assert_silent(&run(world.command(&["claude"]).env("AGENT_TRACER_OFF", "1"), PROMPT));
    assert_eq!(files(&world.home()), Vec::<std::path::PathBuf>::new(), "nothing is installed here");
    world.write("privacy.conf", "");
    for _ in 0..2 {
        assert_silent(&run(world.command(&["claude"]).env("AGENT_TRACER_OFF", "1"), PROMPT));
    }
    let payload: serde_json::Value = serde_json::from_slice(PROMPT).unwrap();
    let session = payload["session_id"].as_str().unwrap();
    let noted = std::fs::read_to_string(world.home().join("unrecorded")).unwrap();
    assert_eq!(noted, format!("{session}\n"), "for readers of its transcript, once");
    assert!(session.len() >= 16, "an id that could be a word would keep out too much");
}

#[test]
fn an_excluded_project_leaves_no_trace() {
    let world = World::new();
    world.write("privacy.conf", "exclude /home/dev/**\n");
    assert_silent(&world.run(&["claude"], PROMPT));
    let elsewhere = String::from_utf8_lossy(PROMPT).replace("/home/dev", "/srv");
    assert_silent(&run(
        world.command(&["claude"]).env("CLAUDE_PROJECT_DIR", "/home/dev/project"),
        elsewhere.as_bytes(),
    ));
    assert_eq!(world.envelopes().len(), 0);
    assert_silent(&world.run(&["claude"], elsewhere.as_bytes()));
    assert_eq!(world.envelopes().len(), 1);
}

#[test]
fn the_level_the_user_chose_is_the_one_applied() {
    let world = World::new();
    world.write("privacy.conf", "level metadata\n");
    assert_silent(&world.run(&["claude"], PROMPT));
    let (header, body) = world.envelope();
    assert_eq!(header.level.as_deref(), Some("metadata"));
    assert_eq!(body["prompt"]["bytes"], 5);
}

#[test]
fn a_level_that_is_not_understood_is_the_strictest() {
    let world = World::new();
    world.write("privacy.conf", "level everything\n");
    assert_silent(&world.run(&["claude"], PROMPT));
    assert_eq!(world.envelope().0.level.as_deref(), Some("metadata"));
}

#[test]
fn home_comes_from_the_variable_then_the_argument_then_the_user() {
    let world = World::new();
    let other = world.home().join("other");
    let other_text = other.to_str().expect("text");
    assert_silent(&world.run(&["claude", "--home", other_text], PROMPT));
    assert_eq!(world.envelopes().len(), 1, "the variable beats the argument");
    assert_silent(&run(
        world.command(&["claude", "--home", other_text]).env_remove("AGENT_TRACER_HOME"),
        PROMPT,
    ));
    assert_eq!(files(&other.join("spool/new")).len(), 1);
    assert_silent(&run(world.command(&["claude"]).env_remove("AGENT_TRACER_HOME"), PROMPT));
    let user = world.home().parent().expect("the user").join(".local/share/agent-tracer/spool/new");
    assert_eq!(files(&user).len(), 1);
}

#[test]
fn a_machine_without_a_home_is_no_error() {
    let world = World::new();
    let output = run(world.command(&["claude"]).env_remove("AGENT_TRACER_HOME").env_remove("HOME"), PROMPT);
    assert_silent(&output);
}

#[test]
fn closed_input_is_an_event_that_could_not_be_understood() {
    let world = World::new();
    let output = world.command(&["claude"]).stdin(Stdio::null()).output().expect("the hook runs");
    assert_silent(&output);
    let all = world.envelopes();
    assert_eq!(all.len(), 1);
    assert!(all[0].0.fault.is_some());
    assert!(all[0].1.is_empty());
}

#[test]
fn unknown_agents_are_silent_too() {
    let world = World::new();
    assert_silent(&world.run(&["another-agent"], PROMPT));
    assert_silent(&world.run(&[], PROMPT));
    assert_eq!(world.envelopes().len(), 0);
}

#[test]
fn the_version_is_printed_on_request() {
    let output = World::new().run(&["--version"], b"");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        concat!("agent-tracer-hook ", env!("CARGO_PKG_VERSION"), "\n")
    );
}

#[test]
fn a_session_is_named_to_the_run_that_it_is_a_part_of() {
    const RUN: &str = "0123456789abcdef01";
    let world = World::new();
    let home = Home::in_folder(world.home());
    let folder = agent_tracer_spool::run::folder(&home, RUN.as_bytes()).unwrap();
    let note = |off: &str| {
        let mut command = world.command(&["claude"]);
        command.env(agent_tracer_spool::run::VARIABLE, RUN).env("AGENT_TRACER_OFF", off);
        assert_silent(&run(&mut command, PROMPT));
        agent_tracer_spool::run::sessions(&home, RUN.as_bytes()).unwrap()
    };
    assert!(note("").is_empty(), "the run is over");
    std::fs::create_dir_all(folder).unwrap();
    assert!(note("1").is_empty(), "nothing is recorded");
    assert_eq!(note(""), ["5a133364-48e1-40c2-b568-cfba1112cbce"]);
}
