//! Tests deletion by person, project, age and purge, and the access log.

use std::collections::BTreeSet;
use std::sync::Arc;

use agent_tracer_event::{Millis, TaskId};
use agent_tracer_fleet::clickhouse::schema::{Layout, TABLES};
use agent_tracer_fleet::clickhouse::{
    AccessEntry, DeletionScope, Fleet, Reader, StoreAddress, Token, TokenScope,
};
use agent_tracer_ledger::shipment::{FORMAT, Removed, Shipment};
use agent_tracer_ledger::{TaskFilter, Tasks};
use agent_tracer_server::AuditFilter;

use crate::clickhouse::contract::AT_ONCE_CLOSED;
use crate::clickhouse::world::World;
use crate::engine::{self, Make};

pub(crate) fn shipped() -> Shipment {
    World::of("2.1.325/agent_fg").shipments(100_000).pop().unwrap()
}

/// Rows of every table, all versions, as the database itself counts them.
fn row_counts(place: &StoreAddress, condition: &str) -> Vec<(&'static str, u64)> {
    let count = |table: &str| number(place, &format!("SELECT count() FROM `{table}` WHERE {condition}"));
    TABLES.iter().map(|table| (table.name, count(table.name))).collect()
}

pub(crate) fn number(place: &StoreAddress, ask: &str) -> u64 {
    let client = clickhouse::Client::default().with_url(&place.url).with_database(&place.database);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(client.query(ask).fetch_one::<u64>()).unwrap()
}

/// Returns the table that has the rows themselves, wherever it is.
pub(crate) fn own_name(place: &StoreAddress, table: &str) -> String {
    match &place.layout {
        Layout::Single => table.to_owned(),
        Layout::Cluster { name } => format!("{table}_local ON CLUSTER `{name}`"),
    }
}

pub(crate) fn run(place: &StoreAddress, statement: &str) {
    let client = clickhouse::Client::default().with_url(&place.url).with_database(&place.database);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(client.query(statement).execute()).unwrap();
}

fn visit(owner: &str, reader: &str, task: &str, at: i64) -> AccessEntry {
    AccessEntry {
        owner: owner.to_owned(),
        at,
        reader: reader.to_owned(),
        task: task.to_owned(),
        what: "/tasks/{id}".to_owned(),
        version: 1,
    }
}

fn token(owner: &str) -> Token {
    Token {
        owner: owner.to_owned(),
        id: "0badcafe".to_owned(),
        scope: TokenScope::Ingest,
        hash: "00".to_owned(),
        created: 1,
        expires: None,
    }
}

/// Two people with the same sessions, tokens, and a look at each other's.
fn two_people(make: Make) -> (Arc<Fleet>, StoreAddress, Shipment) {
    let (fleet, place) = make();
    let shipment = shipped();
    for (owner, other) in [("ann", "bob"), ("bob", "ann")] {
        fleet.write(owner, &shipment).unwrap();
        fleet.write(owner, &shipment).unwrap();
        fleet.put_token(&token(owner), 1).unwrap();
        fleet.record_access(&visit(owner, other, &shipment.tasks[0].task, 5)).unwrap();
        fleet.record_access(&visit("cat", owner, "t", 6)).unwrap();
    }
    // Days are closed, and one of each is marked since.
    assert_eq!(fleet.make_days(AT_ONCE_CLOSED, &|| true).unwrap().closed, 2);
    for owner in ["ann", "bob"] {
        fleet.write(owner, &shipment).unwrap();
    }
    // Merges that come later would take rows away between two counts.
    for table in TABLES {
        run(&place, &format!("OPTIMIZE TABLE {} FINAL", own_name(&place, table.name)));
    }
    (fleet, place, shipment)
}

#[test]
fn a_person_who_is_forgotten_leaves_no_row_in_any_table() {
    forgets_a_person(engine::database);
}

pub(crate) fn forgets_a_person(make: Make) {
    let (fleet, place, _) = two_people(make);
    let of_bob = row_counts(&place, "owner = 'bob'");
    let all_owners = row_counts(&place, "1");
    let gone = fleet.forget(&DeletionScope::Owner("ann".to_owned())).unwrap();
    assert!(gone.0.iter().all(|(_, rows)| *rows > 0), "{gone:?}");
    for (table, rows) in row_counts(&place, "owner = 'ann'") {
        assert_eq!(rows, 0, "{table}");
    }
    let left = row_counts(&place, "1");
    for (((table, before), (_, after)), (_, gone)) in all_owners.iter().zip(&left).zip(&gone.0) {
        assert_eq!(before - after, *gone, "{table}");
    }
    let readers = fleet.access_log(&AuditFilter::default(), 100).unwrap();
    assert!(readers.iter().all(|visit| visit.reader != "ann"), "{readers:?}");
    // Bob's own rows are all there, but Ann's accesses to them are gone from the log.
    let expected: Vec<(&str, u64)> =
        of_bob.into_iter().map(|(table, rows)| (table, if table == "visit" { 0 } else { rows })).collect();
    assert_eq!(row_counts(&place, "owner = 'bob'"), expected);
    assert_eq!(
        fleet.forget(&DeletionScope::Owner("ann".to_owned())).unwrap().sum(),
        0,
        "nothing is left to forget"
    );
}

