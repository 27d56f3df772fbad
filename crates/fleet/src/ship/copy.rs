//! Copies everything to another store unchanged: for moving to it, not for sharing.
//!
//! The same cursor and the same versions as on the way to a server, but no policy: nothing is held back or taken out.

use agent_tracer_ledger::Outbox;
use agent_tracer_ledger::shipment::Shipment;

use crate::ship::cursor::Cursor;
use crate::ship::shipper::ShipError;

/// Copies what changed.
pub struct Copier {
    outbox: Outbox,
    cursor: Cursor,
    batch: u32,
}

impl Copier {
    /// Makes a copier that goes on where the cursor is, with about so many facts at once.
    #[must_use]
    pub const fn new(outbox: Outbox, cursor: Cursor, batch: u32) -> Self {
        Self { outbox, cursor, batch }
    }

    /// Returns the position and the end of the copy.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub fn progress(&self) -> Result<(u64, u64), ShipError> {
        Ok((self.cursor.until(), self.outbox.newest()?))
    }

    /// Hands the next part to `store` and then remembers it as done. Returns `false` when nothing is left.
    ///
    /// # Errors
    /// If it cannot be read, stored or remembered. Then the same part is next.
    pub fn step(
        &mut self,
        store: impl FnOnce(&Shipment) -> Result<(), ShipError>,
    ) -> Result<bool, ShipError> {
        let rebuilds = self.outbox.rebuilds()?;
        if self.cursor.state.rebuilds != rebuilds {
            self.cursor.state.rebuilds = rebuilds;
            self.cursor.restart();
            self.cursor.save()?;
        }
        let before = self.cursor.until();
        let Some(shipment) = self.after(before)? else { return Ok(false) };
        // On disk before the store has it: after a crash in between, versions must not begin below what was written.
        let highest = shipment.until.saturating_add(self.cursor.state.base);
        if highest > self.cursor.state.highest {
            self.cursor.state.highest = highest;
            self.cursor.save()?;
        }
        store(&shipment)?;
        self.cursor.state.until = shipment.until;
        self.cursor.save()?;
        Ok(true)
    }

    /// Shows everything that there is, part by part, as it was stored.
    ///
    /// # Errors If it cannot be read, or `look` fails.
    pub fn each(&self, mut look: impl FnMut(&Shipment) -> Result<(), ShipError>) -> Result<(), ShipError> {
        let mut after = 0;
        // What came since is not stored yet.
        while after < self.cursor.until() {
            let Some(mut shipment) = self.after(after)? else { break };
            after = shipment.until;
            let newest = self.cursor.until().saturating_add(self.cursor.state.base);
            shipment.tasks.retain(|task| task.version <= newest);
            shipment.facts.retain(|fact| fact.version <= newest);
            look(&shipment)?;
        }
        Ok(())
    }

    fn after(&self, place: u64) -> Result<Option<Shipment>, ShipError> {
        let mut shipment = self.outbox.after(place, self.batch)?;
        if shipment.until == place {
            return Ok(None);
        }
        let base = self.cursor.state.base;
        for task in &mut shipment.tasks {
            task.version = task.version.saturating_add(base);
        }
        for fact in &mut shipment.facts {
            fact.version = fact.version.saturating_add(base);
        }
        Ok(Some(shipment))
    }
}
