//! Counts the rows of a file without reading their texts: the work of an import, and the cost of responses.
//!
//! Every row is taken apart as the reader takes it apart (type, ids, times, blocks, usage), and nothing is kept of it
//! but counts.

use super::file::TranscriptFile;
use super::row::{Content, Depth, Row, row};
use super::usage::{ResponseSet, ScanCounts, UsageReader};
use crate::files::{Line, LineSplitter};

/// Holds how many rows of which kind a file holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowCounts {
    /// All rows that are JSON objects.
    pub rows: u64,
    /// Rows of the conversation: they have an id and a time.
    pub conversation: u64,
    /// Rows of the user that no call was answered in.
    pub prompts: u64,
    /// Calls of tools.
    pub calls: u64,
    /// Results of calls.
    pub results: u64,
    /// Holds what was seen of responses.
    pub usage: ScanCounts,
    /// Lines that are no rows.
    pub malformed: u64,
}

/// Takes one file apart in chunks.
#[derive(Debug)]
pub struct RowScan {
    lines: LineSplitter,
    usage: UsageReader,
    counts: RowCounts,
}

impl RowScan {
    /// Starts at the beginning of a file.
    #[must_use]
    pub fn new(file: TranscriptFile) -> Self {
        Self { lines: LineSplitter::new(0), usage: UsageReader::new(file), counts: RowCounts::default() }
    }

    /// Takes the next bytes of the file.
    pub fn push(&mut self, chunk: &[u8], responses: &mut ResponseSet) {
        let Self { lines, usage, counts } = self;
        lines.push(chunk, |line| match line {
            Line::Complete { bytes, .. } => match row(bytes, Depth::Content) {
                Ok(row) => {
                    count(&row, counts);
                    usage.take(&row, bytes, responses);
                }
                Err(_) => counts.malformed += 1,
            },
            // A row with a film in it still says before and behind the film whose it is and what it cost.
            Line::TooLong { head, tail, .. } => usage.take_remains(head, tail, responses),
        });
    }

    /// Ends the file. A last line that has no ending yet is left for the next time.
    #[must_use]
    pub fn finish(self) -> RowCounts {
        RowCounts { usage: self.usage.counts(), ..self.counts }
    }
}

fn count(row: &Row<'_>, counts: &mut RowCounts) {
    counts.rows += 1;
    counts.conversation += u64::from(!row.uuid.is_empty() && !row.timestamp.is_empty());
    let Some(message) = &row.message else { return };
    let blocks = match &message.content {
        Content::Blocks(blocks) => blocks.as_slice(),
        Content::Empty | Content::Text(_) => &[],
    };
    let (calls, results) = blocks.iter().fold((0, 0), |(calls, results), block| {
        (calls + u64::from(block.kind.is("tool_use")), results + u64::from(block.kind.is("tool_result")))
    });
    counts.calls += calls;
    counts.results += results;
    // Results of calls, and texts that the client puts in, are rows of the user's as well.
    counts.prompts += u64::from(row.kind.is("user") && results == 0 && !row.is_meta);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_by_what_they_are() {
        let rows = concat!(
            r#"{"type":"user","uuid":"1","timestamp":"2026-11-15T21:00:00.000Z","message":{"content":"hi"}}"#,
            "\n",
            r#"{"type":"assistant","uuid":"2","timestamp":"2026-11-15T21:00:01.000Z","message":{"id":"m","model":"x","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"t"}],"usage":{"output_tokens":3}}}"#,
            "\n",
            r#"{"type":"user","uuid":"3","timestamp":"2026-11-15T21:00:02.000Z","message":{"content":[{"type":"tool_result","tool_use_id":"t"}]}}"#,
            "\n",
            r#"{"type":"mode","mode":"normal"}"#,
            "\n[]\n{\"torn",
        );
        for size in [1, 7, rows.len()] {
            let mut responses = ResponseSet::default();
            let mut scan = RowScan::new(TranscriptFile::default());
            rows.as_bytes().chunks(size).for_each(|chunk| scan.push(chunk, &mut responses));
            let counts = scan.finish();
            let found = (
                counts.rows,
                counts.conversation,
                counts.prompts,
                counts.calls,
                counts.results,
                counts.malformed,
            );
            assert_eq!(found, (4, 3, 1, 1, 1, 1));
            assert_eq!((counts.usage.rows, responses.total().tokens.output), (1, 3));
        }
    }
}
