//! Reads single rows: denials, interruptions, expansions, compactions, titles, retries, agents.

use std::collections::BTreeMap;

use agent_tracer_event::{CallState, Phase};
use serde_json::{Value, json};

use super::*;

fn of<'e>(entries: &'e [Entry], kind: Kind, what: &str) -> &'e Entry {
    let found = of_kind(entries, kind);
    assert_eq!(found.len(), 1, "{what}: {found:#?}");
    found[0]
}

/// Returns how each call ended, by the last row that says so: its state, its class of error and who decided.
fn ends(name: &str) -> BTreeMap<String, (CallState, Value, Value)> {
    let mut ends = BTreeMap::new();
    for entry in entries(name, Level::Actions) {
        if let Some(id) = entry.key.strip_prefix("tool:").filter(|_| entry.phase == Phase::Close) {
            let member = |name: &str| entry.metadata.get(name).cloned().unwrap_or_default();
            ends.insert(id.to_owned(), (entry.state.unwrap(), member("errorClass"), member("denialKind")));
        }
    }
    ends
}

#[test]
fn calls_that_were_not_allowed_to_run_say_who_did_not_allow_it() {
    for (name, class, kind) in [
        ("2.1.325/deny", "permission", "user-rejected"),
        ("2.1.325/denyrule", "permission", "permission-rule"),
        ("2.1.325/auto", "permission", "automode-unavailable"),
        ("2.1.325/ctl_pre_deny", "hook_blocked", "permission-rule"),
        ("2.1.325/ctl_pre_exit2", "hook_blocked", "permission-rule"),
        ("2.1.325/ctl_perm_deny", "hook_blocked", "permission-rule"),
        ("2.1.325/ctl_pre_ask", "permission", "user-rejected"),
    ] {
        let denied = ends(name).into_values().find(|(state, ..)| *state == CallState::Denied);
        assert_eq!(denied, Some((CallState::Denied, json!(class), json!(kind))), "{name}");
    }
}

#[test]
fn an_answer_after_a_hook_sent_the_model_on_is_another_one_even_in_the_same_words() {
    let row = |kind: &str, uuid: &str, prompt: &str, more: Value| {
        let mut row = json!({"type": kind, "uuid": uuid, "sessionId": "s-1", "promptId": prompt,
            "timestamp": "2026-11-15T19:56:50Z"});
        row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        row.to_string()
    };
    let user = |uuid: &str, prompt: &str, text: &str, is_meta: bool| {
        row("user", uuid, prompt, json!({"isMeta": is_meta, "message": {"role": "user", "content": text}}))
    };
    let answer = |uuid: &str, prompt: &str| {
        let content = json!([{"type": "text", "text": "Done."}]);
        let message = json!({"id": format!("msg_{uuid}"), "model": "m", "role": "assistant",
            "stop_reason": "end_turn", "content": content, "usage": {"input_tokens": 1, "output_tokens": 1}});
        row("assistant", uuid, prompt, json!({"message": message}))
    };
    let rows = [
        user("1", "p", "Go", false),
        answer("2", "p"),
        user("3", "p", "Stop hook feedback:\nkeep going", true),
        answer("4", "p"),
        user("5", "q", "Go", false),
        answer("6", "q"),
    ];
    let lines: Vec<&str> = rows.iter().map(String::as_str).collect();
    for level in [Level::Metadata, Level::Actions, Level::Full] {
        let actual = read_lines(&lines, level).entries();
        let keys: Vec<bool> = of_kind(&actual, Kind::AssistantResponse)
            .iter()
            .map(|answer| answer.key.ends_with(":again"))
            .collect();
        assert_eq!(keys, [false, true, false], "{level:?}");
    }
}

