//! `name=value` and `name: value` in all their spellings: shell, environment files, JSON, YAML, headers, programs,
//! query strings. The mark is the `=` or `:`; the name stands before it, the value after it.

use super::names::{self, Name};
use super::values::{self, Value};
use super::{MARKER, Span, blocks, name_judgement, part, proximity, sibling_name, stems};

/// The most blanks between a name and its mark.
const MOST_BLANKS: usize = 24;

/// Returns `true` if the value at `start` may be long enough for a weak name.
fn is_long(text: &[u8], start: usize) -> bool {
    let value = part(text, start, start + MOST_BLANKS + names::LONG).trim_ascii_start();
    let quoted = |byte: &u8| matches!(byte, b'"' | b'\'' | b'`' | b'\\');
    let ends = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r') || quoted(byte);
    part(value, 0, 2).iter().any(quoted)
        || value.len() < names::LONG
        || !part(value, 0, names::LONG).iter().any(ends)
}

/// Returns the name before the mark at `at`, and the byte before the name.
pub(super) fn name(text: &[u8], at: usize) -> Option<(&[u8], Option<u8>)> {
    let before = part(text, at.saturating_sub(2 * MOST_BLANKS + names::MOST + 8), at);
    let before = without_blanks(before);
    // "password":, ['password'] =, apiKey?:, and the quotes of a program inside a program
    let closers = before
        .iter()
        .rev()
        .take(6)
        .take_while(|byte| matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b']' | b'?' | b'!'))
        .count();
    let before = part(before, 0, before.len() - closers);
    // Counting one byte beyond the longest name that is judged shows that a name is too long.
    let length = before.iter().rev().take(names::MOST + 1).take_while(|byte| stems::is_name(**byte)).count();
    let (rest, mut name) = before.split_at(before.len() - length);
    if rest.ends_with(MARKER) {
        return None;
    }
    // `\npassword=`: the letter belongs to an escape.
    if rest.ends_with(b"\\") && matches!(name.first(), Some(b'n' | b'r' | b't')) {
        name = name.get(1..).unwrap_or_default();
    }
    match name.first() {
        None | Some(b'0'..=b'9') => None,
        Some(_) => Some((name, rest.last().copied())),
    }
}

/// Returns `text` without the blanks at its end; a tab may be spelled `\t`.
fn without_blanks(text: &[u8]) -> &[u8] {
    let mut text = text;
    for _ in 0..MOST_BLANKS {
        match text {
            [rest @ .., b' ' | b'\t'] | [rest @ .., b'\\', b't'] => text = rest,
            _ => break,
        }
    }
    text
}

/// Returns the secret whose mark is at `at`.
pub(super) fn secret(text: &[u8], at: usize) -> Option<Span> {
    let (name, before) = name(text, at)?;
    // `arn:aws:secretsmanager:…:secret:app` is a list of words, not a pair.
    if text.get(at) == Some(&b':') && (before == Some(b':') || text.get(at + 1) == Some(&b':')) {
        return None;
    }
    if part(text, at.saturating_sub(1), at) == b":" {
        return None;
    }
    if name.starts_with(b"PuTTY-User-Key") {
        return blocks::putty(text, at);
    }
    let start = typed(text, at).unwrap_or_else(|| after_mark(text, at));
    let stems = stems::seen(name);
    if !stems.any() {
        return None;
    }
    if text.get(at) == Some(&b'=')
        && !matches!(text.get(at + 1), Some(b'=' | b'>' | b' '))
        && name.last().is_some_and(|last| !last.is_ascii_lowercase())
        && let Some(span) = shell_word(text, at + 1, name)
    {
        return Some(span);
    }
    if values::is_hopeless(text, start, name, stems) {
        return hopeless(text, at, start, name);
    }
    let (judged, kind) = if sibling_name::is_value(name) {
        sibling_name::judge_by_sibling(text, at)?
    } else {
        let mut judged = names::judge_named(name);
        // `-passin pass:…` of OpenSSL
        if judged == Name::Bare && name == b"pass" && is_argument(text, at) {
            judged = Name::Password;
        }
        if matches!(judged, Name::Weak | Name::Bare) && is_qualified(text, at, name) {
            judged = Name::Key;
        }
        (judged, kind(name, judged))
    };
    if judged == Name::Weak && !is_long(text, start) {
        return None;
    }
    match judged {
        Name::Plain => None,
        Name::Header => header(text, start),
        Name::Cookie => cookie(text, start),
        Name::Weak | Name::Bare | Name::Key | Name::Password => {
            let found = values::value_near(text, start)?;
            if !holds_secret(text, at, name, judged, found) {
                // `password=-` makes the command read standard input.
                let fed = part(text, found.start, found.end) == b"-";
                return if fed { proximity::fed(text, at) } else { None };
            }
            let whole = values::value(text, start)?;
            let joined = !whole.quoted && whole.start == at + 1;
            let end = if joined { values::whole_token(text, whole.start, whole.end) } else { whole.end };
            Some(Span { start: whole.start, end, kind })
        }
    }
}

