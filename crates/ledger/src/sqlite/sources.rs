//! Records where entries come from: files that are read in parts, and observations that came on their own.

use agent_tracer_event::Channel;
use rusqlite::{OptionalExtension, params};
use xxhash_rust::xxh3::xxh3_64;

use super::append::FoldTransaction;
use super::codec;
use super::prepared::PreparedEntry;
use crate::observation::Observed;

/// Equal bytes of one session within this time are one event reported twice. The index of payloads has stretches of it.
const TWIN_MS: i64 = 5_000;

/// Equal bytes that were both posted over HTTP are one event for longer: a sender that got no answer is asked to wait for
/// five seconds (`Retry-After`), and may have to do so more than once.
const RETRY_MS: i64 = 20_000;

/// The relation of an observation to those seen before.
pub(super) enum Arrival {
    /// It is new. Its source has this number.
    New(i64),
    /// It was seen before.
    Known,
    /// Another reported the same at the same time, and a little earlier.
    Twin,
}

/// A source's name as it is looked up: the time that it begins with, if it does, and a hash of the whole. Names of one
/// time stand together, so that what arrives now is compared with a few pages and not with the whole history.
pub(super) type SourceKey = (i64, i64);

pub(super) fn name_of(source: &str) -> SourceKey {
    /// Names of envelopes begin with the moment of their arrival: so many digits of it are some tenths of a second.
    const TIME_DIGITS: usize = 12;
    let digits = source.get(..TIME_DIGITS).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    let time = digits.and_then(|digits| digits.parse().ok()).unwrap_or(0);
    (time, xxh3_64(source.as_bytes()).cast_signed())
}

impl FoldTransaction<'_> {
    /// Returns the source of a file's rows.
    pub(super) fn file(&mut self, file: &str, observed: &Observed) -> rusqlite::Result<i64> {
        if let Some(id) = self.files.get(file) {
            return Ok(*id);
        }
        let name = name_of(file);
        let id = match self.known_source(name)? {
            Some(id) => id,
            None => self.insert_source(observed, name, None, None, &[])?,
        };
        self.files.insert(file.to_owned(), id);
        Ok(id)
    }

    pub(super) fn known_source(&self, (time, name): SourceKey) -> rusqlite::Result<Option<i64>> {
        self.conn
            .prepare_cached("SELECT id FROM source WHERE time = ?1 AND name = ?2")?
            .query_row([time, name], |row| row.get(0))
            .optional()
    }

    fn insert_source(
        &mut self,
        observed: &Observed,
        (time, name): SourceKey,
        payload: Option<i64>,
        kept: Option<&[u8]>,
        ready: &[PreparedEntry],
    ) -> rusqlite::Result<i64> {
        let mut kept = kept;
        for entry in ready.iter().filter_map(PreparedEntry::entry) {
            // Of what was deleted on purpose not even the bytes come back.
            if kept.is_some() && self.is_deleted(entry)? {
                kept = None;
            }
        }
        let task = match ready.first().filter(|_| kept.is_some()) {
            Some(first) => Some(self.task(first.task())?),
            None => None,
        };
        self.conn
            .prepare_cached(
                "INSERT INTO source (task, time, name, agent, channel, arrived, payload, kept) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute(params![
                task,
                time,
                name,
                observed.agent.place() as i64,
                observed.channel as i64,
                observed.arrived.0,
                payload,
                kept.map(|bytes| codec::encode(&[observed.name.as_bytes(), b"\n", bytes].concat()))
            ])?;
        Ok(self.conn.last_insert_rowid())
    }

    /// Returns the source of an observation of its own, which says this.
    pub(super) fn source(
        &mut self,
        observed: &Observed,
        name: SourceKey,
        ready: &[PreparedEntry],
    ) -> rusqlite::Result<Arrival> {
        if self.known_source(name)?.is_some() {
            return Ok(Arrival::Known);
        }
        let payload = observed.payload.map(u64::cast_signed);
        if let Some(payload) = payload {
            let at = observed.arrived.0;
            let twin = match self.find_twin(payload, at)? {
                None if observed.channel == Channel::Http => self.retried(payload, at)?,
                twin => twin,
            };
            if let Some((id, arrived, other)) = twin {
                if (arrived, other) <= (at, name.1) {
                    // Its name is remembered, so that it is known when it is brought again.
                    self.insert_source(observed, name, None, None, &[])?;
                    return Ok(Arrival::Twin);
                }
                // Of two that tell the same, the earlier one counts, whichever was brought first.
                self.withdraw(id)?;
                self.conn
                    .prepare_cached("UPDATE source SET payload = NULL, kept = NULL WHERE id = ?1")?
                    .execute([id])?;
            }
        }
        self.insert_source(observed, name, payload, observed.kept.as_deref(), ready).map(Arrival::New)
    }

    /// Finds a source that said the same at about the same time, on any channel.
    fn find_twin(&self, payload: i64, at: i64) -> rusqlite::Result<Option<(i64, i64, i64)>> {
        self.conn
            .prepare_cached(
                "SELECT id, arrived, name FROM source WHERE arrived / 5000 IN (?2 / 5000, ?3 / 5000, ?4 / 5000) \
                 AND payload = ?1 AND arrived BETWEEN ?2 AND ?4 LIMIT 1",
            )?
            .query_row([payload, at - TWIN_MS, at, at + TWIN_MS], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .optional()
    }

    /// Finds a source that said the same over HTTP, for as long as a sender may try again.
    fn retried(&self, payload: i64, at: i64) -> rusqlite::Result<Option<(i64, i64, i64)>> {
        let mut find = self.conn.prepare_cached(
            "SELECT id, arrived, name FROM source WHERE arrived / 5000 = ?1 AND payload = ?2 AND channel = ?3 \
             AND arrived BETWEEN ?4 AND ?5 LIMIT 1",
        )?;
        let (from, to) = (at - RETRY_MS, at + RETRY_MS);
        // As SQLite divides: towards zero.
        for stretch in from / TWIN_MS..=to / TWIN_MS {
            let found = find
                .query_row(params![stretch, payload, Channel::Http as i64, from, to], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
                })
                .optional()?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Takes back every entry of a source.
    pub(crate) fn withdraw(&mut self, source: i64) -> rusqlite::Result<()> {
        let mut find = self.conn.prepare_cached("SELECT DISTINCT task, fact FROM entry WHERE source = ?1")?;
        let facts: Vec<(i64, i64)> = find
            .query_map([source], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        let gone = self.conn.prepare_cached("DELETE FROM entry WHERE source = ?1")?.execute([source])?;
        self.entries -= i64::try_from(gone).unwrap_or(0);
        for key in facts {
            self.touched.entry(key).or_default().reload = true;
        }
        Ok(())
    }
}
