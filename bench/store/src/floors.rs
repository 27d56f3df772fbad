//! Limits of SQLite itself: the same bytes in the plainest table, one event or 256 of them in a transaction.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, params};

use crate::machine::size;

/// Holds the result of SQLite.
pub(crate) struct Floor {
    pub(crate) per_second: f64,
    /// Bytes of the closed file for each event.
    pub(crate) bytes_each: f64,
}

/// Events per second with so many events in a transaction, each as safe as an acknowledged one.
pub(crate) fn sqlite(
    folder: &Path,
    payload: &str,
    at_once: usize,
    lasting: Duration,
) -> Result<Floor, String> {
    let path = folder.join(format!("floor-{at_once}.db"));
    write(&path, payload, at_once, lasting)
        .map_err(|error| format!("cannot write `{}`: {error}", path.display()))
}

fn write(path: &Path, payload: &str, at_once: usize, lasting: Duration) -> rusqlite::Result<Floor> {
    let mut conn = Connection::open(path)?;
    conn.pragma_update(None, "page_size", 8192)?;
    conn.pragma_update(None, "journal_mode", "WAL")?;
    conn.pragma_update(None, "synchronous", "FULL")?;
    conn.execute_batch(
        "CREATE TABLE event (seq INTEGER PRIMARY KEY, uid INTEGER NOT NULL, session INTEGER NOT NULL, \
         at INTEGER NOT NULL, kind TEXT NOT NULL, payload TEXT NOT NULL); \
         CREATE UNIQUE INDEX event_uid ON event (uid); \
         CREATE INDEX event_session ON event (session, seq); \
         CREATE INDEX event_at ON event (at); \
         CREATE INDEX event_kind ON event (kind, at);",
    )?;
    let begun = Instant::now();
    let mut count: i64 = 0;
    while begun.elapsed() < lasting {
        let transaction = conn.transaction()?;
        {
            let mut insert = transaction.prepare_cached(
                "INSERT INTO event (uid, session, at, kind, payload) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?;
            for _ in 0..at_once {
                count += 1;
                let uid = count.wrapping_mul(0x5851_f42d_4c95_7f2d);
                insert.execute(params![uid, count % 400, count, "tool.used", payload])?;
            }
        }
        transaction.commit()?;
    }
    let per_second = count as f64 / begun.elapsed().as_secs_f64();
    // Closing moves the log into the file.
    drop(conn);
    Ok(Floor { per_second, bytes_each: size(path) as f64 / count.max(1) as f64 })
}
