//! Rows of the user: prompts, commands, what they expand to, interruptions, and what the client says in the user's
//! place. Most rows of the user are results of calls.

use std::borrow::Cow;

use agent_tracer_event::{CallState, Certainty, Entry, Kind, Phase, Series, Subject, attributes};
use agent_tracer_privacy::Level;
use serde_json::Value;

use super::row::Content;
use super::state::QUEUED;
use super::telling::{Member, Telling, put};
use super::{calls, compaction, said, version};
use crate::claude::identity;
use crate::claude::wire::Said;
use crate::text::{base_name, cut, title};

/// The first part of an expanded prompt that is kept.
const SNIPPET_CHARS: usize = 2048;

/// Reads a row of the user.
pub(super) fn user(told: &mut Telling<'_, '_>) {
    let row = told.row;
    let (answers, images) = match row.message.as_ref().map(|message| &message.content) {
        Some(Content::Blocks(blocks)) => {
            let of = |kind: &str| blocks.iter().filter(|block| block.kind.is(kind)).count();
            (of("tool_result"), of("image"))
        }
        Some(Content::Empty | Content::Text(_)) | None => (0, 0),
    };
    // What came before belongs to the prompt before.
    if answers > 0 {
        said::unsettle(told);
    } else {
        said::settle(told);
    }
    if !row.prompt.is_empty() {
        let prompt = told.word(row.prompt);
        let lane = told.lane();
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
    let is_order = std::mem::take(&mut told.lane().forked);
    if answers > 0 && !is_order {
        calls::results(told);
    }
    let text = text_of(&message.content);
    if is_order {
        prompt(told, order_of(&text), images);
        return;
    }
    if row.is_compact_summary {
        compaction::summary(told, &text);
    } else if row.is_meta {
        meta(told, &text);
    } else if !(text.trim().is_empty() && (answers > 0 || images == 0)) {
        spoken(told, &text, images);
    }
}

/// All texts of a message, one below the other.
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

/// What a forked agent is told to do, without what the client tells every fork.
fn order_of(text: &str) -> &str {
    let order = text.split_once("</fork-boilerplate>").map_or(text, |(_, order)| order).trim();
    order.strip_prefix("Your directive:").map_or(order, str::trim)
}

/// What the client itself puts between tags in a row that nobody typed.
const OUTPUTS: &[&str] = &[
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<local-command-caveat>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<user-memory-input>",
];

/// How a summary begins in files of clients that did not mark it as one.
const SUMMARY: &str = "This session is being continued from a previous conversation";

fn spoken(told: &mut Telling<'_, '_>, text: &str, images: usize) {
    let head = text.trim_start();
    if head.starts_with("[Request interrupted by user") {
        interruption(told, head);
    } else if head.starts_with("<command-name>") || head.starts_with("<command-message>") {
        told.lane().sent_on = false;
        command(told, head);
    } else if head.starts_with("<bash-input>") {
        shell(told, head);
    } else if head.starts_with(SUMMARY) {
        compaction::summary(told, text);
    } else if !OUTPUTS.iter().any(|tag| head.starts_with(tag)) {
        told.lane().sent_on = false;
        prompt(told, text, images);
    }
}

/// What somebody asked for.
fn prompt(told: &mut Telling<'_, '_>, text: &str, images: usize) {
    let row = told.row;
    let kept = told.kept("UserPromptSubmit", None, "prompt", Member::Str(text));
    let origin = if !told.agent.is_empty() {
        Some("delegation")
    } else if row.turn_origin.is("task_notification") {
        Some("task_notification")
    } else if is_injected(told, text) {
        Some("steering")
    } else {
        None
    };
    title_of_task(told, &kept, origin);
    let part = part_of(&kept);
    let waited = take_queued(told, part.as_deref());
    let mut entries = told.as_hook("UserPromptSubmit", vec![("prompt", kept)]);
    // Two rows can carry one prompt id: then the first is the prompt, and the others were put in later.
    let first = told.lane().prompt_row.get_or_insert_with(String::new).is_empty();
    let name = told.name.clone();
    if first {
        told.lane().prompt_row = Some(name.clone());
    }
    let has_id = told.lane().prompt.is_some();
    let later = has_id && !first && row.prompt_source.is_empty();
    let nth = if later { 1 } else { told.lane().spoken(part.as_deref()).row() };
    entries.retain(|entry| !(later && entry.subject == Subject::Turn));
    for entry in &mut entries {
        if let Some(origin) = origin.filter(|_| entry.metadata.contains_key(attributes::PROMPT_ORIGIN)) {
            entry.metadata.insert(attributes::PROMPT_ORIGIN.to_owned(), Value::from(origin));
        }
        if entry.subject != Subject::Event(Kind::UserMessage) {
            continue;
        }
        if told.agent.is_empty() {
            // The hook of one that waited fired when it was typed, under the id of the turn that ran then.
            let typed_in = waited.clone().or_else(|| told.lane().prompt.clone());
            entry.series = series(told, typed_in.as_deref(), part.as_deref());
        }
        if !has_id {
            entry.key = told.own_key();
        } else if later {
            entry.key = format!("{}:{name}", entry.key);
        } else {
            entry.key = Series::nth_key(&entry.key, nth);
        }
        put(&mut entry.metadata, attributes::PROMPT_SOURCE, told.word(row.prompt_source));
        if images > 0 {
            entry.metadata.insert(attributes::IMAGE_COUNT.to_owned(), Value::from(images));
        }
    }
    told.reading.entries.append(&mut entries);
}

/// What stands in keys for a text that went through privacy.
fn part_of(kept: &Value) -> Option<String> {
    identity::text_part(match kept {
        Value::String(text) => Some(Said::Text(text)),
        other => other.get("bytes").and_then(Value::as_u64).map(Said::Length),
    })
}

/// The series of a prompt of the session itself. Hooks of old clients do not name the turn: the text and the order do.
fn series(told: &Telling<'_, '_>, prompt: Option<&str>, part: Option<&str>) -> Option<Series> {
    let prompt = prompt.filter(|_| !version::may_lack_prompt_ids(told.row.version));
    identity::prompt_series(prompt, part)
}

/// The prompt that was worked on when this one was typed, if it had to wait.
fn take_queued(told: &mut Telling<'_, '_>, part: Option<&str>) -> Option<String> {
    let queued = &mut told.lane().queued;
    let place = queued.iter().position(|(known, _)| Some(known.as_str()) == part)?;
    let (_, prompt) = queued.remove(place);
    Some(prompt).filter(|prompt| told.lane().prompt.as_ref() != Some(prompt))
}

/// Whether a text was put into a running turn by another agent.
fn is_injected(told: &Telling<'_, '_>, text: &str) -> bool {
    told.row.prompt_source.is_empty()
        && ["Another Claude session sent a message", "<teammate-message", "<cross-session-message"]
            .iter()
            .any(|begin| text.trim_start().starts_with(begin))
}

/// A task without another title is called after its first prompt.
fn title_of_task(told: &mut Telling<'_, '_>, kept: &Value, origin: Option<&str>) {
    let Some(text) = kept.as_str() else { return };
    let title = title(text);
    let first = format!("prompt:{}", told.agent);
    if title.is_empty()
        || !matches!(origin, None | Some("delegation"))
        || !told.state.changed(&first, b"told")
    {
        return;
    }
    let mut entry = told.entry(Subject::Task, Phase::Update, "task");
    put(&mut entry.metadata, attributes::TITLE, title);
    put(&mut entry.metadata, attributes::TITLE_SOURCE, "prompt");
    // Anything that was meant as a title is a better one.
    entry.evidence.certainty = Certainty::Inferred;
    told.push(entry);
}

/// The human cut the turn off. No hook tells of it.
fn interruption(told: &mut Telling<'_, '_>, text: &str) {
    // Without a terminal nobody can have answered a dialog with No: then it was a signal that cut the call off.
    let named = !told.row.interrupted_message.is_empty() || told.row.entrypoint.is("sdk-cli");
    let key = match told.turn() {
        Some(turn) => format!("interrupt:{turn}:{}", told.name),
        None => told.own_key(),
    };
    let mut entry = told.event(Kind::TurnInterrupted, Phase::Close, key);
    entry.title = Some("Interrupted".to_owned());
    entry.ended_at = Some(told.at);
    let during_tool = text.contains("for tool use");
    put(
        &mut entry.metadata,
        attributes::INTERRUPTED_DURING,
        if during_tool { "tool_use" } else { "response" },
    );
    put(&mut entry.metadata, attributes::INTERRUPTED_MESSAGE_ID, told.word(told.row.interrupted_message));
    told.push(entry);
    calls::interrupted(told, named);
    if let Some(turn) = told.close_turn(CallState::Interrupted) {
        told.push(turn);
    }
}

/// The text between a tag and its end.
fn inner<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    rest.split_once(&format!("</{tag}>")).map(|(inside, _)| inside.trim())
}

