//! What people and agents say: prompts, commentary, thoughts, the words of a hook, mail between agents.
//!
//! The final message of a turn is told by the end of the turn. Whatever else the agent said is commentary, and like
//! its thoughts it is kept only at level `full`.

use std::borrow::Cow;

use agent_tracer_event::{Certainty, Entry, Kind, Metadata, Millis, Phase, Subject, attributes};
use agent_tracer_privacy::Level;
use serde_json::Value;

use super::state::Said;
use super::telling::Telling;
use super::turns;
use crate::codex::facts::{Kept, prompt_key, put, said_key, write_message, write_prompt, write_title};
use crate::codex::wire::{Members, Raw, text};
use crate::text::title;

/// The texts of a list of content parts, put together as Codex does it; and how many parts are no text.
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

/// A prompt as an item: `UserMessage`.
pub(super) fn user_item(told: &mut Telling<'_>, item: &Members<'_>) {
    let (words, others) = joined(&item.list("content"));
    prompt(told, &words, others, "item_completed UserMessage");
}

/// A prompt as an event of the legacy dialect: `user_message`.
pub(super) fn user_event(told: &mut Telling<'_>, event: &Members<'_>) {
    turns::infer_from_prompt(told);
    let others = ["images", "local_images", "audio", "local_audio"].map(|name| event.list(name).len() as u64);
    let words = event.text("message").unwrap_or_default();
    prompt(told, &words, others.iter().sum(), "user_message");
}

fn prompt(told: &mut Telling<'_>, words: &str, attachments: u64, reason: &str) {
    flush_said(told);
    let value = told.prompt(words);
    let Some(kept) = Kept::of(&value) else { return };
    let key = match &told.turn {
        Some(turn) => prompt_key(turn, kept),
        None => format!("prompt:{}", told.observation),
    };
    let own = told.is_own();
    let steers = own && told.turn == told.state.turn && told.state.prompts > 0;
    if own {
        told.state.prompts = told.state.prompts.saturating_add(1);
    }
    let mut entry = told.event(Kind::UserMessage, Phase::Open, key, reason);
    write_prompt(&mut entry, kept);
    put(&mut entry.metadata, attributes::PROMPT_ORIGIN, Some(if steers { "steering" } else { "user" }));
    put(&mut entry.metadata, attributes::ATTACHMENT_COUNT, (attachments > 0).then_some(attachments));
    if own && told.state.parent_thread.is_some() {
        put(&mut entry.metadata, attributes::DELEGATED, Some(true));
    }
    told.say(entry);
    if own && !told.state.titled {
        told.state.titled = true;
        let mut about = Metadata::new();
        write_title(&mut about, kept);
        told.say_task(about, reason);
    }
}

/// A message of the agent as an item: `AgentMessage`.
pub(super) fn agent_item(told: &mut Telling<'_>, item: &Members<'_>) {
    let (words, _) = joined(&item.list("content"));
    agent_said(told, &words, item.word("phase").as_deref(), item.word("id").as_deref());
}

/// A message of the agent as an event of the legacy dialect: `agent_message`.
pub(super) fn agent_event(told: &mut Telling<'_>, event: &Members<'_>) {
    let words = event.text("message").unwrap_or_default();
    let phase = event.word("phase");
    if !told.state.tells_turns && phase.as_deref() != Some("commentary") {
        // Nothing in such a file says which message was the last of its turn.
        let message = told.message(&words);
        if let (Some(turn), Some(kept)) = (told.turn.clone(), Kept::of(&message)) {
            turns::response(told, &turn, kept, "agent_message");
            if let Some(entry) = told.reading.entries.last_mut() {
                entry.evidence.certainty = Certainty::Inferred;
            }
        }
        return;
    }
    agent_said(told, &words, phase.as_deref(), None);
}

fn agent_said(told: &mut Telling<'_>, words: &str, phase: Option<&str>, id: Option<&str>) {
    if let Some(phase) = phase {
        told.known("AgentMessage.phase", phase, &["commentary", "final_answer"]);
    }
    flush_said(told);
    let value = told.message(words);
    let Some(kept) = Kept::of(&value).filter(|kept| !kept.is_empty()) else { return };
    let is_again = told.turn.as_deref().is_some_and(|turn| told.state.is_sent_on(turn));
    let said = Said {
        id: id.unwrap_or(&told.observation).to_owned(),
        turn: told.turn.clone(),
        at: Some(told.at),
        text: kept.text().filter(|_| told.rules.level() == Level::Full).map(str::to_owned),
        key: told.turn.as_deref().map(|turn| said_key(turn, kept, is_again)).unwrap_or_default(),
        bytes: words.trim().len() as u64,
        is_final: phase == Some("final_answer"),
    };
    if phase == Some("commentary") {
        commentary(told, said);
    } else {
        told.state.said = Some(said);
    }
}

