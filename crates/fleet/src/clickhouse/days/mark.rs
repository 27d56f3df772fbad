//! Marks days before anything of them changes.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use clickhouse::Row;
use serde::{Deserialize, Serialize};

use super::{DAY_MS, NOW, OPEN_MS, day_of};
use crate::clickhouse::fleet::{Fleet, FleetError, any_of, as_it_is, literal};

/// Time for which this process does not mark the same day again. Far shorter than the grace period before sums are
/// made.
const REMEMBERED: Duration = Duration::from_secs(30);

/// Limit of tasks that one statement looks up.
const AT_ONCE: usize = 1_000;

/// A day of an owner.
pub(crate) type OwnersDay = (String, i64);

/// Holds the days that this process marked a moment ago.
#[derive(Debug, Default)]
pub(crate) struct Marks(Mutex<HashMap<OwnersDay, Instant>>);

impl Marks {
    /// Returns those of the given days that this process has not marked lately.
    fn unknown(&self, days: BTreeSet<OwnersDay>) -> Vec<OwnersDay> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, at| at.elapsed() < REMEMBERED);
        days.into_iter().filter(|day| !known.contains_key(day)).collect()
    }

    fn remember(&self, days: &[OwnersDay], at: Instant) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.extend(days.iter().map(|day| (day.clone(), at)));
    }

    pub(super) fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// A row of `day_mark`.
#[derive(Clone, Debug, PartialEq, Eq, Row, Serialize, Deserialize)]
pub(super) struct Mark {
    pub(super) owner: String,
    pub(super) day: i64,
    pub(super) version: u64,
    pub(super) gone: u8,
}

/// Holds the time of the database and the days in which some tasks have facts.
#[derive(Row, Deserialize)]
struct AffectedDays {
    now: i64,
    days: Vec<OwnersDay>,
}

/// Returns the version of a mark that is made at a moment. Between two of them there is room for one that takes the
/// first away.
pub(super) fn version(at: i64) -> u64 {
    u64::try_from(at).unwrap_or(0).saturating_mul(2)
}

/// Builds the statement that marks every day that has facts or sums and may be closed.
pub(crate) fn all_days_marked() -> String {
    format!(
        "INSERT INTO day_mark (owner, day, version, gone) \
         SELECT DISTINCT owner, day, toUInt64({NOW}) * 2 AS version, 0 AS gone FROM ( \
           SELECT owner, day FROM task_day WHERE day < {} UNION ALL SELECT owner, day FROM day_sum)",
        day_of(&format!("({NOW} - {OPEN_MS})"))
    )
}

/// Holds the lines of a pending write, as far as days are concerned.
#[derive(Debug, Default)]
pub(crate) struct PendingLines<'line> {
    /// The tasks that anything is written of.
    pub(crate) tasks: BTreeSet<(&'line str, &'line str)>,
    /// Days that facts are written into.
    pub(crate) days: BTreeSet<(&'line str, i64)>,
}

impl Fleet {
    /// Marks every closed day that a change can touch, does it, and sees that the marks were still young at its end.
    ///
    /// A fact may leave the day in which its older version stands, and a task may be found to be of another project. So
    /// a change touches all days that any version of any fact of its tasks stands in, and those it writes into.
    pub(crate) fn with_days_marked(
        &self,
        change: &PendingLines<'_>,
        write: impl FnOnce() -> Result<(), FleetError>,
    ) -> Result<(), FleetError> {
        let begun = Instant::now();
        let days = self.touched(change)?;
        self.mark(&days)?;
        write()?;
        // A slow insert may end after the grace period of its own mark, when the sums were made without it.
        if begun.elapsed() > REMEMBERED && !days.is_empty() {
            self.marks().forget();
            self.mark(&days)?;
        }
        Ok(())
    }

    /// Returns the days that may be closed among those that a change touches.
    fn touched(&self, change: &PendingLines<'_>) -> Result<BTreeSet<OwnersDay>, FleetError> {
        let tasks: Vec<&(&str, &str)> = change.tasks.iter().collect();
        let mut days = BTreeSet::new();
        let mut open = i64::MIN;
        for part in tasks.chunks(AT_ONCE) {
            let keys: Vec<String> =
                part.iter().map(|(owner, task)| format!("({}, {})", literal(owner), literal(task))).collect();
            // The days of every version: the oldest may be the one that a day's sums were made of.
            let ask = format!(
                "SELECT {NOW} AS now, groupUniqArray((owner, day)) AS days FROM task_day \
                 WHERE (owner, task) IN ({}) AND owner IN {} AND day < {}",
                keys.join(", "),
                any_of(part.iter().map(|(owner, _)| *owner)),
                day_of(&format!("({NOW} - {OPEN_MS})"))
            );
            let found: AffectedDays = self.wait(self.client().query(&as_it_is(&ask)).fetch_one())?;
            open = found.now.saturating_sub(OPEN_MS);
            days.extend(found.days);
        }
        let open = open.saturating_sub(open.rem_euclid(DAY_MS));
        let written = change.days.iter().filter(|(_, day)| *day < open);
        days.extend(written.map(|(owner, day)| ((*owner).to_owned(), *day)));
        Ok(days)
    }

    fn mark(&self, days: &BTreeSet<OwnersDay>) -> Result<(), FleetError> {
        let begun = Instant::now();
        let days = self.marks().unknown(days.clone());
        if days.is_empty() {
            return Ok(());
        }
        let now = self.clock()?;
        self.put_marks(days.iter().map(|(owner, day)| Mark {
            owner: owner.clone(),
            day: *day,
            version: version(now),
            gone: 0,
        }))?;
        // The moment before the write: a slow one must not let a mark count as younger than it is.
        self.marks().remember(&days, begun);
        Ok(())
    }

    /// Builds the days that facts which meet a condition stand in, in any version.
    pub(crate) fn days_of(&self, facts: &str) -> Result<BTreeSet<OwnersDay>, FleetError> {
        let ask = format!("SELECT DISTINCT owner, {} AS day FROM fact WHERE {facts}", day_of("occurred"));
        let found: Vec<OwnersDay> = self.wait(self.client().query(&as_it_is(&ask)).fetch_all())?;
        Ok(found.into_iter().collect())
    }

    /// Leaves the sums of these days alone for so long, whatever happens meanwhile.
    pub(crate) fn mark_ahead(&self, days: &BTreeSet<OwnersDay>, ahead_ms: i64) -> Result<(), FleetError> {
        if days.is_empty() {
            return Ok(());
        }
        let until = self.clock()?.saturating_add(ahead_ms);
        self.put_marks(days.iter().map(|(owner, day)| Mark {
            owner: owner.clone(),
            day: *day,
            version: version(until),
            gone: 0,
        }))
    }

    /// Marks every day that has facts or sums, so that all sums are made again. Gives how many wait then.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub fn mark_all_days(&self) -> Result<u64, FleetError> {
        self.run(&all_days_marked())?;
        self.days_marked()
    }

    pub(super) fn put_marks(&self, marks: impl Iterator<Item = Mark>) -> Result<(), FleetError> {
        self.wait(async {
            let mut insert = self.client().insert::<Mark>("day_mark").await?;
            for mark in marks {
                insert.write(&mark).await?;
            }
            insert.end().await
        })
    }

    /// Returns the time of the database, in milliseconds since 1970.
    pub(crate) fn clock(&self) -> Result<i64, FleetError> {
        self.wait(self.client().query(&format!("SELECT {NOW}")).fetch_one())
    }
}
