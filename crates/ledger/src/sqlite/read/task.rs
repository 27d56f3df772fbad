//! Tasks as they are shown: what the row holds, what silence means, what the whole tree spent.

use std::collections::HashMap;

use agent_tracer_event::{Agent, Certainty, Millis, TaskId, attributes};
use rusqlite::{Connection, OptionalExtension, Row};

use super::outbox;
use super::row::agent_at;
use super::staleness::STATUSES;
use super::text::Texts;
use super::usage_sum::{UsageSum, count};
use crate::project::presenters::{TaskSurroundings, TreeSums};
use crate::project::task_fields::TaskFields;
use crate::shipment::TaskSpend;
use crate::sqlite::codec;
use crate::sqlite::facts::word_at;
use crate::store::{Answer, QueryError};
use crate::view::{Task, TaskStatus, TreeNode, WaitingReason};

/// More descendants than this are not shown: the tree of a session has tens, hardly ever hundreds.
pub(crate) const MOST_DESCENDANTS: i64 = 5_000;

const REASONS: [WaitingReason; 5] = [
    WaitingReason::Permission,
    WaitingReason::Question,
    WaitingReason::Elicitation,
    WaitingReason::Plan,
    WaitingReason::Idle,
];

/// Returns the reason at a stored place.
pub(crate) fn reason_at(place: i64) -> Option<WaitingReason> {
    word_at(&REASONS, place)
}

/// Returns the status at a stored place.
pub(crate) fn status_at(place: i64) -> TaskStatus {
    word_at(&STATUSES, place).unwrap_or(TaskStatus::Completed)
}

/// A row of the task table.
#[derive(Clone, Debug)]
pub(crate) struct TaskRow {
    pub(crate) id: i64,
    pub(crate) uid: String,
    pub(crate) agent: Agent,
    pub(crate) session: String,
    pub(crate) reported: TaskFields,
    pub(crate) background: bool,
    pub(crate) parent: Option<i64>,
    pub(crate) parent_certainty: Option<Certainty>,
    pub(crate) continues: Option<i64>,
    pub(crate) forked: Option<i64>,
    pub(crate) title: String,
    pub(crate) agent_type: i64,
    pub(crate) cwd: String,
    pub(crate) project: i64,
    pub(crate) model: Option<i64>,
    pub(crate) machine: i64,
    pub(crate) started: i64,
    pub(crate) last: i64,
    pub(crate) ended: Option<i64>,
    pub(crate) status: TaskStatus,
    pub(crate) waiting: Option<WaitingReason>,
    pub(crate) waiting_since: Option<i64>,
    pub(crate) current: Option<String>,
    pub(crate) context_pct: Option<f64>,
    pub(crate) events: i64,
    pub(crate) calls: i64,
    pub(crate) failures: i64,
    pub(crate) turns: i64,
    pub(crate) wait_ms: i64,
    pub(crate) waiting_fact: Option<i64>,
    pub(crate) spent: TaskSpend,
}

/// The columns of [`TaskRow`], for a query whose `task` table is named `t`; the sums come behind them.
const COLUMNS: &str = "t.id, t.uid, t.agent, t.session, t.told, t.background, t.parent, t.parent_certainty, t.continues, \
    t.forked, t.title, t.agent_type, t.cwd, t.project, t.model, t.machine, t.started, t.last, t.ended, t.status, \
    t.waiting, t.waiting_since, t.current, t.context_pct, t.events, t.calls, t.failures, t.turns, \
    t.wait_ms, t.waiting_fact";

impl TaskRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let certainty: Option<i64> = row.get(7)?;
        let waiting: Option<i64> = row.get(20)?;
        Ok(Self {
            id: row.get(0)?,
            uid: row.get(1)?,
            agent: agent_at(row.get(2)?),
            session: row.get(3)?,
            reported: codec::decode_json(row.get_ref(4)?.as_blob()?).unwrap_or_default(),
            background: row.get(5)?,
            parent: row.get(6)?,
            parent_certainty: certainty.and_then(|place| word_at(Certainty::ALL, place)),
            continues: row.get(8)?,
            forked: row.get(9)?,
            title: row.get(10)?,
            agent_type: row.get(11)?,
            cwd: row.get(12)?,
            project: row.get(13)?,
            model: row.get(14)?,
            machine: row.get(15)?,
            started: row.get(16)?,
            last: row.get(17)?,
            ended: row.get(18)?,
            status: status_at(row.get(19)?),
            waiting: waiting.and_then(reason_at),
            waiting_since: row.get(21)?,
            current: row.get(22)?,
            context_pct: row.get(23)?,
            events: row.get(24)?,
            calls: row.get(25)?,
            failures: row.get(26)?,
            turns: row.get(27)?,
            wait_ms: row.get(28)?,
            waiting_fact: row.get(29)?,
            spent: TaskSpend::read(row, 30)?,
        })
    }
}

