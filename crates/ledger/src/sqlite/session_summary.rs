//! The summary of a task, written on the rows of its end.
//!
//! The newest `session.ended` of a task that is over carries its summary; of a subagent, so does the row with which the
//! tasks above it tell of it (`action.logged`). Where nothing reported that row of the end, the subagent's own end is
//! its. Law: the summary follows from the facts alone. A late fact corrects it, a task that goes on loses it until it
//! ends again, and folding everything anew writes the same.

use std::collections::BTreeSet;

use agent_tracer_event::{Kind, TaskKey, attributes};
use rusqlite::OptionalExtension;
use serde_json::Value;

use super::append::FoldTransaction;
use super::facts::{self, StoredFact};
use super::read::{summary, task};
use super::settle::Change;
use crate::project::{FactRow, List, row};
use crate::view::TaskStatus;

/// The name of the summary among the metadata.
pub(super) const SUMMARY: &str = "summary";

/// The mark of a row whose end is that of its subagent.
const ENDED_BY: &str = attributes::ENDED_BY;

/// The end of a subagent, in the row of a task above it.
const STATUS: &str = attributes::ASYNC_STATUS;

/// A row on a task above begins its natural key with this; the agent's id of the subagent follows.
const SUBAGENT: &str = "subagent:";

/// A subagent that has no session of its own is known by its id behind this.
const VIRTUAL: &str = "sub--";

/// More ends than this of one task are not looked through: a hostile client may end as often as it likes.
const MOST_ENDS: i64 = 200;

