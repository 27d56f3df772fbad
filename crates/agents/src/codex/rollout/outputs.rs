//! Reads the results of calls: `function_call_output`, `custom_tool_call_output`, `tool_search_output`.
//!
//! If an item reported the end of a call, the output adds nothing. Otherwise the output is all there is: for calls
//! that were refused or never ran, for tools without an item, and for every call of the legacy dialect.

use agent_tracer_event::semantics::Importance;
use agent_tracer_event::{CallState, Certainty, Entry, ErrorClass, Kind, Metadata, Phase, attributes};
use serde_json::Value;

use super::agents;
use super::ending::{Ending, Form, ending};
use super::rules::quoted;
use super::state::OpenCall;
use super::writer::RolloutWriter;
use crate::codex::facts::{put, tool_key};
use crate::codex::wire::{Members, Raw, text};
use crate::tools::{outcome, settle_question};

/// An output: the client's words, what the tool gave back, and the size of what is no text.
struct Output {
    ending: Ending,
    body: String,
    other_bytes: usize,
}

fn output(raw: Raw<'_>, form: Form) -> Output {
    if let Some(whole) = text(raw) {
        let ending = ending(&whole, form);
        let body = match Members::parse(&whole) {
            // The form of older versions.
            Some(members) if ending.exit_code.is_some() => {
                members.text("output").unwrap_or_default().into_owned()
            }
            _ => whole.get(ending.body..).unwrap_or_default().to_owned(),
        };
        return Output { ending, body, other_bytes: 0 };
    }
    let parts: Vec<Raw<'_>> = serde_json::from_str(raw.get()).unwrap_or_default();
    let mut body = String::new();
    let mut other_bytes = 0;
    for part in parts.iter().filter_map(|part| Members::parse(part.get())) {
        match part.text("text") {
            Some(more) => {
                // The client's words are a part of their own and need not end their last line.
                if body.ends_with("Output:") {
                    body.push('\n');
                }
                body.push_str(&more);
            }
            None => other_bytes += part.text("image_url").map_or(0, |image| image.len()),
        }
    }
    let ending = ending(&body, form);
    let body = body.get(ending.body..).unwrap_or_default().to_owned();
    Output { ending, body, other_bytes }
}

/// Reads the output of a call.
pub(super) fn returned(writer: &mut RolloutWriter<'_>, item: &Members<'_>, reason: &str) {
    let Some(id) = item.word("call_id") else { return };
    let Some(raw) = item.raw("output") else { return };
    let Some(call) = writer.state.call(&id) else { return };
    // An item has reported the end with true times and the code; the text of the output would only repeat it.
    if call.is_reported {
        writer.state.close(&id);
        return;
    }
    let call = call.clone();
    let mut output = output(raw, Form::of(&call.tool));
    let is_refused =
        output.ending.state == Some(CallState::Interrupted) && may_wait_for_answer(writer, &call);
    if is_refused {
        output.ending.state = Some(CallState::Denied);
        output.ending.error_class = Some(ErrorClass::Permission);
        // This time was spent on the question.
        output.ending.wall_ms = None;
    }
    let poller = matches!(call.tool.as_str(), "write_stdin" | "wait");
    // The poll is a call of its own, and what it reports is the end of another.
    if poller {
        end_polled(writer, &call, &output);
    }
    if output.ending.state.is_none() && !poller {
        // The command goes on in the background; an item or a later poll will tell its end.
        if let Some(open) = writer.state.call(&id) {
            open.process.clone_from(&output.ending.process);
        }
        let mut entry = update(writer, &call, reason);
        put(
            &mut entry.metadata,
            attributes::BACKGROUND_TASK_ID,
            output.ending.process.as_deref().and_then(number_of),
        );
        put(&mut entry.metadata, attributes::RUN_IN_BACKGROUND, Some(true));
        writer.say(entry);
        return;
    }
    writer.state.close(&id);
    // A poll has ended even if what it polls has not, and the code it reports is not its own.
    let (state, exit) = match output.ending.exit_code {
        Some(_) if poller => (CallState::Succeeded, None),
        exit => (output.ending.state.unwrap_or(CallState::Succeeded), exit),
    };
    let mut entry = closing(writer, &call, &output, state, exit, reason);
    if is_refused {
        // A call that was approved and then cut off has the same output, and an item that says so later.
        entry.evidence.certainty = Certainty::Inferred;
    }
    let child = entry.metadata.get(attributes::CHILD_AGENT_ID).and_then(Value::as_str).map(str::to_owned);
    if is_refused {
        writer.say(entry);
    } else {
        say_end(writer, entry);
    }
    // Without items these outputs are the only word of agents.
    if call.tool.ends_with("spawn_agent")
        && let Some(child) = child
    {
        agents::spawn_returned(writer, &child, &call);
    } else if call.tool.ends_with("wait_agent") {
        agents::wait_returned(writer, &output.body);
    }
}

/// Returns whether a call that was cut off can only have waited for an answer: "No" in a dialog cuts the turn off. A patch takes no
/// time, and a command that needs more than the sandbox allows is asked about before it runs.
fn may_wait_for_answer(writer: &RolloutWriter<'_>, call: &OpenCall) -> bool {
    let asks = call.tool == "apply_patch" || call.escalates;
    asks && writer.state.approval_policy.as_deref() != Some("never")
}

