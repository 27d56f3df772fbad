//! A cluster of two shards, as far as one process can be one.
//!
//! The project's own statements for a cluster make the tables, and the engine spreads and gathers by its own
//! `Distributed` tables. Both shards are this process: rows of both lie in one table, and a row policy shows each shard
//! only the owners that the sharding key gives it. What needs several servers is left out by the engine (`--alone`):
//! `ON CLUSTER` and replication.
//!
//! `CLICKHOUSE_URL` and `CLICKHOUSE_CLUSTER` name a cluster of yours, with all of that; what looks at where rows lie is
//! then not asked.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use agent_tracer_event::Millis;
use agent_tracer_fleet::clickhouse::schema::{Layout, TABLES};
use agent_tracer_fleet::clickhouse::{Fleet, FleetError, Reader, StoreAddress};
use agent_tracer_ledger::shipment::{DerivedTask, Shipment};
use agent_tracer_ledger::{
    Insights, Observed, Range, Search, SearchFilter, TaskFilter, Tasks, Usage, UsageBy, Utc,
};
use agent_tracer_testkit::history::History;
use agent_tracer_testkit::scenario;
use serde_json::Value;

use crate::clickhouse::contract::{AT_ONCE_CLOSED, Both, COMPARED, ask, to_json};
use crate::clickhouse::limits::{AT, sessions};
use crate::clickhouse::world::World;
use crate::clickhouse::{limits, older, owner_isolation, retention, tables, writing};
use crate::engine::{self, Engine};

/// Two shards, both of which are here.
const CLUSTER: &str = "tracer";

/// Two shards, the second of which is nowhere.
const HALF: &str = "half";

/// Databases that the configuration knows.
const DATABASES: u32 = 40;

/// Number of events in the history.
const EVENTS: u64 = 1_200;

/// Number of tasks that are queried one by one.
const TASKS: usize = 6;

/// Owners, of whom each shard has some.
const OWNERS: [&str; 4] = ["ann", "bob", "cat", "dan"];

fn name(number: u32) -> String {
    format!("tracer_shards_{}_{number}", std::process::id())
}

/// Configures the clusters and what each of their shards sees.
fn configure(folder: &Path) -> PathBuf {
    std::fs::create_dir_all(folder).unwrap();
    // Nothing listens at any of these ports: the owner of the first needs no connection.
    let (here, nowhere) = (9_000, 1);
    let shard =
        |port: u16| format!("<shard><replica><host>127.0.0.1</host><port>{port}</port></replica></shard>");
    let users = folder.join("users.xml");
    let config = format!(
        "<clickhouse><tcp_port>{here}</tcp_port><users_config>{}</users_config><remote_servers>\
         <{CLUSTER}>{}{}</{CLUSTER}><{HALF}>{}{}</{HALF}></remote_servers></clickhouse>",
        users.display(),
        shard(here),
        shard(here),
        shard(here),
        shard(nowhere)
    );
    let mut filters = String::new();
    for number in 0..DATABASES {
        let database = name(number);
        write!(filters, "<{database}>").unwrap();
        for table in TABLES {
            // Asked outside of a cluster the number is 0, and everything is seen.
            write!(
                filters,
                "<{0}_local><filter>shardNum() = 0 OR cityHash64(owner) % 2 = shardNum() - 1</filter></{0}_local>",
                table.name
            )
            .unwrap();
        }
        write!(filters, "</{database}>").unwrap();
    }
    let text = format!(
        "<clickhouse><profiles><default/></profiles><quotas><default/></quotas><users><default><password/>\
         <networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota>\
         <databases>{filters}</databases></default></users></clickhouse>"
    );
    let path = folder.join("config.xml");
    for (path, text) in [(&users, text), (&path, config)] {
        File::create_new(path).unwrap().write_all(text.as_bytes()).unwrap();
    }
    path
}

/// Returns the address of an existing cluster, and its name.
fn theirs() -> Option<(String, String)> {
    std::env::var("CLICKHOUSE_URL").ok().zip(std::env::var("CLICKHOUSE_CLUSTER").ok())
}

fn place(cluster: &str) -> StoreAddress {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let (url, cluster) = theirs().unwrap_or_else(|| {
        let engine = ENGINE.get_or_init(|| {
            let folder =
                Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("shards-{}", std::process::id()));
            let config = configure(&folder);
            let words = ["--alone", "--config", config.to_str().unwrap()];
            Engine::start_with(&folder, true, &words)
        });
        (engine.url.clone(), cluster.to_owned())
    });
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    assert!(number < DATABASES, "the configuration knows fewer databases");
    StoreAddress { layout: Layout::Cluster { name: cluster }, ..engine::place(&url, &name(number)) }
}

/// Returns a new, empty database with its tables on every shard.
fn database() -> (Arc<Fleet>, StoreAddress) {
    let place = place(CLUSTER);
    let fleet = Fleet::new(place.clone()).unwrap();
    fleet.migrate().unwrap();
    (Arc::new(fleet), place)
}

