//! Reads and writes the access log: servers write who opened the sessions of another person, administrators read it.

use agent_tracer_ledger::Answer;
use agent_tracer_ledger::engine::cursor::{self, List as Listing};
use agent_tracer_ledger::view::Page;
use agent_tracer_server::AuditFilter;
use clickhouse::Row;
use serde::{Deserialize, Serialize};

use crate::clickhouse::fleet::{Fleet, FleetError, as_it_is, literal};

/// Limit of entries in one answer, whatever limit the caller gives.
const MOST: u32 = 10_000;

/// One read.
#[derive(Clone, Debug, PartialEq, Eq, Row, Serialize, Deserialize)]
pub struct AccessEntry {
    /// Owner of the opened sessions; `*` stands for a list of all owners.
    pub owner: String,
    /// Time of the access, in milliseconds since 1970.
    pub at: i64,
    /// Name of the reader.
    pub reader: String,
    /// The task; empty: a list.
    pub task: String,
    /// The question, as its path names it.
    pub what: String,
    /// Time at which the entry was written.
    pub version: u64,
}

impl AccessEntry {
    /// Stands for the owner of a list of all owners.
    pub const ALL_OWNERS: &'static str = "*";
}

/// A read, and its place among those of one moment.
#[derive(Row, Deserialize)]
struct AccessRow {
    owner: String,
    at: i64,
    reader: String,
    task: String,
    what: String,
    version: u64,
    place: i64,
}

/// SQL expression that orders entries of the same time, stable between queries.
// Accesses of one millisecond need an order that a cursor can go on from, and the table has no number. A hash of the
// key is the same on every server and in every merge.
const PLACE: &str = "reinterpretAsInt64(cityHash64(owner, reader, task, what))";

impl Fleet {
    /// Keeps a read. When this returns, it is stored; the same twice is there once.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub fn record_access(&self, visit: &AccessEntry) -> Result<(), FleetError> {
        let client = self.client();
        self.wait(async {
            let mut insert = client.insert::<AccessEntry>("visit").await?;
            insert.write(visit).await?;
            insert.end().await
        })
    }

    /// Returns at most `limit` reads, the newest first. The filter's paging does not count.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub fn access_log(&self, filter: &AuditFilter, limit: u32) -> Result<Vec<AccessEntry>, FleetError> {
        let limit = limit.clamp(1, MOST);
        Ok(self.access_entries(filter, None, limit)?.into_iter().map(|(visit, _)| visit).collect())
    }

    /// Returns a page of reads, the newest first.
    ///
    /// # Errors
    /// If the cursor is none, or the database cannot answer.
    pub fn access_page(&self, filter: &AuditFilter) -> Answer<Page<AccessEntry>> {
        let before = cursor::page_start::<2>(Listing::Visits, &filter.paging)?;
        let limit = cursor::limit(&filter.paging);
        let found = self.access_entries(filter, before, u32::try_from(limit + 1).unwrap_or(MOST))?;
        let page = cursor::cut(Listing::Visits, limit, found, |(visit, place)| [visit.at, *place]);
        Ok(page.map(|(visit, _)| visit))
    }

    fn access_entries(
        &self,
        filter: &AuditFilter,
        before: Option<[i64; 2]>,
        limit: u32,
    ) -> Result<Vec<(AccessEntry, i64)>, FleetError> {
        let mut all = vec!["1".to_owned()];
        all.extend(filter.owner.as_ref().map(|owner| format!("owner = {}", literal(owner))));
        all.extend(filter.reader.as_ref().map(|reader| format!("reader = {}", literal(reader))));
        all.extend(filter.since.map(|since| format!("at >= {}", since.0)));
        all.extend(filter.until.map(|until| format!("at < {}", until.0)));
        all.extend(before.map(|[at, place]| format!("(at, {PLACE}) < ({at}, {place})")));
        let ask = format!(
            "SELECT owner, at, reader, task, toString(what) AS what, version, {PLACE} AS place FROM visit FINAL \
             WHERE {} ORDER BY at DESC, place DESC LIMIT {limit}",
            all.join(" AND ")
        );
        let found: Vec<AccessRow> = self.wait(self.client().query(&as_it_is(&ask)).fetch_all())?;
        let split = |placed: AccessRow| {
            let AccessRow { owner, at, reader, task, what, version, place } = placed;
            (AccessEntry { owner, at, reader, task, what, version }, place)
        };
        Ok(found.into_iter().map(split).collect())
    }
}
