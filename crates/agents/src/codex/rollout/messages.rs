//! Reads prompts, commentary, thoughts, the words of a hook and mail between agents.
//!
//! The end of the turn brings its final message. Whatever else the agent said is commentary, and like
//! its thoughts it is kept only at level `full`.

use std::borrow::Cow;

use agent_tracer_event::{Certainty, Entry, Kind, Metadata, Millis, Phase, Subject, attributes};
use agent_tracer_privacy::Level;
use serde_json::Value;

use super::state::LastMessage;
use super::turns;
use super::writer::RolloutWriter;
use crate::codex::facts::{TextOrSize, prompt_key, put, said_key, write_message, write_prompt, write_title};
use crate::codex::wire::{Members, Raw, text};
use crate::text::title;

/// Returns the texts of a list of content parts, put together as Codex does it; and how many parts are no text.
fn joined<'a>(parts: &[Raw<'a>]) -> (Cow<'a, str>, u64) {
    let mut joined = Cow::Borrowed("");
    let mut others = 0;
    for part in parts {
        let part_text = text(part).or_else(|| Members::parse(part.get())?.text("text"));
        match part_text {
            Some(more) if joined.is_empty() => joined = more,
            Some(more) => joined.to_mut().push_str(&more),
            None => others += 1,
        }
    }
    (joined, others)
}

/// Reads a prompt as an item: `UserMessage`.
pub(super) fn user_item(writer: &mut RolloutWriter<'_>, item: &Members<'_>) {
    let (words, others) = joined(&item.list("content"));
    prompt(writer, &words, others, "item_completed UserMessage");
}

/// Reads a prompt as an event of the legacy dialect: `user_message`.
pub(super) fn user_event(writer: &mut RolloutWriter<'_>, event: &Members<'_>) {
    turns::infer_from_prompt(writer);
    let others = ["images", "local_images", "audio", "local_audio"].map(|name| event.list(name).len() as u64);
    let words = event.text("message").unwrap_or_default();
    prompt(writer, &words, others.iter().sum(), "user_message");
}

fn prompt(writer: &mut RolloutWriter<'_>, words: &str, attachments: u64, reason: &str) {
    flush_said(writer);
    let value = writer.prompt(words);
    let Some(kept) = TextOrSize::of(&value) else { return };
    let key = match &writer.turn {
        Some(turn) => prompt_key(turn, kept),
        None => format!("prompt:{}", writer.observation),
    };
    let own = writer.is_own();
    let steers = own && writer.turn == writer.state.turn && writer.state.prompts > 0;
    if own {
        writer.state.prompts = writer.state.prompts.saturating_add(1);
    }
    let mut entry = writer.event(Kind::UserMessage, Phase::Open, key, reason);
    write_prompt(&mut entry, kept);
    put(&mut entry.metadata, attributes::PROMPT_ORIGIN, Some(if steers { "steering" } else { "user" }));
    put(&mut entry.metadata, attributes::ATTACHMENT_COUNT, (attachments > 0).then_some(attachments));
    if own && writer.state.parent_thread.is_some() {
        put(&mut entry.metadata, attributes::DELEGATED, Some(true));
    }
    writer.say(entry);
    if own && !writer.state.titled {
        writer.state.titled = true;
        let mut about = Metadata::new();
        write_title(&mut about, kept);
        writer.say_task(about, reason);
    }
}

/// Reads a message of the agent as an item: `AgentMessage`.
pub(super) fn agent_item(writer: &mut RolloutWriter<'_>, item: &Members<'_>) {
    let (words, _) = joined(&item.list("content"));
    agent_said(writer, &words, item.word("phase").as_deref(), item.word("id").as_deref());
}

/// Reads a message of the agent as an event of the legacy dialect: `agent_message`.
pub(super) fn agent_event(writer: &mut RolloutWriter<'_>, event: &Members<'_>) {
    let words = event.text("message").unwrap_or_default();
    let phase = event.word("phase");
    if !writer.state.tells_turns && phase.as_deref() != Some("commentary") {
        // Nothing in such a file says which message was the last of its turn.
        let message = writer.message(&words);
        if let (Some(turn), Some(kept)) = (writer.turn.clone(), TextOrSize::of(&message)) {
            turns::response(writer, &turn, kept, "agent_message");
            if let Some(entry) = writer.reading.entries.last_mut() {
                entry.evidence.certainty = Certainty::Inferred;
            }
        }
        return;
    }
    agent_said(writer, &words, phase.as_deref(), None);
}

