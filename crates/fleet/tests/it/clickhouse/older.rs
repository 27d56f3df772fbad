//! Older versions of rows that no merge has dropped yet: however many there are, and whatever they say, answers are those
//! of the newest.

use std::sync::Arc;

use agent_tracer_event::{Millis, TaskId};
use agent_tracer_fleet::clickhouse::{Fleet, Reader};
use agent_tracer_ledger::project::row::Signature;
use agent_tracer_ledger::shipment::Shipment;
use agent_tracer_ledger::view::{Page, TaskKind, TaskStatus};
use agent_tracer_ledger::{
    Answer, Changes, Insights, Paging, Range, Search, SearchFilter, TaskFilter, Tasks, Usage, UsageBy, Utc,
};
use agent_tracer_testkit::history::{COMMON, Dice, History};
use serde::Serialize;
use serde_json::{Value, json};

use crate::clickhouse::contract::every;
use crate::clickhouse::retention::{own_name, run};
use crate::clickhouse::world::World;
use crate::engine::{self, Make};

/// Number of older versions of every row.
const OLDER: u64 = 12;

const DAY_MS: i64 = 86_400_000;

/// Returns an older version of everything, which says something else wherever lists are made of it.
fn older(newest: &Shipment, version: u64, dice: &mut Dice) -> Shipment {
    let mut shipment = newest.clone();
    let parents: Vec<String> = newest.tasks.iter().map(|task| task.task.clone()).collect();
    let signatures: Vec<Signature> = newest.facts.iter().filter_map(|fact| fact.row.signature).collect();
    let moved = |dice: &mut Dice| dice.within(0, 60) as i64 * DAY_MS - 30 * DAY_MS;
    for task in &mut shipment.tasks {
        task.version = version;
        task.last += moved(dice);
        task.title = format!("quokkapedia {}", task.title);
        task.failures = 7;
        task.status = TaskStatus::Running;
        task.background = dice.per_mille(500);
        task.parent = Some(parents[dice.throw() as usize % parents.len()].clone());
        task.project = "/home/dev/before".to_owned();
    }
    for fact in &mut shipment.facts {
        fact.version = version;
        // Most versions of a fact stand where the others do.
        if dice.per_mille(300) {
            fact.row.occurred += moved(dice);
        }
        if fact.row.signature.is_some() {
            fact.row.open = true;
            // Many calls were one at that time: a loop that is none any more.
            fact.row.signature = Some(signatures[dice.throw() as usize % signatures.len().min(3)]);
        }
    }
    shipment
}

/// Returns all that is asked of lists, page by page, so that edges of pages fall anywhere.
fn lists(reader: &Reader) -> Vec<(&'static str, Value)> {
    fn all_pages<T: Serialize>(limit: u32, page: impl Fn(Paging) -> Answer<Page<T>>) -> Value {
        json!(every(limit, page).unwrap())
    }
    let now = Millis(agent_tracer_testkit::history::BEGIN + 40 * DAY_MS);
    let tasks = |limit: u32, filter: TaskFilter| {
        all_pages(limit, |paging| reader.tasks(now, &TaskFilter { paging, ..filter.clone() }))
    };
    let range = |paging: Paging| Range { paging, ..Range::default() };
    let search = |limit: u32, filter: SearchFilter| {
        all_pages(limit, |paging| {
            let range = Range { paging, ..filter.range.clone() };
            reader.search(&SearchFilter { range, ..filter.clone() })
        })
    };
    let all = reader.tasks(now, &TaskFilter::default()).unwrap().items;
    let middle = all.get(all.len() / 2).map(|task| task.last_event_at).unwrap();
    let trees: Vec<Value> =
        all.iter().map(|task| json!(reader.tree(now, &TaskId::parse(&task.id).unwrap()).unwrap())).collect();
    vec![
        ("tasks", tasks(3, TaskFilter::default())),
        ("all tasks", tasks(500, TaskFilter::default())),
        ("subagents", tasks(2, TaskFilter { kind: Some(TaskKind::Background), ..TaskFilter::default() })),
        ("failed", tasks(2, TaskFilter { failed_calls: true, ..TaskFilter::default() })),
        ("running", tasks(2, TaskFilter { status: vec![TaskStatus::Running], ..TaskFilter::default() })),
        ("words", tasks(2, TaskFilter { q: Some("quokkapedia".to_owned()), ..TaskFilter::default() })),
        (
            "before",
            tasks(2, TaskFilter { project: Some("/home/dev/before".to_owned()), ..TaskFilter::default() }),
        ),
        ("since", tasks(2, TaskFilter { since: Some(middle), ..TaskFilter::default() })),
        ("until", tasks(2, TaskFilter { until: Some(middle), ..TaskFilter::default() })),
        ("trees", json!(trees)),
        ("hits", search(3, SearchFilter { q: COMMON.to_owned(), ..SearchFilter::default() })),
        (
            "hits in a project",
            search(
                2,
                SearchFilter {
                    q: COMMON.to_owned(),
                    range: Range { project: Some("/home/dev/project-1".to_owned()), ..Range::default() },
                    ..SearchFilter::default()
                },
            ),
        ),
        (
            "failed calls",
            search(2, SearchFilter { state: Some("failed".to_owned()), ..SearchFilter::default() }),
        ),
        ("attention", json!(reader.attention(now).unwrap())),
        ("usage", all_pages(3, |paging| reader.usage(&range(paging), UsageBy::Task, &Utc))),
        ("activity", json!(reader.activity(&Range::default(), 30).unwrap())),
        ("a page of loops", json!(reader.loops(&range(Paging { cursor: None, limit: 2 })).unwrap().items)),
        ("loops", all_pages(1, |paging| reader.loops(&range(paging)))),
        ("loops since", all_pages(2, |paging| reader.loops(&Range { since: Some(middle), ..range(paging) }))),
    ]
}

