//! One part of the way after the other.
//!
//! Reading, sending and storing go on at once, each with another part. Parts are acknowledged in any order, but what is
//! remembered moves past them in the order of the way.

use std::collections::VecDeque;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, ScopedJoinHandle};

use agent_tracer_ledger::shipment::{FORMAT, Removed, Shipment};
use agent_tracer_ledger::{FaultCause, Outbox, QueryError};

use crate::ship::cursor::{Cursor, CursorError};
use crate::ship::part::{FACTS, PartSource, ShipmentPart, pack};
use crate::ship::policy::Policy;

/// Limit of purged tasks in one notification.
const REMOVED: usize = 1_000;

/// Limit of parts in flight: while the server stores one it can read the next.
const IN_FLIGHT_MAX: usize = 2;

/// Limit of parts in one step, which is the longest wait for a caller that wants to stop.
const PARTS: usize = 8;

/// Why a part did not arrive.
#[derive(Debug, thiserror::Error)]
pub enum ShipError {
    /// The ledger cannot be read.
    #[error("the ledger cannot be read")]
    Ledger(#[source] QueryError),
    /// The cursor cannot be kept.
    #[error(transparent)]
    Cursor(#[from] CursorError),
    /// The server did not answer, or is not ready. A retry may succeed.
    #[error("the server cannot be reached")]
    Unreachable(#[source] FaultCause),
    /// The server does not take it.
    #[error("the server answered {status}: {detail}")]
    Refused {
        /// The status.
        status: u16,
        /// Text of the server's answer.
        detail: String,
    },
}

impl ShipError {
    /// Returns whether a retry may succeed without any action by the user.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::Ledger(QueryError::Store(_) | QueryError::Damaged(_)))
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

/// Counts the rows that one step sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendCounts {
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
    /// Position reached.
    pub until: u64,
}

impl SendCounts {
    /// Adds what was sent behind it.
    pub fn add(&mut self, next: &Self) {
        self.tasks += next.tasks;
        self.facts += next.facts;
        self.held += next.held;
        self.removed += next.removed;
        self.bytes += next.bytes;
        self.until = next.until;
    }
}

/// Lists the results of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It sent something, or found that it may not; there may be more.
    Sent(SendCounts),
    /// Everything is there.
    UpToDate,
}

/// Ships what changed.
pub struct Shipper {
    outbox: Outbox,
    policy: Policy,
    cursor: Cursor,
    carrier: Box<dyn Carrier>,
    facts: u32,
}

/// Returns how far a cursor is behind: places in the order of delivery that were not acknowledged.
///
/// # Errors
/// If the ledger cannot be read.
pub fn lag(outbox: &Outbox, cursor: &Cursor) -> Result<u64, QueryError> {
    Ok(outbox.newest()?.saturating_sub(cursor.until()))
}

impl Shipper {
    /// Makes a shipper that goes on where the cursor is.
    #[must_use]
    pub fn new(outbox: Outbox, policy: Policy, cursor: Cursor, carrier: Box<dyn Carrier>) -> Self {
        Self { outbox, policy, cursor, carrier, facts: FACTS }
    }

    /// Sets the size of parts to about so many facts, for a server that is slow or far away.
    #[must_use]
    pub fn in_parts_of(mut self, facts: u32) -> Self {
        self.facts = facts;
        self
    }

    /// Returns how far the shipper is behind.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub fn lag(&self) -> Result<u64, ShipError> {
        Ok(lag(&self.outbox, &self.cursor)?)
    }

    /// Begins anew if the ledger was rebuilt, or another policy holds than what was sent was sent under.
    fn check_restart(&mut self) -> Result<(), ShipError> {
        let (rebuilds, policy) = (self.outbox.rebuilds()?, self.policy.fingerprint());
        let state = &mut self.cursor.state;
        if (state.rebuilds, &state.policy) == (rebuilds, &policy) {
            return Ok(());
        }
        (state.rebuilds, state.policy) = (rebuilds, policy);
        self.cursor.restart();
        Ok(self.cursor.save()?)
    }

    /// Sends the next parts of the way: while some are on their way, the next is read and packed. What is remembered
    /// moves past a part when that and all before it were acknowledged.
    ///
    /// # Errors If the first of them cannot be read, sent or remembered. Then the same part is next. If a later one
    /// cannot, the parts before it count as sent, and the next call returns the error.
    pub fn step(&mut self) -> Result<Step, ShipError> {
        self.check_restart()?;
        // Asked before what was purged: what comes back after a purge is behind this place, and not in this window.
        let newest = self.outbox.newest()?;
        if let Some(step) = self.remove_purged()? {
            return Ok(step);
        }
        let Self { outbox, policy, cursor, carrier, facts } = self;
        let source = PartSource { outbox, policy, base: cursor.state.base, newest, facts: *facts };
        let (from, carrier) = (cursor.until(), carrier.as_ref());
        let mut window = SendWindow { cursor, newest, arrived: None, again: false };
        let ended = thread::scope(|scope| {
            // Of no length: one part is ready while one is sent, and no more is in memory.
            let (ready, next) = sync_channel(0);
            scope.spawn(move || make_ready(source, from, &ready));
            let mut in_flight: VecDeque<PartInFlight<'_>> = VecDeque::new();
            let mut send = |part: ShipmentPart, window: &mut SendWindow<'_>| -> Result<bool, ShipError> {
                if !window.begin(&part)? {
                    return Ok(false);
                }
                if in_flight.len() >= IN_FLIGHT_MAX
                    && let Some(first) = in_flight.pop_front()
                {
                    window.acknowledge(first)?;
                }
                let ShipmentPart { sent, bodies, .. } = part;
                let carry = move || bodies.iter().try_for_each(|body| carrier.carry(body));
                in_flight.push_back(PartInFlight { sent, answer: scope.spawn(carry) });
                Ok(true)
            };
            let mut ended = Ok(());
            for part in next {
                match part.and_then(|part| send(part, &mut window)) {
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(error) => {
                        ended = Err(error);
                        break;
                    }
                }
            }
            // Behind one that did not arrive nothing counts as arrived.
            in_flight.into_iter().fold(ended, |ended, flight| ended.and_then(|()| window.acknowledge(flight)))
        });
        window.end(ended)
    }