#[test]
fn the_verdicts_of_verifiers_that_the_client_asks_are_those_of_their_rules() {
    // As Claude Code 2.1.325 writes them: a prompt with its text twice, an agent with its text as the command.
    let prompt = "[Agent Tracer rule `docs`] the docs follow";
    let agent = "[Agent Tracer rule `tests.pass`] the tests pass";
    let ask = |kind: &str, text: &str| match kind {
        "prompt" => json!({"command": text, "promptText": text, "durationMs": 196}),
        _ => json!({"command": text, "durationMs": 267}),
    };
    let summary = |infos: Value, errors: Value| {
        let row = json!({"type": "system", "subtype": "stop_hook_summary", "uuid": "u", "sessionId": "s-1",
            "timestamp": "2026-11-16T14:30:37.901Z", "hookCount": 1, "hookInfos": infos, "hookErrors": errors,
            "preventedContinuation": false, "stopReason": "", "hasOutput": true});
        let typed = json!({"type": "user", "uuid": "1", "sessionId": "s-1", "promptId": "p",
            "timestamp": "2026-11-16T14:30:00Z", "message": {"role": "user", "content": "Go"}});
        let lines = [typed.to_string(), row.to_string()];
        let all = read_lines(&[&lines[0], &lines[1]], Level::Metadata).entries();
        let actual: Vec<[String; 4]> = of_kind(&all, Kind::RuleLogged)
            .iter()
            .map(|entry| {
                ["ruleId", "ruleOutcome", "ruleBasis", "answeredBy"]
                    .map(|key| entry.metadata[key].as_str().unwrap().to_owned())
            })
            .collect();
        let said = format!("{all:?}");
        assert!(!said.contains("docs follow") && !said.contains("SECRET"), "{said}");
        actual
    };
    let refused = format!("[{prompt}]: SECRET words of the model");
    let (one, two) = (ask("prompt", prompt), ask("agent", agent));
    let own = json!({"command": "/home/dev/own.sh", "durationMs": 3});
    for (infos, errors, expected) in [
        (json!([own, one]), json!([]), vec![["docs", "allow", "applies", "claude_prompt"]]),
        (json!([one]), json!([refused]), vec![["docs", "block_stop", "applies", "claude_prompt"]]),
        (json!([one]), json!(["JSON validation failed"]), vec![["docs", "allow", "outage", "claude_prompt"]]),
        (
            json!([one, two]),
            json!(["Agent hook condition was not met: SECRET"]),
            vec![
                ["docs", "allow", "applies", "claude_prompt"],
                ["tests.pass", "block_stop", "applies", "claude_agent"],
            ],
        ),
        (json!([own, {"command": "[Agent Tracer rule `no name`] x"}, 7]), json!(["x"]), vec![]),
    ] {
        assert_eq!(summary(infos.clone(), errors), expected, "{infos}");
    }
}

#[test]
fn escape_cuts_a_call_off_and_no_in_the_dialog_denies_it() {
    let ends: Vec<(CallState, Value)> =
        ends("2.1.325/interrupt").into_iter().map(|(_, (state, class, _))| (state, class)).collect();
    // In the order of their ids: the refused one was asked for by `toolu_69…`, the cut one by `toolu_09…`.
    assert_eq!(
        ends,
        [(CallState::Interrupted, json!("interrupt")), (CallState::Denied, json!("permission"))]
    );
    let all = entries("2.1.325/interrupt", Level::Metadata);
    let interrupted = of_kind(&all, Kind::TurnInterrupted);
    let during: Vec<&Value> = interrupted.iter().map(|entry| &entry.metadata["interruptedDuring"]).collect();
    assert_eq!(during, ["tool_use", "response", "tool_use"]);
    let turns: Vec<&Entry> = all.iter().filter(|entry| entry.subject == Subject::Turn).collect();
    let cut = turns.iter().filter(|turn| turn.state == Some(CallState::Interrupted)).count();
    assert_eq!((cut, turns.iter().filter(|turn| turn.state == Some(CallState::Succeeded)).count()), (3, 1));
}

#[test]
fn a_response_that_was_cut_off_is_recorded_and_not_summed() {
    let all = entries("2.1.325/interrupt", Level::Actions);
    let partial: Vec<&Entry> = of_kind(&all, Kind::TokenUsage)
        .into_iter()
        .filter(|entry| entry.metadata.contains_key("partial"))
        .collect();
    assert_eq!(partial.len(), 1);
    assert_eq!(partial[0].metadata["partialUsage"]["inputTokens"], 5);
    assert!(!partial[0].metadata.contains_key("usage"));
}