/// Returns the ids of the arrivals, without times.
fn arrived(reader: &Reader) -> Vec<String> {
    let (mut rows, mut after) = (Vec::new(), 0);
    loop {
        let more = reader.changes(after, 50).unwrap();
        let Some(last) = more.last() else { break };
        after = last.seq;
        rows.extend(more.into_iter().map(|row| row.id));
    }
    rows.sort();
    rows
}

#[test]
fn answers_are_those_of_the_newest_versions_however_many_are_older() {
    answers_by_newest_versions(engine::database);
}

pub(crate) fn answers_by_newest_versions(make: Make) {
    let (fleet, place) = make();
    for table in ["fact", "task"] {
        let name = own_name(&place, table);
        run(&place, &format!("SYSTEM STOP MERGES {}", name.split(' ').next().unwrap()));
    }
    let world = World::empty();
    world.bring(History::new(900, 3).batch(usize::MAX));
    let mut newest = world.shipments(100_000).pop().unwrap();
    for record in &mut newest.tasks {
        record.version += OLDER + 1;
    }
    for record in &mut newest.facts {
        record.version += OLDER + 1;
    }
    let mut dice = Dice::new(7);
    for version in 1..=OLDER {
        fleet.write("ann", &older(&newest, version, &mut dice)).unwrap();
    }
    fleet.write("ann", &newest).unwrap();
    // One that comes late changes nothing either.
    fleet.write("ann", &older(&newest, 1, &mut dice)).unwrap();
    // A database without any older version.
    let (plain, _) = make();
    plain.write("ann", &newest).unwrap();
    let of = |fleet: &Arc<Fleet>| Reader::new(Arc::clone(fleet), vec!["ann".to_owned()]);
    let (many, one) = (of(&fleet), of(&plain));
    let answers = lists(&one);
    let is_long = |answer: &Value| answer.as_array().is_some_and(|list| list.len() > 4);
    assert!(answers.iter().filter(|(_, answer)| is_long(answer)).count() > 5, "{answers:?}");
    for ((name, found), (_, answers)) in lists(&many).into_iter().zip(answers) {
        assert_eq!(found, answers, "{name}");
    }
    let answers = arrived(&one);
    assert!(answers.len() > 500, "{}", answers.len());
    assert_eq!(arrived(&many), answers);
    // A part of it once more, as a sender without an answer sends it: each row counts once, where it arrived last.
    let few =
        Shipment { facts: newest.facts.iter().take(40).cloned().collect(), tasks: Vec::new(), ..newest };
    let before = many.seq().unwrap();
    fleet.write("ann", &few).unwrap();
    assert_eq!(arrived(&many), answers);
    let again = many.changes(before, 50).unwrap();
    assert!(!again.is_empty() && again.iter().all(|row| row.seq > before), "{}", again.len());
}
