//! Secrets that follow their name with nothing but a blank between: netrc files, and commands that set an entry of a
//! configuration. Such a name counts only if the words before it identify the context.

use super::names::{self, Name};
use super::{Span, name_judgement, pairs, part, values};

/// The distance back within which the words before a name are searched.
const REACH: usize = 200;

/// The most words after `config` that are read.
const MOST_WORDS: usize = 6;

/// Returns the secret around the hint at `at`: the `w` of `password` or the `f` of `config`.
#[inline(never)]
pub(super) fn secret(text: &[u8], at: usize) -> Option<Span> {
    match text.get(at) {
        Some(b'w') => netrc(text, at),
        Some(b'f') => config(text, at),
        _ => None,
    }
}

/// Returns the password in `machine api.example.com login me password hunter2`.
fn netrc(text: &[u8], at: usize) -> Option<Span> {
    let end = netrc_word(text, at, 2)?;
    let value = values::value_near(text, end)?;
    if values::refers(part(text, value.start, value.end), value.quoted) {
        return None;
    }
    let whole = values::value(text, end)?;
    Some(Span { start: whole.start, end: whole.end, kind: "password" })
}

/// Returns the end of the word `password` whose `w` is at `at`, if the words before it, at most `words` of them, are
/// those of a netrc file.
fn netrc_word(text: &[u8], at: usize, words: usize) -> Option<usize> {
    let start = at.checked_sub(5)?;
    let end = start + 9;
    let blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'\\';
    let followed = matches!(part(text, end, end + 2), [b' ' | b'\t', ..] | b"\\t");
    if part(text, start + 1, end) != b"password" || !followed {
        return None;
    }
    let before = part(text, start.saturating_sub(REACH), start + 1);
    let mut before = before.rsplit(blank).filter(|word| !word.is_empty()).take(words).skip(1);
    let known = |word: &[u8]| {
        [&b"login"[..], b"machine", b"account", b"default"].iter().any(|name| word.ends_with(name))
    };
    before.any(known).then_some(end)
}

/// Returns `true` if the `f` at `at` is the one of `config`.
fn is_config(text: &[u8], at: usize) -> bool {
    part(text, at.saturating_sub(3), at + 3) == b"config"
}

/// Returns the secret in `git config --global user.password hunter2` or
/// `aws configure set aws_secret_access_key hunter2`.
fn config(text: &[u8], at: usize) -> Option<Span> {
    if !is_config(text, at) {
        return None;
    }
    let mut next = at + 3;
    if part(text, next, next + 3) == b"ure" {
        next += 3;
    }
    for _ in 0..MOST_WORDS {
        let (from, to) = word(text, next)?;
        next = to;
        match part(text, from, to) {
            b"set" | b"add" => {}
            [b'-', b'-', b'g', b'e', b't', ..] | [b'-', b'-', b'u', b'n', ..] => return None,
            [b'-', ..] => {}
            // `poetry config http-basic.repo me hunter2`: the user, then the password.
            name if name.starts_with(b"http-basic.") => {
                let (_, user) = word(text, to)?;
                let (from, to) = word(text, user)?;
                let secret = !values::refers(part(text, from, to), true);
                return secret.then_some(Span { start: from, end: to, kind: "password" });
            }
            name => return entry(text, name, to),
        }
    }
    None
}

/// Returns the secret after `name`, which ends at `end`.
fn entry(text: &[u8], name: &[u8], end: usize) -> Option<Span> {
    // `//registry.example.com/:_authToken` and `http.https://example.com/.token`
    let name =
        name.rsplit(|byte| matches!(byte, b':' | b'/' | b'"' | b'\'')).find(|part| !part.is_empty())?;
    let judged = names::judge(name);
    // The id of a signing key is public.
    if matches!(judged, Name::Plain | Name::Header | Name::Cookie) || pairs::ends_with(name, b"signingkey") {
        return None;
    }
    let near = values::value_near(text, end)?;
    let value = part(text, near.start, near.end);
    if value.starts_with(b"-") || values::refers(value, near.quoted) || !name_judgement::fits(judged, value) {
        return None;
    }
    let whole = values::value(text, end)?;
    Some(Span { start: whole.start, end: whole.end, kind: pairs::kind(name, judged) })
}

/// Returns the start and the end of the next word on the line after `from`.
fn word(text: &[u8], from: usize) -> Option<(usize, usize)> {
    let rest = text.get(from..)?;
    let blanks = rest.iter().take(8).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let word = part(rest, blanks, blanks + REACH);
    let length =
        word.iter().take_while(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b'\\' | b'=')).count();
    (blanks > 0 && length > 0).then_some((from + blanks, from + blanks + length))
}

/// Returns the secret after the colon at `at`: `npm set //registry.example.com/:_authToken hunter2`.
pub(super) fn registry(text: &[u8], at: usize) -> Option<Span> {
    let name = registry_name(text, at)?;
    let end = at + 1 + name.len();
    matches!(text.get(end), Some(b' ' | b'\t')).then(|| entry(text, name, end))?
}

/// Returns the name after the colon at `at`, if it is one of a registry's.
#[inline]
pub(super) fn registry_name(text: &[u8], at: usize) -> Option<&'static [u8]> {
    if text.get(at + 1) != Some(&b'_') {
        return None;
    }
    let names = [&b"_authToken"[..], b"_password", b"_auth"];
    names.into_iter().find(|name| part(text, at + 1, at + 1 + name.len()) == *name)
}
