//! What follows from neighbours: calls that nobody ended, permissions and their calls, responses told twice.
//!
//! Each answer is a function of the facts around it, looked up when one of them changes. So it is the same whatever
//! came first, and folding everything again gives it again.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::rc::Rc;

use agent_tracer_event::CallState;
use rusqlite::{Connection, params};
use serde_json::Value;

use super::append::Apply;
use super::facts::{self, Stored};
use crate::project::status::SWAP_MS;
use crate::project::{FactRow, List, row};

/// A fact that changed.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) task: i64,
    pub(crate) old: Option<FactRow>,
    pub(crate) new: Option<Rc<Stored>>,
}

impl Change {
    pub(super) fn now(&self) -> Option<&FactRow> {
        self.new.as_ref().map(|stored| &stored.row)
    }

    pub(super) fn both(&self) -> impl Iterator<Item = &FactRow> {
        self.old.iter().chain(self.now())
    }

    /// Whether a response left its turn, or is now told by somebody else.
    fn is_other_response(&self) -> bool {
        let place = |row: &FactRow| (row.list, row.turn, row.signature);
        self.old.as_ref().is_some_and(|old| self.now().map(place) != Some(place(old)))
    }
}

/// The end of a call that nobody ended: which fact ended it, when, and how.
struct Closing {
    at: i64,
    by: &'static str,
    state: CallState,
}

/// How far up or down a tree is walked; deeper trees are not believed.
pub(super) const MAX_DEPTH: usize = 32;

