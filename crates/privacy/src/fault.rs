//! Faults in payloads, with their positions.

use std::fmt;

/// The fault that made a payload unreadable. Nothing of such a payload is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// The kind of fault.
    pub what: FaultKind,
    /// The byte position in the payload, counted from 0.
    pub at: usize,
}

/// A kind of fault in a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// The payload is not a JSON object.
    NotAnObject,
    /// The payload ends in the middle.
    UnexpectedEnd,
    /// A byte that cannot stand there.
    UnexpectedByte,
    /// A control character inside a string.
    ControlCharacter,
    /// An escape that JSON does not know.
    BadEscape,
    /// Something that starts like a number and is none.
    BadNumber,
    /// A word that is not `true`, `false` or `null`.
    BadWord,
    /// Bytes that are not UTF-8 in a text that would be kept.
    InvalidUtf8,
    /// More bytes after the end of the object.
    TrailingBytes,
}

impl FaultKind {
    /// Returns the word for the envelope's header.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotAnObject => "not_an_object",
            Self::UnexpectedEnd => "unexpected_end",
            Self::UnexpectedByte => "unexpected_byte",
            Self::ControlCharacter => "control_character",
            Self::BadEscape => "bad_escape",
            Self::BadNumber => "bad_number",
            Self::BadWord => "bad_word",
            Self::InvalidUtf8 => "invalid_utf8",
            Self::TrailingBytes => "trailing_bytes",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot understand the payload: `{}` at byte {}", self.what.name(), self.at)
    }
}

impl std::error::Error for Fault {}
