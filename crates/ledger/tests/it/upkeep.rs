//! Folding anew, deleting on purpose, dropping what is old, reading again.

use std::sync::Arc;

use agent_tracer_event::{
    Agent, Channel, Entry, Evidence, Kind, Millis, Outcome, Phase, Reading, Subject, TaskId, TaskKey,
};
use agent_tracer_ledger::{Batch, Ledger, Observed, Options, Retention, RunningProcess, Upkeep, Verdict};
use agent_tracer_prices::Prices;
use agent_tracer_testkit::{scenario, scenarios};

use crate::world::World;

fn everything() -> Vec<Observed> {
    scenarios().iter().step_by(5).flat_map(|scenario| scenario.observed(None)).collect()
}

fn task_ids(world: &World) -> Vec<TaskId> {
    let conn = world.connection();
    let mut find = conn.prepare("SELECT uid FROM task ORDER BY id").unwrap();
    find.query_map([], |row| row.get::<_, String>(0))
        .unwrap()
        .map(|uid| TaskId::parse(&uid.unwrap()).unwrap())
        .collect()
}

/// Sums over time, which must survive retention.
fn sums(world: &World) -> Vec<String> {
    world.rows().into_iter().filter(|row| row.starts_with("rollup") || row.starts_with("latency")).collect()
}

const FOREVER: Millis = Millis(4_000_000_000_000);

#[test]
fn folding_everything_anew_gives_the_same_rows() {
    let world = World::with(&everything(), 100);
    let expected = world.rows();
    let done = world.ledger.rebuild().unwrap();
    assert!(done.tasks > 20 && done.events > 200, "{done:?}");
    assert_eq!(world.rows(), expected);
}

#[test]
fn what_was_deleted_on_purpose_is_gone_from_the_file_and_does_not_come_back() {
    let all = scenario("2.1.325/agent_nested").observed(None);
    let world = World::with(&all, 10);
    let root = TaskId::parse(
        TaskKey::new(Agent::CLAUDE_CODE, "2ebc5ab6-4a16-4d07-8e32-a49967836261").task_id().as_str(),
    )
    .unwrap();
    world.ledger.finish_search().unwrap();
    let done = world.ledger.purge(vec![root], FOREVER).unwrap();
    assert_eq!(done.tasks, 3, "the subagents go with their parent");
    assert!(done.events > 10);
    assert_eq!(world.rows(), Vec::<String>::new());
    let receipt = world.ledger.append(Batch { observed: all.clone(), ..Batch::default() }).unwrap();
    assert!(receipt.outcomes.iter().all(|outcome| *outcome == Outcome::Refused), "{:?}", receipt.outcomes);
    world.ledger.append(Batch { observed: all, reread: true, ..Batch::default() }).unwrap();
    assert_eq!(world.rows().iter().filter(|row| row.starts_with("fact")).count(), 0);
    let path = world.path();
    drop(world.ledger.store());
    world.ledger.close();
    let bytes = std::fs::read(path).unwrap();
    for canary in ["Scripted agent", "agent_nested", "sub_outer", "general-purpose"] {
        assert!(
            !bytes.windows(canary.len()).any(|window| window == canary.as_bytes()),
            "`{canary}` is still there"
        );
    }
}

#[test]
fn deleting_one_task_leaves_the_others_as_if_it_had_never_been() {
    let keep = scenario("2.1.325/bash_ok").observed(None);
    let go = scenario("2.1.325/bash_fail").observed(None);
    let expected = World::with(&keep, 10).rows();
    let world = World::with(&go, 10);
    let gone = task_ids(&world);
    world.bring(&keep, 10);
    world.ledger.purge(gone, FOREVER).unwrap();
    assert_eq!(world.rows(), expected);
}

#[test]
fn what_is_dropped_with_age_stays_in_every_sum() {
    let all = everything();
    let world = World::with(&all, 100);
    let expected = sums(&world);
    let tasks = |world: &World| -> Vec<(String, i64, i64, i64, i64)> {
        let conn = world.connection();
        let mut find = conn
            .prepare("SELECT uid, events, output, started, last FROM task WHERE events > 0 ORDER BY uid")
            .unwrap();
        let rows =
            find.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)));
        rows.unwrap().map(Result::unwrap).collect()
    };
    let totals = tasks(&world);
    let done =
        world.ledger.retain(Retention { events_before: Some(FOREVER), kept_before: Some(FOREVER) }).unwrap();
    assert_eq!(done.tasks, totals.len() as u64);
    assert!(done.observations > 0);
    assert_eq!(sums(&world), expected);
    assert_eq!(tasks(&world), totals);
    // Nothing that is reported again is counted again.
    world.bring(&all, 50);
    assert_eq!(sums(&world), expected);
    assert_eq!(tasks(&world), totals);
    world.ledger.rebuild().unwrap();
    assert_eq!(sums(&world), expected);
    assert_eq!(tasks(&world), totals);
    let left: i64 = world
        .connection()
        .query_row("SELECT (SELECT count(*) FROM entry) + count(*) FROM fact", [], |row| row.get(0))
        .unwrap();
    assert_eq!(left, 0);
}

