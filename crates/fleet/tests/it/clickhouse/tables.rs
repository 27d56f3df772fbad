//! Compares the engine's own description of its tables: as defined, as documented, and the same from every older
//! version.

use std::collections::BTreeSet;
use std::sync::Arc;

use agent_tracer_fleet::clickhouse::schema::{TABLES, VERSION, VIEWS};
use agent_tracer_fleet::clickhouse::{Fleet, Reader, StoreAddress};
use agent_tracer_ledger::{Range, Usage, UsageBy, Utc};
use agent_tracer_testkit::history::History;
use clickhouse::{Client, Row, RowOwned, RowRead};
use serde::Deserialize;

use crate::clickhouse::contract::AT_ONCE_CLOSED;
use crate::clickhouse::versions;
use crate::clickhouse::world::World;
use crate::engine::{self, Make};

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Row, Deserialize)]
struct StoredColumn {
    table: String,
    name: String,
    kind: String,
    codec: String,
    about: String,
}

type Three = (String, String, String);

fn ask<T: RowOwned + RowRead>(place: &StoreAddress, ask: &str) -> Vec<T> {
    let client = Client::default().with_url(&place.url).with_database(&place.database);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(client.query(ask).fetch_all::<T>()).unwrap()
}

fn columns(place: &StoreAddress) -> Vec<StoredColumn> {
    ask(
        place,
        "SELECT table, name, type AS kind, compression_codec AS codec, comment AS about FROM system.columns \
         WHERE database = currentDatabase() AND table <> 'schema_step' ORDER BY table, name",
    )
}

/// Everything that the engine knows of the tables: columns, order, engines, indexes, views.
fn everything(place: &StoreAddress) -> (Vec<StoredColumn>, Vec<Three>, Vec<Three>) {
    let tables = ask(
        place,
        "SELECT name, engine_full, if(engine = 'View', as_select, sorting_key) FROM system.tables \
         WHERE database = currentDatabase() ORDER BY name",
    );
    let indexes = ask(
        place,
        "SELECT concat(table, '.', name), expr, type_full FROM system.data_skipping_indices \
         WHERE database = currentDatabase() ORDER BY table, name",
    );
    // The name of the database is in the text of a view.
    // The size of granules, and the part of the order that is the primary key, are those of the version that made the table.
    let plain = |text: String| {
        let text = text.replace(&format!("{}.", place.database), "");
        let text = text.split(" SETTINGS index_granularity = ").next().unwrap_or_default();
        match text.split_once(" PRIMARY KEY (") {
            Some((before, rest)) => format!("{before}{}", rest.split_once(')').unwrap_or_default().1),
            None => text.to_owned(),
        }
    };
    let tables = tables.into_iter().map(|(name, engine, order): Three| (name, plain(engine), plain(order)));
    (columns(place), tables.collect(), indexes)
}

/// As the engine writes a codec: what it adds by itself is taken away.
fn codec(text: &str) -> String {
    let inner = text.strip_prefix("CODEC(").and_then(|text| text.strip_suffix(')')).unwrap_or_default();
    inner.replace("Delta(8)", "Delta").replace("Delta(4)", "Delta")
}

