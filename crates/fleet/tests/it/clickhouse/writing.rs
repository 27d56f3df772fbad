//! Tests writes and refusals: repetitions, older versions, other owners, other formats, lost machines.

use std::collections::BTreeSet;
use std::sync::Arc;

use agent_tracer_event::{FactId, Millis, TaskId};
use agent_tracer_fleet::clickhouse::schema::VERSION;
use agent_tracer_fleet::clickhouse::{Fleet, FleetError, Reader};
use agent_tracer_ledger::shipment::Shipment;
use agent_tracer_ledger::{
    Insights, Paging, Range, RowFilter, Search, SearchFilter, TaskFilter, Tasks, Timeline,
};

use agent_tracer_testkit::history::History;

use crate::clickhouse::world::World;
use crate::engine::{self, Engine, Make};

fn shipped() -> Shipment {
    World::of("2.1.325/agent_fg").shipments(100_000).pop().unwrap()
}

fn count(fleet: &Arc<Fleet>, owner: &str) -> (usize, usize) {
    let reader = Reader::new(Arc::clone(fleet), vec![owner.to_owned()]);
    let tasks = reader.tasks(Millis(0), &TaskFilter::default()).unwrap().items;
    let filter = RowFilter { paging: Paging { cursor: None, limit: 500 }, ..RowFilter::default() };
    let rows = tasks
        .iter()
        .map(|task| reader.timeline(&TaskId::parse(&task.id).unwrap(), &filter).unwrap().items.len())
        .sum();
    (tasks.len(), rows)
}

#[test]
fn a_shipment_written_twice_is_written_once() {
    takes_shipments_twice(engine::database);
}

pub(crate) fn takes_shipments_twice(make: Make) {
    let (fleet, _) = make();
    let shipment = shipped();
    fleet.write("ann", &shipment).unwrap();
    let once = count(&fleet, "ann");
    assert!(once.0 > 1 && once.1 > 10, "{once:?}");
    fleet.write("ann", &shipment).unwrap();
    assert_eq!(count(&fleet, "ann"), once);
}

#[test]
fn a_history_ends_where_its_newest_versions_end() {
    ends_where_newest_versions_end(engine::database);
}

pub(crate) fn ends_where_newest_versions_end(make: Make) {
    let (fleet, _) = make();
    let activity = |owner: &str| {
        let reader = Reader::new(Arc::clone(&fleet), vec![owner.to_owned()]);
        serde_json::to_value(reader.activity(&Range::default(), 20).unwrap()).unwrap()
    };
    let mut shipment = shipped();
    fleet.write("ann", &shipment).unwrap();
    let before = activity("ann");
    // The last events turn out to have happened days before the others.
    let last = shipment.facts.iter().map(|fact| fact.row.occurred).max().unwrap();
    for fact in shipment.facts.iter_mut().filter(|fact| fact.row.occurred > last - 1_000) {
        fact.row.occurred -= 3 * 86_400_000;
        fact.version += 1_000_000;
    }
    for owner in ["ann", "bob"] {
        fleet.write(owner, &shipment).unwrap();
    }
    assert_ne!(activity("ann"), before);
    assert_eq!(activity("ann"), activity("bob"));
}

#[test]
fn shipments_of_many_at_once_are_each_under_their_owner_when_they_are_acknowledged() {
    takes_shipments_of_many(engine::database);
}

pub(crate) fn takes_shipments_of_many(make: Make) {
    let (fleet, _) = make();
    let shipment = shipped();
    fleet.write("alone", &shipment).unwrap();
    let alone = count(&fleet, "alone");
    std::thread::scope(|scope| {
        for number in 0..16 {
            let (fleet, shipment) = (&fleet, &shipment);
            scope.spawn(move || {
                let owner = format!("owner-{number}");
                fleet.write(&owner, shipment).unwrap();
                let sums = fleet.checksum(&owner, shipment).unwrap();
                assert_eq!(sums, agent_tracer_fleet::clickhouse::Checksum::of(&owner, shipment), "{owner}");
            });
        }
    });
    for number in 0..16 {
        assert_eq!(count(&fleet, &format!("owner-{number}")), alone);
    }
}

#[test]
fn an_older_version_that_arrives_late_changes_nothing() {
    keeps_newer_versions(engine::database);
}

