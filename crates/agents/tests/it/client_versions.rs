//! The tables of versions are what was seen on the real clients, and the table in the documentation says the same.
//!
//! `UPDATE_DOCS=1 cargo test -p agent-tracer-agents client_versions` writes the table in `docs/install.md` anew.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use agent_tracer_agents::ClientVersion;
use agent_tracer_agents::claude::events::{EVENTS, Registration};
use agent_tracer_agents::claude::versions::{Form, OLDEST_DRIVEN, UnknownEvent, accepts, form, range_of};
use agent_tracer_agents::codex;
use serde_json::Value;

const BEGIN: &str =
    "<!-- versions: begin, made by `UPDATE_DOCS=1 cargo test -p agent-tracer-agents client_versions` -->\n";
const END: &str = "<!-- versions: end -->\n";

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Returns what was seen on each driven version of a client, the oldest first.
fn driven(client: &str) -> Vec<(ClientVersion, Value)> {
    let text = fs::read_to_string(repository("tests/real-clients/versions.json")).expect("what was seen");
    let all: Value = serde_json::from_str(&text).expect("JSON");
    let rows = all[client].as_array().expect("a list").clone();
    assert!(rows.len() >= 8, "{client}: {} versions were driven", rows.len());
    rows.into_iter()
        .map(|row| {
            (ClientVersion::parse(row["version"].as_str().expect("a version")).expect("a version"), row)
        })
        .collect()
}

fn names(row: &Value, key: &str) -> Vec<String> {
    let list = row[key].as_array().expect("a list");
    list.iter().map(|name| name.as_str().expect("a name").to_owned()).collect()
}

#[test]
fn the_table_of_claude_code_is_what_its_versions_showed() {
    for (version, row) in driven("claude-code") {
        let has = names(&row, "events");
        for event in EVENTS {
            let (accepted, known) =
                (accepts(Some(version), event.name), has.iter().any(|name| name == event.name));
            assert_eq!(accepted, known, "{} on {version}", event.name);
        }
        let exec = row["exec_form"].as_bool().expect("a word");
        assert_eq!(form(Some(version)) == Form::Exec, exec, "{version}");
        let seen = row["unknown_event"].as_str().expect("a word");
        match range_of(Some(version)).unknown_event {
            UnknownEvent::DropsFile => assert_eq!(seen, "dropsFile", "{version}"),
            UnknownEvent::ShowsDialog => assert_eq!(seen, "showsDialog", "{version}"),
        }
    }
}

#[test]
fn what_is_called_older_than_ever_tried_is_older_than_the_first_that_was_driven() {
    assert_eq!(driven("claude-code")[0].0, OLDEST_DRIVEN);
    assert_eq!(driven("codex")[0].0, codex::versions::OLDEST_DRIVEN);
}

#[test]
fn the_table_of_codex_is_what_its_versions_showed() {
    for (version, row) in driven("codex") {
        let has = names(&row, "events");
        for event in codex::events::EVENTS {
            let known = has.iter().any(|name| name == event.name);
            assert_eq!(codex::versions::calls(version, event.name), known, "{} on {version}", event.name);
        }
    }
}

#[test]
fn nothing_of_the_users_was_lost_on_any_driven_version() {
    for client in ["claude-code", "codex"] {
        for (version, row) in driven(client) {
            for (key, expected) in
                [("control", true), ("denied", true), ("restored", true), ("dialog", false)]
            {
                assert_eq!(row[key], expected, "{client} {version}: {key}");
            }
            assert_eq!(row["doctor"], serde_json::json!([]), "{client} {version}");
            let recorded = names(&row, "recorded");
            for event in ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"] {
                assert!(recorded.iter().any(|name| name == event), "{client} {version}: {event}");
            }
        }
    }
}

/// Writes neighbours that say the same as one line: `2.1.251 … 2.1.326`.
fn table(heading: &str, rows: &[(ClientVersion, String)]) -> String {
    let mut text = format!("{heading}\n");
    let mut rows = rows.iter().peekable();
    while let Some((first, said)) = rows.next() {
        let mut last = first;
        while let Some((next, _)) = rows.next_if(|(_, other)| other == said) {
            last = next;
        }
        let range = if first == last { first.to_string() } else { format!("{first} … {last}") };
        text.push_str(&format!("| {range} | {said} |\n"));
    }
    text
}

fn made() -> String {
    let claude: Vec<(ClientVersion, String)> = driven("claude-code")
        .into_iter()
        .map(|(version, row)| {
            let default = |event: &&agent_tracer_agents::claude::events::Event| {
                event.registration == Registration::Default && accepts(Some(version), event.name)
            };
            let count = EVENTS.iter().filter(default).count();
            let form = if row["exec_form"] == true { "program and arguments" } else { "shell command" };
            let harm = if row["unknown_event"] == "dropsFile" {
                "drops the whole settings file"
            } else {
                "shows a dialog at each start"
            };
            (version, format!("{count} | {form} | {harm}"))
        })
        .collect();
    let codex: Vec<(ClientVersion, String)> = driven("codex")
        .into_iter()
        .map(|(version, row)| {
            let trust = if codex::versions::asks_for_trust(version) { "asked for" } else { "not asked for" };
            (version, format!("{} | {trust}", names(&row, "events").len()))
        })
        .collect();
    let claude = table(
        "| Claude Code | events registered | form | what it does about an event it does not know |\n|---|---|---|---|",
        &claude,
    );
    let codex = table("| Codex | events it calls, of 14 registered | trust |\n|---|---|---|", &codex);
    format!("{claude}\n{codex}")
}

#[test]
fn the_documentation_says_what_was_seen() {
    let path = repository("docs/install.md");
    let text = fs::read_to_string(&path).expect("the page");
    let (before, rest) = text.split_once(BEGIN).expect("where the table begins");
    let (_, after) = rest.split_once(END).expect("where the table ends");
    let wanted = format!("{before}{BEGIN}{}{END}{after}", made());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::File::create(&path).and_then(|mut file| file.write_all(wanted.as_bytes())).expect("written");
        return;
    }
    assert_eq!(text, wanted, "run `UPDATE_DOCS=1 cargo test -p agent-tracer-agents client_versions`");
}
