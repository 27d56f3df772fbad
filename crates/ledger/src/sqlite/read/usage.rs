//! Usage by time and by other dimensions.
//!
//! Local days are not UTC days. The sum between two moments is the sum of the whole UTC days between them, plus or
//! minus the quarter-hours at each end. Because sums can be subtracted, each end reads at most half a day.

use std::collections::BTreeMap;

use agent_tracer_event::Millis;
use rusqlite::Connection;

use super::bucket::{Bucket, Models};
use super::cursor::{self, List};
use super::insights::{Window, window};
use super::rollup::{self, Members, ProjectChoice, Scope};
use super::tasks;
use crate::project::presenters::numbers::usage_bucket;
use crate::project::spend::Spend;
use crate::project::tally::Dim;
use crate::project::time::{Level, Piece};
use crate::shipment::TaskSpend;
use crate::store::{Answer, QueryError, Range, UsageBy, Zone};
use crate::view::{Page, UsageBucket};

const DAY_MS: i64 = 86_400_000;

/// More stretches than this are not listed: a day for each of some hundred years.
const MOST_STRETCHES: usize = 40_000;

/// Returns the error of a grouping that only a team has.
pub(super) fn of_one_machine() -> QueryError {
    QueryError::Bad("this store is of one machine; only a team's tells owners and machines apart".to_owned())
}

/// Returns the tasks with events in the range, newest first, each with everything that it spent.
pub(super) fn by_task(conn: &Connection, range: &Range) -> Answer<Page<UsageBucket>> {
    let before = cursor::page_start::<2>(List::Usage, &range.paging)?;
    let limit = cursor::limit(&range.paging);
    if Scope::of_range(conn, range)?.is_none() {
        return Ok(Page::whole(Vec::new()));
    }
    let places = tasks::in_range(conn, range, before, limit.saturating_add(1))?;
    let page = cursor::cut(List::Usage, limit, places, |(last, id)| [*last, *id]);
    let columns = TaskSpend::columns();
    let mut load =
        conn.prepare_cached(&format!("SELECT t.uid, t.title, {columns} FROM task t WHERE t.id = ?1"))?;
    let mut items = Vec::with_capacity(page.items.len());
    for (_, id) in page.items {
        items.push(load.query_row([id], |row| {
            let title: String = row.get(1)?;
            let usage = TaskSpend::read(row, 2)?.usage().view();
            Ok(UsageBucket {
                key: row.get(0)?,
                label: Some(title).filter(|title| !title.is_empty()),
                owner: None,
                usage,
            })
        })?);
    }
    Ok(Page { items, next_cursor: page.next_cursor })
}

/// Returns days, weeks or months of the asker, oldest first. Those without any response are left out.
pub(super) fn by_time(
    conn: &Connection,
    range: &Range,
    by: UsageBy,
    zone: &dyn Zone,
) -> Answer<Page<UsageBucket>> {
    let after = cursor::page_start::<1>(List::Usage, &range.paging)?;
    let Some(Window { span: (from, to), scope }) = window(conn, range)? else {
        return Ok(Page::whole(Vec::new()));
    };
    let stretches = local_stretches(from, to, by, zone);
    let mut reader = Reader {
        conn,
        of: ProjectChoice::scope(&scope),
        members: Members::new(conn, &scope),
        models: Models::new(conn),
        edges: BTreeMap::new(),
    };
    let days = reader.days(from, to)?;
    let mut items = Vec::new();
    for stretch in stretches.into_iter().filter(|stretch| after.is_none_or(|[after]| stretch.at > after)) {
        // Most days of a long time are empty; their ends need not be looked at.
        let around = nearest_day(stretch.from) - DAY_MS..nearest_day(stretch.to) + DAY_MS;
        if days.range(around).next().is_none() {
            continue;
        }
        let mut bucket = Bucket::default();
        for (_, day) in days.range(nearest_day(stretch.from)..nearest_day(stretch.to)) {
            bucket.add_all(day, 1);
        }
        bucket.add_all(&reader.edge(stretch.to)?, 1);
        bucket.add_all(&reader.edge(stretch.from)?, -1);
        if !bucket.is_empty() {
            items.push((stretch, bucket));
        }
    }
    let page = cursor::cut(List::Usage, cursor::limit(&range.paging), items, |(stretch, _)| [stretch.at]);
    Ok(page.map(|(stretch, bucket)| usage_bucket(stretch.name, &bucket)))
}

