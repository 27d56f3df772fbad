//! Reads the task from its rows: directory, branch, client and parent.
//!
//! Every row repeats it; it is recorded when it is new.

use agent_tracer_event::{Agent, Certainty, Phase, Subject, TaskKey, attributes};
use serde_json::Value;

use super::scan::Cursor;
use super::text::Text;
use super::writer::{RowWriter, put};

/// Tells of the task if anything of it has changed.
pub(super) fn of(writer: &mut RowWriter<'_, '_>) {
    continues(writer);
    paid_by(writer);
    let row = writer.row;
    let agent = writer.agent.clone();
    if !row.attribution_agent.is_empty() && !agent.is_empty() {
        let kind = writer.word(row.attribution_agent);
        writer.lane().agent_type = Some(kind);
    }
    let kind = writer.lane().agent_type.clone();
    let mut place = [row.cwd, row.branch, row.version, row.entrypoint].map(|text| text.raw()).join(&b'\n');
    place.extend_from_slice(kind.as_deref().unwrap_or_default().as_bytes());
    let moved = writer.state.changed(&format!("task:{agent}"), &place);
    // Only prompts name the mode; another row does not take it back.
    let mode = row.permission_mode;
    let switched = !mode.is_empty() && writer.state.changed(&format!("mode:{agent}"), mode.raw());
    if !moved && !switched {
        return;
    }
    let mut entry = writer.entry(Subject::Task, Phase::Update, "task");
    for (name, text) in [
        (attributes::CWD, row.cwd),
        (attributes::GIT_BRANCH, row.branch),
        (attributes::CLIENT_VERSION, row.version),
        (attributes::ENTRYPOINT, row.entrypoint),
        (attributes::PERMISSION_MODE, mode),
    ] {
        if !text.is_empty() {
            put(&mut entry.metadata, name, writer.rules.word(&text.decode()));
        }
    }
    if agent.is_empty() {
        put(&mut entry.metadata, attributes::AGENT_TYPE, "main");
    } else {
        put(&mut entry.metadata, attributes::AGENT_ID, agent);
        put(&mut entry.metadata, attributes::AGENT_TYPE, kind.unwrap_or_default());
        put(&mut entry.metadata, attributes::ROOT_SESSION, writer.session.as_str());
    }
    writer.push(entry);
    if moved && !writer.agent.is_empty() {
        // The call that started the agent says who did. The session is a guess, and the session of its first row the best:
        // after `/clear` an agent that still runs writes under the name of the new session.
        let mut guess = writer.entry(Subject::Task, Phase::Update, "task");
        guess.evidence.certainty = Certainty::Guessed;
        put(&mut guess.metadata, attributes::PARENT_SESSION, writer.session.as_str());
        put(&mut guess.metadata, attributes::PARENT_CERTAINTY, Certainty::Guessed.as_str());
        writer.push(guess);
    }
}

/// Tells whose account holds what an agent's rows cost where that may not be the session that started the agent: the row
/// says so, or the file goes on with a conversation that began in another one.
fn paid_by(writer: &mut RowWriter<'_, '_>) {
    if writer.agent.is_empty() {
        return;
    }
    let goes_on = writer.is_agent_file && !writer.row.parent.is_empty();
    let named = writer.word(writer.row.request_session);
    let session = writer.session.clone();
    let lane = writer.lane();
    if !lane.begun {
        lane.begun = true;
        lane.paid_by = (goes_on && !lane.forked).then_some(session);
    }
    if !named.is_empty() {
        lane.paid_by = Some(named);
    }
    let Some(payer) = lane.paid_by.clone() else { return };
    let child = writer.actor();
    if !writer.state.changed(&format!("paidBy:{}", child.runtime_session), payer.as_bytes()) {
        return;
    }
    let mut entry = writer.entry(Subject::Task, Phase::Update, "task");
    entry.metadata.insert(format!("{PAID_BY}{payer}"), Value::Bool(true));
    let mut account = writer.entry(Subject::Task, Phase::Update, "task");
    account.task = TaskKey::new(Agent::CLAUDE_CODE, payer);
    account.metadata.insert(format!("{PAID_FOR}{}", child.runtime_session), Value::Bool(true));
    writer.push(entry);
    writer.push(account);
}

/// Begins the name under which an agent's task says which session's account holds some of its responses.
const PAID_BY: &str = attributes::PAID_BY_PREFIX;

/// Begins the name under which a session's task says that its account holds responses of an agent.
const PAID_FOR: &str = attributes::PAID_FOR_PREFIX;

/// Tells which session this one goes on from after `/clear`: the client goes on under the name of the one it was
/// started with, which is the one before unless it was cleared more than once.
fn continues(writer: &mut RowWriter<'_, '_>) {
    if !writer.state.cleared || writer.row.process_session.is_empty() {
        return;
    }
    writer.state.cleared = false;
    let before = writer.word(writer.row.process_session);
    if before == writer.session {
        return;
    }
    let mut entry = writer.entry(Subject::Task, Phase::Update, "task");
    entry.evidence.certainty = Certainty::Inferred;
    put(&mut entry.metadata, attributes::CONTINUES, before);
    writer.push(entry);
}

/// Tells which session a row says it was copied from.
pub(super) fn forked_from(writer: &mut RowWriter<'_, '_>) {
    let Some(named) = writer.row.forked_from else { return };
    let mut parent = Text::default();
    let read = Cursor::new(named).members(|cursor, name| {
        if name.is("sessionId") {
            parent = cursor.text()?.unwrap_or_default();
            return Ok(());
        }
        cursor.skip()
    });
    let parent = writer.word(parent);
    if read.is_err() || parent.is_empty() || !writer.state.changed("forkedFrom", parent.as_bytes()) {
        return;
    }
    let mut entry = writer.entry(Subject::Task, Phase::Update, "task");
    put(&mut entry.metadata, attributes::FORKED_FROM, parent);
    writer.push(entry);
}
