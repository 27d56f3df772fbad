//! Finds a few members of a payload without reading the rest of it.
//!
//! The status line shows three numbers of a payload that the client has just written. Keys are compared as
//! they stand: the client does not escape them, and a number that is not found is not shown. A decision
//! needs every member ([`members`]), with escapes resolved.
//!
//! Values that are skipped are not checked, unlike by the cursor of `privacy`: behind one that is not sound JSON the
//! name of the tool is still found, so that the event does not get past a rule (ADR 24).

use std::borrow::Cow;
use std::ops::Range;

/// Returns the number at a path of object keys.
pub(crate) fn number(json: &[u8], path: &[&str]) -> Option<f64> {
    let mut cursor = Cursor { json, at: 0 };
    for key in path {
        cursor.enter(key.as_bytes())?;
    }
    let begin = cursor.at;
    let rest = json.get(begin..)?;
    let length =
        rest.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'))?;
    let number: f64 = std::str::from_utf8(rest.get(..length)?).ok()?.parse().ok()?;
    number.is_finite().then_some(number)
}

/// Calls `each` with the unescaped key and the place of the value of every member of the outermost object, in their
/// order. Returns `None` if the text is no object, or not whole.
pub(crate) fn members(json: &[u8], each: &mut dyn FnMut(&[u8], Range<usize>)) -> Option<()> {
    let mut cursor = Cursor { json, at: 0 };
    cursor.expect(b'{')?;
    cursor.space();
    if json.get(cursor.at) == Some(&b'}') {
        return Some(());
    }
    loop {
        let key = cursor.string()?;
        cursor.expect(b':')?;
        cursor.space();
        let begin = cursor.at;
        cursor.skip_value()?;
        each(&unescaped(json.get(key.0..key.1)?)?, begin..cursor.at);
        cursor.space();
        match json.get(cursor.at)? {
            b',' => cursor.at += 1,
            b'}' => return Some(()),
            _ => return None,
        }
    }
}

/// Returns the text of the first member of this name. The rest is not read, because a prompt can be long.
pub(crate) fn first_text<'a>(json: &'a [u8], name: &[u8]) -> Option<Cow<'a, [u8]>> {
    let mut cursor = Cursor { json, at: 0 };
    cursor.enter(name)?;
    let (begin, end) = cursor.string()?;
    unescaped(json.get(begin..end)?)
}

/// Returns the text of a value that is a string.
pub(crate) fn text(value: &[u8]) -> Option<Cow<'_, [u8]>> {
    unescaped(value.strip_prefix(b"\"")?.strip_suffix(b"\"")?)
}

/// Resolves the escapes of the inside of a string. `None` if an escape is invalid.
fn unescaped(inside: &[u8]) -> Option<Cow<'_, [u8]>> {
    if !inside.contains(&b'\\') {
        return Some(Cow::Borrowed(inside));
    }
    let mut out = Vec::with_capacity(inside.len());
    let mut at = 0;
    while let Some(byte) = inside.get(at) {
        at += 1;
        if *byte != b'\\' {
            out.push(*byte);
            continue;
        }
        let escape = *inside.get(at)?;
        at += 1;
        out.push(match escape {
            b'"' | b'\\' | b'/' => escape,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let mut unit = hex(inside.get(at..at + 4)?)?;
                at += 4;
                if (0xd800..0xdc00).contains(&unit) {
                    let low = hex(inside.get(at..)?.strip_prefix(b"\\u")?.get(..4)?)?;
                    at += 6;
                    unit = 0x1_0000
                        + ((unit - 0xd800) << 10)
                        + low.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
                }
                let mut room = [0; 4];
                out.extend_from_slice(char::from_u32(unit)?.encode_utf8(&mut room).as_bytes());
                continue;
            }
            _ => return None,
        });
    }
    Some(Cow::Owned(out))
}

