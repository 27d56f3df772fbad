//! A cursor over the bytes of one row, which skips the members that are not read.
//!
//! A transcript is mostly results that must not be kept, so the cursor jumps from quote to quote and builds nothing.
//! It is strict about the shape of what it enters (names, colons, commas, ends) and only counts brackets in what it
//! skips; two rows glued together by a torn write are still refused, because their letters stand where none may.
//! No depth of nesting and no length of text makes it recurse or copy. The cursor of `privacy`, which checks every byte,
//! would cost a fifth more and lose rows for one bad letter (ADR 24).

use memchr::memchr;

use super::text::Text;

/// The bytes are not the JSON they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

/// Describes what is read of a row, or that it cannot be read.
pub(super) type Read<T> = Result<T, Malformed>;

/// A place in a row.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// Describes what a byte outside of strings is, while something is skipped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Foreign,
    Filler,
    Quote,
    Open,
    Close,
}

/// Numbers, `true`, `false` and `null` count as filler, as do commas, colons and blanks.
#[inline]
fn class(byte: u8) -> Class {
    match byte {
        b'"' => Class::Quote,
        b'{' | b'[' => Class::Open,
        b'}' | b']' => Class::Close,
        b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' | b'0'..=b'9' | b'+' | b'-' | b'.' | b'E' => Class::Filler,
        b't' | b'r' | b'u' | b'e' | b'f' | b'a' | b'l' | b's' | b'n' => Class::Filler,
        _ => Class::Foreign,
    }
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    #[inline]
    fn byte(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Moves over white space and says what comes next.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<u8> {
        loop {
            match self.byte() {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.at += 1,
                other => return other,
            }
        }
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Read<()> {
        if self.peek() != Some(byte) {
            return Err(Malformed);
        }
        self.at += 1;
        Ok(())
    }

    /// Moves over a comma if one comes next.
    pub(super) fn comma(&mut self) -> bool {
        let comma = self.peek() == Some(b',');
        self.at += usize::from(comma);
        comma
    }

    /// Moves over a colon if one comes next.
    pub(super) fn colon(&mut self) -> bool {
        let colon = self.peek() == Some(b':');
        self.at += usize::from(colon);
        colon
    }

    /// Fails unless nothing but white space follows.
    pub(super) fn end(&mut self) -> Read<()> {
        if self.peek().is_none() { Ok(()) } else { Err(Malformed) }
    }

    /// Reads a string; it comes next.
    #[inline]
    pub(super) fn string(&mut self) -> Read<Text<'a>> {
        self.expect(b'"')?;
        let start = self.at;
        let end = self.closing_quote()?;
        self.at = end + 1;
        self.bytes.get(start..end).map(Text::new).ok_or(Malformed)
    }

    /// Returns where the string ends that the cursor stands in.
    #[inline]
    fn closing_quote(&self) -> Read<usize> {
        let mut from = self.at;
        loop {
            let quote = next_quote(self.bytes, from).ok_or(Malformed)?;
            // A quote counts unless an odd number of backslashes stands before it.
            let before = self.bytes.get(self.at..quote).unwrap_or_default();
            let backslashes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
            if backslashes % 2 == 0 {
                return Ok(quote);
            }
            from = quote + 1;
        }
    }

    /// Moves over one value of any kind and depth.
    #[inline]
    pub(super) fn skip(&mut self) -> Read<()> {
        match self.peek().map(class) {
            Some(Class::Quote) => self.string().map(|_| ()),
            Some(Class::Open) => self.container(),
            Some(Class::Filler) => self.scalar().map(|_| ()),
            Some(Class::Foreign | Class::Close) | None => Err(Malformed),
        }
    }

    /// Moves over one value and gives the bytes it is spelled with.
    #[inline]
    pub(super) fn raw(&mut self) -> Read<&'a [u8]> {
        self.peek();
        let start = self.at;
        self.skip()?;
        self.bytes.get(start..self.at).ok_or(Malformed)
    }

    fn container(&mut self) -> Read<()> {
        let mut depth = 0_usize;
        loop {
            match class(self.byte().ok_or(Malformed)?) {
                Class::Filler => self.at += 1,
                Class::Quote => {
                    self.at += 1;
                    self.at = self.closing_quote()? + 1;
                }
                Class::Open => {
                    depth += 1;
                    self.at += 1;
                }
                Class::Close => {
                    depth -= 1;
                    self.at += 1;
                    if depth == 0 {
                        return Ok(());
                    }
                }
                Class::Foreign => return Err(Malformed),
            }
        }
    }

    /// Reads the spelling of a number, `true`, `false` or `null`.
    fn scalar(&mut self) -> Read<&'a [u8]> {
        self.peek();
        let start = self.at;
        while matches!(self.byte(), Some(byte) if byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
        {
            self.at += 1;
        }
        let spelling = self.bytes.get(start..self.at).unwrap_or_default();
        let good = match spelling.first() {
            Some(b'-' | b'0'..=b'9') => true,
            Some(_) => matches!(spelling, b"true" | b"false" | b"null"),
            None => false,
        };
        if good { Ok(spelling) } else { Err(Malformed) }
    }

    /// Reads a string, or moves over whatever else is there.
    #[inline]
    pub(super) fn text(&mut self) -> Read<Option<Text<'a>>> {
        if self.peek() == Some(b'"') { self.string().map(Some) } else { self.skip().map(|()| None) }
    }

    /// Reads `true` or `false`, or moves over whatever else is there.
    pub(super) fn flag(&mut self) -> Read<Option<bool>> {
        match self.peek() {
            Some(b't' | b'f') => self.scalar().map(|word| Some(word == b"true")),
            _ => self.skip().map(|()| None),
        }
    }

    /// Reads a count: a whole number that is not negative, also if it is spelled as a text or as a fraction of zero.
    pub(super) fn count(&mut self) -> Read<Option<u64>> {
        let spelling = match self.peek() {
            Some(b'"') => self.string()?.raw(),
            Some(b'0'..=b'9' | b'-') => self.scalar()?,
            _ => return self.skip().map(|()| None),
        };
        Ok(count(spelling))
    }

    /// Reads a number of any kind, or moves over whatever else is there.
    pub(super) fn number(&mut self) -> Read<Option<f64>> {
        match self.peek() {
            Some(b'0'..=b'9' | b'-') => {
                let spelling = std::str::from_utf8(self.scalar()?).unwrap_or_default();
                Ok(spelling.parse::<f64>().ok().filter(|number| number.is_finite()))
            }
            _ => self.skip().map(|()| None),
        }
    }

    /// Calls `each` for every member of an object with its name; `each` reads the value. Anything else is skipped.
    #[inline]
    pub(super) fn members(&mut self, mut each: impl FnMut(&mut Self, Text<'a>) -> Read<()>) -> Read<()> {
        if self.peek() != Some(b'{') {
            return self.skip();
        }
        self.at += 1;
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        self.more_members(&mut each)
    }

    /// Reads the members from the name of any of them on.
    pub(super) fn more_members(&mut self, mut each: impl FnMut(&mut Self, Text<'a>) -> Read<()>) -> Read<()> {
        loop {
            let name = self.string()?;
            self.expect(b':')?;
            each(self, name)?;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err(Malformed),
            }
        }
    }

    /// Calls `each` for every item of an array; `each` reads it. Anything else is skipped.
    pub(super) fn items(&mut self, mut each: impl FnMut(&mut Self) -> Read<()>) -> Read<()> {
        if self.peek() != Some(b'[') {
            return self.skip();
        }
        self.at += 1;
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            each(self)?;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err(Malformed),
            }
        }
    }
}

