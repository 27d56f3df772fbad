//! One channel alone ends in a part of the whole.
//!
//! The law, for every captured scenario and each of its channels: no row is invented, so every row that one channel
//! makes is a row of the whole, or became part of one; and a field that the channel names has the same value in the
//! whole, or the whole's value was said by a caller who beats it: surer, or as sure on a channel that is believed more.

use std::collections::{BTreeMap, BTreeSet};

use agent_tracer_event::{Certainty, Channel, FactId, Millis, TaskId};
use agent_tracer_ledger::view::{EntryDetail, EventDetail, Row, Task, TaskKind};
use agent_tracer_ledger::{Retention, Store, TaskFilter};
use agent_tracer_testkit::scenarios;
use serde_json::Value;

use crate::world::World;

/// Keys that the ledger derives from several rows: how a call ended from what came after it, and how long it waited from
/// when it was asked for. The more rows there are, the better it knows.
const SETTLED: [&str; 2] = ["state", "metadata.permissionWaitMs"];

const FOREVER: Millis = Millis(4_000_000_000_000);

fn rows(store: &dyn Store) -> Vec<Row> {
    let (mut all, mut after) = (Vec::new(), 0);
    loop {
        let part = store.changes(after, 500).unwrap();
        let Some(last) = part.last().map(|row| row.seq) else { return all };
        after = last;
        all.extend(part);
    }
}

/// Returns the value of an entry's field, by the name of the field in a row.
fn said<'e>(entry: &'e EntryDetail, field: &str) -> Option<&'e Value> {
    match field.strip_prefix("metadata.") {
        Some(key) => entry.fields.get("metadata")?.get(key),
        None if field == "turnId" => entry.fields.get("turn"),
        None => entry.fields.get(field),
    }
}

/// Returns the value of a row's field.
fn field_value(row: &Row, field: &str) -> Value {
    let row = serde_json::to_value(row).unwrap();
    match field.strip_prefix("metadata.") {
        Some(key) => row["metadata"][key].clone(),
        None => row[field].clone(),
    }
}

fn rank(entry: &EntryDetail) -> (Certainty, Channel) {
    (entry.certainty, entry.channel)
}

/// Returns the contradiction between a field of the whole and the same field of one channel.
fn contradiction(alone: &EventDetail, whole: &EventDetail, field: &str) -> Option<String> {
    let (one, all) = (field_value(&alone.row, field), field_value(&whole.row, field));
    if one == all || one.is_null() {
        return None;
    }
    // Files are gathered from everybody who names any.
    if let (Value::Array(one), Value::Array(all)) = (&one, &all)
        && field == "filePaths"
        && one.iter().all(|path| all.contains(path))
    {
        return None;
    }
    let best = alone.entries.iter().filter(|entry| said(entry, field).is_some()).map(rank).max();
    let stronger = whole.entries.iter().any(|entry| said(entry, field).is_some() && Some(rank(entry)) > best);
    (!stronger).then(|| format!("`{field}` is {one} alone and {all} in the whole"))
}

