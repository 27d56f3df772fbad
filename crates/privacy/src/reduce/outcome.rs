//! The outcome that the structure of a result states, apart from any words in it.

use super::tally::Tally;
use crate::classify::{ErrorClass, Verdict};
use crate::keep::Part;

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
    pub(super) fn read(&mut self, meaning: Part, spelling: &[u8], tally: &mut Tally<'_>) -> bool {
        let flag = match spelling {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        };
        let number = flag.is_none() && spelling.len() <= 24;
        match meaning {
            Part::IsError => {
                self.is_error = flag.or(self.is_error);
                false
            }
            Part::Interrupted => {
                self.interrupted |= flag == Some(true);
                flag.is_some()
            }
            Part::Success => {
                self.failed |= flag == Some(false);
                flag.is_some()
            }
            Part::ExitCode => {
                let code = std::str::from_utf8(spelling).ok().and_then(|text| text.parse().ok());
                self.exit_code = code.or(self.exit_code);
                false
            }
            Part::OutputBytes => {
                let bytes = std::str::from_utf8(spelling).ok().and_then(|text| text.parse::<u64>().ok());
                tally.bytes = tally.bytes.saturating_add(bytes.unwrap_or(0));
                false
            }
            Part::Flag => flag.is_some(),
            Part::Number => number,
            Part::HttpStatus => number && spelling.len() == 3,
            // Ids are small numbers in some clients.
            Part::Id => number && spelling.len() <= 10,
            Part::State
            | Part::ErrorClass
            | Part::WorktreePath
            | Part::WorktreeBranch
            | Part::Model
            | Part::Object
            | Part::List
            | Part::Names
            | Part::Echo => false,
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
