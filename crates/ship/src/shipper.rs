//! One part of the way after the other.

use std::collections::{BTreeSet, HashMap};
use std::io::Write;

use agent_tracer_ledger::record::{FORMAT, FactRecord, Removed, Shipment};
use agent_tracer_ledger::{Outbox, QueryError};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::cursor::{Cursor, CursorError};
use crate::policy::Policy;

/// About so many facts are taken out of the ledger at once.
const FACTS: u32 = 1_000;

/// So many purged tasks are told at once.
const REMOVED: usize = 1_000;

/// A body is cut when it has this many bytes before it is packed: a server takes some times as many.
const BODY_BYTES: usize = 4 << 20;

/// Why a part did not arrive.
#[derive(Debug, thiserror::Error)]
pub enum ShipError {
    /// The ledger cannot be read.
    #[error("the ledger cannot be read: {0}")]
    Ledger(QueryError),
    /// The cursor cannot be kept.
    #[error("{0}")]
    Cursor(#[from] CursorError),
    /// Nobody answered, or not now. The same may succeed later.
    #[error("the server cannot be reached: {0}")]
    Unreachable(String),
    /// The server does not take it.
    #[error("the server answered {status}: {detail}")]
    Refused {
        /// The status.
        status: u16,
        /// What it says.
        detail: String,
    },
}

impl ShipError {
    /// Whether the same may succeed later without anybody doing anything.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::Ledger(QueryError::Store(_)))
    }
}

impl From<QueryError> for ShipError {
    fn from(error: QueryError) -> Self {
        Self::Ledger(error)
    }
}

/// Brings packed parts to a server.
pub trait Carrier: Send + Sync {
    /// Brings one; when this returns, the server has stored it.
    ///
    /// # Errors
    /// If the server did not say that it has.
    fn carry(&self, packed: &[u8]) -> Result<(), ShipError>;
}

/// What one step sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Tasks.
    pub tasks: u64,
    /// Facts.
    pub facts: u64,
    /// Tasks and facts that the policy held back.
    pub held: u64,
    /// Tasks that the server was asked to delete.
    pub removed: u64,
    /// Bytes, packed.
    pub bytes: u64,
    /// How far it came.
    pub until: u64,
}

/// What one step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It sent something, or found that it may not; there may be more.
    Sent(Sent),
    /// Everything is there.
    UpToDate,
}

/// Ships what changed.
pub struct Shipper {
    outbox: Outbox,
    policy: Policy,
    cursor: Cursor,
    carrier: Box<dyn Carrier>,
}

/// How far a cursor is behind: places in the order of delivery that were not acknowledged.
///
/// # Errors
/// If the ledger cannot be read.
pub fn lag(outbox: &Outbox, cursor: &Cursor) -> Result<u64, QueryError> {
    Ok(outbox.newest()?.saturating_sub(cursor.until()))
}

impl Shipper {
    /// A shipper that goes on where the cursor is.
    #[must_use]
    pub fn new(outbox: Outbox, policy: Policy, cursor: Cursor, carrier: Box<dyn Carrier>) -> Self {
        Self { outbox, policy, cursor, carrier }
    }

