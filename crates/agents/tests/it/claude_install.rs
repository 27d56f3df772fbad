//! Checks the changes of `install claude` to a settings file.

use agent_tracer_agents::ClientVersion;
use agent_tracer_agents::claude::events::{EVENTS, Registration};
use agent_tracer_agents::claude::install::{
    InstallOptions, Plan, StatusLine, StatusLineChange, plan, template, withdraw,
};
use agent_tracer_agents::hooks::{Undo, own_hooks};
use agent_tracer_agents::settings::{Settings, SettingsError};
use serde_json::{Value, json};

use crate::files::CLAUDE;

pub(crate) const NEWEST: Option<ClientVersion> = Some(ClientVersion::release(2, 1, 326));
pub(crate) const HOOK: &str = "/opt/agent tracer/agent-tracer-hook";

pub(crate) fn options() -> InstallOptions {
    InstallOptions {
        hook: HOOK.to_owned(),
        home: None,
        client: NEWEST,
        events: None,
        tools: None,
        status_line: StatusLine::Ours { displaces: None },
    }
}

pub(crate) fn install(text: &str) -> Plan {
    plan(text, &options(), Undo::default()).expect("a readable file")
}

fn value(text: &str) -> Value {
    Settings::parse(text).expect("JSON").value()
}

#[test]
fn every_event_but_the_two_that_change_the_agent_is_registered() {
    let installed = value(&install("").text);
    let hooks = installed["hooks"].as_object().expect("hooks");
    assert_eq!(EVENTS.len(), 33);
    assert_eq!(hooks.len(), 31);
    for event in EVENTS {
        let expected = !matches!(event.name, "WorktreeCreate" | "MessageDisplay");
        assert_eq!(hooks.contains_key(event.name), expected, "{}", event.name);
    }
}

#[test]
fn each_entry_runs_the_hook_without_a_shell_and_without_a_matcher() {
    let installed = value(&install("{}").text);
    assert_eq!(
        installed["hooks"]["PreToolUse"],
        json!([{"hooks": [{"type": "command", "command": HOOK, "args": ["claude"]}]}])
    );
    assert_eq!(
        installed["hooks"]["SessionStart"],
        json!([{"hooks": [{"type": "command", "command": HOOK, "args": ["claude"], "timeout": 2}]}])
    );
    assert_eq!(
        installed["hooks"]["SessionEnd"],
        json!([{"hooks": [{"type": "command", "command": HOOK, "args": ["claude"], "timeout": 10}]}])
    );
    assert_eq!(
        installed["hooks"]["FileChanged"][0]["matcher"],
        "CLAUDE.md|.env|.envrc|.claude/settings.json|.claude/settings.local.json"
    );
    assert_eq!(
        installed["statusLine"],
        json!({"type": "command", "command": "'/opt/agent tracer/agent-tracer-hook' statusline"})
    );
    for (event, groups) in installed["hooks"].as_object().expect("hooks") {
        assert_eq!(groups.as_array().expect("groups").len(), 1, "{event}");
        assert_eq!(groups[0]["hooks"][0].get("async"), None, "{event} is synchronous");
        let narrowed = matches!(event.as_str(), "FileChanged" | "PreCompact" | "PostCompact");
        assert_eq!(groups[0].get("matcher").is_some(), narrowed, "{event}");
    }
}

#[test]
fn a_compaction_that_the_user_typed_is_not_hooked_because_the_model_would_read_about_it() {
    let installed = value(&install("{}").text);
    for event in ["PreCompact", "PostCompact"] {
        assert_eq!(installed["hooks"][event][0]["matcher"], "auto", "{event}");
    }
}

#[test]
fn a_new_file_reads_as_the_agent_would_have_written_it() {
    let narrow = InstallOptions { events: Some(vec!["Stop".into(), "SessionEnd".into()]), ..options() };
    let text = plan("", &narrow, Undo::default()).expect("a plan").text;
    assert_eq!(
        text,
        r#"{
  "hooks": {
    "SessionEnd": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "/opt/agent tracer/agent-tracer-hook",
            "args": ["claude"],
            "timeout": 10
          }
        ]
      }
    ],
    "Stop": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "/opt/agent tracer/agent-tracer-hook",
            "args": ["claude"]
          }
        ]
      }
    ]
  },
  "statusLine": {
    "type": "command",
    "command": "'/opt/agent tracer/agent-tracer-hook' statusline"
  }
}
"#
    );
}