/// Returns the task with this number.
pub(crate) fn load(conn: &Connection, id: i64) -> rusqlite::Result<Option<TaskRow>> {
    let sums = TaskSpend::columns();
    conn.prepare_cached(&format!("SELECT {COLUMNS}, {sums} FROM task t WHERE t.id = ?1"))?
        .query_row([id], TaskRow::read)
        .optional()
}

/// Returns the number of a task.
pub(crate) fn number(conn: &Connection, id: &TaskId) -> Answer<i64> {
    let found = conn
        .prepare_cached("SELECT id FROM task WHERE uid = ?1")?
        .query_row([id.as_str()], |row| row.get(0))
        .optional()?;
    found.ok_or(QueryError::NotFound)
}

/// Returns a task and all its descendants, parents before children and siblings by when they began, each with how deep
/// it stands. A ring of parents, which only wrong guesses could make, is walked once.
pub(crate) fn family(conn: &Connection, root: i64) -> rusqlite::Result<Vec<(i64, u32)>> {
    let mut statement = conn.prepare_cached(
        "WITH RECURSIVE family (id, depth) AS ( \
           VALUES (?1, 0) \
           UNION SELECT task.id, family.depth + 1 FROM family JOIN task ON task.parent = family.id WHERE family.depth < 64 \
           LIMIT ?2 \
         ) SELECT family.id, family.depth, task.started, task.uid FROM family CROSS JOIN task ON task.id = family.id",
    )?;
    let rows = statement.query_map([root, MOST_DESCENDANTS], |row| {
        Ok((row.get(0)?, (row.get::<_, u32>(1)?, row.get::<_, i64>(2)?, row.get::<_, String>(3)?)))
    })?;
    let mut seen = std::collections::HashSet::new();
    let mut family: Vec<(i64, (u32, i64, String))> = Vec::new();
    for member in rows {
        let (id, place) = member?;
        if seen.insert(id) {
            family.push((id, place));
        }
    }
    family.sort_by(|(_, one), (_, two)| one.cmp(two));
    Ok(family.into_iter().map(|(id, (depth, ..))| (id, depth)).collect())
}

/// The activity of a task and all its descendants.
#[derive(Clone, Default)]
struct Tree {
    spent: UsageSum,
    calls: i64,
    failures: i64,
}

impl Tree {
    fn own(row: &TaskRow) -> Self {
        Self { spent: row.spent.usage(), calls: row.calls, failures: row.failures }
    }

    fn view(&self) -> TreeSums {
        TreeSums { usage: self.spent.view(), calls: self.calls, failures: self.failures }
    }
}

impl std::ops::AddAssign<&Self> for Tree {
    fn add_assign(&mut self, more: &Self) {
        self.spent += &more.spent;
        self.calls += more.calls;
        self.failures += more.failures;
    }
}

/// Returns the activity of each of these tasks with all its descendants.
fn trees(conn: &Connection, roots: &[i64]) -> rusqlite::Result<HashMap<i64, Tree>> {
    let sums = TaskSpend::columns();
    let mut statement = conn.prepare_cached(&format!(
        "WITH RECURSIVE tree (root, id) AS ( \
           SELECT value, value FROM json_each(?1) \
           UNION SELECT tree.root, task.id FROM tree JOIN task ON task.parent = tree.id \
         ) SELECT tree.root, tree.id, t.calls, t.failures, {sums} FROM tree JOIN task t ON t.id = tree.id"
    ))?;
    let roots = serde_json::to_string(roots).unwrap_or_default();
    let mut sums: HashMap<i64, Tree> = HashMap::new();
    let mut rows = statement.query([roots])?;
    while let Some(row) = rows.next()? {
        let (root, id): (i64, i64) = (row.get(0)?, row.get(1)?);
        let spent = TaskSpend::read(row, 4)?.usage();
        let sum = sums.entry(root).or_default();
        *sum += &Tree { spent: spent.clone(), calls: row.get(2)?, failures: row.get(3)? };
        if root == id {
            sum.spent.client_cost = spent.client_cost;
        }
    }
    Ok(sums)
}

