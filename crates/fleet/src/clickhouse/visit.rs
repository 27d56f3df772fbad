//! Who read whose sessions: written by servers, asked by whoever answers for the team.

use agent_tracer_ledger::Answer;
use agent_tracer_ledger::engine::cursor::{self, List as Listing};
use agent_tracer_ledger::view::Page;
use agent_tracer_server::AuditFilter;
use clickhouse::Row;
use serde::{Deserialize, Serialize};

use crate::clickhouse::fleet::{Fleet, FleetError, as_it_is, literal};

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

/// A read, and its place among those of one moment.
#[derive(Row, Deserialize)]
struct Placed {
    owner: String,
    at: i64,
    reader: String,
    task: String,
    what: String,
    version: u64,
    place: i64,
}

/// Tells reads of one moment apart, the same for whoever asks.
const PLACE: &str = "reinterpretAsInt64(cityHash64(owner, reader, task, what))";

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

    /// Returns at most `limit` reads, the newest first. The filter's paging does not count.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub fn visits(&self, filter: &AuditFilter, limit: u32) -> Result<Vec<Visit>, FleetError> {
        let limit = limit.clamp(1, MOST);
        Ok(self.placed(filter, None, limit)?.into_iter().map(|(visit, _)| visit).collect())
    }

    /// Returns a page of reads, the newest first.
    ///
    /// # Errors
    /// If the cursor is none, or the database cannot answer.
    pub fn visit_page(&self, filter: &AuditFilter) -> Answer<Page<Visit>> {
        let before = cursor::place::<2>(Listing::Visits, &filter.paging)?;
        let limit = cursor::limit(&filter.paging);
        let found = self.placed(filter, before, u32::try_from(limit + 1).unwrap_or(MOST))?;
        let page = cursor::cut(Listing::Visits, limit, found, |(visit, place)| [visit.at, *place]);
        Ok(page.map(|(visit, _)| visit))
    }

    fn placed(
        &self,
        filter: &AuditFilter,
        before: Option<[i64; 2]>,
        limit: u32,
    ) -> Result<Vec<(Visit, i64)>, FleetError> {
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
        let found: Vec<Placed> = self.wait(self.client().query(&as_it_is(&ask)).fetch_all())?;
        let split = |placed: Placed| {
            let Placed { owner, at, reader, task, what, version, place } = placed;
            (Visit { owner, at, reader, task, what, version }, place)
        };
        Ok(found.into_iter().map(split).collect())
    }
}