/// Words that are looked at one by one before `memchr` is worth its call: names and ids end within them.
const WORDS: usize = 5;

/// Returns the next quote at or after `from`, escaped or not.
#[inline]
fn next_quote(bytes: &[u8], from: usize) -> Option<usize> {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    const QUOTES: u64 = LOW * b'"' as u64;
    let rest = bytes.get(from..)?;
    let (words, _) = rest.as_chunks::<8>();
    for (index, word) in words.iter().take(WORDS).enumerate() {
        let hit = u64::from_le_bytes(*word) ^ QUOTES;
        let zero = hit.wrapping_sub(LOW) & !hit & HIGH;
        if zero != 0 {
            return Some(from + index * 8 + zero.trailing_zeros() as usize / 8);
        }
    }
    let seen = words.len().min(WORDS) * 8;
    memchr(b'"', rest.get(seen..)?).map(|at| from + seen + at)
}

/// Reads a whole number that is not negative.
fn count(spelling: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(spelling).ok()?;
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let real: f64 = text.trim().parse().ok()?;
    // Beyond 2^53 a float is no count any more.
    (0.0..9e15).contains(&real).then_some(real as u64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn skips(text: &str) -> bool {
        let mut cursor = Cursor::new(text.as_bytes());
        cursor.skip().is_ok() && cursor.end().is_ok()
    }

    #[test]
    fn values_of_every_kind_are_skipped() {
        for text in [
            "{}",
            "[]",
            "\"\"",
            "0",
            "-1.5e+3",
            "true",
            "false",
            "null",
            " { \"a\" : [ 1 , { } ] } ",
            r#""\"""#,
            r#""\\""#,
            r#""\\\"""#,
            r#"{"a":"{\"b\":[","c":"]}"}"#,
            "\"\u{1f600}ü\"",
        ] {
            assert!(skips(text), "{text}");
        }
    }

    #[test]
    fn what_is_torn_or_glued_is_refused() {
        for text in [
            "",
            "{",
            "[1",
            "\"a",
            r#""\""#,
            r#"{"a":1}}"#,
            r#"{"a"}{"b":1}"#,
            "nul",
            "truely",
            "x",
            "]",
            r#"{"a":{"b":"hel{"type":"user"}}}"#,
            r#"{"a":[1,2"#,
        ] {
            assert!(!skips(text), "{text}");
        }
    }

    #[test]
    fn a_million_levels_are_walked_without_recursion() {
        let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
        assert!(skips(&deep));
        assert!(!skips(deep.strip_suffix(']').unwrap()));
    }

    #[test]
    fn counts_are_read_from_any_spelling_that_means_one() {
        for (text, number) in [
            ("12", Some(12)),
            ("0", Some(0)),
            ("\"12\"", Some(12)),
            ("12.0", Some(12)),
            ("1e3", Some(1000)),
            ("-1", None),
            ("null", None),
            ("true", None),
            ("[1]", None),
            ("{\"a\":1}", None),
            ("\"\"", None),
            ("18446744073709551615", Some(u64::MAX)),
            ("1e300", None),
        ] {
            let mut cursor = Cursor::new(text.as_bytes());
            assert_eq!(cursor.count(), Ok(number), "{text}");
            assert_eq!(cursor.end(), Ok(()), "{text}");
        }
    }

    #[test]
    fn members_are_named_in_any_spacing() {
        let mut seen = Vec::new();
        let text = b"{ \"a\" : 1 ,\t\"b\":[{\"a\":2}] , \"c\":{\"a\":3} }";
        Cursor::new(text)
            .members(|cursor, name| {
                seen.push((name.to_string(), String::from_utf8_lossy(cursor.raw()?).into_owned()));
                Ok(())
            })
            .unwrap();
        let expected = [("a", "1"), ("b", "[{\"a\":2}]"), ("c", "{\"a\":3}")];
        assert_eq!(seen, expected.map(|(name, raw)| (name.to_owned(), raw.to_owned())));
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".{0,40}".prop_map(Value::from),
            "[\"\\\\\\\\n]{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(6, 60, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec((".{0,12}", inner), 0..6)
                    .prop_map(|m| Value::Object(m.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_json_is_skipped_to_its_last_byte_and_no_prefix_of_a_container_is(value in json()) {
            let text = value.to_string();
            prop_assert!(skips(&text));
            if value.is_object() || value.is_array() || value.is_string() {
                for (cut, _) in text.char_indices() {
                    prop_assert!(!skips(text.split_at(cut).0));
                }
            }
        }

        #[test]
        fn no_bytes_break_the_cursor(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut cursor = Cursor::new(&bytes);
            if cursor.skip().is_ok() {
                prop_assert!(cursor.at <= bytes.len());
            }
        }
    }
}
