//! Rows of the user: prompts, commands, what they expand to, interruptions, and what the client says in the user's
//! place. Most rows of the user are results of calls.

use std::borrow::Cow;

use agent_tracer_event::{CallState, Certainty, Entry, Kind, Phase, Series, Subject, attributes};
use agent_tracer_privacy::Level;
use serde_json::Value;

use super::row::Content;
use super::state::QUEUED;
use super::writer::{Member, RowWriter, put};
use super::{calls, compaction, messages, version};
use crate::claude::identity;
use crate::claude::wire::TextOrLength;
use crate::text::{base_name, cut, title};

/// The first part of an expanded prompt that is kept.
const SNIPPET_CHARS: usize = 2048;

/// Reads a row of the user.
pub(super) fn user(writer: &mut RowWriter<'_, '_>) {
    let row = writer.row;
    let (answers, images) = match row.message.as_ref().map(|message| &message.content) {
        Some(Content::Blocks(blocks)) => {
            let of = |kind: &str| blocks.iter().filter(|block| block.kind.is(kind)).count();
            (of("tool_result"), of("image"))
        }
        Some(Content::Empty | Content::Text(_)) | None => (0, 0),
    };
    // What came before belongs to the prompt before.
    if answers > 0 {
        messages::unsettle(writer);
    } else {
        messages::settle(writer);
    }
    if !row.prompt.is_empty() {
        let prompt = writer.word(row.prompt);
        let lane = writer.lane();
        if lane.prompt.as_ref() != Some(&prompt) {
            lane.prompt = Some(prompt);
            lane.prompt_row = None;
            lane.slash = None;
            lane.caveat = false;
            lane.refused.clear();
            lane.spoken.clear();
        }
    }
    let Some(message) = row.message.as_ref() else { return };
    // The order of a forked agent stands beside what its parent's call came back with.
    let is_order = std::mem::take(&mut writer.lane().forked);
    if answers > 0 && !is_order {
        calls::results(writer);
    }
    let text = text_of(&message.content);
    if is_order {
        prompt(writer, order_of(&text), images);
        return;
    }
    if row.is_compact_summary {
        compaction::summary(writer, &text);
    } else if row.is_meta {
        meta(writer, &text);
    } else if !(text.trim().is_empty() && (answers > 0 || images == 0)) {
        spoken(writer, &text, images);
    }
}

/// Returns all texts of a message, one below the other.
fn text_of<'a>(content: &Content<'a>) -> Cow<'a, str> {
    match content {
        Content::Empty => Cow::Borrowed(""),
        Content::Text(text) => text.decode(),
        Content::Blocks(blocks) => {
            let mut texts =
                blocks.iter().filter(|block| block.kind.is("text")).map(|block| block.text.decode());
            let first = texts.next().unwrap_or_default();
            texts.fold(first, |all, next| Cow::Owned(format!("{all}\n{next}")))
        }
    }
}

/// Returns the work that a forked agent gets, without the text that the client gives every fork.
fn order_of(text: &str) -> &str {
    // The client's own text stands in front, the same for every fork: it would be the title of each.
    let order = text.split_once("</fork-boilerplate>").map_or(text, |(_, order)| order).trim();
    order.strip_prefix("Your directive:").map_or(order, str::trim)
}

/// Lists the tags that the client itself puts into rows that no user typed.
const OUTPUTS: &[&str] = &[
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<local-command-caveat>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<user-memory-input>",
];

/// Holds how a summary begins in files of clients that did not mark it as one.
const SUMMARY: &str = "This session is being continued from a previous conversation";

fn spoken(writer: &mut RowWriter<'_, '_>, text: &str, images: usize) {
    let head = text.trim_start();
    if head.starts_with("[Request interrupted by user") {
        interruption(writer, head);
    } else if head.starts_with("<command-name>") || head.starts_with("<command-message>") {
        writer.lane().sent_on = false;
        command(writer, head);
    } else if head.starts_with("<bash-input>") {
        shell(writer, head);
    } else if head.starts_with(SUMMARY) {
        compaction::summary(writer, text);
    } else if !OUTPUTS.iter().any(|tag| head.starts_with(tag)) {
        writer.lane().sent_on = false;
        prompt(writer, text, images);
    }
}

