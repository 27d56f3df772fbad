//! The status line: snapshots under their fixed names, and what they say of the task.

use agent_tracer_event::{Kind, Lane, Unrecognised};
use serde_json::json;

use super::*;

fn refresh(payload: &Value) -> Reading {
    read_bytes(&reduced(payload, Source::StatusLine, Some(Level::Actions)), Source::StatusLine, "o")
}

#[test]
fn a_snapshot_has_the_fixed_names() {
    let reading = refresh(&payload("StatusLine.cached"));
    let row = only(&reading, Kind::ContextSnapshot);
    let mut actual = row.metadata.clone();
    for common in ["effort", "promptId", "cwd"] {
        actual.remove(common);
    }
    assert_eq!(
        Value::Object(actual),
        json!({
            "contextWindowUsedPct": 1, "contextWindowRemainingPct": 99, "contextWindowTotalTokens": 14623,
            "contextWindowSize": 1_000_000, "contextWindowInputTokens": 7, "contextWindowOutputTokens": 12,
            "contextWindowCacheCreationTokens": 204, "contextWindowCacheReadTokens": 14400,
            "costTotalUsd": 0.009546, "modelId": "claude-opus-5-5", "modelDisplayName": "Opus 5.5",
            "sessionVersion": "2.1.325",
        })
    );
    assert_eq!(row.title.as_deref(), Some("Context 1% used"));
    assert_eq!(Kind::ContextSnapshot.lane(), Lane::Telemetry);
    assert_eq!(reading.client_version.as_deref(), Some("2.1.325"));
    let actual = &task(&reading, "6aa090bf-4c7d-41a9-85b2-6fdb8bcbcc35").metadata;
    assert_eq!(actual["model"], "claude-opus-5-5");
    assert_eq!(actual["clientVersion"], "2.1.325");
    assert_eq!(actual["cwd"], "/home/dev/project");
    assert_eq!(actual["projectDir"], "/home/dev/project");
}

#[test]
fn before_the_first_answer_there_is_no_snapshot() {
    let reading = refresh(&payload("StatusLine.first"));
    assert_eq!(outline(&reading), ["task update c9f2c169-14c1-449d-9dfd-3c436aa1d22e task"]);
}

#[test]
fn rate_limits_are_read_in_both_shapes_that_are_documented() {
    let whole = json!({"five_hour": {"used_percentage": 42.3, "resets_at": 1_774_137_600},
                       "seven_day": {"used_percentage": 85, "resets_at": 1_774_213_200}});
    let texts = json!({"five_hour": {"used_percentage": 42.3, "resets_at": "2026-03-22T00:00:00Z"},
                       "seven_day": {"used_percentage": 85, "resets_at": "2026-03-22T22:00:00+01:00"}});
    for limits in [whole, texts] {
        // Limits alone are enough, even before the first answer.
        let reading = refresh(&with(payload("StatusLine.first"), &[("rate_limits", limits)]));
        let row = only(&reading, Kind::ContextSnapshot);
        assert_eq!(row.metadata["rateLimitFiveHourUsedPct"], 42.3);
        assert_eq!(row.metadata["rateLimitFiveHourResetsAt"], "2026-03-22T00:00:00.000Z");
        assert_eq!(row.metadata["rateLimitSevenDayUsedPct"], 85);
        assert_eq!(row.metadata["rateLimitSevenDayResetsAt"], "2026-03-22T21:00:00.000Z");
        assert_eq!(row.metadata.get("contextWindowUsedPct"), None);
    }
}

#[test]
fn odd_limits_and_numbers_are_left_out() {
    let reading = refresh(&with(
        payload("StatusLine.cached"),
        &[
            (
                "rate_limits",
                json!({"five_hour": {"used_percentage": "many", "resets_at": -4}, "seven_day": null, "x": 1}),
            ),
            ("cost", json!("free")),
            ("model", json!("opus")),
        ],
    ));
    let row = only(&reading, Kind::ContextSnapshot);
    assert!(row.metadata.keys().all(|key| !key.starts_with("rateLimit") && key != "costTotalUsd"));
}

#[test]
fn equal_snapshots_are_one_fact() {
    let payload = payload("StatusLine.cached");
    let mut later = payload.clone();
    later["cost"]["total_duration_ms"] = json!(99_999);
    later["prompt_id"] = json!("another");
    let (first, second) = (refresh(&payload), refresh(&later));
    assert_eq!(only(&first, Kind::ContextSnapshot).key, only(&second, Kind::ContextSnapshot).key);
    later["cost"]["total_cost_usd"] = json!(0.02);
    assert_ne!(only(&first, Kind::ContextSnapshot).key, only(&refresh(&later), Kind::ContextSnapshot).key);
}

#[test]
fn a_name_an_agent_and_a_worktree_belong_to_the_task() {
    let reading = refresh(&with(
        payload("StatusLine.cached"),
        &[
            ("session_name", json!("Parser work")),
            ("agent", json!({"name": "reviewer"})),
            ("worktree", json!({"name": "w", "path": "/w", "branch": "worktree-w"})),
            ("weather", json!("fine")),
        ],
    ));
    let actual = &task(&reading, "6aa090bf-4c7d-41a9-85b2-6fdb8bcbcc35").metadata;
    assert_eq!(actual["title"], "Parser work");
    assert_eq!(actual["agentType"], "reviewer");
    assert_eq!(actual["gitBranch"], "worktree-w");
    assert_eq!(reading.unrecognised, [Unrecognised::Field("StatusLine.weather".to_owned())]);
    assert_eq!(only(&reading, Kind::ContextSnapshot).metadata["other.weather"], "fine");
}
