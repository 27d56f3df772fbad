//! Tests the filters by owner and machine: a store of many answers as if it held only the selected rows.

use std::sync::Arc;

use agent_tracer_event::{Agent, FactId, Millis, TaskId, TaskKey};
use agent_tracer_fleet::clickhouse::{Fleet, Reader};
use agent_tracer_ledger::{
    Answer, Changes, DecisionFilter, OwnerFilter, Paging, QueryError, Range, RowFilter, Search, SearchFilter,
    Store, TaskDetails, TaskFilter, Tasks, Timeline, UsageBy, Utc,
};
use agent_tracer_testkit::history::{BEGIN, COMMON, History};
use agent_tracer_testkit::scenario;
use serde::Serialize;
use serde_json::{Value, json};

use crate::clickhouse::contract::{AT_ONCE_CLOSED, every};
use crate::clickhouse::world::World;
use crate::engine::{self, Make};

/// Owners, their machines, and the size and seed of each history: far enough apart that no name is drawn twice.
const MACHINES: [(&str, &str, u64, u64); 3] =
    [("ann", "desk", 700, 3), ("ann", "laptop", 500, 1_000_003), ("bob", "tower", 600, 2_000_003)];

/// More children than one statement names, and far more text than a server reads of one by default.
const MANY: usize = 6_000;

fn all_pages<T: Serialize>(page: impl Fn(Paging) -> Answer<agent_tracer_ledger::view::Page<T>>) -> Value {
    json!(every(40, page).unwrap())
}

/// Everything that can be asked about many tasks.
fn answers(store: &dyn Store) -> Vec<(String, Value)> {
    let now = Millis(BEGIN + 200 * 86_400_000);
    let ranges = [
        Range::default(),
        Range { project: Some("/home/dev/project-1".to_owned()), ..Range::default() },
        Range {
            since: Some(Millis(BEGIN + 90_000_000)),
            agent: Some(Agent::CLAUDE_CODE),
            ..Range::default()
        },
    ];
    let mut all = vec![
        (
            "tasks".to_owned(),
            all_pages(|paging| store.tasks(now, &TaskFilter { paging, ..TaskFilter::default() })),
        ),
        ("attention".to_owned(), json!(store.attention(now).unwrap())),
        (
            "decisions".to_owned(),
            all_pages(|paging| store.decisions(&DecisionFilter { paging, ..DecisionFilter::default() })),
        ),
        (
            "durations".to_owned(),
            json!(format!("{:?}", store.durations(&Range::default(), &[10, 100, 1_000]).unwrap())),
        ),
    ];
    for (place, range) in ranges.iter().enumerate() {
        let of = |paging| Range { paging, ..range.clone() };
        let search = |paging| {
            store.search(&SearchFilter { q: COMMON.to_owned(), range: of(paging), ..SearchFilter::default() })
        };
        let asked = [
            ("tools", all_pages(|paging| store.tools(&of(paging)))),
            ("failures", all_pages(|paging| store.failures(&of(paging)))),
            ("files", all_pages(|paging| store.files(&of(paging)))),
            ("skills", all_pages(|paging| store.skills(&of(paging)))),
            ("mcp", all_pages(|paging| store.mcp(&of(paging)))),
            ("agents", all_pages(|paging| store.agents(&of(paging)))),
            ("commands", all_pages(|paging| store.commands(&of(paging)))),
            ("loops", all_pages(|paging| store.loops(&of(paging)))),
            ("rules", all_pages(|paging| store.rules(&of(paging)))),
            ("search", all_pages(search)),
            ("activity", json!(store.activity(range, 30).unwrap())),
            ("blocks", json!(store.blocks(now, range).unwrap())),
        ];
        all.extend(asked.into_iter().map(|(name, answer)| (format!("{name} {place}"), answer)));
        for by in [
            UsageBy::Day,
            UsageBy::Model,
            UsageBy::Project,
            UsageBy::Task,
            UsageBy::AgentType,
            UsageBy::Owner,
            UsageBy::Machine,
        ] {
            all.push((
                format!("usage {by:?} {place}"),
                all_pages(|paging| store.usage(&of(paging), by, &Utc)),
            ));
        }
    }
    all
}

fn assert_same(of: &str, found: Vec<(String, Value)>, expected: Vec<(String, Value)>) {
    for ((name, found), (_, expected)) in found.into_iter().zip(expected) {
        // Of long lists only what differs first.
        if let (Some(found), Some(expected)) = (found.as_array(), expected.as_array()) {
            let differs = found.iter().zip(expected).find(|(found, expected)| found != expected);
            assert_eq!(differs, None, "{name} of {of}");
        }
        assert!(found == expected, "{name} of {of}");
    }
}