#[test]
fn open_calls_end_when_the_turn_is_interrupted() {
    let actual = read_lines(
        &[
            r#"{"type":"assistant","uuid":"u1","sessionId":"s","timestamp":"2026-11-15T21:00:00.000Z","message":{"id":"m1","model":"x","stop_reason":"tool_use","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"sleep 9"}}],"usage":{"output_tokens":1}}}"#,
            r#"{"type":"user","uuid":"u2","sessionId":"s","promptId":"p","timestamp":"2026-11-15T21:00:05.000Z","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]}}"#,
        ],
        Level::Actions,
    );
    let entries = actual.entries();
    let call = entries.iter().rfind(|entry| entry.key == "tool:toolu_1").unwrap();
    assert_eq!((call.phase, call.state), (Phase::Close, Some(CallState::Interrupted)));
    assert_eq!(call.ended_at, Millis::parse("2026-11-15T21:00:05.000Z"));
}

#[test]
fn results_are_kept_as_quantities() {
    let all = entries("2.1.325/bash_fail", Level::Actions);
    let failed = all.iter().rfind(|entry| entry.state == Some(CallState::Failed)).unwrap();
    assert_eq!(failed.metadata["exitCode"], 3);
    assert_eq!(failed.metadata["errorClass"], "non_zero_exit");
    assert_eq!(failed.metadata["outputBytes"], "Exit code 3\npartial\nbad".len());
    let all = entries("2.1.325/search3", Level::Actions);
    assert!(all.iter().any(|entry| entry.metadata.contains_key("resultFiles")), "{all:#?}");
    let all = entries("2.1.325/files", Level::Actions);
    let lines: Vec<&Value> = all.iter().filter_map(|entry| entry.metadata.get("fileLines")).collect();
    assert!(!lines.is_empty());
}

#[test]
fn the_source_of_a_permission_is_recorded() {
    let all = entries("2.1.325/rc_tui", Level::Metadata);
    let allowed = all.iter().find(|entry| entry.metadata.contains_key("permissionGrantScope")).unwrap();
    assert_eq!(allowed.metadata["permissionDecision"], "accept");
    assert_eq!(allowed.metadata["permissionSource"], "user_temporary");
    assert_eq!(allowed.metadata["permissionGrantScope"], "once");
}

#[test]
fn a_slash_command_keeps_the_typed_line_and_the_length_of_its_expansion() {
    for (name, typed, bytes) in [
        ("2.1.325/slash", "/shout loud words", "Shout this: loud words [[hello]]\n".len()),
        ("2.1.197/old_slash", "/shout x", "Shout this: x [[hello]]\n".len()),
    ] {
        let all = entries(name, Level::Actions);
        assert_eq!(of(&all, Kind::UserMessage, name).body.as_deref(), Some(typed));
        let expansions = of_kind(&all, Kind::UserPromptExpansion);
        assert_eq!(expansions.len(), 2, "{expansions:#?}");
        assert_eq!(expansions[0].key, expansions[1].key);
        assert_eq!(expansions[0].metadata["commandName"], "shout");
        assert_eq!(expansions[1].metadata["expandedPromptBytes"], bytes);
        assert!(!expansions[1].metadata.contains_key("expandedPromptSnippet"));
        let full = entries(name, Level::Full);
        let snippet = &of_kind(&full, Kind::UserPromptExpansion)[1].metadata["expandedPromptSnippet"];
        assert!(snippet.as_str().unwrap().starts_with("Shout this: "));
    }
}

#[test]
fn a_skill_keeps_the_length_of_its_expansion() {
    let all = entries("2.1.325/otel_skill", Level::Actions);
    let actual = all.iter().find(|entry| entry.metadata.contains_key("expandedPromptBytes")).unwrap();
    assert_eq!(actual.key, "tool:toolu_4c36b2de4e1648829976ef83");
    assert_eq!((actual.phase, &actual.metadata["skillName"]), (Phase::Update, &json!("greet")));
    let usage = of_kind(&all, Kind::TokenUsage);
    assert_eq!(usage.last().unwrap().metadata["attributionSkill"], "greet");
}