/// Something else followed the last message, so it was not the final one.
pub(super) fn flush_said(told: &mut Telling<'_>) {
    if let Some(said) = told.state.said.take() {
        commentary(told, said);
    }
}

/// The turn ended: the last message was its final one, unless the end tells another.
pub(super) fn drop_said(told: &mut Telling<'_>, last: Option<&str>) {
    let Some(said) = told.state.said.take() else { return };
    let same = last.is_some_and(|last| {
        let value = told.message(last);
        let words = said.text.as_deref().map(str::trim);
        Kept::of(&value).and_then(Kept::text).is_some_and(|last| Some(last.trim()) == words)
    });
    if !same {
        commentary(told, said);
    }
}

fn commentary(told: &mut Telling<'_>, said: Said) {
    let Some(text) = said.text.filter(|_| !said.is_final) else { return };
    let key = format!("commentary:{}", said.id);
    let mut entry =
        told.event(Kind::AssistantCommentary, Phase::Open, key, "AgentMessage before the end of its turn");
    entry.occurred_at = said.at.unwrap_or(told.at);
    entry.turn = said.turn;
    entry.title = Some(title(&text));
    entry.body = Some(text);
    told.say(entry);
}

/// A hook sent the agent on, so what it had said last was an answer, though not the end of its turn.
fn send_on(told: &mut Telling<'_>) {
    let is_answer = |said: &Said| said.turn.is_some() && said.turn == told.turn;
    if !told.state.said.as_ref().is_some_and(is_answer) {
        flush_said(told);
    }
    if let Some(said) = told.state.said.take() {
        let reason = "AgentMessage before a HookPrompt";
        let mut entry = told.event(Kind::AssistantResponse, Phase::Close, said.key, reason);
        entry.occurred_at = said.at.unwrap_or(told.at);
        entry.ended_at = said.at;
        // The hook has the words at every level that has any.
        entry.evidence.certainty = Certainty::Inferred;
        write_message(&mut entry, said.text.as_deref().map_or(Kept::Bytes(said.bytes), Kept::Text));
        told.say(entry);
    }
    told.state.sent_on_turn.clone_from(&told.turn);
}

/// Thoughts as an item: `Reasoning`.
pub(super) fn thought_item(told: &mut Telling<'_>, item: &Members<'_>) {
    if told.rules.level() != Level::Full {
        return;
    }
    let parts = [item.list("summary_text"), item.list("raw_content")].concat();
    let texts: Vec<_> = parts.into_iter().filter_map(text).collect();
    let id = item.word("id").map_or_else(|| told.observation.clone(), |id| told.rules.word(&id));
    thought(told, &texts.join("\n\n"), &id, "item_completed Reasoning");
}

/// Thoughts as an event of the legacy dialect: `agent_reasoning`, `agent_reasoning_raw_content`.
pub(super) fn thought_event(told: &mut Telling<'_>, event: &Members<'_>) {
    if told.rules.level() == Level::Full {
        let id = told.observation.clone();
        thought(told, &event.text("text").unwrap_or_default(), &id, "agent_reasoning");
    }
}

fn thought(told: &mut Telling<'_>, words: &str, id: &str, reason: &str) {
    let value = told.message(words);
    let Some(words) = Kept::of(&value).and_then(Kept::text).filter(|words| !words.trim().is_empty()) else {
        return;
    };
    let mut entry = told.event(Kind::ThoughtLogged, Phase::Open, format!("thought:{id}"), reason);
    entry.title = Some(title(words.trim_matches(['*', ' '])));
    entry.body = Some(words.to_owned());
    told.say(entry);
}