/// Returns the secret in an assignment of a shell or an environment file, whose names are in capitals.
#[inline(never)]
fn shell_word(text: &[u8], start: usize, name: &[u8]) -> Option<Span> {
    let found = values::shell_word(text, start)?;
    let judged = names::judge_named(name);
    let shouted = !name.iter().any(u8::is_ascii_lowercase);
    (shouted && matches!(judged, Name::Key | Name::Password)).then_some(Span {
        start: found.start,
        end: found.end,
        kind: kind(name, judged),
    })
}

/// Returns the secret after a mark without an ordinary value: a drawn one in an assignment of a shell, or the lines of
/// a block of YAML.
#[inline]
fn hopeless(text: &[u8], at: usize, start: usize, name: &[u8]) -> Option<Span> {
    let next = text.get(start).copied().unwrap_or(b'\n');
    if next.is_ascii_whitespace() {
        // Behind `: ` only a block may follow.
        let sign = text.get(start + 1).copied();
        let block = text.get(at) == Some(&b':') && matches!(sign, Some(b'|' | b'>'));
        return if block { in_block(text, start + 1, name) } else { None };
    }
    if next == b'(' && ends_with(name, b"auth") {
        let end =
            at - part(text, at.saturating_sub(4), at).iter().rev().take_while(|byte| **byte == b' ').count();
        return proximity::arguments(text, start + 1, end);
    }
    let sign = matches!(
        next,
        b'(' | b'[' | b'{' | b'*' | b'!' | b'<' | b'>' | b'&' | b'|' | b')' | b']' | b'}' | b';'
    );
    if !sign || text.get(at) != Some(&b'=') || start != at + 1 {
        return None;
    }
    let found = values::mixed_token(text, start)?;
    let judged = names::judge_named(name);
    matches!(judged, Name::Key | Name::Password).then_some(Span {
        start: found.start,
        end: found.end,
        kind: kind(name, judged),
    })
}

/// Longest block of YAML that is masked line by line.
const BLOCK: usize = 16 * 1024;

/// Returns the lines of the block whose sign is at `at`: those that are indented further than the line of the name.
#[inline(never)]
fn in_block(text: &[u8], at: usize, name: &[u8]) -> Option<Span> {
    let rest = part(text, at + 1, at + 1 + BLOCK);
    let head =
        rest.iter().take_while(|byte| matches!(byte, b'-' | b'+' | b'0'..=b'9' | b' ' | b'\r')).count();
    let judged = names::judge_named(name);
    if rest.get(head) != Some(&b'\n') || matches!(judged, Name::Plain | Name::Header | Name::Cookie) {
        return None;
    }
    let before = part(text, at.saturating_sub(256), at);
    let line = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |place| place + 1);
    let indent = |line: &[u8]| line.iter().take_while(|byte| matches!(byte, b' ' | b'-')).count();
    let own = indent(part(before, line, before.len()));
    let (mut first, mut end) = (None, head + 1);
    for line in part(rest, head + 1, rest.len()).split(|byte| *byte == b'\n') {
        let blanks = line.iter().take_while(|byte| **byte == b' ').count();
        if !line.trim_ascii().is_empty() {
            if blanks <= own {
                break;
            }
            first.get_or_insert(end + blanks);
            end += line.trim_ascii_end().len();
        } else if first.is_none() {
            end += line.len();
        } else {
            break;
        }
        end += 1;
    }
    let (first, end) = (first?, end - 1);
    let value = rest.get(first..end)?;
    if values::refers(
        part(value, 0, value.iter().position(|byte| *byte == b'\n').unwrap_or(value.len())),
        true,
    ) || !name_judgement::fits(judged, value)
    {
        return None;
    }
    Some(Span { start: at + 1 + first, end: at + 1 + end, kind: kind(name, judged) })
}

/// Words that make `key` or `token` behind them the name of a credential.
const QUALIFIERS: [&[u8]; 8] =
    [b"api", b"access", b"secret", b"auth", b"private", b"bearer", b"refresh", b"deploy"];

