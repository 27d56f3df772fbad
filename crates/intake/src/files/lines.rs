//! One pass over a file: bytes in, batches out.
//!
//! The cursor in a batch stands behind the last of its rows. A line is read once it has ended, or once it is a whole
//! JSON object at the end of the file: nothing that follows on the same line could change it.

use std::fs::File;
use std::io;

use agent_tracer_agents::files::{FileIdentity, Line, LineSplitter};
use agent_tracer_event::{Agent, Channel, Millis, Reading};
use agent_tracer_ledger::{Batch, Cursor, Observed, Verdict};
use memchr::memchr_iter;

use super::bytes::read_at;
use super::mark::{BEFORE_BYTES, Mark, before};
use super::reader::Reader;
use super::registry::FilePosition;
use crate::privacy::Privacy;
use crate::project::{ProjectClaims, Projects};

/// The most rows of a batch.
const ROWS_MAX: usize = 2000;
/// The most bytes that the rows of a batch had.
const BYTES_MAX: usize = 4 << 20;
/// The most bytes between two stored positions, if no row in between has an observation.
const SILENT_MAX: u64 = 64 << 20;

/// The state of one pass over a file.
pub(super) struct Pass<'a> {
    pub(super) privacy: &'a Privacy,
    pub(super) projects: &'a Projects,
    pub(super) source: String,
    pub(super) agent: Agent,
    pub(super) arrived: Millis,
    /// The time of the file's last change: the time of rows without one, in a file without any.
    pub(super) written: Millis,
    pub(super) identity: FileIdentity,
    /// The file itself if it is not compressed, to hash the bytes before a position.
    pub(super) plain: Option<&'a File>,
    pub(super) reader: Reader,
    pub(super) splitter: LineSplitter,
    pub(super) project: Option<String>,
    /// The last position in a cursor.
    pub(super) kept: u64,
    pub(super) batch: Batch,
    pub(super) batch_bytes: usize,
    pub(super) said: ProjectClaims,
}

/// The place that a pass has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PassEnd {
    /// A place in the middle.
    Middle,
    /// The end of the file, which had this length and this time of change.
    End { length: u64, changed_ns: i64 },
}

impl Pass<'_> {
    /// Reads bytes up to the end of the line that fills the batch. Returns their number.
    pub(super) fn feed(&mut self, chunk: &[u8]) -> usize {
        let mut from = 0;
        for end in memchr_iter(b'\n', chunk) {
            self.push(chunk.get(from..=end).unwrap_or_default());
            from = end + 1;
            if self.is_full() {
                return from;
            }
        }
        self.push(chunk.get(from..).unwrap_or_default());
        chunk.len()
    }

    /// Returns `true` if the batch should be brought now.
    pub(super) fn is_full(&self) -> bool {
        self.batch.observed.len() >= ROWS_MAX
            || self.batch_bytes >= BYTES_MAX
            || self.splitter.offset() - self.kept >= SILENT_MAX
    }

    /// Ends the file: reads its last line if that is whole.
    pub(super) fn end(&mut self) {
        let Some((rest, offset)) = self.splitter.rest() else { return };
        if !is_whole(rest) {
            return;
        }
        let rest = rest.to_vec();
        self.splitter = LineSplitter::new(self.splitter.expects());
        self.read(&Line::Complete { bytes: &rest, offset });
    }

    /// Adds the observation of a finished file, once nothing will follow.
    pub(super) fn settle(&mut self) {
        if let Some(reading) = self.reader.settle(self.privacy) {
            let name = format!("{}~end", self.reader.place(self.splitter.offset()));
            self.observe(name, Verdict::Read(reading));
        }
    }

    /// Returns `true` if the pass has something that is not brought yet.
    pub(super) fn has_news(&self) -> bool {
        !self.batch.observed.is_empty() || self.batch.skipped > 0 || self.splitter.offset() != self.kept
    }

    /// Takes the batch, and the state that holds once the batch is on disk.
    pub(super) fn take(&mut self, reached: PassEnd) -> io::Result<(Batch, FilePosition, ProjectClaims)> {
        let known = self.known(reached)?;
        let state = known.mark.encode(&self.reader.state());
        let mut batch = std::mem::take(&mut self.batch);
        batch.cursors.push(Cursor {
            source: self.source.clone(),
            agent: self.agent,
            offset: known.offset,
            bare: known.mark.bare(),
            state,
        });
        self.batch_bytes = 0;
        self.kept = known.offset;
        Ok((batch, known, std::mem::take(&mut self.said)))
    }

    /// Returns the state of the file at this position.
    pub(super) fn known(&self, reached: PassEnd) -> io::Result<FilePosition> {
        let offset = self.splitter.offset();
        let mut identity = self.identity.clone();
        let (length, changed_ns) = match reached {
            PassEnd::End { length, changed_ns } => (length, Some(changed_ns)),
            // Never more than was read, so that the rest of the file counts as new.
            PassEnd::Middle if self.plain.is_some() => (offset, None),
            PassEnd::Middle => (0, None),
        };
        identity.length = length;
        let stood = match self.plain {
            Some(file) => {
                let length = offset.min(BEFORE_BYTES);
                before(&read_at(file, offset - length, length)?)
            }
            None => before(&[]),
        };
        let mut mark = Mark::new(identity, changed_ns, stood);
        mark.unsettled = self.reader.clone().settle(self.privacy).is_some();
        mark.exclusions = self.privacy.exclusions();
        mark.excluded = self.reader.is_excluded();
        mark.project.clone_from(&self.project);
        Ok(FilePosition { mark, offset, reader: None })
    }

    fn push(&mut self, piece: &[u8]) {
        // Taken out for the moment, because the lines borrow from the splitter while `self` changes.
        let mut splitter = std::mem::replace(&mut self.splitter, LineSplitter::new(0));
        splitter.push(piece, |line| self.read(&line));
        self.splitter = splitter;
    }

    fn read(&mut self, line: &Line<'_>) {
        match self.reader.read(self.privacy, line, self.written) {
            None => self.batch.skipped += 1,
            Some(verdict) => {
                self.batch_bytes += match line {
                    Line::Complete { bytes, .. } => bytes.len(),
                    Line::TooLong { head, tail, .. } => head.len() + tail.len(),
                };
                self.observe(self.reader.name(line), verdict);
            }
        }
    }

    fn observe(&mut self, name: String, mut verdict: Verdict) {
        if let Verdict::Read(Reading { entries, .. }) = &verdict
            && !entries.is_empty()
            && let Verdict::Read(reading) = &mut verdict
        {
            self.said.append(&mut self.projects.add_to(reading, Some(&mut self.project)));
        }
        self.batch.observed.push(Observed {
            name,
            source: Some(self.source.clone()),
            agent: self.agent,
            channel: Channel::Transcript,
            arrived: self.arrived,
            verdict,
            payload: None,
            kept: None,
        });
    }
}

/// Returns `true` for a JSON object with nothing behind it. A part of one never qualifies.
fn is_whole(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().first() == Some(&b'{')
        && bytes.last() == Some(&b'}')
        && serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
}

#[cfg(test)]
mod tests {
    use super::is_whole;

    #[test]
    fn only_a_whole_object_is_read_before_its_line_has_ended() {
        for (bytes, whole) in [
            (&b"{}"[..], true),
            (b"{\"a\":{\"b\":1}}", true),
            (b"{\"a\":{\"b\":1}", false),
            (b"{\"a\":\"}", false),
            (b"7", false),
            (b"{}}", false),
            (b"", false),
        ] {
            assert_eq!(is_whole(bytes), whole, "{bytes:?}");
        }
    }
}
