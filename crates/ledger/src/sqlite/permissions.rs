//! The answers of people: to permissions, which belong to calls, and to questions.
//!
//! A permission names no call and has no answer of its own: both follow from the calls with the same input, as the ends
//! of calls do ([`super::settle`]). In Codex "No" cuts the turn off, so that neither hooks nor files tell it from Esc
//! in a running command. What tells them apart is whether the call ran: a call that was being asked about when its turn
//! was cut off, and that nothing saw running, was refused.

use std::collections::HashSet;

use agent_tracer_event::{Agent, CallState, ErrorClass, Metadata, attributes};
use serde_json::Value;

use super::append::FoldTransaction;
use super::facts::{self, StoredFact};
use crate::project::status::SWAP_MS;
use crate::project::{FactRow, List};

/// The time until a permission or a question was answered.
const WAIT: &str = attributes::WAIT_MS;

/// The same, of all permissions of a call together.
const WAIT_OF_CALL: &str = attributes::PERMISSION_WAIT_MS;

/// Marks a call that counts as refused because its turn was cut off.
const REFUSED_BY: &str = attributes::REFUSED_BY;

impl FoldTransaction<'_> {
    /// Returns whether a permission was ever asked for such a call in this task. Where none was, calls need not be
    /// compared with each other.
    pub(super) fn was_asked(&mut self, task: i64, input: i64) -> rusqlite::Result<bool> {
        let Some(known) = self.memory.tasks.load(self.conn, &mut self.memory.words, task)? else {
            return Ok(false);
        };
        // Kept with the task, because each call asks: without it every call of a task that never asked would run the
        // query.
        if let Some(asked) = &known.asked {
            return Ok(asked.contains(&input));
        }
        let list = facts::in_list(List::Permission);
        let mut find =
            self.conn.prepare_cached(&format!("SELECT signature FROM fact WHERE task = ?1 AND {list}"))?;
        let asked = find.query_map([task], |row| row.get::<_, Option<i64>>(0))?;
        let asked: HashSet<i64> = asked.filter_map(Result::transpose).collect::<rusqlite::Result<_>>()?;
        let was_asked = asked.contains(&input);
        known.asked = Some(asked);
        Ok(was_asked)
    }

    /// Joins permissions with the calls that they were asked for: same task, same input, the call begun before.
    pub(super) fn settle_permissions(&mut self, task: i64, input: i64) -> rusqlite::Result<()> {
        let mut rows = facts::select(
            self.conn,
            "WHERE f.task = ?1 AND f.signature = ?2 ORDER BY f.occurred, f.ord, f.fact",
            [task, input],
        )?;
        let known = self.memory.tasks.load(self.conn, &mut self.memory.words, task)?;
        let Some((uid, agent)) = known.map(|known| (known.uid.clone(), known.agent)) else {
            return Ok(());
        };
        rows.retain(|stored| stored.row.is_call() || stored.row.list == List::Permission);
        let calls: Vec<StoredFact> = rows.iter().filter(|stored| stored.row.is_call()).cloned().collect();
        let mut news: Vec<FactRow> = calls.iter().map(|call| call.row.clone()).collect();
        for new in &mut news {
            take_back(new);
            new.derived.shift_remove(WAIT_OF_CALL);
        }
        for stored in rows.iter().filter(|stored| stored.row.list == List::Permission) {
            let mut new = stored.row.clone();
            for key in [attributes::TOOL_USE_ID, attributes::CALL_ID, attributes::DECISION, WAIT] {
                new.derived.shift_remove(key);
            }
            // The last call that began before it. The hooks of the call and of the permission may overtake each other
            // by a few milliseconds.
            let joined = news.iter_mut().rfind(|call| call.occurred <= stored.row.occurred + SWAP_MS);
            if let Some(call) = joined {
                let id = agent_tracer_event::FactId::from_number(&uid, call.fact.cast_unsigned());
                new.derived.insert(attributes::CALL_ID.to_owned(), Value::from(id.as_str()));
                if let Some(id) = &call.data.tool_use_id {
                    new.derived.insert(attributes::TOOL_USE_ID.to_owned(), Value::from(id.as_str()));
                }
                if is_refused(agent, &stored.row, call) {
                    refuse(call);
                }
                if let Some((decision, wait)) = answer(&stored.row, call) {
                    new.derived.insert(attributes::DECISION.to_owned(), Value::from(decision));
                    if let Some(wait) = wait {
                        new.derived.insert(WAIT.to_owned(), Value::from(wait));
                        // A call can be asked about more than once, and people waited for each answer.
                        let before = call.derived.get(WAIT_OF_CALL).and_then(Value::as_i64).unwrap_or(0);
                        call.derived.insert(WAIT_OF_CALL.to_owned(), Value::from(before + wait));
                    }
                }
            }
            self.replace(stored, new)?;
        }
        for (call, mut new) in calls.iter().zip(news) {
            note_wait(&mut new);
            self.replace(call, new)?;
        }
        Ok(())
    }

    /// Writes anew how long a question waited that no permission was asked for.
    pub(super) fn settle_question(&mut self, task: i64, fact: i64) -> rusqlite::Result<()> {
        let Some(stored) = self.stored(task, fact)? else { return Ok(()) };
        let mut new = stored.row.clone();
        note_wait(&mut new);
        self.replace(&stored, new)
    }
}