/// Returns `true` if the word before `name`, which ends at or before `end`, makes it a credential: "the API key: …".
pub(super) fn is_qualified(text: &[u8], end: usize, name: &[u8]) -> bool {
    if !matches!(name, b"key" | b"Key" | b"KEY" | b"token" | b"Token") {
        return false;
    }
    let before = part(text, end.saturating_sub(name.len() + 24), end);
    let Some(place) = before.windows(name.len()).rposition(|part| part == name) else { return false };
    let before = part(before, 0, place);
    let Some(before) = before.strip_suffix(b" ") else { return false };
    QUALIFIERS.iter().any(|word| {
        let begins = before.len().checked_sub(word.len() + 1).and_then(|at| before.get(at));
        ends_with(before, word) && begins.is_none_or(|byte| !byte.is_ascii_alphanumeric())
    })
}

/// Returns `true` if the `pass` before the mark at `at` is the argument of an option for passwords.
fn is_argument(text: &[u8], at: usize) -> bool {
    let before = part(text, at.saturating_sub(16), at.saturating_sub(4)).trim_ascii_end();
    [&b"-pass"[..], b"-passin", b"-passout"].iter().any(|option| before.ends_with(option))
}

/// Returns the start of the value: after `=`, `:`, `==`, `:=`, `=>`, or the `:-` of a shell default.
fn after_mark(text: &[u8], at: usize) -> usize {
    let mut start = at + 1;
    if text.get(at) == Some(&b':') && matches!(text.get(start), Some(b'-' | b'+' | b'?')) {
        return start + 1;
    }
    while start < at + 4 && matches!(text.get(start), Some(b'=' | b'>' | b'~')) {
        start += 1;
    }
    start
}

/// Longest type between a name and its value.
const TYPE: usize = 32;

/// Returns the start of the value after a type: `password: String = "…"`.
#[inline]
fn typed(text: &[u8], at: usize) -> Option<usize> {
    let rest = match part(text, at, at + TYPE) {
        [b':', b' ', rest @ ..] => rest,
        _ => return None,
    };
    if !rest.first().is_some_and(|byte| byte.is_ascii_uppercase() || matches!(byte, b'&' | b's')) {
        return None;
    }
    let of_type = |byte: &u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'&' | b'\'' | b'<' | b'>' | b'_' | b'?' | b'.')
    };
    let length = rest.iter().take_while(|byte| of_type(byte)).count();
    let quoted = matches!(part(rest, length, length + 4), [b' ', b'=', b' ', b'"' | b'\'' | b'`']);
    quoted.then_some(at + 2 + length + 2)
}

pub(super) fn kind(name: &[u8], judged: Name) -> &'static str {
    let ends = |ending: &[u8]| ends_with(name, ending);
    match judged {
        Name::Key | Name::Bare | Name::Weak if ends(b"token") => "token",
        Name::Key | Name::Weak if ends(b"key") => "key",
        Name::Password | Name::Bare if !ends(b"secret") => "password",
        Name::Header => "authorization",
        Name::Cookie => "cookie",
        _ => "secret",
    }
}

/// Returns `true` if `name` ends in `ending`, in any letter case.
pub(super) fn ends_with(name: &[u8], ending: &[u8]) -> bool {
    let start = name.len().checked_sub(ending.len());
    start.and_then(|start| name.get(start..)).is_some_and(|tail| tail.eq_ignore_ascii_case(ending))
}

fn holds_secret(text: &[u8], at: usize, name: &[u8], judged: Name, found: Value) -> bool {
    let value = part(text, found.start, found.end);
    // Only without a blank is it a word of a shell, which knows no paths of names.
    let joined = text.get(at) == Some(&b'=') && found.start == at + 1;
    if values::refers(value, found.quoted) && !(joined && values::is_host_like(value)) {
        return false;
    }
    // `if password == expected`, `password != expected`
    let compared = part(text, at, at + 2) == b"==" || part(text, at.saturating_sub(1), at) == b"!";
    if compared && !found.quoted && values::is_path_of_names(value.strip_suffix(b":").unwrap_or(value)) {
        return false;
    }
    // `self.password = password`: a variable of the same name.
    if !found.quoted && value.len() >= 3 && ends_with(name, value) {
        return false;
    }
    // Option<String>, Vec<u8>: a type, not a value.
    let typed = !joined && text.get(found.end) == Some(&b'<');
    if !found.quoted && typed && value.iter().all(u8::is_ascii_alphanumeric) {
        return false;
    }
    // A shell has no blank behind its `=`; programs and people have.
    let apart =
        !found.quoted && (text.get(at) == Some(&b':') || matches!(text.get(at + 1), Some(b' ' | b'\t')));
    if apart && value.iter().all(u8::is_ascii_alphabetic) && goes_on(text, found.end) {
        // "password: the one that you chose", `password = await ask()`
        return false;
    }
    let word = || value.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    match judged {
        // `entry.key == "…"` asks for a key of a table.
        Name::Weak if part(text, at, at + 2) == b"==" => false,
        // `semi_token: Semi,` is a field; no key is drawn from letters alone.
        Name::Key if apart && value.len() < 24 && word() => false,
        Name::Password if value.len() < 4 && value.iter().all(u8::is_ascii_digit) => false,
        _ => name_judgement::fits(judged, value),
    }
}

