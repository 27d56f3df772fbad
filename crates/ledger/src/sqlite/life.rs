//! The facts that decide the status of a task, kept between transactions.
//!
//! Everything here can be read from the task's own facts. Most facts only add to it, so it is read once and then
//! updated with each change. A change that it cannot follow makes it unknown, and it is read again when it is next
//! needed.

use agent_tracer_event::{CallState, Kind, attributes};
use rusqlite::{Connection, OptionalExtension};
use serde_json::Value;

use super::facts;
use crate::project::list::list_code;
use crate::project::status::{Marks, SWAP_MS};
use crate::project::{FactRow, List};
use crate::view::WaitingReason;

/// Something that may wait for a person.
#[derive(Clone, Copy, Debug, PartialEq)]
struct PersonWait {
    at: i64,
    reason: WaitingReason,
    fact: i64,
    /// Whatever the task does next is its answer.
    ends_with_work: bool,
}

/// The facts that decide the status of one task.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Life {
    /// The newest moments. What follows from other tasks is not among them.
    marks: Marks,
    asking: Vec<PersonWait>,
    /// The first event.
    pub(crate) started: Option<i64>,
    /// The last one.
    pub(crate) last: Option<i64>,
    /// The current activity; unknown after calls began or ended.
    current: Option<Option<String>>,
    /// The position of the newest snapshot of the context, and the used share in it.
    context: Option<((i64, i64, i64), Option<f64>)>,
    /// The moment when its first process began, if that was because a context was cleared.
    pub(crate) cleared: Option<i64>,
}

/// Returns the place of a row among those of its task.
fn position(row: &FactRow) -> (i64, i64, i64) {
    (row.occurred, row.order, row.fact)
}

fn fill(row: &FactRow) -> Option<f64> {
    row.meta(attributes::CONTEXT_WINDOW_USED_PCT).and_then(Value::as_f64)
}

impl Life {
    /// Reads it from the facts of a task.
    pub(crate) fn read(conn: &Connection, task: i64) -> rusqlite::Result<Self> {
        let newest = |list: List| -> rusqlite::Result<Option<i64>> {
            let list = facts::in_list(list);
            conn.prepare_cached(&format!("SELECT max(occurred) FROM fact WHERE task = ?1 AND {list}"))?
                .query_row([task], |row| row.get(0))
        };
        let call: Option<i64> = conn
            .prepare_cached(
                "SELECT occurred FROM fact WHERE task = ?1 AND kind >= 0 AND tool IS NOT NULL AND state IS NOT NULL \
                 ORDER BY occurred DESC, ord DESC, fact DESC LIMIT 1",
            )?
            .query_row([task], |row| row.get(0))
            .optional()?;
        let (started, last) = conn
            .prepare_cached(
                "SELECT (SELECT min(occurred) FROM fact WHERE task = ?1 AND kind >= 0), \
                        (SELECT max(occurred) FROM fact WHERE task = ?1 AND kind >= 0)",
            )?
            .query_row([task], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut marks = Marks {
            prompt: newest(List::Prompt)?,
            call,
            session_start: newest(List::SessionStart)?,
            session_end: newest(List::SessionEnd)?,
            interrupt: newest(List::Interrupt)?,
            ..Marks::default()
        };
        read_stops(conn, task, &mut marks)?;
        if marks.session_end.is_some() {
            marks.cancelled = newest_of(conn, task, List::SessionEnd, is_cancelled)?;
        }
        marks.blocked = newest_of(conn, task, List::Rule, blocks_end)?;
        let context = facts::select(
            conn,
            &format!(
                "WHERE f.task = ?1 AND f.list = {} AND f.kind = {} \
                 ORDER BY f.occurred DESC, f.ord DESC, f.fact DESC LIMIT 1",
                List::Context.code(),
                Kind::ContextSnapshot as i64
            ),
            [task],
        )?;
        let start = facts::select(
            conn,
            concat!(
                "WHERE f.task = ?1 AND f.list = ",
                list_code!(SessionStart),
                " ORDER BY f.occurred LIMIT 1"
            ),
            [task],
        )?;
        Ok(Self {
            marks,
            asking: newest_waits(conn, task)?,
            started,
            last,
            current: None,
            context: context.first().map(|stored| (position(&stored.row), fill(&stored.row))),
            cleared: start
                .first()
                .filter(|stored| stored.row.text(attributes::SESSION_SOURCE) == Some("clear"))
                .map(|stored| stored.row.occurred),
        })
    }

    /// Applies a change of one of the facts. Returns `false` if it cannot, and the task must be read again.
    pub(crate) fn follow(&mut self, old: Option<&FactRow>, new: Option<&FactRow>) -> bool {
        let is_open = |row: Option<&FactRow>| row.is_some_and(|row| row.open);
        // The title of the running call is read only when it is shown: most calls end before anybody looks.
        if is_open(old) || is_open(new) {
            self.current = None;
        }
        match (old, new) {
            (None, Some(new)) => self.gain(new),
            (Some(old), Some(new)) => {
                let reported = |row: &FactRow| (row.list, row.occurred, row.kind.is_some(), row.is_call());
                // Of these more counts than that they are there.
                let reads_on = matches!(
                    new.list,
                    List::Stop
                        | List::Permission
                        | List::Question
                        | List::Context
                        | List::SessionStart
                        | List::SessionEnd
                        | List::Rule
                );
                reported(old) == reported(new) && !reads_on
            }
            (_, None) => false,
        }
    }

    /// Takes a new fact.
    fn gain(&mut self, new: &FactRow) -> bool {
        let at = Some(new.occurred);
        let marks = &mut self.marks;
        match new.list {
            // What these mean depends on their neighbours (which of two stops came last, whether a question was
            // answered), so the few newest are read again.
            List::Stop | List::Permission | List::Question | List::SessionStart => return false,
            List::Prompt => marks.prompt = marks.prompt.max(at),
            List::SessionEnd => {
                marks.session_end = marks.session_end.max(at);
                if is_cancelled(new) {
                    marks.cancelled = marks.cancelled.max(at);
                }
            }
            List::Rule if blocks_end(new) => marks.blocked = marks.blocked.max(at),
            List::Interrupt => marks.interrupt = marks.interrupt.max(at),
            List::Context
                if new.kind == Some(Kind::ContextSnapshot)
                    && self.context.is_none_or(|(newest, _)| position(new) > newest) =>
            {
                self.context = Some((position(new), fill(new)));
            }
            _ => {}
        }
        if new.is_call() {
            marks.call = marks.call.max(at);
        }
        if new.kind.is_some() {
            self.started = Some(self.started.map_or(new.occurred, |first| first.min(new.occurred)));
            self.last = self.last.max(at);
        }
        true
    }

    /// Returns whether its process has ever ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.marks.session_end.is_some()
    }

