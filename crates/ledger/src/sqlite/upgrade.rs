//! The upgrade of a file with an older schema, whatever its size.
//!
//! Law: a whole copy is made beside the file first, then all steps run in one transaction. A process that is killed
//! meanwhile leaves the file as it was, and the next start begins again. Both may take minutes, so the watcher receives
//! the progress.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use super::OpenError;
use super::open::create_private;
use crate::fault_cause::FaultCause;
use crate::project::measures;

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
    // 4: skills answer for the responses after them. Prices that no one has make the next start count everything anew.
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
    // 6: a search that is narrowed reads no row that it does not show, and the files used most are read from an index.
    "CREATE INDEX fact_brief ON fact (id, task, kind, occurred, state, duration);
     DROP INDEX rollup_top;
     CREATE INDEX rollup_top ON rollup (level, at, project, n + failures, n, failures) WHERE dim = 7;",
    // 7: how many tasks of each type of agent there were, and how many of all rows are calls, is kept and not counted.
    concat!(
        "ALTER TABLE rollup ADD COLUMN calls INTEGER NOT NULL DEFAULT 0;
     UPDATE rollup SET calls = ifnull((SELECT sum(tool.n) FROM rollup tool WHERE tool.level = rollup.level
       AND tool.at = rollup.at AND tool.dim = 1 AND tool.project = rollup.project AND tool.actor = rollup.actor), 0)
       WHERE dim = 0;
     ALTER TABLE sealed_rollup ADD COLUMN calls INTEGER NOT NULL DEFAULT 0;
     UPDATE sealed_rollup SET calls = ifnull((SELECT sum(tool.n) FROM sealed_rollup tool
       WHERE tool.dim = 1 AND tool.level = sealed_rollup.level AND tool.at = sealed_rollup.at
       AND tool.project = sealed_rollup.project AND tool.actor = sealed_rollup.actor), 0) WHERE dim = 0;
",
        include_str!("task_count.sql"),
        "INSERT INTO task_count
       SELECT bits.n, last >> bits.n, iif(whose.n, project, -1), agent, agent_type, count(*), sum(max(last - started, 0))
       FROM task, (SELECT 26 AS n UNION SELECT 31) AS bits, (SELECT 0 AS n UNION SELECT 1) AS whose WHERE events > 0
       GROUP BY 1, 2, 3, 4, 5;"
    ),
    // 8: search lists rows by when they happened. The index is filled anew behind the writer; `health` tells how far.
    "INSERT INTO search (search) VALUES ('delete-all');
     DELETE FROM vocabulary;
     DELETE FROM meta WHERE key IN ('indexed', 'indexed_tasks');",
    // 9: durations are kept by who acted. Those that retention sealed are of the one who used the tool in that stretch, or
    // of no one known where several did. Everything else is counted anew. What a task added to the totals that retention
    // keeps can be taken away again.
    "CREATE TABLE sealed_latency_by_actor (
       level INTEGER NOT NULL, at INTEGER NOT NULL, project INTEGER NOT NULL, actor INTEGER NOT NULL, tool INTEGER NOT NULL,
       buckets BLOB NOT NULL, PRIMARY KEY (level, at, project, actor, tool)
     ) WITHOUT ROWID;
     INSERT INTO sealed_latency_by_actor SELECT level, at, project, ifnull((
         SELECT min(r.actor) FROM sealed_rollup r WHERE r.dim = 1 AND r.level = l.level AND r.at = l.at
           AND r.project = l.project AND r.key = l.tool HAVING min(r.actor) = max(r.actor)), -1), tool, buckets
       FROM sealed_latency l;
     DROP TABLE sealed_latency;
     ALTER TABLE sealed_latency_by_actor RENAME TO sealed_latency;
     DROP TABLE latency;
     CREATE TABLE latency (
       level INTEGER NOT NULL, at INTEGER NOT NULL, project INTEGER NOT NULL, actor INTEGER NOT NULL, tool INTEGER NOT NULL,
       buckets BLOB NOT NULL, PRIMARY KEY (level, at, project, actor, tool)
     ) WITHOUT ROWID;
     CREATE TABLE sealed_share (task INTEGER PRIMARY KEY, data BLOB NOT NULL);
     INSERT OR REPLACE INTO meta (key, value) VALUES ('prices', 2);",
    // 10: a list of tasks with failures begins at those, however many have none.
    "CREATE INDEX task_failed ON task (failures, id, parent) WHERE failures > 0;",
];