    /// How far it is behind.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub fn lag(&self) -> Result<u64, ShipError> {
        Ok(lag(&self.outbox, &self.cursor)?)
    }

    /// Begins anew if the ledger was rebuilt, or another policy holds than what was sent was sent under.
    fn look(&mut self) -> Result<(), ShipError> {
        let (rebuilds, policy) = (self.outbox.rebuilds()?, self.policy.fingerprint());
        let state = &mut self.cursor.state;
        if (state.rebuilds, &state.policy) == (rebuilds, &policy) {
            return Ok(());
        }
        (state.rebuilds, state.policy) = (rebuilds, policy);
        self.cursor.restart();
        Ok(self.cursor.save()?)
    }

    /// Sends the next part of the way.
    ///
    /// # Errors
    /// If it cannot be read, sent or remembered. Then the same part is next.
    pub fn step(&mut self) -> Result<Step, ShipError> {
        self.look()?;
        if let Some(step) = self.remove_purged()? {
            return Ok(step);
        }
        let before = self.cursor.until();
        let mut shipment = self.outbox.after(before, FACTS)?;
        if shipment.until == before {
            return Ok(Step::UpToDate);
        }
        let held = self.hold_back(&mut shipment)?;
        for task in &shipment.tasks {
            if self.cursor.state.skipped.remove(&task.task) {
                // What was held back of it is behind us: the whole way is gone once more, which changes nothing else.
                self.cursor.state.until = 0;
            }
        }
        if self.cursor.until() == 0 && before != 0 {
            self.cursor.save()?;
            return Ok(Step::Sent(Sent { until: 0, ..Sent::default() }));
        }
        let base = self.cursor.state.base;
        for task in &mut shipment.tasks {
            task.version = task.version.saturating_add(base);
            self.policy.task(task);
        }
        for fact in &mut shipment.facts {
            fact.version = fact.version.saturating_add(base);
            self.policy.fact(fact);
        }
        let until = shipment.until;
        let mut sent = Sent {
            tasks: shipment.tasks.len() as u64,
            facts: shipment.facts.len() as u64,
            held,
            until,
            ..Sent::default()
        };
        // Remembered before anything of it is sent: if the machine is lost in between, versions still only grow.
        let highest = until.saturating_add(base);
        if highest > self.cursor.state.highest {
            self.cursor.state.highest = highest;
            self.cursor.save()?;
        }
        sent.removed = shipment.removed.as_ref().map_or(0, |removed| removed.tasks.len() as u64);
        for part in parts(shipment) {
            let packed = packed(&part);
            self.carrier.carry(&packed)?;
            sent.bytes += packed.len() as u64;
        }
        self.cursor.state.until = until;
        self.cursor.save()?;
        Ok(Step::Sent(sent))
    }

    /// Asks the server to delete what was purged here, if it was not asked before.
    fn remove_purged(&mut self) -> Result<Option<Step>, ShipError> {
        let purged = self.outbox.purged()?;
        let state = &self.cursor.state;
        // What never left need not go, and its name is nobody's business.
        let is_new = |(task, until): &(&String, &i64)| {
            state.removed.get(*task) != Some(*until) && !state.skipped.contains(*task)
        };
        let new: Vec<(String, i64)> =
            purged.iter().filter(is_new).take(REMOVED).map(|(task, until)| (task.clone(), *until)).collect();
        let tasks: Vec<String> = new.iter().map(|(task, _)| task.clone()).collect();
        if tasks.is_empty() || (state.highest == 0 && state.until == 0) {
            return Ok(None);
        }
        let count = tasks.len() as u64;
        let removed = Removed { version: state.highest, tasks };
        let shipment = Shipment { format: FORMAT, removed: Some(removed), ..Shipment::default() };
        let packed = packed(&shipment);
        self.carrier.carry(&packed)?;
        self.cursor.state.removed.retain(|task, _| purged.contains_key(task));
        let sent = Sent {
            removed: count,
            bytes: packed.len() as u64,
            until: self.cursor.until(),
            ..Sent::default()
        };
        self.cursor.state.removed.extend(new);
        self.cursor.save()?;
        Ok(Some(Step::Sent(sent)))
    }

    /// Takes out what is of a project that may not leave; gives how many records that were.
    fn hold_back(&mut self, shipment: &mut Shipment) -> Result<u64, ShipError> {
        let tasks = shipment.tasks.iter().map(|task| task.task.clone());
        let ids: BTreeSet<String> =
            tasks.chain(shipment.facts.iter().map(|fact| fact.task.clone())).collect();
        let projects: HashMap<String, String> = self.outbox.projects(&ids)?;
        let allowed = |task: &str| projects.get(task).is_some_and(|project| self.policy.allows(project));
        let all = shipment.tasks.len() + shipment.facts.len();
        let kept: BTreeSet<&String> = ids.iter().filter(|id| allowed(id)).collect();
        shipment.tasks.retain(|task| kept.contains(&task.task));
        shipment.facts.retain(|fact| kept.contains(&fact.task));
        let left = shipment.tasks.len() + shipment.facts.len();
        let held: Vec<&String> = ids.iter().filter(|id| !kept.contains(id)).collect();
        // What was sent under another policy, and may not be there under this one, goes.
        let base = self.cursor.state.base;
        if base > 0 && !held.is_empty() {
            let tasks = held.iter().map(|id| (*id).clone()).collect();
            shipment.removed = Some(Removed { version: base, tasks });
        }
        for id in held {
            self.cursor.skip(id);
        }
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
        Ok((all - left) as u64)
    }
}

/// A shipment in bodies that a server takes; nothing to send is no body. Tasks come last, as they do in one body.
fn parts(shipment: Shipment) -> Vec<Shipment> {
    let Shipment { format, tasks, facts, until, removed } = shipment;
    let mut parts: Vec<Shipment> = Vec::new();
    let mut part: Vec<FactRecord> = Vec::new();
    let mut bytes = 0;
    for fact in facts {
        let length = serde_json::to_vec(&fact).map_or(0, |text| text.len());
        if bytes + length > BODY_BYTES && !part.is_empty() {
            parts.push(Shipment { format, facts: std::mem::take(&mut part), until, ..Shipment::default() });
            bytes = 0;
        }
        bytes += length;
        part.push(fact);
    }
    if !part.is_empty() || !tasks.is_empty() || removed.is_some() {
        parts.push(Shipment { format, tasks, facts: part, until, removed });
    }
    parts
}

fn packed(shipment: &Shipment) -> Vec<u8> {
    let text = serde_json::to_vec(shipment).unwrap_or_default();
    let mut encoder = GzEncoder::new(Vec::with_capacity(text.len() / 4), Compression::fast());
    // Writing to memory does not fail.
    drop(encoder.write_all(&text));
    encoder.finish().unwrap_or_default()
}
