//! The names by which something outside of the store may tell of a task: its id, and the agent's id of its session.

use std::collections::HashSet;

use agent_tracer_event::TaskKey;

/// A subagent that has no session of its own is known by its id behind this.
const VIRTUAL: &str = "sub--";

/// Shorter ids of sessions are not looked for in bytes: they may stand there by chance.
const LEAST_LETTERS: usize = 8;

/// Names of some tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskNames {
    ids: HashSet<String>,
    sessions: HashSet<String>,
}

impl TaskNames {
    /// Adds a task, by its id and the agent's id of its session; that may be empty if it is not known.
    pub fn add(&mut self, id: &str, session: &str) {
        self.ids.insert(id.to_owned());
        let session = session.strip_prefix(VIRTUAL).unwrap_or(session);
        if session.len() >= LEAST_LETTERS {
            self.sessions.insert(session.to_owned());
        }
    }

    /// Returns whether a task is among them, by its id.
    #[must_use]
    pub fn has_id(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    /// Returns whether a task is among them.
    #[must_use]
    pub fn has(&self, task: &TaskKey) -> bool {
        self.has_id(task.task_id().as_str())
    }

    /// Returns whether a session is among them, by the agent's id.
    #[must_use]
    pub fn has_session(&self, session: &str) -> bool {
        self.sessions.contains(session.strip_prefix(VIRTUAL).unwrap_or(session))
    }

    /// Returns whether some bytes name one of their sessions, whatever else they are.
    #[must_use]
    pub fn are_in(&self, bytes: &[u8]) -> bool {
        let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        bytes.split(|byte| !is_letter(byte)).filter_map(|word| std::str::from_utf8(word).ok()).any(|word| {
            // A name of a file may begin with something else: `agent-<id>`, `rollout-<time>-<id>`.
            let ends = word.match_indices('-').filter_map(|(at, _)| word.get(at + 1..));
            std::iter::once(word).chain(ends).any(|end| self.sessions.contains(end))
        })
    }
}

#[cfg(test)]
mod tests {
    use agent_tracer_event::Agent;

    use super::*;

    #[test]
    fn a_session_is_found_in_bytes_as_a_whole_word_and_at_the_end_of_one() {
        let mut names = TaskNames::default();
        let session = "5a0c7d1e-7f52-4c2b-9d0e-2f6a1c3b4d5e";
        let task = TaskKey::new(Agent::CLAUDE_CODE, session);
        names.add(task.task_id().as_str(), session);
        names.add("x", "sub--a1b2c3d4e5");
        names.add("y", "short");
        assert!(names.has(&task) && names.has_session(session) && names.has_session("sub--a1b2c3d4e5"));
        for text in [
            r#"{"session_id":"5a0c7d1e-7f52-4c2b-9d0e-2f6a1c3b4d5e"}"#,
            "/p/rollout-2026-11-15T19-33-11-5a0c7d1e-7f52-4c2b-9d0e-2f6a1c3b4d5e.jsonl",
            "\u{1}agent-a1b2c3d4e5.jsonl",
        ] {
            assert!(names.are_in(text.as_bytes()), "{text}");
        }
        for text in ["", "short", "5a0c7d1e-7f52-4c2b-9d0e-2f6a1c3b4d5", "a1b2c3d4e5f", "\u{ff}"] {
            assert!(!names.are_in(text.as_bytes()), "{text}");
        }
    }
}
