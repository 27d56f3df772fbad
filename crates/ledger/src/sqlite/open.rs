//! Opens the file: makes it, checks it, has it brought up to date.

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::upgrade::{self, UpgradeListener};
use crate::fault_cause::FaultCause;

/// The version of the schema.
pub(crate) const SCHEMA: i32 = upgrade::NEWEST;

/// Marks the file as ours: the letters `AgTr`.
pub(super) const APPLICATION: i32 = 0x4167_5472;

/// Files up to this size are checked whole when they are opened.
pub(super) const CHECKED_BYTES: u64 = 64 << 20;

const CREATE: &str = concat!(include_str!("schema.sql"), include_str!("task_count.sql"));

/// Why a store cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A newer version of Agent Tracer wrote it.
    #[error(
        "the store was written by a newer version (schema {found}, this one knows {known})\n\
         hint: install that version again; an older one would lose what it does not know"
    )]
    Newer {
        /// Its schema.
        found: i32,
        /// The newest schema that this version knows.
        known: i32,
    },
    /// An older version of Agent Tracer wrote it, and it was opened only to be read.
    #[error(
        "the store was written by an older version (schema {found}, this one asks {known})\n\
         hint: `agent-tracer serve` or `agent-tracer import` brings it up to date"
    )]
    Older {
        /// Its schema.
        found: i32,
        /// The schema that this version asks.
        known: i32,
    },
    /// Some other program wrote it.
    #[error("the file is a database of another program\nhint: choose another home")]
    NotOurs,
    /// It is damaged; what the check says.
    #[error(
        "the store is damaged\n\
         hint: `agent-tracer recover` makes a new store of what can be read, and keeps the damaged files"
    )]
    Corrupt(#[source] FaultCause),
    /// It cannot be written.
    #[error("the store cannot be written\nhint: check the owner and mode of the home folder")]
    ReadOnly,
    /// The disk is full.
    #[error("the disk is full\nhint: free some space; nothing that was accepted is lost")]
    DiskFull,
    /// Another program has it locked.
    #[error(
        "another program has the store locked\nhint: close whatever else has `ledger.db` open, and try again"
    )]
    Locked,
    /// The journal of posts beside it cannot be read or written.
    #[error(
        "the journal of posts cannot be opened\n\
         hint: check its owner and mode; if the disk cannot read it, move it aside: it holds only posts that were \
         not folded yet, and the store is whole without it"
    )]
    Journal(#[source] FaultCause),
    /// The log beside it is not its own; how that is known.
    #[error(
        "{0}; the log would be removed or would damage the store\n\
         hint: put the file back that belongs to the log, or run `agent-tracer recover`, which keeps both and \
         goes on with what can be read"
    )]
    ForeignLog(String),
    /// The store is being replaced by another, and the process that began this has ended.
    #[error(
        "another store is being put in its place, and that was not finished\n\
         hint: `agent-tracer serve` or the command that was ended goes on with it"
    )]
    Unfinished,
    /// Something else.
    #[error(
        "the store cannot be opened\n\
         hint: check that the folder is there and that its disk has no errors"
    )]
    Io(#[source] FaultCause),
}

impl OpenError {
    /// Returns the error of a journal of posts that cannot be opened.
    pub(crate) fn journal(path: &Path, error: std::io::Error) -> Self {
        Self::Journal(FaultCause::of_file(path, error))
    }
}

impl From<rusqlite::Error> for OpenError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::DiskFull,
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::ReadOnly,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Corrupt(error.into()),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked,
            _ => Self::Io(error.into()),
        }
    }
}

/// Opens the file for writing, and makes it if there is none.
#[cfg(test)]
pub(crate) fn open(path: &Path) -> Result<Connection, OpenError> {
    open_watched(path, &(std::sync::Arc::new(|_| ()) as UpgradeListener))
}