#[test]
fn commands_of_the_client_itself_are_no_prompts() {
    let all = entries("2.1.325/model", Level::Actions);
    assert_eq!(of_kind(&all, Kind::UserMessage).len(), 2);
    let command = of_kind(&all, Kind::ContextSaved);
    assert_eq!((command.len(), &command[0].metadata["commandName"]), (1, &json!("model")));
    assert_eq!(command[0].title.as_deref(), Some("/model sonnet"));
    let switched = of(&all, Kind::ModelSwitched, "the model");
    assert_eq!(
        (&switched.metadata["fromModel"], &switched.metadata["toModel"]),
        (&json!("claude-opus-5-5"), &json!("claude-sonnet-5-5"))
    );
}

#[test]
fn a_fallback_to_another_model_is_recorded() {
    let all = entries("2.1.325/fallback", Level::Actions);
    let switched = of(&all, Kind::ModelSwitched, "fallback");
    assert_eq!(switched.metadata["source"], "fallback");
    assert_eq!(switched.metadata["fallbackTrigger"], "last_resort");
    assert_eq!(switched.metadata["toModel"], "claude-sonnet-4-6");
}

#[test]
fn compactions_tell_what_they_dropped() {
    for (name, trigger, before, after) in
        [("2.1.325/rc_tui", "manual", 10_659, 2951), ("2.1.325/compact_auto", "auto", 995_354, 2595)]
    {
        let all = entries(name, Level::Actions);
        let compactions: Vec<&Entry> = of_kind(&all, Kind::ContextSaved)
            .into_iter()
            .filter(|entry| entry.metadata.contains_key("compactPhase"))
            .collect();
        assert_eq!(compactions.len(), 2, "the mark and the summary");
        assert_eq!(compactions[0].key, compactions[1].key);
        assert_eq!(compactions[0].metadata["trigger"], trigger);
        assert_eq!(compactions[0].metadata["preTokens"], before);
        assert_eq!(compactions[0].metadata["postTokens"], after);
        assert!(compactions[1].metadata["compactSummaryBytes"].as_u64().unwrap() > 1000);
        assert!(compactions[1].body.as_ref().is_some_and(|body| body.chars().count() <= 1000));
        let metadata = entries(name, Level::Metadata);
        assert!(!serde_json::to_string(&metadata).unwrap().contains("This session is being continued"));
    }
}

#[test]
fn errors_of_the_api_are_failed_turns_and_no_usage() {
    for (name, reason, status) in [
        ("2.1.325/err500", "error:server_error", Some(500)),
        ("2.1.325/err413", "error:invalid_request", Some(413)),
        ("2.1.325/errbill", "error:billing_error", Some(400)),
        ("2.1.325/refuse", "error:invalid_request", None),
        ("2.1.197/old_err429", "error:rate_limit", Some(429)),
    ] {
        let all = entries(name, Level::Actions);
        let failed = of_kind(&all, Kind::AssistantResponse);
        let failed = failed.last().unwrap();
        assert_eq!(failed.metadata["stopReason"], reason, "{name}");
        assert_eq!(failed.metadata.get("httpStatus").and_then(Value::as_u64), status, "{name}");
        assert_eq!(failed.state, Some(CallState::Failed));
        assert!(failed.key.starts_with("said:"), "{}", failed.key);
        let usage = of_kind(&all, Kind::TokenUsage).len();
        assert_eq!(usage, if name.ends_with("refuse") { 2 } else { 0 }, "{name}");
    }
}

#[test]
fn requests_that_are_tried_again_are_recorded() {
    let all = entries("2.1.325/err401", Level::Metadata);
    let retries = of_kind(&all, Kind::ModelRequest);
    assert_eq!(retries.len(), 8);
    assert_eq!(retries[0].key, "request:req_fake000101");
    assert_eq!(
        (&retries[7].metadata["retryAttempt"], &retries[7].metadata["httpStatus"]),
        (&json!(8), &json!(401))
    );
    assert!(!serde_json::to_string(&all).unwrap().contains("x-api-key"));
}

