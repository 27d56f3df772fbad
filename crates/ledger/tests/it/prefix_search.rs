//! The beginning of a word finds all words that begin so, however many they are and however many rows have them.

use std::collections::BTreeSet;
use std::sync::Arc;

use agent_tracer_event::{
    Agent, CallState, Certainty, Channel, Entry, Evidence, Kind, Millis, Phase, Reading, Subject, TaskKey,
};
use agent_tracer_ledger::{Observed, Range, SearchFilter, Store, TaskFilter, Verdict};
use serde_json::json;

use crate::queries::{Check, every_of};
use crate::query_world::{BEGIN, HOUR_MS};
use crate::world::World;

const TASKS: u64 = 120;
const CALLS: u64 = 25;

/// Returns the calls of all tasks: each has a word of its own, `probe<number>`, and every third says `cargo`.
fn calls() -> impl Iterator<Item = u64> {
    0..TASKS * CALLS
}

fn is_command(call: u64) -> bool {
    call.is_multiple_of(2)
}

fn at(call: u64) -> i64 {
    BEGIN + call as i64 * 60_000
}

/// Returns tasks with titles `Mend ticket<number>`, and their calls.
fn reported() -> Vec<Observed> {
    let evidence = || Evidence { certainty: Certainty::Measured, reason: String::new() };
    let tell = |call: u64| {
        let (number, at) = (call / CALLS, Millis(at(call)));
        let task = TaskKey::new(Agent::CLAUDE_CODE, format!("{number:03}"));
        let mut about = Entry::new(Subject::Task, Phase::Update, task.clone(), "task", at, evidence());
        if let serde_json::Value::Object(metadata) =
            json!({"title": format!("Mend ticket{number}"), "titleSource": "prompt", "project": "/srv/web"})
        {
            about.metadata = metadata;
        }
        let kind = if is_command(call) { Kind::TerminalCommand } else { Kind::ToolUsed };
        let key = format!("tool:{call}");
        let mut fact = Entry::new(Subject::Event(kind), Phase::Close, task, &key, at, evidence());
        let with = if call.is_multiple_of(3) { "cargo " } else { "" };
        fact.title = Some(format!("Run {with}probe{call}"));
        fact.tool_name = Some(if is_command(call) { "Bash" } else { "Read" }.to_owned());
        fact.state = Some(CallState::Succeeded);
        Observed {
            name: key,
            source: None,
            agent: Agent::CLAUDE_CODE,
            channel: Channel::Hook,
            arrived: at,
            verdict: Verdict::Read(Reading { entries: vec![about, fact], ..Reading::default() }),
            payload: None,
            kept: None,
        }
    };
    calls().map(tell).collect()
}

fn found(store: &Arc<dyn Store>, filter: &SearchFilter) -> BTreeSet<String> {
    let hits = every_of(40, &mut |paging| {
        let range = Range { paging, ..filter.range.clone() };
        store.search(&SearchFilter { range, ..filter.clone() })
    });
    let titles: BTreeSet<String> = hits.iter().map(|hit| hit.row.title.clone()).collect();
    assert_eq!(titles.len(), hits.len(), "no hit twice");
    assert!(hits.iter().all(|hit| hit.snippet.contains("⟦probe")), "{filter:?}");
    titles
}

fn check_hits(store: &Arc<dyn Store>) {
    let of = |q: &str| SearchFilter { q: q.to_owned(), ..SearchFilter::default() };
    let (since, until) = (BEGIN + 3 * HOUR_MS, BEGIN + 31 * HOUR_MS);
    let range = Range { since: Some(Millis(since)), until: Some(Millis(until)), ..Range::default() };
    let cases: Vec<(SearchFilter, Check<u64>)> = vec![
        (of("pro"), Box::new(|_| true)),
        (of("cargo prob"), Box::new(|call| call.is_multiple_of(3))),
        (of("probe1"), Box::new(|call| call.to_string().starts_with('1'))),
        (SearchFilter { tool: Some("bash".to_owned()), ..of("probe") }, Box::new(|call| is_command(*call))),
        (SearchFilter { kind: Some(Kind::ToolUsed), ..of("probe") }, Box::new(|call| !is_command(*call))),
        (SearchFilter { state: Some("failed".to_owned()), ..of("probe") }, Box::new(|_| false)),
        (SearchFilter { range, ..of("probe") }, Box::new(move |call| (since..until).contains(&at(*call)))),
        (of("nothing prob"), Box::new(|_| false)),
    ];
    for (filter, is_wanted) in cases {
        let with = |call: u64| if call.is_multiple_of(3) { "cargo " } else { "" };
        let expected: BTreeSet<String> = calls()
            .filter(|call| is_wanted(call))
            .map(|call| format!("Run {}probe{call}", with(call)))
            .collect();
        assert_eq!(found(store, &filter), expected, "{filter:?}");
    }
}

fn check_tasks(store: &Arc<dyn Store>) {
    for (question, is_wanted) in [
        ("tick", (|_| true) as fn(u64) -> bool),
        ("mend ticket", |_| true),
        ("ticket1", |number| number.to_string().starts_with('1')),
        ("mend prob", |_| false),
    ] {
        let filter = TaskFilter { q: Some(question.to_owned()), ..TaskFilter::default() };
        let found =
            every_of(7, &mut |paging| store.tasks(Millis(BEGIN), &TaskFilter { paging, ..filter.clone() }));
        let found: Vec<&str> = found.iter().map(|task| task.title.as_str()).collect();
        let expected: Vec<String> = (0..TASKS)
            .rev()
            .filter(|number| is_wanted(*number))
            .map(|number| format!("Mend ticket{number}"))
            .collect();
        assert_eq!(found, expected, "{question}");
    }
}

#[test]
fn a_beginning_finds_all_words_that_begin_so() {
    let world = World::with(&reported(), 900);
    world.ledger.finish_search().unwrap();
    let store = world.ledger.store();
    check_hits(&store);
    check_tasks(&store);
    // As if far more rows had them than the lists of all endings can be merged for.
    let common = "UPDATE vocabulary SET n = 1000000 WHERE term >= 'pr' AND term < 'tj'";
    assert!(world.connection().execute(common, []).unwrap() > 3_000);
    check_hits(&store);
    check_tasks(&store);
}
