//! Here-documents: announced on one line, read after it.

use super::ast::{Heredoc, Part, Span, Word};
use super::cursor::Parser;

/// A here-document whose body has not come yet.
pub(super) struct Pending {
    slot: usize,
    delimiter: String,
    literal: bool,
    strip_tabs: bool,
}

impl Parser<'_> {
    /// Notes a here-document and returns where its body will be found.
    pub(super) fn announce_heredoc(&mut self, delimiter: &Word, strip_tabs: bool) -> usize {
        let slot = self.heredocs.len();
        // Any quoting in the delimiter, even of one letter, turns expansions off in the body.
        let literal = delimiter.parts.iter().any(|part| !matches!(part, Part::Plain(_)));
        self.heredocs.push(Heredoc::default());
        let mut text = String::new();
        for part in &delimiter.parts {
            match part {
                Part::Plain(span) | Part::Quoted(span) => text.push_str(span.of(self.source)),
                Part::Decoded(decoded) => text.push_str(&decoded.1),
                Part::Parameter(parameter) => text.push_str(parameter.span.of(self.source)),
                _ => {}
            }
        }
        self.pending.push(Pending { slot, delimiter: text, literal, strip_tabs });
        slot
    }

    /// Reads the bodies of all announced here-documents, in order.
    pub(super) fn read_heredocs(&mut self) {
        // In the order of the announcements: `cat <<A <<B` has the body of A first.
        for pending in std::mem::take(&mut self.pending) {
            let start = self.position;
            let (end, after) = self.find_end(&pending);
            let body = Span::new(start, end);
            let parts = if pending.literal { Vec::new() } else { self.body_expansions(body) };
            if let Some(slot) = self.heredocs.get_mut(pending.slot) {
                *slot = Heredoc { body, parts };
            }
            self.position = after;
        }
    }

    /// Returns the end of the body and the place after the line that closes it.
    fn find_end(&mut self, pending: &Pending) -> (usize, usize) {
        let mut at = self.position;
        for line in self.rest().split_inclusive('\n') {
            let text = line.strip_suffix('\n').unwrap_or(line);
            // A command that was pasted from Windows ends its lines with both characters, and its delimiter would
            // never be found.
            let text = text.strip_suffix('\r').unwrap_or(text);
            let text = if pending.strip_tabs { text.trim_start_matches('\t') } else { text };
            if text == pending.delimiter {
                return (at, at + line.len());
            }
            at += line.len();
        }
        // The shell reads to the end then, with a warning, and so does this.
        self.fault.unfinished = true;
        (at, at)
    }

    fn body_expansions(&mut self, body: Span) -> Vec<Part> {
        let token_end = self.token_end;
        self.position = body.start;
        let parts = self.expansions_until(body.end);
        // A document announced inside the body and not finished there has no body.
        self.pending.clear();
        self.token_end = token_end;
        parts
    }
}
