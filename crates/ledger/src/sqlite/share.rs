//! The share of one task in the totals that retention keeps.
//!
//! Totals are sums of all tasks. Deleting a task on purpose must subtract its share, but by then retention has dropped
//! its events. The share is therefore stored when they are dropped. It names texts by their number among the words, as
//! the totals do.

use rusqlite::{OptionalExtension, params};
use serde::{Deserialize, Serialize};

use super::append::FoldTransaction;
use super::{codec, words};
use crate::project::measures::Measures;
use crate::project::tally::{Dim, Finest, Tally};

/// The part of one task, as it is written.
#[derive(Default, Serialize, Deserialize)]
struct Share {
    sums: Vec<SumPart>,
    durations: Vec<DurationPart>,
}

/// A sum over time: dimension, beginning, project, actor, key, numbers.
type SumPart = (i64, i64, i64, i64, i64, Vec<i64>);

/// Durations of a tool: day, project, actor, tool, how many in each bucket.
type DurationPart = (i64, i64, i64, i64, Vec<(i64, i64)>);

impl FoldTransaction<'_> {
    /// Adds sums of a task to those that belong to the ledger, and writes down that they are its.
    pub(super) fn seal(&mut self, task: i64, sums: &Tally) -> rusqlite::Result<()> {
        self.add_rollups("sealed_rollup", sums)?;
        self.add_latencies("sealed_latency", sums)?;
        // It may have been sealed before, and have gone on.
        let mut share = self.share(task)?.unwrap_or_default();
        for (Finest { dim, at, project, actor }, keys) in &sums.rollups {
            for (key, measures) in keys.iter().filter(|(_, measures)| !measures.is_zero()) {
                let key = self.memory.words.id(self.conn, key)?;
                share.sums.push((dim.code(), *at, *project, *actor, key, measures.share(*dim)));
            }
        }
        for ((day, project, actor), tools) in &sums.latencies {
            for (tool, buckets) in tools {
                let tool = self.memory.words.id(self.conn, tool)?;
                let buckets = buckets.iter().map(|(bucket, n)| (*bucket, *n)).collect();
                share.durations.push((*day, *project, *actor, tool, buckets));
            }
        }
        self.conn
            .prepare_cached("INSERT OR REPLACE INTO sealed_share (task, data) VALUES (?1, ?2)")?
            .execute(params![task, codec::encode_json(&share)])?;
        Ok(())
    }

    fn share(&self, task: i64) -> rusqlite::Result<Option<Share>> {
        let blob: Option<Vec<u8>> = self
            .conn
            .prepare_cached("SELECT data FROM sealed_share WHERE task = ?1")?
            .query_row([task], |row| row.get(0))
            .optional()?;
        Ok(blob.and_then(|blob| codec::decode_json(&blob).ok()))
    }

    /// Subtracts the share of a task from the totals. Returns `false` if its share is unknown.
    pub(super) fn unseal(&mut self, task: i64) -> rusqlite::Result<bool> {
        let Some(share) = self.share(task)? else { return Ok(false) };
        let mut less = Tally::default();
        for (dim, at, project, actor, key, numbers) in share.sums {
            let dim = usize::try_from(dim).ok().and_then(|code| Dim::ALL.get(code).copied());
            let (Some(dim), Some(key)) = (dim, words::text(self.conn, key)?) else { continue };
            let keys = less.rollups.entry(Finest { dim, at, project, actor }).or_default();
            *keys.entry(key).or_default() += Measures::of_share(&numbers, dim).times(-1);
        }
        for (day, project, actor, tool, buckets) in share.durations {
            let Some(tool) = words::text(self.conn, tool)? else { continue };
            let sums = less.latencies.entry((day, project, actor)).or_default().entry(tool).or_default();
            for (bucket, n) in buckets {
                *sums.entry(bucket).or_default() -= n;
            }
        }
        for (sums, durations) in [("sealed_rollup", "sealed_latency"), ("rollup", "latency")] {
            self.add_rollups(sums, &less)?;
            self.add_latencies(durations, &less)?;
        }
        Ok(true)
    }
}
