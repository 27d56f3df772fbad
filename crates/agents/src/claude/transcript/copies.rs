//! Rows that a session was given when it was forked from another one.
//!
//! A fork begins as a copy of its parent's rows, with its own session id and, in some versions, its own prompt ids on
//! them. Recorded again they would make a second history, under keys that belong to the fork's own prompts. So they are
//! left out; only the cost of their responses is added up, because the client's own account of a fork may begin with it.
//! The last of them is named: the session that was given that response is the one that this one was forked from.
//!
//! An agent can be forked too. Its file begins with a reference to its parent's conversation, then the parent's answer
//! that called it, then its order. Everything before the order is its parent's.

use agent_tracer_event::{Millis, Phase, Subject, attributes};
use serde_json::{Value, json};

use super::responses::{model_of, tokens_of};
use super::task;
use super::writer::RowWriter;

/// The key of the account of what was copied.
const KEY: &str = "account:copied";

/// Limits the models that are distinguished; a hostile file may name any number.
const MODELS: usize = 100;

/// Why a row counts as a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// It says so.
    Named,
    /// It is older than the session.
    Older(Millis),
    /// It stands among rows that are copies.
    Among,
}

/// Returns whether a row was copied from another session.
pub(super) fn copied(writer: &mut RowWriter<'_, '_>) -> Option<Reason> {
    let row = writer.row;
    let talk = row.kind.is("user") || row.kind.is("assistant") || row.kind.is("system");
    // An attachment does not say that it was copied: it is, if the rows around it are.
    if row.kind.is("attachment") {
        return writer.lane().copied.then_some(Reason::Among);
    }
    if !talk {
        return None;
    }
    if !writer.agent.is_empty() {
        return (writer.lane().forked && !row.kind.is("user")).then_some(Reason::Named);
    }
    let reason = if row.forked_from.is_some() || is_paid_elsewhere(writer) {
        Some(Reason::Named)
    } else {
        writer.began.filter(|began| !row.timestamp.is_empty() && writer.at < *began).map(Reason::Older)
    };
    writer.lane().copied = reason.is_some();
    reason
}

/// Returns whether another session made the request of this response.
fn is_paid_elsewhere(writer: &RowWriter<'_, '_>) -> bool {
    !writer.row.request_session.is_empty() && writer.word(writer.row.request_session) != writer.session
}

/// Adds what a copied response cost to the account.
pub(super) fn account(writer: &mut RowWriter<'_, '_>, reason: Reason) {
    task::forked_from(writer);
    let Some(billed) = tokens_of(writer) else { return };
    let id = writer.row.message.as_ref().map(|message| message.id.raw()).unwrap_or_default();
    if id.is_empty() || !writer.state.remember_counts(id, &billed) {
        return;
    }
    let sum = writer.state.copied.plus(&billed.tokens);
    writer.state.copied = sum;
    writer.state.copied_responses += 1;
    let model = writer.word(model_of(writer));
    let known = writer.state.copied_models.len() < MODELS || writer.state.copied_models.contains_key(&model);
    let by_model = writer.state.copied_models.entry(if known { model } else { String::new() }).or_default();
    *by_model = by_model.plus(&billed.tokens);
    // The whole sum each time: an account is cumulative and its last entry counts, so a fold needs no order.
    let models = json!(writer.state.copied_models);
    let last = writer.row.message.as_ref().map(|message| message.id).unwrap_or_default();
    let (last, at) = (writer.word(last), writer.at);
    let mut entry = writer.entry(Subject::Account, Phase::Update, KEY);
    // The row's own time is that of the parent; the account is the fork's.
    if let Reason::Older(began) = reason {
        entry.occurred_at = began;
    }
    sum.write(&mut entry.metadata);
    entry.metadata.insert(attributes::RESPONSES.to_owned(), Value::from(writer.state.copied_responses));
    entry.metadata.insert(attributes::COPIED.to_owned(), Value::Bool(true));
    entry.metadata.insert(attributes::MODELS.to_owned(), models);
    entry.metadata.insert(attributes::LAST_RESPONSE.to_owned(), Value::from(last));
    entry.metadata.insert(attributes::LAST_AT.to_owned(), Value::from(at.0));
    writer.push(entry);
}
