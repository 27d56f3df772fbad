//! Secrets that are known by a name beside them: the member they stand under, the option before them in a list, the
//! `name` that belongs to a `value`.

use super::walk::Run;
use super::write;
use crate::config::Level;
use crate::fault::Fault;
use crate::keep::Key;
use crate::mask::{Argv, Telling};
use crate::text::Text;

/// What the names around a container, and in it so far, say about its texts.
pub(super) struct Named {
    /// What the name of the container itself says.
    pub(super) around: Telling,
    /// What the `name` in this object says about its `value`, once it has been read.
    beside: Option<Telling>,
    /// Whether the member being read is that name.
    names: bool,
    /// The arguments before, if this is a list.
    argv: Argv,
}

impl Named {
    pub(super) fn inside(telling: Telling) -> Self {
        Self { around: telling.inside(), beside: None, names: false, argv: Argv::START }
    }
}

/// Whether a member is the value that another member of the same object names.
pub(super) fn is_value(key: &Text<'_>) -> bool {
    key.raw.len() == 5 && key.raw.eq_ignore_ascii_case(b"value")
}

/// Whether a member names the value in the same object.
fn is_name(key: &[u8]) -> bool {
    (3..=8).contains(&key.len())
        && [&b"name"[..], b"key", b"header", b"variable", b"field"]
            .iter()
            .any(|name| key.eq_ignore_ascii_case(name))
}

impl Run<'_, '_> {
    /// What the name of a member says about its value. Names with a meaning of their own say nothing.
    pub(super) fn telling(&mut self, key: &Text<'_>, known: Option<Key>) -> Telling {
        let own = match known {
            Some(_) => Telling::NOTHING,
            None if key.plain() => Telling::of(key.raw),
            None => Telling::of(key.decode(&mut self.writer.decoded)),
        };
        let Some(frame) = self.frames.last_mut() else { return own };
        frame.named.names = is_name(key.raw);
        let beside = if is_value(key) { frame.named.beside.unwrap_or(Telling::NOTHING) } else { own };
        let own = if own.is_nothing() { beside } else { own };
        match known {
            // What describes a secret is none: `{"password":{"type":"string","title":"Your password"}}`.
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
            ) => Telling::NOTHING,
            _ => own.within(frame.named.around),
        }
    }

    /// Whether a member is a `value` whose `name` may still come.
    pub(super) fn awaits_name(&self, key: &Text<'_>) -> bool {
        is_value(key)
            && self.cursor.peek() == Some(b'"')
            && self.frames.last().is_some_and(|frame| frame.named.beside.is_none())
    }

    /// Writes a text that is a secret because of the names around it; false if it is none.
    pub(super) fn known_secret(
        &mut self,
        meaning: Key,
        text: &Text<'_>,
        telling: Telling,
    ) -> Result<bool, Fault> {
        let Some(frame) = self.frames.last_mut() else { return Ok(false) };
        if !(frame.array || frame.named.names || !telling.is_nothing()) {
            return Ok(false);
        }
        write::check(text)?;
        let mut scratch = std::mem::take(&mut self.writer.decoded);
        let decoded = text.decode(&mut scratch);
        if frame.named.names && !frame.array {
            frame.named.beside = Some(Telling::of(decoded));
        }
        let argument = if frame.array { frame.named.argv.read(decoded) } else { None };
        let secret = telling.secret(decoded).or(argument);
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