#[test]
fn a_home_that_is_not_the_default_one_is_named() {
    let wanted = InstallOptions { home: Some("/data/o'tracer".into()), ..options() };
    let installed = value(&plan("", &wanted, Undo::default()).expect("a plan").text);
    assert_eq!(
        installed["hooks"]["Stop"][0]["hooks"][0]["args"],
        json!(["claude", "--home", "/data/o'tracer"])
    );
    assert_eq!(
        installed["statusLine"]["command"],
        r"'/opt/agent tracer/agent-tracer-hook' statusline --home '/data/o'\''tracer'"
    );
}

#[test]
fn a_second_installation_changes_no_byte() {
    for (name, text) in CLAUDE {
        let first = install(text);
        let second = plan(&first.text, &options(), first.undo.clone()).expect("a plan");
        assert_eq!(second.text, first.text, "{name}");
        assert!(second.changes.is_empty(), "{name}: {:?}", second.changes);
        assert_eq!(second.undo, first.undo, "{name}");
        assert!(
            matches!(second.status_line, StatusLineChange::Untouched | StatusLineChange::LeftAlone),
            "{name}"
        );
    }
}

#[test]
fn what_is_foreign_keeps_its_value_and_its_order() {
    for (name, text) in CLAUDE {
        let installed = install(text);
        let before = value(text);
        let after = value(&installed.text);
        for (key, content) in before.as_object().expect("an object") {
            match key.as_str() {
                "hooks" => {}
                "statusLine" => assert_eq!(content.get("padding"), after[key].get("padding"), "{name}"),
                _ => assert_eq!(content, &after[key], "{name}: {key}"),
            }
        }
        for (event, groups) in before.get("hooks").and_then(Value::as_object).into_iter().flatten() {
            let groups = groups.as_array().expect("groups");
            let kept = &after["hooks"][event].as_array().expect("groups")[..groups.len()];
            assert_eq!(kept, groups.as_slice(), "{name}: {event}");
        }
    }
}

#[test]
fn line_ends_and_indentation_are_the_files_own() {
    let crlf = install("{\r\n\t\"model\": \"opus\"\r\n}\r\n").text;
    assert_eq!(crlf.matches('\n').count(), crlf.matches("\r\n").count());
    assert!(crlf.contains("\r\n\t\"hooks\": {\r\n\t\t\"Setup\": [\r\n\t\t\t{\r\n"), "{crlf}");
    let minified = install(r#"{"model":"opus"}"#).text;
    assert!(!minified.contains('\n'));
    assert!(
        minified.starts_with(r#"{"model":"opus","hooks":{"Setup":[{"hooks":[{"type":"command","command":"#)
    );
    let marked = install("\u{feff}{}").text;
    assert!(marked.starts_with("\u{feff}{"));
}

#[test]
fn an_older_entry_of_ours_is_brought_up_to_date_where_it_stands() {
    let old = r#"{
  "hooks": {
    "PreToolUse": [
      { "hooks": [ { "type": "command", "command": "/old/bin/agent-tracer-hook claude", "async": true } ] },
      { "matcher": "Bash", "hooks": [ { "type": "command", "command": "guard" } ] }
    ],
    "Stop": [
      {
        "matcher": "",
        "hooks": [
          { "type": "command", "command": "mine" },
          { "type": "command", "command": "/old/agent-tracer-hook", "args": ["claude"] },
          { "type": "command", "command": "/older/agent-tracer-hook", "args": ["claude"] }
        ]
      }
    ],
    "MessageDisplay": [
      { "hooks": [ { "type": "command", "command": "agent-tracer-hook", "args": ["claude"] } ] }
    ]
  }
}
"#;
    let narrow = InstallOptions { events: Some(vec!["PreToolUse".into(), "Stop".into()]), ..options() };
    let upgraded = plan(old, &narrow, Undo::default()).expect("a plan");
    let after = value(&upgraded.text);
    let ours = json!({"type": "command", "command": HOOK, "args": ["claude"]});
    assert_eq!(
        after["hooks"],
        json!({
            "PreToolUse": [
                {"hooks": [ours]},
                {"matcher": "Bash", "hooks": [{"type": "command", "command": "guard"}]},
            ],
            "Stop": [{"matcher": "", "hooks": [{"type": "command", "command": "mine"}, ours]}],
        })
    );
    assert_eq!(upgraded.changes.updated, ["PreToolUse", "Stop"]);
    assert_eq!(upgraded.changes.removed, ["MessageDisplay"]);
    assert!(upgraded.changes.added.is_empty());
}

#[test]
fn an_entry_of_ours_in_a_foreign_group_with_another_matcher_moves_out() {
    let text = r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "guard"}, {"type": "command", "command": "agent-tracer-hook claude"}]}]}}"#;
    let narrow = InstallOptions { events: Some(vec!["PreToolUse".into()]), ..options() };
    let after = value(&plan(text, &narrow, Undo::default()).expect("a plan").text);
    assert_eq!(
        after["hooks"]["PreToolUse"],
        json!([
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "guard"}]},
            {"hooks": [{"type": "command", "command": HOOK, "args": ["claude"]}]},
        ])
    );
}

