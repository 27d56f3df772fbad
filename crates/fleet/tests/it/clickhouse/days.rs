//! Sums of closed days change no answer: whatever is written, deleted and closed in whatever order, a database that
//! closes its days answers as one that never does.

use std::sync::Arc;

use agent_tracer_event::Millis;
use agent_tracer_fleet::clickhouse::{DeletionScope, Fleet, Reader, RollupDelays, StoreAddress};
use agent_tracer_ledger::shipment::{FORMAT, Removed, Shipment};
use agent_tracer_ledger::{Decisions, Insights, Paging, Range, Usage, UsageBy, Utc};
use serde_json::{Value, json};

use crate::clickhouse::contract::{AT_ONCE_CLOSED, to_json};
use crate::clickhouse::retention::{number, run};
use crate::clickhouse::world::World;
use crate::engine;

const DAY_MS: i64 = 86_400_000;

/// Two databases with the same rows. One closes its days.
struct Twins {
    closing: Arc<Fleet>,
    place: StoreAddress,
    plain: Arc<Fleet>,
}

/// Returns the answers that are made of sums, each way of making them once.
fn sums(fleet: &Arc<Fleet>, owner: Option<&str>, project: Option<&str>) -> Value {
    let reader = match owner {
        Some(owner) => Reader::new(Arc::clone(fleet), vec![owner.to_owned()]),
        None => Reader::of_all_owners(Arc::clone(fleet)),
    };
    let range = Range {
        paging: Paging { cursor: None, limit: 500 },
        project: project.map(str::to_owned),
        ..Range::default()
    };
    let first = reader.activity(&range, 1).unwrap().items.first().map_or(0, |bucket| bucket.at.0);
    // Neither of the two is the edge of a day.
    let hours = |hours: i64| Some(Millis(first + hours * 3_600_000 + 5 * 60_000));
    let within = Range { since: hours(3), until: hours(60), ..range.clone() };
    json!({
        "tools": to_json(reader.tools(&range)), "files": to_json(reader.files(&range)),
        "agents": to_json(reader.agents(&range)), "rules": to_json(reader.rules(&range)),
        "activity": to_json(reader.activity(&range, 40)), "days": to_json(reader.usage(&range, UsageBy::Day, &Utc)),
        "projects": to_json(reader.usage(&range, UsageBy::Project, &Utc)),
        "tools within": to_json(reader.tools(&within)), "files within": to_json(reader.files(&within)),
        "activity within": to_json(reader.activity(&within, 7)),
        "durations": format!("{:?}", reader.durations(&Range::default(), &[0, 100, 1_000]).unwrap()),
        "events": reader.health().unwrap().events,
    })
}

impl Twins {
    fn new() -> Self {
        let (closing, place) = engine::database();
        let (plain, _) = engine::database();
        Self { closing, place, plain }
    }

    fn write(&self, owner: &str, shipment: &Shipment) {
        self.closing.write(owner, shipment).unwrap();
        self.plain.write(owner, shipment).unwrap();
    }

    fn close(&self) -> agent_tracer_fleet::clickhouse::RollupReport {
        self.closing.make_days(AT_ONCE_CLOSED, &|| true).unwrap()
    }

    fn assert_alike(&self, when: &str) {
        self.assert_alike_of(when, None, None);
    }

    fn assert_alike_of(&self, when: &str, owner: Option<&str>, project: Option<&str>) {
        let (closing, plain) = (sums(&self.closing, owner, project), sums(&self.plain, owner, project));
        let text = |value: &Value| serde_json::to_string_pretty(value).unwrap();
        let diff = similar::TextDiff::from_lines(text(&plain), text(&closing)).unified_diff().to_string();
        assert!(plain == closing, "{when}, {owner:?}, {project:?}:\n{diff}");
    }

    /// Rows of sums that meet a condition, in all versions.
    fn rows(&self, condition: &str) -> u64 {
        number(&self.place, &format!("SELECT count() FROM day_sum WHERE {condition}"))
    }
}

fn shipped(name: &str) -> Shipment {
    World::of(name).shipments(100_000).pop().unwrap()
}

/// Returns the same at another time: its facts and tasks so much earlier, in a version that is newer than any before.
fn earlier(shipment: &Shipment, ms: i64) -> Shipment {
    let mut moved = shipment.clone();
    for fact in &mut moved.facts {
        fact.version += 1_000_000;
        fact.row.occurred -= ms;
        fact.row.ended = fact.row.ended.map(|at| at - ms);
    }
    for task in &mut moved.tasks {
        task.version += 1_000_000;
        task.started -= ms;
        task.last -= ms;
    }
    moved
}

