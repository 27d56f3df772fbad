//! The messages between a hook and the server: one question and one answer over a stream socket.
//!
//! All numbers are unsigned and little-endian. A question:
//!
//! | bytes | |
//! |---|---|
//! | 4 | `ATQ1` |
//! | 1 | agent: its place in the table of agents ([`Agent::wire_byte`]) |
//! | 1 | length of the envelope's name; zero if the event was not recorded, and the decision must not be either |
//! | 2 | length of the project's folder, as the agent names it |
//! | 4 | length of the payload |
//! | … | the name, the folder, the payload |
//!
//! An answer:
//!
//! | bytes | |
//! |---|---|
//! | 4 | `ATA1` |
//! | 1 | exit code |
//! | 3 | zero |
//! | 4 | length of what goes to standard output |
//! | 4 | length of what goes to standard error |
//! | … | both, one after the other |
//!
//! The heads give every length before the texts follow, and both sides refuse a head above the limits.

use agent_tracer_agent::Agent;

/// The longest payload that can be sent, in bytes. A hook with a longer one does not ask the server.
pub const PAYLOAD_MAX: usize = 16 << 20;
/// The longest folder.
pub const FOLDER_MAX: usize = 4096;
/// The longest name of an envelope.
pub const NAME_MAX: usize = 64;
/// The longest part of an answer.
pub const ANSWER_MAX: usize = 4 << 20;
/// Bytes before the texts of a question.
pub const QUESTION_HEAD: usize = 12;
/// Bytes before the texts of an answer.
pub const ANSWER_HEAD: usize = 16;

const QUESTION: &[u8; 4] = b"ATQ1";
const ANSWER: &[u8; 4] = b"ATA1";

/// The head of a question, which precedes its texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuestionHead {
    /// The agent whose hook asks.
    pub agent: Agent,
    /// Length of the envelope's name.
    pub name: usize,
    /// Length of the project's folder.
    pub folder: usize,
    /// Length of the payload.
    pub payload: usize,
}

impl QuestionHead {
    /// Encodes the head. `None` if a length is above its limit.
    #[must_use]
    pub fn bytes(&self) -> Option<[u8; QUESTION_HEAD]> {
        if self.name > NAME_MAX || self.folder > FOLDER_MAX || self.payload > PAYLOAD_MAX {
            return None;
        }
        let [f0, f1] = u16::try_from(self.folder).ok()?.to_le_bytes();
        let [p0, p1, p2, p3] = u32::try_from(self.payload).ok()?.to_le_bytes();
        let [a, b, c, d] = *QUESTION;
        Some([a, b, c, d, self.agent.wire_byte(), u8::try_from(self.name).ok()?, f0, f1, p0, p1, p2, p3])
    }

    /// Decodes a head. `None` if the bytes are no question or a length is above its limit.
    #[must_use]
    pub fn read(bytes: &[u8; QUESTION_HEAD]) -> Option<Self> {
        let [a, b, c, d, agent, name, f0, f1, p0, p1, p2, p3] = *bytes;
        let head = Self {
            agent: Agent::from_wire_byte(agent)?,
            name: usize::from(name),
            folder: usize::from(u16::from_le_bytes([f0, f1])),
            payload: usize::try_from(u32::from_le_bytes([p0, p1, p2, p3])).ok()?,
        };
        // Checked again on this side: the sender may be another version, or not a hook.
        let fits = head.name <= NAME_MAX && head.folder <= FOLDER_MAX && head.payload <= PAYLOAD_MAX;
        (fits && [a, b, c, d] == *QUESTION).then_some(head)
    }
}

/// The head of an answer, which precedes its texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerHead {
    /// The exit code of the hook.
    pub exit: u8,
    /// Length of what goes to standard output.
    pub stdout: usize,
    /// Length of what goes to standard error.
    pub stderr: usize,
}

impl AnswerHead {
    /// Encodes the head. `None` if a length is above its limit.
    #[must_use]
    pub fn bytes(&self) -> Option<[u8; ANSWER_HEAD]> {
        if self.stdout > ANSWER_MAX || self.stderr > ANSWER_MAX {
            return None;
        }
        let [o0, o1, o2, o3] = u32::try_from(self.stdout).ok()?.to_le_bytes();
        let [e0, e1, e2, e3] = u32::try_from(self.stderr).ok()?.to_le_bytes();
        let [a, b, c, d] = *ANSWER;
        Some([a, b, c, d, self.exit, 0, 0, 0, o0, o1, o2, o3, e0, e1, e2, e3])
    }

    /// Decodes a head. `None` if the bytes are no answer or a length is above its limit.
    #[must_use]
    pub fn read(bytes: &[u8; ANSWER_HEAD]) -> Option<Self> {
        let [a, b, c, d, exit, z0, z1, z2, o0, o1, o2, o3, e0, e1, e2, e3] = *bytes;
        let head = Self {
            exit,
            stdout: usize::try_from(u32::from_le_bytes([o0, o1, o2, o3])).ok()?,
            stderr: usize::try_from(u32::from_le_bytes([e0, e1, e2, e3])).ok()?,
        };
        // Reserved bytes must be zero, so that a later version can give them a meaning.
        let fits = head.stdout <= ANSWER_MAX && head.stderr <= ANSWER_MAX;
        (fits && [a, b, c, d] == *ANSWER && [z0, z1, z2] == [0; 3]).then_some(head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_round_trip_and_lengths_above_the_limits_are_refused() {
        let question = QuestionHead { agent: Agent::CODEX, name: 42, folder: 4096, payload: PAYLOAD_MAX };
        assert_eq!(QuestionHead::read(&question.bytes().unwrap()), Some(question));
        let answer = AnswerHead { exit: 2, stdout: ANSWER_MAX, stderr: 1 };
        assert_eq!(AnswerHead::read(&answer.bytes().unwrap()), Some(answer));
        for long in [
            QuestionHead { payload: PAYLOAD_MAX + 1, ..question },
            QuestionHead { folder: 4097, ..question },
            QuestionHead { name: 65, ..question },
        ] {
            assert_eq!(long.bytes(), None);
        }
        assert_eq!(AnswerHead { stdout: ANSWER_MAX + 1, ..answer }.bytes(), None);
        let mut bytes = question.bytes().unwrap();
        bytes[11] = 0xff;
        assert_eq!(QuestionHead::read(&bytes), None);
    }

    #[test]
    fn bytes_that_are_no_question_or_answer_are_refused() {
        let question =
            QuestionHead { agent: Agent::CLAUDE_CODE, name: 0, folder: 0, payload: 2 }.bytes().unwrap();
        let answer = AnswerHead { exit: 0, stdout: 0, stderr: 0 }.bytes().unwrap();
        for at in 0..5 {
            let mut other = question;
            other[at] ^= 0x80;
            assert_eq!(QuestionHead::read(&other), None, "byte {at}");
        }
        for at in [0, 1, 2, 3, 5, 6, 7] {
            let mut other = answer;
            other[at] ^= 0x80;
            assert_eq!(AnswerHead::read(&other), None, "byte {at}");
        }
    }
}
