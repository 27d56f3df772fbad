//! Opens the file: makes it, checks it, brings it up to date.

use std::fmt;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

/// The version of the schema.
pub(crate) const SCHEMA: i32 = 5;

/// Marks the file as ours: the letters `AgTr`.
const APPLICATION: i32 = 0x4167_5472;

/// Files up to this size are checked whole when they are opened.
const CHECKED_BYTES: u64 = 64 << 20;

const CREATE: &str = include_str!("schema.sql");

/// Steps from one version of the schema to the next; the first leads from version 1 to 2.
const MIGRATIONS: &[&str] = &[
    // 2: what a task came to outlives its events.
    "ALTER TABLE sealed_task ADD COLUMN active_ms INTEGER NOT NULL DEFAULT 0;
     ALTER TABLE sealed_task ADD COLUMN files_read INTEGER NOT NULL DEFAULT 0;
     ALTER TABLE sealed_task ADD COLUMN files_changed INTEGER NOT NULL DEFAULT 0;
     ALTER TABLE sealed_task ADD COLUMN permissions INTEGER NOT NULL DEFAULT 0;
     ALTER TABLE sealed_task ADD COLUMN compactions INTEGER NOT NULL DEFAULT 0;",
    // 3: sums of one stretch stand together; entries are written under short names, which older versions cannot read.
    "CREATE TABLE rollup_by_time (
       dim INTEGER NOT NULL, level INTEGER NOT NULL, at INTEGER NOT NULL, project INTEGER NOT NULL,
       actor INTEGER NOT NULL, key INTEGER NOT NULL, n INTEGER NOT NULL, failures INTEGER NOT NULL,
       ms INTEGER NOT NULL, wait_ms INTEGER NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL,
       cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL, reasoning INTEGER NOT NULL, cost INTEGER NOT NULL,
       unpriced INTEGER NOT NULL, PRIMARY KEY (level, at, dim, project, actor, key)
     ) WITHOUT ROWID;
     INSERT INTO rollup_by_time SELECT * FROM rollup ORDER BY level, at, dim, project, actor, key;
     DROP TABLE rollup;
     ALTER TABLE rollup_by_time RENAME TO rollup;
     CREATE INDEX rollup_top ON rollup (level, at, project, n + failures, n) WHERE dim = 7;
     CREATE INDEX task_long ON task
       (last, id, status, background, agent, agent_type, project, model, failures, started, waiting, events)
       WHERE events > 0 AND last - started > 86400000;",
    // 4: skills answer for the responses after them. Prices that nobody has make the next start count everything anew.
    "CREATE TABLE task_skill (
       task INTEGER NOT NULL, skill INTEGER NOT NULL, n INTEGER NOT NULL, failures INTEGER NOT NULL,
       responses INTEGER NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL, cache_read INTEGER NOT NULL,
       cache_write INTEGER NOT NULL, reasoning INTEGER NOT NULL, cost INTEGER NOT NULL, unpriced INTEGER NOT NULL,
       PRIMARY KEY (task, skill)
     ) WITHOUT ROWID;
     CREATE TABLE activation (
       task INTEGER NOT NULL, turn INTEGER NOT NULL, occurred INTEGER NOT NULL, fact INTEGER NOT NULL,
       skill INTEGER NOT NULL, PRIMARY KEY (task, turn, occurred, fact)
     ) WITHOUT ROWID;
     CREATE TABLE sealed_model (
       task INTEGER NOT NULL, model INTEGER NOT NULL, copied INTEGER NOT NULL, n INTEGER NOT NULL,
       input INTEGER NOT NULL, output INTEGER NOT NULL, cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL,
       cache_write_1h INTEGER NOT NULL, searches INTEGER NOT NULL, cost INTEGER NOT NULL, unpriced INTEGER NOT NULL,
       PRIMARY KEY (task, model, copied)
     ) WITHOUT ROWID;
     INSERT INTO sealed_model SELECT * FROM task_model WHERE task IN (SELECT task FROM sealed_task);
     CREATE TABLE sealed_skill (
       task INTEGER NOT NULL, skill INTEGER NOT NULL, n INTEGER NOT NULL, failures INTEGER NOT NULL,
       responses INTEGER NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL, cache_read INTEGER NOT NULL,
       cache_write INTEGER NOT NULL, reasoning INTEGER NOT NULL, cost INTEGER NOT NULL, unpriced INTEGER NOT NULL,
       PRIMARY KEY (task, skill)
     ) WITHOUT ROWID;
     INSERT OR REPLACE INTO meta (key, value) VALUES ('prices', 2);",
    // 5: decisions of rules have a list of their own. Where there are any, everything is counted anew.
    "CREATE INDEX fact_rule ON fact (signature >> 8, occurred, ord, fact, task, signature) WHERE list = 15;
     CREATE INDEX fact_ruled ON fact (occurred, ord, fact, task, signature) WHERE list = 15;
     INSERT OR REPLACE INTO meta (key, value)
       SELECT 'prices', 2 WHERE EXISTS (SELECT 1 FROM fact WHERE kind = 22);",
];

