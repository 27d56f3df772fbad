//! Values that are drawn at random, under any name: long, of all kinds of characters, in an order that no word has.

use super::{Span, pairs, part, words};

/// The kind of such a value in its marker.
pub(crate) const KIND: &str = "random";

/// Shortest and longest value that counts; a longer one is data.
pub(super) const LEAST: usize = 24;
const MOST: usize = 200;

/// Returns the random value in an assignment that the stretch of word characters from `start` to `end` belongs to.
#[inline]
pub(super) fn assigned(text: &[u8], start: usize, end: usize) -> Option<Span> {
    // Most stretches are hashes and names in lower case: one look at their kinds is enough.
    if !mixed(part(text, start, end)) {
        return None;
    }
    value(text, start, end)
}

#[inline(never)]
fn value(text: &[u8], start: usize, end: usize) -> Option<Span> {
    let belongs = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'_' | b'-');
    let start = start
        - part(text, start.saturating_sub(MOST), start).iter().rev().take_while(|byte| belongs(byte)).count();
    let rest = part(text, end, end + MOST);
    let more = rest.iter().take_while(|byte| belongs(byte)).count();
    let more = more + part(rest, more, more + 2).iter().take_while(|byte| **byte == b'=').count();
    let end = end + more;
    let open = matches!(
        text.get(end),
        None | Some(b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'`' | b',' | b';')
    ) || matches!(text.get(end), Some(b')' | b'}' | b']' | b'<' | b'&' | b'|' | b'\\'));
    // A value that goes on behind the stretch is part of a path or a program, and those look drawn by chance.
    if !open || !drawn(part(text, start, end)) {
        return None;
    }
    let at = mark_before(text, start)?;
    let is_secret = match pairs::name(text, at) {
        Some((name, _)) => may_name(name),
        None => is_foreign_name(text, at),
    };
    is_secret.then_some(Span { start, end, kind: KIND })
}

/// Returns `true` if the mark at `at` follows a word in another script. The list of harmless names has no such words,
/// so all of them count.
fn is_foreign_name(text: &[u8], at: usize) -> bool {
    let before = part(text, at.saturating_sub(4), at).trim_ascii_end();
    before.last().is_some_and(|byte| !byte.is_ascii())
}

/// The most bytes between a value and its mark.
const GAP: usize = 64;

/// Returns the `=` or `:` before the value at `start`.
pub(super) fn mark_before(text: &[u8], start: usize) -> Option<usize> {
    let from = start.saturating_sub(GAP);
    let mut before = part(text, from, start);
    if let [rest @ .., b'"' | b'\'' | b'`'] = before {
        before = rest;
    }
    // Quotes in a program inside a program are escaped, and so may white space be, whose letter then seems to belong to
    // the value.
    while let [rest @ .., b'\\'] = before {
        before = rest;
    }
    while let [rest @ .., b' ' | b'\t'] | [rest @ .., b'\\', b't'] = before {
        before = rest;
    }
    matches!(before, [.., b'=' | b':']).then(|| from + before.len() - 1)
}

/// Returns `true` if a value of this name may be a secret: those of ids, hashes and data are none.
pub(super) fn may_name(name: &[u8]) -> bool {
    let last =
        name.rsplit(|byte| !byte.is_ascii_alphanumeric()).find(|word| !word.is_empty()).unwrap_or_default();
    let hump =
        last.iter().rposition(u8::is_ascii_uppercase).filter(|_| last.iter().any(u8::is_ascii_lowercase));
    let last = last.get(hump.unwrap_or(0)..).unwrap_or_default();
    !last.is_empty() && !words::listed_in_any_case(words::NO_SECRETS, last)
}

/// Returns the random value that a word before it introduces: `vault login …`, `jwt.sign(claims, "…")`.
#[inline]
pub(super) fn introduced(text: &[u8], start: usize, end: usize) -> Option<Span> {
    let run = part(text, start, end);
    let follows =
        matches!(part(text, start.saturating_sub(1), start), [b' ' | b'"' | b'\'' | b'`' | b'+' | b'/']);
    if !follows || run.len() < BODY || is_known(run) || !is_drawn(part(run, 0, MOST), 1) {
        return None;
    }
    let before = part(text, start.saturating_sub(INTRODUCED), start);
    let line = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |place| place + 1);
    let before = part(before, line, before.len());
    let known = INTRODUCTIONS.iter().any(|word| before.windows(word.len()).any(|part| part == *word));
    known.then_some(Span { start, end, kind: "secret" })
}

/// The distance back within which an introduction is searched.
const INTRODUCED: usize = 64;
/// Words and calls before a secret.
const INTRODUCTIONS: &[&[u8]] = &[
    b"login ",
    b"jwt.",
    b"JWT",
    b"hmac",
    b"Hmac",
    b"HMAC",
    b"alias set ",
    b"SecureString",
    b"IDENTIFIED BY",
    b"http-basic",
    b"connect(",
    b"getConnection(",
    b"login(",
    b"signIn(",
    b"authenticate(",
    b"bearer, ",
    b"creds: ",
    b"credentials: ",
    b"net use ",
    b"sqlplus ",
    b"snmp",
    b"useradd ",
    b"usermod ",
    b"//hooks.",
    b"webhook",
];