fn agent_said(writer: &mut RolloutWriter<'_>, words: &str, phase: Option<&str>, id: Option<&str>) {
    if let Some(phase) = phase {
        writer.expect_known("AgentMessage.phase", phase, &["commentary", "final_answer"]);
    }
    flush_said(writer);
    let value = writer.message(words);
    let Some(kept) = TextOrSize::of(&value).filter(|kept| !kept.is_empty()) else { return };
    let is_again = writer.turn.as_deref().is_some_and(|turn| writer.state.is_sent_on(turn));
    let said = LastMessage {
        id: id.unwrap_or(&writer.observation).to_owned(),
        turn: writer.turn.clone(),
        at: Some(writer.at),
        // Commentary is kept at this level alone, and the state must not hold what the store may not.
        text: kept.text().filter(|_| writer.rules.level() == Level::Full).map(str::to_owned),
        key: writer.turn.as_deref().map(|turn| said_key(turn, kept, is_again)).unwrap_or_default(),
        bytes: words.trim().len() as u64,
        is_final: phase == Some("final_answer"),
    };
    if phase == Some("commentary") {
        commentary(writer, said);
    } else {
        // Held back: whether it was the answer shows only when the turn ends or something else follows.
        writer.state.said = Some(said);
    }
}

/// Writes the last message as one that was not final, because something else followed it.
pub(super) fn flush_said(writer: &mut RolloutWriter<'_>) {
    if let Some(said) = writer.state.said.take() {
        commentary(writer, said);
    }
}

/// Drops the last message at the end of the turn: it was its final one, unless the end tells another.
pub(super) fn drop_said(writer: &mut RolloutWriter<'_>, last: Option<&str>) {
    let Some(said) = writer.state.said.take() else { return };
    let same = last.is_some_and(|last| {
        let value = writer.message(last);
        let words = said.text.as_deref().map(str::trim);
        TextOrSize::of(&value).and_then(TextOrSize::text).is_some_and(|last| Some(last.trim()) == words)
    });
    if !same {
        commentary(writer, said);
    }
}

fn commentary(writer: &mut RolloutWriter<'_>, said: LastMessage) {
    let Some(text) = said.text.filter(|_| !said.is_final) else { return };
    let key = format!("commentary:{}", said.id);
    let mut entry =
        writer.event(Kind::AssistantCommentary, Phase::Open, key, "AgentMessage before the end of its turn");
    entry.occurred_at = said.at.unwrap_or(writer.at);
    entry.turn = said.turn;
    entry.title = Some(title(&text));
    entry.body = Some(text);
    writer.say(entry);
}

/// Reads that a hook sent the agent on: what it had said last was an answer, though not the end of its turn.
fn send_on(writer: &mut RolloutWriter<'_>) {
    let is_answer = |said: &LastMessage| said.turn.is_some() && said.turn == writer.turn;
    if !writer.state.said.as_ref().is_some_and(is_answer) {
        flush_said(writer);
    }
    if let Some(said) = writer.state.said.take() {
        let reason = "AgentMessage before a HookPrompt";
        let mut entry = writer.event(Kind::AssistantResponse, Phase::Close, said.key, reason);
        entry.occurred_at = said.at.unwrap_or(writer.at);
        entry.ended_at = said.at;
        // The hook has the words at every level that has any.
        entry.evidence.certainty = Certainty::Inferred;
        write_message(
            &mut entry,
            said.text.as_deref().map_or(TextOrSize::Bytes(said.bytes), TextOrSize::Text),
        );
        writer.say(entry);
    }
    writer.state.sent_on_turn.clone_from(&writer.turn);
}

/// Thoughts as an item: `Reasoning`.
pub(super) fn thought_item(writer: &mut RolloutWriter<'_>, item: &Members<'_>) {
    if writer.rules.level() != Level::Full {
        return;
    }
    let parts = [item.list("summary_text"), item.list("raw_content")].concat();
    let texts: Vec<_> = parts.into_iter().filter_map(text).collect();
    let id = item.word("id").map_or_else(|| writer.observation.clone(), |id| writer.rules.word(&id));
    thought(writer, &texts.join("\n\n"), &id, "item_completed Reasoning");
}

/// Thoughts as an event of the legacy dialect: `agent_reasoning`, `agent_reasoning_raw_content`.
pub(super) fn thought_event(writer: &mut RolloutWriter<'_>, event: &Members<'_>) {
    if writer.rules.level() == Level::Full {
        let id = writer.observation.clone();
        thought(writer, &event.text("text").unwrap_or_default(), &id, "agent_reasoning");
    }
}

fn thought(writer: &mut RolloutWriter<'_>, words: &str, id: &str, reason: &str) {
    let value = writer.message(words);
    let Some(words) =
        TextOrSize::of(&value).and_then(TextOrSize::text).filter(|words| !words.trim().is_empty())
    else {
        return;
    };
    let mut entry = writer.event(Kind::ThoughtLogged, Phase::Open, format!("thought:{id}"), reason);
    entry.title = Some(title(words.trim_matches(['*', ' '])));
    entry.body = Some(words.to_owned());
    writer.say(entry);
}