/// Returns `true` if a sentence goes on after the word that ends at `end`, with another word or with a marker.
fn goes_on(text: &[u8], end: usize) -> bool {
    matches!(part(text, end, end + 2), [b' ', next] if next.is_ascii_alphabetic() || *next == b'[')
}

/// Schemes of the `Authorization` header, in lower case.
const SCHEMES: [&[u8]; 10] =
    [b"bearer", b"basic", b"token", b"digest", b"apikey", b"negotiate", b"oauth", b"aws", b"key", b"bot"];

/// Returns the start of the credentials in an `Authorization` header: after the scheme, if there is one.
pub(super) fn behind_scheme(line: &[u8]) -> usize {
    let word = part(line, 0, 16).iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let scheme = part(line, 0, word);
    let gap = part(line, word, line.len());
    let blanks = match gap {
        [b'%', b'2', b'0', ..] => 3,
        _ => gap.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'+')).count(),
    };
    let known = SCHEMES.iter().any(|name| scheme.eq_ignore_ascii_case(name));
    if blanks > 0 && known { word + blanks } else { 0 }
}

/// Returns the credentials in `Bearer abc`, `Basic dXNlcjpw` or `token abc`, without the scheme.
fn header(text: &[u8], start: usize) -> Option<Span> {
    let found = values::value_near(text, start)?;
    let line = text.get(found.start..)?;
    let from = behind_scheme(line);
    let least = if from > 0 { 4 } else { 8 };
    if part(line, 0, from.min(6)).eq_ignore_ascii_case(b"digest") {
        return digest(text, found.start + from);
    }
    let rest = line.get(from..)?;
    let length = rest
        .iter()
        .take_while(|byte| {
            !matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'\\' | b',' | b';' | b'<')
        })
        .count();
    let secret = rest.get(..length)?;
    if length < least || values::refers(secret, false) {
        return None;
    }
    let start = found.start + from;
    Some(Span { start, end: start + length, kind: "authorization" })
}

/// Returns the response in `Digest username="me", …, response="…"`, the only part that derives from the password.
fn digest(text: &[u8], start: usize) -> Option<Span> {
    const NAME: &[u8] = b"response=";
    let line = part(text, start, start + COOKIE);
    let line = part(line, 0, line.iter().take_while(|byte| **byte != b'\n').count());
    let place = line.windows(NAME.len()).position(|part| part.eq_ignore_ascii_case(NAME))?;
    let found = values::value(text, start + place + NAME.len())?;
    let secret = !values::refers(part(text, found.start, found.end), found.quoted);
    secret.then_some(Span { start: found.start, end: found.end, kind: "authorization" })
}

/// The distance within which the first pair of a cookie is searched.
const COOKIE: usize = 1024;

/// Pairs up to the end of the line or of the quotes; a cookie without a pair is prose.
fn cookie(text: &[u8], start: usize) -> Option<Span> {
    let found = values::value_near(text, start)?;
    let value = part(text, found.start, if found.quoted { found.end } else { found.start + COOKIE });
    let line = value.iter().take_while(|byte| !ends_line(**byte)).count();
    let value = part(value, 0, line);
    let pair = value.iter().position(|byte| *byte == b'=')?;
    let held = value.get(pair + 1..)?;
    if part(value, 0, pair).iter().any(|byte| byte.is_ascii_whitespace()) {
        return None;
    }
    if held.len() < 4 || values::refers(held, false) || values::marker_length(value).is_some() {
        return None;
    }
    let end = if found.quoted {
        values::value(text, start)?.end
    } else {
        let rest = text.get(found.start..)?;
        found.start + rest.iter().take_while(|byte| !ends_line(**byte)).count()
    };
    Some(Span { start: found.start, end, kind: "cookie" })
}

/// Returns `true` if a byte ends a header: the end of its line, or a quote around it.
fn ends_line(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r' | b'"' | b'\'' | b'`')
}
