//! A ledger of one machine, and what it ships: parts together are everything, each in its newest version.

use std::collections::BTreeMap;
use std::sync::Arc;

use agent_tracer_ledger::shipment::Shipment;
use agent_tracer_ledger::{Batch, Ledger, Observed, Options, Outbox};
use agent_tracer_prices::Prices;
use agent_tracer_testkit::scenario;

/// An embedded ledger with a history, and what it ships.
pub(crate) struct World {
    pub(crate) ledger: Ledger,
    pub(crate) outbox: Outbox,
    _folder: tempfile::TempDir,
}

impl World {
    /// Returns an empty one.
    pub(crate) fn empty() -> Self {
        Self::on(&Options::default().machine_id)
    }

    /// Returns an empty one, on a machine.
    pub(crate) fn on(machine: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let options = Options { machine_id: machine.to_owned(), ..Options::default() };
        let ledger = Ledger::open(&path, options).unwrap();
        let outbox = Outbox::open(&path, Arc::new(Prices::embedded())).unwrap();
        Self { ledger, outbox, _folder: folder }
    }

    /// With all that one scenario tells.
    pub(crate) fn of(name: &str) -> Self {
        let world = Self::empty();
        for part in scenario(name).observed(None).chunks(5) {
            world.bring(part.to_vec());
        }
        world
    }

    /// Brings observations.
    pub(crate) fn bring(&self, observed: Vec<Observed>) {
        self.ledger.append(Batch { observed, ..Batch::default() }).unwrap();
    }

    /// Everything, in parts of about so many facts.
    pub(crate) fn shipments(&self, limit: u32) -> Vec<Shipment> {
        let mut shipments = Vec::new();
        let mut after = 0;
        loop {
            let shipment = self.outbox.after(after, limit).unwrap();
            if shipment.facts.is_empty() && shipment.tasks.is_empty() {
                assert_eq!(shipment.until, after);
                return shipments;
            }
            assert!(shipment.until > after, "a shipment goes on");
            after = shipment.until;
            shipments.push(shipment);
        }
    }
}

/// Returns the newest version of every task and fact, as text.
fn newest(shipments: &[Shipment]) -> BTreeMap<(String, Option<i64>), String> {
    let mut newest = BTreeMap::new();
    for shipment in shipments {
        for task in &shipment.tasks {
            newest.insert((task.task.clone(), None), serde_json::to_string(task).unwrap());
        }
        for fact in &shipment.facts {
            newest.insert((fact.task.clone(), Some(fact.row.fact)), serde_json::to_string(fact).unwrap());
        }
    }
    newest
}

#[test]
fn small_shipments_together_are_one_large_shipment() {
    let world = World::of("2.1.325/agent_nested");
    let whole = world.shipments(100_000);
    assert_eq!(whole.len(), 1);
    assert!(whole[0].tasks.len() > 2 && whole[0].facts.len() > 20);
    let parts = world.shipments(2);
    assert!(parts.len() > 2, "{}", parts.len());
    assert_eq!(newest(&parts), newest(&whole));
}

#[test]
fn what_changed_since_is_shipped_and_nothing_else() {
    let world = World::empty();
    let observed = scenario("2.1.325/agent_nested").observed(None);
    let (first, second) = observed.split_at(observed.len() / 2);
    world.bring(first.to_vec());
    let mut shipments = world.shipments(100_000);
    let after = shipments[0].until;
    world.bring(first.to_vec());
    let again = world.outbox.after(after, 100).unwrap();
    assert_eq!(
        (again.tasks.len(), again.facts.len(), again.until),
        (0, 0, after),
        "a repetition changes nothing"
    );
    world.bring(second.to_vec());
    let more = world.outbox.after(after, 100_000).unwrap();
    assert!(more.facts.iter().all(|fact| fact.version > after));
    shipments.push(more);
    let all = newest(&world.shipments(100_000));
    let gone =
        |shipped: &Shipment| shipped.facts.iter().flat_map(|fact| fact.parts.clone()).collect::<Vec<_>>();
    let gone: Vec<i64> = shipments.iter().flat_map(gone).collect();
    let mut kept = newest(&shipments);
    kept.retain(|(_, fact), _| fact.is_none_or(|fact| !gone.contains(&fact)));
    assert_eq!(kept, all);
}

/// Returns the rows that the other store should hold: the greatest version of every key, and none that became part of
/// another fact.
fn as_kept(shipments: &[Shipment]) -> BTreeMap<(String, Option<i64>), String> {
    let mut rows: BTreeMap<(String, Option<i64>), (u64, Option<String>)> = BTreeMap::new();
    let mut put = |key: (String, Option<i64>), version: u64, text: Option<String>| {
        let row = rows.entry(key).or_default();
        if version >= row.0 {
            *row = (version, text);
        }
    };
    for shipment in shipments {
        for fact in &shipment.facts {
            let key = (fact.task.clone(), Some(fact.row.fact));
            put(key, fact.version, Some(serde_json::to_string(fact).unwrap()));
            for part in fact.parts.iter().filter(|part| **part != fact.row.fact) {
                put((fact.task.clone(), Some(*part)), fact.version, None);
            }
        }
        for task in &shipment.tasks {
            put((task.task.clone(), None), task.version, Some(serde_json::to_string(task).unwrap()));
        }
    }
    rows.into_iter().filter_map(|(key, (_, text))| Some((key, text?))).collect()
}

/// Everything that is shipped when a history arrives part by part, newest versions only, against one look at the end.
fn assert_parts_are_the_whole(name: &str, parts: &[Vec<Observed>]) {
    let world = World::empty();
    let (mut shipments, mut after) = (Vec::new(), 0);
    for part in parts {
        world.bring(part.clone());
        loop {
            let shipment = world.outbox.after(after, 200).unwrap();
            if shipment.until == after {
                break;
            }
            after = shipment.until;
            shipments.push(shipment);
        }
    }
    let kept = as_kept(&shipments);
    let all = newest(&world.shipments(100_000));
    for (key, text) in &all {
        assert_eq!(kept.get(key), Some(text), "{name}: {key:?}");
    }
    assert_eq!(kept.len(), all.len(), "{name}");
}

#[test]
fn whatever_the_order_of_files_what_is_shipped_is_what_is_there() {
    let scenarios = agent_tracer_testkit::scenarios().into_iter();
    let parts = scenarios.flat_map(|scenario| scenario.parts).map(|part| part.observed);
    let mut parts: Vec<Vec<Observed>> = parts.collect();
    parts.reverse();
    // A few at once, because every look at a ledger costs.
    let parts: Vec<Vec<Observed>> = parts.chunks(6).map(<[Vec<Observed>]>::concat).collect();
    assert_parts_are_the_whole("captured", &parts);
}

#[test]
fn a_task_that_loses_a_response_to_another_is_shipped_again() {
    // Two made-up machines that drew the same names tell of the same responses in different tasks.
    let of = |events| agent_tracer_testkit::history::History::new(events, 11).batch(usize::MAX);
    assert_parts_are_the_whole("generated", &[of(500), of(1_000)]);
}
