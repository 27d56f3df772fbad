//! Checks the changes of `install codex` to a hooks file.

use agent_tracer_agents::codex::events::EVENTS;
use agent_tracer_agents::codex::install::{DESCRIPTION, InstallOptions, Plan, plan, template};
use agent_tracer_agents::hooks::{Undo, own_hooks};
use agent_tracer_agents::settings::Settings;
use serde_json::{Value, json};

use crate::files::CODEX;

pub(crate) fn options() -> InstallOptions {
    InstallOptions {
        hook: "/opt/agent-tracer/agent-tracer-hook".into(),
        home: None,
        events: None,
        tools: None,
    }
}

pub(crate) fn install(text: &str) -> Plan {
    plan(text, &options(), Undo::default()).expect("a readable file")
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).expect("strict JSON, as Codex reads it")
}

#[test]
fn all_fourteen_events_are_registered_for_the_login_shell() {
    let installed = value(&install("").text);
    let hooks = installed["hooks"].as_object().expect("hooks");
    assert_eq!(hooks.len(), 14);
    for event in EVENTS {
        let mut handler =
            json!({"type": "command", "command": "'/opt/agent-tracer/agent-tracer-hook' codex"});
        if matches!(event.name, "SessionEnd" | "Interrupt") {
            handler["timeout"] = json!(3);
        }
        assert_eq!(hooks[event.name], json!([{"hooks": [handler]}]), "{}", event.name);
    }
}

#[test]
fn the_event_names_in_the_trust_store_are_the_names_in_snake_case() {
    for event in EVENTS {
        let snake = event.name.chars().enumerate().fold(String::new(), |mut text, (number, character)| {
            if character.is_uppercase() && number > 0 {
                text.push('_');
            }
            text.extend(character.to_lowercase());
            text
        });
        assert_eq!(event.snake, snake);
    }
}

#[test]
fn no_key_but_hooks_is_ever_written() {
    for (name, text) in CODEX {
        let keys = |text: &str| -> Vec<String> {
            let value: Value = serde_json::from_str(text).unwrap_or_default();
            value.as_object().map(|object| object.keys().cloned().collect()).unwrap_or_default()
        };
        let (before, after) = (keys(text), keys(&install(text).text));
        assert!(after.iter().all(|key| key == "hooks" || before.contains(key)), "{name}: {after:?}");
    }
}

#[test]
fn the_description_that_earlier_versions_wrote_goes_and_the_users_stays() {
    for (text, expected) in [(DESCRIPTION, None), ("mine", Some("mine"))] {
        let file = json!({"description": text}).to_string();
        let installed = value(&install(&file).text);
        assert_eq!(installed.get("description").and_then(Value::as_str), expected);
        assert!(installed["hooks"].is_object());
    }
}

#[test]
fn our_group_is_the_last_of_each_event_and_the_others_keep_their_numbers() {
    for (name, text) in CODEX {
        let installed = install(text);
        let before = Settings::parse(text).expect("JSON").value();
        let after = value(&installed.text);
        for (event, groups) in before.get("hooks").and_then(Value::as_object).into_iter().flatten() {
            let groups = groups.as_array().expect("groups");
            let now = after["hooks"][event].as_array().expect("groups");
            assert_eq!(&now[..groups.len()], groups.as_slice(), "{name}: {event}");
        }
        for own in own_hooks(&Settings::parse(&installed.text).expect("JSON")) {
            let count = after["hooks"][&own.event].as_array().expect("groups").len();
            assert_eq!(own.group, count - 1, "{name}: {}", own.event);
        }
    }
}

#[test]
fn an_upgrade_does_not_move_our_group() {
    let old = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/old/agent-tracer-hook codex"}]}, {"hooks": [{"type": "command", "command": "theirs"}]}]}}"#;
    let after = value(&install(old).text);
    assert_eq!(
        after["hooks"]["Stop"],
        json!([
            {"hooks": [{"type": "command", "command": "'/opt/agent-tracer/agent-tracer-hook' codex"}]},
            {"hooks": [{"type": "command", "command": "theirs"}]},
        ])
    );
}

#[test]
fn a_second_installation_changes_no_byte() {
    for (name, text) in CODEX {
        let first = install(text);
        let second = plan(&first.text, &options(), first.undo.clone()).expect("a plan");
        assert_eq!(second.text, first.text, "{name}");
        assert!(second.changes.is_empty(), "{name}");
    }
}

#[test]
fn home_and_path_are_quoted_for_a_shell() {
    let wanted =
        InstallOptions { hook: "/o'x/agent-tracer-hook".into(), home: Some("/my home".into()), ..options() };
    assert_eq!(wanted.command(), r"'/o'\''x/agent-tracer-hook' codex --home '/my home'");
}

#[test]
fn tools_narrow_the_tool_events_alone() {
    let wanted = InstallOptions { tools: Some(vec!["Bash".into(), "apply_patch".into()]), ..options() };
    let installed = value(&plan("", &wanted, Undo::default()).expect("a plan").text);
    for event in EVENTS {
        let matcher = installed["hooks"][event.name][0].get("matcher");
        let narrowed = matches!(event.name, "PreToolUse" | "PermissionRequest" | "PostToolUse");
        assert_eq!(matcher, narrowed.then(|| json!("Bash|apply_patch")).as_ref(), "{}", event.name);
    }
}

#[test]
fn the_template_names_no_folder() {
    let template = template(Some(vec!["Stop".into()]), None);
    assert_eq!(
        template,
        json!({
            "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "agent-tracer-hook codex"}]}]},
        })
    );
}