/// Opens a store like [`open`]; the watcher receives the progress where that takes long.
pub(crate) fn open_watched(path: &Path, watch: &UpgradeListener) -> Result<Connection, OpenError> {
    create_private(path)?;
    let mut conn = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    // A store that is refused is left as it is, with its log.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    conn.busy_timeout(super::writer::BUSY)?;
    conn.set_prepared_statement_cache_capacity(256);
    stable_plans(&conn)?;
    let is_empty =
        conn.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get::<_, bool>(0))?;
    let application: i32 = conn.pragma_query_value(None, "application_id", |row| row.get(0))?;
    if !is_empty && application != APPLICATION {
        return Err(OpenError::NotOurs);
    }
    let found: i32 = conn.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if found > SCHEMA {
        return Err(OpenError::Newer { found, known: SCHEMA });
    }
    if is_empty {
        // A commit writes every page that it touched, and one event touches some forty: on larger pages a single event
        // costs twice as much. Rows are packed and seldom longer than a page.
        conn.pragma_update(None, "page_size", 4096)?;
    }
    conn.pragma_update(None, "journal_mode", "WAL")?;
    // What is acknowledged must survive the loss of power, not only the death of the process.
    conn.pragma_update(None, "synchronous", "FULL")?;
    conn.pragma_update(None, "cache_size", -16_384)?;
    conn.pragma_update(None, "temp_store", "MEMORY")?;
    // Off, because the next write would wait for the checkpoint: a thread of its own makes it.
    conn.pragma_update(None, "wal_autocheckpoint", 0)?;
    if is_empty {
        let transaction = conn.transaction()?;
        create(&transaction)?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.execute("INSERT INTO meta (key, value) VALUES ('fold', ?1)", [super::FOLD])?;
        transaction.pragma_update(None, "user_version", SCHEMA)?;
        transaction.commit()?;
    } else {
        check(&conn, path)?;
        upgrade::upgrade(&mut conn, path, found, watch)?;
    }
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    Ok(conn)
}

/// Creates everything that a store has.
pub(super) fn create(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute_batch(CREATE)?;
    upgrade::add_measures(conn)
}

/// Looks whether the file can be asked by this version. Writes nothing.
pub(crate) fn check_version(path: &Path) -> Result<(), OpenError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    conn.busy_timeout(std::time::Duration::from_secs(5))?;
    check_version_of(&conn)
}

/// Does the same with a file that is open.
pub(super) fn check_version_of(conn: &Connection) -> Result<(), OpenError> {
    let application: i32 = conn.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let found: i32 = conn.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if application != APPLICATION {
        let pages: i64 = conn.pragma_query_value(None, "page_count", |row| row.get(0))?;
        return Err(if pages == 0 { OpenError::Corrupt("it is empty".into()) } else { OpenError::NotOurs });
    }
    match found.cmp(&SCHEMA) {
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Greater => Err(OpenError::Newer { found, known: SCHEMA }),
        std::cmp::Ordering::Less => Err(OpenError::Older { found, known: SCHEMA }),
    }
}

/// Checks the whole file, for as long as the caller lets it go on, and writes nothing. Returns `true` at the end.
pub(crate) fn check_through(
    path: &Path,
    mut goes_on: impl FnMut() -> bool + Send + 'static,
) -> Result<bool, OpenError> {
    /// Steps of the engine between two questions whether to go on: some milliseconds.
    const STEPS: i32 = 100_000;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut conn = Connection::open_with_flags(path, flags)?;
    conn.busy_timeout(std::time::Duration::from_secs(5))?;
    conn.progress_handler(STEPS, Some(move || !goes_on()))?;
    match conn.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0)) {
        Ok(verdict) if verdict == "ok" => Ok(true),
        Ok(verdict) => Err(OpenError::Corrupt(verdict.into())),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Lets a statement keep its plan whatever is bound to it. A plan that suits the value must be made anew for each, and
/// that costs more than all that these statements ask.
pub(crate) fn stable_plans(conn: &Connection) -> rusqlite::Result<()> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(|_| ())
}

/// Makes the file with the rights of its owner alone before anything is written to it.
pub(super) fn create_private(path: &Path) -> Result<(), OpenError> {
    let mut options = std::fs::OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    match options.open(path) {
        Ok(_) => Ok(()),
        Err(error) => Err(match error.kind() {
            std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
                OpenError::ReadOnly
            }
            std::io::ErrorKind::StorageFull => OpenError::DiskFull,
            _ => OpenError::Io(FaultCause::of_file(path, error)),
        }),
    }
}