#[test]
fn tools_narrow_the_tool_events_alone() {
    let narrow = |tools: &[&str]| {
        let tools = tools.iter().map(|&tool| tool.to_owned()).collect();
        value(
            &plan("", &InstallOptions { tools: Some(tools), ..options() }, Undo::default())
                .expect("a plan")
                .text,
        )
    };
    let plain = narrow(&["Bash", "Edit"]);
    for event in ["PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied"]
    {
        assert_eq!(plain["hooks"][event][0]["matcher"], "Bash|Edit", "{event}");
    }
    for event in ["Stop", "PostToolBatch", "SessionStart"] {
        assert_eq!(plain["hooks"][event][0].get("matcher"), None, "{event}");
    }
    assert!(
        plain["hooks"]["FileChanged"][0]["matcher"].as_str().expect("a matcher").starts_with("CLAUDE.md")
    );
    assert_eq!(
        narrow(&["Bash", "mcp__files__.*"])["hooks"]["PreToolUse"][0]["matcher"],
        "^(Bash|mcp__files__.*)$"
    );
}

#[test]
fn narrowing_an_installation_changes_the_matcher_in_place_and_removes_the_rest() {
    let full = install("{}");
    let narrow = InstallOptions {
        events: Some(vec!["PreToolUse".into(), "Stop".into()]),
        tools: Some(vec!["Bash".into()]),
        ..options()
    };
    let plan = plan(&full.text, &narrow, full.undo).expect("a plan");
    let after = value(&plan.text);
    assert_eq!(after["hooks"].as_object().expect("hooks").len(), 2);
    assert_eq!(after["hooks"]["PreToolUse"][0]["matcher"], "Bash");
    assert_eq!(plan.changes.removed.len(), 29);
    assert_eq!(plan.changes.updated, ["PreToolUse"]);
    assert_eq!(withdraw(&plan.text, &plan.undo, None).expect("a plan").text, "{}");
}

#[test]
fn worktree_create_cannot_be_asked_for_and_message_display_can() {
    let names = vec!["WorktreeCreate".to_owned(), "MessageDisplay".to_owned()];
    let hooks = InstallOptions { events: Some(names), ..options() }.hooks();
    assert_eq!(hooks.iter().map(|hook| hook.event).collect::<Vec<_>>(), ["MessageDisplay"]);
    assert!(EVENTS.iter().any(|event| event.registration == Registration::Never));
}

