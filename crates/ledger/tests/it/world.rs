//! A ledger in a folder of its own, and everything in it as text.

use std::path::{Path, PathBuf};

use agent_tracer_ledger::{Batch, Ledger, Observed, Options};
use rusqlite::Connection;
use rusqlite::types::ValueRef;

/// A ledger that is gone with the test.
pub(crate) struct World {
    pub(crate) ledger: Ledger,
    folder: tempfile::TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        // Thousands of commits wait for the disk; in memory they do not.
        let memory = Path::new("/dev/shm");
        let folder =
            if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
        let ledger = Ledger::open(&folder.path().join("ledger.db"), Options::default()).unwrap();
        Self { ledger, folder }
    }

    /// Returns a ledger to which these were brought, so many at a time.
    pub(crate) fn with(observed: &[Observed], at_a_time: usize) -> Self {
        let world = Self::new();
        world.bring(observed, at_a_time);
        world
    }

    pub(crate) fn bring(&self, observed: &[Observed], at_a_time: usize) {
        for part in observed.chunks(at_a_time.max(1)) {
            self.ledger.append(Batch { observed: part.to_vec(), ..Batch::default() }).unwrap();
        }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("ledger.db")
    }

    /// Closes and opens the same file again.
    pub(crate) fn reopen(self) -> Self {
        let Self { ledger, folder } = self;
        drop(ledger);
        let ledger = Ledger::open(&folder.path().join("ledger.db"), Options::default()).unwrap();
        Self { ledger, folder }
    }

    pub(crate) fn connection(&self) -> Connection {
        Connection::open(self.path()).unwrap()
    }

    /// Returns every row of every projection, in words, without the numbers that depend on the order of delivery.
    pub(crate) fn rows(&self) -> Vec<String> {
        Self::rows_of(&self.path())
    }

    /// Returns the rows of any file.
    pub(crate) fn rows_of(path: &Path) -> Vec<String> {
        let conn = Connection::open(path).unwrap();
        let mut rows = Vec::new();
        for (table, sql) in PROJECTIONS {
            let mut statement = conn.prepare(sql).unwrap();
            let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
            let mut found = statement.query([]).unwrap();
            let mut lines = Vec::new();
            while let Some(row) = found.next().unwrap() {
                let values = columns.iter().enumerate().map(|(index, name)| {
                    let text = match row.get_ref(index).unwrap() {
                        ValueRef::Null => return String::new(),
                        ValueRef::Integer(number) => number.to_string(),
                        ValueRef::Real(number) => number.to_string(),
                        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
                        ValueRef::Blob(blob) => agent_tracer_ledger::unpack(blob),
                    };
                    format!(" {name}={text}")
                });
                lines.push(format!("{table}{}", values.collect::<String>()));
            }
            lines.sort();
            rows.extend(lines);
        }
        rows
    }
}

/// The projections with names instead of numbers.
const PROJECTIONS: &[(&str, &str)] = &[
    (
        "task",
        "SELECT t.uid, t.agent, t.session, t.told, t.background, p.uid AS parent, t.parent_certainty, c.uid AS continues, \
         f.uid AS forked, t.title, y.text AS agent_type, t.cwd, j.text AS project, m.text AS model, t.started, t.last, \
         t.ended, t.status, t.waiting, t.waiting_since, t.waiting_fact, t.current, t.context_pct, t.events, t.calls, \
         t.failures, t.turns, t.input, t.output, t.cache_read, t.cache_write, t.reasoning, t.cost, t.responses, \
         t.unpriced, t.copies, t.wait_ms, t.client_cost, t.residual \
         FROM task t LEFT JOIN task p ON p.id = t.parent LEFT JOIN task c ON c.id = t.continues \
         LEFT JOIN task f ON f.id = t.forked LEFT JOIN word y ON y.id = t.agent_type \
         LEFT JOIN word j ON j.id = t.project LEFT JOIN word m ON m.id = t.model",
    ),
    (
        "fact",
        "SELECT t.uid, f.fact, f.kind, f.list, f.lane, f.occurred, f.ord, f.ended, f.state, f.open, w.text AS tool, f.turn, \
         f.duration, f.error, f.signature, f.certainty, f.channels, f.data, f.derived \
         FROM fact f JOIN task t ON t.id = f.task LEFT JOIN word w ON w.id = f.tool",
    ),
    (
        "file",
        "SELECT t.uid, w.text AS path, u.reads, u.changes, u.failures FROM file_use u JOIN task t ON t.id = u.task \
         JOIN word w ON w.id = u.path",
    ),
    (
        "touch",
        "SELECT t.uid, w.text AS path, u.occurred, u.fact FROM file_touch u JOIN task t ON t.id = u.task \
         JOIN word w ON w.id = u.path",
    ),
    ("repeat", "SELECT t.uid, r.signature, r.n, r.failures FROM repeat r JOIN task t ON t.id = r.task"),
    (
        "turn",
        "SELECT t.uid, s.turn, s.calls, s.failures, s.records, s.input, s.output, s.cache_read, s.cache_write, s.reasoning, \
         s.cost, s.responses, s.unpriced FROM turn_sum s JOIN task t ON t.id = s.task",
    ),
    (
        "model",
        "SELECT t.uid, w.text AS model, m.copied, m.n, m.input, m.output, m.cache_read, m.cache_write, m.cache_write_1h, \
         m.searches, m.cost, m.unpriced FROM task_model m JOIN task t ON t.id = m.task JOIN word w ON w.id = m.model",
    ),
    (
        "skill",
        "SELECT t.uid, w.text AS skill, s.n, s.failures, s.responses, s.input, s.output, s.cache_read, s.cache_write, \
         s.reasoning, s.cost, s.unpriced FROM task_skill s JOIN task t ON t.id = s.task JOIN word w ON w.id = s.skill",
    ),
    (
        "activation",
        "SELECT t.uid, a.turn, a.occurred, a.fact, w.text AS skill FROM activation a JOIN task t ON t.id = a.task \
         JOIN word w ON w.id = a.skill",
    ),
    (
        "rollup",
        "SELECT r.dim, r.level, r.at, p.text AS project, a.text AS actor, k.text AS key, r.n, r.failures, r.ms, r.wait_ms, \
         r.input, r.output, r.cache_read, r.cache_write, r.reasoning, r.cost, r.unpriced, r.calls FROM rollup r \
         LEFT JOIN word p ON p.id = r.project JOIN word a ON a.id = r.actor JOIN word k ON k.id = r.key",
    ),
    (
        "count",
        "SELECT c.bits, c.at, p.text AS project, c.agent, y.text AS agent_type, c.n, c.run_ms FROM task_count c \
         LEFT JOIN word p ON p.id = c.project LEFT JOIN word y ON y.id = c.agent_type",
    ),
    (
        "latency",
        "SELECT l.level, l.at, p.text AS project, a.text AS actor, w.text AS tool, hex(l.buckets) AS buckets FROM latency l \
         LEFT JOIN word p ON p.id = l.project JOIN word a ON a.id = l.actor JOIN word w ON w.id = l.tool",
    ),
];