#[test]
fn what_arrives_in_a_closed_day_counts_at_once_and_after_it_was_made_again() {
    let twins = Twins::new();
    twins.write("ann", &shipped("2.1.325/agent_fg"));
    twins.assert_alike("nothing is closed");
    assert_eq!(twins.rows("1"), 0);
    assert!(twins.close().closed > 0);
    assert!(twins.rows("gone = 0") > 10);
    twins.assert_alike("closed");
    // A machine that was offline, and another owner.
    twins.write("ann", &shipped("2.1.325/bash_fail"));
    twins.write("bob", &shipped("2.1.325/agent_fg"));
    assert!(twins.closing.days_marked().unwrap() >= 2);
    twins.assert_alike("late facts in marked days");
    twins.assert_alike_of("late facts in marked days", Some("ann"), None);
    let made = twins.close();
    assert!(made.again >= 2 && made.closed == 0, "{made:?}");
    assert_eq!(twins.closing.days_marked().unwrap(), 0);
    twins.assert_alike("made again");
    let before = twins.rows("1");
    assert_eq!(
        twins.close(),
        agent_tracer_fleet::clickhouse::RollupReport::default(),
        "there is nothing to do"
    );
    assert_eq!(twins.rows("1"), before);
}

#[test]
fn all_sums_can_be_made_again() {
    let twins = Twins::new();
    twins.write("ann", &shipped("2.1.325/agent_fg"));
    twins.write("bob", &shipped("2.1.325/bash_fail"));
    twins.close();
    // Spoiled sums, and one of a day that has no facts.
    run(
        &twins.place,
        "INSERT INTO day_sum SELECT * REPLACE (n + 5 AS n, version + 1 AS version) FROM day_sum",
    );
    run(
        &twins.place,
        "INSERT INTO day_sum SELECT * REPLACE (day - 86400000 AS day) FROM day_sum WHERE owner = 'bob'",
    );
    assert_eq!(twins.closing.mark_all_days().unwrap(), 3);
    twins.assert_alike("marked");
    assert_eq!(twins.close().again, 3);
    twins.assert_alike("made again");
}

#[test]
fn a_fact_that_moves_to_another_day_leaves_the_day_it_was_in() {
    let twins = Twins::new();
    let shipment = shipped("2.1.325/agent_fg");
    twins.write("ann", &shipment);
    twins.close();
    twins.write("ann", &earlier(&shipment, 3 * DAY_MS));
    twins.assert_alike("moved, and both days are marked");
    assert_eq!(twins.close().again, 2);
    twins.assert_alike("made again");
    // An older version that arrives once more changes nothing, and is found to change nothing.
    twins.write("ann", &shipment);
    twins.assert_alike("an old version came again");
    twins.close();
    twins.assert_alike("and was made again");
}

#[test]
fn a_task_that_turns_out_to_be_of_another_project_takes_its_sums_along() {
    let twins = Twins::new();
    let mut shipment = shipped("2.1.325/agent_fg");
    twins.write("ann", &shipment);
    twins.close();
    shipment.facts.clear();
    for task in &mut shipment.tasks {
        task.version += 1;
        task.project = "/moved".to_owned();
    }
    twins.write("ann", &shipment);
    twins.assert_alike_of("the project is another", None, Some("/moved"));
    twins.close();
    twins.assert_alike_of("and the sums are its", None, Some("/moved"));
    twins.assert_alike("and no other's");
    assert!(twins.rows("project = '/moved' AND gone = 0") > 10);
}

#[test]
fn facts_of_a_missing_task_count_until_it_arrives_and_then() {
    let twins = Twins::new();
    let whole = shipped("2.1.325/agent_fg");
    let facts = Shipment { tasks: Vec::new(), ..whole.clone() };
    let tasks = Shipment { facts: Vec::new(), ..whole };
    twins.write("ann", &facts);
    twins.close();
    twins.assert_alike("without tasks");
    twins.write("ann", &tasks);
    twins.assert_alike("with tasks");
    twins.close();
    twins.assert_alike("made again with tasks");
}