/// A line that began with a slash: a command of the client's, or one that becomes a prompt.
fn command(told: &mut Telling<'_, '_>, text: &str) {
    let name = inner(text, "command-name").or_else(|| inner(text, "command-message")).unwrap_or_default();
    let name = format!("/{}", name.trim_start_matches('/'));
    let args = inner(text, "command-args").unwrap_or_default();
    // The client's own commands are announced, and spelled with the name first.
    let own = std::mem::take(&mut told.lane().caveat) || text.starts_with("<command-name>");
    if own {
        own_command(told, &name, args);
        return;
    }
    let typed = format!("{name} {args}");
    prompt(told, typed.trim_end(), 0);
    let kept = |told: &mut Telling<'_, '_>, member: &str, text: &str| {
        told.kept("UserPromptExpansion", None, member, Member::Str(text))
    };
    let members = vec![
        ("expansion_type", Value::from("slash_command")),
        ("command_name", kept(told, "command_name", name.trim_start_matches('/'))),
        ("command_args", kept(told, "command_args", args)),
        ("prompt", kept(told, "prompt", typed.trim_end())),
    ];
    let mut entries = told.as_hook("UserPromptExpansion", members);
    told.reading.entries.append(&mut entries);
    let prompt = told.lane().prompt.clone();
    told.lane().slash = prompt;
}

