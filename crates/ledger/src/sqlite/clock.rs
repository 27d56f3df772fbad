//! Decides whether the clock can be believed when what is old is dropped for good.
//!
//! A clock that is wrong once, and years ahead, would drop everything. So it is believed if it is at most [`LEAP_MS`]
//! ahead of when it was last believed, or if something was recorded on [`DAYS`] different days of the [`WINDOW_MS`]
//! before it: a clock that jumps passes no days. A machine that was switched off for months is believed after some days
//! of use.

use std::path::Path;
use std::time::Duration;

use agent_tracer_event::Millis;
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};

use super::writer::Writer;
use super::{AppendError, Ledger, OpenError};
use crate::project::tally::{ALL_PROJECTS, Dim};
use crate::project::time::Level;

const DAY_MS: i64 = 86_400_000;

/// So far ahead a clock may be without a sign that the time has passed.
const LEAP_MS: i64 = 7 * DAY_MS;

/// On so many days something must have been recorded,
const DAYS: i64 = 3;

/// among so many before the moment that the clock shows.
const WINDOW_MS: i64 = 14 * DAY_MS;

/// The key of the last moment at which the clock was believed.
const BELIEVED: &str = "clock";

/// The trust in the system's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockTrust {
    /// The clock is trusted.
    Sound,
    /// The clock is far ahead of the last trusted moment, without evidence that the time between has passed.
    Ahead {
        /// That moment.
        known: Millis,
    },
}

impl Ledger {
    /// Judges the clock before anything is dropped by it.
    ///
    /// # Errors
    /// If the store cannot answer.
    pub fn judge_clock(&self, now: Millis) -> Result<ClockTrust, AppendError> {
        self.on_writer(move |writer| writer.judge_clock(now))?.map_err(AppendError::from)
    }

    /// Notes that the clock is believed: it was judged to be sound, or the user says so.
    ///
    /// # Errors
    /// If it could not be written.
    pub fn trust_clock(&self, now: Millis) -> Result<(), AppendError> {
        self.on_writer(move |writer| {
            writer.change(|apply| {
                apply
                    .conn
                    .prepare_cached(
                        "INSERT INTO meta (key, value) VALUES (?1, ?2) \
                         ON CONFLICT (key) DO UPDATE SET value = max(value, ?2)",
                    )?
                    .execute(params![BELIEVED, now.0])?;
                Ok(())
            })
        })?
    }
}

/// Judges the clock by a store that is only read; where there is none, nothing is known against it.
///
/// # Errors
/// If the store cannot be read.
pub fn judge_clock(store: &Path, now: Millis) -> Result<ClockTrust, OpenError> {
    if matches!(store.try_exists(), Ok(false)) {
        return Ok(ClockTrust::Sound);
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(store, flags)?;
    conn.busy_timeout(Duration::from_secs(1))?;
    Ok(judge(&conn, now)?)
}

impl Writer {
    fn judge_clock(&self, now: Millis) -> rusqlite::Result<ClockTrust> {
        judge(&self.conn, now)
    }
}

fn judge(conn: &Connection, now: Millis) -> rusqlite::Result<ClockTrust> {
    let believed: Option<i64> =
        conn.query_row("SELECT value FROM meta WHERE key = ?1", [BELIEVED], |row| row.get(0)).optional()?;
    // Before it was ever judged, what was recorded last is all that is known of the time.
    let known: Option<i64> = match believed {
        Some(believed) => Some(believed),
        None => conn.query_row(
            "SELECT max(last) FROM task INDEXED BY task_newest WHERE events > 0 AND last <= ?1",
            [now.0],
            |row| row.get(0),
        )?,
    };
    let Some(known) = known.filter(|known| now.0.saturating_sub(*known) > LEAP_MS) else {
        return Ok(ClockTrust::Sound);
    };
    let days: i64 = conn.query_row(
            "SELECT count(DISTINCT at) FROM rollup WHERE level = ?1 AND at > ?2 AND at <= ?3 AND dim = ?4 AND project = ?5",
            params![
                Level::Day.code(),
                known.max(now.0.saturating_sub(WINDOW_MS)),
                now.0,
                Dim::Activity.code(),
                ALL_PROJECTS
            ],
            |row| row.get(0),
        )?;
    Ok(if days >= DAYS { ClockTrust::Sound } else { ClockTrust::Ahead { known: Millis(known) } })
}