#[test]
fn titles_and_places_are_recorded_when_they_change() {
    let all = entries("2.1.325/named", Level::Actions);
    let titles: Vec<&Value> = all
        .iter()
        .filter(|entry| entry.subject == Subject::Task)
        .filter_map(|entry| entry.metadata.get("titleSource"))
        .collect();
    assert_eq!(titles, ["custom", "agent_name", "prompt"]);
    let metadata = serde_json::to_string(&entries("2.1.325/named", Level::Metadata)).unwrap();
    assert!(!metadata.contains("my-session"));
    let all = entries("2.1.325/worktree_flag", Level::Actions);
    let tree = all.iter().find(|entry| entry.metadata.contains_key("worktreeBranch")).unwrap();
    assert_eq!(tree.metadata["worktreeBranch"], "worktree-flagged");
    assert_eq!(all.iter().filter(|entry| entry.metadata.contains_key("worktreeBranch")).count(), 1);
    let all = entries("2.1.325/cd", Level::Actions);
    let places: Vec<&Value> = all
        .iter()
        .filter(|entry| entry.subject == Subject::Task)
        .filter_map(|entry| entry.metadata.get("cwd"))
        .collect();
    assert!(places.len() > 1, "{places:?}");
}

#[test]
fn the_tree_of_agents_is_exact() {
    let all = entries("2.1.325/agent_nested", Level::Actions);
    let metadata_of = |agent: &str, by: &str| -> BTreeMap<String, Value> {
        let found = all.iter().rfind(|entry| {
            entry.task.runtime_session == format!("sub--{agent}")
                && entry.evidence.reason.starts_with(by)
                && (by.starts_with("meta")
                    || entry.metadata.get("parentCertainty") == Some(&json!("reported")))
        });
        found.unwrap().metadata.clone().into_iter().collect()
    };
    let outer = metadata_of("a65b484af8affef61", "meta.json");
    // The folder is no evidence: an agent that outlives `/clear` lies in two.
    assert_eq!((outer.get("parentSession"), &outer["depth"]), (None, &json!(1)));
    let by_call = metadata_of("a65b484af8affef61", "transcript");
    assert_eq!(by_call["parentSession"], "2ebc5ab6-4a16-4d07-8e32-a49967836261");
    let inner = metadata_of("acd640c9bc2108eee", "meta.json");
    assert_eq!(inner["parentSession"], "sub--a65b484af8affef61");
    assert_eq!((&inner["depth"], &inner["agentType"]), (&json!(2), &json!("general-purpose")));
    // The rows of the outer agent say the same: its own file is that of the parent.
    let by_row = all.iter().find(|entry| {
        entry.task.runtime_session == "sub--acd640c9bc2108eee"
            && entry.metadata.contains_key("parentToolUseId")
    });
    assert_eq!(by_row.unwrap().metadata["parentSession"], "sub--a65b484af8affef61");
}

#[test]
fn work_in_the_background_ends_by_its_notification() {
    let all = entries("2.1.325/rc_agent_bg", Level::Actions);
    let agent: Vec<&Entry> = all.iter().filter(|entry| entry.key == "subagent:a79ae93f3c517798c").collect();
    let states: Vec<(Phase, &Value)> =
        agent.iter().map(|entry| (entry.phase, &entry.metadata["asyncStatus"])).collect();
    assert_eq!(states, [(Phase::Open, &json!("running")), (Phase::Close, &json!("completed"))]);
    let prompts = of_kind(&all, Kind::UserMessage);
    let origins: Vec<&Value> = prompts.iter().map(|entry| &entry.metadata["promptOrigin"]).collect();
    assert_eq!(origins, ["delegation", "user", "task_notification"]);
    let metadata = entries("2.1.325/rc_agent_bg", Level::Metadata);
    let prompts = of_kind(&metadata, Kind::UserMessage);
    assert_eq!(prompts[2].metadata["promptOrigin"], "task_notification");
}

