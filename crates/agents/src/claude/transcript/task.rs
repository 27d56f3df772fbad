//! What rows say of their task: where it works, on which branch, by which client, whose child it is.
//!
//! Every row repeats it; it is told when it is new.

use agent_tracer_event::{Certainty, Phase, Subject};

use super::scan::Cursor;
use super::telling::{Telling, put};
use super::text::Text;

/// Tells of the task if anything of it has changed.
pub(super) fn of(told: &mut Telling<'_, '_>) {
    continues(told);
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
        ("cwd", row.cwd),
        ("gitBranch", row.branch),
        ("clientVersion", row.version),
        ("entrypoint", row.entrypoint),
        ("permissionMode", mode),
    ] {
        if !text.is_empty() {
            put(&mut entry.metadata, name, told.rules.word(&text.decode()));
        }
    }
    if agent.is_empty() {
        put(&mut entry.metadata, "agentType", "main");
    } else {
        put(&mut entry.metadata, "agentId", agent);
        put(&mut entry.metadata, "agentType", kind.unwrap_or_default());
        put(&mut entry.metadata, "rootSession", told.session.as_str());
    }
    told.push(entry);
    if moved && !told.agent.is_empty() {
        // The file beside this one knows who called the agent; the session is a guess at it.
        let mut guess = told.entry(Subject::Task, Phase::Update, "task");
        guess.evidence.certainty = Certainty::Guessed;
        put(&mut guess.metadata, "parentSession", told.session.as_str());
        put(&mut guess.metadata, "parentCertainty", Certainty::Guessed.as_str());
        told.push(guess);
    }
}

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
    put(&mut entry.metadata, "continues", before);
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
    put(&mut entry.metadata, "forkedFrom", parent);
    told.push(entry);
}
