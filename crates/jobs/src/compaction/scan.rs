//! Reads an agent's file from its beginning and parts it at its compactions.

use std::collections::HashSet;
use std::io::{self, Read};

use agent_tracer_agents::compactions::{LineRead, Mark, Part, Piece, read_line};
use agent_tracer_agents::files::{Line, LineSplitter};
use agent_tracer_event::{Agent, Millis};
use agent_tracer_privacy::{Level, mask};
use sha2::{Digest, Sha256};

use crate::compaction::view::{Compaction, CompactionItem, CompactionSide};

/// The most bytes of a file that are read for one answer.
pub const FILE_MAX: u64 = 2 << 30;
/// The most characters of a summary, and of the beginning of a text, that are shown.
const SUMMARY_CHARS: usize = 20_000;
const TEXT_CHARS: usize = 300;
/// A character has at most four bytes, and what is masked is longer than what is shown of it.
const MARGIN: usize = 8;
/// The most compactions of one file.
const COMPACTIONS_MAX: usize = 1000;

/// One side of a compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The context before it.
    Before,
    /// The context after it.
    After,
}

/// The state of a file at the begin hook of a compaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSnapshot {
    /// The length of the file.
    pub bytes: u64,
    /// The SHA-256 of it up to there, in hexadecimal, if it is known.
    pub sha256: Option<String>,
}

/// A query about one file.
#[derive(Clone, Debug)]
pub struct ScanRequest<'a> {
    /// The agent that wrote the file.
    pub agent: Agent,
    /// The privacy level, which bounds the texts shown.
    pub level: Level,
    /// The observations of hooks, in the order in which they happened.
    pub seen: &'a [FileSnapshot],
    /// The pieces of one side of one compaction, from a place on and at most so many; none for the list alone.
    pub items: Option<(u64, Side, u64, usize)>,
}

/// The result of a scan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScanResult {
    /// Its compactions, oldest first.
    pub compactions: Vec<Compaction>,
    /// The pieces that were asked for.
    pub items: Vec<CompactionItem>,
    /// True if there are more of them.
    pub more: bool,
}

/// Reads a file.
///
/// # Errors
/// If it cannot be read.
pub fn scan(file: impl Read, ask: &ScanRequest<'_>) -> io::Result<ScanResult> {
    let mut scanner = Scanner::new(ask);
    let mut splitter = LineSplitter::new(0);
    // Hashed in the pass that reads the lines: such a file may have hundreds of megabytes.
    let mut hashes = Hashes::new(ask.seen);
    let mut file = file.take(FILE_MAX);
    let mut buffer = vec![0; 1 << 20];
    loop {
        let read = file.read(&mut buffer)?;
        let bytes = buffer.get(..read).unwrap_or_default();
        if bytes.is_empty() {
            break;
        }
        hashes.update(bytes);
        splitter.push(bytes, |line| {
            // A line that is longer than any row holds a result that is not shown.
            if let Line::Complete { bytes, offset } = line {
                scanner.line(offset, read_line(ask.agent, bytes));
            }
        });
    }
    Ok(scanner.finish(ask, &hashes.done))
}

/// The hashes of a file up to several places, in one pass.
struct Hashes {
    state: Sha256,
    at: u64,
    /// Places that are still to come, the last first.
    places: Vec<u64>,
    done: Vec<(u64, String)>,
}

impl Hashes {
    fn new(seen: &[FileSnapshot]) -> Self {
        let mut places: Vec<u64> = seen.iter().map(|seen| seen.bytes).collect();
        places.sort_unstable();
        places.dedup();
        places.reverse();
        Self { state: Sha256::new(), at: 0, places, done: Vec::new() }
    }

    fn update(&mut self, mut bytes: &[u8]) {
        while let Some(place) = self.places.last().copied() {
            let left = usize::try_from(place.saturating_sub(self.at)).unwrap_or(usize::MAX);
            let Some((head, rest)) = bytes.split_at_checked(left) else { break };
            self.state.update(head);
            self.at += head.len() as u64;
            self.done.push((place, hex(self.state.clone())));
            self.places.pop();
            bytes = rest;
        }
        if !self.places.is_empty() {
            self.state.update(bytes);
            self.at += bytes.len() as u64;
        }
    }
}

/// Writes a hash in hexadecimal.
fn hex(state: Sha256) -> String {
    state.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the SHA-256 of the first bytes of a file; `None` if it is shorter.
///
/// # Errors
/// If it cannot be read.
pub fn hash_of_first(file: impl Read, bytes: u64) -> io::Result<Option<String>> {
    let mut file = file.take(bytes);
    let (mut state, mut read_bytes) = (Sha256::new(), 0);
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = file.read(&mut buffer)?;
        let part = buffer.get(..read).unwrap_or_default();
        if part.is_empty() {
            return Ok((read_bytes == bytes).then(|| hex(state)));
        }
        state.update(part);
        read_bytes += part.len() as u64;
    }
}

/// A piece of the context, with the place of its row.
struct ContextPiece {
    offset: u64,
    at: Option<Millis>,
    id: Option<String>,
    piece: Piece,
}

struct Scanner<'a> {
    ask: &'a ScanRequest<'a>,
    compactions: Vec<Compaction>,
    items: Vec<CompactionItem>,
    more: bool,
    /// The context as it stands now.
    context: Vec<ContextPiece>,
    /// True if the summary of the last compaction is still to come.
    is_open: bool,
}