/// A hook of the user made the agent go on: `HookPrompt`.
pub(super) fn hook_prompt(told: &mut Telling<'_>, item: &Members<'_>) {
    send_on(told);
    let id = item.word("id").map_or_else(|| told.observation.clone(), |id| told.rules.word(&id));
    let fragments: Vec<_> =
        item.list("fragments").into_iter().filter_map(|one| Members::parse(one.get())).collect();
    let bytes: usize = fragments.iter().filter_map(|one| one.text("text")).map(|text| text.len()).sum();
    let key = format!("hook_prompt:{id}");
    let mut entry = told.event(Kind::ContextSaved, Phase::Open, key, "item_completed HookPrompt");
    entry.title = Some("A hook asked the agent to go on".to_owned());
    put(&mut entry.metadata, attributes::TRIGGER, Some("hook_prompt"));
    put(&mut entry.metadata, attributes::ITEM_COUNT, Some(fragments.len()));
    put(&mut entry.metadata, attributes::BYTES, Some(bytes));
    // `stop:12:/home/dev/.codex/hooks.json`: the event, where it was configured, and in which file.
    let run = fragments.first().and_then(|one| one.word("hookRunId").or_else(|| one.word("hook_run_id")));
    told.put_word(&mut entry.metadata, attributes::HOOK_RUN_ID, run);
    told.say(entry);
}

/// Mail between agents of the second generation. The text may be encrypted and may be a result: only sizes are kept.
pub(super) fn mail(told: &mut Telling<'_>, item: &Members<'_>) {
    let id = item.word("id").map_or_else(|| told.observation.clone(), |id| told.rules.word(&id));
    let (author, recipient) = (item.word("author"), item.word("recipient"));
    let mut entry = told.event(
        Kind::AgentActivityLogged,
        Phase::Open,
        format!("mail:{id}"),
        "response_item agent_message",
    );
    let name = |path: &Option<Cow<'_, str>>| {
        path.as_deref().map_or_else(|| "an agent".to_owned(), |path| told.rules.word(path))
    };
    entry.title = Some(title(&format!("Message from {} to {}", name(&author), name(&recipient))));
    put(&mut entry.metadata, attributes::ACTIVITY_TYPE, Some("message"));
    told.put_word(&mut entry.metadata, attributes::FROM, author);
    told.put_word(&mut entry.metadata, attributes::TO, recipient);
    let mut bytes = 0;
    for part in item.list("content").into_iter().filter_map(|part| Members::parse(part.get())) {
        let text = part.text("text").or_else(|| part.text("encrypted_content"));
        bytes += text.map_or(0, |text| text.len());
    }
    put(&mut entry.metadata, attributes::MESSAGE_BYTES, Some(bytes));
    told.say(entry);
}

/// A plan that the agent presents in plan mode: `Plan`.
pub(super) fn plan_item(told: &mut Telling<'_>, item: &Members<'_>) {
    let id = item.word("id").map_or_else(|| told.observation.clone(), |id| told.rules.word(&id));
    let value = told.prompt(&item.text("text").unwrap_or_default());
    let mut entry = told.event(Kind::PlanLogged, Phase::Open, format!("plan:{id}"), "item_completed Plan");
    entry.title = Some("Present the plan".to_owned());
    match Kept::of(&value) {
        Some(Kept::Text(plan)) => entry.body = Some(plan.to_owned()),
        Some(Kept::Bytes(bytes)) => put(&mut entry.metadata, attributes::PLAN_BYTES, Some(bytes)),
        None => {}
    }
    told.say(entry);
}

/// The times of an item: it includes the wait for the user's approval.
pub(super) fn span(row: &Members<'_>, at: Millis) -> (Millis, Millis) {
    let started = row.whole("started_at_ms").map_or(at, Millis);
    let ended = row.whole("completed_at_ms").map_or(at, Millis);
    if started.0 <= ended.0 { (started, ended) } else { (ended, ended) }
}

/// A task entry about a thread that this one told of.
pub(super) fn child_task(told: &Telling<'_>, child: &str, metadata: Metadata, reason: &str) -> Entry {
    let mut entry = told.entry_of(child, Subject::Task, Phase::Update, "task".to_owned(), reason);
    entry.metadata = metadata;
    entry.metadata.insert(attributes::AGENT_ID.to_owned(), Value::from(child));
    entry.metadata.insert(attributes::PARENT_SESSION.to_owned(), Value::from(told.thread.as_str()));
    entry.metadata.insert(attributes::PARENT_CERTAINTY.to_owned(), Value::from("reported"));
    if let Some(root) = &told.state.root_session {
        entry.metadata.insert(attributes::ROOT_SESSION.to_owned(), Value::from(root.as_str()));
    }
    entry
}