/// A command that the client carries out itself. No hook tells of it.
pub(super) fn own_command(told: &mut Telling<'_, '_>, name: &str, args: &str) {
    let name = told.rules.word(name);
    if name == "/model" {
        let prompt = told.lane().prompt.clone();
        told.lane().model_command = prompt;
    }
    if name == "/clear" && told.lane().prompt_row.is_none() && told.lane().model.is_none() {
        told.state.cleared = true;
    }
    let key = format!("command:{}", told.name);
    let mut entry = told.event(Kind::ContextSaved, Phase::Close, key);
    let args = told.kept("UserPromptExpansion", None, "command_args", Member::Str(args));
    entry.title = Some(title(&format!("{name} {}", args.as_str().unwrap_or_default())));
    entry.ended_at = Some(told.at);
    put(&mut entry.metadata, attributes::TRIGGER, "local_command");
    put(&mut entry.metadata, attributes::COMMAND_NAME, name.trim_start_matches('/'));
    put(&mut entry.metadata, attributes::COMMAND_ARGS, args);
    told.push(entry);
}

/// A command that the human ran in the client's own shell.
fn shell(told: &mut Telling<'_, '_>, text: &str) {
    let command = inner(text, "bash-input").unwrap_or_default();
    if command.is_empty() {
        return;
    }
    let input = Value::from_iter([("command", command)]).to_string();
    let input = told.kept("PreToolUse", Some("Bash"), "tool_input", Member::Raw(input.as_bytes()));
    let members = vec![("tool_name", Value::from("Bash")), ("tool_input", input)];
    let mut entries: Vec<Entry> = told.as_hook("PreToolUse", members);
    for entry in &mut entries {
        entry.key = told.own_key();
        entry.phase = Phase::Close;
        // How it ended is in a row of output, which says nothing but the output.
        entry.state = None;
        entry.metadata.insert(attributes::USER_SHELL.to_owned(), Value::Bool(true));
    }
    told.reading.entries.append(&mut entries);
}