/// The version of the schema after the last step.
pub(super) const NEWEST: i32 = MIGRATIONS.len() as i32 + 1;

/// Adds the columns of measures that the tables of sums do not have: [`measures::COLUMNS`] alone lists them. The step that
/// a new measure needs has them counted anew.
pub(super) fn add_measures(conn: &Connection) -> rusqlite::Result<()> {
    for table in ["rollup", "sealed_rollup"] {
        let mut find = conn.prepare("SELECT name FROM pragma_table_info(?1)")?;
        let known: HashSet<String> =
            find.query_map([table], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        for column in measures::of_rollups().filter(|column| !known.contains(column.name)) {
            conn.execute_batch(&format!(
                "ALTER TABLE {table} ADD COLUMN {} INTEGER NOT NULL DEFAULT 0",
                column.name
            ))?;
        }
    }
    Ok(())
}

/// Pages that are copied between two words about it: 64 MB.
const PAGES: std::ffi::c_int = 16_384;

/// Instructions of the database between two words about a step: some ten milliseconds.
const INSTRUCTIONS: std::ffi::c_int = 1_000_000;

/// The progress of an upgrade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Upgrade {
    /// The schema of the file.
    pub from: i32,
    /// The schema that it gets.
    pub to: i32,
    /// The current step.
    pub stage: Stage,
}

/// The current step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// A copy is made first.
    Copying {
        /// Bytes that are copied.
        done: u64,
        /// Bytes of the whole.
        total: u64,
    },
    /// The file is changed. The progress within a step is unknown.
    Changing {
        /// The step, from one.
        step: usize,
        /// The number of steps.
        of: usize,
    },
    /// It is done.
    Done,
}

/// Receives the progress, on the thread that makes it.
pub(crate) type UpgradeListener = Arc<dyn Fn(Upgrade) + Send + Sync>;

/// Brings an older file up to date. A copy of it stays beside it.
pub(super) fn upgrade(
    conn: &mut Connection,
    path: &Path,
    found: i32,
    watch: &UpgradeListener,
) -> Result<(), OpenError> {
    upgrade_by(conn, path, found, MIGRATIONS, watch)
}

fn upgrade_by(
    conn: &mut Connection,
    path: &Path,
    found: i32,
    steps: &[&str],
    watch: &UpgradeListener,
) -> Result<(), OpenError> {
    let done = usize::try_from(found - 1).unwrap_or(0);
    let Some(steps) = steps.get(done..).filter(|steps| !steps.is_empty()) else { return Ok(()) };
    let to = found + i32::try_from(steps.len()).unwrap_or(0);
    let reported = |stage: Stage| Upgrade { from: found, to, stage };
    copy(conn, &backup_path(path, found), |done, total| watch(reported(Stage::Copying { done, total })))?;
    let at = Arc::new(AtomicUsize::new(1));
    let tell = {
        let (watch, at, of) = (Arc::clone(watch), Arc::clone(&at), steps.len());
        move || {
            watch(Upgrade {
                from: found,
                to,
                stage: Stage::Changing { step: at.load(Ordering::SeqCst), of },
            });
            false
        }
    };
    conn.progress_handler(INSTRUCTIONS, Some(tell))?;
    let outcome = change(conn, steps, to, |step| {
        at.store(step, Ordering::SeqCst);
        watch(reported(Stage::Changing { step, of: steps.len() }));
    });
    conn.progress_handler(0, None::<fn() -> bool>)?;
    outcome?;
    watch(reported(Stage::Done));
    Ok(())
}

/// Takes all steps, or none.
fn change(conn: &mut Connection, steps: &[&str], to: i32, begins: impl Fn(usize)) -> rusqlite::Result<()> {
    let transaction = conn.transaction()?;
    for (index, step) in steps.iter().enumerate() {
        begins(index + 1);
        transaction.execute_batch(step)?;
    }
    add_measures(&transaction)?;
    transaction.pragma_update(None, "user_version", to)?;
    transaction.commit()
}

