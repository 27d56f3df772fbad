//! Text that was put into another form: escapes, base64, hexadecimal, and the other way round.
//!
//! Only what a command line itself holds is turned back. What is not text in the end is not known.

/// Longest text that is turned back, in bytes.
const MAX_TEXT: usize = 16 * 1024;

/// Returns the text behind base64; blanks and line ends are skipped, as the programs do.
pub(crate) fn base64(text: &str) -> Option<String> {
    if text.len() > MAX_TEXT {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0_u8);
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 1;
        if count == 4 {
            bytes.extend([(bits >> 16) as u8, (bits >> 8) as u8, bits as u8]);
            (bits, count) = (0, 0);
        }
    }
    match count {
        2 => bytes.push((bits >> 4) as u8),
        3 => bytes.extend([(bits >> 10) as u8, (bits >> 2) as u8]),
        _ => {}
    }
    String::from_utf8(bytes).ok().filter(|text| !text.is_empty())
}

/// Returns the text behind pairs of hexadecimal digits.
pub(crate) fn hex(text: &str) -> Option<String> {
    let digits: Vec<u32> = text
        .chars()
        .filter(|character| !character.is_whitespace())
        .take(MAX_TEXT)
        .map(|character| character.to_digit(16))
        .collect::<Option<_>>()?;
    let bytes: Vec<u8> = digits
        .chunks_exact(2)
        .map(|pair| pair.iter().fold(0_u8, |sum, digit| sum.wrapping_mul(16).wrapping_add(*digit as u8)))
        .collect();
    String::from_utf8(bytes).ok().filter(|text| !text.is_empty())
}

/// Returns every line backwards.
pub(crate) fn reversed(text: &str) -> String {
    text.lines().map(|line| line.chars().rev().collect::<String>()).collect::<Vec<_>>().join("\n")
}