/// Reads the answer to a search for tools.
pub(super) fn tools_found(writer: &mut RolloutWriter<'_>, item: &Members<'_>) {
    let Some(call) = item.word("call_id").and_then(|id| writer.state.close(&id)) else { return };
    let found: usize = item
        .list("tools")
        .into_iter()
        .filter_map(|space| Members::parse(space.get()))
        .map(|space| space.list("tools").len().max(1))
        .sum();
    let mut entry = update(writer, &call, "tool_search_output");
    entry.phase = Phase::Close;
    entry.ended_at = Some(writer.at);
    let failed = item.word("status").is_some_and(|status| status != "completed");
    entry.state = Some(if failed { CallState::Failed } else { CallState::Succeeded });
    put(&mut entry.metadata, attributes::RESULT_MATCHES, Some(found));
    writer.say(entry);
}

/// Ends the command's own call if the output of a poll says that the command has ended.
fn end_polled(writer: &mut RolloutWriter<'_>, poll: &OpenCall, output: &Output) {
    let (Some(process), Some(state)) = (poll.process.clone(), output.ending.state) else { return };
    let Some(polled) = writer.state.process(&process).filter(|call| call.id != poll.id) else { return };
    let polled = polled.clone();
    let exit = output.ending.exit_code;
    // A poll that was refused or failed says nothing of the command.
    if exit.is_none() && !matches!(state, CallState::Succeeded) {
        return;
    }
    writer.state.close(&polled.id);
    if polled.is_reported {
        return;
    }
    let mut entry = closing(writer, &polled, output, state, exit, "the output of a later poll");
    entry.evidence.certainty = Certainty::Inferred;
    // The poll knows neither how long the command ran nor what it printed before.
    entry.metadata.remove(attributes::DURATION_MS);
    entry.metadata.remove(attributes::DURATION_SOURCE);
    entry.metadata.remove(attributes::OUTPUT_BYTES);
    writer.say(entry);
}

/// Returns an entry that adds to a call.
pub(super) fn update(writer: &RolloutWriter<'_>, call: &OpenCall, reason: &str) -> Entry {
    let mut entry = writer.event(call.kind, Phase::Update, tool_key(&call.id), reason);
    entry.tool_name = Some(writer.rules.word(&call.tool));
    entry.tool_use_id = Some(call.id.clone());
    entry
}

/// Returns an entry that ends a call.
fn closing(
    writer: &RolloutWriter<'_>,
    call: &OpenCall,
    output: &Output,
    state: CallState,
    exit: Option<i64>,
    reason: &str,
) -> Entry {
    let mut entry = update(writer, call, reason);
    entry.phase = Phase::Close;
    entry.ended_at = Some(writer.at);
    entry.metadata = quantities(writer, &call.tool, &output.body, state, output.ending.error_class);
    let bytes = if output.ending.refused { 0 } else { output.body.len() + output.other_bytes };
    entry.metadata.insert(attributes::OUTPUT_BYTES.to_owned(), Value::from(bytes));
    put(&mut entry.metadata, attributes::EXIT_CODE, exit);
    if let Some(wall) = output.ending.wall_ms {
        put(&mut entry.metadata, attributes::DURATION_MS, Some(wall));
        put(&mut entry.metadata, attributes::DURATION_SOURCE, Some("agent"));
    }
    finish(&mut entry, call, state);
    entry
}

/// Writes how a call ended, and what that makes of its importance.
pub(super) fn finish(entry: &mut Entry, call: &OpenCall, state: CallState) {
    entry.state = Some(state);
    if call.kind == Kind::QuestionLogged {
        settle_question(entry);
    }
    let importance = call.subtype.and_then(|subtype| outcome::importance(state, subtype));
    put(&mut entry.metadata, attributes::IMPORTANCE, importance.map(|importance| importance.as_str()));
}

/// Says how a call ended.
///
/// A hook saw the attempt and judged it by its input alone; that a denial or a failed test matters more must not be
/// outvoted by it, so it is said once more, as surely as the hook spoke.
pub(super) fn say_end(writer: &mut RolloutWriter<'_>, entry: Entry) {
    let critical = Value::from(Importance::Critical.as_str());
    if entry.metadata.get(attributes::IMPORTANCE) == Some(&critical)
        && matches!(entry.state, Some(CallState::Denied | CallState::Failed))
    {
        let mut weight = entry.clone();
        weight.metadata = Metadata::from_iter([("importance".to_owned(), critical)]);
        weight.evidence.certainty = Certainty::Measured;
        (weight.title, weight.body, weight.state, weight.ended_at) = (None, None, None, None);
        weight.file_paths.clear();
        writer.say(weight);
    }
    writer.say(entry);
}

/// Returns what may be kept of a result, under our names. `class` is what is known of a failure already.
pub(super) fn quantities(
    writer: &RolloutWriter<'_>,
    tool: &str,
    body: &str,
    state: CallState,
    class: Option<ErrorClass>,
) -> Metadata {
    let result = Value::Object(writer.rules.result(tool, &quoted(body)));
    let mut kept = outcome::returned(&result).metadata;
    // Nothing of a good result says that it failed, whatever it looks like.
    kept.remove(attributes::ERROR_CLASS);
    kept.remove(attributes::EXIT_CODE);
    if state != CallState::Succeeded {
        // The class, and not a word of the text: an output stays an output when a call fails.
        let failure = Value::Object(writer.rules.failure(tool, &quoted(body)));
        let class = class.or(outcome::failed(&failure, false).error_class).unwrap_or(ErrorClass::Unknown);
        kept.insert(attributes::ERROR_CLASS.to_owned(), Value::from(class.as_str()));
    }
    kept
}

/// Reads `session:72248` without what it is.
fn number_of(process: &str) -> Option<&str> {
    process.split_once(':').map(|(_, number)| number)
}
