//! Reads Codex's rollouts, fact by fact.

use std::collections::BTreeSet;

use agent_tracer_agents::codex::rollout::Row;
use agent_tracer_event::{CallState, Certainty, Entry, Kind, Millis, Phase, Subject, Unrecognised};
use agent_tracer_privacy::Level;
use serde_json::{Value, json};

use crate::codex_fixtures::{
    LEVELS, THREAD, entries, is, is_call, lines, read_rollout, read_rows, rollout, rollouts, written,
};

#[test]
fn a_thread_knows_its_parent_its_place_and_its_client() {
    let meta = |name: &str| {
        let reading = read_rollout(name, &rollout(name), Level::Actions).remove(0);
        (reading.entries[0].clone(), reading.client_version.clone())
    };
    let (root, version) = meta("shell_ok");
    assert_eq!(version.as_deref(), Some("0.166.0"));
    for (name, value) in [
        ("cwd", json!("/home/dev/project")),
        ("agentType", json!("main")),
        ("gitBranch", json!("master")),
        ("attended", json!(false)),
        ("entrypoint", json!("codex_exec")),
    ] {
        assert_eq!(root.metadata[name], value);
    }
    assert!(!root.metadata.contains_key("parentSession"));
    let (child, _) = meta("agent_v1.child");
    for (name, value) in [
        ("agentType", json!("explorer")),
        ("depth", json!(1)),
        ("agentNickname", json!("Noether")),
        ("parentSession", json!("01a1e120-3879-7ad0-aeec-9fd528b98230")),
        ("parentCertainty", json!("reported")),
        ("rootSession", json!("01a1e120-3879-7ad0-aeec-9fd528b98230")),
    ] {
        assert_eq!(child.metadata[name], value);
    }
    let (scout, _) = meta("agent_v2.child");
    assert_eq!(
        (&scout.metadata["agentType"], &scout.metadata["agentPath"]),
        (&json!("default"), &json!("/root/scout"))
    );
    assert!(!scout.metadata.contains_key("forkedFrom"));
    assert_eq!(meta("review.child").0.metadata["agentType"], "review");
    let (fork, _) = meta("fork.fork");
    assert_eq!(fork.metadata["forkedFrom"], "01a1e120-2ea6-7463-8b4a-6b898802ad57");
}

#[test]
fn rows_copied_from_the_parent_are_not_recorded_again() {
    let content = rollout("agent_v2.child");
    let rows = read_rows("agent_v2.child", &content, Level::Full);
    assert!(rows.iter().filter(|row| **row == Row::Copied).count() >= 5);
    let parent = "01a1e120-426f-7413-9f73-91c06b33b113";
    for entry in entries("agent_v2.child", &content, Level::Full) {
        let about_parent = entry.task.runtime_session == parent;
        assert_eq!(about_parent, is(&entry, Kind::ActionLogged), "{entry:?}");
        assert_ne!(entry.turn.as_deref(), Some("01a1e120-42d3-7a41-873e-638f163092c6"));
    }
}

#[test]
fn copies_in_files_without_ordinals_end_with_the_threads_first_turn() {
    // Without ordinals, as an older version would have copied the same rows.
    let mut content = Vec::new();
    for (_, row) in lines(&rollout("agent_v2.child")) {
        let mut row: Value = serde_json::from_slice(&row).unwrap();
        row.as_object_mut().unwrap().shift_remove("ordinal");
        if let Some(meta) = row["payload"].as_object_mut() {
            meta.shift_remove("subagent_history_start_ordinal");
        }
        content.extend_from_slice(row.to_string().as_bytes());
        content.push(b'\n');
    }
    let facts = |content: &[u8]| -> BTreeSet<(String, String)> {
        let all = entries("x", content, Level::Actions)
            .into_iter()
            .filter(|entry| !entry.key.starts_with("snapshot:"));
        all.map(|entry| (entry.task.runtime_session, entry.key)).collect()
    };
    assert_eq!(facts(&content), facts(&rollout("agent_v2.child")));
}