    /// Asks the server to delete what was purged here, if it was not asked before.
    fn remove_purged(&mut self) -> Result<Option<Step>, ShipError> {
        let purged = self.outbox.purged()?;
        let state = &self.cursor.state;
        // A task that was never shipped need not be removed there, and its name must not leave.
        let is_new = |(task, until): &(&String, &i64)| {
            state.removed.get(*task) != Some(*until) && !state.skipped.contains(*task)
        };
        let new: Vec<(String, i64)> =
            purged.iter().filter(is_new).take(REMOVED).map(|(task, until)| (task.clone(), *until)).collect();
        let tasks: Vec<String> = new.iter().map(|(task, _)| task.clone()).collect();
        // Nothing was ever sent, so there is nothing to delete there, and the ids of purged tasks stay here.
        if tasks.is_empty() || (state.highest == 0 && state.until == 0) {
            return Ok(None);
        }
        let count = tasks.len() as u64;
        let removed = Removed { version: state.highest, tasks };
        let shipment = Shipment { format: FORMAT, removed: Some(removed), ..Shipment::default() };
        let packed = pack(&shipment, &[]);
        self.carrier.carry(&packed)?;
        self.cursor.state.removed.retain(|task, _| purged.contains_key(task));
        let sent = SendCounts {
            removed: count,
            bytes: packed.len() as u64,
            until: self.cursor.until(),
            ..SendCounts::default()
        };
        self.cursor.state.removed.extend(new);
        self.cursor.save()?;
        Ok(Some(Step::Sent(sent)))
    }
}

/// Makes one part after the other ready, as fast as they are taken.
fn make_ready(source: PartSource<'_>, from: u64, ready: &SyncSender<Result<ShipmentPart, ShipError>>) {
    let mut place = from;
    for _ in 0..PARTS {
        let Some(part) = source.after(place).transpose() else { return };
        let until = part.as_ref().map(|part| part.sent.until).ok();
        // The server accepts no parts behind one that did not arrive.
        if ready.send(part).is_err() {
            return;
        }
        let Some(until) = until else { return };
        place = until;
    }
}

/// A part on its way.
struct PartInFlight<'scope> {
    sent: SendCounts,
    answer: ScopedJoinHandle<'scope, Result<(), ShipError>>,
}

/// Holds the state of a step with parts in flight.
struct SendWindow<'shipper> {
    cursor: &'shipper mut Cursor,
    /// The newest place of the ledger when the window began: nothing of it is behind that.
    newest: u64,
    /// Counts that arrived, if any did.
    arrived: Option<SendCounts>,
    /// The way begins anew.
    again: bool,
}

impl SendWindow<'_> {
    /// Remembers what must be on disk before anything of a part is sent. False: it is not to be sent.
    fn begin(&mut self, part: &ShipmentPart) -> Result<bool, ShipError> {
        for task in &part.held {
            self.cursor.skip(task);
        }
        let state = &mut self.cursor.state;
        let mut was_held = false;
        for task in &part.tasks {
            was_held |= state.skipped.remove(task);
        }
        if was_held && part.from > 0 {
            // What was held back of it is behind us: the whole way is gone once more, which changes nothing else.
            self.again = true;
            return Ok(false);
        }
        // If the machine is lost in between, versions still only grow. Once for the whole window: every time waits for
        // the disk.
        let highest = self.newest.saturating_add(state.base);
        if highest > state.highest {
            state.highest = highest;
            self.cursor.save()?;
        }
        Ok(true)
    }

    /// Waits for the answer to a part, and remembers that it arrived.
    fn acknowledge(&mut self, flight: PartInFlight<'_>) -> Result<(), ShipError> {
        let lost = |_| Err(ShipError::Unreachable("sending ended early".into()));
        flight.answer.join().unwrap_or_else(lost)?;
        self.cursor.state.until = flight.sent.until;
        self.cursor.save()?;
        self.arrived.get_or_insert_default().add(&flight.sent);
        Ok(())
    }

    /// Returns the result of the step.
    fn end(mut self, ended: Result<(), ShipError>) -> Result<Step, ShipError> {
        if self.again {
            self.cursor.state.until = 0;
            self.cursor.save()?;
            self.arrived.get_or_insert_default().until = 0;
        }
        match (ended, self.arrived) {
            (Err(error @ ShipError::Cursor(_)), _) | (Err(error), None) => Err(error),
            (_, Some(sent)) => Ok(Step::Sent(sent)),
            (Ok(()), None) => Ok(Step::UpToDate),
        }
    }
}
