//! Scans transcripts for the cost of responses, and nothing else.
//!
//! For a question that is asked once (`usage --files`) nothing needs to be stored, and most bytes need not be looked
//! at: a line without a member called `usage` is passed over by searching for that name, and of the others only ids and
//! numbers are read. The law: every response counts once, whatever it is repeated in. Its id decides, over all files,
//! so the blocks of a message, the copies in a fork and the echo of a subagent's answer fold into one.

mod account;
mod response_set;

use memchr::memmem::Finder;

use agent_tracer_event::Millis;

pub use response_set::ResponseSet;
use response_set::{Response, ResponseId};

use super::file::{TranscriptFile, is_compaction_helper};
use super::progress::carried;
use super::row::{Depth, Row, remains, row};
use super::text::Text;
use super::tokens::Usage;
use super::version;
use crate::files::{Line, LineSplitter};

/// Describes what a scan saw, beside the numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScanCounts {
    /// Rows with a response, repetitions included.
    pub rows: u64,
    /// Rows that the client made up, such as errors of the API: they cost nothing.
    pub synthetic: u64,
    /// Responses that were cut off while they arrived and that the client does not count: what they came to is not known.
    pub cut_short: u64,
    /// Rows of a response whose numbers could not be read. Anything but zero means that a sum is too low.
    pub unreadable: u64,
    /// Lines that name a usage and are no JSON.
    pub malformed: u64,
    /// Lines beyond the limit, of which only the beginning and the end were looked at.
    pub too_long: u64,
}

impl ScanCounts {
    /// Returns the sum of two.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            rows: self.rows + other.rows,
            synthetic: self.synthetic + other.synthetic,
            cut_short: self.cut_short + other.cut_short,
            unreadable: self.unreadable + other.unreadable,
            malformed: self.malformed + other.malformed,
            too_long: self.too_long + other.too_long,
        }
    }
}

/// Limits how many lines at the beginning of a file are searched for the time at which it began.
const FIRST_LINES: u32 = 32;

/// The longest line that is held: a row of a response is a few kilobytes, and the longer ones are results.
const LONGEST_LINE: usize = 4 * 1024 * 1024;

/// Reads one file in chunks.
#[derive(Debug)]
pub struct UsageScan {
    lines: LineSplitter,
    needle: Finder<'static>,
    first_lines: u32,
    reader: UsageReader,
}

/// Reads the responses of one file out of its rows.
#[derive(Debug)]
pub(super) struct UsageReader {
    file: TranscriptFile,
    counts: ScanCounts,
    /// Holds the time at which the last response was given.
    last_at: Option<Millis>,
    /// The file is a forked agent's, and its order is still to come: what stands before that is its parent's.
    is_forked: bool,
}

impl UsageScan {
    /// Starts at the beginning of a file.
    #[must_use]
    pub fn new(file: TranscriptFile) -> Self {
        let first_lines = if file.began.is_some() { 0 } else { FIRST_LINES };
        Self {
            lines: LineSplitter::with_limit(0, LONGEST_LINE),
            // Without the colon: a client that writes a blank before it is read all the same. In a text the quotes of
            // such a name have backslashes before them, so a hit is a name.
            needle: Finder::new(br#""usage""#),
            first_lines,
            reader: UsageReader::new(file),
        }
    }

    /// Takes the next bytes of the file.
    pub fn push(&mut self, chunk: &[u8], responses: &mut ResponseSet) {
        let Self { lines, needle, first_lines, reader } = self;
        lines.push(chunk, |line| match line {
            Line::Complete { bytes, .. } => {
                if *first_lines > 0 {
                    *first_lines -= 1;
                    if reader.first_line(bytes) {
                        *first_lines = 0;
                    }
                }
                // Of a fork every row is read until its order: that row ends the copies, and it names no usage.
                if needle.find(bytes).is_some() || reader.is_forked || is_fork(bytes) {
                    reader.line(bytes, responses);
                } else if account::is_account(bytes) {
                    reader.account(bytes, responses);
                }
            }
            Line::TooLong { head, tail, .. } => reader.take_remains(head, tail, responses),
        });
    }

    /// Ends the file: a last line without an ending counts if it is whole.
    pub fn finish(mut self, responses: &mut ResponseSet) -> ScanCounts {
        if let Some((rest, _)) = self.lines.rest() {
            let malformed = self.reader.counts.malformed;
            if self.needle.find(rest).is_some() {
                self.reader.line(rest, responses);
            } else if account::is_account(rest) {
                self.reader.account(rest, responses);
            }
            // A line that is still being written is no fault of anybody's.
            self.reader.counts.malformed = malformed;
        }
        self.reader.counts
    }
}

impl UsageReader {
    pub(super) fn new(file: TranscriptFile) -> Self {
        Self { file, counts: ScanCounts::default(), last_at: None, is_forked: false }
    }