#[test]
fn parents_and_children_report_the_tree() {
    for (name, children) in [
        ("agent_v1", &["agent_v1.child"][..]),
        ("agent_parallel", &["agent_parallel.child", "agent_parallel.child2"]),
        ("agent_v2", &["agent_v2.child"]),
    ] {
        let parent = entries(name, &rollout(name), Level::Actions);
        for child in children {
            let own = entries(child, &rollout(child), Level::Actions);
            let thread = own[0].task.runtime_session.clone();
            let actual: Vec<&Entry> =
                parent.iter().filter(|entry| entry.key == format!("subagent:{thread}")).collect();
            assert!(actual.iter().any(|entry| entry.phase == Phase::Open), "{name} starts {thread}");
            assert!(
                actual.iter().any(|entry| entry.metadata["asyncStatus"] == "completed"),
                "{name} hears of its end"
            );
            let task = parent
                .iter()
                .find(|entry| entry.subject == Subject::Task && entry.task.runtime_session == thread);
            assert_eq!(task.unwrap().metadata["parentSession"], parent[0].task.runtime_session);
            let ends: Vec<&Entry> = own
                .iter()
                .filter(|entry| is(entry, Kind::ActionLogged) && entry.phase == Phase::Close)
                .collect();
            assert_eq!(ends.len(), 1, "{child}");
            assert_eq!((&ends[0].key, &ends[0].task), (&actual[0].key, &actual[0].task));
            assert_eq!(own.iter().filter(|entry| is(entry, Kind::SessionEnded)).count(), 1);
        }
    }
}

#[test]
fn without_items_the_outputs_of_agent_tools_tell_of_children() {
    let found = entries("legacy_history", &rollout("legacy_history"), Level::Actions);
    let child = "01a1e0be-84a3-7821-97dd-747b90c57e02";
    let actual: Vec<(Phase, &Value)> = found
        .iter()
        .filter(|entry| entry.key == format!("subagent:{child}"))
        .map(|entry| (entry.phase, &entry.metadata["asyncStatus"]))
        .collect();
    assert_eq!(actual, [(Phase::Open, &json!("running")), (Phase::Close, &json!("completed"))]);
    let task = found.iter().find(|entry| entry.task.runtime_session == child).unwrap();
    assert_eq!(task.metadata["parentSession"], found[0].task.runtime_session);
}

#[test]
fn a_review_belongs_to_its_own_thread_though_its_parents_file_announces_it() {
    let parent = entries("review", &rollout("review"), Level::Actions);
    let child = entries("review.child", &rollout("review.child"), Level::Actions);
    let thread = &child[0].task;
    let prompt = |found: &[Entry]| {
        let prompts: Vec<(String, String)> = found
            .iter()
            .filter(|entry| is(entry, Kind::UserMessage))
            .map(|entry| (entry.task.runtime_session.clone(), entry.key.clone()))
            .collect();
        assert_eq!(prompts.len(), 1);
        prompts
    };
    assert_eq!(prompt(&parent), prompt(&child));
    let turns: BTreeSet<&str> = parent
        .iter()
        .filter(|entry| entry.subject == Subject::Turn)
        .map(|entry| entry.key.as_str())
        .collect();
    assert_eq!(turns.len(), 1, "the turn of the review is not the parent's");
    let reviews: Vec<&Value> = parent
        .iter()
        .filter(|entry| is(entry, Kind::ContextSaved) && entry.task != *thread)
        .filter_map(|entry| entry.metadata.get("trigger"))
        .collect();
    assert_eq!(reviews, ["review_started", "review_ended"]);
}

