//! Who a payload or a row of Claude Code speaks of, and the keys of facts that its hooks and its transcript both tell.
//!
//! Both readers take them from here: a fact told twice is one fact only if both sides spell its key alike.

use agent_tracer_event::{Agent, TaskKey};

use crate::text;

/// Returns the task: the session's own, or that of a subagent, inside which `session_id` is the parent's.
#[must_use]
pub fn task(session: &str, agent_id: Option<&str>) -> TaskKey {
    match agent_id {
        Some(agent) => TaskKey::subagent(Agent::ClaudeCode, agent),
        None => TaskKey::new(Agent::ClaudeCode, session),
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
    fn the_trimmed_text_of_the_hook_and_the_whole_one_of_the_transcript_have_one_key() {
        assert_eq!(said_key("p", "Hello.\nSecond line.\n"), said_key("p", "Hello.\nSecond line."));
        assert_ne!(said_key("p", "Hello."), said_key("q", "Hello."));
        assert_ne!(said_length_key("p", 6), said_length_key("p", 7));
    }
}