/// Copies a file that is open, with what its log holds, and says how many bytes of how many are done.
fn copy(conn: &Connection, to: &Path, tell: impl Fn(u64, u64)) -> Result<(), OpenError> {
    // A copy from an upgrade that did not finish is older than nothing: the file itself is still as it was.
    let part = with_end(to, ".part");
    for old in [to, part.as_path()] {
        match std::fs::remove_file(old) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(OpenError::Io(FaultCause::of_file(old, error)));
            }
            _ => {}
        }
    }
    create_private(&part)?;
    let size = u64::try_from(conn.pragma_query_value(None, "page_size", |row| row.get::<_, i64>(0))?);
    let size = size.unwrap_or(0);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut copied = Connection::open_with_flags(&part, flags)?;
    // No one needs half a copy back: it is begun anew.
    copied.pragma_update(None, "journal_mode", "OFF")?;
    {
        let backup = Backup::new(conn, &mut copied)?;
        loop {
            let step = backup.step(PAGES)?;
            let progress = backup.progress();
            let count = |pages: std::ffi::c_int| u64::try_from(pages).unwrap_or(0).saturating_mul(size);
            let total = count(progress.pagecount);
            tell(total.saturating_sub(count(progress.remaining)), total);
            match step {
                StepResult::Done => break,
                StepResult::More => {}
                // An instance owns its file. A process that writes to it all the same must end first.
                _ => return Err(OpenError::Io("another process writes to the store".into())),
            }
        }
    }
    drop(copied);
    std::fs::rename(&part, to).map_err(|error| OpenError::Io(FaultCause::of_file(to, error)))
}

/// Returns the copies of a store that were made before it was brought up to date, also those that are not whole.
#[must_use]
pub fn upgrade_copies(path: &Path) -> Vec<PathBuf> {
    let beginning = with_end(path, ".schema-");
    let beginning = beginning.file_name().unwrap_or_default().as_encoded_bytes();
    let Some(Ok(entries)) = path.parent().map(std::fs::read_dir) else { return Vec::new() };
    let mut copies: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|found| {
            let name = found.file_name().unwrap_or_default().as_encoded_bytes();
            name.starts_with(beginning) && (name.ends_with(b".backup") || name.ends_with(b".backup.part"))
        })
        .collect();
    copies.sort();
    copies
}

/// Returns where the copy of a file of an older schema goes.
fn backup_path(path: &Path, schema: i32) -> PathBuf {
    with_end(path, &format!(".schema-{schema}.backup"))
}

