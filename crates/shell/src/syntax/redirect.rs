//! Redirections in all their forms.

use super::ast::{Redirect, RedirectKind, Span};
use super::cursor::Parser;

impl Parser<'_> {
    /// Reads a redirection, or nothing where none begins.
    pub(super) fn redirect(&mut self) -> Option<Redirect> {
        let start = self.position;
        let prefix = self.descriptor_length()?;
        let (length, kind) = self.redirect_operator(prefix)?;
        self.advance(prefix + length);
        let operator = Span::new(start, self.position);
        if kind == RedirectKind::HereDocument {
            let strip_tabs = operator.of(self.source).ends_with('-');
            self.skip_blanks();
            let target = self.word();
            let heredoc = Some(self.announce_heredoc(&target, strip_tabs));
            return Some(Redirect { operator, kind, target, heredoc });
        }
        self.skip_blanks();
        let target = self.word();
        if target.parts.is_empty() {
            self.fault.unexpected = true;
        }
        // `>& file` is an old way to write `&> file`; only numbers and `-` name a descriptor.
        let is_descriptor = target
            .span
            .of(self.source)
            .trim_end_matches('-')
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'$' || byte == b'{' || byte == b'}');
        let kind = match kind {
            RedirectKind::Duplicate if !is_descriptor => RedirectKind::Write,
            other => other,
        };
        Some(Redirect { operator, kind, target, heredoc: None })
    }

    /// Returns the length of the descriptor before the operator: digits, `{name}` or nothing.
    fn descriptor_length(&self) -> Option<usize> {
        match self.peek()? {
            b'<' | b'>' => Some(0),
            b'&' if self.peek_at(1) == Some(b'>') => Some(0),
            b'0'..=b'9' => {
                // More digits than any descriptor has are a word.
                let length =
                    (1..6).find(|&ahead| !self.peek_at(ahead).is_some_and(|byte| byte.is_ascii_digit()))?;
                matches!(self.peek_at(length), Some(b'<' | b'>')).then_some(length)
            }
            b'{' => {
                let close = (1..40).find(|&ahead| {
                    !self.peek_at(ahead).is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
                })?;
                (close > 1
                    && self.peek_at(close) == Some(b'}')
                    && matches!(self.peek_at(close + 1), Some(b'<' | b'>')))
                .then_some(close + 1)
            }
            _ => None,
        }
    }

    fn redirect_operator(&self, prefix: usize) -> Option<(usize, RedirectKind)> {
        let at = |ahead: usize| self.peek_at(prefix + ahead);
        match (at(0)?, at(1), at(2)) {
            (b'&', Some(b'>'), Some(b'>')) => Some((3, RedirectKind::Append)),
            (b'&', Some(b'>'), _) => Some((2, RedirectKind::Write)),
            (b'<' | b'>', Some(b'('), _) => None,
            (b'<', Some(b'<'), Some(b'<')) => Some((3, RedirectKind::HereString)),
            (b'<', Some(b'<'), Some(b'-')) => Some((3, RedirectKind::HereDocument)),
            (b'<', Some(b'<'), _) => Some((2, RedirectKind::HereDocument)),
            (b'<', Some(b'>'), _) => Some((2, RedirectKind::ReadWrite)),
            (b'<', Some(b'&'), _) => Some((2, RedirectKind::Duplicate)),
            (b'<', _, _) => Some((1, RedirectKind::Read)),
            (b'>', Some(b'>'), _) => Some((2, RedirectKind::Append)),
            (b'>', Some(b'|'), _) => Some((2, RedirectKind::Write)),
            (b'>', Some(b'&'), _) => Some((2, RedirectKind::Duplicate)),
            (b'>', _, _) => Some((1, RedirectKind::Write)),
            _ => None,
        }
    }
}
