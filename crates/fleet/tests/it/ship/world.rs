//! A ledger with captured histories, and the shipper of it.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use agent_tracer_fleet::ship::{Carrier, Cursor, Policy, ShipError, Shipper, Step};
use agent_tracer_ledger::shipment::Shipment;
use agent_tracer_ledger::{Batch, Ledger, Observed, Options, Outbox};
use agent_tracer_prices::Prices;
use agent_tracer_testkit::scenario;
use flate2::read::GzDecoder;

/// Destination of the shipments.
pub(crate) const TO: &str = "https://tracer.example";

/// A ledger in a folder, and what was brought to the server.
pub(crate) struct World {
    pub(crate) ledger: Ledger,
    pub(crate) server: Arc<Memory>,
    folder: tempfile::TempDir,
}

/// Keeps the arrivals, and refuses as often as requested.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) bodies: Mutex<Vec<Vec<u8>>>,
    /// Number of parts to lose: half of them after they were stored.
    pub(crate) lose: Mutex<u32>,
}

/// The same memory for several shippers.
struct Shared(Arc<Memory>);

impl Carrier for Shared {
    fn carry(&self, packed: &[u8]) -> Result<(), ShipError> {
        let mut lose = self.0.lose.lock().unwrap();
        let lost = *lose > 0;
        // An answer may be lost as well as a part.
        if !lost || lose.is_multiple_of(2) {
            self.0.bodies.lock().unwrap().push(unpacked(packed));
        }
        *lose = lose.saturating_sub(1);
        if lost { Err(ShipError::Unreachable("lost".into())) } else { Ok(()) }
    }
}

pub(crate) fn unpacked(packed: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut plain).unwrap();
    plain
}

/// Arrivals by task and fact, with their versions.
type Arrived = BTreeMap<(String, Option<i64>), (u64, String)>;

fn put(newest: &mut Arrived, key: (String, Option<i64>), version: u64, text: String) {
    let known = newest.entry(key).or_default();
    if version >= known.0 {
        *known = (version, text);
    }
}

impl World {
    pub(crate) fn of(names: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&folder.path().join("ledger.db"), Options::default()).unwrap();
        let world = Self { ledger, server: Arc::default(), folder };
        for name in names {
            world.bring(scenario(name).observed(None));
        }
        world
    }

    pub(crate) fn bring(&self, observed: Vec<Observed>) {
        self.ledger.append(Batch { observed, ..Batch::default() }).unwrap();
    }

    pub(crate) fn cursor_path(&self) -> PathBuf {
        self.folder.path().join("ship.json")
    }

    pub(crate) fn outbox(&self) -> Outbox {
        Outbox::open(&self.folder.path().join("ledger.db"), Arc::new(Prices::embedded())).unwrap()
    }

    /// Returns a shipper as a process that starts now would make it.
    pub(crate) fn shipper(&self, policy: &str) -> Shipper {
        self.shipper_by(policy, Box::new(Shared(Arc::clone(&self.server))))
    }

    pub(crate) fn shipper_by(&self, policy: &str, carrier: Box<dyn Carrier>) -> Shipper {
        let policy = Policy::parse(policy, None).unwrap();
        let cursor = Cursor::open(&self.cursor_path(), TO).unwrap();
        Shipper::new(self.outbox(), policy, cursor, carrier)
    }

    /// Ships until nothing is left.
    pub(crate) fn ship(&self, policy: &str) {
        let mut shipper = self.shipper(policy);
        while shipper.step().unwrap() != Step::UpToDate {}
        assert_eq!(shipper.lag().unwrap(), 0);
    }

    /// Returns the newest version of every task and fact that arrived and was not taken back.
    pub(crate) fn arrived(&self) -> Arrived {
        let mut newest = Arrived::new();
        for body in self.server.bodies.lock().unwrap().iter() {
            let shipment: Shipment = serde_json::from_slice(body).unwrap();
            if let Some(removed) = &shipment.removed {
                newest.retain(|(task, _), (version, _)| {
                    !removed.tasks.contains(task) || *version > removed.version
                });
            }
            for mut task in shipment.tasks {
                let version = std::mem::take(&mut task.version);
                put(&mut newest, (task.task.clone(), None), version, serde_json::to_string(&task).unwrap());
            }
            for mut fact in shipment.facts {
                let version = std::mem::take(&mut fact.version);
                let text = serde_json::to_string(&fact).unwrap();
                put(&mut newest, (fact.task.clone(), Some(fact.row.fact)), version, text);
            }
        }
        newest
    }

    /// Returns the same without versions.
    pub(crate) fn contents(&self) -> BTreeMap<(String, Option<i64>), String> {
        self.arrived().into_iter().map(|(key, (_, text))| (key, text)).collect()
    }
}
