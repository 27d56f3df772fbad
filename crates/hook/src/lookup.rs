//! Finds a few numbers in a payload without reading the rest of it.
//!
//! The status line shows three numbers of a payload that the client has just written. Keys are compared as
//! they stand: the client does not escape them, and a number that is not found is simply not shown.

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

    /// Passes a string and returns where its inside stands.
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
    use super::number;

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