    /// Returns the newest end of its process.
    pub(crate) fn session_end(&self) -> Option<i64> {
        self.marks.session_end
    }

    /// Returns the newest of what may end a call without a recorded end.
    pub(crate) fn newest_boundary(&self) -> Option<i64> {
        let marks = &self.marks;
        let stop = marks.stop.map(|(at, _)| at).max(marks.failure);
        marks.prompt.max(stop).max(marks.interrupt).max(marks.session_end)
    }

    /// Returns how full the context was at the newest snapshot.
    pub(crate) fn context(&self) -> Option<f64> {
        self.context.and_then(|(_, fill)| fill)
    }

    /// Returns the current activity of the task: the title of its newest running call.
    pub(crate) fn current(&mut self, conn: &Connection, task: i64) -> rusqlite::Result<Option<String>> {
        if let Some(known) = &self.current {
            return Ok(known.clone());
        }
        let newest = format!(
            "WHERE f.task = ?1 AND f.open = 1 AND f.state = {} ORDER BY f.occurred DESC, f.fact LIMIT 1",
            CallState::Running as i64
        );
        let running = facts::select(conn, &newest, [task])?;
        let current = running.into_iter().next().map(|stored| stored.row.data.title);
        self.current = Some(current.clone());
        Ok(current)
    }

    /// Returns the newest moments, with what waits among them.
    pub(crate) fn marks(&self) -> Marks {
        let mut marks = self.marks.clone();
        let went_on = marks
            .prompt
            .max(marks.call)
            .max(marks.interrupt)
            .max(marks.stop.map(|(at, _)| at))
            .max(marks.failure);
        // Hooks of one moment overtake each other by some milliseconds, so only what came clearly later answers a
        // question.
        let is_answered = |at: i64| went_on.is_some_and(|later| later > at + SWAP_MS);
        let waits = self.asking.iter().filter(|asking| !asking.ends_with_work || !is_answered(asking.at));
        marks.pending = waits.map(|asking| (asking.at, asking.reason, asking.fact)).max();
        marks
    }
}

