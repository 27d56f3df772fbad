//! What rows say of their task: where it works, on which branch, by which client, whose child it is.
//!
//! Every row repeats it; it is told when it is new.

use agent_tracer_event::{Agent, Certainty, Phase, Subject, TaskKey, attributes};
use serde_json::Value;

use super::scan::Cursor;
use super::telling::{Telling, put};
use super::text::Text;

/// Tells of the task if anything of it has changed.
pub(super) fn of(told: &mut Telling<'_, '_>) {
    continues(told);
    paid_by(told);
    let row = told.row;
    let agent = told.agent.clone();
    if !row.attribution_agent.is_empty() && !agent.is_empty() {
        let kind = told.word(row.attribution_agent);
        told.lane().agent_type = Some(kind);
    }
    let kind = told.lane().agent_type.clone();
    let mut place = [row.cwd, row.branch, row.version, row.entrypoint].map(|text| text.raw()).join(&b'\n');
    place.extend_from_slice(kind.as_deref().unwrap_or_default().as_bytes());
    let moved = told.state.changed(&format!("task:{agent}"), &place);
    // Only prompts name the mode; another row does not take it back.
    let mode = row.permission_mode;
    let switched = !mode.is_empty() && told.state.changed(&format!("mode:{agent}"), mode.raw());
    if !moved && !switched {
        return;
    }
    let mut entry = told.entry(Subject::Task, Phase::Update, "task");
    for (name, text) in [
        (attributes::CWD, row.cwd),
        (attributes::GIT_BRANCH, row.branch),
        (attributes::CLIENT_VERSION, row.version),
        (attributes::ENTRYPOINT, row.entrypoint),
        (attributes::PERMISSION_MODE, mode),
    ] {
        if !text.is_empty() {
            put(&mut entry.metadata, name, told.rules.word(&text.decode()));
        }
    }
    if agent.is_empty() {
        put(&mut entry.metadata, attributes::AGENT_TYPE, "main");
    } else {
        put(&mut entry.metadata, attributes::AGENT_ID, agent);
        put(&mut entry.metadata, attributes::AGENT_TYPE, kind.unwrap_or_default());
        put(&mut entry.metadata, attributes::ROOT_SESSION, told.session.as_str());
    }
    told.push(entry);
    if moved && !told.agent.is_empty() {
        // The call that started the agent says who did. The session is a guess, and the session of its first row the best:
        // after `/clear` an agent that still runs writes under the name of the new session.
        let mut guess = told.entry(Subject::Task, Phase::Update, "task");
        guess.evidence.certainty = Certainty::Guessed;
        put(&mut guess.metadata, attributes::PARENT_SESSION, told.session.as_str());
        put(&mut guess.metadata, attributes::PARENT_CERTAINTY, Certainty::Guessed.as_str());
        told.push(guess);
    }
}

/// Tells whose account holds what an agent's rows cost where that may not be the session that started the agent: the row
/// says so, or the file goes on with a conversation that began in another one.
fn paid_by(told: &mut Telling<'_, '_>) {
    if told.agent.is_empty() {
        return;
    }
    let goes_on = told.is_agent_file && !told.row.parent.is_empty();
    let named = told.word(told.row.request_session);
    let session = told.session.clone();
    let lane = told.lane();
    if !lane.begun {
        lane.begun = true;
        lane.paid_by = (goes_on && !lane.forked).then_some(session);
    }
    if !named.is_empty() {
        lane.paid_by = Some(named);
    }
    let Some(payer) = lane.paid_by.clone() else { return };
    let child = told.actor();
    if !told.state.changed(&format!("paidBy:{}", child.runtime_session), payer.as_bytes()) {
        return;
    }
    let mut entry = told.entry(Subject::Task, Phase::Update, "task");
    entry.metadata.insert(format!("{PAID_BY}{payer}"), Value::Bool(true));
    let mut account = told.entry(Subject::Task, Phase::Update, "task");
    account.task = TaskKey::new(Agent::CLAUDE_CODE, payer);
    account.metadata.insert(format!("{PAID_FOR}{}", child.runtime_session), Value::Bool(true));
    told.push(entry);
    told.push(account);
}

/// Begins the name under which an agent's task says which session's account holds some of its responses.
const PAID_BY: &str = attributes::PAID_BY_PREFIX;

/// Begins the name under which a session's task says that its account holds responses of an agent.
const PAID_FOR: &str = attributes::PAID_FOR_PREFIX;

/// Tells which session this one goes on from after `/clear`: the client goes on under the name of the one it was
/// started with, which is the one before unless it was cleared more than once.
fn continues(told: &mut Telling<'_, '_>) {
    if !told.state.cleared || told.row.process_session.is_empty() {
        return;
    }
    told.state.cleared = false;
    let before = told.word(told.row.process_session);
    if before == told.session {
        return;
    }
    let mut entry = told.entry(Subject::Task, Phase::Update, "task");
    entry.evidence.certainty = Certainty::Inferred;
    put(&mut entry.metadata, attributes::CONTINUES, before);
    told.push(entry);
}

/// Tells which session a row says it was copied from.
pub(super) fn forked_from(told: &mut Telling<'_, '_>) {
    let Some(named) = told.row.forked_from else { return };
    let mut parent = Text::default();
    let read = Cursor::new(named).members(|cursor, name| {
        if name.is("sessionId") {
            parent = cursor.text()?.unwrap_or_default();
            return Ok(());
        }
        cursor.skip()
    });
    let parent = told.word(parent);
    if read.is_err() || parent.is_empty() || !told.state.changed("forkedFrom", parent.as_bytes()) {
        return;
    }
    let mut entry = told.entry(Subject::Task, Phase::Update, "task");
    put(&mut entry.metadata, attributes::FORKED_FROM, parent);
    told.push(entry);
}
