//! Measures content that is not kept: the bytes of text in a structure.

use crate::keep::{self, BodyMember};
use crate::scan::Visitor;
use crate::text::Text;

/// The bytes of a body's start, and of its end, that are kept at level `full`.
pub(super) const EXCERPT: usize = 2048;

/// The bytes collected in addition, so that a secret at the edge is masked whole before it is cut.
const MARGIN: usize = 4096;

/// Sums up the texts of a value: every string counts with its bytes of UTF-8, except
///
/// - the value of a listed member ([`keep::part`]) that has its shape, kept or not (`type`, `status`, `id`, …),
/// - any value under the name of an echo of the call or of a note of the client about it (`filePath`, `prompt`,
///   `oldString`, `agentType`, `bashEditDiff`, …),
/// - names of members, numbers, words.
pub(super) struct Tally<'a> {
    pub(super) bytes: u64,
    /// The first text that counted.
    pub(super) first: Option<Text<'a>>,
    /// The meaning of the member that is being read.
    meaning: Option<BodyMember>,
    scratch: Vec<u8>,
    /// The excerpt collected so far, if the level keeps one.
    excerpt: Option<Excerpt>,
}

/// The start and end of all texts together.
#[derive(Default)]
pub(super) struct Excerpt {
    pub(super) head: Vec<u8>,
    pub(super) tail: Vec<u8>,
    /// The bytes of all texts.
    pub(super) total: usize,
}

impl Excerpt {
    pub(super) fn add(&mut self, text: &[u8]) {
        // Texts of different members are different lines.
        if self.total > 0 {
            self.push(b"\n");
        }
        self.push(text);
    }

    fn push(&mut self, text: &[u8]) {
        self.total += text.len();
        let room = (EXCERPT + MARGIN).saturating_sub(self.head.len());
        let (head, rest) = text.split_at(room.min(text.len()));
        self.head.extend_from_slice(head);
        self.tail
            .extend_from_slice(rest.get(rest.len().saturating_sub(EXCERPT + MARGIN)..).unwrap_or_default());
        if self.tail.len() > 4 * (EXCERPT + MARGIN) {
            self.tail.drain(..self.tail.len() - (EXCERPT + MARGIN));
        }
    }
}

impl<'a> Tally<'a> {
    pub(super) fn new(show: bool) -> Self {
        Self {
            bytes: 0,
            first: None,
            meaning: None,
            scratch: Vec::new(),
            excerpt: show.then(Excerpt::default),
        }
    }

    /// Adds a text that counts.
    pub(super) fn count(&mut self, text: Text<'a>) {
        self.bytes += text.len() as u64;
        if text.len() > 0 {
            self.first.get_or_insert(text);
        }
        if let Some(excerpt) = &mut self.excerpt
            && text.len() > 0
        {
            excerpt.add(text.decode(&mut self.scratch));
        }
    }

    pub(super) fn take_excerpt(&mut self) -> Option<Excerpt> {
        self.excerpt.take()
    }
}

/// Returns `true` if a string has the shape of a member of that meaning.
pub(super) fn has_shape(meaning: BodyMember, value: &[u8]) -> bool {
    match meaning {
        BodyMember::Id => keep::is_id(value),
        BodyMember::State => keep::is_state(value),
        BodyMember::Model => keep::is_model(value),
        BodyMember::WorktreePath => keep::is_absolute_path(value),
        BodyMember::WorktreeBranch => keep::is_worktree_branch(value),
        BodyMember::ErrorClass => crate::classify::ErrorClass::parse(value).is_some(),
        BodyMember::Number
        | BodyMember::HttpStatus
        | BodyMember::Flag
        | BodyMember::IsError
        | BodyMember::Interrupted
        | BodyMember::Success
        | BodyMember::ExitCode
        | BodyMember::OutputBytes
        | BodyMember::Object
        | BodyMember::List
        | BodyMember::Names
        | BodyMember::Echo => false,
    }
}

impl<'a> Visitor<'a> for Tally<'a> {
    fn key(&mut self, key: Text<'a>) -> bool {
        self.meaning = keep::part(key.decode(&mut self.scratch)).map(|(part, _)| part);
        self.meaning != Some(BodyMember::Echo)
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