/// Reads a prompt.
fn prompt(writer: &mut RowWriter<'_, '_>, text: &str, images: usize) {
    let row = writer.row;
    let kept = writer.reduce_member("UserPromptSubmit", None, "prompt", Member::Str(text));
    let origin = if !writer.agent.is_empty() {
        Some("delegation")
    } else if row.turn_origin.is("task_notification") {
        Some("task_notification")
    } else if is_injected(writer, text) {
        Some("steering")
    } else {
        None
    };
    title_of_task(writer, &kept, origin);
    let part = part_of(&kept);
    let waited = take_queued(writer, part.as_deref());
    let mut entries = writer.as_hook("UserPromptSubmit", vec![("prompt", kept)]);
    // Two rows can carry one prompt id: then the first is the prompt, and the others were put in later.
    let first = writer.lane().prompt_row.get_or_insert_with(String::new).is_empty();
    let name = writer.name.clone();
    if first {
        writer.lane().prompt_row = Some(name.clone());
    }
    let has_id = writer.lane().prompt.is_some();
    let later = has_id && !first && row.prompt_source.is_empty();
    let nth = if later { 1 } else { writer.lane().spoken(part.as_deref()).row() };
    entries.retain(|entry| !(later && entry.subject == Subject::Turn));
    for entry in &mut entries {
        if let Some(origin) = origin.filter(|_| entry.metadata.contains_key(attributes::PROMPT_ORIGIN)) {
            entry.metadata.insert(attributes::PROMPT_ORIGIN.to_owned(), Value::from(origin));
        }
        if entry.subject != Subject::Event(Kind::UserMessage) {
            continue;
        }
        if writer.agent.is_empty() {
            // The hook of one that waited fired when it was typed, under the id of the turn that ran then.
            let typed_in = waited.clone().or_else(|| writer.lane().prompt.clone());
            entry.series = series(writer, typed_in.as_deref(), part.as_deref());
        }
        if !has_id {
            entry.key = writer.own_key();
        } else if later {
            entry.key = format!("{}:{name}", entry.key);
        } else {
            entry.key = Series::nth_key(&entry.key, nth);
        }
        put(&mut entry.metadata, attributes::PROMPT_SOURCE, writer.word(row.prompt_source));
        if images > 0 {
            entry.metadata.insert(attributes::IMAGE_COUNT.to_owned(), Value::from(images));
        }
    }
    writer.reading.entries.append(&mut entries);
}

/// Returns what stands in keys for a text that went through privacy.
fn part_of(kept: &Value) -> Option<String> {
    identity::text_part(match kept {
        Value::String(text) => Some(TextOrLength::Text(text)),
        other => other.get("bytes").and_then(Value::as_u64).map(TextOrLength::Length),
    })
}

/// Returns the series of a prompt of the session itself. Hooks of old clients do not name the turn: the text and the
/// order do.
fn series(writer: &RowWriter<'_, '_>, prompt: Option<&str>, part: Option<&str>) -> Option<Series> {
    let prompt = prompt.filter(|_| !version::may_lack_prompt_ids(writer.row.version));
    identity::prompt_series(prompt, part)
}

/// Returns the prompt that was worked on when this one was typed, if it had to wait.
fn take_queued(writer: &mut RowWriter<'_, '_>, part: Option<&str>) -> Option<String> {
    let queued = &mut writer.lane().queued;
    let place = queued.iter().position(|(known, _)| Some(known.as_str()) == part)?;
    let (_, prompt) = queued.remove(place);
    Some(prompt).filter(|prompt| writer.lane().prompt.as_ref() != Some(prompt))
}

/// Returns whether a text was put into a running turn by another agent.
fn is_injected(writer: &RowWriter<'_, '_>, text: &str) -> bool {
    writer.row.prompt_source.is_empty()
        && ["Another Claude session sent a message", "<teammate-message", "<cross-session-message"]
            .iter()
            .any(|begin| text.trim_start().starts_with(begin))
}

/// Titles a task without another title after its first prompt.
fn title_of_task(writer: &mut RowWriter<'_, '_>, kept: &Value, origin: Option<&str>) {
    let Some(text) = kept.as_str() else { return };
    let title = title(text);
    let first = format!("prompt:{}", writer.agent);
    if title.is_empty()
        || !matches!(origin, None | Some("delegation"))
        || !writer.state.changed(&first, b"told")
    {
        return;
    }
    let mut entry = writer.entry(Subject::Task, Phase::Update, "task");
    put(&mut entry.metadata, attributes::TITLE, title);
    put(&mut entry.metadata, attributes::TITLE_SOURCE, "prompt");
    // Anything that was meant as a title is a better one.
    entry.evidence.certainty = Certainty::Inferred;
    writer.push(entry);
}

