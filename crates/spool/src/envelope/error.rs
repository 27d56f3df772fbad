//! Faults in the bytes of an envelope.

use std::fmt;

use super::{ENVELOPE_BYTES_MAX, HEADER_BYTES_MAX, HEADER_LINES_MAX};

/// A reason why bytes are not a whole envelope of a known version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnvelopeError {
    /// The file does not begin with the magic.
    NotAnEnvelope,
    /// The version line names a version we do not read; at most sixteen characters of it.
    UnsupportedVersion(String),
    /// The trailer is missing: the write was cut short.
    Torn {
        /// Bytes that are there.
        bytes: usize,
    },
    /// The bytes are not those that were written.
    ChecksumMismatch {
        /// The checksum in the trailer.
        stated: u64,
        /// The checksum of the bytes.
        computed: u64,
    },
    /// More than [`ENVELOPE_BYTES_MAX`] bytes.
    TooLarge {
        /// Bytes that are there.
        bytes: usize,
    },
    /// No empty line within [`HEADER_BYTES_MAX`] bytes.
    HeaderTooLong,
    /// More than [`HEADER_LINES_MAX`] lines.
    TooManyLines,
    /// No empty line before the body.
    HeaderNotEnded,
    /// A line without a name, a colon and a space.
    MalformedLine {
        /// Counted from one, with the version line.
        line: usize,
    },
    /// A line whose escapes or name cannot be read.
    BadEscape {
        /// Counted from one, with the version line.
        line: usize,
    },
    /// A required line is not there.
    Missing(&'static str),
    /// A line that may occur once occurs again.
    Repeated(&'static str),
    /// A line's value is not of its kind.
    BadValue(&'static str),
    /// `length` is not the number of bytes between header and trailer.
    LengthMismatch {
        /// The value of `length`.
        stated: u64,
        /// Bytes that are there.
        found: usize,
    },
}

impl fmt::Display for EnvelopeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EnvelopeError::NotAnEnvelope => f.write_str("the file does not begin as an envelope does"),
            EnvelopeError::UnsupportedVersion(version) => {
                write!(f, "unknown version `{}`", version.escape_debug())
            }
            EnvelopeError::Torn { bytes } => {
                write!(f, "the file is torn: no trailer at the end of its {bytes} bytes")
            }
            EnvelopeError::ChecksumMismatch { stated, computed } => {
                write!(f, "the checksum is {computed:016x}, the trailer says {stated:016x}")
            }
            EnvelopeError::TooLarge { bytes } => {
                write!(f, "{bytes} bytes are more than the {ENVELOPE_BYTES_MAX} of an envelope")
            }
            EnvelopeError::HeaderTooLong => {
                write!(f, "the header is longer than {HEADER_BYTES_MAX} bytes")
            }
            EnvelopeError::TooManyLines => {
                write!(f, "the header has more than {HEADER_LINES_MAX} lines")
            }
            EnvelopeError::HeaderNotEnded => f.write_str("no empty line ends the header"),
            EnvelopeError::MalformedLine { line } => write!(f, "line {line} is not `name: value`"),
            EnvelopeError::BadEscape { line } => write!(f, "line {line} has an invalid escape"),
            EnvelopeError::Missing(name) => write!(f, "header `{name}` is missing"),
            EnvelopeError::Repeated(name) => write!(f, "header `{name}` occurs twice"),
            EnvelopeError::BadValue(name) => write!(f, "header `{name}` has an invalid value"),
            EnvelopeError::LengthMismatch { stated, found } => {
                write!(f, "header `length` says {stated}, the body has {found} bytes")
            }
        }
    }
}

impl std::error::Error for EnvelopeError {}
