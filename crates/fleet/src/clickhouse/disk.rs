//! Reads the size of the rows on disk.

use clickhouse::Row;
use serde::Deserialize;

use crate::clickhouse::fleet::{Fleet, FleetError, as_it_is, literal};

/// Holds the disk usage of a table in one copy: on the only server, or on one replica of every shard.
#[derive(Clone, Debug, PartialEq, Eq, Row, Deserialize)]
pub struct DiskUsage {
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
    /// Returns the disk usage of every table.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub fn disk_usage(&self) -> Result<Vec<DiskUsage>, FleetError> {
        let ask = format!(
            "SELECT replaceRegexpOne(table, '_local$', '') AS table, toUInt64(count()) AS parts, toUInt64(sum(rows)) AS rows, \
             toUInt64(sum(bytes_on_disk)) AS bytes FROM {} WHERE database = {} AND active GROUP BY table ORDER BY table",
            self.layout().about_itself("parts"),
            literal(self.database())
        );
        self.wait(self.client().query(&as_it_is(&ask)).fetch_all())
    }

    /// Returns the number of running merges, on the only server or on one replica of every shard.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub fn merges(&self) -> Result<u64, FleetError> {
        let ask = format!(
            "SELECT count() FROM {} WHERE database = {}",
            self.layout().about_itself("merges"),
            literal(self.database())
        );
        self.wait(self.client().query(&as_it_is(&ask)).fetch_one())
    }
}
