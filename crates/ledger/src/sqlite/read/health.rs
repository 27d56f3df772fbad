//! The health of the store, from stored counts and never by reading all rows.

use std::collections::BTreeMap;

use agent_tracer_event::{Channel, Millis, Outcome};
use rusqlite::{Connection, OptionalExtension};

use super::row::agent_at;
use super::usage_sum::count;
use super::{follower, rollup};
use crate::project::tally::ALL_PROJECTS;
use crate::sqlite::facts::word_at;
use crate::store::Answer;
use crate::view::{OutcomeCounts, OutcomeReason, SourceHealth, StoreHealth, StoreKind, UnrecognisedName};

/// More unknown names than this are not listed.
const MOST_NAMES: i64 = 1_000;

/// More reasons than this are not listed.
const MOST_REASONS: usize = 50;

/// Returns a number of the whole.
pub(crate) fn meta(conn: &Connection, key: &str) -> rusqlite::Result<Option<i64>> {
    conn.prepare_cached("SELECT value FROM meta WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()
}

/// Returns the newest place in the order of delivery.
pub(crate) fn seq(conn: &Connection) -> Answer<u64> {
    Ok(count(meta(conn, "seq")?.unwrap_or(0)))
}

/// Returns the outcomes of all observations.
pub(crate) fn outcomes(conn: &Connection) -> Answer<OutcomeCounts> {
    let mut find = conn.prepare_cached("SELECT outcome, n FROM outcome")?;
    let mut counts = OutcomeCounts::default();
    let mut rows = find.query([])?;
    while let Some(row) = rows.next()? {
        let n = count(row.get(1)?);
        let Some(outcome) = word_at(Outcome::ALL, row.get(0)?) else { continue };
        let sum = match outcome {
            Outcome::Recorded => &mut counts.recorded,
            Outcome::Duplicate => &mut counts.duplicate,
            Outcome::Unrecognised => &mut counts.unrecognised,
            Outcome::Malformed => &mut counts.malformed,
            Outcome::Refused => &mut counts.refused,
        };
        *sum += n;
        counts.received += n;
    }
    Ok(counts)
}

/// Returns the reasons for which observations were malformed or refused, most frequent first.
pub(crate) fn reasons(conn: &Connection) -> Answer<Vec<OutcomeReason>> {
    let mut find = conn.prepare_cached(
        "SELECT outcome, channel, reason, n, last FROM outcome WHERE outcome = ?1 LIMIT ?2",
    )?;
    let mut found: BTreeMap<(Outcome, Channel, String), (u64, i64)> = BTreeMap::new();
    for outcome in [Outcome::Malformed, Outcome::Refused] {
        let mut rows = find.query([outcome as i64, MOST_NAMES])?;
        while let Some(row) = rows.next()? {
            let Some(channel) = word_at(Channel::ALL, row.get(1)?) else { continue };
            let reason: String = row.get(2)?;
            // The place of a fault is in the reason, and tells nothing here.
            let reason = reason.split_once(" at byte ").map_or(reason.as_str(), |(what, _)| what).to_owned();
            let sum = found.entry((outcome, channel, reason)).or_insert((0, i64::MIN));
            sum.0 += count(row.get(3)?);
            sum.1 = sum.1.max(row.get(4)?);
        }
    }
    let listed = |((outcome, channel, reason), (count, last)): ((Outcome, Channel, String), (u64, i64))| {
        let outcome = if outcome == Outcome::Malformed { "malformed" } else { "refused" }.to_owned();
        OutcomeReason { outcome, channel: channel.to_string(), reason, count, last_at: Millis(last) }
    };
    let mut reasons: Vec<OutcomeReason> = found.into_iter().map(listed).collect();
    reasons.sort_by(|one, two| two.count.cmp(&one.count).then_with(|| one.reason.cmp(&two.reason)));
    reasons.truncate(MOST_REASONS);
    Ok(reasons)
}

/// Names that no reader knows, most frequent first.
pub(crate) fn unrecognised(conn: &Connection) -> Answer<Vec<UnrecognisedName>> {
    let mut find = conn.prepare_cached("SELECT agent, version, what, name, n FROM unrecognised LIMIT ?1")?;
    let rows = find.query_map([MOST_NAMES], |row| {
        Ok(UnrecognisedName {
            agent: agent_at(row.get(0)?).to_string(),
            client_version: row.get(1)?,
            what: row.get(2)?,
            name: row.get(3)?,
            count: count(row.get(4)?),
        })
    })?;
    let mut names = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    names.sort_by(|one, two| two.count.cmp(&one.count).then_with(|| one.name.cmp(&two.name)));
    Ok(names)
}

/// Returns where facts come from: the channels, in their order.
pub(crate) fn sources(conn: &Connection) -> Answer<Vec<SourceHealth>> {
    let mut find = conn.prepare_cached("SELECT channel, n, last FROM outcome")?;
    let mut sources: Vec<SourceHealth> = Channel::ALL
        .iter()
        .map(|channel| SourceHealth {
            name: channel.to_string(),
            last_at: None,
            observations: 0,
            files: 0,
            bytes: 0,
            problem: None,
        })
        .collect();
    let mut rows = find.query([])?;
    while let Some(row) = rows.next()? {
        let place: i64 = row.get(0)?;
        let Some(source) = usize::try_from(place).ok().and_then(|place| sources.get_mut(place)) else {
            continue;
        };
        source.observations += count(row.get(1)?);
        source.last_at = source.last_at.max(Some(Millis(row.get(2)?)));
    }
    let (files, bytes): (i64, i64) = conn
        .prepare_cached("SELECT count(*), coalesce(sum(offset), 0) FROM cursor")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if let Some(transcripts) = sources.get_mut(Channel::Transcript as usize) {
        transcripts.files = count(files);
        transcripts.bytes = count(bytes);
    }
    sources.retain(|source| source.observations > 0 || source.files > 0);
    Ok(sources)
}

/// Returns the store.
pub(crate) fn health(conn: &Connection) -> Answer<StoreHealth> {
    let pragma = |name: &str| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let mut events = 0_i64;
    rollup::visit_months(conn, rollup::ProjectChoice::One(ALL_PROJECTS), |rolled| {
        events = events.saturating_add(rolled.sums.n);
    })?;
    let tasks: i64 = conn
        .prepare_cached("SELECT count(*) FROM task INDEXED BY task_newest WHERE events > 0")?
        .query_row([], |row| row.get(0))?;
    Ok(StoreHealth {
        kind: StoreKind::Sqlite.to_string(),
        bytes: count(pragma("page_count")?.saturating_mul(pragma("page_size")?)),
        entries: count(meta(conn, "entries")?.unwrap_or(0)),
        events: count(events),
        tasks: count(tasks),
        search_lag: count(follower::lag(conn)?),
        schema: u32::try_from(pragma("user_version")?).unwrap_or(0),
    })
}
