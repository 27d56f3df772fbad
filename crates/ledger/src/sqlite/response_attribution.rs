//! Attribution of a response to one task, when rows of several sessions contain it.
//!
//! A fork, a resumed session or a subagent may begin with a copy of another's rows. A copy is a transfer and not new
//! usage: every response counts in one task only. The owner among the tasks with the response is the session that made
//! the request; else one that did not begin as a fork after the response; else a subagent before its session; and at
//! last the one with the smaller id, so that the choice is always the same.

use std::collections::BTreeSet;
use std::rc::Rc;

use agent_tracer_event::attributes;
use rusqlite::{OptionalExtension, params};
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use super::append::FoldTransaction;
use super::facts::{self, StoredFact};
use super::settle::Change;
use crate::project::list::list_code;
use crate::project::{FactRow, List};

/// Marks a holder that was given a copy which is not reported.
const UNTOLD: i64 = 0;

/// Returns the number of a provider's id of a response.
fn number(id: &str) -> i64 {
    xxh3_64(id.as_bytes()).cast_signed()
}

/// Returns the number of a row's response. Only rows of files are ever copied, and they name the message.
pub(super) fn response_of(row: &FactRow) -> Option<i64> {
    if row.list != List::Response {
        return None;
    }
    row.data.metadata.get(attributes::MESSAGE_ID)?.as_str().filter(|id| !id.is_empty()).map(number)
}

/// One who holds a response.
struct Holder {
    task: i64,
    /// None: it was dropped by retention, or is not reported.
    stored: Option<Rc<StoredFact>>,
}