/// Reads that the human cut the turn off. No hook tells of it.
fn interruption(writer: &mut RowWriter<'_, '_>, text: &str) {
    // Without a terminal no user can have answered a dialog with No: a signal cut the call off.
    let named = !writer.row.interrupted_message.is_empty() || writer.row.entrypoint.is("sdk-cli");
    let key = match writer.turn() {
        Some(turn) => format!("interrupt:{turn}:{}", writer.name),
        None => writer.own_key(),
    };
    let mut entry = writer.event(Kind::TurnInterrupted, Phase::Close, key);
    entry.title = Some("Interrupted".to_owned());
    entry.ended_at = Some(writer.at);
    let during_tool = text.contains("for tool use");
    put(
        &mut entry.metadata,
        attributes::INTERRUPTED_DURING,
        if during_tool { "tool_use" } else { "response" },
    );
    put(&mut entry.metadata, attributes::INTERRUPTED_MESSAGE_ID, writer.word(writer.row.interrupted_message));
    writer.push(entry);
    calls::interrupted(writer, named);
    if let Some(turn) = writer.close_turn(CallState::Interrupted) {
        writer.push(turn);
    }
}

/// Returns the text between a tag and its end.
fn inner<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    rest.split_once(&format!("</{tag}>")).map(|(inside, _)| inside.trim())
}

/// Reads a line that began with a slash: a command of the client's, or one that becomes a prompt.
fn command(writer: &mut RowWriter<'_, '_>, text: &str) {
    let name = inner(text, "command-name").or_else(|| inner(text, "command-message")).unwrap_or_default();
    let name = format!("/{}", name.trim_start_matches('/'));
    let args = inner(text, "command-args").unwrap_or_default();
    // The client's own commands are announced, and spelled with the name first.
    let own = std::mem::take(&mut writer.lane().caveat) || text.starts_with("<command-name>");
    if own {
        own_command(writer, &name, args);
        return;
    }
    let typed = format!("{name} {args}");
    prompt(writer, typed.trim_end(), 0);
    let kept = |writer: &mut RowWriter<'_, '_>, member: &str, text: &str| {
        writer.reduce_member("UserPromptExpansion", None, member, Member::Str(text))
    };
    let members = vec![
        ("expansion_type", Value::from("slash_command")),
        ("command_name", kept(writer, "command_name", name.trim_start_matches('/'))),
        ("command_args", kept(writer, "command_args", args)),
        ("prompt", kept(writer, "prompt", typed.trim_end())),
    ];
    let mut entries = writer.as_hook("UserPromptExpansion", members);
    writer.reading.entries.append(&mut entries);
    let prompt = writer.lane().prompt.clone();
    writer.lane().slash = prompt;
}

/// Reads a command that the client carries out itself. No hook tells of it.
pub(super) fn own_command(writer: &mut RowWriter<'_, '_>, name: &str, args: &str) {
    let name = writer.rules.word(name);
    if name == "/model" {
        let prompt = writer.lane().prompt.clone();
        writer.lane().model_command = prompt;
    }
    if name == "/clear" && writer.lane().prompt_row.is_none() && writer.lane().model.is_none() {
        writer.state.cleared = true;
    }
    let key = format!("command:{}", writer.name);
    let mut entry = writer.event(Kind::ContextSaved, Phase::Close, key);
    let args = writer.reduce_member("UserPromptExpansion", None, "command_args", Member::Str(args));
    entry.title = Some(title(&format!("{name} {}", args.as_str().unwrap_or_default())));
    entry.ended_at = Some(writer.at);
    put(&mut entry.metadata, attributes::TRIGGER, "local_command");
    put(&mut entry.metadata, attributes::COMMAND_NAME, name.trim_start_matches('/'));
    put(&mut entry.metadata, attributes::COMMAND_ARGS, args);
    writer.push(entry);
}

/// Reads a command that the human ran in the client's own shell.
fn shell(writer: &mut RowWriter<'_, '_>, text: &str) {
    let command = inner(text, "bash-input").unwrap_or_default();
    if command.is_empty() {
        return;
    }
    let input = Value::from_iter([("command", command)]).to_string();
    let input = writer.reduce_member("PreToolUse", Some("Bash"), "tool_input", Member::Raw(input.as_bytes()));
    let members = vec![("tool_name", Value::from("Bash")), ("tool_input", input)];
    let mut entries: Vec<Entry> = writer.as_hook("PreToolUse", members);
    for entry in &mut entries {
        entry.key = writer.own_key();
        entry.phase = Phase::Close;
        // How it ended is in a row of output, which says nothing but the output.
        entry.state = None;
        entry.metadata.insert(attributes::USER_SHELL.to_owned(), Value::Bool(true));
    }
    writer.reading.entries.append(&mut entries);
}