#[test]
fn every_column_has_the_type_the_codec_and_the_words_of_its_definition() {
    let (_, place) = engine::database();
    let kept = columns(&place);
    for table in TABLES {
        let found: Vec<&StoredColumn> = kept.iter().filter(|column| column.table == table.name).collect();
        assert_eq!(found.len(), table.columns.len(), "{}", table.name);
        for column in table.columns {
            let name = format!("{}.{}", table.name, column.name);
            let Some(kept) = found.iter().find(|kept| kept.name == column.name) else { panic!("{name}") };
            let kind = column.kind.split(" DEFAULT ").next().unwrap();
            assert_eq!((kept.kind.as_str(), kept.about.as_str()), (kind, column.about), "{name}");
            assert_eq!(codec(&kept.codec), column.codec, "{name}");
        }
        let order: Vec<String> = ask(
            &place,
            &format!(
                "SELECT sorting_key FROM system.tables WHERE database = currentDatabase() AND name = '{}'",
                table.name
            ),
        );
        assert_eq!(order, [table.key.join(", ")], "{}", table.name);
        let indexes: Vec<Three> = ask(
            &place,
            &format!(
                "SELECT name, expr, type_full FROM system.data_skipping_indices WHERE database = currentDatabase() AND table = '{}'",
                table.name
            ),
        );
        let wanted: BTreeSet<Three> = table
            .indexes
            .iter()
            .map(|(name, of, kind)| ((*name).to_owned(), (*of).to_owned(), (*kind).to_owned()))
            .collect();
        assert_eq!(indexes.into_iter().collect::<BTreeSet<_>>(), wanted, "{}", table.name);
    }
    for view in VIEWS {
        let wanted: BTreeSet<&str> = view.columns.iter().map(|column| column.name).collect();
        let found = kept.iter().filter(|column| column.table == view.name);
        assert_eq!(
            found.map(|column| column.name.as_str()).collect::<BTreeSet<_>>(),
            wanted,
            "{}",
            view.name
        );
    }
}

#[test]
fn words_of_small_sets_are_dictionaries_wherever_they_stand() {
    let words = ["agent", "agent_type", "tool", "model", "kind", "lane", "error_class", "project"];
    let (_, place) = engine::database();
    let kept = columns(&place);
    let is_table = |name: &str| TABLES.iter().any(|table| table.name == name);
    for word in words {
        let found: Vec<&StoredColumn> =
            kept.iter().filter(|column| column.name == word && is_table(&column.table)).collect();
        assert!(!found.is_empty(), "`{word}` is nowhere");
        assert!(found.iter().all(|column| column.kind.starts_with("LowCardinality(")), "{found:?}");
    }
    let terms: Vec<&StoredColumn> = kept.iter().filter(|column| column.name == "terms").collect();
    assert_eq!(terms.len(), 2, "{terms:?}");
}

/// Returns a database as a server of an older version left it, with the rows of another one.
fn older(fresh: &StoreAddress, version: u32, tables: &[(&str, &str)]) -> StoreAddress {
    let mut old = fresh.clone();
    old.database = format!("{}_{version}", fresh.database);
    let server = Client::default().with_url(&old.url);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let run = |client: &Client, statement: &str| {
        runtime.block_on(client.query(&statement.replace('?', "??")).execute()).unwrap();
    };
    run(&server, &format!("CREATE DATABASE `{}`", old.database));
    let client = server.clone().with_database(&old.database);
    for statement in versions::statements(version) {
        run(&client, &statement);
    }
    run(&client, &format!("INSERT INTO schema_step (version) VALUES ({version})"));
    for (table, columns) in tables {
        run(&client, &format!("INSERT INTO `{table}` SELECT {columns} FROM `{}`.`{table}`", fresh.database));
    }
    old
}

#[test]
fn tables_of_an_older_version_become_the_same_as_new_ones_and_keep_their_rows() {
    let (fleet, fresh) = engine::database();
    let shipment = World::of("2.1.325/agent_fg").shipments(100_000).pop().unwrap();
    fleet.write("ann", &shipment).unwrap();
    let old = older(&fresh, 1, &[("fact", "*"), ("task", "*")]);
    let migrated = Fleet::new(old.clone()).unwrap();
    assert_eq!(migrated.version().unwrap(), 1);
    migrated.migrate().unwrap();
    assert_eq!(migrated.version().unwrap(), VERSION);
    assert_eq!(everything(&old), everything(&fresh));
    assert_eq!(migrated.checksum("ann", &shipment).unwrap(), fleet.checksum("ann", &shipment).unwrap());
    for rows in ["tool_latencies", "task_day"] {
        let rows = format!("SELECT toString(tuple(*)) FROM {rows} ORDER BY ALL");
        let rows_of_old: Vec<String> = ask(&old, &rows);
        assert!(!rows_of_old.is_empty());
        assert_eq!(rows_of_old, ask::<String>(&fresh, &rows));
    }
}

