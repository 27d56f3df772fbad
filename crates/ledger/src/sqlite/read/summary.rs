//! The numbers of a whole task, and its to-dos.

use agent_tracer_event::{Channel, Kind, Millis, TaskId};
use rusqlite::{Connection, OptionalExtension};
use serde_json::Value;

use super::row::RowBuilder;
use super::task::TaskRow;
use super::usage_sum::{UsageSum, count};
use super::{files, staleness, task};
use crate::project::List;
use crate::project::presenters::{self, About, TimeSpan, TimeSplit};
use crate::sqlite::facts;
use crate::store::{Answer, QueryError};
use crate::view::{Page, SessionView, TaskStatus, TaskSummary, Todo};

/// Returns the numbers of a task with its subagents.
pub(crate) fn summary(conn: &Connection, now: Millis, id: &TaskId) -> Answer<TaskSummary> {
    let root = task::number(conn, id)?;
    let own = task::load(conn, root)?.ok_or(QueryError::NotFound)?;
    let kept = staleness::ReportedState {
        status: own.status,
        waiting: own.waiting,
        last: own.last,
        has_open_call: false,
    };
    let is_running = staleness::present(kept, now.0).0 == TaskStatus::Running;
    let about = RowBuilder::new(conn).about(root)?;
    let sessions = sessions(conn, root, &about, own.started)?;
    Ok(TaskSummary { sessions, ..numbers(conn, &own, is_running)? })
}

/// Returns the numbers of a task that is over, as the row of its end carries them.
pub(crate) fn at_end(conn: &Connection, root: i64) -> rusqlite::Result<Option<Value>> {
    let Some(own) = task::load(conn, root)? else { return Ok(None) };
    let mut reported = serde_json::to_value(numbers(conn, &own, false)?).unwrap_or_default();
    if let Value::Object(reported) = &mut reported {
        reported.shift_remove("sessions");
    }
    Ok(Some(reported))
}

/// The part of a summary that is derived from the task's own facts, and is lost with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FactSummary {
    /// Time in which a turn ran and no person was waited for.
    pub(crate) active_ms: i64,
    /// Different files that it read.
    pub(crate) files_read: i64,
    /// Different files that it changed.
    pub(crate) files_changed: i64,
    /// Permissions that it asked for.
    pub(crate) permissions: i64,
    /// Compactions of its context.
    pub(crate) compactions: i64,
}

impl FactSummary {
    /// Reads the facts of a task, and the values that were kept of dropped ones.
    pub(crate) fn read(conn: &Connection, task: i64) -> rusqlite::Result<Self> {
        let sealed = Self::sealed(conn, task)?;
        let (files_read, files_changed) = files::distinct(conn, &[task])?;
        let stored = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        Ok(Self {
            active_ms: sealed.active_ms + stored(own_time(conn, task)?.active_ms),
            files_read: sealed.files_read + stored(files_read),
            files_changed: sealed.files_changed + stored(files_changed),
            permissions: sealed.permissions + permissions(conn, task)?,
            compactions: sealed.compactions + stored(compactions(conn, task)?),
        })
    }

    /// Returns the values that were kept of facts that retention dropped.
    fn sealed(conn: &Connection, task: i64) -> rusqlite::Result<Self> {
        let kept = conn
            .prepare_cached(
                "SELECT active_ms, files_read, files_changed, permissions, compactions FROM sealed_task WHERE task = ?1",
            )?
            .query_row([task], |row| {
                Ok(Self {
                    active_ms: row.get(0)?,
                    files_read: row.get(1)?,
                    files_changed: row.get(2)?,
                    permissions: row.get(3)?,
                    compactions: row.get(4)?,
                })
            });
        Ok(kept.optional()?.unwrap_or_default())
    }
}

fn permissions(conn: &Connection, task: i64) -> rusqlite::Result<i64> {
    conn.prepare_cached("SELECT count(*) FROM fact WHERE task = ?1 AND list = ?2")?
        .query_row([task, List::Permission.code()], |row| row.get(0))
}

