//! One part of the way, made ready: read, held back and reduced by the policy, written and packed.
//!
//! Nothing here changes what is remembered, so that a part can be made ready while those before it are on their way.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};

use agent_tracer_ledger::shipment::{Removed, Shipment};
use agent_tracer_ledger::{Outbox, QueryError};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::ship::policy::Policy;
use crate::ship::shipper::{SendCounts, ShipError};

/// About so many facts are one part: a server makes one insert of it, and what an insert costs hardly depends on how
/// many rows it has.
pub(crate) const FACTS: u32 = 4_000;

/// A body is cut when it has this many bytes before it is packed: a server takes some times as many.
const BODY_BYTES: usize = 4 << 20;

/// Holds the input of a part.
#[derive(Clone, Copy)]
pub(crate) struct PartSource<'way> {
    pub(crate) outbox: &'way Outbox,
    pub(crate) policy: &'way Policy,
    /// Offset added to places.
    pub(crate) base: u64,
    /// Nothing behind this place is taken.
    pub(crate) newest: u64,
    /// About so many facts at once.
    pub(crate) facts: u32,
}

/// A part that is ready to go.
#[derive(Debug, Default)]
pub(crate) struct ShipmentPart {
    /// Everything up to here is before it.
    pub(crate) from: u64,
    /// Counts that the part adds when it is sent.
    pub(crate) sent: SendCounts,
    /// The tasks in it that may leave.
    pub(crate) tasks: Vec<String>,
    /// The tasks that it held back.
    pub(crate) held: Vec<String>,
    /// Packed; they go one after the other.
    pub(crate) bodies: Vec<Vec<u8>>,
}

impl PartSource<'_> {
    /// Returns the part behind a place; `None` if nothing is there.
    pub(crate) fn after(&self, place: u64) -> Result<Option<ShipmentPart>, ShipError> {
        let mut shipment = self.outbox.between(place, self.newest, self.facts)?;
        if shipment.until == place {
            return Ok(None);
        }
        let mut part = ShipmentPart { from: place, ..ShipmentPart::default() };
        part.sent.until = shipment.until;
        self.hold_back(&mut shipment, &mut part)?;
        for task in &mut shipment.tasks {
            task.version = task.version.saturating_add(self.base);
            self.policy.task(task);
        }
        for fact in &mut shipment.facts {
            fact.version = fact.version.saturating_add(self.base);
            self.policy.fact(fact);
        }
        part.tasks = shipment.tasks.iter().map(|task| task.task.clone()).collect();
        part.sent.tasks = shipment.tasks.len() as u64;
        part.sent.facts = shipment.facts.len() as u64;
        part.sent.removed = shipment.removed.as_ref().map_or(0, |removed| removed.tasks.len() as u64);
        part.bodies = bodies(&shipment, BODY_BYTES);
        part.sent.bytes = part.bodies.iter().map(|body| body.len() as u64).sum();
        Ok(Some(part))
    }

    /// Takes out what is of a project that may not leave.
    fn hold_back(&self, shipment: &mut Shipment, part: &mut ShipmentPart) -> Result<(), QueryError> {
        let tasks = shipment.tasks.iter().map(|task| &task.task);
        let ids: BTreeSet<&String> = tasks.chain(shipment.facts.iter().map(|fact| &fact.task)).collect();
        let ids: BTreeSet<String> = ids.into_iter().cloned().collect();
        // Asked of the ledger and not of the shipment: a part may hold facts of a task whose own record went before.
        let projects: HashMap<String, String> = self.outbox.projects(&ids)?;
        let allowed = |task: &str| projects.get(task).is_some_and(|project| self.policy.allows(project));
        let (kept, held): (BTreeSet<String>, BTreeSet<String>) = ids.into_iter().partition(|id| allowed(id));
        if !held.is_empty() {
            let all = shipment.tasks.len() + shipment.facts.len();
            shipment.tasks.retain(|task| kept.contains(&task.task));
            shipment.facts.retain(|fact| kept.contains(&fact.task));
            part.sent.held = (all - shipment.tasks.len() - shipment.facts.len()) as u64;
            // What was sent under another policy, and may not be there under this one, goes.
            if self.base > 0 {
                let tasks = held.iter().cloned().collect();
                shipment.removed = Some(Removed { version: self.base, tasks });
            }
        }
        part.held = held.into_iter().collect();
        // Parents that may not leave are not named either.
        let named: BTreeSet<String> = shipment
            .tasks
            .iter()
            .flat_map(|task| [&task.parent, &task.continues, &task.forked])
            .flatten()
            .cloned()
            .collect();
        let named = self.outbox.projects(&named)?;
        let may_be_named = |task: &String| named.get(task).is_some_and(|project| self.policy.allows(project));
        for task in &mut shipment.tasks {
            for link in [&mut task.parent, &mut task.continues, &mut task.forked] {
                *link = link.take().filter(may_be_named);
            }
        }
        Ok(())
    }
}