impl<'a> Scanner<'a> {
    fn new(ask: &'a ScanRequest<'a>) -> Self {
        Self {
            ask,
            compactions: Vec::new(),
            items: Vec::new(),
            more: false,
            context: Vec::new(),
            is_open: false,
        }
    }

    fn line(&mut self, offset: u64, read: LineRead) {
        let LineRead { id, at, pieces, mark } = read;
        if let Some(mark) = mark {
            self.compacted(offset, at, mark);
            return;
        }
        let has_summary = pieces.iter().any(|piece| piece.part == Part::Summary);
        for piece in pieces {
            let piece = Piece { text: piece.text.map(|text| shortened(text, piece.part)), ..piece };
            self.context.push(ContextPiece { offset, at, id: id.clone(), piece });
        }
        if self.is_open && has_summary {
            self.came_out();
        }
    }

    fn compacted(&mut self, offset: u64, at: Option<Millis>, mark: Mark) {
        if self.compactions.len() >= COMPACTIONS_MAX {
            return;
        }
        // A compaction whose summary never came is listed with the context that it kept.
        if self.is_open {
            self.came_out();
        }
        let number = self.compactions.len() as u64 + 1;
        let before = side(&self.context);
        self.show(number, Side::Before);
        self.compactions.push(Compaction {
            number,
            at,
            trigger: mark.trigger,
            offset,
            pre_tokens: mark.pre_tokens,
            post_tokens: mark.post_tokens,
            before,
            after: CompactionSide::default(),
            summary: None,
            seen_bytes: None,
            seen_sha256: None,
            unchanged: None,
        });
        match mark.replaced_by {
            Some(pieces) => {
                let place = |piece| ContextPiece { offset, at, id: None, piece };
                self.context = pieces.into_iter().map(place).collect();
                self.came_out();
            }
            None => {
                let kept: HashSet<String> = mark.kept.into_iter().collect();
                // The mark names the rows that stay by id; a piece without one went into the summary.
                self.context.retain(|placed| placed.id.as_ref().is_some_and(|id| kept.contains(id)));
                self.is_open = true;
            }
        }
    }

    /// Records the context as the output of the last compaction.
    fn came_out(&mut self) {
        self.is_open = false;
        let (after, level) = (side(&self.context), self.ask.level);
        let summary = self.context.iter().rev().find(|placed| placed.piece.part == Part::Summary);
        let summary =
            summary.and_then(|placed| masked_text(placed.piece.text.as_deref(), SUMMARY_CHARS, level));
        if let Some(last) = self.compactions.last_mut() {
            (last.after, last.summary) = (after, summary);
        }
        self.show(self.compactions.len() as u64, Side::After);
    }

    /// Keeps the pieces that were asked for.
    fn show(&mut self, number: u64, side: Side) {
        let Some((wanted, of, from, most)) = self.ask.items else { return };
        if (wanted, of) != (number, side) {
            return;
        }
        let level = self.ask.level;
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        let listed = self.context.iter().enumerate().skip(from).take(most);
        self.items = listed
            .map(|(place, placed)| CompactionItem {
                place: place as u64,
                part: placed.piece.part.as_str().to_owned(),
                at: placed.at,
                offset: placed.offset,
                bytes: placed.piece.bytes,
                tool: placed.piece.tool.as_deref().and_then(|tool| masked_text(Some(tool), 100, level)),
                text: masked_text(placed.piece.text.as_deref(), TEXT_CHARS, level),
            })
            .collect();
        self.more = self.context.len() > from.saturating_add(most);
    }

    fn finish(mut self, ask: &ScanRequest<'_>, hashes: &[(u64, String)]) -> ScanResult {
        if self.is_open {
            self.came_out();
        }
        // The observation of a hook belongs to the first mark behind the place to which the file reached then.
        for seen in ask.seen {
            let mark =
                self.compactions.iter_mut().find(|it| it.offset >= seen.bytes && it.seen_bytes.is_none());
            let Some(mark) = mark else { continue };
            let now = hashes.iter().find(|(place, _)| *place == seen.bytes).map(|(_, hash)| hash);
            mark.seen_bytes = Some(seen.bytes);
            mark.seen_sha256.clone_from(&seen.sha256);
            mark.unchanged = seen.sha256.as_ref().map(|then| Some(then) == now);
        }
        ScanResult { compactions: self.compactions, items: self.items, more: self.more }
    }
}

fn side(context: &[ContextPiece]) -> CompactionSide {
    let mut side = CompactionSide::default();
    for placed in context {
        *side.pieces.entry(placed.piece.part.as_str().to_owned()).or_default() += 1;
        side.bytes = side.bytes.saturating_add(placed.piece.bytes);
    }
    side
}

/// Cuts a text to what could be shown of it, so that a long context needs little room.
fn shortened(mut text: String, part: Part) -> String {
    let most = if part == Part::Summary { SUMMARY_CHARS } else { TEXT_CHARS };
    text.truncate(text.floor_char_boundary(most * MARGIN));
    text
}

/// Masks and cuts a text; `None` if the level shows no texts.
fn masked_text(text: Option<&str>, most: usize, level: Level) -> Option<String> {
    let text = text.filter(|_| level != Level::Metadata)?;
    // Masked before it is cut: half of a secret would not be known for one.
    let masked = mask(text.get(..text.floor_char_boundary(most * MARGIN)).unwrap_or(text));
    let cut = agent_tracer_agents::text::cut(&masked, most).into_owned();
    Some(cut).filter(|cut| !cut.is_empty())
}
