//! Ends of turns and questions that no entry tells of.
//!
//! A turn ends with its answer, its failure or its interruption. Where none of these was reported (a client that was
//! killed, an exit in the middle, a limit, hooks that do not name their turn) the first thing behind its beginning that
//! must have ended it does. A question of a server ends with the answer to it, which names the server alone.
//!
//! Law: each end follows from the facts around it, as the ends of calls do ([`super::settle`]).

use std::collections::BTreeSet;

use agent_tracer_event::{CallState, attributes};
use rusqlite::Connection;
use serde_json::Value;

use super::append::FoldTransaction;
use super::facts::{self, StoredFact};
use super::settle::{DerivedEnd, STOPPED};
use crate::project::status::SWAP_MS;
use crate::project::{FactRow, List};

/// The key of the fact that ended a turn, if no entry did.
const CLOSED_BY: &str = attributes::CLOSED_BY;

/// Whatever ends a turn ends the newest one before it. Two are looked at, because two may begin at one moment.
const NEAREST: i64 = 2;

/// More questions of servers in one task than this are not joined with their answers: the newest are.
const MOST_ELICITATIONS: i64 = 200;

/// Returns whether entries leave open how a turn ended.
fn is_open(turn: &FactRow) -> bool {
    turn.ended.is_none() && turn.state.is_none_or(|state| state == CallState::Running)
}

/// Keeps the end of a turn that follows from others until it is settled anew; an end that was reported replaces it.
pub(super) fn carry_end(new: &mut FactRow, old: &FactRow) {
    if new.list != List::Turn || !old.derived.contains_key(CLOSED_BY) {
        return;
    }
    if is_open(new) {
        new.state = old.state;
        new.ended = old.ended;
    } else {
        new.derived.shift_remove(CLOSED_BY);
    }
}