#[test]
fn the_users_status_line_is_chained_and_only_its_command_gives_way() {
    let text = "{\n  \"statusLine\": {\n    \"type\": \"command\",\n    \"command\": \"~/line.sh \\u0022x\\u0022\",\n    \"padding\": 2\n  }\n}\n";
    let installed = install(text);
    assert_eq!(installed.status_line, StatusLineChange::Chained("~/line.sh \"x\"".into()));
    assert_eq!(installed.undo.status_line.as_deref(), Some(r#""~/line.sh \u0022x\u0022""#));
    let after = value(&installed.text);
    assert_eq!(after["statusLine"]["padding"], 2);
    assert_eq!(after["statusLine"]["command"], options().status_line_command());
    assert_eq!(withdraw(&installed.text, &installed.undo, None).expect("a plan").text, text);
}

#[test]
fn a_status_line_of_another_file_that_ours_would_cover_is_chained_too() {
    let wanted =
        InstallOptions { status_line: StatusLine::Ours { displaces: Some("theirs".into()) }, ..options() };
    let installed = plan("{}", &wanted, Undo::default()).expect("a plan");
    assert_eq!(installed.status_line, StatusLineChange::Chained("theirs".into()));
    assert_eq!(withdraw(&installed.text, &installed.undo, Some("theirs")).expect("a plan").text, "{}");
}

#[test]
fn a_status_line_of_an_unknown_kind_and_one_not_asked_for_stay() {
    let other = "{\"statusLine\": {\"type\": \"text\", \"command\": \"x\"}}";
    let installed = install(other);
    assert_eq!(installed.status_line, StatusLineChange::LeftAlone);
    assert_eq!(value(&installed.text)["statusLine"], value(other)["statusLine"]);
    let leave = InstallOptions { status_line: StatusLine::Leave, ..options() };
    let installed = plan("{}", &leave, Undo::default()).expect("a plan");
    assert_eq!(value(&installed.text).get("statusLine"), None);
}

#[test]
fn a_moved_binary_updates_the_status_line_and_keeps_the_chain() {
    let text = r#"{"statusLine":{"type":"command","command":"line"}}"#;
    let first = install(text);
    let moved = InstallOptions { hook: "/new/agent-tracer-hook".into(), ..options() };
    let second = plan(&first.text, &moved, first.undo).expect("a plan");
    assert_eq!(second.status_line, StatusLineChange::Updated);
    assert_eq!(second.changes.updated.len(), 31);
    assert_eq!(withdraw(&second.text, &second.undo, None).expect("a plan").text, text);
}

#[test]
fn a_broken_file_is_refused_with_the_place_of_the_fault() {
    let cases = [
        ("{\n  \"a\": 1\n  \"b\": 2\n}", 2, 9),
        ("{\"a\": }", 1, 7),
        ("{\"a\": 1", 1, 1),
        ("{\n\"ä\": tru\n}", 2, 6),
        ("{} {}", 1, 4),
        ("{'a': 1}", 1, 2),
        ("{a: 1}", 1, 2),
        ("{\"a\": 0x10}", 1, 7),
        ("\u{feff}{\"a\":}", 1, 6),
    ];
    for (text, line, column) in cases {
        match plan(text, &options(), Undo::default()) {
            Err(SettingsError::Malformed { line: at_line, column: at_column, what }) => {
                assert_eq!((at_line, at_column), (line, column), "{text:?}: {what}");
            }
            other => panic!("{text:?}: {other:?}"),
        }
    }
}

#[test]
fn a_place_of_another_shape_is_refused_by_name() {
    let cases = [
        ("[]", "the file must be an object, but it is an array"),
        ("\"x\"", "the file must be an object, but it is a string"),
        ("null", "the file must be an object, but it is null"),
        ("{\"hooks\": []}", "`hooks` must be an object, but it is an array"),
        ("{\"hooks\": null}", "`hooks` must be an object, but it is null"),
        ("{\"hooks\": {\"Stop\": {}}}", "`hooks.Stop` must be an array, but it is an object"),
    ];
    for (text, expected) in cases {
        let error = plan(text, &options(), Undo::default()).expect_err(text);
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn groups_and_handlers_of_foreign_shape_are_left_as_they_are() {
    let text = r#"{"hooks": {"Stop": [7, null, {"hooks": "x"}, {"hooks": [1, {"command": 3}]}, {"matcher": 5}], "Other": {"a": 1}}}"#;
    let installed = install(text);
    let after = value(&installed.text);
    assert_eq!(after["hooks"]["Stop"].as_array().expect("groups").len(), 6);
    assert_eq!(after["hooks"]["Other"], json!({"a": 1}));
    assert_eq!(withdraw(&installed.text, &installed.undo, None).expect("a plan").text, text);
}

#[test]
fn deep_nesting_is_an_error_and_no_crash() {
    let text = format!("{{\"a\": {}1{}}}", "[".repeat(200_000), "]".repeat(200_000));
    assert!(matches!(plan(&text, &options(), Undo::default()), Err(SettingsError::Malformed { .. })));
}

#[test]
fn what_a_strict_reader_refuses_is_named_with_its_place() {
    let looseness = |text: &str| {
        Settings::parse(text).expect("readable").looseness().map(|it| (it.what, it.line, it.column))
    };
    assert_eq!(looseness("{\n  // why\n  \"a\": 1\n}"), Some(("a comment".into(), 2, 3)));
    assert_eq!(looseness("{\"a\": [1,]}"), Some(("a trailing comma".into(), 1, 9)));
    assert_eq!(looseness("{\"a\": 1}\n"), None);
    assert_eq!(looseness("\u{feff}{}"), None);
    assert_eq!(looseness(""), None);
}

#[test]
fn the_template_names_no_folder() {
    let template = template(NEWEST, None, None);
    assert_eq!(template["hooks"].as_object().expect("hooks").len(), 31);
    assert_eq!(
        template["hooks"]["Stop"],
        json!([{"hooks": [{"type": "command", "command": "agent-tracer-hook", "args": ["claude"]}]}])
    );
    assert!(!template.to_string().contains("--home"));
    assert_eq!(template.get("statusLine"), None);
}

#[test]
fn own_hooks_are_listed_with_their_numbers() {
    let text = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}, {"matcher": "m", "hooks": [{"type": "command", "command": "y"}, {"type": "command", "command": "agent-tracer-hook claude --home /h"}]}]}}"#;
    let own = own_hooks(&Settings::parse(text).expect("JSON"));
    assert_eq!(own.len(), 1);
    assert_eq!((own[0].event.as_str(), own[0].group, own[0].handler), ("Stop", 1, 1));
    assert_eq!(own[0].matcher.as_deref(), Some("m"));
    assert_eq!(own[0].invocation.home(), Some("/h"));
}
