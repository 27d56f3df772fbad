//! Secrets that are known by a name beside them: the name of their member, the option before them in a list, the
//! `name` that belongs to a `value`.

use super::walk::PayloadPass;
use super::write;
use crate::config::Level;
use crate::fault::Fault;
use crate::keep::Key;
use crate::mask::{self, Argv, NameJudgement};
use crate::text::Text;

/// Only texts of this length can be random enough to be secrets under any name.
const RANDOM: usize = 24;

/// The judgements of the names around a container, and in it so far, on its texts.
pub(super) struct NameContext {
    /// The judgement of the container's own name.
    pub(super) around: NameJudgement,
    /// The judgement of the `name` in this object on its `value`, once it has been read.
    beside: Option<NameJudgement>,
    /// True if the member being read is that name.
    names: bool,
    /// The arguments before, if this is a list.
    argv: Argv,
    /// The arguments of the program that this object names, before the first of them.
    program: Option<Argv>,
    /// True if the member being read is that program.
    runs: bool,
}

impl NameContext {
    pub(super) fn inside(judgement: NameJudgement, arguments: Option<Argv>) -> Self {
        let argv = arguments.unwrap_or(Argv::START);
        Self { around: judgement.inside(), beside: None, names: false, argv, program: None, runs: false }
    }
}

/// Returns `true` if the name of a member is one of these, in any letter case and any spelling.
fn is_one_of(key: &Text<'_>, names: &[&[u8]]) -> bool {
    let one_of = |key: &[u8]| names.iter().any(|name| key.eq_ignore_ascii_case(name));
    if key.plain() {
        return one_of(key.raw);
    }
    // No known name is longer, so that a long spelling need not be decoded.
    key.len() <= 10 && one_of(key.decode(&mut Vec::new()))
}

/// Returns `true` if a member is the value that another member of the same object names.
pub(super) fn is_value(key: &Text<'_>) -> bool {
    key.len() == 5 && is_one_of(key, &[b"value"])
}

/// Returns `true` if a member names the value in the same object.
fn is_name(key: &Text<'_>) -> bool {
    if key.plain() {
        mask::is_name(key.raw)
    } else {
        key.len() <= 8 && mask::is_name(key.decode(&mut Vec::new()))
    }
}

/// Returns `true` if a member is the program that is run with the arguments in the same object.
fn is_program(key: &Text<'_>) -> bool {
    (3..=10).contains(&key.len()) && is_one_of(key, &[b"command", b"cmd", b"program", b"executable"])
}

/// Returns `true` if a member is the arguments of the program in the same object.
fn is_arguments(key: &Text<'_>) -> bool {
    (4..=9).contains(&key.len()) && is_one_of(key, &[b"args", b"arguments", b"argv"])
}

impl PayloadPass<'_, '_> {
    /// Returns the judgement of a member's name on its value; nothing for names with a meaning of their own.
    pub(super) fn judge_name(&mut self, key: &Text<'_>, known: Option<Key>) -> NameJudgement {
        let own = match known {
            Some(_) => NameJudgement::NOTHING,
            None => {
                let long = self.cursor.is_before_string(RANDOM);
                let name = if key.plain() { key.raw } else { key.decode(&mut self.writer.decoded) };
                NameJudgement::from_name(name, long)
            }
        };
        let Some(frame) = self.frames.last_mut() else { return own };
        frame.named.names = is_name(key);
        frame.named.runs = is_program(key);
        let beside = if is_value(key) { frame.named.beside.unwrap_or(own) } else { own };
        let own = if own.is_nothing() { beside } else { own };
        match known {
            // A description of a secret is none: `{"password":{"type":"string","title":"Your password"}}`.
            Some(
                Key::Word
                | Key::State
                | Key::Label
                | Key::Message
                | Key::Spoken
                | Key::Path
                | Key::Prompt
                | Key::Tool
                | Key::Event
                | Key::AgentType
                | Key::Cwd
                | Key::ProjectDir,
            ) => NameJudgement::NOTHING,
            _ => own.within(frame.named.around),
        }
    }

    /// Returns `true` if a member is a `value` whose `name` may still come, or a list of arguments whose program may.
    pub(super) fn awaits_name(&self, key: &Text<'_>) -> bool {
        let Some(frame) = self.frames.last() else { return false };
        match self.cursor.peek() {
            Some(b'"') => frame.named.beside.is_none() && is_value(key),
            Some(b'[') => frame.named.program.is_none() && is_arguments(key),
            _ => false,
        }
    }

    /// Returns the arguments of the program beside the list that is about to be opened.
    pub(super) fn arguments(&self) -> Option<Argv> {
        self.frames.last().filter(|frame| !frame.array)?.named.program
    }

    /// Writes a text that is a secret because of the names around it. Returns `false` if it is none.
    pub(super) fn known_secret(
        &mut self,
        meaning: Key,
        text: &Text<'_>,
        judgement: NameJudgement,
    ) -> Result<bool, Fault> {
        let Some(frame) = self.frames.last_mut() else { return Ok(false) };
        if !(frame.array || frame.named.names || frame.named.runs || !judgement.spares(text.len())) {
            return Ok(false);
        }
        write::check(text)?;
        let mut scratch = std::mem::take(&mut self.writer.decoded);
        let decoded = text.decode(&mut scratch);
        if frame.named.names && !frame.array {
            frame.named.beside = Some(NameJudgement::from_name(decoded, false));
        }
        if frame.named.runs && !frame.array {
            frame.named.program = Some(Argv::of(decoded));
        }
        let argument = if frame.array { frame.named.argv.read(decoded) } else { None };
        let secret = judgement.secret(decoded).or(argument);
        if let Some(secret) = secret {
            if self.level == Level::Metadata && meaning != Key::Path {
                self.writer.raw(b"{\"bytes\":");
                self.writer.number(decoded.len() as u64);
                self.writer.raw(b"}");
            } else {
                self.writer.with_secret(decoded, secret);
            }
        }
        self.writer.decoded = scratch;
        Ok(secret.is_some())
    }
}