#[test]
fn turns_end_well_with_an_error_or_interrupted() {
    let turn = |name: &str| {
        let found = entries(name, &rollout(name), Level::Actions);
        let ends: Vec<Option<CallState>> = found
            .iter()
            .filter(|entry| entry.subject == Subject::Turn && entry.phase == Phase::Close)
            .map(|entry| entry.state)
            .collect();
        ends
    };
    assert_eq!(turn("shell_ok"), [Some(CallState::Succeeded)]);
    assert_eq!(turn("api_error"), [Some(CallState::Failed)]);
    assert_eq!(turn("interrupt"), [Some(CallState::Interrupted)]);
    assert_eq!(turn("killed"), []);
    let found = entries("api_error", &rollout("api_error"), Level::Actions);
    let failure = found.iter().find(|entry| is(entry, Kind::AssistantResponse)).unwrap();
    assert_eq!(failure.metadata["stopReason"], "error:internal_server_error");
    assert!(failure.metadata["errorDetails"].to_string().contains("high demand"), "{failure:?}");
    let found = entries("sigint", &rollout("sigint"), Level::Actions);
    let cut = found.iter().find(|entry| is(entry, Kind::TurnInterrupted)).unwrap();
    assert_eq!(cut.metadata["reason"], "interrupted");
}

#[test]
fn a_second_prompt_in_a_turn_steers() {
    let found = entries("legacy_history", &rollout("legacy_history"), Level::Actions);
    let origins: Vec<(&str, &Value)> = found
        .iter()
        .filter(|entry| is(entry, Kind::UserMessage))
        .map(|entry| (entry.body.as_deref().unwrap(), &entry.metadata["promptOrigin"]))
        .collect();
    let steering = json!("steering");
    let steered: Vec<&str> =
        origins.iter().filter(|(_, origin)| **origin == steering).map(|(body, _)| *body).collect();
    assert_eq!((origins.len(), steered), (7, vec!["[[shell_net]] app"]));
}

#[test]
fn an_agent_that_only_the_output_of_its_call_tells_of_has_the_role_that_the_call_names() {
    let child = "01a1e0be-84a3-7821-97dd-747b90c57e02";
    for (arguments, role) in [
        (json!({"message": "Look.", "agent_type": "explorer"}), "explorer"),
        (json!({"message": "Look.", "name": "scout"}), "default"),
    ] {
        let rows = written(&[
            ("session_meta", json!({"id": THREAD, "session_id": THREAD, "history_mode": "legacy"})),
            ("event_msg", json!({"type": "task_started", "turn_id": "t"})),
            (
                "response_item",
                json!({"type": "function_call", "name": "spawn_agent", "namespace": "multi_agent_v1",
                    "arguments": arguments.to_string(), "call_id": "c"}),
            ),
            (
                "response_item",
                json!({"type": "function_call_output", "call_id": "c",
                    "output": json!({"agent_id": child, "nickname": "Maxwell"}).to_string()}),
            ),
        ]);
        let found = entries("x", &rows, Level::Metadata);
        let task = found.iter().find(|entry| entry.task.runtime_session == child).unwrap();
        assert_eq!(task.metadata["agentType"], role);
    }
}

#[test]
fn commentary_and_thoughts_are_kept_only_at_full() {
    for (name, content) in rollouts() {
        for level in [Level::Metadata, Level::Actions] {
            for entry in entries(&name, &content, level) {
                assert!(
                    !is(&entry, Kind::AssistantCommentary) && !is(&entry, Kind::ThoughtLogged),
                    "{name}: {entry:?}"
                );
            }
        }
        // What ended a turn is never commentary too.
        let found = entries(&name, &content, Level::Full);
        let last: Vec<&str> = found
            .iter()
            .filter(|entry| is(entry, Kind::AssistantResponse))
            .filter_map(|entry| entry.body.as_deref())
            .collect();
        for entry in found.iter().filter(|entry| is(entry, Kind::AssistantCommentary)) {
            assert!(!last.contains(&entry.body.as_deref().unwrap()), "{name}: {entry:?}");
        }
    }
    let found = entries("commentary", &rollout("commentary"), Level::Full);
    let said: Vec<&str> = found
        .iter()
        .filter(|entry| is(entry, Kind::AssistantCommentary))
        .filter_map(|entry| entry.body.as_deref())
        .collect();
    assert_eq!(said.len(), 1, "{said:?}");
    let found = entries("shell_ok", &rollout("shell_ok"), Level::Full);
    let thought = found.iter().find(|entry| is(entry, Kind::ThoughtLogged)).unwrap();
    assert_eq!(thought.body.as_deref(), Some("**Listing files**"));
}

