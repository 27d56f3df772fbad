//! Values that are derived from neighbouring facts: the ends of calls without a recorded end, and responses that were
//! reported twice. The answers of people are in [`super::permissions`].
//!
//! Each answer is a function of the facts around it, looked up when one of them changes. So it is the same whatever
//! came first, and folding everything again gives it again.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::rc::Rc;

use agent_tracer_event::{CallState, attributes};
use rusqlite::{Connection, params};
use serde_json::Value;

use super::append::FoldTransaction;
use super::facts::{self, StoredFact};
use super::permissions;
use crate::project::list::list_code;
use crate::project::row::Signature;
use crate::project::{FactRow, List};

/// A fact that changed.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) task: i64,
    pub(crate) old: Option<FactRow>,
    pub(crate) new: Option<Rc<StoredFact>>,
}

impl Change {
    pub(super) fn now(&self) -> Option<&FactRow> {
        self.new.as_ref().map(|stored| &stored.row)
    }

    pub(super) fn both(&self) -> impl Iterator<Item = &FactRow> {
        self.old.iter().chain(self.now())
    }

    /// Returns whether a response left its turn, or is now reported by a caller else.
    fn is_other_response(&self) -> bool {
        let place = |row: &FactRow| (row.list, row.turn, row.signature);
        self.old.as_ref().is_some_and(|old| self.now().map(place) != Some(place(old)))
    }
}

/// The end of a call or a turn that no entry tells of: which fact ended it, when, and how.
pub(super) struct DerivedEnd {
    pub(super) at: i64,
    pub(super) by: &'static str,
    pub(super) state: CallState,
}

/// The reason of a call or a turn that ended because its agent was stopped.
pub(super) const STOPPED: &str = "stopped";

/// The greatest depth to which a tree of tasks is walked. Deeper trees are not believed.
pub(super) const MAX_DEPTH: usize = 32;