#[test]
fn a_project_that_is_forgotten_leaves_no_row_of_its_tasks() {
    forgets_a_project(engine::database);
}

pub(crate) fn forgets_a_project(make: Make) {
    let (fleet, place, shipment) = two_people(make);
    let project = shipment.tasks[0].project.clone();
    let mut other = shipment.clone();
    for task in &mut other.tasks {
        task.project = "/elsewhere".to_owned();
    }
    fleet.write("cat", &other).unwrap();
    let of_cat = row_counts(&place, "owner = 'cat'");
    let of_ann = DeletionScope::Project { project: project.clone(), owner: Some("ann".to_owned()) };
    assert!(fleet.forget(&of_ann).unwrap().sum() > 10);
    let tasks = |owner: &str| {
        let counted = row_counts(&place, &format!("owner = '{owner}'"));
        // A mark says that a day is to be looked at again, and nothing of what was done in it.
        let counts = counted.into_iter().filter(|(table, _)| !["token", "day_mark"].contains(table));
        counts.map(|(_, rows)| rows).sum::<u64>()
    };
    assert_eq!(tasks("ann"), 0);
    assert!(tasks("bob") > 10, "only what one owner did there was meant");
    fleet.forget(&DeletionScope::Project { project, owner: None }).unwrap();
    assert_eq!(tasks("bob"), 0);
    assert_eq!(row_counts(&place, "owner = 'cat'"), of_cat);
}

#[test]
fn hostile_names_forget_nothing_else() {
    forgets_nothing_of_hostile_names(engine::database);
}

pub(crate) fn forgets_nothing_of_hostile_names(make: Make) {
    let (fleet, place, _) = two_people(make);
    let before = row_counts(&place, "1");
    for name in ["' OR 1 = 1 --", "ann' OR 'x' = 'x", "\\", "*", "?"] {
        assert_eq!(fleet.forget(&DeletionScope::Owner(name.to_owned())).unwrap().sum(), 0, "{name}");
        let project = DeletionScope::Project { project: name.to_owned(), owner: None };
        assert_eq!(fleet.forget(&project).unwrap().sum(), 0, "{name}");
    }
    assert_eq!(row_counts(&place, "1"), before);
}

#[test]
fn rows_go_when_they_are_older_than_the_team_keeps_them() {
    lets_go_by_age(engine::database);
}

pub(crate) fn lets_go_by_age(make: Make) {
    let (fleet, place, shipment) = two_people(make);
    assert_eq!(fleet.kept_for().unwrap(), None);
    fleet.keep_for(None).unwrap();
    let at = |moment: i64| {
        let mut moved = shipment.clone();
        moved.tasks.iter_mut().for_each(|task| task.last = moment);
        moved.facts.iter_mut().for_each(|fact| fact.row.occurred = moment);
        moved
    };
    let (year_2020, year_2100) = (1_577_836_800_000, 4_102_444_800_000);
    fleet.write("dan", &at(year_2020)).unwrap();
    fleet.write("eve", &at(i64::MIN)).unwrap();
    fleet.write("fay", &at(i64::MAX)).unwrap();
    fleet.write("cat", &at(year_2100)).unwrap();
    fleet.keep_for(Some(1)).unwrap();
    assert_eq!(fleet.kept_for().unwrap(), Some(1));
    for table in ["task", "fact", "visit"] {
        run(&place, &format!("OPTIMIZE TABLE {} FINAL", own_name(&place, table)));
    }
    // What became part of a fact is known to be gone for as long as the fact is there: or an older state of it would
    // come back.
    let numbers: BTreeSet<(&str, i64)> = shipment
        .facts
        .iter()
        .flat_map(|fact| fact.parts.iter().chain([&fact.row.fact]).map(|part| (fact.task.as_str(), *part)))
        .collect();
    assert!(numbers.len() > shipment.facts.len());
    for (owner, left) in [("dan", 0), ("eve", 0), ("fay", 1), ("cat", 1)] {
        let rows = row_counts(&place, &format!("owner = '{owner}'"));
        let (tasks, facts) = (shipment.tasks.len() as u64, numbers.len() as u64);
        assert_eq!((rows[0].1, rows[1].1), (tasks * left, facts * left), "{owner}");
    }
    let seen = row_counts(&place, "owner = 'ann'");
    assert_eq!(seen[3].1, 0, "a look in the year 1970 is forgotten: {seen:?}");
    fleet.keep_for(None).unwrap();
    assert_eq!(fleet.kept_for().unwrap(), None);
}