/// A turn in which a hook sent the agent on after its first answer.
fn sent_on(history_mode: &str, phase: Option<&str>, first: &str, second: &str) -> Vec<u8> {
    let item = |item: Value| {
        ("event_msg", json!({"type": "item_completed", "thread_id": THREAD, "turn_id": "t", "item": item}))
    };
    let said = |id: &str, text: &str| {
        let content = json!([{"type": "Text", "text": text}]);
        item(json!({"type": "AgentMessage", "id": id, "phase": phase, "content": content}))
    };
    written(&[
        ("session_meta", json!({"id": THREAD, "session_id": THREAD, "history_mode": history_mode})),
        ("event_msg", json!({"type": "task_started", "turn_id": "t"})),
        said("m1", first),
        item(
            json!({"type": "HookPrompt", "id": "h", "fragments": [{"text": "go on", "hookRunId": "stop:1:x"}]}),
        ),
        said("m2", second),
        ("event_msg", json!({"type": "task_complete", "turn_id": "t", "last_agent_message": second})),
    ])
}

#[test]
fn an_answer_after_which_a_hook_sent_the_agent_on_is_an_answer_too() {
    for level in LEVELS {
        for phase in [None, Some("final_answer")] {
            for second in ["Done.", "Really done."] {
                let found = entries("x", &sent_on("paginated", phase, "Done.", second), level);
                let answers: Vec<&Entry> =
                    found.iter().filter(|entry| is(entry, Kind::AssistantResponse)).collect();
                let keys: BTreeSet<&str> = answers.iter().map(|entry| entry.key.as_str()).collect();
                assert_eq!((answers.len(), keys.len()), (2, 2), "{level:?} {second}: {answers:#?}");
                assert!(!answers[0].key.ends_with(":again") && answers[1].key.ends_with(":again"));
                assert_eq!(answers[0].metadata["messageBytes"], 5);
                assert!(answers.iter().all(|entry| entry.aliases.is_empty()), "{answers:#?}");
                assert!(!found.iter().any(|entry| is(entry, Kind::AssistantCommentary)), "{found:#?}");
            }
        }
    }
}

#[test]
fn the_older_dialect_knows_an_answer_by_the_name_that_it_has_after_a_hook_sent_the_agent_on() {
    let rows = written(&[
        ("session_meta", json!({"id": THREAD, "session_id": THREAD, "history_mode": "legacy"})),
        ("event_msg", json!({"type": "task_started", "turn_id": "t"})),
        ("event_msg", json!({"type": "task_complete", "turn_id": "t", "last_agent_message": "Done."})),
    ]);
    let found = entries("x", &rows, Level::Actions);
    let answer = found.iter().find(|entry| is(entry, Kind::AssistantResponse)).unwrap();
    assert_eq!(answer.aliases, [format!("{}:again", answer.key)]);
}

#[test]
fn an_unmarked_message_before_a_call_is_commentary_and_before_the_end_is_not() {
    let item = |id: &str, text: &str| {
        (
            "event_msg",
            json!({"type": "item_completed", "thread_id": THREAD, "turn_id": "t", "item":
            {"type": "AgentMessage", "id": id, "content": [{"type": "Text", "text": text}]}}),
        )
    };
    let rows = written(&[
        ("session_meta", json!({"id": THREAD, "session_id": THREAD})),
        ("event_msg", json!({"type": "task_started", "turn_id": "t"})),
        item("m1", "First I look."),
        (
            "response_item",
            json!({"type": "function_call", "name": "exec_command", "arguments": "{\"cmd\":\"ls\"}", "call_id": "c"}),
        ),
        item("m2", "Done."),
        ("event_msg", json!({"type": "task_complete", "turn_id": "t", "last_agent_message": "Done."})),
    ]);
    let found = entries("x", &rows, Level::Full);
    let said: Vec<(&str, Millis)> = found
        .iter()
        .filter(|entry| is(entry, Kind::AssistantCommentary))
        .map(|entry| (entry.body.as_deref().unwrap(), entry.occurred_at))
        .collect();
    assert_eq!(said, [("First I look.", Millis(1_794_771_193_000))]);
}