/// Returns these tasks as they are shown at a moment, in the same order. Numbers that name no task are left out.
pub(crate) fn show(conn: &Connection, now: Millis, ids: &[i64]) -> rusqlite::Result<Vec<Task>> {
    let trees = trees(conn, ids)?;
    let mut texts = Texts::new(conn);
    let mut tasks = Vec::with_capacity(ids.len());
    for id in ids {
        if let Some(row) = load(conn, *id)? {
            let tree = trees.get(id).map_or_else(|| Tree::own(&row).view(), Tree::view);
            tasks.push(view(conn, &mut texts, now, row, tree)?);
        }
    }
    Ok(tasks)
}

fn view(
    conn: &Connection,
    texts: &mut Texts<'_>,
    now: Millis,
    row: TaskRow,
    tree: TreeSums,
) -> rusqlite::Result<Task> {
    let children = conn
        .prepare_cached("SELECT count(*) FROM task WHERE parent = ?1 AND events > 0")?
        .query_row([row.id], |row| row.get::<_, i64>(0))?;
    let id = row.id;
    let transcript_path = row.reported.text(attributes::TRANSCRIPT_PATH).map(str::to_owned);
    let task = outbox::derived_task(texts, row, 0)?;
    let has_open_call = task.may_be_stale(now) && has_open_call(conn, id)?;
    let shown =
        task.present(TaskSurroundings { now, has_open_call, children: count(children), tree, owner: None });
    Ok(Task { transcript_path, ..shown })
}

fn has_open_call(conn: &Connection, task: i64) -> rusqlite::Result<bool> {
    conn.prepare_cached("SELECT 1 FROM fact WHERE task = ?1 AND open = 1 LIMIT 1")?.exists([task])
}

/// Returns whether a task is a subagent.
pub(crate) fn is_background(conn: &Connection, task: i64) -> rusqlite::Result<bool> {
    conn.prepare_cached("SELECT 1 FROM task WHERE id = ?1 AND background = 1")?.exists([task])
}

/// Returns one task.
pub(crate) fn task(conn: &Connection, now: Millis, id: &TaskId) -> Answer<Task> {
    let number = number(conn, id)?;
    show(conn, now, &[number])?.pop().ok_or(QueryError::NotFound)
}

/// Returns a task and its descendants, each below its parent.
pub(crate) fn tree(conn: &Connection, now: Millis, id: &TaskId) -> Answer<Vec<TreeNode>> {
    let root = number(conn, id)?;
    let family = family(conn, root)?;
    let mut rows = Vec::with_capacity(family.len());
    for (id, _) in &family {
        rows.extend(load(conn, *id)?);
    }
    // Children come behind their parents: from the end, every sum is complete when it is added to its parent's.
    let mut sums: HashMap<i64, Tree> = rows.iter().map(|row| (row.id, Tree::own(row))).collect();
    for row in rows.iter().rev().filter(|row| row.id != root) {
        let own = sums.get(&row.id).cloned().unwrap_or_default();
        if let Some(parent) = row.parent.and_then(|parent| sums.get_mut(&parent)) {
            *parent += &own;
        }
    }
    let mut children: HashMap<i64, Vec<TaskRow>> = HashMap::new();
    let mut next = Vec::new();
    for row in rows {
        match row.parent {
            Some(parent) if row.id != root => children.entry(parent).or_default().push(row),
            _ => next.push((0_u32, row)),
        }
    }
    let mut texts = Texts::new(conn);
    let mut nodes = Vec::new();
    while let Some((depth, row)) = next.pop() {
        let mut below = children.remove(&row.id).unwrap_or_default();
        below.sort_by_key(|child| std::cmp::Reverse((child.started, child.id)));
        next.extend(below.into_iter().map(|child| (depth + 1, child)));
        let sum = sums.get(&row.id).map_or_else(|| Tree::own(&row).view(), Tree::view);
        nodes.push(TreeNode { depth, task: view(conn, &mut texts, now, row, sum)? });
    }
    Ok(nodes)
}