/// Returns whether retention dropped facts of a task.
fn is_sealed(conn: &Connection, task: i64) -> rusqlite::Result<bool> {
    conn.prepare_cached("SELECT 1 FROM sealed_task WHERE task = ?1")?.exists([task])
}

/// Returns whether a hook saw one of these tasks.
fn is_hooked(conn: &Connection, tasks: &[i64]) -> rusqlite::Result<bool> {
    for list in presenters::HOOKED_LISTS {
        let mut find = conn.prepare_cached(&format!(
            "SELECT 1 FROM fact WHERE task = ?1 AND {} AND channels & ?2 <> 0 LIMIT 1",
            facts::in_list(list)
        ))?;
        for task in tasks {
            if find.exists([*task, i64::from(presenters::PERMISSION_CHANNELS)])? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Returns everything but the stays. Files of which only sums are left may be counted once for each task that used
/// them.
fn numbers(conn: &Connection, own: &TaskRow, is_running: bool) -> rusqlite::Result<TaskSummary> {
    let root = own.id;
    let family: Vec<i64> = task::family(conn, root)?.into_iter().map(|(id, _)| id).collect();
    let mut spent = UsageSum { client_cost: own.spent.client_cost, ..UsageSum::default() };
    let (mut last, mut calls, mut failures, mut asked) = (own.last, 0, 0, 0);
    let (mut waits, mut sealed_wait) = (Vec::new(), 0);
    // Facts that retention dropped no longer say who reported them; what is known of their task does.
    let mut was_hooked = false;
    let (mut files_read, mut files_changed) = files::distinct(conn, &family)?;
    for member in &family {
        let Some(row) = task::load(conn, *member)? else { continue };
        spent += &row.spent.usage();
        last = last.max(row.last);
        waits.extend(waits_of(conn, *member)?);
        sealed_wait += sealed_wait_ms(conn, *member)?;
        calls += row.calls;
        failures += row.failures;
        let sealed = FactSummary::sealed(conn, *member)?;
        was_hooked |= is_sealed(conn, *member)? && row.reported.is_from(&[Channel::Hook, Channel::Http]);
        asked += sealed.permissions + permissions(conn, *member)?;
        files_read += count(sealed.files_read);
        files_changed += count(sealed.files_changed);
    }
    let sealed = FactSummary::sealed(conn, root)?;
    let turns = turns_of(conn, root)?;
    // A turn may end later than anything that happened in it: at its limit, or when its process was found gone.
    last = turns.iter().filter_map(|(_, ended)| *ended).fold(last, i64::max);
    let duration_ms = count(last.saturating_sub(own.started));
    let open_until = if is_running { last } else { i64::MIN };
    let time = TimeSplit::new((own.started, last), turns, waits, open_until)
        .plus(TimeSplit { active_ms: count(sealed.active_ms), waiting_ms: count(sealed_wait) }, duration_ms);
    Ok(TaskSummary {
        task_id: own.uid.clone(),
        duration_ms,
        active_ms: time.active_ms,
        waiting_ms: time.waiting_ms,
        turns: count(own.turns),
        tool_calls: count(calls),
        failures: count(failures),
        files_read,
        files_changed,
        permissions: count(asked),
        permissions_recorded: asked > 0 || was_hooked || is_hooked(conn, &family)?,
        compactions: count(sealed.compactions) + compactions(conn, root)?,
        agents: family.len().saturating_sub(1) as u64,
        usage: spent.view(),
        sessions: Vec::new(),
    })
}

/// Returns how the time of one task divides that is over.
fn own_time(conn: &Connection, task: i64) -> rusqlite::Result<TimeSplit> {
    Ok(TimeSplit::new((i64::MIN, i64::MAX), turns_of(conn, task)?, waits_of(conn, task)?, i64::MIN))
}

/// Returns when people were waited for.
fn waits_of(conn: &Connection, task: i64) -> rusqlite::Result<Vec<TimeSpan>> {
    let mut waits = Vec::new();
    for list in presenters::WAITING_LISTS {
        let asked =
            facts::select(conn, &format!("WHERE f.task = ?1 AND f.{}", facts::in_list(list)), [task])?;
        waits.extend(asked.iter().filter_map(|stored| presenters::wait(&stored.row)));
    }
    Ok(waits)
}

/// Returns how long people were waited for in facts that retention dropped.
fn sealed_wait_ms(conn: &Connection, task: i64) -> rusqlite::Result<i64> {
    let kept = conn
        .prepare_cached("SELECT wait_ms FROM sealed_task WHERE task = ?1")?
        .query_row([task], |row| row.get(0))
        .optional()?;
    Ok(kept.unwrap_or(0))
}

/// Returns when turns began and ended.
fn turns_of(conn: &Connection, task: i64) -> rusqlite::Result<Vec<(i64, Option<i64>)>> {
    let mut find = conn.prepare_cached(
        "SELECT occurred, ended FROM fact WHERE task = ?1 AND list = ?2 ORDER BY occurred, ord, fact",
    )?;
    let turns = find.query_map([task, List::Turn.code()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut turns = turns.collect::<rusqlite::Result<Vec<_>>>()?;
    if task::is_background(conn, task)? {
        let (starts, ends) =
            (moments(conn, task, &presenters::RUN_STARTS)?, moments(conn, task, &presenters::RUN_ENDS)?);
        turns.extend(presenters::runs(&starts, &ends));
    }
    Ok(turns)
}

/// Returns when the facts of these lists happened, in their order.
fn moments(conn: &Connection, task: i64, lists: &[List]) -> rusqlite::Result<Vec<i64>> {
    let mut all = Vec::new();
    for list in lists {
        let mut find = conn.prepare_cached(
            "SELECT occurred FROM fact WHERE task = ?1 AND list = ?2 ORDER BY occurred, ord, fact LIMIT ?3",
        )?;
        let most = i64::from(presenters::MOST_SESSIONS);
        for at in find.query_map([task, list.code(), most], |row| row.get::<_, i64>(0))? {
            all.push(at?);
        }
    }
    all.sort_unstable();
    Ok(all)
}

/// Returns how often the context was compacted.
fn compactions(conn: &Connection, task: i64) -> rusqlite::Result<u64> {
    let reported = facts::select(
        conn,
        "WHERE f.task = ?1 AND f.list = ?2 AND f.kind = ?3",
        [task, List::Context.code(), Kind::ContextSaved as i64],
    )?;
    Ok(presenters::compactions(reported.iter().map(|stored| &stored.row)))
}

/// Returns the stays of the process.
fn sessions(conn: &Connection, task: i64, about: &About, started: i64) -> rusqlite::Result<Vec<SessionView>> {
    let select = |list: List| {
        facts::select(
            conn,
            "WHERE f.task = ?1 AND f.list = ?2 ORDER BY f.occurred, f.ord, f.fact LIMIT ?3",
            [task, list.code(), i64::from(presenters::MOST_SESSIONS)],
        )
    };
    let (starts, ends) = (select(List::SessionStart)?, select(List::SessionEnd)?);
    let ends = ends.iter().map(|stored| &stored.row);
    Ok(presenters::sessions(about, started, starts.iter().map(|stored| &stored.row), ends))
}

/// Returns the to-dos of a task, in the order in which they first came up.
pub(crate) fn todos(conn: &Connection, id: &TaskId) -> Answer<Page<Todo>> {
    let task = task::number(conn, id)?;
    let mut changes = facts::select(
        conn,
        "WHERE f.task = ?1 AND f.list = ?2 ORDER BY f.occurred DESC, f.ord DESC, f.fact DESC LIMIT ?3",
        [task, List::Todo.code(), i64::from(presenters::MOST_TODOS)],
    )?;
    changes.reverse();
    let about = RowBuilder::new(conn).about(task)?;
    Ok(Page::whole(presenters::todos(&about, changes.iter().map(|stored| &stored.row))))
}
