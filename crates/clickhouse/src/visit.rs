//! Who read whose sessions: written by servers, asked by whoever answers for the team.

use clickhouse::Row;
use serde::{Deserialize, Serialize};

use crate::fleet::{Fleet, FleetError, as_it_is, literal};

/// So many are given at once, whatever is asked for.
const MOST: u32 = 10_000;

/// One read.
#[derive(Clone, Debug, PartialEq, Eq, Row, Serialize, Deserialize)]
pub struct Visit {
    /// Whose sessions were read; `*`: a list of everybody's.
    pub owner: String,
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// Who read.
    pub reader: String,
    /// The task; empty: a list.
    pub task: String,
    /// The question, as its path names it.
    pub what: String,
    /// When it was written.
    pub version: u64,
}

impl Visit {
    /// Whose sessions a list of everybody's shows.
    pub const EVERYBODY: &'static str = "*";
}

/// Which reads are asked about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VisitFilter {
    /// Of this person's sessions.
    pub owner: Option<String>,
    /// By this person.
    pub reader: Option<String>,
    /// Not before this moment.
    pub since: Option<i64>,
    /// At most so many.
    pub limit: u32,
}

impl Fleet {
    /// Keeps a read. When this returns, it is stored; the same twice is there once.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub fn note_visit(&self, visit: &Visit) -> Result<(), FleetError> {
        let client = self.client();
        self.wait(async {
            let mut insert = client.insert::<Visit>("visit").await?;
            insert.write(visit).await?;
            insert.end().await
        })
    }

    /// Reads, the newest first.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub fn visits(&self, filter: &VisitFilter) -> Result<Vec<Visit>, FleetError> {
        let mut all = vec!["1".to_owned()];
        all.extend(filter.owner.as_ref().map(|owner| format!("owner = {}", literal(owner))));
        all.extend(filter.reader.as_ref().map(|reader| format!("reader = {}", literal(reader))));
        all.extend(filter.since.map(|since| format!("at >= {since}")));
        let ask = format!(
            "SELECT owner, at, reader, task, toString(what) AS what, version FROM visit FINAL WHERE {} \
             ORDER BY at DESC, owner, reader, task, what LIMIT {}",
            all.join(" AND "),
            filter.limit.clamp(1, MOST)
        );
        self.wait(self.client().query(&as_it_is(&ask)).fetch_all())
    }
}