/// Reads a hook of the user that made the agent go on: `HookPrompt`.
pub(super) fn hook_prompt(writer: &mut RolloutWriter<'_>, item: &Members<'_>) {
    send_on(writer);
    let id = item.word("id").map_or_else(|| writer.observation.clone(), |id| writer.rules.word(&id));
    let fragments: Vec<_> =
        item.list("fragments").into_iter().filter_map(|one| Members::parse(one.get())).collect();
    let bytes: usize = fragments.iter().filter_map(|one| one.text("text")).map(|text| text.len()).sum();
    let key = format!("hook_prompt:{id}");
    let mut entry = writer.event(Kind::ContextSaved, Phase::Open, key, "item_completed HookPrompt");
    entry.title = Some("A hook asked the agent to go on".to_owned());
    put(&mut entry.metadata, attributes::TRIGGER, Some("hook_prompt"));
    put(&mut entry.metadata, attributes::ITEM_COUNT, Some(fragments.len()));
    put(&mut entry.metadata, attributes::BYTES, Some(bytes));
    // `stop:12:/home/dev/.codex/hooks.json`: the event, where it was configured, and in which file.
    let run = fragments.first().and_then(|one| one.word("hookRunId").or_else(|| one.word("hook_run_id")));
    writer.put_word(&mut entry.metadata, attributes::HOOK_RUN_ID, run);
    writer.say(entry);
}

/// Reads mail between agents of the second generation. The text may be encrypted and may be a result: only sizes are
/// kept.
pub(super) fn mail(writer: &mut RolloutWriter<'_>, item: &Members<'_>) {
    let id = item.word("id").map_or_else(|| writer.observation.clone(), |id| writer.rules.word(&id));
    let (author, recipient) = (item.word("author"), item.word("recipient"));
    let mut entry = writer.event(
        Kind::AgentActivityLogged,
        Phase::Open,
        format!("mail:{id}"),
        "response_item agent_message",
    );
    let name = |path: &Option<Cow<'_, str>>| {
        path.as_deref().map_or_else(|| "an agent".to_owned(), |path| writer.rules.word(path))
    };
    entry.title = Some(title(&format!("Message from {} to {}", name(&author), name(&recipient))));
    put(&mut entry.metadata, attributes::ACTIVITY_TYPE, Some("message"));
    writer.put_word(&mut entry.metadata, attributes::FROM, author);
    writer.put_word(&mut entry.metadata, attributes::TO, recipient);
    let mut bytes = 0;
    for part in item.list("content").into_iter().filter_map(|part| Members::parse(part.get())) {
        let text = part.text("text").or_else(|| part.text("encrypted_content"));
        bytes += text.map_or(0, |text| text.len());
    }
    put(&mut entry.metadata, attributes::MESSAGE_BYTES, Some(bytes));
    writer.say(entry);
}

/// Reads a plan that the agent presents in plan mode: `Plan`.
pub(super) fn plan_item(writer: &mut RolloutWriter<'_>, item: &Members<'_>) {
    let id = item.word("id").map_or_else(|| writer.observation.clone(), |id| writer.rules.word(&id));
    let value = writer.prompt(&item.text("text").unwrap_or_default());
    let mut entry = writer.event(Kind::PlanLogged, Phase::Open, format!("plan:{id}"), "item_completed Plan");
    entry.title = Some("Present the plan".to_owned());
    match TextOrSize::of(&value) {
        Some(TextOrSize::Text(plan)) => entry.body = Some(plan.to_owned()),
        Some(TextOrSize::Bytes(bytes)) => put(&mut entry.metadata, attributes::PLAN_BYTES, Some(bytes)),
        None => {}
    }
    writer.say(entry);
}

/// Returns the times of an item: it includes the wait for the user's approval.
pub(super) fn span(row: &Members<'_>, at: Millis) -> (Millis, Millis) {
    let started = row.whole("started_at_ms").map_or(at, Millis);
    let ended = row.whole("completed_at_ms").map_or(at, Millis);
    if started.0 <= ended.0 { (started, ended) } else { (ended, ended) }
}

/// Returns a task entry about a thread that this one names.
pub(super) fn child_task(writer: &RolloutWriter<'_>, child: &str, metadata: Metadata, reason: &str) -> Entry {
    let mut entry = writer.entry_of(child, Subject::Task, Phase::Update, "task".to_owned(), reason);
    entry.metadata = metadata;
    entry.metadata.insert(attributes::AGENT_ID.to_owned(), Value::from(child));
    entry.metadata.insert(attributes::PARENT_SESSION.to_owned(), Value::from(writer.thread.as_str()));
    entry.metadata.insert(attributes::PARENT_CERTAINTY.to_owned(), Value::from("reported"));
    if let Some(root) = &writer.state.root_session {
        entry.metadata.insert(attributes::ROOT_SESSION.to_owned(), Value::from(root.as_str()));
    }
    entry
}