#[test]
fn what_a_task_does_just_now_goes_with_its_events_as_it_would_by_a_rebuild() {
    let all = everything();
    // Cut anywhere, some calls have begun and not ended.
    let world = World::with(&all[..all.len() / 2], 100);
    let now = |world: &World| -> Vec<String> {
        let conn = world.connection();
        let mut find = conn
            .prepare(
                "SELECT uid || ' ' || status || ' ' || coalesce(current, '-') || coalesce(waiting, '-') || \
                      coalesce(waiting_since, '-') || coalesce(context_pct, '-') FROM task ORDER BY uid",
            )
            .unwrap();
        let rows = find.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    };
    let before = now(&world);
    world.ledger.retain(Retention { events_before: Some(FOREVER), kept_before: Some(FOREVER) }).unwrap();
    let retained = now(&world);
    assert_ne!(retained, before, "some did something");
    world.ledger.rebuild().unwrap();
    assert_eq!(now(&world), retained);
}

#[test]
fn what_is_dropped_goes_in_steps_between_which_others_write_and_a_stop_loses_nothing() {
    let all = everything();
    let in_one = World::with(&all, 100);
    let old = Retention { events_before: Some(FOREVER), kept_before: Some(FOREVER) };
    let expected = in_one.ledger.retain(old).unwrap();
    let world = World::with(&all, 100);
    // The first step is over, and the caller stops it.
    let begun = world.ledger.retain_with(old, |_| false).unwrap();
    assert!(begun.observations > 0 && begun.events < expected.events, "{begun:?}");
    let mut steps = 0;
    let done = world
        .ledger
        .retain_with(old, |_| {
            steps += 1;
            // The writer is free: an append does not wait for the end.
            world.ledger.append(Batch { observed: all.clone(), ..Batch::default() }).unwrap();
            true
        })
        .unwrap();
    assert!(steps > 1, "{steps}");
    let both = (begun.tasks + done.tasks, begun.events + done.events, begun.observations + done.observations);
    assert_eq!(both, (expected.tasks, expected.events, expected.observations));
    assert_eq!(sums(&world), sums(&in_one));
}

#[test]
fn what_is_deleted_in_steps_does_not_come_back_between_them() {
    let all = everything();
    let world = World::with(&all, 100);
    // More tasks than a step takes; some of them are unknown.
    let mut ids: Vec<TaskId> =
        (0..100).map(|number| TaskKey::new(Agent::CODEX, format!("unknown-{number}")).task_id()).collect();
    ids.extend(task_ids(&world));
    let mut steps = 0;
    let done = world
        .ledger
        .purge_with(ids, FOREVER, |_| {
            steps += 1;
            let receipt = world.ledger.append(Batch { observed: all.clone(), ..Batch::default() }).unwrap();
            assert!(!receipt.outcomes.contains(&Outcome::Recorded), "{:?}", receipt.outcomes);
        })
        .unwrap();
    assert!(steps > 1 && done.tasks > 20 && done.events > 200, "{steps} {done:?}");
    assert_eq!(world.rows(), Vec::<String>::new());
    let bytes: i64 = world
        .connection()
        .query_row("SELECT count(*) FROM source WHERE kept IS NOT NULL", [], |row| row.get(0))
        .unwrap();
    assert_eq!(bytes, 0, "of what came again nothing is kept");
    world.ledger.finish_search().unwrap();
    let terms: i64 =
        world.connection().query_row("SELECT count(*) FROM vocabulary", [], |row| row.get(0)).unwrap();
    assert_eq!(terms, 0, "nothing is left to be found");
}

