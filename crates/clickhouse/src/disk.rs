//! How the rows lie on disk.

use clickhouse::Row;
use serde::Deserialize;

use crate::fleet::{Fleet, FleetError};

/// What a table has on disk, on the server that was asked.
#[derive(Clone, Debug, PartialEq, Eq, Row, Deserialize)]
pub struct OnDisk {
    /// The table.
    pub table: String,
    /// Parts that are read.
    pub parts: u64,
    /// Rows, with older versions that no merge has dropped yet.
    pub rows: u64,
    /// Their bytes, with keys and indexes.
    pub bytes: u64,
}

impl Fleet {
    /// What every table has on disk.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub fn on_disk(&self) -> Result<Vec<OnDisk>, FleetError> {
        let ask = "SELECT table, toUInt64(count()) AS parts, toUInt64(sum(rows)) AS rows, \
            toUInt64(sum(bytes_on_disk)) AS bytes FROM system.parts \
            WHERE database = currentDatabase() AND active GROUP BY table ORDER BY table";
        self.wait(self.client().query(ask).fetch_all())
    }

    /// How many merges run at this moment.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub fn merges(&self) -> Result<u64, FleetError> {
        let ask = "SELECT count() FROM system.merges WHERE database = currentDatabase()";
        self.wait(self.client().query(ask).fetch_one())
    }
}
