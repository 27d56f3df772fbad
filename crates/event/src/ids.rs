//! Identifiers: opaque strings, derived from what they name and never drawn.
//!
//! The same session, call or response gets the same id on every reading, on every machine, whichever
//! channel reported it first. A task's id is the letter `t` and 100 bits of XXH3-128 over the parts of its
//! natural key, in Crockford's base 32. What belongs to a task is named by the task and 64 bits of its own
//! key (`<task>-e…`), so that the id gives the task too, and a store finds it there. Parts
//! are framed by their length, so that ("ab", "c") and ("a", "bc") differ.

use std::fmt;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use agent_tracer_agent::Agent;

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// Characters of a task's id behind its letter.
// 100 bits: the chance that any two of a billion tasks share an id is below one in 10¹².
const TASK_LETTERS: usize = 20;
/// Characters of an id within a task behind its letter.
// Thirteen letters hold the 64 bits of a number, which a store keeps in an integer column instead of the text.
const OWN_LETTERS: usize = 13;

/// Hashes framed parts to 128 bits.
fn digest(parts: &[&[u8]]) -> u128 {
    let mut hasher = Xxh3::new();
    for part in parts {
        // The length goes first, or two different pairs of parts would have the same bytes.
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.digest128()
}

/// Returns a letter and so many characters of base 32, the lowest bits first.
fn encode(letter: char, letters: usize, mut bits: u128) -> String {
    let mut id = String::with_capacity(letters + 1);
    id.push(letter);
    for _ in 0..letters {
        let index = (bits & 31) as usize;
        id.push(ALPHABET.get(index).map_or('0', |byte| char::from(*byte)));
        bits >>= 5;
    }
    id
}

/// Returns the bits behind the letter of an encoded text.
fn decode(text: &str) -> Option<u128> {
    // The lowest bits stand first, so they are read last.
    text.bytes().skip(1).rev().try_fold(0_u128, |bits, byte| {
        let digit = ALPHABET.iter().position(|letter| *letter == byte)?;
        Some((bits << 5) | digit as u128)
    })
}

/// Returns whether a text is this letter and so many characters of base 32.
fn is_derived(text: &str, letter: char, letters: usize) -> bool {
    text.strip_prefix(letter)
        .is_some_and(|rest| rest.len() == letters && rest.bytes().all(|byte| ALPHABET.contains(&byte)))
}

macro_rules! id {
    ($(#[$meta:meta])* $name:ident, |$text:ident| $shape:expr) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Returns the text of the id.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// Takes a text that looks like such an id; anything else is none.
            #[must_use]
            pub fn parse($text: &str) -> Option<Self> {
                $shape.then(|| Self($text.to_owned()))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

/// Declares the id of something within a task.
macro_rules! own_id {
    ($(#[$meta:meta])* $name:ident, $letter:literal) => {
        id!($(#[$meta])* $name, |text| text.split_once('-').is_some_and(|(task, own)| {
            is_derived(task, 't', TASK_LETTERS)
                && is_derived(own, $letter, OWN_LETTERS)
                // Thirteen letters can spell a 65th bit, which no number has.
                && decode(own).is_some_and(|bits| u64::try_from(bits).is_ok())
        }));

        impl $name {
            /// Returns the one of this task that has this natural key.
            #[must_use]
            pub fn derive(task: &TaskId, key: &str) -> Self {
                Self::from_number(task, Self::number_of(key))
            }

            /// Returns the number of the one that has this natural key, the same in every task.
            ///
            /// A key that begins with `~` stands in for one that its channel does not know. Its number is greater than
            /// nearly all others, so that whichever real key turns out to mean the same names the fact.
            #[must_use]
            pub fn number_of(key: &str) -> u64 {
                let number = digest(&[key.as_bytes()]) as u64;
                if key.starts_with('~') { number >> 32 | 0x7fff_ffff_0000_0000 } else { number }
            }

            /// Returns the one of this task that has this number.
            #[must_use]
            pub fn from_number(task: &TaskId, number: u64) -> Self {
                // The task stands in front, so that facts of one task are neighbours in every index and the id alone
                // leads to it.
                Self(format!("{task}-{}", encode($letter, OWN_LETTERS, u128::from(number))))
            }

            /// Returns the number within its task: a store may keep this instead of the text.
            #[must_use]
            pub fn number(&self) -> u64 {
                let own = self.0.split_once('-').and_then(|(_, own)| decode(own));
                own.and_then(|bits| u64::try_from(bits).ok()).unwrap_or_default()
            }

            /// Returns the task it belongs to.
            #[must_use]
            pub fn task(&self) -> TaskId {
                TaskId(self.0.split_once('-').map_or_else(String::new, |(task, _)| task.to_owned()))
            }
        }
    };
}

id!(
    /// A task: one per runtime session (Codex: per thread).
    TaskId, |text| is_derived(text, 't', TASK_LETTERS)
);
own_id!(
    /// A fact: a row that people see, folded from its entries.
    FactId, 'e'
);
own_id!(
    /// A session: one stretch of a task, from a start or resume to its end.
    SessionId, 's'
);
own_id!(
    /// A turn: from a prompt to its end.
    TurnId, 'u'
);
id!(
    /// An entry of the ledger.
    EntryId, |text| is_derived(text, 'n', TASK_LETTERS)
);

/// Describes what a task is derived from: the agent and what it calls its session.
///
/// Inside a Claude Code subagent the runtime session is `sub--<agent id>`; for Codex it is the thread.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskKey {
    /// The agent.
    pub agent: Agent,
    /// The agent's own name of the session.
    pub runtime_session: String,
}

impl TaskKey {
    /// Returns the task of a main session.
    #[must_use]
    pub fn new(agent: Agent, runtime_session: impl Into<String>) -> Self {
        Self { agent, runtime_session: runtime_session.into() }
    }

    /// Returns the task of a Claude Code subagent, whose hooks carry the parent's session id.
    #[must_use]
    pub fn subagent(agent: Agent, agent_id: &str) -> Self {
        // A subagent's hooks have no session of their own, and without one its rows would be its parent's. No session
        // id of a client begins like this.
        Self { agent, runtime_session: format!("sub--{agent_id}") }
    }

    /// Returns the id of the task.
    #[must_use]
    pub fn task_id(&self) -> TaskId {
        TaskId(encode(
            't',
            TASK_LETTERS,
            // The id and not the number of the agent: a row's place could differ between two builds, its id never
            // does.
            digest(&[self.agent.as_str().as_bytes(), self.runtime_session.as_bytes()]),
        ))
    }
}

impl EntryId {
    /// Returns the `index`-th entry read out of an observation.
    #[must_use]
    pub fn derive(observation: &str, index: u32) -> Self {
        // The index is part of it, because one observation makes several entries, and the order in which its reader
        // makes them is fixed.
        Self(encode('n', TASK_LETTERS, digest(&[observation.as_bytes(), &index.to_le_bytes()])))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ids_never_change_between_versions() {
        let task = TaskKey::new(Agent::CLAUDE_CODE, "5a133364-48e1-40c2-b568-cfba1112cbce").task_id();
        assert_eq!(task.as_str(), PINNED_TASK);
        assert_eq!(FactId::derive(&task, "tool:toolu_1").as_str(), PINNED_FACT);
    }

    const PINNED_TASK: &str = "t329jf4mw8sfq266q3jxk";
    const PINNED_FACT: &str = "t329jf4mw8sfq266q3jxk-ehvayy51m7q4m1";

    #[test]
    fn the_parts_of_a_key_do_not_run_into_each_other() {
        assert_ne!(digest(&[b"ab", b"c"]), digest(&[b"a", b"bc"]));
        assert_ne!(digest(&[b"ab"]), digest(&[b"ab", b""]));
    }

    #[test]
    fn a_subagent_is_a_task_of_its_own() {
        let child = TaskKey::subagent(Agent::CLAUDE_CODE, "ab3e93b59c0804713");
        assert_eq!(child.runtime_session, "sub--ab3e93b59c0804713");
        assert_ne!(child.task_id(), TaskKey::new(Agent::CLAUDE_CODE, "ab3e93b59c0804713").task_id());
    }

    #[test]
    fn only_texts_of_the_right_shape_are_ids() {
        let id = TaskKey::new(Agent::CODEX, "x").task_id();
        assert_eq!(TaskId::parse(id.as_str()), Some(id.clone()));
        assert_eq!(FactId::parse(id.as_str()), None);
        assert_eq!(FactId::parse(TurnId::derive(&id, "x").as_str()), None);
        assert_eq!(TaskId::parse("t"), None);
        assert_eq!(TaskId::parse("t0123456789abcdefghi"), None);
        assert_eq!(TaskId::parse("t0123456789abcdefgh' OR 1"), None);
    }

    proptest! {
        #[test]
        fn every_derived_id_has_its_shape(session in ".{0,80}", key in ".{0,80}") {
            let task = TaskKey::new(Agent::CODEX, session).task_id();
            prop_assert!(TaskId::parse(task.as_str()).is_some());
            let fact = FactId::derive(&task, &key);
            prop_assert_eq!(FactId::parse(fact.as_str()), Some(fact.clone()));
            prop_assert_eq!(fact.task(), task.clone());
            prop_assert_eq!(FactId::from_number(&task, fact.number()), fact);
        }
    }
}