#[test]
fn one_channel_alone_ends_in_a_part_of_the_whole() {
    let mut compared = BTreeSet::new();
    let mut wrong = Vec::new();
    for scenario in scenarios().iter().map(|scenario| scenario.with_telemetry()) {
        let channels: BTreeSet<Channel> = scenario.parts.iter().map(|part| part.channel).collect();
        if channels.len() < 2 {
            continue;
        }
        let whole = World::with(&scenario.observed(None), usize::MAX).ledger;
        for channel in channels {
            let alone = World::with(&scenario.observed(Some(channel)), usize::MAX).ledger;
            for row in rows(&*alone.store()) {
                let about = format!("{} {channel:?} {} {:?}", scenario.name, row.id, row.title);
                let id = FactId::parse(&row.id).unwrap();
                let Ok(together) = whole.store().event(&id) else {
                    wrong.push(format!("{about}: no row of the whole"));
                    continue;
                };
                let alone = alone.store().event(&id).unwrap();
                let known: BTreeSet<&str> =
                    together.entries.iter().map(|entry| entry.entry_id.as_str()).collect();
                if !alone.entries.iter().all(|entry| known.contains(entry.entry_id.as_str())) {
                    wrong.push(format!("{about}: said by entries that the whole does not have"));
                }
                for (field, from) in &alone.field_channels {
                    assert_eq!(*from, channel, "{about}: `{field}`");
                    if !SETTLED.contains(&field.as_str()) {
                        let found = contradiction(&alone, &together, field);
                        wrong.extend(found.map(|what| format!("{about}: {what}")));
                    }
                    compared.insert((channel, field.clone()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} contradictions\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared.len() > 50, "{compared:?}");
    let telemetry = compared.iter().filter(|(channel, _)| *channel == Channel::Otlp).count();
    assert!(telemetry > 10, "{telemetry}");
}

#[test]
fn a_row_names_a_hook_as_its_evidence_only_if_a_hook_reported_it() {
    let mut seen = BTreeSet::new();
    for scenario in scenarios().iter().step_by(2).map(|scenario| scenario.with_telemetry()) {
        let channels: BTreeSet<Channel> = scenario.parts.iter().map(|part| part.channel).collect();
        for channel in channels.into_iter().filter(|channel| *channel != Channel::Hook) {
            let world = World::with(&scenario.observed(Some(channel)), usize::MAX);
            for row in rows(&*world.ledger.store()) {
                let why = row.metadata.get("evidenceReason").and_then(Value::as_str).unwrap_or_default();
                assert!(!why.starts_with("hook"), "{} {channel:?}: {why:?} in {row:?}", scenario.name);
                seen.insert(channel);
            }
        }
    }
    assert!(seen.contains(&Channel::Transcript) && seen.contains(&Channel::Otlp), "{seen:?}");
}

/// Returns whether the store claims to know of permission prompts, by the ids of tasks that are no subagents.
fn recorded(world: &World) -> BTreeMap<String, bool> {
    let store = world.ledger.store();
    let filter = TaskFilter { kind: Some(TaskKind::Primary), ..TaskFilter::default() };
    let page = store.tasks(FOREVER, &filter).unwrap();
    let summary = |task: &Task| store.summary(FOREVER, &TaskId::parse(&task.id).unwrap()).unwrap();
    page.items.iter().map(|task| (task.id.clone(), summary(task).permissions_recorded)).collect()
}

#[test]
fn permission_prompts_are_known_only_where_hooks_tell_of_them_also_when_rows_are_gone() {
    let everything = Retention { events_before: Some(FOREVER), kept_before: Some(FOREVER) };
    let (mut unknown, mut known) = (0, 0);
    for scenario in scenarios().iter().step_by(3) {
        let channels: BTreeSet<Channel> = scenario.parts.iter().map(|part| part.channel).collect();
        if !channels.contains(&Channel::Hook) || !channels.contains(&Channel::Transcript) {
            continue;
        }
        let files = World::with(&scenario.observed(Some(Channel::Transcript)), usize::MAX);
        let hooks = World::with(&scenario.observed(Some(Channel::Hook)), usize::MAX);
        let whole = World::with(&scenario.observed(None), usize::MAX);
        for world in [&files, &hooks, &whole] {
            let before = recorded(world);
            world.ledger.retain(everything).unwrap();
            assert_eq!(recorded(world), before, "{}: retention changes what is known", scenario.name);
        }
        unknown += recorded(&files).len();
        assert!(recorded(&files).values().all(|recorded| !recorded), "{}: files name none", scenario.name);
        let of_hooks = recorded(&hooks);
        known += of_hooks.len();
        assert!(of_hooks.values().all(|recorded| *recorded), "{}: hooks tell of all", scenario.name);
        let whole = recorded(&whole);
        for (task, recorded) in of_hooks {
            assert_eq!(whole.get(&task).copied().unwrap_or(recorded), recorded, "{} {task}", scenario.name);
        }
    }
    assert!(unknown > 9 && known > 9, "{unknown} {known}");
}