/// A day, week or month of the asker, as far as it is in the range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalStretch {
    /// The first day of it, as days since 1970 by the asker's calendar.
    pub at: i64,
    /// The name: `2026-11-16`, or `2026-11` for a month.
    pub name: String,
    /// The moments between which it is, in UTC.
    pub from: i64,
    /// The end of it.
    pub to: i64,
}

/// Returns the beginning of an asker's day as a moment.
fn moment_of(day: i64, zone: &dyn Zone) -> i64 {
    let local = day.saturating_mul(DAY_MS);
    // What the clock shows at the beginning of the day tells the offset, unless it changes just there.
    let guess = local.saturating_sub(i64::from(zone.offset_seconds(Millis(local))) * 1_000);
    let moment = local.saturating_sub(i64::from(zone.offset_seconds(Millis(guess))) * 1_000);
    Level::Quarter.start(moment)
}

fn local_day(at: i64, zone: &dyn Zone) -> i64 {
    at.saturating_add(i64::from(zone.offset_seconds(Millis(at))) * 1_000).div_euclid(DAY_MS)
}

/// Returns the first day of the stretch that holds a day, and that of the next.
fn stretch_of(day: i64, by: UsageBy) -> (i64, i64) {
    match by {
        UsageBy::Week => {
            // 1970 began on a Thursday: three days after a Monday.
            let monday = day - (day + 3).rem_euclid(7);
            (monday, monday + 7)
        }
        UsageBy::Month => {
            let at = day.saturating_mul(DAY_MS);
            (Level::Month.start(at).div_euclid(DAY_MS), Level::Month.end(at).div_euclid(DAY_MS))
        }
        _ => (day, day + 1),
    }
}

/// Returns the stretches of the asker between two moments, oldest first.
pub fn local_stretches(from: i64, to: i64, by: UsageBy, zone: &dyn Zone) -> Vec<LocalStretch> {
    let (from, to) = Level::Quarter.around((from, to));
    let mut stretches = Vec::new();
    let mut day = local_day(from, zone);
    let mut begins = from;
    while begins < to && stretches.len() < MOST_STRETCHES {
        let (first, next) = stretch_of(day, by);
        let ends = moment_of(next, zone).clamp(begins, to);
        let name = Millis(first.saturating_mul(DAY_MS)).to_string();
        let letters = if by == UsageBy::Month { 7 } else { 10 };
        let name: String = name.chars().take(letters).collect();
        if ends > begins {
            stretches.push(LocalStretch { at: first, name, from: begins, to: ends });
        }
        begins = ends;
        day = next;
    }
    stretches
}

/// Returns the beginning of the UTC day that is nearest to a moment.
fn nearest_day(at: i64) -> i64 {
    Level::Day.start(at.saturating_add(DAY_MS / 2))
}

/// Reads sums and remembers those at the ends.
struct Reader<'conn> {
    conn: &'conn Connection,
    of: ProjectChoice,
    members: Members<'conn>,
    models: Models<'conn>,
    edges: BTreeMap<i64, Bucket>,
}