/// Returns the turns of a task that something at this moment may end.
pub(super) fn turns_before(conn: &Connection, task: i64, moment: i64) -> rusqlite::Result<Vec<(i64, i64)>> {
    let mut find = conn.prepare_cached(&format!(
        "SELECT task, fact FROM fact WHERE task = ?1 AND {} AND occurred < ?2 ORDER BY occurred DESC LIMIT {NEAREST}",
        facts::in_list(List::Turn)
    ))?;
    find.query_map([task, moment], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// The ends that rules did not let happen: from the last beginning of work before a rule spoke until then.
struct Blocks(Vec<(i64, i64)>);

impl Blocks {
    fn covers(&self, end: Option<i64>) -> bool {
        end.is_some_and(|end| self.0.iter().any(|(began, blocked)| (*began..=*blocked).contains(&end)))
    }
}

/// Returns the blocked ends of a task behind a moment.
fn blocks_behind(conn: &Connection, task: i64, moment: i64) -> rusqlite::Result<Blocks> {
    let spoken = facts::select(
        conn,
        &format!(
            "WHERE f.task = ?1 AND f.{} AND f.occurred >= ?2 ORDER BY f.occurred LIMIT {MOST_LOOKED}",
            facts::in_list(List::Rule)
        ),
        [task, moment],
    )?;
    let mut blocks = Vec::new();
    for rule in spoken.iter().map(|stored| &stored.row).filter(|row| super::life::blocks_end(row)) {
        let mut began = moment;
        for list in [List::Prompt, List::SessionStart] {
            let newest: Option<i64> = conn
                .prepare_cached(&format!(
                    "SELECT max(occurred) FROM fact WHERE task = ?1 AND {} AND occurred <= ?2",
                    facts::in_list(list)
                ))?
                .query_row([task, rule.occurred], |row| row.get(0))?;
            began = began.max(newest.unwrap_or(began));
        }
        blocks.push((began, rule.occurred));
    }
    Ok(Blocks(blocks))
}

/// Returns whether a question is one of a server, or the answer to one, that no id names.
pub(super) fn is_elicitation(row: &FactRow) -> bool {
    row.text(attributes::MCP_SERVER_NAME).is_some()
        && row.meta(attributes::ELICITATION_ID).is_none()
        && row.tool.is_none()
}

fn is_answer(row: &FactRow) -> bool {
    row.meta(attributes::ELICITATION_RESULT) == Some(&Value::Bool(true))
}

impl FoldTransaction<'_> {
    /// Derives the end of a turn again, if no entry reported it.
    pub(super) fn settle_turn(&mut self, task: i64, fact: i64) -> rusqlite::Result<()> {
        let Some(stored) = self.stored(task, fact)?.filter(|stored| stored.row.list == List::Turn) else {
            return Ok(());
        };
        let is_ours = stored.row.derived.contains_key(CLOSED_BY);
        let blocks = blocks_behind(self.conn, task, stored.row.occurred)?;
        if !is_ours && !is_open(&stored.row) && !blocks.covers(stored.row.ended) {
            return Ok(());
        }
        let mut new = stored.row.clone();
        new.derived.shift_remove(CLOSED_BY);
        (new.state, new.ended) = (None, None);
        if let Some(end) = self.turn_end(task, &new, &blocks)? {
            new.state = Some(end.state);
            new.ended = Some(end.at);
            new.derived.insert(CLOSED_BY.to_owned(), Value::from(end.by));
        }
        self.replace(&stored, new)
    }

    /// Returns the first thing behind a turn's beginning that must have ended it.
    fn turn_end(
        &mut self,
        task: i64,
        turn: &FactRow,
        blocks: &Blocks,
    ) -> rusqlite::Result<Option<DerivedEnd>> {
        let is_background = self.known_task(task)?.is_some_and(|known| known.background);
        let mut first = self.end_from_above(task, turn.occurred)?;
        for list in [List::Prompt, List::Stop, List::Interrupt, List::SessionEnd, List::SessionStart] {
            let until = first.as_ref().map_or(i64::MAX, |first| first.at);
            // The start of a subagent is the beginning of its turn.
            if list == List::SessionStart && is_background {
                continue;
            }
            let found = facts::select(
                self.conn,
                &format!(
                    "WHERE f.task = ?1 AND f.{} AND f.occurred > ?2 AND f.occurred < ?3 \
                     ORDER BY f.occurred, f.ord, f.fact LIMIT {MOST_LOOKED}",
                    facts::in_list(list)
                ),
                [task, turn.occurred, until],
            )?;
            let is_blocked = |row: &FactRow| list == List::Stop && blocks.covers(Some(row.occurred));
            let mut rows = found.iter().map(|stored| &stored.row).filter(|row| !is_blocked(row));
            first = rows.find_map(|row| ends(turn, row)).or(first);
        }
        Ok(first)
    }

    /// Joins questions of servers with their answers: each answer is to the newest question of its server before it
    /// that has none yet.
    pub(super) fn settle_elicitations(&mut self, task: i64) -> rusqlite::Result<()> {
        const OURS: [&str; 2] = [attributes::QUESTION_PHASE, attributes::WAIT_MS];
        let mut rows = facts::select(
            self.conn,
            &format!(
                "WHERE f.task = ?1 AND f.{} ORDER BY f.occurred DESC, f.ord DESC, f.fact DESC LIMIT {MOST_ELICITATIONS}",
                facts::in_list(List::Question)
            ),
            [task],
        )?;
        rows.retain(|stored| is_elicitation(&stored.row));
        rows.reverse();
        let (answers, asked): (Vec<StoredFact>, Vec<StoredFact>) =
            rows.into_iter().partition(|stored| is_answer(&stored.row));
        let mut news: Vec<FactRow> = asked.iter().map(|stored| stored.row.clone()).collect();
        for new in &mut news {
            OURS.iter().for_each(|key| drop(new.derived.shift_remove(*key)));
            new.ended = None;
        }
        let mut answered = BTreeSet::new();
        for answer in &answers {
            let fits = |row: &FactRow| {
                row.occurred <= answer.row.occurred + SWAP_MS
                    && row.text(attributes::MCP_SERVER_NAME) == answer.row.text(attributes::MCP_SERVER_NAME)
            };
            let place = (0..news.len())
                .rev()
                .find(|place| !answered.contains(place) && news.get(*place).is_some_and(fits));
            if let Some((place, new)) = place.and_then(|place| Some((place, news.get_mut(place)?))) {
                answered.insert(place);
                let phase = answer.row.text(attributes::QUESTION_PHASE).unwrap_or("answered");
                new.derived.insert(attributes::QUESTION_PHASE.to_owned(), Value::from(phase));
                let wait = (answer.row.occurred - new.occurred).max(0);
                new.derived.insert(attributes::WAIT_MS.to_owned(), Value::from(wait));
                new.ended = Some(answer.row.occurred);
            }
        }
        for (stored, new) in asked.iter().zip(news) {
            self.replace(stored, new)?;
        }
        Ok(())
    }
}

/// More facts behind a turn's beginning than this are not looked through for the one that ended it.
const MOST_LOOKED: i64 = 64;

/// Returns how a fact behind a turn's beginning ends it, if it does.
fn ends(turn: &FactRow, fact: &FactRow) -> Option<DerivedEnd> {
    let is_own = fact.turn == Some(turn.fact);
    let (by, state) = match fact.list {
        // What is said while a turn runs does not end it.
        List::Prompt if is_own => return None,
        List::Prompt => ("prompt", CallState::Interrupted),
        // Another turn's answer says nothing of this one, whose own would have ended it.
        List::Stop if fact.turn.is_some() && !is_own => return None,
        List::Stop if fact.meta(attributes::ENDS_AGENT) == Some(&Value::Bool(false)) => return None,
        List::Stop if fact.is_failed_stop() => ("stop", CallState::Failed),
        List::Stop => ("stop", CallState::Succeeded),
        // A subagent that ended without a word.
        List::SessionEnd if fact.text(attributes::COMPLETION_REASON) == Some("assistant_turn_complete") => {
            ("session_end", CallState::Succeeded)
        }
        List::Interrupt => ("interrupt", CallState::Interrupted),
        List::SessionEnd if fact.text(attributes::COMPLETION_REASON) == Some("cancelled") => {
            (STOPPED, CallState::Interrupted)
        }
        List::SessionEnd => ("session_end", CallState::Abandoned),
        // A process that begins anew has ended before, and did not say so.
        List::SessionStart => ("session_start", CallState::Interrupted),
        _ => return None,
    };
    Some(DerivedEnd { at: fact.occurred, by, state })
}