/// Why a store cannot be opened.
#[derive(Debug)]
pub enum OpenError {
    /// A newer version of Agent Tracer wrote it.
    Newer {
        /// Its schema.
        found: i32,
        /// The newest schema that this version knows.
        known: i32,
    },
    /// An older version of Agent Tracer wrote it, and it was opened only to be read.
    Older {
        /// Its schema.
        found: i32,
        /// The schema that this version asks.
        known: i32,
    },
    /// Some other program wrote it.
    NotOurs,
    /// It is damaged; what the check says.
    Corrupt(String),
    /// It cannot be written.
    ReadOnly,
    /// The disk is full.
    DiskFull,
    /// Something else.
    Io(String),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Newer { found, known } => write!(
                f,
                "the store was written by a newer version (schema {found}, this one knows {known})\n\
                 hint: install that version again; an older one would lose what it does not know"
            ),
            Self::Older { found, known } => write!(
                f,
                "the store was written by an older version (schema {found}, this one asks {known})\n\
                 hint: `agent-tracer serve` or `agent-tracer import` brings it up to date"
            ),
            Self::NotOurs => {
                f.write_str("the file is a database of another program\nhint: choose another home")
            }
            Self::Corrupt(what) => write!(
                f,
                "the store is damaged: {what}\n\
                 hint: move `ledger.db` aside; `agent-tracer import` reads the agents' own files again"
            ),
            Self::ReadOnly => {
                f.write_str("the store cannot be written\nhint: check the owner and mode of the home folder")
            }
            Self::DiskFull => {
                f.write_str("the disk is full\nhint: free some space; nothing that was accepted is lost")
            }
            Self::Io(what) => write!(f, "the store cannot be opened: {what}"),
        }
    }
}

impl std::error::Error for OpenError {}

impl From<rusqlite::Error> for OpenError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::DiskFull,
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::ReadOnly,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Corrupt(error.to_string()),
            _ => Self::Io(error.to_string()),
        }
    }
}

/// Opens the file for writing, and makes it if there is none.
pub(crate) fn open(path: &Path) -> Result<Connection, OpenError> {
    create_private(path)?;
    let mut conn = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    conn.busy_timeout(std::time::Duration::from_secs(10))?;
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
    // Never by the way, because whoever writes next would wait for it: there is a thread for it.
    conn.pragma_update(None, "wal_autocheckpoint", 0)?;
    if is_empty {
        let transaction = conn.transaction()?;
        transaction.execute_batch(CREATE)?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", SCHEMA)?;
        transaction.commit()?;
    } else {
        check(&conn, path)?;
        migrate(&mut conn, path, found)?;
    }
    Ok(conn)
}

/// Looks whether the file can be asked by this version. Writes nothing.
pub(crate) fn look(path: &Path) -> Result<(), OpenError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    conn.busy_timeout(std::time::Duration::from_secs(5))?;
    let application: i32 = conn.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let found: i32 = conn.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if application != APPLICATION {
        return Err(OpenError::NotOurs);
    }
    match found.cmp(&SCHEMA) {
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Greater => Err(OpenError::Newer { found, known: SCHEMA }),
        std::cmp::Ordering::Less => Err(OpenError::Older { found, known: SCHEMA }),
    }
}

/// Lets a statement keep its plan whatever is bound to it. A plan that suits the value must be made anew for each, and
/// that costs more than all that these statements ask.
pub(crate) fn stable_plans(conn: &Connection) -> rusqlite::Result<()> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(|_| ())
}

/// Makes the file with nobody else's rights before anything is written to it.
fn create_private(path: &Path) -> Result<(), OpenError> {
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
            _ => OpenError::Io(format!("`{}`: {error}", path.display())),
        }),
    }
}

fn check(conn: &Connection, path: &Path) -> Result<(), OpenError> {
    let size = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    if size > CHECKED_BYTES {
        return Ok(());
    }
    let verdict: String = conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if verdict == "ok" { Ok(()) } else { Err(OpenError::Corrupt(verdict)) }
}

/// Brings an older file up to date. A copy of it stays beside it.
fn migrate(conn: &mut Connection, path: &Path, found: i32) -> Result<(), OpenError> {
    migrate_with(conn, path, found, MIGRATIONS)
}

fn migrate_with(conn: &mut Connection, path: &Path, found: i32, steps: &[&str]) -> Result<(), OpenError> {
    let done = usize::try_from(found - 1).unwrap_or(0);
    let Some(steps) = steps.get(done..).filter(|steps| !steps.is_empty()) else { return Ok(()) };
    let backup = backup_path(path, found);
    // A copy from a migration that did not finish is older than nothing: the file itself is still as it was.
    match std::fs::remove_file(&backup) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(OpenError::Io(format!("`{}`: {error}", backup.display())));
        }
        _ => {}
    }
    conn.execute("VACUUM INTO ?1", [backup.to_string_lossy()])?;
    let transaction = conn.transaction()?;
    for step in steps {
        transaction.execute_batch(step)?;
    }
    let version = found + i32::try_from(steps.len()).unwrap_or(0);
    transaction.pragma_update(None, "user_version", version)?;
    transaction.commit()?;
    Ok(())
}

