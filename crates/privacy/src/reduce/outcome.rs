//! The outcome that the structure of a result states, apart from any words in it.

use super::tally::Tally;
use crate::classify::{ErrorClass, Verdict};
use crate::keep::BodyMember;

/// The outcome that a structured body states.
#[derive(Default)]
pub(super) struct StructuredOutcome {
    is_error: Option<bool>,
    interrupted: bool,
    failed: bool,
    exit_code: Option<i64>,
    pub(super) class: Option<ErrorClass>,
}

impl StructuredOutcome {
    /// Reads a word or number. Returns `true` if it may be kept unchanged.
    pub(super) fn read(&mut self, meaning: BodyMember, spelling: &[u8], tally: &mut Tally<'_>) -> bool {
        let flag = match spelling {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        };
        let number = flag.is_none() && spelling.len() <= 24;
        match meaning {
            BodyMember::IsError => {
                self.is_error = flag.or(self.is_error);
                false
            }
            BodyMember::Interrupted => {
                self.interrupted |= flag == Some(true);
                flag.is_some()
            }
            BodyMember::Success => {
                self.failed |= flag == Some(false);
                flag.is_some()
            }
            BodyMember::ExitCode => {
                let code = std::str::from_utf8(spelling).ok().and_then(|text| text.parse().ok());
                self.exit_code = code.or(self.exit_code);
                false
            }
            BodyMember::OutputBytes => {
                let bytes = std::str::from_utf8(spelling).ok().and_then(|text| text.parse::<u64>().ok());
                tally.bytes = tally.bytes.saturating_add(bytes.unwrap_or(0));
                false
            }
            BodyMember::Flag => flag.is_some(),
            BodyMember::Number => number,
            BodyMember::HttpStatus => number && spelling.len() == 3,
            // Ids are small numbers in some clients.
            BodyMember::Id => number && spelling.len() <= 10,
            BodyMember::State
            | BodyMember::ErrorClass
            | BodyMember::WorktreePath
            | BodyMember::WorktreeBranch
            | BodyMember::Model
            | BodyMember::Object
            | BodyMember::List
            | BodyMember::Names
            | BodyMember::Echo => false,
        }
    }

    pub(super) fn verdict(self) -> Verdict {
        if self.interrupted {
            return Verdict {
                is_error: Some(true),
                exit_code: self.exit_code,
                class: Some(ErrorClass::Interrupt),
            };
        }
        let exited = self.exit_code.map(Verdict::exited).unwrap_or_default();
        let is_error = match self.is_error {
            None if self.failed => Some(true),
            stated => stated.or(exited.is_error),
        };
        Verdict { is_error, exit_code: self.exit_code, class: self.class.or(exited.class) }
    }
}
