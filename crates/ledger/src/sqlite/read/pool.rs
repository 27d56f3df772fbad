//! A few connections that can only read, lent to each caller.

use std::ops::Deref;
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

/// Statements that a connection remembers: every question has a handful.
const STATEMENTS: usize = 160;

/// Pages that each connection keeps, in KiB. The system keeps the rest of the file warm, and pages that are mapped
/// instead would count as ours, so nothing is mapped.
const CACHE_KIB: i64 = 8 * 1024;

/// Connections that can only read.
#[derive(Debug)]
pub(crate) struct Pool {
    connections: Vec<Mutex<Connection>>,
    idle: Mutex<Vec<usize>>,
    returned: Condvar,
}

impl Pool {
    /// Opens so many connections (at least one) to the store at this path, which must exist.
    pub(crate) fn open(path: &Path, connections: usize) -> rusqlite::Result<Self> {
        let open = || connect(path).map(Mutex::new);
        let connections = (0..connections.max(1)).map(|_| open()).collect::<rusqlite::Result<Vec<_>>>()?;
        Ok(Self { idle: Mutex::new((0..connections.len()).collect()), connections, returned: Condvar::new() })
    }

    /// Takes a connection, and waits for one if all are taken.
    pub(crate) fn take(&self) -> PooledConnection<'_> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some((place, connection)) =
                idle.pop().and_then(|place| Some((place, self.connections.get(place)?)))
            {
                drop(idle);
                let connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
                return PooledConnection { pool: self, place, connection };
            }
            // Waits instead of opening one more: each connection has a cache of megabytes, and a burst of questions
            // must not grow the server.
            idle = self.returned.wait(idle).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    #[cfg_attr(not(test), expect(unused_mut, reason = "only tests watch the connection"))]
    let mut connection = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    // The library keeps sixteen, and the store has many more statements: they would be prepared anew all the time.
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.busy_timeout(Duration::from_secs(5))?;
    crate::sqlite::open::stable_plans(&connection)?;
    // The file is opened for reading already; this also keeps a statement from writing to tables of its own.
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    #[cfg(test)]
    super::plans::watch(&mut connection)?;
    Ok(connection)
}

/// A connection that goes back to its pool.
pub(crate) struct PooledConnection<'pool> {
    pool: &'pool Pool,
    place: usize,
    connection: MutexGuard<'pool, Connection>,
}

impl Deref for PooledConnection<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl Drop for PooledConnection<'_> {
    fn drop(&mut self) {
        self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner).push(self.place);
        self.pool.returned.notify_one();
    }
}