#[test]
fn sums_from_before_the_machine_column_are_made_again_and_never_believed() {
    let (fleet, fresh) = engine::database();
    let world = World::on("desk");
    world.bring(History::new(800, 4).batch(usize::MAX));
    for shipment in world.shipments(100_000) {
        fleet.write("ann", &shipment).unwrap();
    }
    fleet.make_days(AT_ONCE_CLOSED, &|| true).unwrap();
    let tables = [
        ("fact", "*"),
        ("task", "*"),
        ("task_day", "*"),
        ("closed_day", "*"),
        ("day_mark", "*"),
        ("day_sum", "* EXCEPT machine"),
    ];
    let old = older(&fresh, 4, &tables);
    let migrated = Arc::new(Fleet::new(old.clone()).unwrap());
    migrated.migrate().unwrap();
    // An interrupted or second migration runs once more.
    let again = agent_tracer_fleet::clickhouse::schema::step(VERSION, &old.layout);
    for statement in again {
        crate::clickhouse::retention::run(&old, &statement);
    }
    assert_eq!(everything(&old), everything(&fresh));
    let spent = |fleet: &Arc<Fleet>| {
        let reader = Reader::of_all_owners(Arc::clone(fleet));
        [UsageBy::Machine, UsageBy::Owner, UsageBy::Day, UsageBy::Model]
            .map(|by| serde_json::to_value(reader.usage(&Range::default(), by, &Utc).unwrap()).unwrap())
    };
    let before = spent(&fleet);
    assert_eq!(before[0]["items"][0]["key"], "desk", "{before:?}");
    assert_eq!(spent(&migrated), before, "every day is asked of its facts");
    let made = migrated.make_days(AT_ONCE_CLOSED, &|| true).unwrap();
    assert!(made.again > 10, "{made:?}");
    assert_eq!((migrated.days_marked().unwrap(), spent(&migrated)), (0, before));
}

#[test]
fn the_views_tell_what_the_questions_tell() {
    shows_views(engine::database);
}

pub(crate) fn shows_views(make: Make) {
    let (fleet, place) = make();
    let mut expected = (0_u64, 0_u64, 0_u64);
    for name in ["2.1.325/agent_nested", "2.1.325/otel_skill"] {
        let world = World::of(name);
        for shipment in world.shipments(100_000) {
            fleet.write(name, &shipment).unwrap();
            // The same again changes no view.
            fleet.write(name, &shipment).unwrap();
        }
        let store = world.ledger.store();
        let tools = store.tools(&Range::default()).unwrap().items;
        expected.0 += tools.iter().map(|tool| tool.total_ms).sum::<u64>();
        let tasks = store.tasks(agent_tracer_event::Millis(0), &agent_tracer_ledger::TaskFilter::default());
        let tasks = tasks.unwrap().items;
        expected.1 += tasks.iter().filter(|task| task.parent_task_id.is_some()).count() as u64;
        let skills = store.skills(&Range::default()).unwrap().items;
        expected.2 += skills.iter().map(|skill| skill.count).sum::<u64>();
    }
    let number = |statement: &str| ask::<u64>(&place, statement)[0];
    assert_eq!(number("SELECT toUInt64(sum(assumeNotNull(total_ms))) FROM tool_latencies"), expected.0);
    assert_eq!(
        number("SELECT arraySum(sumMap(latency).2) FROM tool_latencies"),
        number("SELECT sum(calls) FROM tool_latencies")
    );
    assert_eq!(number("SELECT count() FROM agent_runs"), expected.1);
    assert!(expected.1 > 1 && expected.2 > 0, "{expected:?}");
    assert_eq!(number("SELECT count() FROM skill_activations"), expected.2);
    // The way to a percentile that the documentation shows.
    let page = agent_tracer_fleet::clickhouse::schema::page();
    let shown = page.split("```sql\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let shown = shown.replace("WHERE day >= today() - 30 ", "");
    let p95: Vec<(String, f64)> = ask(&place, &format!("SELECT tool, p95_ms FROM ({shown})"));
    assert!(!p95.is_empty() && p95.iter().all(|(_, ms)| ms.is_finite() && *ms >= 0.0), "{p95:?}");
}