/// Checks that search, which follows behind the writer, forgets as well: what is deleted before it came by must not be
/// found afterwards.
#[test]
fn what_is_deleted_while_search_is_away_is_never_found() {
    let world = World::with(&scenario("2.1.325/agent_nested").observed(None), usize::MAX);
    let gone = task_ids(&world);
    world.bring(&scenario("2.1.325/bash_ok").observed(None), usize::MAX);
    // As if search had seen nothing yet, and half of it, before the tasks go.
    world.connection().execute("DELETE FROM meta WHERE key IN ('indexed', 'indexed_tasks')", []).unwrap();
    world.ledger.purge(gone, FOREVER).unwrap();
    world.ledger.finish_search().unwrap();
    let filter = |q: &str| agent_tracer_ledger::SearchFilter {
        q: q.to_owned(),
        ..agent_tracer_ledger::SearchFilter::default()
    };
    let store = world.ledger.store();
    assert!(!store.search(&filter("bash")).unwrap().items.is_empty(), "the others are found");
    for word in ["nested", "general-purpose", "sub_outer", "scripted agent"] {
        let hits = store.search(&filter(word)).unwrap().items;
        let ids: Vec<String> = hits.iter().map(|hit| hit.row.task_id.clone()).collect();
        assert!(
            ids.iter().all(|id| task_ids(&world).iter().any(|task| task.as_str() == id)),
            "{word}: {ids:?}"
        );
    }
}

#[test]
fn what_would_be_dropped_is_reported_and_stays() {
    let world = World::with(&everything(), 100);
    let before = world.rows();
    let all = Retention { events_before: Some(FOREVER), kept_before: Some(FOREVER) };
    let would = world.ledger.would_retain(all).unwrap();
    assert!(would.tasks > 20 && would.events > 200 && would.observations > 0, "{would:?}");
    assert_eq!(world.rows(), before);
    assert_eq!(world.ledger.would_retain(Retention::default()).unwrap(), Upkeep::default());
    let done = world.ledger.retain(all).unwrap();
    assert_eq!(done, would);
    assert_eq!(world.ledger.would_retain(all).unwrap(), Upkeep::default(), "nothing is left to drop");
}

#[test]
fn other_prices_count_every_cost_anew_and_the_same_ones_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    let cost = |path: &std::path::Path| -> i64 {
        let conn = rusqlite::Connection::open(path).unwrap();
        conn.query_row("SELECT sum(cost) FROM task", [], |row| row.get(0)).unwrap()
    };
    let open = |text: &str| {
        let pricer = Arc::new(Prices::with_overrides(text).unwrap());
        Ledger::open(&path, Options { pricer, ..Options::default() }).unwrap()
    };
    let ledger = open("");
    ledger.append(Batch { observed: everything(), ..Batch::default() }).unwrap();
    assert_eq!(ledger.reprice("").unwrap(), None);
    assert_eq!(ledger.reprice(" \n").unwrap(), None, "an empty file says nothing");
    ledger.close();
    let built_in = cost(&path);
    assert!(built_in > 0);
    let free: String = Prices::embedded()
        .models()
        .map(|model| format!("[models.{model:?}]\ninput = 0\noutput = 0\ncache_read = 0\ncache_write_5m = 0\ncache_write_1h = 0\nweb_search = 0\n"))
        .collect();
    let ledger = open(&free);
    assert!(ledger.reprice(&free).unwrap().is_some());
    assert_eq!(ledger.reprice(&free).unwrap(), None, "once is enough");
    ledger.close();
    assert_eq!(cost(&path), 0);
    let ledger = open("");
    assert!(ledger.reprice("").unwrap().is_some());
    ledger.close();
    assert_eq!(cost(&path), built_in);
}

#[test]
fn every_task_is_named_also_one_without_events() {
    let world = World::with(&scenario("2.1.325/bash_ok").observed(None), 10);
    let named = task_ids(&world);
    bring_about(&world, "bare", &[]);
    assert_eq!(world.ledger.every_task().unwrap().len(), named.len() + 1);
    let bare = TaskKey::new(Agent::CLAUDE_CODE, "bare").task_id();
    assert!(world.ledger.every_task().unwrap().contains(&bare));
    assert_eq!(world.ledger.purge(vec![bare], FOREVER).unwrap().tasks, 1);
    assert_eq!(world.ledger.every_task().unwrap(), named);
}

