//! Compares tables written by hand with the channels: each alone, and both folded into one.
//!
//! The tables are `fixtures/golden/truth/`, the rules about what a channel can know are `known`.

mod known;
mod observed;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use agent_tracer_event::{Agent, Channel};
use serde_json::Value;

use super::scenarios::{Scenario, all, fixtures};
use table::{ResponseSums, Row};

/// Holds what was picked out of many sessions, or written by hand: nothing happened there that a row could tell of.
const SAMPLES: &[&str] = &[
    "claude-code/2.1.325-payloads",
    "claude-code/otel-2.1.325",
    "codex/0.166.0/payloads",
    "codex/0.166.0/otel",
];

fn is_sample(scenario: &Scenario) -> bool {
    SAMPLES.contains(&scenario.name.as_str()) || scenario.name.starts_with("seeds/")
}

#[test]
fn every_scenario_has_a_row_and_every_row_its_scenario() {
    let rows: BTreeSet<String> = table::read().into_keys().collect();
    let scenarios: BTreeSet<String> =
        all().into_iter().filter(|scenario| !is_sample(scenario)).map(|scenario| scenario.name).collect();
    let missing: Vec<&String> = scenarios.difference(&rows).collect();
    let idle: Vec<&String> = rows.difference(&scenarios).collect();
    assert!(missing.is_empty() && idle.is_empty(), "without a row {missing:?}, without fixtures {idle:?}");
    assert!(rows.len() >= 191, "{}", rows.len());
}

#[test]
fn hooks_and_files_tell_what_happened_each_alone_and_both_together() {
    let rows = table::read();
    let mut wrong = Vec::new();
    for scenario in all() {
        let Some(row) = rows.get(&scenario.name) else { continue };
        let channels: BTreeSet<Channel> = scenario.parts.iter().map(|part| part.channel).collect();
        let mut views: Vec<Vec<Channel>> = channels.iter().map(|channel| vec![*channel]).collect();
        if channels.len() > 1 {
            views.push(channels.into_iter().collect());
        }
        for view in views {
            let expected = known::expected(row, &view);
            for difference in expected.differences(&observed::observed(&scenario, &view)) {
                wrong.push(format!("{} {view:?} {difference}", scenario.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
}

/// The hooks of one scenario and the file of the other were captured in the same session.
const SAME_SESSION: (&str, &str) = ("codex/0.166.0/appserver", "codex/0.166.0/legacy_history");

#[test]
fn a_session_whose_channels_are_two_scenarios_is_complete_with_both() {
    let (hooks, files) = SAME_SESSION;
    let rows = table::read();
    let parts = all().into_iter().filter(|scenario| scenario.name == hooks || scenario.name == files);
    let whole =
        Scenario { name: hooks.to_owned(), parts: parts.flat_map(|scenario| scenario.parts).collect() };
    let channels = [Channel::Hook, Channel::Transcript];
    let actual = observed::observed(&whole, &channels);
    for name in [hooks, files] {
        let differences = known::expected(&rows[name], &channels).differences(&actual);
        assert!(differences.is_empty(), "{name}\n{}", differences.join("\n"));
    }
}

/// Returns what the API answered, in the words of a table.
fn answered(row: &Row, truth: &Value) -> BTreeMap<String, ResponseSums> {
    let mut sums: BTreeMap<String, ResponseSums> = BTreeMap::new();
    for session in truth["sessions"].as_array().unwrap() {
        let agents = session.get("agents").or_else(|| session.get("threads")).unwrap();
        for agent in agents.as_array().unwrap() {
            let id = agent.get("agent_id").or_else(|| agent.get("thread_id")).and_then(Value::as_str);
            let id = id.filter(|id| row.agents.iter().any(|known| known.id == *id)).unwrap_or("main");
            for (kind, about) in agent["by_kind"].as_object().unwrap() {
                let whose = match kind.as_str() {
                    "turn" => id,
                    "side" => "search",
                    other => other,
                };
                let count = |name: &str| about[name].as_u64().unwrap();
                let complete = count("requests") - count("failed") - count("cut_short");
                if complete == 0 {
                    continue;
                }
                let usage = |name: &str| about["usage"][name].as_u64().unwrap_or(0);
                let actual = match row.agent {
                    Agent::CLAUDE_CODE => [
                        complete,
                        usage("input_tokens"),
                        usage("output_tokens"),
                        usage("cache_read_input_tokens"),
                        usage("cache_creation_input_tokens"),
                    ],
                    // What was cached is inside the input, and ours is not.
                    _ => [
                        complete,
                        usage("input_tokens") - usage("cached_input_tokens"),
                        usage("output_tokens"),
                        usage("cached_input_tokens"),
                        0,
                    ],
                };
                let sum = sums.entry(whose.to_owned()).or_default();
                for (sum, actual) in sum.iter_mut().zip(actual) {
                    *sum += actual;
                }
            }
        }
    }
    sums
}

#[test]
fn the_tables_have_the_tokens_that_the_api_answered() {
    let mut compared = 0;
    for (name, row) in table::read() {
        let (version, own) = name.rsplit_once('/').unwrap();
        let path = match row.agent {
            Agent::CLAUDE_CODE => fixtures().join(&name).join("truth.json"),
            _ => fixtures().join(format!("{version}/truth/{own}.truth.json")),
        };
        let Ok(truth) = fs::read_to_string(path) else { continue };
        let truth: Value = serde_json::from_str(&truth).unwrap();
        // Of an answer that was cut short the API knows what it would have come to.
        let tokens: BTreeMap<String, ResponseSums> =
            row.tokens.clone().into_iter().filter(|(whose, _)| whose != "cut").collect();
        assert_eq!(tokens, answered(&row, &truth), "{name}");
        compared += 1;
    }
    assert!(compared >= 48, "{compared}");
}