    pub(super) fn counts(&self) -> ScanCounts {
        self.counts
    }

    fn line(&mut self, line: &[u8], responses: &mut ResponseSet) {
        match row(line, Depth::Numbers) {
            Ok(row) => self.take(&row, line, responses),
            Err(_) => self.counts.malformed += 1,
        }
    }

    fn account(&mut self, line: &[u8], responses: &mut ResponseSet) {
        let Some((session, account)) = account::read(line, self.last_at) else {
            self.counts.malformed += 1;
            return;
        };
        if let Some(session) = session.or_else(|| self.file.session.clone()) {
            responses.add_account(&session, account);
        }
    }

    /// Looks for the time at which the file began: in a fork it is later than that of the rows it was given.
    fn first_line(&mut self, line: &[u8]) -> bool {
        let began = row(line, Depth::Numbers).ok().and_then(|row| time(row.timestamp));
        self.file.began = began;
        began.is_some()
    }

    /// Takes what is in reach of a line that was too long to be held.
    pub(super) fn take_remains(&mut self, head: &[u8], tail: &[u8], responses: &mut ResponseSet) {
        self.counts.too_long += 1;
        self.take(&remains(head, tail), head, responses);
    }

    /// Takes a row.
    #[inline]
    pub(super) fn take(&mut self, row: &Row<'_>, line: &[u8], responses: &mut ResponseSet) {
        if row.kind.is("fork-context-ref") {
            self.is_forked = true;
        } else if row.kind.is("user") {
            self.is_forked = false;
        } else if self.is_forked {
            // Its parent's file tells it.
        } else if row.kind.is("progress") {
            if let Some((inner, _)) = carried(row, Depth::Numbers)
                && inner.kind.is("assistant")
            {
                self.response(&inner, line, responses);
            }
        } else if row.kind.is("assistant") || row.kind.is("api_response") {
            self.response(row, line, responses);
        }
    }

    fn response(&mut self, row: &Row<'_>, line: &[u8], responses: &mut ResponseSet) {
        let message = row.message.as_ref();
        let model =
            message.map(|message| message.model).filter(|model| !model.is_empty()).unwrap_or(row.model);
        // A made-up row has a usage of zeros and an id of the client's: it would count as a response.
        if row.is_api_error || model.is(SYNTHETIC) {
            self.counts.synthetic += 1;
            return;
        }
        if row.is_aborted && !version::counts_cut_answers(row.version) {
            self.counts.cut_short += 1;
            return;
        }
        let usage: Option<Usage<'_>> = message.and_then(|message| message.usage).or(row.usage);
        let Some(usage) = usage.filter(|usage| usage.counted) else {
            self.counts.unreadable += u64::from(message.is_some_and(|message| message.names_usage));
            return;
        };
        self.counts.rows += 1;
        self.last_at = time(row.timestamp).or(self.last_at);
        let message_id = message.map(|message| message.id).unwrap_or_default();
        let agent = if row.agent.is_empty() {
            self.file.agent_id.as_deref().map(Into::into)
        } else {
            Some(row.agent.decode())
        };
        let session = match [row.request_session, row.session].into_iter().find(|name| !name.is_empty()) {
            Some(name) => name.decode(),
            None => self.file.session.as_deref().unwrap_or_default().into(),
        };
        responses.add(&Response {
            id: ResponseId::from_names(message_id, row.request, row.uuid, line),
            model: model.decode(),
            session,
            agent: agent.filter(|id| !is_compaction_helper(id)),
            at: time(row.timestamp),
            // A subagent's file begins after its session's, so its time says nothing of the session.
            began: self.file.began.filter(|_| self.file.agent_id.is_none()),
            billed: usage.billed,
            cost_usd: row.cost_usd,
        });
    }
}

/// Returns whether a line is a response that was cut short and that its client counts: the account then has more of it than
/// the row.
#[must_use]
pub fn is_counted_cut_short(line: &[u8]) -> bool {
    memchr::memmem::find(line, b"\"isAbortedMidStream\"").is_some()
        && row(line, Depth::Numbers)
            .is_ok_and(|row| row.is_aborted && version::counts_cut_answers(row.version))
}

/// Returns whether a line says that a forked agent's file begins; its type stands at its beginning.
fn is_fork(line: &[u8]) -> bool {
    let head = line.get(..48).unwrap_or(line);
    memchr::memmem::find(head, b"\"fork-context-ref\"").is_some()
}

/// The model of rows that the client made up.
pub(super) const SYNTHETIC: &str = "<synthetic>";

/// Returns the time that a row names.
fn time(text: Text<'_>) -> Option<Millis> {
    std::str::from_utf8(text.raw()).ok().and_then(Millis::parse)
}

#[cfg(test)]
mod tests;