/// Returns a history with something to answer every question, of which a part is brought at a time.
fn parts() -> [Vec<Observed>; 2] {
    let mut history = History::new(EVENTS, 17);
    let ruled = scenario("2.1.325/agent_fg");
    let first = [history.batch(EVENTS as usize / 2), ruled.observed(None), ruled.decided()].concat();
    let rest = history.batch(usize::MAX);
    let session = "6c1c7e36-2d7e-4f6c-9a53-0a1f2e3d4c5b";
    [first, [rest, sessions(session, AT, 20.0, 15)].concat()]
}

/// Assigns owners to tasks, as if several people had made one history: a family belongs to one person.
fn owners(world: &World) -> BTreeMap<String, &'static str> {
    let tasks: Vec<DerivedTask> =
        world.shipments(100_000).into_iter().flat_map(|shipment| shipment.tasks).collect();
    let above: BTreeMap<&str, &str> =
        tasks.iter().filter_map(|task| Some((task.task.as_str(), task.parent.as_deref()?))).collect();
    let root = |task: &DerivedTask| {
        let mut root = task.task.as_str();
        while let Some(parent) = above.get(root) {
            root = parent;
        }
        root.to_owned()
    };
    let roots: BTreeSet<String> = tasks.iter().map(root).collect();
    let of_root: BTreeMap<String, &str> = roots.into_iter().zip(OWNERS.into_iter().cycle()).collect();
    tasks.iter().map(|task| (task.task.clone(), of_root[&root(task)])).collect()
}

/// Returns the part of a shipment that belongs to this owner.
fn of_owner(shipment: &Shipment, owner: &str, owners: &BTreeMap<String, &str>) -> Shipment {
    let mut mine = shipment.clone();
    mine.tasks.retain(|task| owners[&task.task] == owner);
    mine.facts.retain(|fact| owners[&fact.task] == owner);
    mine
}

/// Returns a few questions of every kind.
fn some_answers(reader: &Reader, now: Millis) -> Vec<Value> {
    let range = Range::default();
    let project = reader.tasks(now, &TaskFilter::default()).unwrap().items[0].project.clone();
    let of_project = Range { project: Some(project), ..Range::default() };
    let words = SearchFilter { q: "fil".to_owned(), ..SearchFilter::default() };
    vec![
        to_json(reader.tasks(now, &TaskFilter::default())),
        to_json(reader.attention(now)),
        to_json(reader.tools(&of_project)),
        to_json(reader.files(&range)),
        to_json(reader.loops(&range)),
        to_json(reader.activity(&range, 30)),
        to_json(reader.usage(&range, UsageBy::Project, &Utc)),
        to_json(reader.usage(&of_project, UsageBy::Day, &Utc)),
        to_json(reader.search(&words)),
        to_json(reader.limits(now)),
    ]
}

#[test]
fn one_history_of_many_owners_on_two_shards_is_answered_as_its_own_machine_answers() {
    let (spread, _) = database();
    let (single, _) = engine::database();
    let whole = World::empty();
    parts().into_iter().for_each(|part| whole.bring(part));
    let owners = owners(&whole);
    let world = World::empty();
    let mut after = 0;
    for part in parts() {
        world.bring(part);
        while let Some(shipment) =
            Some(world.outbox.after(after, 300).unwrap()).filter(|next| next.until > after)
        {
            after = shipment.until;
            // Days are closed in between, and some of them are marked again by what follows.
            spread.make_days(AT_ONCE_CLOSED, &|| true).unwrap();
            for owner in OWNERS {
                let mine = of_owner(&shipment, owner, &owners);
                spread.write(owner, &mine).unwrap();
                spread.write(owner, &mine).unwrap();
                single.write(owner, &mine).unwrap();
            }
        }
    }
    assert!(spread.days_marked().unwrap() > 0);
    world.ledger.finish_search().unwrap();
    let mut both = Both::of(&world, &spread, "all owners", false);
    both.reader = Reader::of_all_owners(Arc::clone(&spread));
    let tasks = usize::try_from(both.sqlite.health().unwrap().tasks).unwrap();
    let compared = ask(&both, |place| place.is_multiple_of(tasks.div_ceil(TASKS)));
    assert_eq!(compared, BTreeSet::from(COMPARED));
    let now = Millis(AT + 3_600_000);
    for owner in OWNERS {
        let answers =
            |fleet: &Arc<Fleet>| some_answers(&Reader::new(Arc::clone(fleet), vec![owner.to_owned()]), now);
        assert_eq!(answers(&spread), answers(&single), "{owner}");
    }
}