/// Returns a database with what some machines recorded, its days closed in the middle of it.
fn filled(make: Make, has: impl Fn(&str, &str) -> bool) -> Arc<Fleet> {
    let (fleet, _) = make();
    for (place, (owner, machine, events, seed)) in MACHINES.into_iter().enumerate() {
        if !has(owner, machine) {
            continue;
        }
        let world = World::on(machine);
        world.bring(History::new(events, seed).batch(usize::MAX));
        if place == 0 {
            let ruled = scenario("2.1.325/agent_fg");
            world.bring([ruled.observed(None), ruled.decided()].concat());
        }
        for shipment in world.shipments(400) {
            fleet.write(owner, &shipment).unwrap();
        }
        // What comes next opens some of the days again.
        fleet.make_days(AT_ONCE_CLOSED, &|| true).unwrap();
    }
    fleet
}

#[test]
fn a_store_of_many_asked_about_one_answers_as_if_it_had_nothing_else() {
    answers_about_one(engine::database);
}

pub(crate) fn answers_about_one(make: Make) {
    let all_owners = Reader::of_all_owners(filled(make, |_, _| true));
    let of = |owner: Option<&str>, machine: Option<&str>| {
        let filter = OwnerFilter { owner: owner.map(str::to_owned), machine: machine.map(str::to_owned) };
        all_owners.narrowed(&filter).unwrap()
    };
    let compare = |owner: Option<&str>, machine: Option<&str>| {
        let alone = Reader::of_all_owners(filled(make, |one, two| {
            owner.is_none_or(|owner| owner == one) && machine.is_none_or(|machine| machine == two)
        }));
        let found = answers(of(owner, machine).as_ref());
        assert_same(&format!("{owner:?} on {machine:?}"), found, answers(&alone));
    };
    compare(Some("ann"), None);
    compare(None, Some("laptop"));
    compare(Some("ann"), Some("desk"));
    let all = Reader::of_all_owners(make().0);
    for (owner, machine) in [(Some("eve"), None), (None, Some("eve")), (Some("bob"), Some("desk"))] {
        for ((name, found), (_, expected)) in
            answers(of(owner, machine).as_ref()).into_iter().zip(answers(&all))
        {
            assert_eq!(found, expected, "{name} of {owner:?} on {machine:?}");
        }
    }
}

#[test]
fn no_owner_hides_another_with_a_session_of_the_same_id() {
    tells_the_same_session_apart(engine::database);
}

pub(crate) fn tells_the_same_session_apart(make: Make) {
    let (fleet, _) = make();
    let world = World::of("2.1.325/agent_fg");
    let shipment = world.shipments(100_000).pop().unwrap();
    fleet.write("bob", &shipment).unwrap();
    let all_owners = Reader::of_all_owners(Arc::clone(&fleet));
    let now = Millis(BEGIN);
    let tasks = all_owners.tasks(now, &TaskFilter::default()).unwrap().items;
    let id = TaskId::parse(&tasks.iter().find(|task| task.child_count > 0).unwrap().id).unwrap();
    let rows = all_owners.timeline(&id, &RowFilter::default()).unwrap().items;
    let event = FactId::parse(&rows[0].id).unwrap();
    let about_one = |store: &dyn Store| -> Vec<(&'static str, Answer<Value>)> {
        let (filter, paging) = (RowFilter { tree: true, ..RowFilter::default() }, Paging::default());
        vec![
            ("task", store.task(now, &id).map(|answer| json!(answer))),
            ("tree", store.tree(now, &id).map(|answer| json!(answer))),
            ("timeline", store.timeline(&id, &filter).map(|answer| json!(answer))),
            ("calls", store.tool_calls(&id, &filter).map(|answer| json!(answer))),
            ("turns", store.turns(&id, &paging).map(|answer| json!(answer))),
            ("files", store.task_files(&id, true, &paging).map(|answer| json!(answer))),
            ("lanes", store.lanes(&id, None, None, 100).map(|answer| json!(answer))),
            ("summary", store.summary(now, &id).map(|answer| json!(answer))),
            ("usage", store.task_usage(&id, UsageBy::Model).map(|answer| json!(answer))),
            ("event", store.event(&event).map(|answer| json!(answer))),
        ]
    };
    let alone = about_one(&all_owners);
    // Another owner, first in the alphabet, has other values for the same session.
    let mut forged = shipment.clone();
    for fact in &mut forged.facts {
        fact.row.occurred += 1;
        fact.version += 1_000;
    }
    fleet.write("ann", &forged).unwrap();
    let of = |owner: &str| {
        all_owners.narrowed(&OwnerFilter { owner: Some(owner.to_owned()), machine: None }).unwrap()
    };
    for ((name, before), (_, now)) in alone.into_iter().zip(about_one(of("bob").as_ref())) {
        assert_eq!(now.unwrap(), before.unwrap(), "{name}");
    }
    for (name, answer) in about_one(&all_owners) {
        let Err(QueryError::Bad(why)) = &answer else { panic!("{name}: {answer:?}") };
        assert!(why.ends_with("name one with `owner`, `ann` or `bob`"), "{why}");
    }
    // Answers about several owners carry the owner.
    let owners = |rows: &[agent_tracer_ledger::view::Row]| -> Vec<(String, usize)> {
        ["ann", "bob"]
            .map(|owner| {
                (owner.to_owned(), rows.iter().filter(|row| row.owner.as_deref() == Some(owner)).count())
            })
            .to_vec()
    };
    let changes = all_owners.changes(0, 10_000).unwrap();
    let each = changes.len() / 2;
    assert!(each > 10);
    assert_eq!(owners(&changes), [("ann".to_owned(), each), ("bob".to_owned(), each)]);
    let found =
        all_owners.search(&SearchFilter { tool: Some("Agent".to_owned()), ..SearchFilter::default() });
    let found: Vec<_> = found.unwrap().items.into_iter().map(|hit| hit.row).collect();
    assert_eq!(owners(&found), [("ann".to_owned(), 1), ("bob".to_owned(), 1)]);
}

