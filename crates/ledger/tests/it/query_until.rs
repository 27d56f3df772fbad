//! Tasks that began before a moment: long and short ones, those that went on from then and those that had ended.

use agent_tracer_event::{Agent, Channel, Entry, Evidence, Kind, Millis, Phase, Reading, Subject, TaskKey};
use agent_tracer_ledger::view::Task;
use agent_tracer_ledger::{Observed, Range, Store, TaskFilter, UsageBy, Utc, Verdict};
use serde_json::json;

use crate::queries::{every, every_of};
use crate::query_world::{BEGIN, HOUR_MS};
use crate::world::World;

const DAY_MS: i64 = 24 * HOUR_MS;

/// Measures how long tasks go on: some end as they begin, some just miss or just pass a day, some take months.
const LENGTHS: [i64; 8] = [0, 1, HOUR_MS, DAY_MS - 1, DAY_MS, DAY_MS + 1, 10 * DAY_MS, 90 * DAY_MS];

fn reported(session: &str, at: i64, project: &str) -> Observed {
    let task = TaskKey::new(Agent::CODEX, session);
    let entry = |subject, key: &str| {
        Entry::new(subject, Phase::Open, task.clone(), key, Millis(at), Evidence::measured("a test"))
    };
    let mut place = entry(Subject::Task, "task");
    place.metadata = json!({ "cwd": project }).as_object().unwrap().clone();
    let said = entry(Subject::Event(Kind::UserMessage), &format!("prompt:{at}"));
    Observed {
        name: format!("{session}-{at}"),
        source: None,
        agent: Agent::CODEX,
        channel: Channel::Hook,
        arrived: Millis(at),
        verdict: Verdict::Read(Reading { entries: vec![place, said], ..Reading::default() }),
        payload: None,
        kept: None,
    }
}

#[test]
fn tasks_that_began_before_a_moment_are_found_however_long_they_went_on() {
    let mut observed = Vec::new();
    for number in 0..60_usize {
        let begun = BEGIN + number as i64 * 7 * HOUR_MS;
        let session = format!("session-{number:02}");
        let project = if number % 3 == 0 { "/srv/one" } else { "/srv/other" };
        observed.push(reported(&session, begun, project));
        observed.push(reported(&session, begun + LENGTHS[number % LENGTHS.len()], project));
    }
    let world = World::with(&observed, 7);
    let store = world.ledger.store();
    let now = Millis(BEGIN + 200 * DAY_MS);
    let all: Vec<Task> = every(|paging| store.tasks(now, &TaskFilter { paging, ..TaskFilter::default() }));
    assert_eq!(all.len(), 60);
    let moments = all.iter().flat_map(|task| {
        [task.started_at.0, task.started_at.0 + 1, task.last_event_at.0, task.last_event_at.0 - DAY_MS]
    });
    for until in moments.chain([0, i64::MAX]) {
        for project in [None, Some("/srv/one".to_owned())] {
            let filter = TaskFilter { until: Some(Millis(until)), project, ..TaskFilter::default() };
            let found = every_of(4, &mut |paging| store.tasks(now, &TaskFilter { paging, ..filter.clone() }));
            let is_wanted = |task: &&Task| {
                task.started_at.0 < until && filter.project.as_ref().is_none_or(|of| task.project == *of)
            };
            let expected: Vec<&Task> = all.iter().filter(is_wanted).collect();
            assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{filter:?}");
            let since = (until > 0).then(|| Millis(until - 40 * DAY_MS));
            let range = Range { since, until: filter.until, project: filter.project, ..Range::default() };
            ask_of_range(store.as_ref(), &range, &expected);
        }
    }
}

/// Compares tasks and types of agents in a range with those computed out of those that began before its end.
fn ask_of_range(store: &dyn Store, range: &Range, begun: &[&Task]) {
    let is_in = |task: &&&Task| range.since.is_none_or(|since| task.last_event_at >= since);
    let expected: Vec<&Task> = begun.iter().filter(is_in).copied().collect();
    let part = |paging| Range { paging, ..range.clone() };
    let found = every_of(7, &mut |paging| store.usage(&part(paging), UsageBy::Task, &Utc));
    let ids = |tasks: Vec<&Task>| tasks.into_iter().map(|task| task.id.clone()).collect::<Vec<_>>();
    assert_eq!(
        found.into_iter().map(|item| item.key).collect::<Vec<_>>(),
        ids(expected.clone()),
        "{range:?}"
    );
    let counted: Vec<(u64, u64)> =
        store.agents(range).unwrap().items.iter().map(|stat| (stat.tasks, stat.run_ms)).collect();
    let ran = expected.iter().map(|task| u64::try_from(task.last_event_at.0 - task.started_at.0).unwrap());
    let sums = (expected.len() as u64, ran.sum::<u64>());
    assert_eq!(counted, if sums.0 > 0 { vec![sums] } else { Vec::new() }, "{range:?}");
}