fn check(conn: &Connection, path: &Path) -> Result<(), OpenError> {
    let size = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    if size > CHECKED_BYTES {
        return Ok(());
    }
    let verdict: String = conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if verdict == "ok" { Ok(()) } else { Err(OpenError::Corrupt(verdict.into())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_indexes_name_the_stored_numbers_of_lists_and_dimensions() {
        use crate::project::List;
        use crate::project::tally::Dim;

        let folder = tempfile::tempdir().unwrap();
        let conn = open(&folder.path().join("ledger.db")).unwrap();
        let (rule, response, file) = (List::Rule.code(), List::Response.code(), Dim::File.code());
        let expected = [
            ("fact_rule", format!("list = {rule}")),
            ("fact_ruled", format!("list = {rule}")),
            ("fact_response", format!("list = {response}")),
            ("rollup_top", format!("dim = {file}")),
        ];
        let statements = CREATE.split(';').map(str::trim_end);
        let narrowed = statements.filter(|sql| sql.contains("WHERE list = ") || sql.contains("WHERE dim = "));
        assert_eq!(narrowed.count(), expected.len(), "an index that this test does not know");
        for (index, condition) in expected {
            let sql = "SELECT sql FROM sqlite_schema WHERE name = ?1";
            let sql: String = conn.query_row(sql, [index], |row| row.get(0)).unwrap();
            assert!(sql.ends_with(&format!("WHERE {condition}")), "{sql}");
        }
    }

    #[test]
    fn a_file_of_a_newer_version_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let conn = open(&path).unwrap();
        conn.pragma_update(None, "user_version", SCHEMA + 1).unwrap();
        drop(conn);
        assert!(matches!(open(&path), Err(OpenError::Newer { found, known: SCHEMA }) if found == SCHEMA + 1));
    }

    #[test]
    fn a_look_tells_ours_from_others_and_from_other_versions() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        assert!(matches!(check_version(&path), Err(OpenError::Io(_))), "nothing is made by looking");
        assert!(!path.exists());
        let conn = open(&path).unwrap();
        check_version(&path).unwrap();
        conn.pragma_update(None, "user_version", SCHEMA + 1).unwrap();
        assert!(matches!(check_version(&path), Err(OpenError::Newer { .. })));
        conn.pragma_update(None, "user_version", SCHEMA - 1).unwrap();
        assert!(matches!(check_version(&path), Err(OpenError::Older { .. })));
        let theirs = folder.path().join("theirs.db");
        Connection::open(&theirs).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
        assert!(matches!(check_version(&theirs), Err(OpenError::NotOurs)));
    }

    #[test]
    fn a_database_of_another_program_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
        assert!(matches!(open(&path), Err(OpenError::NotOurs)));
    }

    #[test]
    fn a_damaged_file_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        drop(open(&path).unwrap());
        let mut bytes = std::fs::read(&path).unwrap();
        for byte in bytes.iter_mut().skip(8192) {
            *byte = 0x5a;
        }
        let torn = folder.path().join("torn.db");
        std::io::Write::write_all(&mut std::fs::File::create(&torn).unwrap(), &bytes).unwrap();
        assert!(matches!(open(&torn), Err(OpenError::Corrupt(_))), "{:?}", open(&torn).err());
        let garbage = folder.path().join("garbage.db");
        std::io::Write::write_all(&mut std::fs::File::create(&garbage).unwrap(), &[7; 9000]).unwrap();
        assert!(matches!(open(&garbage), Err(OpenError::Corrupt(_))));
    }

    #[cfg(unix)]
    #[test]
    fn no_one_else_may_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let conn = open(&path).unwrap();
        conn.execute("INSERT INTO word (text) VALUES ('x')", []).unwrap();
        for name in ["ledger.db", "ledger.db-wal", "ledger.db-shm"] {
            let mode = std::fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{name}");
        }
    }
}
