//! Describes what the provider really answered, against what the ledger says: the difference is nothing.

use std::collections::BTreeMap;
use std::fs;

use agent_tracer_event::Millis;
use agent_tracer_ledger::view::{Task, UsageView};
use agent_tracer_ledger::{Range, TaskFilter, UsageBy, Utc};
use agent_tracer_testkit::{Scenario, fixtures, scenario, scenarios};
use serde_json::Value;

use crate::queries::every;
use crate::world::World;

/// Input without caches, output, read from caches, written to caches.
type TokenCounts = [u64; 4];

/// Names that no channel can observe: no hook tells of it and no file of the client holds it.
const UNOBSERVABLE: &[(&str, &str, &str)] =
    &[("codex/", "title", "a thread that names another one leaves no rollout and fires no hook")];

/// Sessions that were killed: the client writes its account when it ends, so of their compactions and side requests
/// nothing would be known. What they were answered in turns is.
const WITHOUT_ACCOUNT: &[&str] = &["claude-code/2.1.325/killed", "claude-code/2.1.150/agent_bg"];

/// Answers that were cut short and that the client counts: what their rows say, and what the account has beyond that.
const CUT_SHORT: &[(&str, TokenCounts, TokenCounts)] =
    &[("claude-code/2.1.326/interrupt", [5, 1, 10_202, 214], [0, 5, 0, 0])];

/// Sessions whose account covers only a part of what they and their agents spent: it began after a kill, or an agent went on
/// under the name of the next session.
const PART_OF_ACCOUNT: &[&str] = &["claude-code/2.1.326/kill_resume", "claude-code/2.1.326/clear_bg"];

fn plus(one: TokenCounts, two: TokenCounts) -> TokenCounts {
    std::array::from_fn(|index| one[index] + two[index])
}

fn four_of(usage: &Value) -> TokenCounts {
    let of = |key: &str| usage[key].as_u64().unwrap_or(0);
    if usage.get("cached_input_tokens").is_some() {
        let cached = of("cached_input_tokens");
        return [of("input_tokens") - cached, of("output_tokens"), cached, 0];
    }
    let input = of("input_tokens");
    [input, of("output_tokens"), of("cache_read_input_tokens"), of("cache_creation_input_tokens")]
}

fn spent(usage: &UsageView) -> TokenCounts {
    [usage.tokens.input, usage.tokens.output, usage.tokens.cache_read, usage.tokens.cache_write]
}

fn left(usage: &UsageView) -> TokenCounts {
    let residual = usage.residual.clone().unwrap_or_default();
    [residual.tokens.input, residual.tokens.output, residual.tokens.cache_read, residual.tokens.cache_write]
}

pub(crate) fn tasks(world: &World) -> BTreeMap<String, Task> {
    let store = world.ledger.store();
    let all = every(|paging| store.tasks(Millis(0), &TaskFilter { paging, ..TaskFilter::default() }));
    all.into_iter().map(|task| (task.runtime_session_id.clone(), task)).collect()
}

fn truths() -> Vec<(Scenario, Value)> {
    let mut all = Vec::new();
    for scenario in scenarios() {
        let (version, own) = scenario.name.rsplit_once('/').unwrap();
        let codex = format!("{version}/truth/{own}.truth.json");
        let claude = format!("{}/truth.json", scenario.name);
        let path = if scenario.name.starts_with("codex/") { codex } else { claude };
        if let Ok(text) = fs::read_to_string(fixtures().join(path)) {
            all.push((scenario, serde_json::from_str(&text).unwrap()));
        }
    }
    assert!(all.len() >= 48, "{}", all.len());
    all
}