#[test]
fn what_a_teammate_says_is_no_second_prompt_of_the_human() {
    let all = entries("2.1.325/tui_team", Level::Actions);
    let prompts: Vec<&Entry> = of_kind(&all, Kind::UserMessage)
        .into_iter()
        .filter(|entry| entry.metadata["promptOrigin"] != "delegation")
        .collect();
    assert_eq!(prompts.len(), 2);
    assert_ne!(prompts[0].key, prompts[1].key);
    assert_eq!(
        (&prompts[0].metadata["promptOrigin"], &prompts[1].metadata["promptOrigin"]),
        (&json!("user"), &json!("steering"))
    );
    let opened = all.iter().filter(|entry| entry.subject == Subject::Turn && entry.phase == Phase::Open);
    assert_eq!(opened.filter(|entry| entry.agent_id.is_none()).count(), 1);
}

#[test]
fn hooks_that_decide_or_fail_are_recorded_for_every_owner() {
    for (name, kind, member, value) in [
        ("2.1.325/ctl_stop_block", Kind::RuleLogged, "ruleOutcome", "deny"),
        ("2.1.325/ctl_pre_continue_false", Kind::RuleLogged, "ruleOutcome", "block_stop"),
        ("2.1.325/ctl_pre_defer", Kind::RuleLogged, "ruleOutcome", "ask"),
        ("2.1.325/ctl_ups_block", Kind::RuleLogged, "rulePolicy", "user_hook"),
        ("2.1.325/ctl_ss_hso_noname", Kind::ContextSaved, "trigger", "hook_non_blocking_error"),
    ] {
        let all = entries(name, Level::Actions);
        assert!(of_kind(&all, kind).iter().any(|entry| entry.metadata[member] == value), "{name}: {all:#?}");
        assert!(!serde_json::to_string(&all).unwrap().contains("NEEDLE"), "{name} quotes a hook");
    }
}

#[test]
fn turns_say_how_long_they_took_and_what_the_hooks_at_their_end_cost() {
    let all = entries("2.1.325/rc_tui", Level::Metadata);
    let turns: Vec<&Entry> =
        all.iter().filter(|entry| entry.subject == Subject::Turn && entry.phase == Phase::Update).collect();
    assert!(turns.iter().any(|turn| turn.metadata.get("durationMs") == Some(&json!(522))));
    assert!(turns.iter().any(|turn| turn.metadata.get("stopHookDurationMs") == Some(&json!(28))));
}

#[test]
fn a_prompt_put_into_a_running_turn_is_recorded_once() {
    let attachment = r#"{"type":"attachment","uuid":"u2","sessionId":"s","timestamp":"2026-11-15T21:00:02.000Z","attachment":{"type":"queued_command","prompt":"Be quick","commandMode":"prompt"}}"#;
    let removed = r#"{"type":"queue-operation","operation":"remove","sessionId":"s","timestamp":"2026-11-15T21:00:01.000Z","content":"Be quick"}"#;
    let actual = read_lines(&[removed, attachment], Level::Actions);
    let entries = actual.entries();
    let prompts = of_kind(&entries, Kind::UserMessage);
    assert_eq!(prompts.len(), 2);
    assert_eq!(prompts[0].key, prompts[1].key);
    assert_eq!(prompts[0].metadata["promptOrigin"], "steering");
    assert_eq!(prompts[0].body.as_deref(), Some("Be quick"));
}

#[test]
fn a_command_in_the_clients_own_shell_is_the_humans() {
    let row = r#"{"type":"user","uuid":"u1","sessionId":"s","promptId":"p","timestamp":"2026-11-15T21:00:00.000Z","message":{"role":"user","content":"<bash-input>git status</bash-input>"}}"#;
    let output = r#"{"type":"user","uuid":"u2","sessionId":"s","promptId":"p","timestamp":"2026-11-15T21:00:01.000Z","message":{"role":"user","content":"<bash-stdout>secret output</bash-stdout><bash-stderr></bash-stderr>"}}"#;
    let actual = read_lines(&[row, output], Level::Full);
    let entries = actual.entries();
    let command = of(&entries, Kind::TerminalCommand, "the command");
    assert_eq!(
        (&command.metadata["command"], &command.metadata["userShell"]),
        (&json!("git status"), &json!(true))
    );
    assert!(!serde_json::to_string(&entries).unwrap().contains("secret output"));
}