#[test]
fn owners_lie_on_one_shard_each_and_every_shard_has_some() {
    if theirs().is_some() {
        return;
    }
    let (fleet, place) = database();
    let shipment = retention::shipped();
    let asked = |ask: &str| retention::number(&place, ask);
    for table in ["fact", "task"] {
        retention::run(&place, &format!("SYSTEM STOP MERGES {table}_local"));
    }
    for owner in OWNERS {
        fleet.write(owner, &shipment).unwrap();
    }
    // An insert that is spread is one part for each shard.
    retention::run(
        &place,
        "INSERT INTO task SELECT * REPLACE (version + 1 AS version) FROM task \
         SETTINGS distributed_foreground_insert = 1, parallel_distributed_insert_select = 0",
    );
    for table in ["fact", "task"] {
        let owners = "SELECT uniqExact(owner) FROM";
        assert_eq!(asked(&format!("{owners} {table}")), 4, "{table}");
        for shard in [1, 2] {
            let there = asked(&format!("{owners} {table} WHERE _shard_num = {shard}"));
            assert!(there > 0 && there < 4, "{there} owners of `{table}` are on shard {shard}");
        }
        let mixed = format!(
            "SELECT count() FROM (SELECT _part FROM {table}_local GROUP BY _part HAVING uniqExact(cityHash64(owner) % 2) > 1)"
        );
        assert_eq!(asked(&mixed), 0, "{table}");
    }
    assert!(
        asked("SELECT max(owners) FROM (SELECT uniqExact(owner) AS owners FROM task_local GROUP BY _part)")
            > 1
    );
}

#[test]
fn what_a_shard_did_not_store_is_not_acknowledged_and_no_answer_is_without_it() {
    if theirs().is_some() {
        return;
    }
    let fleet = Arc::new(Fleet::new(place(HALF)).unwrap());
    fleet.migrate().unwrap();
    let shipment = retention::shipped();
    let is_here = |owner: &&str| fleet.write(owner, &shipment).is_ok();
    let (here, nowhere): (Vec<&str>, Vec<&str>) = OWNERS.into_iter().partition(is_here);
    assert!(!here.is_empty() && !nowhere.is_empty(), "{here:?}, {nowhere:?}");
    assert!(matches!(fleet.write(nowhere[0], &shipment), Err(FleetError::Refused(_))));
    let reader = |owners: &[&str]| {
        let owners = owners.iter().map(|owner| (*owner).to_owned()).collect();
        Reader::new(Arc::clone(&fleet), owners)
    };
    let tasks = |reader: &Reader| reader.tasks(Millis(0), &TaskFilter::default());
    // Who is here is answered without the other shard, whatever is asked.
    assert_eq!(some_answers(&reader(&here), Millis(AT)).len(), 10);
    assert!(tasks(&reader(&nowhere)).is_err());
    assert!(tasks(&Reader::of_all_owners(Arc::clone(&fleet))).is_err());
}

#[test]
fn the_same_session_of_two_owners_is_two_tasks_and_sums_have_both() {
    let (fleet, _) = database();
    let shipment = retention::shipped();
    for owner in OWNERS {
        fleet.write(owner, &shipment).unwrap();
    }
    let all_owners = Reader::of_all_owners(Arc::clone(&fleet));
    let alone = Reader::new(Arc::clone(&fleet), vec!["bob".to_owned()]);
    let calls = |reader: &Reader| {
        let tools = reader.tools(&Range::default()).unwrap().items;
        tools.iter().map(|tool| (tool.tool.clone(), tool.count)).collect::<BTreeSet<_>>()
    };
    let four: BTreeSet<_> = calls(&alone).into_iter().map(|(tool, calls)| (tool, 4 * calls)).collect();
    assert!(!four.is_empty());
    assert_eq!(calls(&all_owners), four);
    let tasks = |reader: &Reader| reader.tasks(Millis(0), &TaskFilter::default()).unwrap().items.len();
    assert_eq!(tasks(&all_owners), 4 * tasks(&alone));
}

#[test]
fn what_lies_on_disk_is_asked_of_every_shard() {
    if theirs().is_some() {
        return;
    }
    let (fleet, place) = database();
    fleet.write("ann", &retention::shipped()).unwrap();
    let rows = retention::number(&place, "SELECT count() FROM fact_local");
    let text = fleet.disk_usage().unwrap();
    let facts = text.iter().find(|table| table.table == "fact").unwrap();
    assert_eq!(facts.rows, 2 * rows, "both shards are here, and each reports its own rows");
    fleet.merges().unwrap();
    let health = Reader::of_all_owners(Arc::clone(&fleet)).health().unwrap();
    assert!(health.bytes > 0 && health.events > 0);
}

/// The tests of one server, on two shards.
macro_rules! also {
    ($($room:ident::$test:ident,)*) => {
        $(#[test]
        fn $test() {
            $room::$test(database);
        })*
    };
}

also! {
    retention::forgets_a_person,
    retention::forgets_a_project,
    retention::forgets_nothing_of_hostile_names,
    retention::lets_go_by_age,
    retention::lets_go_what_a_machine_purged,
    retention::tells_who_read_what,
    limits::tells_limits_by_owner,
    older::answers_by_newest_versions,
    tables::shows_views,
    owner_isolation::answers_about_one,
    owner_isolation::tells_the_same_session_apart,
    writing::takes_shipments_twice,
    writing::takes_shipments_of_many,
    writing::keeps_newer_versions,
    writing::finds_words_of_newest_versions,
    writing::moves_facts_in_time,
    writing::ends_where_newest_versions_end,
    writing::keeps_owners_apart,
    writing::migrates_twice,
}
