//! Folds facts again whose entries changed.

use std::collections::BTreeSet;
use std::rc::Rc;

use agent_tracer_event::Channel;
use rusqlite::Connection;

use super::append::{FoldTransaction, Touch};
use super::facts::StoredFact;
use super::read::follower;
use super::{entry_codec, facts, tasks};
use crate::fold::{SourcedEntry, fold_unnamed};
use crate::project::task_fields::FieldChange;
use crate::project::{FactRow, List};

impl FoldTransaction<'_> {
    /// Folds what was touched and settles whatever depends on it.
    pub(super) fn fold_pending(&mut self) -> rusqlite::Result<()> {
        let mut tasks: BTreeSet<i64> = BTreeSet::new();
        // What is reported about one task may name another that no one has seen yet.
        while let Some((task, change)) = self.reported.pop_first() {
            self.save_reported(task, change)?;
            if change == FieldChange::News {
                tasks.insert(task);
            }
        }
        self.settle_series()?;
        let touched = std::mem::take(&mut self.touched);
        let mut settle = Vec::with_capacity(touched.len());
        for ((task, fact), touch) in touched {
            tasks.insert(task);
            if let Some(change) = self.refold(task, fact, touch)? {
                self.note_ending(&change)?;
                settle.push(change);
            }
        }
        self.settle(&settle)?;
        self.rows.clear();
        self.flush()?;
        self.settle_tasks(tasks)?;
        self.settle_residuals()?;
        self.settle_summaries()
    }

    /// Returns all entries of a fact.
    pub(crate) fn entries(conn: &Connection, task: i64, fact: i64) -> rusqlite::Result<Vec<SourcedEntry>> {
        let Some(key) = tasks::key(conn, task)? else { return Ok(Vec::new()) };
        let mut find =
            conn.prepare_cached("SELECT channel, data FROM entry WHERE task = ?1 AND fact = ?2")?;
        let rows = find.query_map([task, fact], |row| {
            let channel = facts::word_at(Channel::ALL, row.get(0)?).unwrap_or(Channel::Hook);
            let blob = row.get_ref(1)?.as_blob()?;
            Ok(entry_codec::read(blob, &key).map(|entry| SourcedEntry { entry, channel }))
        })?;
        rows.filter_map(Result::transpose).collect()
    }

    /// Folds a fact again. Returns the old and the new row if they differ.
    pub(super) fn refold(
        &mut self,
        task: i64,
        fact: i64,
        touch: Touch,
    ) -> rusqlite::Result<Option<super::settle::Change>> {
        let Some(known) = self.memory.tasks.load(self.conn, &mut self.memory.words, task)? else {
            return Ok(None);
        };
        let (rollup_key, is_new) = (known.rollup_key.clone(), known.is_new);
        // A row has a position of its own if possible, so that a follower can take any part of a commit.
        let seq = match touch.seq {
            _ if self.is_rebuild => self.newest_entry(task, fact)?,
            0 => self.memory.seq,
            seq => seq,
        };
        let old = if is_new && !touch.reload { None } else { facts::load(self.conn, task, fact)? };
        let entries =
            if old.is_none() && !touch.reload { touch.fresh } else { Self::entries(self.conn, task, fact)? };
        let mut new = fold_unnamed(entries).map(|folded| FactRow::new(fact, folded));
        if let (Some(new), Some(old)) = (&mut new, &old) {
            // What follows from neighbours stays until it is settled anew.
            new.derived.clone_from(&old.row.derived);
            if new.list != old.row.list {
                new.derived.shift_remove(super::session_summary::SUMMARY);
            }
            if new.turn.is_none() {
                super::skills::forget(&mut new.derived);
            }
            if new.open && old.row.open {
                new.state = old.row.state;
                new.ended = old.row.ended;
            }
            super::permissions::carry_refusal(new, &old.row);
            super::turns::carry_end(new, &old.row);
            // Settled anew because of this change.
            super::session_summary::forget_end(new);
        }
        if new.as_ref() == old.as_ref().map(|old| &old.row) {
            return Ok(None);
        }
        if let Some(old) = &old {
            self.tally.count(&old.row, &rollup_key, self.pricer, -1);
        }
        let new = match (new, &old) {
            (Some(row), _) => {
                self.tally.count(&row, &rollup_key, self.pricer, 1);
                let id = old.as_ref().map(|old| old.id);
                let is_same_place = old.as_ref().is_some_and(|old| old.row.stands_where(&row));
                if let Some(old) = old.as_ref().filter(|old| old.row.occurred != row.occurred) {
                    follower::forget_document(self.conn, old.row.occurred, old.id)?;
                }
                let id = match id {
                    Some(id) if is_same_place => {
                        facts::save_in_place(self.conn, &mut self.memory.words, id, &row, seq)?;
                        id
                    }
                    id => facts::save(self.conn, &mut self.memory.words, task, id, &row, seq)?,
                };
                self.changed.insert((task, fact));
                if row.list == List::Permission
                    && let Some(input) = row.input()
                    && let Some(known) = self.memory.tasks.load(self.conn, &mut self.memory.words, task)?
                    && let Some(asked) = &mut known.asked
                {
                    asked.insert(input);
                }
                Some(Rc::new(StoredFact { id, task, changed: seq, row }))
            }
            (None, Some(old)) => {
                follower::forget_document(self.conn, old.row.occurred, old.id)?;
                self.conn.prepare_cached("DELETE FROM fact WHERE id = ?1")?.execute([old.id])?;
                self.changed.remove(&(task, fact));
                self.removed.push((task, fact));
                self.rows.remove(&(task, fact));
                None
            }
            (None, None) => None,
        };
        let row = new.as_ref().map(|stored| &stored.row);
        self.follow_life(task, old.as_ref().map(|old| &old.row), row)?;
        if let Some(new) = &new {
            self.rows.insert((task, fact), Rc::clone(new));
        }
        Ok(Some(super::settle::Change { task, old: old.map(|old| old.row), new }))
    }

    fn newest_entry(&self, task: i64, fact: i64) -> rusqlite::Result<i64> {
        let newest: Option<i64> = self
            .conn
            .prepare_cached("SELECT max(seq) FROM entry WHERE task = ?1 AND fact = ?2")?
            .query_row([task, fact], |row| row.get(0))?;
        Ok(newest.unwrap_or(self.memory.seq))
    }
}