impl FoldTransaction<'_> {
    /// Settles everything that the changed facts have to do with.
    pub(super) fn settle(&mut self, changes: &[Change]) -> rusqlite::Result<()> {
        // Sorted sets, so that settling has one order and a rebuild repeats it.
        let mut calls: BTreeSet<(i64, i64)> = BTreeSet::new();
        let mut permissions: BTreeSet<(i64, i64)> = BTreeSet::new();
        // Turns whose responses changed, whether one of them did more than appear, and which they are.
        let mut turns: BTreeMap<(i64, i64), (bool, BTreeSet<i64>)> = BTreeMap::new();
        // What a changed permission asked for: the last one may be gone now and still show on a call.
        let mut asked: BTreeSet<(i64, i64)> = BTreeSet::new();
        // Turns that may end with what changed, and tasks in which a server asked or was answered.
        let mut ending: BTreeSet<(i64, i64)> = BTreeSet::new();
        let mut elicited: BTreeSet<i64> = BTreeSet::new();
        let mut questions: BTreeSet<(i64, i64)> = BTreeSet::new();
        for change in changes {
            for row in change.both() {
                if row.list == List::Turn {
                    ending.insert((change.task, row.fact));
                }
                if row.list == List::Question && super::turns::is_elicitation(row) {
                    elicited.insert(change.task);
                }
                let is_block = row.list == List::Rule && super::life::blocks_end(row);
                // Of the old row as well: a boundary that moved or went away may have ended a turn that is open now.
                if row.list.is_boundary() || row.list == List::SessionStart || is_block {
                    for task in self.tasks_in_reach(change.task, row.list)? {
                        ending.extend(super::turns::turns_before(self.conn, task, row.occurred)?);
                    }
                }
                if row.list == List::Permission {
                    asked.extend(row.input().map(|input| (change.task, input)));
                }
                if row.is_call() {
                    calls.insert((change.task, row.fact));
                    questions.extend((row.list == List::Question).then_some((change.task, row.fact)));
                }
                if row.is_call() || row.list == List::Permission {
                    permissions.extend(row.input().map(|input| (change.task, input)));
                }
                if let (List::Response, Some(turn)) = (row.list, row.turn) {
                    let (is_other, responses) = turns.entry((change.task, turn)).or_default();
                    *is_other |= change.is_other_response();
                    responses.insert(row.fact);
                }
                if row.list.is_boundary() {
                    for task in self.tasks_in_reach(change.task, row.list)? {
                        calls.extend(open_calls(self.conn, task)?);
                    }
                }
            }
        }
        for (task, fact) in calls {
            // A permission that is still open when its call ends gets no answer any more.
            permissions.extend(self.settle_call(task, fact)?.map(|input| (task, input)));
        }
        for (task, input) in permissions {
            // Most calls never ask for a permission, and looking for one costs each of them a query.
            if asked.contains(&(task, input)) || self.was_asked(task, input)? {
                self.settle_permissions(task, input)?;
            }
        }
        for (task, fact) in questions {
            self.settle_question(task, fact)?;
        }
        for (task, turn) in ending {
            self.settle_turn(task, turn)?;
        }
        for task in elicited {
            self.settle_elicitations(task)?;
        }
        let activated = self.note_activations(changes)?;
        for ((task, turn), (is_other, responses)) in turns {
            let is_anew = is_other || self.is_reported_twice(task, turn)?;
            // A response that only appears beside others changes nothing about them; reading all responses of a long
            // turn for each would be quadratic.
            if is_anew {
                self.settle_responses(task, turn)?;
            }
            if !activated.contains(&(task, turn)) && self.has_activations(task)? {
                // Where the activations are as they were, only what changed may be another skill's.
                self.settle_skills(task, turn, (!is_anew).then_some(&responses))?;
            }
        }
        for (task, turn) in activated {
            self.settle_skills(task, turn, None)?;
        }
        self.note_unsettled(changes)?;
        let responses = self.note_holders(changes)?;
        self.settle_owners(&responses)
    }

    /// Returns the tasks whose calls a boundary may end: its own, and for the end of a process all that it started.
    fn tasks_in_reach(&self, task: i64, list: List) -> rusqlite::Result<Vec<i64>> {
        // A subagent lives in the process of its parent: only the end of that process ends its calls, not a prompt or
        // a stop of the parent.
        if list == List::SessionEnd { descendants(self.conn, task) } else { Ok(vec![task]) }
    }

    /// Ends calls and turns of a task without an end of their own, because its process is gone or it belongs to another
    /// one now.
    pub(super) fn settle_open_calls(&mut self, task: i64) -> rusqlite::Result<()> {
        for below in descendants(self.conn, task)? {
            for (task, turn) in super::turns::turns_before(self.conn, below, i64::MAX)? {
                self.settle_turn(task, turn)?;
            }
            for (task, fact) in open_calls(self.conn, below)? {
                if let Some(input) = self.settle_call(task, fact)? {
                    self.settle_permissions(task, input)?;
                }
            }
        }
        Ok(())
    }

    /// Derives the end of a call again. Returns the hash of its input if the end changed.
    fn settle_call(&mut self, task: i64, fact: i64) -> rusqlite::Result<Option<i64>> {
        const OURS: [&str; 2] = [attributes::CLOSED_BY, attributes::ERROR_CLASS];
        let Some(stored) = self.stored(task, fact)? else { return Ok(None) };
        if !stored.row.open && !OURS.iter().any(|key| stored.row.derived.contains_key(*key)) {
            return Ok(None);
        }
        let closing = if stored.row.open { self.closing(task, &stored.row)? } else { None };
        let is_settled = stored.row.state == Some(CallState::Running) && stored.row.ended.is_none();
        if closing.is_none() && stored.row.open && is_settled && stored.row.derived.is_empty() {
            return Ok(None);
        }
        let mut new = stored.row.clone();
        // The answer to a permission follows from the call's end. It is derived again, or an end that moved would
        // keep the old answer.
        permissions::take_back(&mut new);
        for key in OURS {
            new.derived.shift_remove(key);
        }
        if new.open {
            match closing {
                Some(closing) => {
                    new.state = Some(closing.state);
                    new.ended = Some(closing.at);
                    new.derived.insert(attributes::CLOSED_BY.to_owned(), Value::from(closing.by));
                }
                None => {
                    new.state = Some(CallState::Running);
                    new.ended = None;
                }
            }
        }
        // Written rows cost pages and a new position in the stream; a row that would read the same is left alone.
        if permissions::is_same_refusal(&stored.row, &new) {
            return Ok(None);
        }
        permissions::note_wait(&mut new);
        let news = new.input().filter(|_| (new.state, new.ended) != (stored.row.state, stored.row.ended));
        self.replace(&stored, new)?;
        Ok(news)
    }

    /// Returns the first thing after a call's beginning that must have ended it.
    fn closing(&mut self, task: i64, call: &FactRow) -> rusqlite::Result<Option<DerivedEnd>> {
        let mut first: Option<DerivedEnd> = None;
        let mut consider = |at: i64, by: &'static str, state: CallState| {
            if first.as_ref().is_none_or(|first| at < first.at) {
                first = Some(DerivedEnd { at, by, state });
            }
        };
        let is_behind = |moment: Option<i64>| moment.is_some_and(|at| at > call.occurred);
        let newest = self.life(task)?.and_then(|life| life.newest_boundary());
        for (list, by, state) in [
            (List::Prompt, "prompt", CallState::Interrupted),
            (List::Stop, "stop", CallState::Interrupted),
            (List::Interrupt, "interrupt", CallState::Interrupted),
            (List::SessionEnd, self.end_word(task, call.occurred)?, CallState::Abandoned),
        ] {
            let state = if by == STOPPED { CallState::Interrupted } else { state };
            // A call that still runs has no boundary behind it: the memory says so, and no query is needed.
            if !is_behind(newest) {
                break;
            }
            let mut find = self.conn.prepare_cached(&format!(
                "SELECT occurred, turn FROM fact WHERE task = ?1 AND {} AND occurred > ?2 ORDER BY occurred",
                facts::in_list(list)
            ))?;
            let mut rows = find.query([task, call.occurred])?;
            while let Some(row) = rows.next()? {
                let (at, turn): (i64, Option<i64>) = (row.get(0)?, row.get(1)?);
                // What is said while a turn runs does not end its calls.
                let steers = list == List::Prompt && turn.is_some() && turn == call.turn;
                if !steers {
                    consider(at, by, state);
                    break;
                }
            }
        }
        if let Some(end) = self.end_from_above(task, call.occurred)? {
            consider(end.at, end.by, end.state);
        }
        Ok(first)
    }

    /// Returns how the first end of a task's process behind a moment is called.
    fn end_word(&mut self, task: i64, moment: i64) -> rusqlite::Result<&'static str> {
        if self.life(task)?.and_then(|life| life.session_end()).is_none_or(|end| end <= moment) {
            return Ok("session_end");
        }
        let first = facts::select(
            self.conn,
            &format!(
                "WHERE f.task = ?1 AND f.{} AND f.occurred > ?2 ORDER BY f.occurred LIMIT 1",
                facts::in_list(List::SessionEnd)
            ),
            [task, moment],
        )?;
        let is_stop =
            first.first().is_some_and(|end| end.row.text(attributes::COMPLETION_REASON) == Some("cancelled"));
        Ok(if is_stop { STOPPED } else { "session_end" })
    }

    /// Returns the end of everything that a task began at a moment, because its parent ended or its process is gone.
    pub(super) fn end_from_above(&mut self, task: i64, moment: i64) -> rusqlite::Result<Option<DerivedEnd>> {
        let mut first: Option<DerivedEnd> = None;
        let mut consider = |at: i64, by: &'static str| {
            if first.as_ref().is_none_or(|first| at < first.at) {
                first = Some(DerivedEnd { at, by, state: CallState::Abandoned });
            }
        };
        for ancestor in self.ancestors(task)? {
            let newest = self.life(ancestor)?.and_then(|life| life.session_end());
            if newest.is_none_or(|end| end <= moment) {
                continue;
            }
            let end: Option<i64> = self
                .conn
                .prepare_cached(&format!(
                    "SELECT min(occurred) FROM fact WHERE task = ?1 AND {} AND occurred > ?2",
                    facts::in_list(List::SessionEnd)
                ))?
                .query_row([ancestor, moment], |row| row.get(0))?;
            if let Some(at) = end {
                consider(at, "session_end");
            }
        }
        if let Some(at) = self.gone_at(task)?.filter(|at| *at > moment) {
            consider(at, "process_gone");
        }
        Ok(first)
    }

    /// Returns whether the provider's own account and another channel report responses of a turn.
    fn is_reported_twice(&self, task: i64, turn: i64) -> rusqlite::Result<bool> {
        self.conn
            .prepare_cached(concat!(
                "SELECT EXISTS (SELECT 1 FROM fact WHERE task = ?1 AND turn = ?2 AND list = ",
                list_code!(Response),
                " AND signature IS NULL) \
                 AND EXISTS (SELECT 1 FROM fact WHERE task = ?1 AND turn = ?2 AND list = ",
                list_code!(Response),
                " AND signature IS NOT NULL)"
            ))?
            .query_row([task, turn], |row| row.get(0))
    }

    /// Returns a fact as it stands now: from this transaction, or from the table.
    pub(super) fn stored(&self, task: i64, fact: i64) -> rusqlite::Result<Option<Rc<StoredFact>>> {
        // The row of this transaction first: the table has the state before it until everything is settled.
        if let Some(stored) = self.rows.get(&(task, fact)) {
            return Ok(Some(Rc::clone(stored)));
        }
        Ok(facts::load(self.conn, task, fact)?.map(Rc::new))
    }

    /// Discounts what others say of a turn's responses where the provider's own account tells of the turn.
    fn settle_responses(&mut self, task: i64, turn: i64) -> rusqlite::Result<()> {
        let rows = facts::select(
            self.conn,
            concat!("WHERE f.task = ?1 AND f.turn = ?2 AND f.list = ", list_code!(Response)),
            params![task, turn],
        )?;
        let has_records = rows.iter().any(|stored| stored.row.signature == Some(Signature::Account));
        for stored in rows {
            let mut new = stored.row.clone();
            // What a hook says of a response, or what a difference of the client's sums gives, is another account of
            // the same tokens. Counting both would double the cost.
            let second_hand = matches!(new.text(attributes::USAGE_SOURCE), Some("hook" | "difference"));
            if new.text(attributes::NOT_COUNTED) == Some("record") {
                new.derived.shift_remove(attributes::COUNTED);
                new.derived.shift_remove(attributes::NOT_COUNTED);
            }
            if has_records && second_hand {
                new.derived.insert(attributes::COUNTED.to_owned(), Value::Bool(false));
                new.derived.insert(attributes::NOT_COUNTED.to_owned(), Value::from("record"));
            }
            self.replace(&stored, new)?;
        }
        Ok(())
    }

    /// Writes a row that differs only in what follows from others, and keeps the sums true.
    pub(super) fn replace(&mut self, stored: &StoredFact, new: FactRow) -> rusqlite::Result<()> {
        if new == stored.row {
            return Ok(());
        }
        let Some(rollup_key) = self
            .memory
            .tasks
            .load(self.conn, &mut self.memory.words, stored.task)?
            .map(|known| known.rollup_key.clone())
        else {
            return Ok(());
        };
        self.tally.count(&stored.row, &rollup_key, self.pricer, -1);
        self.tally.count(&new, &rollup_key, self.pricer, 1);
        let seq = if self.is_rebuild { stored.changed } else { self.memory.seq };
        facts::save_derived(self.conn, stored.id, &new, seq)?;
        let key = (stored.task, stored.row.fact);
        self.changed.insert(key);
        if new.list == List::Response {
            self.unsettled.insert(stored.task);
        }
        self.follow_life(stored.task, Some(&stored.row), Some(&new))?;
        if let Some(kept) = self.rows.get_mut(&key) {
            *kept = Rc::new(StoredFact { row: new, changed: seq, ..*stored });
        }
        Ok(())
    }
}

fn open_calls(conn: &Connection, task: i64) -> rusqlite::Result<Vec<(i64, i64)>> {
    let mut find = conn.prepare_cached("SELECT task, fact FROM fact WHERE task = ?1 AND open = 1")?;
    find.query_map([task], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// Returns a task and all tasks below it, parents before children.
pub(super) fn descendants(conn: &Connection, task: i64) -> rusqlite::Result<Vec<i64>> {
    let mut all = vec![task];
    let mut seen = HashSet::from([task]);
    let mut level = vec![task];
    let mut find = conn.prepare_cached("SELECT id FROM task WHERE parent = ?1")?;
    for _ in 0..MAX_DEPTH {
        let mut next = Vec::new();
        for parent in level {
            for child in find.query_map([parent], |row| row.get::<_, i64>(0))? {
                let child = child?;
                if seen.insert(child) {
                    all.push(child);
                    next.push(child);
                }
            }
        }
        if next.is_empty() {
            break;
        }
        level = next;
    }
    Ok(all)
}