/// Returns the random value after an unpublished prefix, as in `acme_live_…`: a short word, a sign, and a drawn part.
/// Known ids and parts of paths do not count.
#[inline]
pub(super) fn prefixed(text: &[u8], start: usize, end: usize) -> Option<Span> {
    let run = part(text, start, end);
    if run.len() < PREFIXED || !mixed(run) || is_known(run) {
        return None;
    }
    prefixed_value(text, start, end)
}

/// Shortest value behind an unknown prefix, and shortest stretch that holds one.
const BODY: usize = 20;
const PREFIXED: usize = BODY + 3;

#[inline(never)]
fn prefixed_value(text: &[u8], start: usize, end: usize) -> Option<Span> {
    let run = part(text, start, end);
    // `"session_id": "ses_…"`
    if let Some((name, _)) = mark_before(text, start).and_then(|at| pairs::name(text, at))
        && !may_name(name)
    {
        return None;
    }
    let path = |byte: &u8| matches!(byte, b'/' | b'.' | b'@' | b'\\' | b'#');
    if part(text, start.saturating_sub(1), start).iter().any(path) || text.get(end).is_some_and(path) {
        return None;
    }
    let mut from = 0;
    for _ in 0..3 {
        let rest = part(run, from, run.len());
        let word = rest.iter().take(13).take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let sign = matches!(rest.get(word), Some(b'_' | b'-'));
        let name = part(rest, 0, word);
        let plain = name.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
            || name.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        if !(1..=12).contains(&word) || !sign || !plain {
            break;
        }
        if from == 0
            && ((word < 2 && run.len() < 34)
                || !name.iter().any(u8::is_ascii_alphabetic)
                || words::listed_in_any_case(words::ID_PREFIXES, name))
        {
            return None;
        }
        from += word + 1;
    }
    let body = part(run, from, run.len());
    (from > 0 && body.len() >= BODY && body.len() <= MOST && is_drawn(body, 1)).then_some(Span {
        start,
        end,
        kind: "api-key",
    })
}

fn mixed(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_uppercase)
        && value.iter().any(u8::is_ascii_digit)
        && value.iter().any(u8::is_ascii_lowercase)
}

/// Returns `true` if the whole of `value` was drawn at random.
///
/// Names change their kind of character too, but only at the beginning of a word: a capital is followed by small
/// letters, and a number ends it. A drawn value has capitals before capitals and numbers, and numbers before small
/// letters; or more numbers than any name.
pub(super) fn drawn(value: &[u8]) -> bool {
    if !(LEAST..=MOST).contains(&value.len()) || is_known(value) {
        return false;
    }
    is_drawn(value, 2)
}

/// Returns `true` if the whole of `value` is in such an order and has at least so many digits.
fn is_drawn(value: &[u8], least_digits: usize) -> bool {
    // Padding is possible only at the end.
    let body = value.len() - value.iter().rev().take(2).take_while(|byte| **byte == b'=').count();
    let value = part(value, 0, body);
    let (mut upper, mut lower, mut digits, mut numbers, mut odd, mut orderly, mut signs) =
        (0, 0, 0, 0, 0, 0, 0);
    let mut seen = 0u128;
    let mut previous = b' ';
    for byte in value {
        match byte {
            b'A'..=b'Z' => upper += 1,
            b'a'..=b'z' => lower += 1,
            b'0'..=b'9' => digits += 1,
            b'+' | b'/' | b'_' | b'-' => signs += 1,
            _ => return false,
        }
        // Counted by changes of kind, not by frequency: names in a program change kind at the start of a word only.
        numbers += usize::from(byte.is_ascii_digit() && !previous.is_ascii_digit());
        odd += usize::from(previous.is_ascii_uppercase() && !byte.is_ascii_lowercase());
        odd += usize::from(previous.is_ascii_digit() && byte.is_ascii_lowercase());
        orderly += usize::from(*byte == previous || *byte == previous.wrapping_add(1));
        seen |= 1 << (byte & 0x7f);
        previous = *byte;
    }
    upper >= 3
        && lower >= 3
        && digits >= least_digits
        && (odd >= 3 || numbers >= 4)
        && orderly * 3 < value.len()
        && seen.count_ones() >= 12
        // Identifiers and paths have more signs than a drawn value has by chance.
        && signs * 8 <= value.len()
}

/// Returns `true` if `value` begins like a hash, an id or a picture.
fn is_known(value: &[u8]) -> bool {
    let begins = |start: &[u8]| value.starts_with(start);
    if begins(b"sha")
        || begins(b"iVBOR")
        || begins(b"/9j/")
        || begins(b"R0lGOD")
        || begins(b"UklGR")
        || begins(b"AAAA")
    {
        return true;
    }
    if matches!(value.first(), Some(b'/' | b'-' | b'+')) {
        return true;
    }
    let prefix = value.iter().position(|byte| matches!(byte, b'_' | b'-'));
    prefix.is_some_and(|length| words::listed(words::ID_PREFIXES, part(value, 0, length)))
}
