//! A string of a row: a span of its spelling, and the text that it stands for.
//!
//! Most strings have no escape and are used where they lie. What cannot be a text (half a surrogate pair, bytes that
//! are not UTF-8) becomes U+FFFD: a row is never lost for one letter.

use std::borrow::Cow;
use std::fmt;

use memchr::memchr;

/// A string, between its quotes, as the row spells it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Text<'a>(&'a [u8]);

impl<'a> Text<'a> {
    pub(super) fn new(spelling: &'a [u8]) -> Self {
        Self(spelling)
    }

    /// Returns the spelling.
    pub(super) fn raw(&self) -> &'a [u8] {
        self.0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the name of a member, to be matched: borrowed unless it is spelled with escapes.
    #[inline]
    pub(super) fn name(&self) -> Cow<'a, [u8]> {
        // Names are short: looking at each byte beats a call.
        if self.0.len() < 64 && !self.0.contains(&b'\\') {
            return Cow::Borrowed(self.0);
        }
        match self.decode() {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        }
    }

    /// Returns whether the text is this word.
    pub(super) fn is(&self, word: &str) -> bool {
        self.0 == word.as_bytes() || (memchr(b'\\', self.0).is_some() && self.decode() == word)
    }

    /// Returns the text.
    pub(super) fn decode(&self) -> Cow<'a, str> {
        match memchr(b'\\', self.0) {
            None => String::from_utf8_lossy(self.0),
            Some(_) => Cow::Owned(unescape(self.0, usize::MAX)),
        }
    }

    /// Returns at least the first `most` bytes of the text, and at most a few more; less if it is shorter.
    pub(super) fn head(&self, most: usize) -> Cow<'a, str> {
        match plain_head(self.0, most) {
            Some(head) => String::from_utf8_lossy(head),
            None => Cow::Owned(unescape(self.0, most)),
        }
    }
}

/// Returns the first bytes of a spelling, at least `most` and up to the end of a character, if no escape is among them.
fn plain_head(spelling: &[u8], most: usize) -> Option<&[u8]> {
    let mut end = most.min(spelling.len());
    while spelling.get(end).is_some_and(|byte| (0x80..0xc0).contains(byte)) && end < most.saturating_add(3) {
        end += 1;
    }
    spelling.get(..end).filter(|head| memchr(b'\\', head).is_none())
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.decode())
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.head(80), f)
    }
}

/// Undoes escapes until the text has at least `most` bytes.
fn unescape(spelling: &[u8], most: usize) -> String {
    let mut text = String::with_capacity(spelling.len().min(most.saturating_add(8)));
    let mut rest = spelling;
    while text.len() < most {
        if let Some(plain) = plain_head(rest, most - text.len()) {
            text.push_str(&String::from_utf8_lossy(plain));
            break;
        }
        let Some(at) = memchr(b'\\', rest) else { break };
        let (plain, escape) = rest.split_at(at);
        text.push_str(&String::from_utf8_lossy(plain));
        let (letter, taken) = match escape.get(1) {
            Some(b'b') => ('\u{8}', 2),
            Some(b'f') => ('\u{c}', 2),
            Some(b'n') => ('\n', 2),
            Some(b'r') => ('\r', 2),
            Some(b't') => ('\t', 2),
            Some(b'u') => unit(escape),
            Some(byte @ (b'"' | b'\\' | b'/')) => (char::from(*byte), 2),
            // No escape of JSON. The byte after the backslash may be the first of several: it is left for the next turn.
            Some(_) | None => (char::REPLACEMENT_CHARACTER, 1),
        };
        text.push(letter);
        rest = escape.get(taken..).unwrap_or_default();
    }
    text
}

/// Returns the character of a `\u` escape, or of a pair of them, and how long its spelling is.
fn unit(escape: &[u8]) -> (char, usize) {
    let half = |at: usize| {
        let digits = std::str::from_utf8(escape.get(at + 2..at + 6)?).ok()?;
        let all = escape.get(at..at + 2)? == b"\\u" && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        all.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
    };
    let Some(first) = half(0) else { return (char::REPLACEMENT_CHARACTER, 2) };
    if (0xd800..0xdc00).contains(&first)
        && let Some(second) = half(6).filter(|second| (0xdc00..0xe000).contains(second))
    {
        let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        return (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 12);
    }
    (char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 6)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escapes_are_undone_and_halves_are_replaced() {
        for (spelling, text) in [
            ("plain ü", "plain ü"),
            (r#"a\nb\t\"c\"\\\/\b\f\r"#, "a\nb\t\"c\"\\/\u{8}\u{c}\r"),
            (r"\u0041\u00fc\u20ac", "Aü€"),
            (r"\ud83d\ude00", "😀"),
            (r"\ud83d", "\u{fffd}"),
            (r"\ud83dx", "\u{fffd}x"),
            (r"\ude00\ud83d", "\u{fffd}\u{fffd}"),
            (r"\ud83d\n", "\u{fffd}\n"),
            (r"\u00", "\u{fffd}00"),
            (r"\uzzzz", "\u{fffd}zzzz"),
            (r"\x", "\u{fffd}x"),
            ("\\", "\u{fffd}"),
            ("\\ü", "\u{fffd}ü"),
        ] {
            assert_eq!(Text::new(spelling.as_bytes()).decode(), text, "{spelling}");
        }
        assert_eq!(Text::new(b"a\xffb").decode(), "a\u{fffd}b");
        assert_eq!(Text::new(b"a\xff\\nb").decode(), "a\u{fffd}\nb");
    }

    #[test]
    fn a_name_is_itself_however_it_is_spelled() {
        assert_eq!(&*Text::new(b"usage").name(), b"usage");
        assert_eq!(&*Text::new(br"us\u0061ge").name(), b"usage");
        assert!(Text::new(br"us\u0061ge").is("usage"));
        assert!(!Text::new(b"usages").is("usage"));
    }

    #[test]
    fn the_head_ends_between_characters() {
        let text = "aü€😀".repeat(10);
        let head = Text::new(text.as_bytes()).head(5);
        assert!(text.starts_with(&*head) && head.len() >= 5 && head.len() <= 9, "{head}");
        assert_eq!(Text::new(br"\u0061bc").head(2), "ab");
    }

    proptest! {
        #[test]
        fn what_serde_writes_is_read_back(text in ".{0,60}", escaped in any::<bool>()) {
            let spelling = if escaped {
                text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect::<String>()
            } else {
                let json = serde_json::to_string(&text).unwrap();
                json.strip_prefix('"').unwrap().strip_suffix('"').unwrap().to_owned()
            };
            let read = Text::new(spelling.as_bytes());
            prop_assert_eq!(read.decode(), text.as_str());
            prop_assert!(read.is(&text));
            for most in [0, 1, 5, 200] {
                let head = read.head(most);
                prop_assert!(text.starts_with(&*head));
                prop_assert!(head.len() >= most.min(text.len()));
            }
        }

        #[test]
        fn no_bytes_break_it(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let text = Text::new(&bytes);
            let _ = (text.decode(), text.head(7), text.name());
        }
    }
}