/// Returns the text with the backslashes of `printf` and `echo -e` read.
pub(crate) fn escapes(text: &str) -> String {
    let mut bytes: Vec<u8> = Vec::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    let number = |rest: &mut std::iter::Peekable<std::str::Chars<'_>>, radix: u32, most: usize| {
        let mut value = 0;
        let mut seen = 0;
        while let Some(digit) = rest.peek().and_then(|next| next.to_digit(radix)).filter(|_| seen < most) {
            value = value * radix + digit;
            seen += 1;
            rest.next();
        }
        (seen > 0).then_some(value)
    };
    let mut buffer = [0; 4];
    while let Some(character) = rest.next() {
        if character != '\\' {
            bytes.extend(character.encode_utf8(&mut buffer).bytes());
            continue;
        }
        match rest.next() {
            Some('n') => bytes.push(b'\n'),
            Some('t') => bytes.push(b'\t'),
            Some('r') => bytes.push(b'\r'),
            Some('\\') => bytes.push(b'\\'),
            Some('x') => bytes.extend(number(&mut rest, 16, 2).map(|value| value as u8)),
            Some('u' | 'U') => {
                let character = number(&mut rest, 16, 8).and_then(char::from_u32);
                bytes.extend(character.iter().flat_map(|it| it.to_string().into_bytes()));
            }
            Some(digit @ '0'..='7') => {
                let first = digit.to_digit(8).unwrap_or(0);
                // `echo -e` writes an octal number as `\0nnn`, `printf` as `\nnn`.
                let (tail, width) = (number(&mut rest.clone(), 8, 3), if digit == '0' { 3 } else { 2 });
                let value = match tail {
                    Some(_) => {
                        let mut value = first;
                        let mut seen = 0;
                        while let Some(next) =
                            rest.peek().and_then(|next| next.to_digit(8)).filter(|_| seen < width)
                        {
                            value = value * 8 + next;
                            seen += 1;
                            rest.next();
                        }
                        value
                    }
                    None => first,
                };
                bytes.push(value as u8);
            }
            Some(other) => {
                bytes.push(b'\\');
                bytes.extend(other.encode_utf8(&mut buffer).bytes());
            }
            None => bytes.push(b'\\'),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads `printf` with its arguments put in. Anything but `%s`, `%b` and `%%` is left as it stands.
pub(crate) fn formatted(format: &str, arguments: &[&str]) -> String {
    let places = format.matches("%s").count() + format.matches("%b").count();
    let mut text = String::new();
    let mut left = arguments.iter();
    loop {
        let mut rest = format;
        while let Some(at) = rest.find('%') {
            text.push_str(&escapes(rest.get(..at).unwrap_or_default()));
            let (kind, length) = match rest.get(at + 1..at + 2) {
                Some("s") => (left.next().map(|it| (*it).to_owned()), 2),
                Some("b") => (left.next().map(|it| escapes(it)), 2),
                Some("%") => (Some("%".to_owned()), 2),
                _ => (Some("%".to_owned()), 1),
            };
            text.push_str(&kind.unwrap_or_default());
            rest = rest.get(at + length..).unwrap_or_default();
        }
        text.push_str(&escapes(rest));
        // The format is used again as long as arguments are left.
        if places == 0 || left.len() == 0 || text.len() > MAX_TEXT {
            return text;
        }
    }
}

/// Returns the output of a filter for a text from the command line, or `None` if it cannot be computed here.
pub(crate) fn through(name: &str, words: &[&str], input: &str) -> Option<String> {
    let has = |options: &[&str]| words.iter().any(|word| options.contains(word));
    let operands = || words.iter().filter(|word| !word.starts_with('-'));
    match name {
        "base64" if has(&["-d", "-D", "--decode", "-di"]) => base64(input),
        "openssl" if has(&["base64", "-base64", "-a"]) && has(&["-d"]) => base64(input),
        "xxd" if has(&["-r", "-rp", "-pr"]) => hex(input),
        "rev" if words.is_empty() => Some(reversed(input)),
        // Read as the identity: a text that the line packs and unpacks again is itself, and the packed bytes in
        // between mean nothing to the readers of this crate.
        "gzip" | "gunzip" | "zcat" | "bzip2" | "bunzip2" | "xz" | "unxz" | "zstd" | "unzstd" => {
            operands().next().is_none().then(|| input.to_owned())
        }
        "tr" => match words {
            [from, to] if !from.starts_with('-') => translated(from, to, input),
            _ => None,
        },
        "sed" => match words {
            [script] => substituted(script, input),
            _ => None,
        },
        _ => None,
    }
}

fn translated(from: &str, to: &str, input: &str) -> Option<String> {
    let (from, to) = (characters(from)?, characters(to)?);
    // A second set that is shorter is filled up with its last character, as GNU `tr` does.
    let last = *to.last()?;
    let turn = |character: char| match from.iter().rposition(|known| *known == character) {
        Some(place) => to.get(place).copied().unwrap_or(last),
        None => character,
    };
    Some(input.chars().map(turn).collect())
}

/// Returns the characters of a set with its ranges; classes and escapes are not worked out.
fn characters(set: &str) -> Option<Vec<char>> {
    if set.contains(['[', '\\']) {
        return None;
    }
    let given: Vec<char> = set.chars().collect();
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(first) = given.get(at) {
        match (given.get(at + 1), given.get(at + 2)) {
            (Some('-'), Some(last)) => {
                all.extend((*first..=*last).take(256));
                at += 3;
            }
            _ => {
                all.push(*first);
                at += 1;
            }
        }
    }
    Some(all)
}

/// Reads `s/plain text/plain text/`, with any separator.
fn substituted(script: &str, input: &str) -> Option<String> {
    let rest = script.strip_prefix('s')?;
    let separator = rest.chars().next()?;
    let parts: Vec<&str> = rest.get(separator.len_utf8()..)?.split(separator).collect();
    let [pattern, text, flags] = parts.as_slice() else { return None };
    let plain = |part: &str| !part.contains(['\\', '.', '*', '[', '^', '$', '&']);
    if pattern.is_empty() || !plain(pattern) || !plain(text) || !matches!(*flags, "" | "g") {
        return None;
    }
    let once = |line: &str| {
        if *flags == "g" { line.replace(pattern, text) } else { line.replacen(pattern, text, 1) }
    };
    Some(input.lines().map(once).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_into_another_form_is_turned_back() {
        assert_eq!(base64("cm0gLXJmIHZpY3RpbQ==").as_deref(), Some("rm -rf victim"));
        assert_eq!(base64("cm0g\nLXJm").as_deref(), Some("rm -rf"));
        assert_eq!(base64("not base64!"), None);
        assert_eq!(base64("////"), None);
        assert_eq!(hex("726d 2078").as_deref(), Some("rm x"));
        assert_eq!(hex("72zz"), None);
        assert_eq!(reversed("mr\nsl"), "rm\nls");
        assert_eq!(escapes(r"\x72\155 \u0078\n\\ \q"), "rm x\n\\ \\q");
        assert_eq!(escapes(r"\0162m"), "rm");
        assert_eq!(formatted("%s-%s\\n", &["a", "b", "c"]), "a-b\nc-\n");
        assert_eq!(formatted("r%s", &["m"]), "rm");
        assert_eq!(formatted("100%", &[]), "100%");
        assert_eq!(formatted("%d%%", &[]), "%d%");
    }

    #[test]
    fn filters_turn_what_they_can() {
        assert_eq!(through("tr", &["b-z", "a-y"], "sn -sg").as_deref(), Some("rm -rf"));
        assert_eq!(through("tr", &["-d", "x"], "rxm"), None);
        assert_eq!(through("sed", &["s/XX/rm/"], "XX -rf x").as_deref(), Some("rm -rf x"));
        assert_eq!(through("sed", &["s/.*/x/"], "a"), None);
        assert_eq!(through("base64", &["-d"], "bHM=").as_deref(), Some("ls"));
        assert_eq!(through("base64", &[], "ls"), None);
        assert_eq!(through("gzip", &["-d"], "ls").as_deref(), Some("ls"));
        assert_eq!(through("cut", &["-c1"], "ls"), None);
    }
}