#[test]
fn equal_snapshots_are_not_repeated_and_limits_are_named_by_their_window() {
    for (name, content) in rollouts() {
        let found = entries(&name, &content, Level::Actions);
        let mut before: Option<Value> = None;
        for entry in found.iter().filter(|entry| is(entry, Kind::ContextSnapshot)) {
            let mut keys = entry.metadata.clone();
            keys.retain(|key, _| !key.ends_with("ResetsAt"));
            let keys = Value::Object(keys);
            assert_ne!(before.as_ref(), Some(&keys), "{name}");
            before = Some(keys);
        }
    }
    let found = entries("shell_ok", &rollout("shell_ok"), Level::Actions);
    let snapshot = found.iter().find(|entry| is(entry, Kind::ContextSnapshot)).unwrap();
    for (name, value) in [
        ("contextWindowTotalTokens", json!(1310)),
        ("contextWindowSize", json!(258400)),
        ("contextWindowUsedPct", json!(0.51)),
        ("contextWindowInputTokens", json!(830)),
        ("contextWindowCacheReadTokens", json!(400)),
        ("rateLimitFiveHourUsedPct", json!(12.5)),
        ("rateLimitFiveHourResetsAt", json!("2026-11-15T22:03:11.000Z")),
        ("rateLimitSevenDayUsedPct", json!(40.0)),
        ("modelId", json!("gpt-5.5")),
    ] {
        assert_eq!(snapshot.metadata[name], value, "{name}");
    }
}

#[test]
fn limits_of_any_window_and_the_older_form_are_read() {
    let count = |limits: Value| {
        let rows = written(&[
            ("session_meta", json!({"id": THREAD, "session_id": THREAD})),
            ("event_msg", json!({"type": "token_count", "info": null, "rate_limits": limits})),
        ]);
        entries("x", &rows, Level::Actions).into_iter().find(|entry| is(entry, Kind::ContextSnapshot))
    };
    let older =
        count(json!({"primary": {"used_percent": 1.0, "window_minutes": 299, "resets_in_seconds": 60}}))
            .unwrap();
    assert_eq!(older.metadata["rateLimitFiveHourResetsAt"], "2026-11-15T19:34:12.000Z");
    let monthly = count(json!({"primary": {"used_percent": 250.0, "window_minutes": 43200}})).unwrap();
    assert_eq!(
        monthly.metadata["otherRateLimits"],
        json!([{"windowMinutes": 43200, "usedPct": 100.0, "resetsAt": null}])
    );
    assert_eq!(count(json!({"primary": null, "secondary": null})), None);
    assert_eq!(count(json!({"primary": {"used_percent": "x"}})), None);
    let far =
        count(json!({"primary": {"used_percent": 1, "window_minutes": 300, "resets_at": i64::MAX}})).unwrap();
    assert!(!far.metadata.contains_key("rateLimitFiveHourResetsAt"));
}

#[test]
fn a_change_of_model_is_recorded_once() {
    let context =
        |turn: &str, model: &str| ("turn_context", json!({"turn_id": turn, "model": model, "effort": "low"}));
    let rows = written(&[
        ("session_meta", json!({"id": THREAD, "session_id": THREAD})),
        context("t1", "one"),
        context("t1", "one"),
        context("t2", "two"),
        context("t2", "two"),
    ]);
    let found = entries("x", &rows, Level::Actions);
    let switches: Vec<(&Value, &Value)> = found
        .iter()
        .filter(|entry| is(entry, Kind::ModelSwitched))
        .map(|entry| (&entry.metadata["fromModel"], &entry.metadata["toModel"]))
        .collect();
    assert_eq!(switches, [(&json!("one"), &json!("two"))]);
}