pub(super) fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(end);
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::super::open::{SCHEMA, check_version, open};
    use super::*;

    #[test]
    fn an_older_file_is_brought_up_to_date_and_kept_beside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let mut conn = open(&path).unwrap();
        conn.execute("INSERT INTO word (text) VALUES ('kept')", []).unwrap();
        upgrade_by(
            &mut conn,
            &path,
            1,
            &["CREATE TABLE later (x)", "CREATE TABLE latest (x)"],
            &silent_listener(),
        )
        .unwrap();
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
        assert!(
            upgrade_by(&mut conn, &path, 1, &["CREATE TABLE later (x)", "no sql"], &silent_listener())
                .is_err()
        );
        assert!(conn.prepare("SELECT * FROM later").is_err());
        let version: i32 = conn.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        assert_eq!(version, SCHEMA);
    }

    /// Returns the tables with their columns, whatever their order, their keys and their indexes.
    fn shape(conn: &Connection) -> Vec<(String, String)> {
        let mut find = conn
            .prepare(
                "SELECT t.name, c.name || ' ' || c.type || ' ' || c.pk FROM sqlite_schema t \
                 JOIN pragma_table_info(t.name) c WHERE t.type = 'table' \
                 UNION SELECT tbl_name, name || ' ' || ifnull(replace(replace(sql, char(10), ''), ' ', ''), '') \
                 FROM sqlite_schema WHERE type IN ('index', 'trigger') ORDER BY 1, 2",
            )
            .unwrap();
        find.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn measure_without_a_column_gets_one_in_every_table_of_sums() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let mut conn = open(&path).unwrap();
        let expected = shape(&conn);
        for table in ["rollup", "sealed_rollup"] {
            conn.execute_batch(&format!("ALTER TABLE {table} DROP COLUMN wait_ms")).unwrap();
        }
        upgrade_by(&mut conn, &path, 1, &["SELECT 1"], &silent_listener()).unwrap();
        assert_eq!(shape(&conn), expected);
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
        for trigger in ["task_counts_on", "task_leaves", "task_goes", "task_arrives", "task_comes"] {
            conn.execute_batch(&format!("DROP TRIGGER {trigger}")).unwrap();
        }
        conn.execute_batch(
            "DROP TABLE latency;
             DROP TABLE sealed_latency;
             CREATE TABLE latency (
               level, at, project, tool, buckets, PRIMARY KEY (level, at, project, tool)
             ) WITHOUT ROWID;
             CREATE TABLE sealed_latency (
               level, at, project, tool, buckets, PRIMARY KEY (level, at, project, tool)
             ) WITHOUT ROWID;
             INSERT INTO latency VALUES (1, 2, 3, 8, x'01');
             INSERT INTO sealed_latency VALUES (1, 2, 3, 8, x'01'), (1, 2, 3, 9, x'02'), (1, 2, 3, 10, x'03');
             DROP INDEX task_long;
             DROP INDEX task_failed;
             DROP INDEX fact_rule;
             DROP INDEX fact_ruled;
             DROP INDEX fact_brief;
             CREATE TABLE first (
               dim, level, at, project, actor, key, n, failures, ms, wait_ms, input, output, cache_read, cache_write,
               reasoning, cost, unpriced, PRIMARY KEY (dim, level, at, project, actor, key)
             ) WITHOUT ROWID;
             INSERT INTO first VALUES (7, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
             INSERT INTO first SELECT column1, 1, 2, 3, 4, column2, column3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
               FROM (VALUES (0, 0, 40), (1, 8, 5), (1, 9, 6));
             ALTER TABLE sealed_rollup DROP COLUMN calls;
             INSERT INTO sealed_rollup SELECT * FROM first WHERE dim < 2;
             INSERT INTO sealed_rollup SELECT dim, level, at, project, 5, key, n, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
               FROM first WHERE key = 9;
             DROP TABLE task_count;
             INSERT INTO task (uid, agent, session, told, project, agent_type, started, last, events)
               VALUES ('task', 1, '', x'', 3, 5, 1, 1 + (1 << 31), 2), ('none', 1, '', x'', 3, 5, 1, 9, 0);
             DROP TABLE rollup;
             ALTER TABLE first RENAME TO rollup;
             CREATE INDEX rollup_top ON rollup (level, at, project, n + failures, n) WHERE dim = 7;",
        )
        .unwrap();
        for table in ["task_skill", "activation", "sealed_model", "sealed_skill", "sealed_share"] {
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
        for table in ["rollup", "sealed_rollup"] {
            let calls = format!("SELECT calls FROM {table} WHERE dim = 0");
            assert_eq!(conn.query_row(&calls, [], |row| row.get::<_, i64>(0)).unwrap(), 11, "{table}");
        }
        let counted = "SELECT group_concat(concat_ws('/', bits, at, project, agent, agent_type, n, run_ms), ' ') \
             FROM (SELECT * FROM task_count ORDER BY bits, project)";
        assert_eq!(
            conn.query_row(counted, [], |row| row.get::<_, String>(0)).unwrap(),
            "26/32/-1/1/5/1/2147483648 26/32/3/1/5/1/2147483648 31/1/-1/1/5/1/2147483648 31/1/3/1/5/1/2147483648"
        );
        let sealed = "SELECT group_concat(concat_ws('/', actor, tool, hex(buckets)), ' ') \
             FROM (SELECT * FROM sealed_latency ORDER BY tool)";
        assert_eq!(
            conn.query_row(sealed, [], |row| row.get::<_, String>(0)).unwrap(),
            "4/8/01 -1/9/02 -1/10/03",
            "of the agent that used the tool, or of no known one"
        );
        check_version(&path).unwrap();
        assert!(backup_path(&path, 1).exists());
    }

    fn silent_listener() -> UpgradeListener {
        Arc::new(|_| ())
    }

    /// Steps of which the second takes a while and more room than the cache of a connection has.
    const LONG: &[&str] = &[
        "CREATE TABLE later (x)",
        "CREATE TABLE latest AS WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 400000) \
         SELECT n, printf('%060d', n) AS text FROM n",
    ];

    #[test]
    fn a_watcher_sees_the_copy_and_every_step() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let mut conn = open(&path).unwrap();
        let seen: Arc<std::sync::Mutex<Vec<Stage>>> = Arc::default();
        let watch: UpgradeListener = {
            let seen = Arc::clone(&seen);
            Arc::new(move |upgrade| {
                assert_eq!((upgrade.from, upgrade.to), (1, 3));
                seen.lock().unwrap().push(upgrade.stage);
            })
        };
        upgrade_by(&mut conn, &path, 1, LONG, &watch).unwrap();
        let seen = seen.lock().unwrap();
        let copied: Vec<&Stage> =
            seen.iter().filter(|stage| matches!(stage, Stage::Copying { .. })).collect();
        assert!(matches!(copied.last(), Some(Stage::Copying { done, total }) if done == total && *total > 0));
        let times = |step| seen.iter().filter(|stage| **stage == Stage::Changing { step, of: 2 }).count();
        assert_eq!(times(1), 1);
        assert!(times(2) > 3, "a long step is reported repeatedly: {}", times(2));
        assert_eq!(seen.last(), Some(&Stage::Done));
    }

    /// The variable that marks the process of this test that will be killed: the file and the stage.
    const KILLED: &str = "AGENT_TRACER_TEST_KILLED_AT";

    #[test]
    fn an_upgrade_killed_on_the_way_leaves_the_file_as_it_was_and_the_next_start_goes_through() {
        use std::io::BufRead;
        if let Some(reported) = std::env::var_os(KILLED) {
            let reported = reported.into_string().unwrap();
            let (stage, path) = reported.split_once(':').unwrap();
            be_killed(stage, Path::new(path));
        }
        for stage in ["copying", "changing"] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("ledger.db");
            let conn = open(&path).unwrap();
            conn.execute("INSERT INTO word (text) VALUES ('kept')", []).unwrap();
            drop(conn);
            let name = std::thread::current().name().unwrap().to_owned();
            let mut child = std::process::Command::new(std::env::current_exe().unwrap())
                .args(["--exact", &name, "--nocapture"])
                .env(KILLED, format!("{stage}:{}", path.display()))
                .stdout(std::process::Stdio::piped())
                .spawn()
                .unwrap();
            let said = std::io::BufReader::new(child.stdout.take().unwrap());
            let is_there = said.lines().any(|line| line.unwrap().contains("on the way"));
            // SIGKILL, where it stands.
            child.kill().unwrap();
            child.wait().unwrap();
            assert!(is_there, "it came to {stage}");
            let backup = backup_path(&path, 1);
            assert_eq!(backup.exists(), stage == "changing", "half a copy has another name");
            let mut conn = open(&path).unwrap();
            assert!(conn.prepare("SELECT * FROM later").is_err(), "the file is as it was");
            upgrade_by(&mut conn, &path, 1, LONG, &silent_listener()).unwrap();
            let rows: i64 = conn.query_row("SELECT count(*) FROM latest", [], |row| row.get(0)).unwrap();
            let kept: String = conn.query_row("SELECT text FROM word", [], |row| row.get(0)).unwrap();
            assert_eq!((rows, kept.as_str()), (400_000, "kept"));
            assert!(backup.exists() && !with_end(&backup, ".part").exists());
            let verdict: String = conn.query_row("PRAGMA quick_check", [], |row| row.get(0)).unwrap();
            assert_eq!(verdict, "ok");
        }
    }

    /// Says when it is there and waits for its end.
    fn be_killed(stage: &str, path: &Path) {
        let is_copying = stage == "copying";
        let changing = AtomicUsize::new(0);
        let watch: UpgradeListener = Arc::new(move |upgrade| {
            let is_there = match upgrade.stage {
                Stage::Copying { .. } => is_copying,
                // By then much of the step is in the log.
                Stage::Changing { step: 2, .. } => changing.fetch_add(1, Ordering::SeqCst) == 3,
                _ => false,
            };
            if is_there {
                println!("on the way");
                loop {
                    std::thread::park();
                }
            }
        });
        upgrade_by(&mut open(path).unwrap(), path, 1, LONG, &watch).unwrap();
        panic!("the upgrade ended before it was killed");
    }
}