/// Returns whether an end of a process was a stop by another process while it worked.
fn is_cancelled(end: &FactRow) -> bool {
    end.text(attributes::COMPLETION_REASON) == Some("cancelled")
}

/// Returns whether a rule kept the task from ending.
pub(super) fn blocks_end(rule: &FactRow) -> bool {
    rule.text(attributes::RULE_OUTCOME) == Some("block_stop")
        && rule.text(attributes::RULE_STATUS) == Some("enforced")
        && matches!(rule.data.hook_event_name.as_deref(), Some("Stop" | "SubagentStop"))
}

/// More facts of one list than this are not looked through for one that matters.
const MOST_LOOKED: i64 = 64;

/// Returns the newest moment of a fact that matters.
fn newest_of(
    conn: &Connection,
    task: i64,
    list: List,
    matters: fn(&FactRow) -> bool,
) -> rusqlite::Result<Option<i64>> {
    let newest = facts::select(
        conn,
        &format!(
            "WHERE f.task = ?1 AND f.{} ORDER BY f.occurred DESC, f.ord DESC, f.fact DESC LIMIT {MOST_LOOKED}",
            facts::in_list(list)
        ),
        [task],
    )?;
    Ok(newest.iter().find(|stored| matters(&stored.row)).map(|stored| stored.row.occurred))
}

/// Reads the newest stops: a failure and an answer can share a turn, and the newest few tell which came last.
fn read_stops(conn: &Connection, task: i64, marks: &mut Marks) -> rusqlite::Result<()> {
    let list = facts::in_list(List::Stop);
    let stops = facts::select(
        conn,
        &format!("WHERE f.task = ?1 AND f.{list} ORDER BY f.occurred DESC LIMIT 4"),
        [task],
    )?;
    for stop in stops.into_iter().rev().map(|stored| stored.row) {
        // A stop inside of a subagent is not the end of it.
        if stop.meta(attributes::ENDS_AGENT) == Some(&Value::Bool(false)) {
            continue;
        }
        if stop.is_failed_stop() {
            marks.failure = marks.failure.max(Some(stop.occurred));
        } else {
            let goes_on =
                stop.meta(attributes::BACKGROUND_TASK_COUNT).and_then(Value::as_i64).unwrap_or(0) > 0;
            if marks.stop.is_none_or(|(at, _)| at <= stop.occurred) {
                marks.stop = Some((stop.occurred, goes_on));
            }
        }
    }
    Ok(())
}

/// Returns the newest things of a task that wait for a person unless it went on.
fn newest_waits(conn: &Connection, task: i64) -> rusqlite::Result<Vec<PersonWait>> {
    let newest = |list: List| {
        let list = facts::in_list(list);
        facts::select(
            conn,
            &format!(
                "WHERE f.task = ?1 AND f.{list} ORDER BY f.occurred DESC, f.ord DESC, f.fact DESC LIMIT 4"
            ),
            [task],
        )
    };
    let mut asking = Vec::new();
    for stored in newest(List::Permission)? {
        let row = stored.row;
        // A decided permission waits for no one, even if the call behind it has not begun.
        if row.text(attributes::DECISION).is_some() {
            continue;
        }
        // Claude Code asks for the permission to call the tool that asks. What the person sees is the question or the
        // plan, not a permission.
        let reason = match row.tool.as_deref().or_else(|| row.text(attributes::TOOL_NAME)) {
            Some("AskUserQuestion" | "request_user_input") => WaitingReason::Question,
            Some("ExitPlanMode") => WaitingReason::Plan,
            _ => WaitingReason::Permission,
        };
        asking.push(PersonWait { at: row.occurred, reason, fact: row.fact, ends_with_work: true });
    }
    for stored in newest(List::Question)? {
        let row = stored.row;
        let waits = if row.open {
            row.state == Some(CallState::Running)
        } else {
            row.text(attributes::QUESTION_PHASE) == Some("asked") && row.state.is_none()
        };
        if waits {
            let is_elicited = row.text(attributes::MCP_SERVER_NAME).is_some();
            let reason = if is_elicited { WaitingReason::Elicitation } else { WaitingReason::Question };
            asking.push(PersonWait { at: row.occurred, reason, fact: row.fact, ends_with_work: !row.open });
        }
    }
    Ok(asking)
}
