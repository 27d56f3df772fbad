//! Renders the contents of a ledger as text, to compare two ledgers.
//!
//! Left out is only what depends on the order of delivery: the numbers of rows, words and changes.

use std::collections::BTreeMap;

use agent_tracer_event::{Agent, Channel, TaskKey};
use agent_tracer_ledger::{Ledger, Options, RetainedPayload, RowFilter};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use crate::world::Tracer;

/// Sessions of this beginning are posted by hooks over HTTP: the server itself says when they arrived.
pub(crate) const POSTED: &str = "posted-";

/// One row: its table, and the name and the text of each of its values.
type Row = (&'static str, Vec<(String, String)>);

/// Everything that a ledger shows.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LedgerDump {
    rows: Vec<Row>,
}

impl LedgerDump {
    pub(crate) fn of(tracer: &Tracer) -> LedgerDump {
        let conn = connection(tracer);
        let mut rows: Vec<Row> = SHOWN.iter().flat_map(|(table, sql)| select(&conn, table, sql)).collect();
        rows.sort();
        LedgerDump { rows }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Fails the test with the first rows that only one of both has.
    #[track_caller]
    pub(crate) fn must_be(&self, expected: &LedgerDump) {
        let count = |dump: &LedgerDump| {
            let mut counts: BTreeMap<Row, i64> = BTreeMap::new();
            for row in &dump.rows {
                *counts.entry(row.clone()).or_default() += 1;
            }
            counts
        };
        let (mine, theirs) = (count(self), count(expected));
        let only = |some: &BTreeMap<Row, i64>, others: &BTreeMap<Row, i64>| -> Vec<Row> {
            let rows = some.iter().filter(|(row, count)| others.get(*row).unwrap_or(&0) < *count);
            rows.map(|(row, _)| row.clone()).collect()
        };
        let (surplus, missing) = (only(&mine, &theirs), only(&theirs, &mine));
        if surplus.is_empty() && missing.is_empty() {
            return;
        }
        let mut text = format!("{} rows too many, {} too few", surplus.len(), missing.len());
        for row in surplus.iter().take(SHOWN_MOST) {
            text.push_str(&format!("\n+ {}", unlike(row, &missing)));
        }
        for row in missing.iter().take(SHOWN_MOST) {
            text.push_str(&format!("\n- {}", unlike(row, &surplus)));
        }
        panic!("{text}");
    }
}

/// Limit of rows that a failure shows of each side.
const SHOWN_MOST: usize = 12;

/// A row as text: its first two values, and what differs from the row of the other side that begins with the same.
fn unlike((table, cells): &Row, others: &[Row]) -> String {
    let twin = others.iter().find(|(other, theirs)| other == table && theirs.get(..2) == cells.get(..2));
    let is_shown = |place: usize, cell: &(String, String)| {
        place < 2 || twin.is_none_or(|(_, theirs)| !theirs.contains(cell))
    };
    let shown = cells.iter().enumerate().filter(|(place, cell)| is_shown(*place, cell));
    let words: Vec<String> = shown.map(|(_, (name, text))| format!("{name}={text}")).collect();
    format!("{table} {}", words.join(" "))
}

fn connection(tracer: &Tracer) -> Connection {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    Connection::open_with_flags(tracer.ledger(), flags).expect("the ledger")
}

fn select(conn: &Connection, table: &'static str, sql: &str) -> Vec<Row> {
    let mut statement = conn.prepare(sql).expect(table);
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut found = statement.query([]).expect(table);
    let mut rows = Vec::new();
    while let Some(row) = found.next().expect(table) {
        let cell = |(index, name): (usize, &String)| {
            let text = match row.get_ref(index).expect("a value") {
                ValueRef::Null => String::new(),
                ValueRef::Integer(number) => number.to_string(),
                ValueRef::Real(number) => number.to_string(),
                ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
                ValueRef::Blob(blob) => agent_tracer_ledger::unpack(blob),
            };
            (name.clone(), if name == "told" { without_moment(&text) } else { text })
        };
        rows.push((table, columns.iter().enumerate().map(cell).collect()));
    }
    rows
}

/// Keys of a task with a time, and nothing else, that depends on the number of servers and on when they ran: a server
/// records a task's project with the first event that it reads itself, and of equally sure parents the first one
/// counts, which a rewritten description names at another time.
const WITHOUT_MOMENT: [&str; 3] = ["project", "parentSession", "parentCertainty"];

/// Returns what is known of a task without the moments that may differ.
fn without_moment(text: &str) -> String {
    let mut text: Value = serde_json::from_str(text).expect("JSON");
    for key in WITHOUT_MOMENT {
        if let Some(known) = text.get_mut(key) {
            *known = known.as_array().and_then(|known| known.last()).expect("a value").clone();
        }
    }
    text.to_string()
}

/// One number that a question gives.
pub(crate) fn number(tracer: &Tracer, sql: &str) -> i64 {
    connection(tracer).query_row(sql, [], |row| row.get(0)).expect(sql)
}

/// Numbers by name that a question gives.
pub(crate) fn counts(tracer: &Tracer, sql: &str) -> BTreeMap<String, i64> {
    let conn = connection(tracer);
    let mut statement = conn.prepare(sql).expect(sql);
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect(sql);
    rows.map(|row| row.expect("a row")).collect()
}

/// The calls of a session in the order in which people see them: their ids and when they began.
pub(crate) fn timeline(tracer: &Tracer, session: &str) -> Vec<String> {
    let ledger = Ledger::open(&tracer.ledger(), Options::default()).expect("the ledger");
    let task = TaskKey::new(Agent::CLAUDE_CODE, session).task_id();
    let page = ledger.store().timeline(&task, &RowFilter::default()).expect("a timeline");
    let calls = page.items.iter().filter_map(|row| row.tool_use_id.as_ref().map(|id| (id, row.occurred_at)));
    calls.map(|(id, at)| format!("{id} {}", at.0)).collect()
}

/// The envelopes that were brought, as they were.
pub(crate) fn envelopes(tracer: &Tracer) -> Vec<RetainedPayload> {
    retained_payloads(tracer).into_iter().filter(|kept| kept.channel == Channel::Hook).collect()
}

fn retained_payloads(tracer: &Tracer) -> Vec<RetainedPayload> {
    let ledger = Ledger::open(&tracer.ledger(), Options::default()).expect("the ledger");
    let mut all = Vec::new();
    loop {
        let after = all.last().map_or(0, |kept: &RetainedPayload| kept.place);
        let part = ledger.retained_payloads(after, 500).expect("kept bytes");
        if part.is_empty() {
            return all;
        }
        all.extend(part);
    }
}

/// Folds everything anew.
pub(crate) fn rebuild(tracer: &Tracer) {
    let ledger = Ledger::open(&tracer.ledger(), Options::default()).expect("the ledger");
    ledger.rebuild().expect("rebuilt");
    ledger.close();
}

/// Checks that every number of arrivals is the sum of its outcomes; returns the number of arrivals.
#[track_caller]
pub(crate) fn balance(tracer: &Tracer) -> u64 {
    let ledger = Ledger::open(&tracer.ledger(), Options::default()).expect("the ledger");
    let counts = ledger.store().outcomes().expect("outcomes");
    let sum = counts.recorded + counts.duplicate + counts.unrecognised + counts.malformed + counts.refused;
    assert_eq!(counts.received, sum, "{counts:?}");
    counts.received
}

/// Queries that are compared. Posted hooks go without times, because each server sets its own.
const SHOWN: &[(&str, &str)] = &[
    (
        "task",
        "SELECT t.uid, t.session, t.told, t.background, p.uid AS parent, t.parent_certainty, c.uid AS continues, f.uid AS forked, \
         t.title, y.text AS agent_type, t.cwd, j.text AS project, m.text AS model, t.started, t.last, t.ended, t.status, \
         t.waiting, t.waiting_since, t.waiting_fact, t.current, t.context_pct, t.events, t.calls, t.failures, t.turns, \
         t.input, t.output, t.cache_read, t.cache_write, t.reasoning, t.cost, t.responses, t.unpriced, t.copies, t.wait_ms, \
         t.client_cost, t.residual \
         FROM task t LEFT JOIN task p ON p.id = t.parent LEFT JOIN task c ON c.id = t.continues \
         LEFT JOIN task f ON f.id = t.forked LEFT JOIN word y ON y.id = t.agent_type \
         LEFT JOIN word j ON j.id = t.project LEFT JOIN word m ON m.id = t.model WHERE t.session NOT LIKE 'posted-%'",
    ),
    (
        "posted task",
        "SELECT t.uid, t.session, t.title, t.cwd, t.status, t.events, t.calls, t.failures, t.turns FROM task t \
         WHERE t.session LIKE 'posted-%'",
    ),
    (
        "fact",
        "SELECT t.session, f.fact, f.kind, f.list, f.lane, f.occurred, f.ord, f.ended, f.state, f.open, w.text AS tool, \
         f.turn, f.duration, f.error, f.signature, f.certainty, f.channels, f.data, f.derived \
         FROM fact f JOIN task t ON t.id = f.task LEFT JOIN word w ON w.id = f.tool WHERE t.session NOT LIKE 'posted-%'",
    ),
    (
        "posted fact",
        "SELECT t.session, f.fact, f.kind, f.lane, f.state, f.open, w.text AS tool, f.duration, f.error, f.signature, f.channels \
         FROM fact f JOIN task t ON t.id = f.task LEFT JOIN word w ON w.id = f.tool WHERE t.session LIKE 'posted-%'",
    ),
    (
        "entry",
        "SELECT t.session, e.fact, e.uid, e.channel, e.data FROM entry e JOIN task t ON t.id = e.task \
         WHERE t.session NOT LIKE 'posted-%'",
    ),
    (
        "file",
        "SELECT t.session, w.text AS path, u.reads, u.changes, u.failures FROM file_use u JOIN task t ON t.id = u.task \
         JOIN word w ON w.id = u.path",
    ),
    ("repeat", "SELECT t.session, r.signature, r.n, r.failures FROM repeat r JOIN task t ON t.id = r.task"),
    (
        "turn",
        "SELECT t.session, s.turn, s.calls, s.failures, s.records, s.input, s.output, s.cache_read, s.cache_write, \
         s.reasoning, s.cost, s.responses, s.unpriced FROM turn_sum s JOIN task t ON t.id = s.task",
    ),
    (
        "rollup",
        "SELECT r.dim, r.level, p.text AS project, a.text AS actor, k.text AS key, sum(r.n) AS n, sum(r.failures) AS failures, \
         sum(r.ms) AS ms, sum(r.wait_ms) AS wait_ms, sum(r.input) AS input, sum(r.output) AS output, \
         sum(r.cache_read) AS cache_read, sum(r.cache_write) AS cache_write, sum(r.reasoning) AS reasoning, \
         sum(r.cost) AS cost, sum(r.unpriced) AS unpriced FROM rollup r LEFT JOIN word p ON p.id = r.project \
         JOIN word a ON a.id = r.actor JOIN word k ON k.id = r.key GROUP BY 1, 2, 3, 4, 5",
    ),
    (
        "latency",
        "SELECT l.level, l.at, p.text AS project, a.text AS actor, w.text AS tool, hex(l.buckets) AS buckets FROM latency l \
         LEFT JOIN word p ON p.id = l.project JOIN word a ON a.id = l.actor JOIN word w ON w.id = l.tool WHERE w.text <> 'mcp__demo__add'",
    ),
    ("unrecognised", "SELECT agent, version, what, name, n FROM unrecognised"),
    ("meta", "SELECT key, value FROM meta WHERE key IN ('skipped')"),
    ("cursor", "SELECT source, offset FROM cursor"),
];
