//! Decides which skill a response was given for.
//!
//! Law: what the client says holds. Where it says nothing, a response was given for the skill that was activated last
//! before it in its turn; whatever failed to be activated answers for nothing. The response that asked for the skill
//! came before it. This is the client's own rule, for the activations that it does not count: a skill that was read.

use std::collections::BTreeSet;

use agent_tracer_event::{Metadata, attributes};
use rusqlite::params;
use serde_json::Value;

use super::append::FoldTransaction;
use super::facts::{self, StoredFact};
use super::settle::Change;
use super::words;
use crate::project::list::list_code;
use crate::project::{FactRow, List};

/// The key under which a response names its skill, and who says so.
const OURS: [&str; 2] = [attributes::ATTRIBUTION_SKILL, attributes::ATTRIBUTION_RULE];

/// Takes away what we concluded.
pub(super) fn forget(derived: &mut Metadata) {
    for key in OURS {
        derived.shift_remove(key);
    }
}

/// Returns the turn and the skill of a row that activated one.
fn activated(row: &FactRow) -> Option<(i64, &str)> {
    row.turn.zip(row.skill()).filter(|_| !row.is_failure())
}

impl FoldTransaction<'_> {
    /// Keeps the table of activations. Gives the turns in which they changed.
    pub(super) fn note_activations(&mut self, changes: &[Change]) -> rusqlite::Result<BTreeSet<(i64, i64)>> {
        let mut turns = BTreeSet::new();
        for change in changes {
            let (old, new) = (
                change.old.as_ref().filter(|row| row.skill().is_some()),
                change.now().filter(|row| row.skill().is_some()),
            );
            let place = |row: &FactRow| {
                activated(row).map(|(turn, skill)| (turn, row.occurred, row.fact, skill.to_owned()))
            };
            let (old, new) = (old.and_then(place), new.and_then(place));
            if old == new {
                continue;
            }
            if let Some((turn, occurred, fact, _)) = old {
                self.conn
                    .prepare_cached(
                        "DELETE FROM activation WHERE task = ?1 AND turn = ?2 AND occurred = ?3 AND fact = ?4",
                    )?
                    .execute(params![change.task, turn, occurred, fact])?;
                turns.insert((change.task, turn));
            }
            if let Some((turn, occurred, fact, skill)) = new {
                let skill = self.memory.words.id(self.conn, &skill)?;
                self.conn
                    .prepare_cached(
                        "INSERT OR REPLACE INTO activation (task, turn, occurred, fact, skill) VALUES (?1, ?2, ?3, ?4, ?5)",
                    )?
                    .execute(params![change.task, turn, occurred, fact, skill])?;
                turns.insert((change.task, turn));
                if let Some(known) = self.known_task(change.task)? {
                    known.has_activations = Some(true);
                }
            }
        }
        Ok(turns)
    }

    /// Returns whether any skill was ever activated in this task. Where none was, responses need not be looked at.
    pub(super) fn has_activations(&mut self, task: i64) -> rusqlite::Result<bool> {
        let conn = self.conn;
        let Some(known) = self.known_task(task)? else { return Ok(false) };
        if let Some(has) = known.has_activations {
            return Ok(has);
        }
        let has = conn.prepare_cached("SELECT 1 FROM activation WHERE task = ?1 LIMIT 1")?.exists([task])?;
        known.has_activations = Some(has);
        Ok(has)
    }

    /// Attributes responses of a turn to skills again: these, or all of them.
    pub(super) fn settle_skills(
        &mut self,
        task: i64,
        turn: i64,
        these: Option<&BTreeSet<i64>>,
    ) -> rusqlite::Result<()> {
        let activations: Vec<(i64, i64)> = self
            .conn
            .prepare_cached(
                "SELECT occurred, skill FROM activation WHERE task = ?1 AND turn = ?2 ORDER BY occurred, fact",
            )?
            .query_map([task, turn], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        let Some(these) = these else {
            let all = concat!("WHERE f.task = ?1 AND f.turn = ?2 AND f.list = ", list_code!(Response));
            for stored in facts::select(self.conn, all, params![task, turn])? {
                self.settle_skill(&activations, &stored)?;
            }
            return Ok(());
        };
        for fact in these {
            if let Some(stored) = self.stored(task, *fact)?
                && stored.row.list == List::Response
                && stored.row.turn == Some(turn)
            {
                self.settle_skill(&activations, &stored)?;
            }
        }
        Ok(())
    }

    fn settle_skill(&mut self, activations: &[(i64, i64)], stored: &StoredFact) -> rusqlite::Result<()> {
        let row = &stored.row;
        let is_said = row.data.metadata.get(attributes::ATTRIBUTION_SKILL).is_some_and(Value::is_string);
        let before = activations.partition_point(|(occurred, _)| *occurred < row.occurred);
        let last = before.checked_sub(1).and_then(|last| activations.get(last)).filter(|_| !is_said);
        if last.is_none() && !OURS.iter().any(|key| row.derived.contains_key(*key)) {
            return Ok(());
        }
        let mut new = row.clone();
        forget(&mut new.derived);
        if let Some((_, skill)) = last
            && let Some(name) = words::text(self.conn, *skill)?
        {
            new.derived.insert(attributes::ATTRIBUTION_SKILL.to_owned(), Value::from(name));
            new.derived.insert(attributes::ATTRIBUTION_RULE.to_owned(), Value::from("turn"));
        }
        self.replace(stored, new)
    }
}