impl FoldTransaction<'_> {
    /// Notes who holds the responses that changed. Gives those of them whose owner may be another one now.
    pub(super) fn note_holders(&mut self, changes: &[Change]) -> rusqlite::Result<BTreeSet<i64>> {
        let mut responses = BTreeSet::new();
        for change in changes {
            let old = change.old.as_ref().and_then(|row| Some((response_of(row)?, row.fact)));
            let new = change.now().and_then(|row| Some((response_of(row)?, row.fact)));
            if old != new {
                if let Some((response, fact)) = old {
                    self.forget_holder(response, change.task, fact)?;
                }
                if let Some((response, fact)) = new {
                    self.add_holder(response, change.task, fact)?;
                }
            }
            responses.extend(old.into_iter().chain(new).map(|(response, _)| response));
            for row in change.both().filter(|row| is_fork(row)) {
                let rows = facts::select(
                    self.conn,
                    concat!("WHERE f.task = ?1 AND f.list = ", list_code!(Response), " AND f.occurred < ?2"),
                    [change.task, row.occurred],
                )?;
                responses.extend(rows.iter().filter_map(|stored| response_of(&stored.row)));
            }
        }
        Ok(responses)
    }

    fn add_holder(&self, response: i64, task: i64, fact: i64) -> rusqlite::Result<()> {
        self.conn
            .prepare_cached("INSERT OR IGNORE INTO holder (response, task, fact) VALUES (?1, ?2, ?3)")?
            .execute([response, task, fact])?;
        Ok(())
    }

    pub(super) fn forget_holder(&self, response: i64, task: i64, fact: i64) -> rusqlite::Result<()> {
        self.conn
            .prepare_cached("DELETE FROM holder WHERE response = ?1 AND task = ?2 AND fact = ?3")?
            .execute([response, task, fact])?;
        Ok(())
    }

    /// Returns the last response that a session was given a copy of, as far as that is reported.
    fn claim(&mut self, task: i64) -> rusqlite::Result<Option<i64>> {
        let known = self.memory.tasks.load(self.conn, &mut self.memory.words, task)?;
        let copied = known.and_then(|known| known.reported.get("account:copied"));
        let last = copied.and_then(|copied| copied.get(attributes::LAST_RESPONSE)?.as_str());
        Ok(last.filter(|id| !id.is_empty()).map(number))
    }

    /// Returns the task that a session was forked from, by the last response that it was given a copy of.
    pub(super) fn claimed(&mut self, task: i64) -> rusqlite::Result<Option<i64>> {
        let Some(response) = self.claim(task)? else { return Ok(None) };
        self.add_holder(response, task, UNTOLD)?;
        let holders = self.holders(response)?;
        Ok(self.owner(&holders)?.filter(|owner| *owner != task))
    }

    /// Forgets which copies a session was given.
    pub(super) fn forget_claim(&mut self, task: i64) -> rusqlite::Result<()> {
        match self.claim(task)? {
            Some(response) => self.forget_holder(response, task, UNTOLD),
            None => Ok(()),
        }
    }

    /// Returns all holders of a response; those without a row were given an untold copy.
    fn holders(&mut self, response: i64) -> rusqlite::Result<Vec<Holder>> {
        let mut find = self.conn.prepare_cached("SELECT task, fact FROM holder WHERE response = ?1")?;
        let found: Vec<(i64, i64)> = find
            .query_map([response], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        let mut holders = Vec::with_capacity(found.len());
        for (task, fact) in found {
            if fact == UNTOLD {
                if self.claim(task)? != Some(response) {
                    // It was given later ones since.
                    self.forget_holder(response, task, UNTOLD)?;
                }
                continue;
            }
            holders.push(Holder { task, stored: self.stored(task, fact)? });
        }
        Ok(holders)
    }

    /// Returns the sessions that were given an untold copy of a response.
    fn claimants(&self, response: i64) -> rusqlite::Result<Vec<i64>> {
        let mut find =
            self.conn.prepare_cached("SELECT task FROM holder WHERE response = ?1 AND fact = ?2")?;
        find.query_map([response, UNTOLD], |row| row.get(0))?.collect()
    }

    /// Returns the task that owns a response.
    fn owner(&mut self, holders: &[Holder]) -> rusqlite::Result<Option<i64>> {
        // Nearly every response has one holder, for which the ranking would read its task and its starts.
        if let [only] = holders {
            return Ok(Some(only.task));
        }
        let mut best = None;
        for holder in holders {
            let rank = self.rank(holder)?;
            if best.as_ref().is_none_or(|(least, _)| rank < *least) {
                best = Some((rank, holder.task));
            }
        }
        Ok(best.map(|(_, task)| task))
    }

    /// Returns how unlikely it is that a holder made the request: the least owns the response.
    fn rank(&mut self, holder: &Holder) -> rusqlite::Result<(bool, u8, bool, bool, String)> {
        let (is_background, uid): (bool, String) = self
            .conn
            .prepare_cached("SELECT background, uid FROM task WHERE id = ?1")?
            .query_row([holder.task], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?
            .unwrap_or_default();
        // What retention dropped has been counted for good.
        let Some(stored) = &holder.stored else { return Ok((false, 0, false, false, uid)) };
        // The client's own word beats every inference; a client that says nothing stands between yes and no.
        let own = match stored.row.meta(attributes::OWN_REQUEST) {
            Some(Value::Bool(true)) => 0,
            Some(Value::Bool(false)) => 2,
            _ => 1,
        };
        let starts = facts::select(
            self.conn,
            concat!("WHERE f.task = ?1 AND f.list = ", list_code!(SessionStart)),
            [holder.task],
        )?;
        let forked_after =
            starts.iter().any(|start| is_fork(&start.row) && stored.row.occurred < start.row.occurred);
        Ok((true, own, forked_after, !is_background, uid))
    }

    /// Attributes each of these responses to a task again.
    pub(super) fn settle_owners(&mut self, responses: &BTreeSet<i64>) -> rusqlite::Result<()> {
        for response in responses {
            let holders = self.holders(*response)?;
            let owner = self.owner(&holders)?;
            let owner_uid: Option<String> = match owner.filter(|_| holders.len() > 1) {
                Some(owner) => self
                    .conn
                    .prepare_cached("SELECT uid FROM task WHERE id = ?1")?
                    .query_row([owner], |row| row.get(0))
                    .optional()?,
                None => None,
            };
            for holder in holders {
                let Some(stored) = holder.stored else { continue };
                let is_copy = stored.row.text(attributes::NOT_COUNTED) == Some("copy");
                if owner == Some(holder.task) && !is_copy {
                    continue;
                }
                let mut new = stored.row.clone();
                if is_copy {
                    for key in [attributes::COUNTED, attributes::NOT_COUNTED, attributes::COPY_OF] {
                        new.derived.shift_remove(key);
                    }
                }
                if owner != Some(holder.task) {
                    new.derived.insert(attributes::COUNTED.to_owned(), Value::Bool(false));
                    new.derived.insert(attributes::NOT_COUNTED.to_owned(), Value::from("copy"));
                    if let Some(uid) = &owner_uid {
                        new.derived.insert(attributes::COPY_OF.to_owned(), Value::from(uid.as_str()));
                    }
                }
                self.replace(&stored, new)?;
            }
            for claimant in self.claimants(*response)? {
                let named = self
                    .memory
                    .tasks
                    .load(self.conn, &mut self.memory.words, claimant)?
                    .is_some_and(|known| known.reported.text(attributes::FORKED_FROM).is_some());
                if !named {
                    self.conn
                        .prepare_cached("UPDATE task SET forked = ?2, changed = ?3 WHERE id = ?1")?
                        .execute(params![
                            claimant,
                            owner.filter(|owner| *owner != claimant),
                            self.memory.seq
                        ])?;
                }
                self.unsettled.insert(claimant);
            }
        }
        Ok(())
    }
}

/// Returns whether a row is the beginning of a fork.
fn is_fork(row: &FactRow) -> bool {
    row.list == List::SessionStart && row.text(attributes::SESSION_SOURCE) == Some("fork")
}