/// Reads a row that the client wrote for the model to read.
fn meta(writer: &mut RowWriter<'_, '_>, text: &str) {
    let head = text.trim_start();
    if head.starts_with("<local-command-caveat>") {
        writer.lane().caveat = true;
        return;
    }
    if head.starts_with("Stop hook feedback:") {
        writer.lane().sent_on = true;
        return;
    }
    if head.starts_with("<system-reminder>") {
        return;
    }
    let tool = writer.word(writer.row.source_tool_use);
    let expanded = if !tool.is_empty() {
        Some((Kind::AgentActivityLogged, format!("tool:{tool}")))
    } else {
        let lane = writer.lane();
        let prompt = lane.slash.take_if(|slash| lane.prompt.as_ref() == Some(slash));
        prompt.map(|prompt| (Kind::UserPromptExpansion, format!("expansion:{prompt}")))
    };
    let Some((kind, key)) = expanded else { return };
    let mut entry = writer.event(kind, Phase::Update, key);
    put(&mut entry.metadata, attributes::EXPANDED_PROMPT_BYTES, text.len());
    if writer.rules.level() == Level::Full {
        let masked = agent_tracer_privacy::mask(text);
        put(
            &mut entry.metadata,
            attributes::EXPANDED_PROMPT_SNIPPET,
            cut(&masked, SNIPPET_CHARS).into_owned(),
        );
    }
    if let Some(folder) = skill_folder(head).filter(|_| !tool.is_empty()) {
        put(&mut entry.metadata, attributes::SKILL_PATH, writer.rules.word(folder));
        put(&mut entry.metadata, attributes::SKILL_NAME, writer.rules.word(base_name(folder)));
    }
    writer.push(entry);
}

/// Returns the folder that a skill's text names in its first line.
fn skill_folder(text: &str) -> Option<&str> {
    let line = text.lines().next()?;
    line.strip_prefix("Base directory for this skill: ").map(str::trim).filter(|folder| !folder.is_empty())
}

/// Reads a prompt that waits, or that was given to the model in the middle of its turn.
pub(super) fn queue(writer: &mut RowWriter<'_, '_>) {
    let Some(line) = writer.line else { return };
    let Ok(Value::Object(row)) = serde_json::from_slice::<Value>(line) else { return };
    let text = |name: &str| row.get(name).and_then(Value::as_str).unwrap_or_default();
    let content = text("content");
    if content.trim().is_empty() {
        return;
    }
    match text("operation") {
        // The hook of a notification fires when it leaves the queue.
        "enqueue" if content.starts_with("<task-notification>") => {}
        // What is taken from the queue in its turn becomes an ordinary prompt, with a row of its own.
        "enqueue" => {
            let kept = writer.reduce_member("UserPromptSubmit", None, "prompt", Member::Str(content));
            let lane = writer.lane();
            if let (Some(part), Some(prompt)) = (part_of(&kept), lane.prompt.clone())
                && lane.queued.len() < QUEUED
            {
                lane.queued.push((part, prompt));
            }
        }
        "remove" => steer(writer, content, Steering::Unqueued),
        _ => {}
    }
}

/// Describes which row tells of a prompt that reached the model while it was working.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Steering {
    /// It left the queue.
    Unqueued,
    /// It was put before the model.
    Attached,
}

/// Reads a prompt that reached the model while it was working.
pub(super) fn steer(writer: &mut RowWriter<'_, '_>, text: &str, by: Steering) {
    let kept = writer.reduce_member("UserPromptSubmit", None, "prompt", Member::Str(text));
    let part = part_of(&kept);
    take_queued(writer, part.as_deref());
    // The text occurs twice: when it leaves the queue, and when it is put before the model.
    let nth = writer.lane().spoken(part.as_deref()).steered(by == Steering::Unqueued);
    let prompt = writer.lane().prompt.clone();
    let mut entries = writer.as_hook("UserPromptSubmit", vec![("prompt", kept)]);
    entries.retain(|entry| entry.subject != Subject::Turn);
    for entry in &mut entries {
        if entry.subject == Subject::Event(Kind::UserMessage) {
            if prompt.is_none() {
                entry.key = format!("steer::{}", part.as_deref().unwrap_or_default());
            }
            entry.key = Series::nth_key(&entry.key, nth);
            if writer.agent.is_empty() {
                entry.series = series(writer, prompt.as_deref(), part.as_deref());
            }
            if entry.metadata.get(attributes::PROMPT_ORIGIN).is_some_and(|origin| origin == "user") {
                entry.metadata.insert(attributes::PROMPT_ORIGIN.to_owned(), Value::from("steering"));
            }
        }
    }
    writer.reading.entries.append(&mut entries);
}