#[test]
fn a_compaction_is_one_fact_with_its_size() {
    for name in ["compact", "autocompact", "remotecompact"] {
        let found = entries(name, &rollout(name), Level::Full);
        let actual: Vec<&Entry> =
            found.iter().filter(|entry| entry.metadata.contains_key("compactPhase")).collect();
        let keys: BTreeSet<&str> = actual.iter().map(|entry| entry.key.as_str()).collect();
        assert_eq!((keys.len(), actual.len()), (1, 2), "{name}");
        assert!(actual[0].metadata["compactSummaryBytes"].is_u64());
        let paid =
            found.iter().find(|entry| entry.metadata.get("purpose") == Some(&json!("compaction"))).unwrap();
        assert_eq!(paid.phase, Phase::Update);
        assert!(
            found.iter().any(|entry| is(entry, Kind::TokenUsage)
                && entry.phase == Phase::Open
                && entry.key == paid.key)
        );
    }
}

#[test]
fn unknown_rows_are_counted_and_nothing_is_guessed() {
    let rows = written(&[
        ("session_meta", json!({"id": THREAD, "session_id": THREAD, "history_mode": "quantum"})),
        ("weather", json!({"rain": true})),
        ("event_msg", json!({"type": "rained"})),
        ("response_item", json!({"type": "umbrella"})),
        (
            "event_msg",
            json!({"type": "item_completed", "thread_id": THREAD, "turn_id": "t", "item": {"type": "Rainbow", "id": "r"}}),
        ),
        ("event_msg", json!({"type": "turn_aborted", "turn_id": "t", "reason": "boredom"})),
        ("event_msg", json!({"type": "item_completed"})),
    ]);
    let readings = read_rollout("x", &rows, Level::Actions);
    let unknown: Vec<Unrecognised> =
        readings.iter().flat_map(|reading| reading.unrecognised.clone()).collect();
    assert_eq!(
        unknown,
        [
            Unrecognised::Value("history_mode=quantum".into()),
            Unrecognised::Row("weather".into()),
            Unrecognised::Row("event_msg/rained".into()),
            Unrecognised::Row("response_item/umbrella".into()),
            Unrecognised::Row("item_completed/Rainbow".into()),
            Unrecognised::Value("turn_aborted.reason=boredom".into()),
            Unrecognised::Row("item_completed".into()),
        ]
    );
}

#[test]
fn files_that_tell_no_turns_get_one_per_prompt() {
    let rows = written(&[
        (
            "session_meta",
            json!({"id": THREAD, "timestamp": "2025-09-20T10:00:00Z", "cwd": "/src", "cli_version": "0.40.0"}),
        ),
        ("turn_context", json!({"cwd": "/src", "model": "gpt-5-codex", "approval_policy": "on-request"})),
        ("event_msg", json!({"type": "user_message", "message": "one"})),
        (
            "response_item",
            json!({"type": "function_call", "name": "shell", "call_id": "c1",
            "arguments": "{\"command\":[\"bash\",\"-lc\",\"ls\"]}"}),
        ),
        (
            "response_item",
            json!({"type": "function_call_output", "call_id": "c1",
            "output": "{\"output\":\"a\\nb\\n\",\"metadata\":{\"exit_code\":1,\"duration_seconds\":0.5}}"}),
        ),
        ("event_msg", json!({"type": "agent_message", "message": "first answer"})),
        ("event_msg", json!({"type": "user_message", "message": "two"})),
        ("event_msg", json!({"type": "agent_message", "message": "second answer"})),
    ]);
    let found = entries("x", &rows, Level::Actions);
    let turns: Vec<(Phase, &str)> = found
        .iter()
        .filter(|entry| entry.subject == Subject::Turn)
        .map(|entry| (entry.phase, entry.key.as_str()))
        .collect();
    assert_eq!(turns.len(), 3);
    assert_eq!((turns[0].0, turns[1].0, turns[2].0), (Phase::Open, Phase::Close, Phase::Open));
    assert_eq!(turns[0].1, turns[1].1);
    let said: Vec<(&str, &str, Certainty)> = found
        .iter()
        .filter(|entry| is(entry, Kind::AssistantResponse))
        .map(|entry| {
            (entry.body.as_deref().unwrap(), entry.turn.as_deref().unwrap(), entry.evidence.certainty)
        })
        .collect();
    assert_eq!((said[0].0, said[1].0, said[0].2), ("first answer", "second answer", Certainty::Inferred));
    assert_ne!(said[0].1, said[1].1);
    let command = found.iter().find(|entry| is_call(entry) && entry.phase == Phase::Close).unwrap();
    assert_eq!((command.state, &command.metadata["exitCode"]), (Some(CallState::Failed), &json!(1)));
    assert_eq!((&command.metadata["outputBytes"], &command.metadata["durationMs"]), (&json!(4), &json!(500)));
    assert!(found.iter().all(|entry| entry.metadata.get("promptOrigin") != Some(&json!("steering"))));
}

