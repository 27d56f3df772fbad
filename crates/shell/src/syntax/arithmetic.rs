//! `((…))` and `$((…))`: found by their two closing brackets, searched only for expansions.

use super::ast::Part;
use super::cursor::Parser;

impl Parser<'_> {
    /// Returns the end of the expression that starts `skip` bytes ahead, or `None` if its two brackets do not close
    /// together: then they open subshells.
    pub(super) fn arithmetic_end(&self, skip: usize) -> Option<usize> {
        // Each level looks ahead to its end, so the depth bounds how often a byte is read.
        if self.depth >= super::MAX_DEPTH {
            return None;
        }
        let mut depth = 2_usize;
        let mut inner_closed_at = None;
        let from = self.position + skip;
        let text = self.source.as_bytes().get(from..self.limit)?;
        for (offset, byte) in text.iter().enumerate() {
            match byte {
                b'(' => depth += 1,
                b')' => {
                    depth -= 1;
                    match depth {
                        1 => inner_closed_at = Some(from + offset),
                        0 => return inner_closed_at.filter(|&inner| inner + 1 == from + offset),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Collects the expansions up to `close`, where the parser then stands.
    pub(super) fn expansions_until(&mut self, close: usize) -> Vec<Part> {
        let outer_limit = std::mem::replace(&mut self.limit, close);
        let mut parts = Vec::new();
        if self.descend() {
            // Operators and names run nothing; what stands in `$(…)` or backticks does.
            while let Some(byte) = self.peek() {
                match byte {
                    b'$' => parts.push(self.dollar(true)),
                    b'`' => parts.push(self.backticks()),
                    b'\\' => {
                        self.advance(1);
                        self.advance_character();
                    }
                    _ => {
                        let length = self.rest().bytes().position(|byte| matches!(byte, b'$' | b'`' | b'\\'));
                        self.advance(length.unwrap_or(self.rest().len()));
                    }
                }
            }
            self.ascend();
        }
        self.limit = outer_limit;
        self.position = close;
        self.token_end = close;
        parts
    }
}