/// Where the copy of a file of an older schema goes.
fn backup_path(path: &Path, schema: i32) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".schema-{schema}.backup"));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(matches!(look(&path), Err(OpenError::Io(_))), "nothing is made by looking");
        assert!(!path.exists());
        let conn = open(&path).unwrap();
        look(&path).unwrap();
        conn.pragma_update(None, "user_version", SCHEMA + 1).unwrap();
        assert!(matches!(look(&path), Err(OpenError::Newer { .. })));
        conn.pragma_update(None, "user_version", SCHEMA - 1).unwrap();
        assert!(matches!(look(&path), Err(OpenError::Older { .. })));
        let theirs = folder.path().join("theirs.db");
        Connection::open(&theirs).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
        assert!(matches!(look(&theirs), Err(OpenError::NotOurs)));
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

    #[test]
    fn an_older_file_is_brought_up_to_date_and_kept_beside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let mut conn = open(&path).unwrap();
        conn.execute("INSERT INTO word (text) VALUES ('kept')", []).unwrap();
        migrate_with(&mut conn, &path, 1, &["CREATE TABLE later (x)", "CREATE TABLE latest (x)"]).unwrap();
        let version: i32 = conn.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        assert_eq!(version, 3);
        let backup = Connection::open(backup_path(&path, 1)).unwrap();
        let kept: String = backup.query_row("SELECT text FROM word", [], |row| row.get(0)).unwrap();
        assert_eq!(kept, "kept");
        assert!(backup.prepare("SELECT * FROM later").is_err());
    }

    #[test]
    fn a_step_that_fails_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let mut conn = open(&path).unwrap();
        assert!(migrate_with(&mut conn, &path, 1, &["CREATE TABLE later (x)", "no sql"]).is_err());
        assert!(conn.prepare("SELECT * FROM later").is_err());
        let version: i32 = conn.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        assert_eq!(version, SCHEMA);
    }

    /// The tables with their columns, whatever their order, their keys and their indexes.
    fn shape(conn: &Connection) -> Vec<(String, String)> {
        let mut find = conn
            .prepare(
                "SELECT t.name, c.name || ' ' || c.type || ' ' || c.pk FROM sqlite_schema t \
                 JOIN pragma_table_info(t.name) c WHERE t.type = 'table' \
                 UNION SELECT tbl_name, name FROM sqlite_schema WHERE type = 'index' ORDER BY 1, 2",
            )
            .unwrap();
        find.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn a_file_of_the_first_schema_ends_in_the_shape_of_a_new_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let conn = open(&path).unwrap();
        let expected = shape(&conn);
        for column in ["active_ms", "files_read", "files_changed", "permissions", "compactions"] {
            conn.execute_batch(&format!("ALTER TABLE sealed_task DROP COLUMN {column}")).unwrap();
        }
        conn.execute_batch(
            "DROP INDEX task_long;
             DROP INDEX fact_rule;
             DROP INDEX fact_ruled;
             CREATE TABLE first (
               dim, level, at, project, actor, key, n, failures, ms, wait_ms, input, output, cache_read, cache_write,
               reasoning, cost, unpriced, PRIMARY KEY (dim, level, at, project, actor, key)
             ) WITHOUT ROWID;
             INSERT INTO first VALUES (7, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
             DROP TABLE rollup;
             ALTER TABLE first RENAME TO rollup;
             CREATE INDEX rollup_top ON rollup (level, at, project, n + failures, n) WHERE dim = 7;",
        )
        .unwrap();
        for table in ["task_skill", "activation", "sealed_model", "sealed_skill"] {
            conn.execute_batch(&format!("DROP TABLE {table}")).unwrap();
        }
        let decision = "INSERT INTO fact (task, fact, kind, list, lane, occurred, ord, open, certainty, channels, changed, \
             data) VALUES (1, 2, ?1, 13, 0, 0, 0, 0, 0, 0, 0, x'')";
        conn.execute(decision, [agent_tracer_event::Kind::RuleLogged as i64]).unwrap();
        conn.pragma_update(None, "user_version", 1).unwrap();
        conn.execute("INSERT INTO meta (key, value) VALUES ('prices', 77)", []).unwrap();
        drop(conn);
        let conn = open(&path).unwrap();
        assert_eq!(shape(&conn), expected);
        let prices: i64 =
            conn.query_row("SELECT value FROM meta WHERE key = 'prices'", [], |row| row.get(0)).unwrap();
        assert_eq!(prices, 2, "what was counted before is counted anew");
        let sum = "SELECT dim, at, key, n, unpriced FROM rollup INDEXED BY rollup_top WHERE dim = 7";
        let kept: [i64; 5] = conn
            .query_row(sum, [], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?]))
            .unwrap();
        assert_eq!(kept, [7, 2, 5, 6, 16]);
        look(&path).unwrap();
        assert!(backup_path(&path, 1).exists());
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_may_read_it() {
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