/// Writes how long a question of a tool waited, if nothing else measured it: it is open until it is answered, so its
/// whole time is the wait.
pub(super) fn note_wait(row: &mut FactRow) {
    if row.list != List::Question || !row.is_call() || row.data.metadata.contains_key(WAIT) {
        return;
    }
    row.derived.shift_remove(WAIT);
    let wait = row.ended.map(|ended| ended - row.occurred).filter(|wait| *wait >= 0);
    if let Some(wait) = wait.filter(|_| row.meta(WAIT_OF_CALL).is_none()) {
        row.derived.insert(WAIT.to_owned(), Value::from(wait));
    }
}

/// Returns whether anything saw the call running: a process of it has a number only once it began.
fn has_run(call: &FactRow) -> bool {
    call.meta(attributes::PROCESS_ID).is_some()
}

/// Returns whether the end of a turn was the answer to a permission that was asked for a call in it.
fn is_refused(agent: Agent, permission: &FactRow, call: &FactRow) -> bool {
    // The dialog for a call of a server has an answer of its own that does not end the turn.
    let is_server = call.tool.as_deref().is_some_and(|tool| tool.starts_with("mcp__"));
    let is_cut_off = matches!(call.text(attributes::CLOSED_BY), None | Some("interrupt"));
    agent.spec().refusal_ends_turn
        && call.state == Some(CallState::Interrupted)
        && is_cut_off
        && !is_server
        && !has_run(call)
        && call.ended.is_none_or(|ended| ended + SWAP_MS >= permission.occurred)
}

/// Makes a call that was cut off one that was refused.
fn refuse(call: &mut FactRow) {
    call.state = Some(CallState::Denied);
    call.error = Some(ErrorClass::Permission);
    call.derived.insert(REFUSED_BY.to_owned(), Value::from("interrupt"));
    call.derived.insert(attributes::ERROR_CLASS.to_owned(), Value::from(ErrorClass::Permission.as_str()));
}

/// Makes a call that was refused one that was cut off again, as its entries or its closing say.
pub(super) fn take_back(call: &mut FactRow) {
    if !forget_refusal(&mut call.derived) {
        return;
    }
    let class = call.data.metadata.get(attributes::ERROR_CLASS).and_then(Value::as_str);
    call.error = class.and_then(ErrorClass::parse);
    if call.state == Some(CallState::Denied) {
        call.state = Some(CallState::Interrupted);
    }
}

/// Keeps the class of a refusal as long as nothing says how the call ended, and else forgets that it was one.
pub(super) fn carry_refusal(new: &mut FactRow, old: &FactRow) {
    if !(new.open && old.open) {
        forget_refusal(&mut new.derived);
    } else if new.derived.contains_key(REFUSED_BY) {
        new.error = old.error;
    }
}

/// Removes the mark of a refusal, whose state and class are not those of the row any more. Returns whether there was
/// one.
fn forget_refusal(derived: &mut Metadata) -> bool {
    let is_marked = derived.shift_remove(REFUSED_BY).is_some();
    if is_marked {
        derived.shift_remove(attributes::ERROR_CLASS);
    }
    is_marked
}

/// Returns whether a call that was refused would be cut off at the same moment as before: then it still is refused.
pub(super) fn is_same_refusal(old: &FactRow, new: &FactRow) -> bool {
    old.derived.contains_key(REFUSED_BY)
        && old.state == Some(CallState::Denied)
        && new.state == Some(CallState::Interrupted)
        && new.ended == old.ended
        && new.text(attributes::CLOSED_BY) == old.text(attributes::CLOSED_BY)
}

/// Returns when a call began to work, by the time that the agent measured: what lies between the question and the work
/// was waiting.
fn begun(call: &FactRow) -> Option<i64> {
    let own = call.text(attributes::DURATION_SOURCE) != Some("tracer");
    call.ended.zip(call.duration.filter(|_| own)).map(|(ended, duration)| ended - duration)
}

/// Returns the answer to a permission that follows from the end of its call, and the time that it took.
fn answer(permission: &FactRow, call: &FactRow) -> Option<(&'static str, Option<i64>)> {
    let asked = permission.occurred;
    let waited = || begun(call).map(|begun| (begun - asked).max(0));
    match call.state? {
        CallState::Running => None,
        // A refused call never ran, so all of the time until its end was spent waiting.
        CallState::Denied => Some(("denied", call.ended.map(|ended| (ended - asked).max(0)))),
        // A call that ran was allowed, by a person or a rule: neither agent reports the answer itself.
        CallState::Succeeded | CallState::Failed => Some(("allowed", waited())),
        CallState::Interrupted if has_run(call) => Some(("allowed", waited())),
        CallState::Interrupted | CallState::Abandoned => Some(("unanswered", None)),
    }
}
