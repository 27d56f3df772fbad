//! The task table: what was told of a task, and where it stands.

use std::collections::{BTreeMap, BTreeSet};

use agent_tracer_event::{Certainty, Kind, TaskKey};
use rusqlite::{OptionalExtension, params};
use serde_json::Value;

use super::append::Apply;
use super::settle::{MAX_DEPTH, ancestors, descendants};
use super::tasks::actor;
use super::{codec, facts};
use crate::project::List;
use crate::project::status::{Marks, SWAP_MS};
use crate::project::tally::{DOLLAR, Filing};
use crate::project::told::Heard;
use crate::view::{TaskStatus, WaitingReason};

/// A cleared context continues in a new session of the same process at once.
const CLEAR_MS: i64 = 60_000;

struct Sealed {
    started: i64,
    last: i64,
    status: TaskStatus,
    ended: Option<i64>,
}

impl Apply<'_> {
    /// Writes what was told of a task.
    pub(super) fn save_told(&mut self, task: i64, heard: Heard) -> rusqlite::Result<()> {
        let Some(known) = self.memory.tasks.load(self.conn, &mut self.memory.words, task)? else {
            return Ok(());
        };
        let blob = codec::encode_json(&known.told);
        if heard < Heard::News {
            self.conn
                .prepare_cached("UPDATE task SET told = ?2 WHERE id = ?1")?
                .execute(params![task, blob])?;
            return Ok(());
        }
        let (told, agent, old_filing, is_new) =
            (known.told.clone(), known.agent, known.filing.clone(), known.is_new);
        let other = |apply: &mut Self, field: &str| -> rusqlite::Result<Option<i64>> {
            match told.text(field) {
                Some(session) => apply.task(&TaskKey::new(agent, session)).map(Some),
                None => Ok(None),
            }
        };
        let parent = other(self, "parentSession")?.filter(|parent| *parent != task);
        let named = other(self, "forkedFrom")?.filter(|from| *from != task);
        // A session that names no parent was forked from the one that owns what it was given.
        let claimed = self.claimed(task)?;
        let forked = named.or(claimed);
        self.unsettled.insert(task);
        let continues = other(self, "continues")?.filter(|from| *from != task);
        let cwd = told.text("cwd").unwrap_or_default();
        let project = told.text("project").or(told.text("projectDir")).unwrap_or(cwd);
        let agent_type = told.text("agentType").unwrap_or("main");
        let words = &mut self.memory.words;
        let model = told.text("model").map(|model| words.id(self.conn, model)).transpose()?;
        let machine = words.id(self.conn, &self.memory.machine_id)?;
        let filing = Filing {
            task,
            project: words.id(self.conn, project)?,
            actor: words.id(self.conn, &actor(agent, agent_type))?,
        };
        let agent_type = words.id(self.conn, agent_type)?;
        if !is_new {
            self.settle_moved(task, parent)?;
        }
        self.conn
            .prepare_cached(
                "UPDATE task SET told = ?2, parent = ?3, parent_certainty = ?4, forked = ?5, \
                 continues = coalesce(?6, continues), title = ?7, agent_type = ?8, cwd = ?9, project = ?10, model = ?11, \
                 machine = ?12, pid = ?13, pid_start = ?14, client_cost = ?15, changed = ?16, \
                 background = max(background, ?17) WHERE id = ?1",
            )?
            .execute(params![
                task,
                blob,
                parent,
                parent.and(told.certainty("parentSession")).map(|certainty: Certainty| certainty as i64),
                forked,
                continues,
                told.title().unwrap_or_default(),
                agent_type,
                cwd,
                filing.project,
                model,
                machine,
                told.number("pid"),
                told.number("pidStart"),
                client_cost(told.get("account")),
                self.memory.seq,
                parent.is_some(),
            ])?;
        if filing != old_filing {
            if !is_new {
                self.refile(&old_filing, &filing)?;
            }
            if let Some(known) = self.memory.tasks.load(self.conn, &mut self.memory.words, task)? {
                known.filing = filing;
            }
        }
        if told.number("processGoneAt").is_some() {
            self.settle_open_calls(task)?;
        }
        Ok(())
    }

    /// A task that gets another parent leaves one behind, which may run only because of it; and what it started itself
    /// now ends with others.
    fn settle_moved(&mut self, task: i64, parent: Option<i64>) -> rusqlite::Result<()> {
        let left: Option<i64> = self
            .conn
            .prepare_cached("SELECT parent FROM task WHERE id = ?1")?
            .query_row([task], |row| row.get(0))
            .optional()?
            .flatten();
        if left == parent {
            return Ok(());
        }
        let near = descendants(self.conn, task)?.into_iter().filter(|below| *below != task).chain(left);
        for near in near.collect::<Vec<_>>() {
            self.told.insert(near, Heard::News);
            self.unsettled.insert(near);
        }
        Ok(())
    }

    /// Moves the sums of a task to another project or type of agent.
    fn refile(&mut self, old: &Filing, new: &Filing) -> rusqlite::Result<()> {
        for stored in facts::select(self.conn, "WHERE f.task = ?1", [old.task])? {
            self.tally.count(&stored.row, old, self.pricer, -1);
            self.tally.count(&stored.row, new, self.pricer, 1);
        }
        if let Some(residual) = self.stored_residual(old.task)? {
            self.tally.count_residual(&residual, old, -1);
            self.tally.count_residual(&residual, new, 1);
        }
        Ok(())
    }

    /// Says anew where tasks stand, children before parents, and whoever depends on them.
    pub(super) fn settle_tasks(&mut self, tasks: BTreeSet<i64>) -> rusqlite::Result<()> {
        let mut depths: BTreeMap<(usize, i64), ()> = BTreeMap::new();
        let add =
            |apply: &Self, depths: &mut BTreeMap<(usize, i64), ()>, task: i64| -> rusqlite::Result<()> {
                let depth = ancestors(apply.conn, task)?.len();
                depths.insert((MAX_DEPTH.saturating_sub(depth), task), ());
                Ok(())
            };
        for task in tasks {
            add(self, &mut depths, task)?;
            if let Some(parent) = ancestors(self.conn, task)?.first() {
                add(self, &mut depths, *parent)?;
            }
            if self.has_ended(task)? {
                for near in descendants(self.conn, task)?.into_iter().chain(self.same_process(task)?) {
                    add(self, &mut depths, near)?;
                }
            }
        }
        while let Some(((_, task), ())) = depths.pop_first() {
            if self.settle_task(task)? {
                // A parent runs as long as one of its children does.
                if let Some(parent) = ancestors(self.conn, task)?.first() {
                    add(self, &mut depths, *parent)?;
                }
            }
        }
        Ok(())
    }

    fn has_ended(&self, task: i64) -> rusqlite::Result<bool> {
        self.conn
            .prepare_cached(&format!(
                "SELECT 1 FROM fact WHERE task = ?1 AND {} LIMIT 1",
                facts::in_list(List::SessionEnd)
            ))?
            .exists([task])
    }

    /// Tasks of the same process: one of them may continue this one.
    fn same_process(&self, task: i64) -> rusqlite::Result<Vec<i64>> {
        let mut find = self.conn.prepare_cached(
            "SELECT other.id FROM task mine JOIN task other ON other.pid = mine.pid \
             AND other.pid_start IS mine.pid_start AND other.id <> mine.id WHERE mine.id = ?1 LIMIT 64",
        )?;
        find.query_map([task], |row| row.get(0))?.collect()
    }

    /// Says anew where a task stands. Tells whether that changed.
    fn settle_task(&mut self, task: i64) -> rusqlite::Result<bool> {
        let marks = self.marks(task)?;
        let mut standing = marks.standing();
        let (mut started, mut last): (Option<i64>, Option<i64>) = self
            .conn
            .prepare_cached(
                "SELECT (SELECT min(occurred) FROM fact WHERE task = ?1 AND kind >= 0), \
                        (SELECT max(occurred) FROM fact WHERE task = ?1 AND kind >= 0)",
            )?
            .query_row([task], |row| Ok((row.get(0)?, row.get(1)?)))?;
        if let Some(sealed) = self.sealed(task)? {
            if last.is_none() {
                standing.status = sealed.status;
                standing.ended = sealed.ended;
                standing.waiting = None;
            }
            started = Some(started.map_or(sealed.started, |started| started.min(sealed.started)));
            last = last.max(Some(sealed.last));
        }
        let current = self.current(task)?;
        let context = self.context(task)?;
        let continues = self.continues(task)?;
        let before: Option<i64> = self
            .conn
            .prepare_cached("SELECT status FROM task WHERE id = ?1")?
            .query_row([task], |row| row.get(0))
            .optional()?;
        let (reason, since, fact) = match standing.waiting {
            Some((reason, since, fact)) => (Some(reason as i64), Some(since), fact),
            None => (None, None, None),
        };
        self.conn
            .prepare_cached(
                "UPDATE task SET status = ?2, waiting = ?3, waiting_since = ?4, waiting_fact = ?5, ended = ?6, \
                 started = ?7, last = ?8, current = ?9, context_pct = ?10, continues = ?11, changed = ?12 WHERE id = ?1",
            )?
            .execute(params![
                task,
                standing.status as i64,
                reason,
                since,
                fact,
                standing.ended,
                started.unwrap_or(0),
                last.unwrap_or(0),
                current,
                context,
                continues,
                self.memory.seq,
            ])?;
        Ok(before != Some(standing.status as i64))
    }

    /// What is left of a task after retention dropped its events.
    fn sealed(&self, task: i64) -> rusqlite::Result<Option<Sealed>> {
        self.conn
            .prepare_cached("SELECT started, last, status, ended FROM sealed_task WHERE task = ?1")?
            .query_row([task], |row| {
                let status = match row.get::<_, i64>(2)? {
                    0 => TaskStatus::Running,
                    1 => TaskStatus::Waiting,
                    3 => TaskStatus::Failed,
                    4 => TaskStatus::Abandoned,
                    _ => TaskStatus::Completed,
                };
                Ok(Sealed { started: row.get(0)?, last: row.get(1)?, status, ended: row.get(3)? })
            })
            .optional()
    }

    fn newest(&self, task: i64, list: List) -> rusqlite::Result<Option<i64>> {
        self.conn
            .prepare_cached(&format!(
                "SELECT max(occurred) FROM fact WHERE task = ?1 AND {}",
                facts::in_list(list)
            ))?
            .query_row([task], |row| row.get(0))
    }

    fn marks(&self, task: i64) -> rusqlite::Result<Marks> {
        let background: bool = self
            .conn
            .prepare_cached("SELECT background FROM task WHERE id = ?1")?
            .query_row([task], |row| row.get(0))
            .optional()?
            .unwrap_or(false);
        let call: Option<i64> = self
            .conn
            .prepare_cached(
                "SELECT occurred FROM fact WHERE task = ?1 AND kind >= 0 AND tool IS NOT NULL AND state IS NOT NULL \
                 ORDER BY occurred DESC, ord DESC, fact DESC LIMIT 1",
            )?
            .query_row([task], |row| row.get(0))
            .optional()?;
        let mut marks = Marks {
            prompt: self.newest(task, List::Prompt)?,
            call,
            session_start: self.newest(task, List::SessionStart)?,
            session_end: self.newest(task, List::SessionEnd)?,
            interrupt: self.newest(task, List::Interrupt)?,
            gone: self.gone_at(task)?,
            children_run: self
                .conn
                .prepare_cached(
                    "SELECT 1 FROM task WHERE parent = ?1 AND status IN (0, 1) AND events > 0 LIMIT 1",
                )?
                .exists([task])?,
            background,
            ..Marks::default()
        };
        for ancestor in ancestors(self.conn, task)? {
            marks.ancestor_end = marks.ancestor_end.max(self.newest(ancestor, List::SessionEnd)?);
        }
        // A failure and an answer can share a turn; the newest few tell which came last.
        let stops = facts::select(
            self.conn,
            &format!(
                "WHERE f.task = ?1 AND f.{} ORDER BY f.occurred DESC LIMIT 4",
                facts::in_list(List::Stop)
            ),
            [task],
        )?;
        for stop in stops.into_iter().rev().map(|stored| stored.row) {
            if stop.text("stopReason").is_some_and(|reason| reason.starts_with("error:")) {
                marks.failure = marks.failure.max(Some(stop.occurred));
            } else {
                let goes_on = stop.meta("backgroundTaskCount").and_then(Value::as_i64).unwrap_or(0) > 0;
                if marks.stop.is_none_or(|(at, _)| at <= stop.occurred) {
                    marks.stop = Some((stop.occurred, goes_on));
                }
            }
        }
        marks.pending = self.pending(task, &marks)?;
        Ok(marks)
    }

    /// The newest thing that waits for a person and has no answer.
    fn pending(&self, task: i64, marks: &Marks) -> rusqlite::Result<Option<(i64, WaitingReason, i64)>> {
        let went_on = marks
            .prompt
            .max(marks.call)
            .max(marks.interrupt)
            .max(marks.stop.map(|(at, _)| at))
            .max(marks.failure);
        let is_answered = |at: i64| went_on.is_some_and(|later| later > at + SWAP_MS);
        let newest = |list: List| {
            facts::select(
                self.conn,
                &format!(
                    "WHERE f.task = ?1 AND f.{} ORDER BY f.occurred DESC, f.ord DESC, f.fact DESC LIMIT 4",
                    facts::in_list(list)
                ),
                [task],
            )
        };
        let mut pending: Option<(i64, WaitingReason, i64)> = None;
        for stored in newest(List::Permission)? {
            let row = stored.row;
            if row.text("decision").is_some() || is_answered(row.occurred) {
                continue;
            }
            let reason = match row.tool.as_deref().or_else(|| row.text("toolName")) {
                Some("AskUserQuestion" | "request_user_input") => WaitingReason::Question,
                Some("ExitPlanMode") => WaitingReason::Plan,
                _ => WaitingReason::Permission,
            };
            pending = pending.max(Some((row.occurred, reason, row.fact)));
        }
        for stored in newest(List::Question)? {
            let row = stored.row;
            let waits = if row.open {
                row.state == Some(agent_tracer_event::CallState::Running)
            } else {
                row.text("questionPhase") == Some("asked")
                    && row.state.is_none()
                    && !is_answered(row.occurred)
            };
            if waits {
                let reason = if row.text("mcpServerName").is_some() {
                    WaitingReason::Elicitation
                } else {
                    WaitingReason::Question
                };
                pending = pending.max(Some((row.occurred, reason, row.fact)));
            }
        }
        Ok(pending)
    }

    /// What a task does just now: its newest call that runs.
    fn current(&self, task: i64) -> rusqlite::Result<Option<String>> {
        let running = facts::select(
            self.conn,
            "WHERE f.task = ?1 AND f.open = 1 AND f.state = 0 ORDER BY f.occurred DESC, f.fact LIMIT 1",
            [task],
        )?;
        Ok(running.into_iter().next().map(|stored| stored.row.data.title))
    }

    /// How full the context was at the newest snapshot.
    fn context(&self, task: i64) -> rusqlite::Result<Option<f64>> {
        let newest = facts::select(
            self.conn,
            &format!(
                "WHERE f.task = ?1 AND f.list = 8 AND f.kind = {} \
                 ORDER BY f.occurred DESC, f.ord DESC, f.fact DESC LIMIT 1",
                Kind::ContextSnapshot as i64
            ),
            [task],
        )?;
        Ok(newest.first().and_then(|stored| stored.row.meta("contextWindowUsedPct")).and_then(Value::as_f64))
    }

    /// The task whose context was cleared to begin this one: the same process ended it just before.
    fn continues(&self, task: i64) -> rusqlite::Result<Option<i64>> {
        let starts =
            facts::select(self.conn, "WHERE f.task = ?1 AND f.list = 3 ORDER BY f.occurred LIMIT 1", [task])?;
        let Some(start) = starts.first().filter(|stored| stored.row.text("sessionSource") == Some("clear"))
        else {
            return self
                .conn
                .prepare_cached("SELECT continues FROM task WHERE id = ?1")?
                .query_row([task], |row| row.get(0))
                .optional()
                .map(Option::flatten);
        };
        let at = start.row.occurred;
        self.conn
            .prepare_cached(
                "SELECT other.id FROM task mine JOIN task other ON other.pid = mine.pid \
                   AND other.pid_start IS mine.pid_start AND other.id <> mine.id AND other.agent = mine.agent \
                 JOIN fact f ON f.task = other.id AND f.list = 4 AND f.occurred BETWEEN ?2 AND ?3 \
                 WHERE mine.id = ?1 ORDER BY f.occurred DESC LIMIT 1",
            )?
            .query_row([task, at - CLEAR_MS, at + SWAP_MS], |row| row.get(0))
            .optional()
    }
}

/// What the client's own account says that the session cost, in pico-dollars.
fn client_cost(account: Option<&Value>) -> Option<i64> {
    let dollars = account?.get("clientCostUsd")?.as_f64()?;
    (dollars.is_finite() && (0.0..1e6).contains(&dollars)).then_some((dollars * DOLLAR as f64).round() as i64)
}
