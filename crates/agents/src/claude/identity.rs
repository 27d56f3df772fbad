//! Derives the actor of a payload or row of Claude Code, and the keys of facts that hooks and transcript share.
//!
//! Both readers take them from here: two reports make one fact only if both readers spell its key alike.

use agent_tracer_event::{Agent, Series, TaskKey};

use super::wire::TextOrLength;
use crate::text;

/// Returns the task: the session's own, or that of a subagent, inside which `session_id` is the parent's.
#[must_use]
pub fn task(session: &str, agent_id: Option<&str>) -> TaskKey {
    match agent_id {
        Some(agent) => TaskKey::subagent(Agent::CLAUDE_CODE, agent),
        None => TaskKey::new(Agent::CLAUDE_CODE, session),
    }
}

/// Returns the bare id of the turn.
///
/// On the main thread a turn is a prompt. A subagent's turn is the agent itself: `prompt_id` belongs to the process and
/// moves on while a background agent works, so it would tear the agent's run apart.
#[must_use]
pub fn turn<'a>(agent_id: Option<&'a str>, prompt_id: Option<&'a str>) -> Option<&'a str> {
    agent_id.or(prompt_id)
}

/// Returns what stands in keys for a text that both channels tell: its hash, or its length where only that was kept. White space
/// does not count: a command's arguments have it in the hook as it was typed, and in the transcript as it was split.
#[must_use]
pub(in crate::claude) fn text_part(said: Option<TextOrLength<'_>>) -> Option<String> {
    match said {
        Some(TextOrLength::Text(text)) if !text.trim().is_empty() => Some(text::words_key(text)),
        Some(TextOrLength::Length(bytes)) if bytes > 0 => Some(text::length_key(bytes)),
        Some(TextOrLength::Text(_) | TextOrLength::Length(_)) | None => None,
    }
}

/// Returns the key of a prompt. Its text is part of it: what is typed while a turn runs has the prompt id of that turn.
#[must_use]
pub(in crate::claude) fn prompt_key(prompt_id: &str, text_part: Option<&str>) -> String {
    match text_part {
        Some(part) => format!("prompt:{prompt_id}:{part}"),
        None => format!("prompt:{prompt_id}"),
    }
}

/// Returns the series of a prompt. Where its turn has an id, that is all prompts of the turn, else all with the same text.
#[must_use]
pub(in crate::claude) fn prompt_series(prompt_id: Option<&str>, text_part: Option<&str>) -> Option<Series> {
    match (prompt_id, text_part) {
        (Some(prompt), part) => {
            Some(Series { name: format!("prompt:{prompt}"), part: part.unwrap_or_default().to_owned() })
        }
        (None, part) => nameless_series("prompt", part),
    }
}

/// Returns the series of facts with the same text, for payloads that name no prompt.
#[must_use]
pub(in crate::claude) fn nameless_series(what: &str, text_part: Option<&str>) -> Option<Series> {
    let part = text_part?;
    Some(Series { name: format!("~{what}:{part}"), part: part.to_owned() })
}

/// Returns the key of a turn's final message. White space around the text does not count: the hook has it trimmed.
#[must_use]
pub fn said_key(turn: &str, message: &str) -> String {
    format!("said:{turn}:{}", text::text_key(message))
}

/// Returns the key of a final message of which only the length was kept.
#[must_use]
pub fn said_length_key(turn: &str, message_bytes: u64) -> String {
    format!("said:{turn}:{}", text::length_key(message_bytes))
}

/// Returns the key of a final message that came after a hook had sent the model on in the same turn: its words may be
/// those of the message before.
#[must_use]
pub fn again_key(said_key: &str) -> String {
    format!("{said_key}:again")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subagent_is_a_task_and_a_turn_of_its_own() {
        assert_eq!(task("s", None).runtime_session, "s");
        assert_eq!(task("s", Some("a1")).runtime_session, "sub--a1");
        assert_eq!(turn(None, Some("p")), Some("p"));
        assert_eq!(turn(Some("a1"), Some("p")), Some("a1"));
        assert_eq!(turn(None, None), None);
    }

    #[test]
    fn prompts_of_one_turn_differ_by_their_text() {
        assert_ne!(prompt_key("p", Some("1")), prompt_key("p", Some("2")));
        assert_eq!(
            text_part(Some(TextOrLength::Text(" Go on\n"))),
            text_part(Some(TextOrLength::Text("Go on")))
        );
        assert_eq!(
            text_part(Some(TextOrLength::Text("/shout  two\n spaces"))),
            text_part(Some(TextOrLength::Text("/shout two spaces")))
        );
        assert_ne!(
            text_part(Some(TextOrLength::Text("twosp aces"))),
            text_part(Some(TextOrLength::Text("two spaces")))
        );
        assert_eq!(text_part(Some(TextOrLength::Text(" "))), None);
    }

    #[test]
    fn the_trimmed_text_of_the_hook_and_the_whole_one_of_the_transcript_have_one_key() {
        assert_eq!(said_key("p", "Hello.\nSecond line.\n"), said_key("p", "Hello.\nSecond line."));
        assert_ne!(said_key("p", "Hello."), said_key("q", "Hello."));
        assert_ne!(said_length_key("p", 6), said_length_key("p", 7));
    }
}