#[test]
fn the_difference_to_what_the_provider_answered_is_nothing() {
    let mut compared = (0, 0, 0);
    for (scenario, truth) in truths() {
        let name = scenario.name.clone();
        let world = World::with(&scenario.observed(None), 20);
        let mut tasks = tasks(&world);
        let cut = CUT_SHORT.iter().find(|(at, ..)| *at == name).map(|(_, row, beyond)| (*row, *beyond));
        for session in truth["sessions"].as_array().unwrap() {
            let root = session["session_id"].as_str().unwrap();
            let mut beside = cut.map_or([0; 4], |(_, beyond)| beyond);
            let agents = session.get("agents").or(session.get("threads")).unwrap();
            for agent in agents.as_array().unwrap() {
                let id = agent["agent_id"].as_str().or(agent["thread_id"].as_str()).unwrap_or(root);
                let mut expected = cut.map_or([0; 4], |(row, _)| row);
                for (kind, sums) in by_kind(&truth, id, agent) {
                    let usage = four_of(&sums["usage"]);
                    let kind = &kind;
                    let hidden =
                        UNOBSERVABLE.iter().any(|(at, what, _)| name.starts_with(at) && what == kind);
                    match kind.as_str() {
                        _ if hidden => compared.2 += 1,
                        "turn" => expected = plus(expected, usage),
                        // Codex writes a record of every response, whatever it was for.
                        _ if truth["client"] == "codex" => expected = plus(expected, usage),
                        "compaction" | "side" => beside = plus(beside, usage),
                        other => panic!("{name}: unknown kind of answer `{other}`"),
                    }
                }
                let task = tasks.remove(id).or_else(|| tasks.remove(&format!("sub--{id}")));
                let usage = task.as_ref().map(|task| task.usage.clone()).unwrap_or_default();
                let turns: TokenCounts =
                    std::array::from_fn(|index| spent(&usage)[index] - left(&usage)[index]);
                assert_eq!(turns, expected, "{name}: {id}");
                compared.0 += 1;
                if id == root && truth["client"] == "claude-code" {
                    let known = !WITHOUT_ACCOUNT.contains(&name.as_str());
                    assert_eq!(usage.client_cost_usd.is_some(), known, "{name}: {id} has an account");
                }
                // The account is the session's, so what is left of it stands on the session's own task.
                if id != root {
                    assert_eq!(usage.residual, None, "{name}: {id}");
                }
                if let Some(task) = task {
                    tasks.insert(id.to_owned(), task);
                }
            }
            let own = tasks.get(root).map(|task| task.usage.clone()).unwrap_or_default();
            assert_eq!(left(&own), beside, "{name}: {root} beside its turns");
            if let Some(client) = own.client_cost_usd {
                let tree = tasks[root].tree_usage.cost_usd;
                let forked = tasks[root].forked_from_task_id.is_some();
                let is_part = forked || PART_OF_ACCOUNT.contains(&name.as_str());
                assert!(is_part || (client - tree).abs() < 1e-6, "{name}: {client} is not {tree}");
            }
            compared.1 += usize::from(beside != [0; 4]);
        }
        let all = tasks.values().map(|task| spent(&task.usage)).fold([0; 4], plus);
        let mut answered = four_of(&truth["usage"]);
        for session in truth["sessions"].as_array().unwrap() {
            for thread in session["threads"].as_array().into_iter().flatten() {
                if thread["by_kind"].get("title").is_some() {
                    let hidden = four_of(&thread["usage"]);
                    answered = std::array::from_fn(|index| answered[index] - hidden[index]);
                }
            }
        }
        if let Some((row, beyond)) = cut {
            answered = plus(answered, plus(row, beyond));
        }
        assert_eq!(all, answered, "{name}: no other task spent anything");
    }
    assert!(compared.0 > 45 && compared.1 >= 5 && compared.2 == 15, "{compared:?}");
}