#[test]
fn a_helper_of_the_client_is_recorded_without_its_prompt() {
    let guardian = "01a1e156-96e5-78d0-b4d0-d33e8341944c";
    let prompt = "The following is the Codex agent history. >>> tool exec_command result: private-output";
    let rows = written(&[
        (
            "session_meta",
            json!({"id": guardian, "session_id": THREAD, "parent_thread_id": THREAD,
            "source": {"subagent": {"other": "guardian"}}, "thread_source": "guardian_review"}),
        ),
        ("event_msg", json!({"type": "task_started", "turn_id": "t"})),
        (
            "event_msg",
            json!({"type": "item_completed", "thread_id": guardian, "turn_id": "t", "item":
            {"type": "UserMessage", "id": "u", "content": [{"type": "text", "text": prompt}]}}),
        ),
        (
            "event_msg",
            json!({"type": "item_completed", "thread_id": guardian, "turn_id": "t", "item":
            {"type": "AgentMessage", "id": "m", "content": [{"type": "Text", "text": "it printed private-output"}]}}),
        ),
        (
            "event_msg",
            json!({"type": "task_complete", "turn_id": "t", "last_agent_message": "it printed private-output"}),
        ),
    ]);
    for level in LEVELS {
        let found = entries("x", &rows, level);
        assert!(!serde_json::to_string(&found).unwrap().contains("private-output"));
        let asked = found.iter().find(|entry| is(entry, Kind::UserMessage)).unwrap();
        assert_eq!(asked.metadata["promptBytes"], prompt.len());
        assert_eq!(asked.agent_type.as_deref(), Some("guardian"));
        let title = found.iter().find_map(|entry| entry.metadata.get("title"));
        assert_eq!(title, Some(&json!("guardian")));
        assert!(
            found.iter().any(|entry| is(entry, Kind::ActionLogged) && entry.task.runtime_session == THREAD)
        );
    }
}

#[test]
fn going_back_to_an_earlier_message_stays_in_the_thread() {
    let base =
        |thread: &str| json!({"thread_id": thread, "end_ordinal_exclusive": 12, "end_byte_offset": 4096});
    let entries_of = |thread: &str| {
        let rows = written(&[(
            "session_meta",
            json!({"id": THREAD, "session_id": THREAD, "forked_from_id": thread, "history_base": base(thread)}),
        )]);
        entries("x", &rows, Level::Actions)
    };
    let went_back = entries_of(THREAD);
    let back = went_back.iter().find(|entry| is(entry, Kind::ContextSaved)).unwrap();
    assert_eq!(
        (&back.metadata["trigger"], &back.metadata["baseOrdinal"]),
        (&json!("rolled_back"), &json!(12))
    );
    assert!(!went_back[0].metadata.contains_key("forkedFrom"));
    let forked = entries_of("01a1e120-2ea6-7463-8b4a-6b898802ad57");
    assert!(forked.iter().all(|entry| !is(entry, Kind::ContextSaved)));
    assert!(forked[0].metadata.contains_key("forkedFrom"));
}