/// Packs a shipment into bodies that a server takes; nothing to send is no body. Tasks come last, as they do in one
/// body.
fn bodies(shipment: &Shipment, most: usize) -> Vec<Vec<u8>> {
    let mut bodies = Vec::new();
    let rest = Shipment { format: shipment.format, until: shipment.until, ..Shipment::default() };
    let mut facts: Vec<u8> = Vec::new();
    for fact in &shipment.facts {
        let fact = serde_json::to_vec(fact).unwrap_or_default();
        if facts.len() + fact.len() > most && !facts.is_empty() {
            bodies.push(pack(&rest, &facts));
            facts.clear();
        }
        if !facts.is_empty() {
            facts.push(b',');
        }
        facts.extend_from_slice(&fact);
    }
    if !facts.is_empty() || !shipment.tasks.is_empty() || shipment.removed.is_some() {
        bodies.push(pack(shipment, &facts));
    }
    bodies
}

/// Packs a shipment with these facts instead of its own. They are written already, so that each is written once,
/// wherever a body is cut.
pub(crate) fn pack(shipment: &Shipment, facts: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(facts.len() / 4), Compression::fast());
    let mut write = || -> io::Result<()> {
        write!(encoder, "{{\"format\":{},\"tasks\":", shipment.format)?;
        serde_json::to_writer(&mut encoder, &shipment.tasks)?;
        encoder.write_all(b",\"facts\":[")?;
        encoder.write_all(facts)?;
        write!(encoder, "],\"until\":{}", shipment.until)?;
        if let Some(removed) = &shipment.removed {
            encoder.write_all(b",\"removed\":")?;
            serde_json::to_writer(&mut encoder, removed)?;
        }
        encoder.write_all(b"}")
    };
    // Writing to memory does not fail.
    drop(write());
    encoder.finish().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use agent_tracer_ledger::shipment::{FORMAT, ShippedFact};
    use agent_tracer_ledger::{Batch, Ledger, Options};
    use agent_tracer_prices::Prices;
    use agent_tracer_testkit::scenario;
    use flate2::read::GzDecoder;

    use super::*;

    fn read(body: &[u8]) -> Shipment {
        let mut text = String::new();
        GzDecoder::new(body).read_to_string(&mut text).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    fn captured() -> Shipment {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let ledger = Ledger::open(&path, Options::default()).unwrap();
        let observed = scenario("2.1.325/agent_nested").observed(None);
        ledger.append(Batch { observed, ..Batch::default() }).unwrap();
        let outbox = Outbox::open(&path, std::sync::Arc::new(Prices::embedded())).unwrap();
        let mut shipment = outbox.after(0, 10_000).unwrap();
        shipment.removed = Some(Removed { version: 7, tasks: vec!["one \"facts\":[".to_owned()] });
        shipment
    }

    #[test]
    fn bodies_say_together_what_the_shipment_says_wherever_they_are_cut() {
        let shipment = captured();
        assert!(shipment.facts.len() > 20 && !shipment.tasks.is_empty());
        for most in [1, 5_000, BODY_BYTES] {
            let parts: Vec<Shipment> = bodies(&shipment, most).iter().map(|body| read(body)).collect();
            let (last, others) = parts.split_last().unwrap();
            assert!(others.iter().all(|part| part.tasks.is_empty() && part.removed.is_none()));
            assert!(parts.iter().all(|part| (part.format, part.until) == (FORMAT, shipment.until)));
            assert_eq!((&last.tasks, &last.removed), (&shipment.tasks, &shipment.removed));
            let facts: Vec<ShippedFact> = parts.iter().flat_map(|part| part.facts.clone()).collect();
            assert_eq!(facts, shipment.facts, "cut at {most}");
        }
        assert_eq!(bodies(&shipment, 1).len(), shipment.facts.len());
        assert_eq!(bodies(&shipment, BODY_BYTES).len(), 1);
    }

    #[test]
    fn nothing_to_send_is_no_body() {
        let nothing = Shipment { format: FORMAT, until: 9, ..Shipment::default() };
        assert_eq!(bodies(&nothing, BODY_BYTES), Vec::<Vec<u8>>::new());
    }
}