pub(crate) fn keeps_newer_versions(make: Make) {
    let (fleet, _) = make();
    let shipment = shipped();
    fleet.write("ann", &shipment).unwrap();
    let mut old = shipment.clone();
    for task in &mut old.tasks {
        task.version = 0;
        task.title = "old".to_owned();
    }
    for fact in &mut old.facts {
        fact.version = 0;
        fact.row.data.title = "old".to_owned();
    }
    fleet.write("ann", &old).unwrap();
    let reader = Reader::new(Arc::clone(&fleet), vec!["ann".to_owned()]);
    for task in reader.tasks(Millis(0), &TaskFilter::default()).unwrap().items {
        assert_ne!(task.title, "old");
        let id = TaskId::parse(&task.id).unwrap();
        let rows = reader.timeline(&id, &RowFilter::default()).unwrap().items;
        assert!(rows.iter().all(|row| row.title != "old"));
    }
}

#[test]
fn words_are_found_in_the_newest_version_alone_each_fact_once() {
    finds_words_of_newest_versions(engine::database);
}

pub(crate) fn finds_words_of_newest_versions(make: Make) {
    let (fleet, _) = make();
    let world = World::empty();
    world.bring(History::new(200, 5).batch(usize::MAX));
    let shipment = world.shipments(100_000).pop().unwrap();
    // Every call says it first; then some have lost it, and others are elsewhere in the list.
    let mut first = shipment.clone();
    for fact in first.facts.iter_mut().filter(|fact| fact.row.tool.is_some()) {
        fact.row.data.title = "quokkapedia".to_owned();
    }
    fleet.write("ann", &first).unwrap();
    let mut second = shipment;
    let mut whole = BTreeSet::new();
    for (place, fact) in second.facts.iter_mut().filter(|fact| fact.row.tool.is_some()).enumerate() {
        fact.version += 1;
        if place % 4 != 0 {
            fact.row.data.title = "quokkapedia".to_owned();
            fact.row.occurred -= 40 * 86_400_000 * (place as i64 % 3);
            let task = TaskId::parse(&fact.task).unwrap();
            whole.insert(FactId::from_number(&task, fact.row.fact.cast_unsigned()).to_string());
        }
    }
    fleet.write("ann", &second).unwrap();
    let reader = Reader::new(Arc::clone(&fleet), vec!["ann".to_owned()]);
    assert!(whole.len() > 20, "{whole:?}");
    for (q, limit) in [("quokkapedia ", 3), ("quokka", 3), ("quokka", 500), ("qu", 4)] {
        let mut found = Vec::new();
        let mut cursor = None;
        loop {
            let range = Range { paging: Paging { cursor, limit }, ..Range::default() };
            let page =
                reader.search(&SearchFilter { q: q.to_owned(), range, ..SearchFilter::default() }).unwrap();
            found.extend(page.items.into_iter().map(|hit| (hit.row.occurred_at, hit.row.id)));
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert!(found.is_sorted_by(|one, two| one.0 >= two.0), "`{q}`: {found:?}");
        let ids: BTreeSet<String> = found.iter().map(|(_, id)| id.clone()).collect();
        assert_eq!(ids.len(), found.len(), "`{q}` finds nothing twice");
        assert_eq!(ids, whole, "`{q}`");
    }
}

#[test]
fn a_fact_that_moved_in_time_is_only_where_it_is_now() {
    moves_facts_in_time(engine::database);
}

pub(crate) fn moves_facts_in_time(make: Make) {
    let (fleet, _) = make();
    let mut shipment = shipped();
    fleet.write("ann", &shipment).unwrap();
    let task = shipment.facts[0].task.clone();
    let later = 1_000_000_000_000_000;
    for fact in shipment.facts.iter_mut().filter(|fact| fact.task == task) {
        fact.version += 1;
        fact.row.occurred = later;
    }
    fleet.write("ann", &shipment).unwrap();
    let reader = Reader::new(Arc::clone(&fleet), vec!["ann".to_owned()]);
    let id = TaskId::parse(&task).unwrap();
    let before = RowFilter { until: Some(Millis(later)), ..RowFilter::default() };
    assert_eq!(reader.timeline(&id, &before).unwrap().items, Vec::new());
    let since = RowFilter { since: Some(Millis(later)), ..RowFilter::default() };
    assert!(!reader.timeline(&id, &since).unwrap().items.is_empty());
}

#[test]
fn no_owner_touches_or_sees_the_rows_of_another() {
    keeps_owners_apart(engine::database);
}

pub(crate) fn keeps_owners_apart(make: Make) {
    let (fleet, _) = make();
    let shipment = shipped();
    fleet.write("ann", &shipment).unwrap();
    let of_ann = count(&fleet, "ann");
    // The same ids with the greatest version, from another owner.
    let mut hostile = shipment.clone();
    for fact in &mut hostile.facts {
        fact.version = u64::MAX;
        fact.row.data.title = "taken over".to_owned();
        fact.parts = shipment.facts.iter().map(|fact| fact.row.fact).collect();
    }
    fleet.write("bob", &hostile).unwrap();
    assert_eq!(count(&fleet, "ann"), of_ann);
    assert_eq!(count(&fleet, "unknown"), (0, 0));
    let unknown = Reader::new(Arc::clone(&fleet), Vec::new());
    assert_eq!(unknown.tasks(Millis(0), &TaskFilter::default()).unwrap().items, Vec::new());
    let reader = Reader::new(Arc::clone(&fleet), vec!["ann".to_owned()]);
    let id = TaskId::parse(&shipment.tasks[0].task).unwrap();
    let rows = reader.timeline(&id, &RowFilter::default()).unwrap().items;
    assert!(rows.iter().all(|row| row.title != "taken over"));
}

#[test]
fn what_is_in_texts_stays_text() {
    let (fleet, _) = engine::database();
    let mut shipment = shipped();
    let hostile = "'); DROP TABLE fact; -- ? \\ ` {x:String} \u{0} 全文検索 🦀";
    shipment.tasks[0].title = hostile.to_owned();
    let id = TaskId::parse(&shipment.tasks[0].task).unwrap();
    fleet.write(hostile, &shipment).unwrap();
    let reader = Reader::new(Arc::clone(&fleet), vec![hostile.to_owned()]);
    assert_eq!(reader.task(Millis(0), &id).unwrap().title, hostile);
    let found = |q: &str| {
        let filter = TaskFilter { q: Some(q.to_owned()), project: None, ..TaskFilter::default() };
        reader.tasks(Millis(0), &filter).unwrap().items.len()
    };
    assert_eq!(found("文検"), 1);
    assert_eq!(found("'); DROP"), 1);
    let filter = TaskFilter { project: Some(hostile.to_owned()), ..TaskFilter::default() };
    assert_eq!(reader.tasks(Millis(0), &filter).unwrap().items, Vec::new());
}

#[test]
fn what_cannot_be_taken_is_refused_before_anything_is_written() {
    let (fleet, _) = engine::database();
    let newer = Shipment { format: 99, ..shipped() };
    assert!(matches!(fleet.write("ann", &newer), Err(FleetError::ShipmentFormat { .. })));
    assert_eq!(fleet.write("", &shipped()), Err(FleetError::OwnerName { bytes: 0 }));
    assert_eq!(fleet.write(&"x".repeat(300), &shipped()), Err(FleetError::OwnerName { bytes: 300 }));
    assert_eq!(count(&fleet, "ann"), (0, 0));
}

#[test]
fn migrating_again_changes_nothing_and_a_newer_schema_is_left_alone() {
    migrates_twice(engine::database);
}

pub(crate) fn migrates_twice(make: Make) {
    let (fleet, place) = make();
    fleet.write("ann", &shipped()).unwrap();
    let before = count(&fleet, "ann");
    fleet.migrate().unwrap();
    assert_eq!((fleet.version().unwrap(), count(&fleet, "ann")), (VERSION, before));
    let raw = clickhouse::Client::default().with_url(&place.url).with_database(&place.database);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let later = format!("INSERT INTO schema_step (version) VALUES ({})", VERSION + 1);
    runtime.block_on(raw.query(&later).execute()).unwrap();
    assert!(
        matches!(fleet.migrate(), Err(FleetError::Newer { found, known: VERSION }) if found == VERSION + 1)
    );
}

#[test]
fn what_was_acknowledged_survives_the_loss_of_the_engine_and_a_retry_does_not_double_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let shipment = shipped();
    let first = Engine::start(&data, false);
    let fleet = Fleet::new(engine::place(&first.url, "tracer")).unwrap();
    fleet.migrate().unwrap();
    fleet.write("ann", &shipment).unwrap();
    let before = count(&Arc::new(fleet), "ann");
    let gone = Fleet::new(engine::place(&first.url, "tracer")).unwrap();
    first.kill();
    assert!(matches!(gone.write("ann", &shipment), Err(FleetError::Unreachable(_))));
    let second = Engine::start(&data, false);
    let fleet = Arc::new(Fleet::new(engine::place(&second.url, "tracer")).unwrap());
    assert_eq!(count(&fleet, "ann"), before);
    fleet.write("ann", &shipment).unwrap();
    assert_eq!(count(&fleet, "ann"), before);
}