#[test]
fn a_family_is_shown_however_many_they_are_and_on_one_machine_only_whom_it_ran() {
    let (fleet, _) = engine::database();
    let world = World::of("2.1.325/agent_fg");
    let mut shipment = world.shipments(100_000).pop().unwrap();
    shipment.facts.clear();
    let child = shipment.tasks.iter().find(|task| task.parent.is_some()).unwrap().clone();
    let root = child.parent.clone().unwrap();
    shipment.tasks.retain(|task| task.task == root);
    let machine = shipment.tasks[0].machine.clone();
    for number in 0..MANY {
        let mut another = child.clone();
        another.task = TaskKey::new(Agent::CLAUDE_CODE, format!("child {number}")).task_id().to_string();
        if number % 3 == 0 {
            another.machine = "elsewhere".to_owned();
        }
        shipment.tasks.push(another);
    }
    // Names are as long as they may be.
    let owner = "o".repeat(200);
    fleet.write(&owner, &shipment).unwrap();
    let reader = Reader::of_all_owners(Arc::clone(&fleet));
    let id = TaskId::parse(&root).unwrap();
    let now = Millis(BEGIN);
    let size = |store: &dyn Store| {
        let tree = store.tree(now, &id).unwrap().items;
        (tree.len(), store.task(now, &id).unwrap().child_count)
    };
    assert_eq!(size(&reader), (MANY + 1, MANY as u64));
    // Whatever else is asked about all of them.
    let (filter, paging) = (RowFilter { tree: true, ..RowFilter::default() }, Paging::default());
    assert_eq!(reader.timeline(&id, &filter).unwrap().items, []);
    assert_eq!(reader.tool_calls(&id, &filter).unwrap().items, []);
    assert_eq!(reader.task_files(&id, true, &paging).unwrap().items, []);
    assert_eq!(reader.lanes(&id, None, None, 100).unwrap().strips, []);
    assert_eq!(reader.summary(now, &id).unwrap().agents, MANY as u64);
    assert_eq!(reader.task_usage(&id, UsageBy::Model).unwrap().items.len(), 0);
    let here = reader.narrowed(&OwnerFilter { owner: None, machine: Some(machine) }).unwrap();
    let few = MANY - MANY.div_ceil(3);
    assert_eq!(size(here.as_ref()), (few + 1, few as u64));
}

#[test]
fn usage_is_grouped_by_person_and_machine() {
    let reader = Reader::of_all_owners(filled(engine::database, |_, _| true));
    let spent = |store: &dyn Store, by: UsageBy| {
        let mut buckets = store.usage(&Range::default(), by, &Utc).unwrap().items;
        buckets.sort_by(|one, two| one.key.cmp(&two.key));
        buckets
    };
    let of = |filter: OwnerFilter| reader.narrowed(&filter).unwrap();
    let people = spent(&reader, UsageBy::Owner);
    assert_eq!(people.iter().map(|bucket| bucket.key.as_str()).collect::<Vec<_>>(), ["ann", "bob"]);
    for bucket in people {
        let filter = OwnerFilter { owner: Some(bucket.key.clone()), machine: None };
        assert!(bucket.usage.cost_usd > 0.0 && bucket.usage.tokens.output > 0, "{bucket:?}");
        assert_eq!(spent(of(filter).as_ref(), UsageBy::Owner), [bucket]);
    }
    let machines = spent(&reader, UsageBy::Machine);
    assert_eq!(
        machines.iter().map(|bucket| bucket.key.as_str()).collect::<Vec<_>>(),
        ["desk", "laptop", "tower"]
    );
    for bucket in machines {
        let filter = OwnerFilter { owner: None, machine: Some(bucket.key.clone()) };
        assert_eq!(spent(of(filter).as_ref(), UsageBy::Machine), [bucket]);
    }
    let tasks = reader.tasks(Millis(0), &TaskFilter::default()).unwrap().items;
    assert!(tasks.iter().all(|task| task.owner.is_some()));
    let owners: std::collections::BTreeSet<(Option<&str>, &str)> =
        tasks.iter().map(|task| (task.owner.as_deref(), task.machine_id.as_str())).collect();
    assert_eq!(
        owners.into_iter().collect::<Vec<_>>(),
        [(Some("ann"), "desk"), (Some("ann"), "laptop"), (Some("bob"), "tower")]
    );
}
