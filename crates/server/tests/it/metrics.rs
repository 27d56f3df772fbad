//! Numbers for Prometheus.

use std::sync::atomic::Ordering;

use agent_tracer_event::Tokens;
use agent_tracer_ledger::view::{
    AgentStat, ToolDurations, ToolStat, UsageBucket, UsageProvenance, UsageView,
};

use crate::world::World;

fn tool(name: &str, count: u64) -> ToolStat {
    ToolStat {
        tool: name.to_owned(),
        count,
        failures: 1,
        p50_ms: Some(1.5),
        p95_ms: Some(9.0),
        p99_ms: None,
        total_ms: 40,
    }
}

#[test]
fn the_numbers_are_those_of_the_store_and_made_only_now_and_then() {
    let world = World::new();
    world.memory.tools.lock().unwrap().push(tool("Bash", 12));
    // Two of the twelve calls have no duration.
    let at_most = vec![0, 1, 4, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10];
    let took = ToolDurations { tool: "Bash".to_owned(), count: 10, total_ms: 40, at_most };
    world.memory.durations.lock().unwrap().push(took);
    world.memory.agents.lock().unwrap().push(AgentStat {
        agent_type: "Explore".to_owned(),
        tasks: 3,
        tool_calls: 9,
        failures: 2,
        tool_ms: 1_500,
        run_ms: 60_000,
        usage: UsageView {
            tokens: Tokens { output: 70, ..Tokens::default() },
            cost_usd: 0.25,
            ..UsageView::default()
        },
    });
    let mut usage = UsageView { tokens: Tokens { output: 9, ..Tokens::default() }, ..UsageView::default() };
    usage.provenance = UsageProvenance { responses: 3, unpriced: 2, ..UsageProvenance::default() };
    world.memory.usage.lock().unwrap().push(UsageBucket {
        key: "new".to_owned(),
        label: None,
        owner: None,
        usage,
    });
    let first = world.get("/metrics");
    assert_eq!(first.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    for line in [
        "agent_tracer_entries_total 7",
        "agent_tracer_outcomes_total{outcome=\"recorded\"} 2",
        "agent_tracer_outcomes_total{outcome=\"refused\"} 1",
        "agent_tracer_spool_lag_seconds 0",
        "agent_tracer_lost_total{reason=\"full\"} 3",
        "agent_tracer_tool_calls_total{agent=\"claude_code\",tool=\"Bash\"} 12",
        "agent_tracer_tool_failures_total{agent=\"claude_code\",tool=\"Bash\"} 1",
        "# TYPE agent_tracer_tool_duration_seconds histogram",
        "agent_tracer_tool_duration_seconds_bucket{tool=\"Bash\",le=\"0.025\"} 4",
        "agent_tracer_tool_duration_seconds_bucket{tool=\"Bash\",le=\"+Inf\"} 10",
        "agent_tracer_tool_duration_seconds_sum{tool=\"Bash\"} 0.04",
        "agent_tracer_tool_duration_seconds_count{tool=\"Bash\"} 10",
        "agent_tracer_agent_tool_calls_total{agent=\"claude_code\",agent_type=\"Explore\"} 9",
        "agent_tracer_agent_tool_failures_total{agent=\"claude_code\",agent_type=\"Explore\"} 2",
        "agent_tracer_agent_tool_seconds_total{agent=\"claude_code\",agent_type=\"Explore\"} 1.5",
        "agent_tracer_agent_type_tool_calls_total{agent=\"claude_code\",agent_type=\"Explore\",tool=\"Bash\"} 12",
        "agent_tracer_agent_type_tool_failures_total{agent=\"claude_code\",agent_type=\"Explore\",tool=\"Bash\"} 1",
        "agent_tracer_agent_type_tool_seconds_total{agent=\"claude_code\",agent_type=\"Explore\",tool=\"Bash\"} 0.04",
        "# TYPE agent_tracer_agent_type_tool_duration_seconds histogram",
        "agent_tracer_agent_type_tool_duration_seconds_bucket{agent=\"claude_code\",agent_type=\"Explore\",tool=\"Bash\",le=\"0.025\"} 4",
        "agent_tracer_agent_type_tool_duration_seconds_bucket{agent=\"claude_code\",agent_type=\"Explore\",tool=\"Bash\",le=\"+Inf\"} 10",
        "agent_tracer_agent_type_tool_duration_seconds_sum{agent=\"claude_code\",agent_type=\"Explore\",tool=\"Bash\"} 0.04",
        "agent_tracer_agent_type_tool_duration_seconds_count{agent=\"claude_code\",agent_type=\"Explore\",tool=\"Bash\"} 10",
        "agent_tracer_unpriced_responses_total{agent=\"claude_code\",model=\"new\"} 2",
        "agent_tracer_agent_runs_total{agent=\"claude_code\",agent_type=\"Explore\"} 3",
        "agent_tracer_agent_run_seconds_total{agent=\"claude_code\",agent_type=\"Explore\"} 60",
        "agent_tracer_agent_cost_dollars_total{agent=\"claude_code\",agent_type=\"Explore\"} 0.25",
        "agent_tracer_agent_tokens_total{agent=\"claude_code\",agent_type=\"Explore\",type=\"output\"} 70",
    ] {
        assert!(first.text().lines().any(|there| there == line), "{line}\n{}", first.text());
    }
    world.memory.tools.lock().unwrap().push(tool("Read", 1));
    assert_eq!(world.get("/metrics").text(), first.text());
    world.clock.fetch_add(5_001, Ordering::SeqCst);
    assert!(world.get("/metrics").text().contains("tool=\"Read\""));
}

#[test]
fn every_metric_is_written_once_and_documented() {
    let world = World::new();
    let text = world.get("/metrics").text();
    let names: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    let mut once = names.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), names.len());
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/metrics.md");
    let page = std::fs::read_to_string(page).expect("docs/metrics.md");
    for name in &names {
        assert!(page.contains(&format!("`{name}`")), "docs/metrics.md does not name `{name}`");
    }
    let documented = page.split('`').filter(|word| word.starts_with("agent_tracer_"));
    for name in documented {
        assert!(names.contains(&name), "docs/metrics.md names `{name}`, which is not there");
    }
}
