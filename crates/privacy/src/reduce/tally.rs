//! Measuring what is not kept: how many bytes of text a structure holds.

use crate::keep::{self, Part};
use crate::scan::Visitor;
use crate::text::Text;

/// How much of a body's start and end is kept at level `full`.
pub(super) const SHOWN: usize = 2048;

/// How much more is collected, so that a secret at the edge is seen whole before it is cut.
const MARGIN: usize = 4096;

/// Sums up the texts of a value: every string counts with its bytes of UTF-8, except
///
/// - the value of a listed member ([`keep::part`]) that has its shape, kept or not (`type`, `status`, `id`, …),
/// - whatever stands under the name of an echo of the call or of a note of the client about it (`filePath`, `prompt`,
///   `oldString`, `agentType`, `bashEditDiff`, …),
/// - names of members, numbers, words.
pub(super) struct Tally<'a> {
    pub(super) bytes: u64,
    /// The first text that counted.
    pub(super) first: Option<Text<'a>>,
    /// The meaning of the member that is being read.
    meaning: Option<Part>,
    scratch: Vec<u8>,
    /// What was collected for showing, if anything is to be shown.
    shown: Option<Shown>,
}

/// The start and end of all texts together.
#[derive(Default)]
pub(super) struct Shown {
    pub(super) head: Vec<u8>,
    pub(super) tail: Vec<u8>,
    /// How many bytes there were in all.
    pub(super) total: usize,
}

impl Shown {
    pub(super) fn add(&mut self, text: &[u8]) {
        // Texts of different members are different lines.
        if self.total > 0 {
            self.push(b"\n");
        }
        self.push(text);
    }

    fn push(&mut self, text: &[u8]) {
        self.total += text.len();
        let room = (SHOWN + MARGIN).saturating_sub(self.head.len());
        let (head, rest) = text.split_at(room.min(text.len()));
        self.head.extend_from_slice(head);
        self.tail
            .extend_from_slice(rest.get(rest.len().saturating_sub(SHOWN + MARGIN)..).unwrap_or_default());
        if self.tail.len() > 4 * (SHOWN + MARGIN) {
            self.tail.drain(..self.tail.len() - (SHOWN + MARGIN));
        }
    }
}

impl<'a> Tally<'a> {
    pub(super) fn new(show: bool) -> Self {
        Self { bytes: 0, first: None, meaning: None, scratch: Vec::new(), shown: show.then(Shown::default) }
    }

    /// Adds a text that counts.
    pub(super) fn count(&mut self, text: Text<'a>) {
        self.bytes += text.len() as u64;
        if text.len() > 0 {
            self.first.get_or_insert(text);
        }
        if let Some(shown) = &mut self.shown
            && text.len() > 0
        {
            shown.add(text.decode(&mut self.scratch));
        }
    }

    pub(super) fn shown(&mut self) -> Option<Shown> {
        self.shown.take()
    }
}

/// Whether a string is what a member of that meaning holds.
pub(super) fn has_shape(meaning: Part, value: &[u8]) -> bool {
    match meaning {
        Part::Id => keep::is_id(value),
        Part::State => keep::is_state(value),
        Part::Model => keep::is_model(value),
        Part::WorktreePath => keep::is_absolute_path(value),
        Part::WorktreeBranch => keep::is_worktree_branch(value),
        Part::ErrorClass => crate::classify::ErrorClass::parse(value).is_some(),
        Part::Number
        | Part::HttpStatus
        | Part::Flag
        | Part::IsError
        | Part::Interrupted
        | Part::Success
        | Part::ExitCode
        | Part::OutputBytes
        | Part::Object
        | Part::List
        | Part::Names
        | Part::Echo => false,
    }
}

impl<'a> Visitor<'a> for Tally<'a> {
    fn key(&mut self, key: Text<'a>) -> bool {
        self.meaning = keep::part(key.decode(&mut self.scratch)).map(|(part, _)| part);
        self.meaning != Some(Part::Echo)
    }

    fn text(&mut self, text: Text<'a>) {
        if let Some(meaning) = self.meaning.take()
            && text.len() <= 1024
            && has_shape(meaning, text.decode(&mut self.scratch))
        {
            return;
        }
        self.count(text);
    }

    fn unnamed(&mut self) {
        self.meaning = None;
    }
}