#[test]
fn what_is_deleted_is_in_no_sum_and_no_sums_are_made_while_it_goes() {
    let twins = Twins::new();
    let (first, second) = (shipped("2.1.325/agent_fg"), shipped("2.1.325/bash_fail"));
    for owner in ["ann", "bob"] {
        twins.write(owner, &first);
        twins.write(owner, &second);
    }
    twins.close();
    let tasks = first.tasks.iter().map(|task| task.task.clone()).collect();
    let removed = Removed { tasks, version: u64::MAX };
    twins.write("ann", &Shipment { format: FORMAT, removed: Some(removed), ..Shipment::default() });
    twins.assert_alike("purged by the machine");
    assert_eq!(twins.rows("owner = 'ann'"), 0, "every sum of its days is gone");
    assert_eq!(twins.close().again, 0, "for a day they are left alone");
    twins.assert_alike("still");
    let project =
        DeletionScope::Project { project: first.tasks[0].project.clone(), owner: Some("bob".to_owned()) };
    for fleet in [&twins.closing, &twins.plain] {
        fleet.forget(&project).unwrap();
    }
    twins.assert_alike("a project was forgotten");
    assert_eq!(twins.rows("owner = 'bob'"), 0);
}

#[test]
fn a_marked_day_is_left_alone_while_a_writer_may_still_be_at_work() {
    let twins = Twins::new();
    let shipment = shipped("2.1.325/agent_fg");
    twins.write("ann", &shipment);
    twins.close();
    twins.write("ann", &earlier(&shipment, 60_000));
    let made = twins.closing.make_days(RollupDelays::default(), &|| true).unwrap();
    assert_eq!((made.closed, made.again), (0, 0));
    twins.assert_alike("marked");
    // A write after the marks were read and before the sums are made: its marks stay.
    let other = Fleet::new(twins.place.clone()).unwrap();
    let again = earlier(&shipment, 120_000);
    let wrote = std::cell::Cell::new(false);
    let go_on = || {
        if !wrote.replace(true) {
            other.write("ann", &again).unwrap();
            twins.plain.write("ann", &again).unwrap();
        }
        true
    };
    assert!(twins.closing.make_days(AT_ONCE_CLOSED, &go_on).unwrap().again > 0);
    assert!(wrote.get() && twins.closing.days_marked().unwrap() > 0);
    twins.assert_alike("marked while it was made");
    twins.close();
    twins.assert_alike("made once more");
}

/// Another task's id.
fn other(task: &str, number: i64) -> String {
    format!("{}{number}", task.get(1..).unwrap())
}

#[test]
fn days_are_closed_part_by_part_and_an_end_in_between_loses_nothing() {
    let twins = Twins::new();
    let shipment = shipped("2.1.325/agent_fg");
    for day in 0..4 {
        let mut moved = earlier(&shipment, day * DAY_MS);
        for task in &mut moved.tasks {
            task.task = other(&task.task, day);
        }
        for fact in &mut moved.facts {
            fact.task = other(&fact.task, day);
        }
        twins.write("ann", &moved);
    }
    // It is stopped before its first step: nothing is closed.
    let made = twins.closing.make_days(AT_ONCE_CLOSED, &|| false).unwrap();
    assert_eq!((made.closed, twins.closing.closed_until().unwrap()), (0, None));
    twins.assert_alike("stopped");
    twins.close();
    let until = twins.closing.closed_until().unwrap().unwrap();
    assert_eq!(until % DAY_MS, 0);
    twins.assert_alike("closed");
}

#[test]
fn any_order_of_writing_and_closing_gives_the_same_sums() {
    let twins = Twins::new();
    let shipments: Vec<Shipment> = ["2.1.325/agent_nested", "2.1.325/bash_fail", "2.1.325/agent_fg"]
        .iter()
        .flat_map(|name| World::of(name).shipments(8))
        .collect();
    // Made from a seed: which is written, by whom, how much later, and whether days are closed behind it.
    let mut seed = 7_u64;
    let mut next = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for turn in 0..40 {
        let shipment = &shipments[next(shipments.len() as u64) as usize];
        let owner = ["ann", "bob"][next(2) as usize];
        let days = next(3) as i64;
        match days {
            0 => twins.write(owner, shipment),
            days => twins.write(owner, &earlier(shipment, days * DAY_MS)),
        }
        if next(4) == 0 {
            twins.close();
        }
        if turn % 13 == 12 {
            twins.assert_alike(&format!("turn {turn}"));
        }
    }
    twins.close();
    twins.assert_alike("at the end");
}