#[test]
fn what_a_machine_purged_goes_and_what_it_sent_later_stays() {
    lets_go_what_a_machine_purged(engine::database);
}

pub(crate) fn lets_go_what_a_machine_purged(make: Make) {
    let (fleet, place, shipment) = two_people(make);
    let task = shipment.tasks[0].task.clone();
    let newest = shipment.until;
    let removed = Shipment {
        format: FORMAT,
        removed: Some(Removed { version: newest, tasks: vec![task.clone()] }),
        ..Shipment::default()
    };
    fleet.write("ann", &removed).unwrap();
    let reader = |owner: &str| Reader::new(Arc::clone(&fleet), vec![owner.to_owned()]);
    let id = TaskId::parse(&task).unwrap();
    assert!(reader("ann").task(Millis(0), &id).is_err());
    assert!(reader("bob").task(Millis(0), &id).is_ok(), "the same id of another owner is another task");
    for table in ["task", "fact", "task_day"] {
        let rows = |owner: &str| {
            number(
                &place,
                &format!("SELECT count() FROM {table} WHERE owner = '{owner}' AND task = '{task}'"),
            )
        };
        assert_eq!(rows("ann"), 0, "{table}");
        assert!(rows("bob") > 0, "{table}");
    }
    // It goes on living, and the same request arrives once more.
    let mut later = shipment.clone();
    later.tasks.retain(|record| record.task == task);
    later.facts.retain(|fact| fact.task == task);
    for record in &mut later.tasks {
        record.version = newest + 1;
    }
    for fact in &mut later.facts {
        fact.version = newest + 1;
    }
    fleet.write("ann", &later).unwrap();
    fleet.write("ann", &removed).unwrap();
    assert!(reader("ann").task(Millis(0), &id).is_ok());
    assert!(
        number(&place, &format!("SELECT count() FROM task_day WHERE owner = 'ann' AND task = '{task}'")) > 0
    );
    let all = reader("ann").tasks(Millis(0), &TaskFilter::default()).unwrap().items;
    assert_eq!(all.len(), shipment.tasks.iter().filter(|task| task.events > 0).count());
}

#[test]
fn accesses_are_filtered_by_owner_reader_and_time() {
    tells_who_read_what(engine::database);
}

pub(crate) fn tells_who_read_what(make: Make) {
    let (fleet, _, _) = two_people(make);
    let asked = |owner: Option<&str>, reader: Option<&str>, since: Option<i64>, limit: u32| {
        let filter = AuditFilter {
            owner: owner.map(str::to_owned),
            reader: reader.map(str::to_owned),
            since: since.map(Millis),
            ..AuditFilter::default()
        };
        let found = fleet.access_log(&filter, limit).unwrap();
        found.into_iter().map(|visit| (visit.reader, visit.owner, visit.at)).collect::<Vec<_>>()
    };
    let row = |reader: &str, owner: &str, at| (reader.to_owned(), owner.to_owned(), at);
    assert_eq!(asked(Some("ann"), None, None, 9), [row("bob", "ann", 5)]);
    assert_eq!(asked(None, Some("bob"), None, 9), [row("bob", "cat", 6), row("bob", "ann", 5)]);
    assert_eq!(asked(None, None, Some(6), 9).len(), 2);
    assert_eq!(asked(None, None, None, 1).len(), 1);
    assert_eq!(asked(Some("' OR 1 --"), None, None, 9), []);
}

#[test]
fn a_database_of_the_first_version_gets_what_is_new() {
    let (fleet, place) = engine::database();
    fleet.write("ann", &shipped()).unwrap();
    for statement in ["DROP TABLE visit", "ALTER TABLE task DROP INDEX by_task", "TRUNCATE TABLE schema_step"]
    {
        run(&place, statement);
    }
    run(&place, "INSERT INTO schema_step (version) VALUES (1)");
    fleet.migrate().unwrap();
    fleet.record_access(&visit("ann", "bob", "t", 5)).unwrap();
    let reader = Reader::new(Arc::clone(&fleet), vec!["ann".to_owned()]);
    assert!(!reader.tasks(Millis(0), &TaskFilter::default()).unwrap().items.is_empty());
}