/// Returns what an agent was answered, by what it asked for. One that went on in another session is in both, and is one
/// agent.
fn by_kind(truth: &Value, id: &str, agent: &Value) -> Vec<(String, Value)> {
    let of = |agent: &Value| {
        let kinds = agent["by_kind"].as_object().unwrap().clone();
        kinds.into_iter().map(|(kind, sums)| (kind.clone(), sums.clone())).collect::<Vec<_>>()
    };
    if agent["agent_id"].is_null() {
        return of(agent);
    }
    let sessions = truth["sessions"].as_array().unwrap().iter();
    let agents = sessions.flat_map(|session| session["agents"].as_array().into_iter().flatten());
    agents.filter(|other| other["agent_id"] == id).flat_map(of).collect()
}

#[test]
fn what_is_left_of_an_account_says_why() {
    for (name, reason) in [
        ("2.1.325/compact", "compaction"),
        ("2.1.325/compact_auto", "compaction"),
        ("2.1.325/compact_late", "compaction"),
        ("2.1.325/rc_tui", "compaction"),
        ("2.1.325/rc_web", "side request"),
        ("2.1.326/interrupt", "cut short"),
    ] {
        let world = World::with(&scenario(name).observed(None), 7);
        let tasks = tasks(&world);
        let residuals: Vec<_> = tasks.values().filter_map(|task| task.usage.residual.clone()).collect();
        let [residual] = residuals.as_slice() else { panic!("{name}: {residuals:?}") };
        assert_eq!(residual.reason, reason, "{name}");
        assert_eq!(residual.models.len(), 1, "{name}");
        assert_eq!(residual.models[0].model, "claude-opus-5-5", "{name}");
        let (ours, client) = (residual.cost_usd, residual.client_cost_usd.unwrap());
        assert!(ours > 0.0 && (ours - client).abs() < 1e-6, "{name}: {ours} is not {client}");
    }
}

#[test]
fn whatever_it_is_asked_by_the_sum_is_the_same_and_what_is_left_is_reported_apart() {
    for name in
        ["2.1.325/compact", "2.1.325/rc_web", "2.1.325/rc_tui", "2.1.325/resume_picker", "2.1.325/fork"]
    {
        let world = World::with(&scenario(name).observed(None), 9);
        let expected = tasks(&world).values().fold(([0; 4], [0; 4]), |sum, task| {
            (plus(sum.0, spent(&task.usage)), plus(sum.1, left(&task.usage)))
        });
        let store = world.ledger.store();
        for by in [
            UsageBy::Day,
            UsageBy::Week,
            UsageBy::Month,
            UsageBy::Model,
            UsageBy::Project,
            UsageBy::Agent,
            UsageBy::AgentType,
            UsageBy::Task,
        ] {
            let range = Range::default();
            let buckets = every(|paging| store.usage(&Range { paging, ..range.clone() }, by, &Utc));
            let sum = buckets.iter().fold(([0; 4], [0; 4]), |sum, bucket| {
                (plus(sum.0, spent(&bucket.usage)), plus(sum.1, left(&bucket.usage)))
            });
            assert_eq!(sum, expected, "{name} by {by:?}");
        }
    }
}

#[test]
fn rate_limits_are_those_that_the_newest_sessions_reported() {
    let mut found = 0;
    for scenario in scenarios().iter().filter(|scenario| scenario.name.starts_with("codex/")) {
        let world = World::with(&scenario.observed(None), usize::MAX);
        let store = world.ledger.store();
        let last = tasks(&world).values().map(|task| task.last_event_at).max().unwrap_or(Millis(0));
        for limit in store.limits(last).unwrap().items {
            assert!((0.0..=100.0).contains(&limit.used_pct), "{} {limit:?}", scenario.name);
            assert!(limit.resets_at.is_none_or(|resets| resets > limit.at), "{} {limit:?}", scenario.name);
            found += 1;
        }
        // Long after, every window has begun anew.
        for limit in store.limits(Millis(i64::MAX / 2)).unwrap().items {
            assert_eq!((limit.resets_at, limit.forecast), (None, None), "{}", scenario.name);
        }
    }
    assert!(found > 0, "{found}");
}