/// Tells only of a task itself.
fn bring_about(world: &World, session: &str, numbers: &[(&str, u64)]) {
    let task = TaskKey::new(Agent::CLAUDE_CODE, session);
    let evidence = Evidence::measured("test");
    let mut about = Entry::new(
        Subject::Task,
        Phase::Update,
        task.clone(),
        "task",
        Millis(1_794_777_004_001),
        evidence.clone(),
    );
    for (name, number) in numbers {
        about.metadata.insert((*name).to_owned(), (*number).into());
    }
    let mut entries = vec![about];
    if !numbers.is_empty() {
        let kind = Subject::Event(Kind::UserMessage);
        entries.push(Entry::new(kind, Phase::Open, task, "prompt", Millis(1_794_777_004_002), evidence));
    }
    let observed = Observed {
        name: format!("about {session}"),
        source: None,
        agent: Agent::CLAUDE_CODE,
        channel: Channel::Hook,
        arrived: Millis(1_794_777_004_001),
        verdict: Verdict::Read(Reading { entries, ..Reading::default() }),
        payload: None,
        kept: None,
    };
    world.ledger.append(Batch { observed: vec![observed], ..Batch::default() }).unwrap();
}

#[test]
fn processes_of_tasks_that_run_are_known_after_a_restart() {
    let world = World::with(&scenario("2.1.325/bash_ok").observed(None), 10);
    assert_eq!(world.ledger.running().unwrap(), [], "it has ended, and named no process");
    bring_about(&world, "runs", &[("pid", 812), ("pidStart", 99), ("pidNamespace", 4_026_531_836)]);
    bring_about(&world, "half", &[("pid", 813)]);
    let task = TaskKey::new(Agent::CLAUDE_CODE, "runs");
    let expected = RunningProcess { task, pid: 812, start: 99, namespace: 4_026_531_836 };
    assert_eq!(world.ledger.running().unwrap(), [expected]);
}

#[test]
fn a_better_reading_replaces_the_old_one_and_the_same_one_changes_nothing() {
    let all = scenario("2.1.325/bash_fail").observed(None);
    let world = World::with(&all, 10);
    let expected = world.rows();
    let again = Batch { observed: all.clone(), reread: true, ..Batch::default() };
    let receipt = world.ledger.append(again).unwrap();
    assert!(receipt.outcomes.iter().all(|outcome| *outcome == Outcome::Duplicate));
    assert_eq!(world.rows(), expected);
    // A reader that once said less: as if its readings had lost their second entry.
    let mut worse = all.clone();
    for observed in &mut worse {
        if let Verdict::Read(reading) = &mut observed.verdict {
            reading.entries.truncate(1);
        }
    }
    let world = World::with(&worse, 10);
    assert_ne!(world.rows(), expected);
    world.ledger.append(Batch { observed: all, reread: true, ..Batch::default() }).unwrap();
    assert_eq!(world.rows(), expected);
}

#[test]
fn kept_bytes_come_back_with_their_name() {
    let all = scenario("2.1.325/bash_ok").observed(Some(Channel::Hook));
    let world = World::with(&all, 10);
    let kept = world.ledger.retained_payloads(0, 1000).unwrap();
    assert_eq!(kept.len(), all.len());
    for (kept, observed) in kept.iter().zip(&all) {
        assert_eq!(kept.name, observed.name);
        assert_eq!(Some(&kept.bytes), observed.kept.as_ref());
        assert_eq!(kept.arrived, observed.arrived);
    }
    assert_eq!(world.ledger.retained_payloads(kept.last().unwrap().place, 10).unwrap(), []);
}

#[test]
fn a_full_disk_or_a_read_only_file_is_said_and_loses_nothing() {
    let all = scenario("2.1.325/bash_ok").observed(None);
    let world = World::with(&all[..4], 10);
    let before = world.rows();
    // A file may not grow beyond this many pages: what SQLite says is what a full disk makes it say.
    world.ledger.limit_pages(1).unwrap();
    let big: Vec<Observed> =
        scenarios().iter().take(20).flat_map(|scenario| scenario.observed(None)).collect();
    let answer = world.ledger.append(Batch { observed: big.clone(), ..Batch::default() });
    assert_eq!(answer, Err(agent_tracer_ledger::AppendError::DiskFull));
    assert_eq!(world.rows(), before);
    world.ledger.limit_pages(u32::MAX - 1).unwrap();
    world.ledger.append(Batch { observed: big.clone(), ..Batch::default() }).unwrap();
    let mut expected = all[..4].to_vec();
    expected.extend(big);
    assert_eq!(world.rows(), World::with(&expected, usize::MAX).rows());
}

#[test]
fn a_file_that_cannot_be_written_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing/ledger.db");
    assert!(Ledger::open(&path, Options::default()).is_err());
}