impl FoldTransaction<'_> {
    /// Remembers the subagent that a changed row tells of: its summary belongs on that row.
    pub(super) fn note_ending(&mut self, change: &Change) -> rusqlite::Result<()> {
        let Some(name) = change.now().and_then(subagent_id) else { return Ok(()) };
        let names = [format!("{VIRTUAL}{name}"), name.to_owned()];
        let Some(agent) = self.known_task(change.task)?.map(|known| known.agent) else { return Ok(()) };
        for name in names {
            let uid = TaskKey::new(agent, name).task_id();
            let found: Option<i64> = self
                .conn
                .prepare_cached("SELECT id FROM task WHERE uid = ?1")?
                .query_row([uid.as_str()], |row| row.get(0))
                .optional()?;
            if let Some(task) = found {
                self.counted.insert(task, true);
            }
        }
        Ok(())
    }

    /// Writes anew what the tasks came to whose numbers or standing changed, and those above them.
    pub(super) fn settle_summaries(&mut self) -> rusqlite::Result<()> {
        for (above, below) in std::mem::take(&mut self.parted) {
            if !self.ancestors(below)?.contains(&above)
                && let Some(stored) = self.row_of(above, below)?
            {
                self.write_summary(&stored, None)?;
            }
        }
        let mut over: BTreeSet<i64> = BTreeSet::new();
        for (task, has_turned) in std::mem::take(&mut self.counted) {
            if has_turned || self.may_be_over(task)? {
                over.insert(task);
            }
            for above in self.ancestors(task)? {
                if self.may_be_over(above)? {
                    over.insert(above);
                }
            }
        }
        for task in over {
            self.settle_ending(task)?;
        }
        Ok(())
    }

    fn may_be_over(&mut self, task: i64) -> rusqlite::Result<bool> {
        let ends = [TaskStatus::Completed, TaskStatus::Failed, TaskStatus::Abandoned];
        let status = self.known_task(task)?.and_then(|known| known.status);
        Ok(status.is_some_and(|status| ends.iter().any(|end| *end as i64 == status)))
    }

    fn settle_ending(&mut self, task: i64) -> rusqlite::Result<()> {
        let mut ends = facts::select(
            self.conn,
            &format!(
                "WHERE f.task = ?1 AND f.{} ORDER BY f.occurred DESC, f.ord DESC, f.fact DESC LIMIT {MOST_ENDS}",
                facts::in_list(List::SessionEnd)
            ),
            [task],
        )?
        .into_iter();
        let newest = ends.next();
        let mut rows: Vec<StoredFact> = Vec::new();
        for above in self.ancestors(task)? {
            rows.extend(self.row_of(above, task)?);
        }
        for earlier in ends {
            self.write_summary(&earlier, None)?;
        }
        if newest.is_none() && rows.is_empty() {
            return Ok(());
        }
        let standing = task::load(self.conn, task)?.filter(|standing| standing.ended.is_some());
        let is_over = self.may_be_over(task)? && standing.is_some();
        let summary = if is_over { summary::at_end(self.conn, task)? } else { None };
        let end = standing.filter(|_| is_over).and_then(|standing| {
            let word = match standing.status {
                TaskStatus::Failed => "failed",
                TaskStatus::Abandoned => "cancelled",
                TaskStatus::Running | TaskStatus::Waiting | TaskStatus::Completed => "completed",
            };
            Some((word, standing.ended?))
        });
        if let Some(newest) = newest {
            self.write_summary(&newest, summary.as_ref())?;
        }
        for stored in rows {
            self.write_end(&stored, summary.as_ref(), end)?;
        }
        Ok(())
    }

    /// Returns the row with which a task tells of one below it.
    pub(super) fn row_of(&mut self, above: i64, below: i64) -> rusqlite::Result<Option<StoredFact>> {
        let session: Option<String> = self
            .conn
            .prepare_cached("SELECT session FROM task WHERE id = ?1")?
            .query_row([below], |row| row.get(0))
            .optional()?;
        let Some(session) = session else { return Ok(None) };
        let name = session.strip_prefix(VIRTUAL).unwrap_or(&session);
        let number = row::number(&format!("{SUBAGENT}{name}"));
        let fact: Option<i64> = self
            .conn
            .prepare_cached("SELECT fact FROM alias WHERE task = ?1 AND key = ?2")?
            .query_row([above, number], |row| row.get(0))
            .optional()?;
        let stored = facts::load(self.conn, above, fact.unwrap_or(number))?;
        Ok(stored.filter(|stored| stored.row.kind == Some(Kind::ActionLogged)))
    }

    /// Takes away from a row what it has of the subagent that it tells of: nothing is known of that any more.
    pub(super) fn forget_subagent(&mut self, stored: &StoredFact) -> rusqlite::Result<()> {
        self.write_summary(stored, None)
    }

    /// Lays a summary over a row's metadata, or takes it away. No sum counts it.
    fn write_summary(&mut self, stored: &StoredFact, summary: Option<&Value>) -> rusqlite::Result<()> {
        self.write_end(stored, summary, None)
    }

    /// Writes the row, and how and when the subagent ended that a row tells of, if the row says that it runs.
    fn write_end(
        &mut self,
        stored: &StoredFact,
        summary: Option<&Value>,
        end: Option<(&str, i64)>,
    ) -> rusqlite::Result<()> {
        let mut new = stored.row.clone();
        if forget_end(&mut new) {
            new.ended = None;
        }
        if let Some((word, ended)) = end
            && new.text(STATUS) == Some("running")
        {
            new.derived.insert(STATUS.to_owned(), Value::from(word));
            new.derived.insert(ENDED_BY.to_owned(), Value::from("agent"));
            new.ended = Some(ended);
        } else if let Some((_, ended)) = end.filter(|_| new.ended.is_none()) {
            new.derived.insert(ENDED_BY.to_owned(), Value::from("agent"));
            new.ended = Some(ended);
        }
        match summary {
            Some(summary) => new.derived.insert(SUMMARY.to_owned(), summary.clone()),
            None => new.derived.shift_remove(SUMMARY),
        };
        // Which of them came first must not show.
        new.derived.sort_keys();
        if new == stored.row {
            return Ok(());
        }
        let seq = if self.is_rebuild { stored.changed } else { self.memory.seq };
        facts::save_derived(self.conn, stored.id, &new, seq)?;
        self.changed.insert((stored.task, stored.row.fact));
        Ok(())
    }
}

/// Removes the fields that the end of a subagent added to a row. Returns `true` if there were any.
pub(super) fn forget_end(row: &mut FactRow) -> bool {
    let was_ours = row.derived.shift_remove(ENDED_BY).is_some();
    if was_ours {
        row.derived.shift_remove(STATUS);
    }
    was_ours
}

/// Returns the agent's id of the subagent that a row tells of.
fn subagent_id(row: &FactRow) -> Option<&str> {
    row.data.key.strip_prefix(SUBAGENT).filter(|_| row.kind == Some(Kind::ActionLogged))
}