/// A row that the client wrote for the model to read.
fn meta(told: &mut Telling<'_, '_>, text: &str) {
    let head = text.trim_start();
    if head.starts_with("<local-command-caveat>") {
        told.lane().caveat = true;
        return;
    }
    if head.starts_with("Stop hook feedback:") {
        told.lane().sent_on = true;
        return;
    }
    if head.starts_with("<system-reminder>") {
        return;
    }
    let tool = told.word(told.row.source_tool_use);
    let expanded = if !tool.is_empty() {
        Some((Kind::AgentActivityLogged, format!("tool:{tool}")))
    } else {
        let lane = told.lane();
        let prompt = lane.slash.take_if(|slash| lane.prompt.as_ref() == Some(slash));
        prompt.map(|prompt| (Kind::UserPromptExpansion, format!("expansion:{prompt}")))
    };
    let Some((kind, key)) = expanded else { return };
    let mut entry = told.event(kind, Phase::Update, key);
    put(&mut entry.metadata, attributes::EXPANDED_PROMPT_BYTES, text.len());
    if told.rules.level() == Level::Full {
        let masked = agent_tracer_privacy::mask(text);
        put(
            &mut entry.metadata,
            attributes::EXPANDED_PROMPT_SNIPPET,
            cut(&masked, SNIPPET_CHARS).into_owned(),
        );
    }
    if let Some(folder) = skill_folder(head).filter(|_| !tool.is_empty()) {
        put(&mut entry.metadata, attributes::SKILL_PATH, told.rules.word(folder));
        put(&mut entry.metadata, attributes::SKILL_NAME, told.rules.word(base_name(folder)));
    }
    told.push(entry);
}

/// The folder that a skill's text names in its first line.
fn skill_folder(text: &str) -> Option<&str> {
    let line = text.lines().next()?;
    line.strip_prefix("Base directory for this skill: ").map(str::trim).filter(|folder| !folder.is_empty())
}

/// A prompt that waits, or that was given to the model in the middle of its turn.
pub(super) fn queue(told: &mut Telling<'_, '_>) {
    let Some(line) = told.line else { return };
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
            let kept = told.kept("UserPromptSubmit", None, "prompt", Member::Str(content));
            let lane = told.lane();
            if let (Some(part), Some(prompt)) = (part_of(&kept), lane.prompt.clone())
                && lane.queued.len() < QUEUED
            {
                lane.queued.push((part, prompt));
            }
        }
        "remove" => steer(told, content, Steering::Unqueued),
        _ => {}
    }
}

/// Which row tells of a prompt that reached the model while it was working.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Steering {
    /// It left the queue.
    Unqueued,
    /// It was put before the model.
    Attached,
}

/// A prompt that reached the model while it was working.
pub(super) fn steer(told: &mut Telling<'_, '_>, text: &str, by: Steering) {
    let kept = told.kept("UserPromptSubmit", None, "prompt", Member::Str(text));
    let part = part_of(&kept);
    take_queued(told, part.as_deref());
    // The same is told twice: when it leaves the queue, and as what was put before the model.
    let nth = told.lane().spoken(part.as_deref()).steered(by == Steering::Unqueued);
    let prompt = told.lane().prompt.clone();
    let mut entries = told.as_hook("UserPromptSubmit", vec![("prompt", kept)]);
    entries.retain(|entry| entry.subject != Subject::Turn);
    for entry in &mut entries {
        if entry.subject == Subject::Event(Kind::UserMessage) {
            if prompt.is_none() {
                entry.key = format!("steer::{}", part.as_deref().unwrap_or_default());
            }
            entry.key = Series::nth_key(&entry.key, nth);
            if told.agent.is_empty() {
                entry.series = series(told, prompt.as_deref(), part.as_deref());
            }
            if entry.metadata.get(attributes::PROMPT_ORIGIN).is_some_and(|origin| origin == "user") {
                entry.metadata.insert(attributes::PROMPT_ORIGIN.to_owned(), Value::from("steering"));
            }
        }
    }
    told.reading.entries.append(&mut entries);
}