impl Apply<'_> {
    /// Settles everything that the changed facts have to do with.
    pub(super) fn settle(&mut self, changes: &[Change]) -> rusqlite::Result<()> {
        let mut calls: BTreeSet<(i64, i64)> = BTreeSet::new();
        let mut permissions: BTreeSet<(i64, i64)> = BTreeSet::new();
        // Turns whose responses changed, whether one of them did more than appear, and which they are.
        let mut turns: BTreeMap<(i64, i64), (bool, BTreeSet<i64>)> = BTreeMap::new();
        // What a changed permission asked for: the last one may be gone now and still show on a call.
        let mut asked: BTreeSet<(i64, i64)> = BTreeSet::new();
        for change in changes {
            for row in change.both() {
                if row.list == List::Permission {
                    asked.extend(row.signature.map(|signature| (change.task, signature)));
                }
                if row.is_call() {
                    calls.insert((change.task, row.fact));
                }
                if let (Some(signature), true) =
                    (row.signature, row.is_call() || row.list == List::Permission)
                {
                    permissions.insert((change.task, signature));
                }
                if let (List::Response, Some(turn)) = (row.list, row.turn) {
                    let (is_other, responses) = turns.entry((change.task, turn)).or_default();
                    *is_other |= change.is_other_response();
                    responses.insert(row.fact);
                }
                if row.list.is_boundary() {
                    for task in self.reach(change.task, row.list)? {
                        calls.extend(open_calls(self.conn, task)?);
                    }
                }
            }
        }
        for (task, fact) in calls {
            // Whoever was asked whether a call may begin has no answer any more once it ended.
            permissions.extend(self.settle_call(task, fact)?.map(|signature| (task, signature)));
        }
        for (task, signature) in permissions {
            if asked.contains(&(task, signature)) || self.was_asked(task, signature)? {
                self.settle_permissions(task, signature)?;
            }
        }
        let activated = self.note_activations(changes)?;
        for ((task, turn), (is_other, responses)) in turns {
            let is_anew = is_other || self.is_told_twice(task, turn)?;
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

    /// The tasks whose calls a boundary may end: its own, and for the end of a process all that it started.
    fn reach(&self, task: i64, list: List) -> rusqlite::Result<Vec<i64>> {
        if list == List::SessionEnd { descendants(self.conn, task) } else { Ok(vec![task]) }
    }

    /// Ends calls of a task that nobody else ended, because its process is gone.
    pub(super) fn settle_open_calls(&mut self, task: i64) -> rusqlite::Result<()> {
        for below in descendants(self.conn, task)? {
            for (task, fact) in open_calls(self.conn, below)? {
                if let Some(signature) = self.settle_call(task, fact)? {
                    self.settle_permissions(task, signature)?;
                }
            }
        }
        Ok(())
    }

    /// Says anew how a call ended. Gives its signature if that is news.
    fn settle_call(&mut self, task: i64, fact: i64) -> rusqlite::Result<Option<i64>> {
        const OURS: [&str; 2] = ["closedBy", "errorClass"];
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
        for key in OURS {
            new.derived.shift_remove(key);
        }
        if new.open {
            match closing {
                Some(closing) => {
                    new.state = Some(closing.state);
                    new.ended = Some(closing.at);
                    new.derived.insert("closedBy".to_owned(), Value::from(closing.by));
                }
                None => {
                    new.state = Some(CallState::Running);
                    new.ended = None;
                }
            }
        }
        let news = new.signature.filter(|_| new.state != stored.row.state);
        self.replace(&stored, new)?;
        Ok(news)
    }

    /// The first thing after a call's beginning that must have ended it.
    fn closing(&mut self, task: i64, call: &FactRow) -> rusqlite::Result<Option<Closing>> {
        let mut first: Option<Closing> = None;
        let mut consider = |at: i64, by: &'static str, state: CallState| {
            if first.as_ref().is_none_or(|first| at < first.at) {
                first = Some(Closing { at, by, state });
            }
        };
        let is_behind = |moment: Option<i64>| moment.is_some_and(|at| at > call.occurred);
        let newest = self.life(task)?.and_then(|life| life.newest_boundary());
        for (list, by, state) in [
            (List::Prompt, "prompt", CallState::Interrupted),
            (List::Stop, "stop", CallState::Interrupted),
            (List::Interrupt, "interrupt", CallState::Interrupted),
            (List::SessionEnd, "session_end", CallState::Abandoned),
        ] {
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
        for ancestor in self.above(task)? {
            if !is_behind(self.life(ancestor)?.and_then(|life| life.session_end())) {
                continue;
            }
            let end: Option<i64> = self
                .conn
                .prepare_cached(&format!(
                    "SELECT min(occurred) FROM fact WHERE task = ?1 AND {} AND occurred > ?2",
                    facts::in_list(List::SessionEnd)
                ))?
                .query_row([ancestor, call.occurred], |row| row.get(0))?;
            if let Some(at) = end {
                consider(at, "session_end", CallState::Abandoned);
            }
        }
        if let Some(at) = self.gone_at(task)?.filter(|at| *at > call.occurred) {
            consider(at, "process_gone", CallState::Abandoned);
        }
        Ok(first)
    }

    /// Whether anybody was ever asked for such a call in this task. Where nobody was, calls need not be compared with
    /// each other.
    fn was_asked(&mut self, task: i64, signature: i64) -> rusqlite::Result<bool> {
        let Some(known) = self.memory.tasks.load(self.conn, &mut self.memory.words, task)? else {
            return Ok(false);
        };
        if let Some(asked) = &known.asked {
            return Ok(asked.contains(&signature));
        }
        let list = facts::in_list(List::Permission);
        let mut find =
            self.conn.prepare_cached(&format!("SELECT signature FROM fact WHERE task = ?1 AND {list}"))?;
        let asked = find.query_map([task], |row| row.get::<_, Option<i64>>(0))?;
        let asked: HashSet<i64> = asked.filter_map(Result::transpose).collect::<rusqlite::Result<_>>()?;
        let was_asked = asked.contains(&signature);
        known.asked = Some(asked);
        Ok(was_asked)
    }

    /// Whether the provider's own account and somebody else tell of responses of a turn.
    fn is_told_twice(&self, task: i64, turn: i64) -> rusqlite::Result<bool> {
        self.conn
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM fact WHERE task = ?1 AND turn = ?2 AND list = 9 AND signature IS NULL) \
                 AND EXISTS (SELECT 1 FROM fact WHERE task = ?1 AND turn = ?2 AND list = 9 AND signature IS NOT NULL)",
            )?
            .query_row([task, turn], |row| row.get(0))
    }

    /// A fact as it stands now: from this transaction, or from the table.
    pub(super) fn stored(&self, task: i64, fact: i64) -> rusqlite::Result<Option<Rc<Stored>>> {
        if let Some(stored) = self.rows.get(&(task, fact)) {
            return Ok(Some(Rc::clone(stored)));
        }
        Ok(facts::load(self.conn, task, fact)?.map(Rc::new))
    }

    /// Joins permissions with the calls that they were asked for: same task, same input, the call begun before.
    fn settle_permissions(&mut self, task: i64, signature: i64) -> rusqlite::Result<()> {
        let mut rows = facts::select(
            self.conn,
            "WHERE f.task = ?1 AND f.signature = ?2 ORDER BY f.occurred, f.ord, f.fact",
            [task, signature],
        )?;
        let Some(uid) =
            self.memory.tasks.load(self.conn, &mut self.memory.words, task)?.map(|known| known.uid.clone())
        else {
            return Ok(());
        };
        rows.retain(|stored| stored.row.is_call() || stored.row.list == List::Permission);
        let calls: Vec<Stored> = rows.iter().filter(|stored| stored.row.is_call()).cloned().collect();
        let mut waits: Vec<Option<i64>> = vec![None; calls.len()];
        for stored in rows.iter().filter(|stored| stored.row.list == List::Permission) {
            let mut new = stored.row.clone();
            for key in ["toolUseId", "callId", "decision", "waitMs"] {
                new.derived.shift_remove(key);
            }
            let joined = calls
                .iter()
                .enumerate()
                .rfind(|(_, call)| call.row.occurred <= stored.row.occurred + SWAP_MS);
            if let Some((index, call)) = joined {
                let id = agent_tracer_event::FactId::from_number(&uid, call.row.fact.cast_unsigned());
                new.derived.insert("callId".to_owned(), Value::from(id.as_str()));
                if let Some(id) = &call.row.data.tool_use_id {
                    new.derived.insert("toolUseId".to_owned(), Value::from(id.as_str()));
                }
                if let Some((decision, wait)) = answer(&stored.row, &call.row) {
                    new.derived.insert("decision".to_owned(), Value::from(decision));
                    if let Some(wait) = wait {
                        new.derived.insert("waitMs".to_owned(), Value::from(wait));
                        if let Some(known) = waits.get_mut(index) {
                            *known = Some(known.unwrap_or(0) + wait);
                        }
                    }
                }
            }
            self.replace(stored, new)?;
        }
        for (call, wait) in calls.iter().zip(waits) {
            let mut new = call.row.clone();
            new.derived.shift_remove("permissionWaitMs");
            if let Some(wait) = wait {
                new.derived.insert("permissionWaitMs".to_owned(), Value::from(wait));
            }
            self.replace(call, new)?;
        }
        Ok(())
    }

    /// In a turn of which the provider's own account tells, what others say of its responses does not count.
    fn settle_responses(&mut self, task: i64, turn: i64) -> rusqlite::Result<()> {
        let rows = facts::select(
            self.conn,
            "WHERE f.task = ?1 AND f.turn = ?2 AND f.list = 9",
            params![task, turn],
        )?;
        let has_records = rows.iter().any(|stored| stored.row.signature == Some(row::RECORD));
        for stored in rows {
            let mut new = stored.row.clone();
            let second_hand = matches!(new.text("usageSource"), Some("hook" | "difference"));
            if new.text("notCounted") == Some("record") {
                new.derived.shift_remove("counted");
                new.derived.shift_remove("notCounted");
            }
            if has_records && second_hand {
                new.derived.insert("counted".to_owned(), Value::Bool(false));
                new.derived.insert("notCounted".to_owned(), Value::from("record"));
            }
            self.replace(&stored, new)?;
        }
        Ok(())
    }

    /// Writes a row that differs only in what follows from others, and keeps the sums true.
    pub(super) fn replace(&mut self, stored: &Stored, new: FactRow) -> rusqlite::Result<()> {
        if new == stored.row {
            return Ok(());
        }
        let Some(filing) = self
            .memory
            .tasks
            .load(self.conn, &mut self.memory.words, stored.task)?
            .map(|known| known.filing.clone())
        else {
            return Ok(());
        };
        self.tally.count(&stored.row, &filing, self.pricer, -1);
        self.tally.count(&new, &filing, self.pricer, 1);
        let seq = if self.is_rebuild { stored.changed } else { self.memory.seq };
        facts::save_derived(self.conn, stored.id, &new, seq)?;
        let key = (stored.task, stored.row.fact);
        self.changed.insert(key);
        if new.list == List::Response {
            self.unsettled.insert(stored.task);
        }
        self.follow_life(stored.task, Some(&stored.row), Some(&new))?;
        if let Some(kept) = self.rows.get_mut(&key) {
            *kept = Rc::new(Stored { row: new, changed: seq, ..*stored });
        }
        Ok(())
    }
}

/// What a call's end says about the permission that it waited for, and how long the answer took.
fn answer(permission: &FactRow, call: &FactRow) -> Option<(&'static str, Option<i64>)> {
    let asked = permission.occurred;
    match call.state? {
        CallState::Running => None,
        CallState::Denied => Some(("denied", call.ended.map(|ended| (ended - asked).max(0)))),
        CallState::Succeeded | CallState::Failed => {
            // The agent measures the work alone, so what lies between the question and the work was waiting.
            let own = call.text("durationSource") != Some("tracer");
            let begun =
                call.ended.zip(call.duration.filter(|_| own)).map(|(ended, duration)| ended - duration);
            Some(("allowed", begun.map(|begun| (begun - asked).max(0))))
        }
        CallState::Interrupted | CallState::Abandoned => Some(("unanswered", None)),
    }
}

fn open_calls(conn: &Connection, task: i64) -> rusqlite::Result<Vec<(i64, i64)>> {
    let mut find = conn.prepare_cached("SELECT task, fact FROM fact WHERE task = ?1 AND open = 1")?;
    find.query_map([task], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// A task and all tasks below it, parents before children.
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