impl Reader<'_> {
    fn sum(
        &mut self,
        level: Level,
        from: i64,
        to: i64,
        mut seen: impl FnMut(i64, Spend, Option<&str>),
    ) -> rusqlite::Result<()> {
        let (members, models) = (&mut self.members, &mut self.models);
        let piece = Piece { level, from, to };
        rollup::visit_piece(self.conn, Dim::Model, &piece, self.of, &mut |rolled| {
            if members.has(rolled.actor)? {
                seen(rolled.at, rolled.sums.spend, models.split(rolled.key)?.1);
            }
            Ok(())
        })
    }

    /// Returns the sums of every UTC day around a range.
    fn days(&mut self, from: i64, to: i64) -> rusqlite::Result<BTreeMap<i64, Bucket>> {
        let mut days: BTreeMap<i64, Bucket> = BTreeMap::new();
        let first = Level::Day.start(from.saturating_sub(DAY_MS));
        let last = Level::Day.end(to.saturating_add(DAY_MS));
        self.sum(Level::Day, first, last, |at, part, reason| {
            days.entry(at).or_default().add(part, reason, 1);
        })?;
        Ok(days)
    }

    /// Returns the usage between the nearest UTC midnight and a moment, negative if the moment is before midnight.
    fn edge(&mut self, at: i64) -> rusqlite::Result<Bucket> {
        if let Some(bucket) = self.edges.get(&at) {
            return Ok(bucket.clone());
        }
        let midnight = nearest_day(at);
        let sign = if midnight <= at { 1 } else { -1 };
        let mut bucket = Bucket::default();
        self.sum(Level::Quarter, midnight.min(at), midnight.max(at), |_, part, reason| {
            bucket.add(part, reason, sign);
        })?;
        self.edges.insert(at, bucket.clone());
        Ok(bucket)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Utc;

    struct FixedOffset(i32);

    impl Zone for FixedOffset {
        fn offset_seconds(&self, _: Millis) -> i32 {
            self.0
        }
    }

    /// Two hours ahead until a moment, one hour from then on.
    struct OffsetSwitch(i64);

    impl Zone for OffsetSwitch {
        fn offset_seconds(&self, at: Millis) -> i32 {
            if at.0 < self.0 { 7_200 } else { 3_600 }
        }
    }

    fn at(text: &str) -> i64 {
        Millis::parse(text).unwrap().0
    }

    fn names(stretches: &[LocalStretch]) -> Vec<&str> {
        stretches.iter().map(|stretch| stretch.name.as_str()).collect()
    }

    #[test]
    fn weeks_begin_on_monday_and_months_on_their_first() {
        let weeks =
            local_stretches(at("2026-11-14T12:00:00Z"), at("2026-11-17T00:00:00Z"), UsageBy::Week, &Utc);
        assert_eq!(names(&weeks), ["2026-11-09", "2026-11-16"]);
        let months =
            local_stretches(at("2026-10-31T23:00:00Z"), at("2026-11-01T01:00:00Z"), UsageBy::Month, &Utc);
        assert_eq!(names(&months), ["2026-10", "2026-11"]);
    }

    #[test]
    fn days_are_those_of_the_asker() {
        let days = local_stretches(
            at("2026-11-14T20:00:00Z"),
            at("2026-11-15T20:00:00Z"),
            UsageBy::Day,
            &FixedOffset(19_800),
        );
        assert_eq!(names(&days), ["2026-11-15", "2026-11-16"]);
        assert_eq!(days[0].to, at("2026-11-15T18:30:00Z"));
        let west = local_stretches(
            at("2026-11-15T03:00:00Z"),
            at("2026-11-15T09:00:00Z"),
            UsageBy::Day,
            &FixedOffset(-18_000),
        );
        assert_eq!(names(&west), ["2026-11-14", "2026-11-15"]);
        assert_eq!(west[0].to, at("2026-11-15T05:00:00Z"));
    }

    #[test]
    fn a_day_on_which_clocks_go_back_is_an_hour_longer() {
        let change = at("2026-10-25T01:00:00Z");
        let days = local_stretches(
            at("2026-10-23T22:00:00Z"),
            at("2026-10-26T23:00:00Z"),
            UsageBy::Day,
            &OffsetSwitch(change),
        );
        let hours: Vec<i64> = days.iter().map(|day| (day.to - day.from) / 3_600_000).collect();
        assert_eq!(names(&days), ["2026-10-24", "2026-10-25", "2026-10-26"]);
        assert_eq!(hours, [24, 25, 24]);
    }
}