fn hex(digits: &[u8]) -> Option<u32> {
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// A place in the text.
struct Cursor<'a> {
    json: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    /// Moves from the start of an object to the value of one of its keys.
    fn enter(&mut self, wanted: &[u8]) -> Option<()> {
        self.expect(b'{')?;
        loop {
            let key = self.string()?;
            self.expect(b':')?;
            self.space();
            if self.json.get(key.0..key.1) == Some(wanted) {
                return Some(());
            }
            self.skip_value()?;
            self.expect(b',')?;
        }
    }

    fn space(&mut self) {
        while matches!(self.json.get(self.at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.space();
        (self.json.get(self.at) == Some(&byte)).then(|| self.at += 1)
    }

    /// Passes a string and returns the bounds of its inside.
    fn string(&mut self) -> Option<(usize, usize)> {
        self.expect(b'"')?;
        let begin = self.at;
        loop {
            match self.json.get(self.at)? {
                b'"' => {
                    self.at += 1;
                    return Some((begin, self.at - 1));
                }
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
    }

    fn skip_value(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            self.space();
            match self.json.get(self.at)? {
                b'"' => {
                    self.string()?;
                }
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                    continue;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1)?;
                    self.at += 1;
                }
                b',' | b':' if depth > 0 => {
                    self.at += 1;
                    continue;
                }
                _ => {
                    let rest = self.json.get(self.at..)?;
                    let length =
                        rest.iter().position(|byte| matches!(byte, b',' | b'}' | b']' | b' ' | b'\n'))?;
                    // A byte that belongs to no value would keep this loop where it is.
                    self.at += (length > 0).then_some(length)?;
                }
            }
            if depth == 0 {
                return Some(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(json: &[u8]) -> Option<Vec<(String, String)>> {
        let mut all = Vec::new();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        members(json, &mut |key, place| all.push((text(key), text(&json[place]))))?;
        Some(all)
    }

    #[test]
    fn every_member_of_the_outermost_object_is_found_whatever_is_inside() {
        let json = br#" {"a" : {"a":1} ,"b\u005fc":"x\"}","d":[{"e":"]"}] , "f":-1.5e3,"a":null } "#;
        let pairs = [
            ("a", r#"{"a":1}"#),
            ("b_c", r#""x\"}""#),
            ("d", r#"[{"e":"]"}]"#),
            ("f", "-1.5e3"),
            ("a", "null"),
        ];
        assert_eq!(found(json).unwrap(), pairs.map(|(key, value)| (key.to_owned(), value.to_owned())));
        assert_eq!(found(b"{}"), Some(Vec::new()));
        for end in 1..json.len() - 2 {
            assert_eq!(found(&json[..end]), None, "cut at {end}");
        }
        for other in [&b"[]"[..], b"", b"null", b"\"x\"", br#"{"a":1 2}"#, br#"{"a\q":1}"#, br#"{1:2}"#] {
            assert_eq!(found(other), None, "{}", String::from_utf8_lossy(other));
        }
    }

    #[test]
    fn escapes_are_resolved_as_serde_json_does() {
        for json in [r#""plain""#, r#""a\"b\\c\/d\b\f\n\r\t""#, r#""\u00e4\u20ac\ud83d\ude00""#, r#""""#] {
            let expected: String = serde_json::from_str(json).unwrap();
            assert_eq!(text(json.as_bytes()).unwrap(), expected.as_bytes(), "{json}");
        }
        for broken in [r#""\ud83d""#, r#""\udc00""#, r#""\u12""#, r#""\u12zz""#, r#""\x""#, "7", r#"{"a":1}"#]
        {
            assert_eq!(text(broken.as_bytes()), None, "{broken}");
        }
    }

    #[test]
    fn the_first_text_is_found_without_reading_on() {
        let json = br#"{"a":{"cwd":"/no"},"cwd" : "/c\u00f6","cwd":"/two","cut": "#;
        assert_eq!(first_text(json, b"cwd").as_deref(), Some("/cö".as_bytes()));
        for (json, name) in
            [(&b"{\"cwd\":3}"[..], &b"cwd"[..]), (b"{}", b"cwd"), (b"{\"cwd\":\"/x", b"cwd"), (b"", b"a")]
        {
            assert_eq!(first_text(json, name), None, "{}", String::from_utf8_lossy(json));
        }
    }

    #[test]
    fn a_number_is_found_behind_all_kinds_of_values() {
        let json =
            br#"{ "a": {"x": [1, {"b": 2}], "s": "}\"{"}, "t" : true, "n":null, "b": {"c": -2.5e1 , "d":3}}"#;
        assert_eq!(number(json, &["b", "c"]), Some(-25.0));
        assert_eq!(number(json, &["b", "d"]), Some(3.0));
    }

    #[test]
    fn what_is_no_number_is_not_shown() {
        let json = br#"{"a":null,"b":"7","c":{"d":1}}"#;
        for path in [&["a"][..], &["b"], &["c"], &["c", "x"], &["z"], &["a", "b"]] {
            assert_eq!(number(json, path), None, "{path:?}");
        }
    }

    #[test]
    fn broken_text_ends_without_a_number() {
        let whole = br#"{"a":{"b":[1,"two",{"c":null}]},"n":{"m":12}}"#;
        assert_eq!(number(whole, &["n", "m"]), Some(12.0));
        for end in 0..whole.len() - 2 {
            assert_eq!(number(&whole[..end], &["n", "m"]), None, "cut at {end}");
        }
        assert_eq!(number(b"}}}}", &["n"]), None);
        assert_eq!(number(br#"{"a":,"n":1}"#, &["n"]), None);
    }
}
