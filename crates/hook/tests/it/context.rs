//! The context that an agent gets when it begins, and the cases without any.

use std::fs;
use std::io::Write;
use std::path::Path;

use agent_tracer_spool::Home;
use agent_tracer_spool::context::{self, Page};

use crate::world::{World, assert_silent, fixture_payloads, run};

fn page(world: &World, folder: &Path, exports_task: bool) {
    let home = Home::in_folder(world.home());
    fs::create_dir_all(home.context()).expect("made");
    let page = Page { written_s: u64::MAX, exports_task, escaped: context::escape("- \"counts\"\n- more") };
    let bytes = context::encode(&page, folder).expect("made");
    fs::File::create(context::path(&home, folder)).expect("made").write_all(&bytes).expect("made");
}

fn folder(world: &World) -> std::path::PathBuf {
    world.home().parent().expect("made").canonicalize().expect("made")
}

const START: &[u8] = br#"{"session_id":"5a133364-48e1-40c2-b568-cfba1112cbce","cwd":"/x","hook_event_name":"SessionStart","source":"startup"}"#;

#[test]
fn an_agent_that_begins_gets_its_context_in_its_own_format() {
    let world = World::new();
    page(&world, Path::new("/x"), false);
    for (caller, event) in [("claude", "SessionStart"), ("codex", "SubagentStart"), ("codex", "SessionStart")]
    {
        let payload = String::from_utf8_lossy(START).replace("SessionStart", event);
        let output = world.run(&[caller], payload.as_bytes());
        let said: serde_json::Value = serde_json::from_slice(&output.stdout).expect("made");
        assert_eq!(
            said,
            serde_json::json!({"hookSpecificOutput": {"hookEventName": event,
                "additionalContext": "- \"counts\"\n- more"}})
        );
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
    }
    assert_eq!(world.envelopes().len(), 3, "each is recorded");
}

#[test]
fn the_folder_that_the_agent_names_comes_before_the_one_it_stands_in() {
    let world = World::new();
    page(&world, Path::new("/named/project"), false);
    assert_silent(&world.run(&["claude"], START));
    let output = run(world.command(&["claude"]).env("CLAUDE_PROJECT_DIR", "/named/project/below"), START);
    assert!(String::from_utf8_lossy(&output.stdout).contains("counts"));
    assert_silent(&run(world.command(&["claude"]).env("CLAUDE_PROJECT_DIR", "/named"), START));
}

#[test]
fn the_folder_that_the_payload_names_counts_and_not_the_one_of_the_process() {
    let world = World::new();
    page(&world, &folder(&world), false);
    assert_silent(&world.run(&["claude"], START));
    page(&world, Path::new("/x"), false);
    let below = String::from_utf8_lossy(START).replace("\"/x\"", "\"/x/below\"");
    assert!(String::from_utf8_lossy(&world.run(&["codex"], below.as_bytes()).stdout).contains("counts"));
}

#[test]
fn nothing_is_printed_at_any_other_event() {
    let world = World::new();
    page(&world, Path::new("/"), true);
    page(&world, Path::new("/x"), true);
    let mut begins = 0;
    let mut seen = std::collections::BTreeSet::new();
    for (caller, name, payload) in fixture_payloads() {
        let event = payload["hook_event_name"].as_str().unwrap_or_default().to_owned();
        if caller == "statusline" || !seen.insert((caller, event.clone())) {
            continue;
        }
        let output = world.run(&[caller], &serde_json::to_vec(&payload).expect("made"));
        if event == "SessionStart" || event == "SubagentStart" {
            begins += 1;
            assert!(!output.stdout.is_empty(), "{name}");
        } else {
            assert_silent(&output);
        }
    }
    assert_eq!((begins, seen.len() > 40), (4, true), "{}", seen.len());
}

#[test]
fn a_session_that_is_not_recorded_gets_no_context() {
    let world = World::new();
    page(&world, Path::new("/x"), false);
    assert_silent(&run(world.command(&["claude"]).env("AGENT_TRACER_OFF", "1"), START));
    world.write("privacy.conf", &format!("exclude {}\n", folder(&world).display()));
    assert_silent(&world.run(&["claude"], START));
}

#[test]
fn a_page_that_is_broken_or_another_folders_is_not_printed() {
    let world = World::new();
    let home = Home::in_folder(world.home());
    let path = context::path(&home, Path::new("/x"));
    fs::create_dir_all(home.context()).expect("made");
    for bytes in
        [&b""[..], b"agent-tracer-context 1\n", &[b'x'; 40_000], b"agent-tracer-context 1\n9\n/other\n-\nx\n"]
    {
        fs::File::create(&path).expect("made").write_all(bytes).expect("made");
        assert_silent(&world.run(&["claude"], START));
    }
    fs::remove_file(&path).expect("made");
    fs::create_dir(&path).expect("made");
    assert_silent(&world.run(&["claude"], START));
}

#[test]
fn the_session_is_named_in_the_agents_shells_if_the_user_wants_that() {
    let world = World::new();
    let (file, session) = (folder(&world).join("env"), "5a133364-48e1-40c2-b568-cfba1112cbce");
    fs::File::create(&file).expect("made").write_all(b"export A=1\n").expect("made");
    let start = |session: &str| {
        let mut command = world.command(&["claude"]);
        run(command.env("CLAUDE_ENV_FILE", &file).env("CLAUDE_CODE_SESSION_ID", session), START);
        fs::read_to_string(&file).expect("made")
    };
    page(&world, Path::new("/x"), false);
    assert_eq!(start(session), "export A=1\n", "not unless it is wanted");
    page(&world, Path::new("/x"), true);
    for odd in ["", "a;rm -rf x", "$(x)", "a b", &"a".repeat(65)] {
        assert_eq!(start(odd), "export A=1\n", "{odd}");
    }
    let named = format!("export A=1\nexport AGENT_TRACER_TASK={session}\n");
    assert_eq!(start(session), named);
    // A project without recorded sessions.
    fs::remove_file(context::path(&Home::in_folder(world.home()), Path::new("/x"))).expect("gone");
    assert_eq!(start(session), named, "not unless it is wanted");
    world.write("context/export-task", "");
    assert_eq!(start(session), format!("{named}export AGENT_TRACER_TASK={session}\n"));
}
