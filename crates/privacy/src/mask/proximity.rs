//! Secrets that stand near their name without a mark between: arguments of a call (`Setenv("DB_PASSWORD", "…")`), words of a
//! sentence ("the password is …"), the word after an option, and the input piped into a command that reads a password.
//!
//! A name alone is weak evidence here, so the value must look drawn.

use super::names::{self, Name};
use super::{Span, pairs, part, stems, values};

/// The distance after a name within which its value is searched.
const REACH: usize = 112;

/// The most plain words between a name and its value.
const MOST_WORDS: usize = 7;

/// The most arguments of a call that are checked.
const MOST_ARGUMENTS: usize = 3;

/// Returns the secret near the name that ends at `end`.
#[inline(never)]
pub(super) fn secret(text: &[u8], end: usize) -> Option<Span> {
    let next = text.get(end).copied();
    match next {
        Some(b'(') => arguments(text, end + 1, end),
        Some(b'"' | b'\'' | b'`') => {
            if text.get(end + 1) == Some(&b',') {
                arguments(text, end + 2, end)
            } else {
                None
            }
        }
        Some(b' ' | b'\t') if part(text, end.saturating_sub(2), end).eq_ignore_ascii_case(b"by") => {
            identified_by(text, end)
        }
        Some(b' ' | b'\t') => words(text, end),
        _ => reads_stdin(text, end, b"").then(|| fed(text, end))?,
    }
}

/// Returns the password of `IDENTIFIED BY '…'`, whose words end at `end`.
fn identified_by(text: &[u8], end: usize) -> Option<Span> {
    let phrase = part(text, end.saturating_sub(13), end);
    if !phrase.eq_ignore_ascii_case(b"identified by") {
        return None;
    }
    let found = values::value(text, end)?;
    let quoted = matches!(part(text, found.start.saturating_sub(1), found.start), b"'" | b"\"");
    let secret = quoted && !values::refers(part(text, found.start, found.end), true);
    secret.then_some(Span { start: found.start, end: found.end, kind: "password" })
}

/// Returns the name that ends at `end`.
fn name_before(text: &[u8], end: usize) -> &[u8] {
    let before = part(text, end.saturating_sub(names::MOST), end);
    let length = before.iter().rev().take_while(|byte| stems::is_name(**byte)).count();
    part(before, before.len() - length, before.len())
}

/// Returns the first quoted argument from `at` on that looks drawn; `end` is where the name ends.
pub(super) fn arguments(text: &[u8], at: usize, end: usize) -> Option<Span> {
    let mut at = at;
    for _ in 0..MOST_ARGUMENTS {
        at += part(text, at, at + 8).iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        at += usize::from(matches!(part(text, at, at + 2), [b'b' | b'f' | b'r' | b'u' | b'@', b'"' | b'\'']));
        let quote = *text.get(at).filter(|byte| matches!(byte, b'"' | b'\'' | b'`'))?;
        let rest = part(text, at + 1, at + 1 + REACH);
        let length = rest.iter().position(|byte| *byte == quote || *byte == b'\n')?;
        let value = part(rest, 0, length);
        // The name alone is weak evidence without a mark, so an ordinary word as an argument stays.
        if looks_drawn(value, 6) || (values::is_mixed(value) && !values::refers(value, true)) {
            let name = name_before(text, end);
            let judged = judge(name);
            return (judged != Name::Plain).then_some(Span {
                start: at + 1,
                end: at + 1 + length,
                kind: pairs::kind(name, judged),
            });
        }
        at += length + 2;
        at += part(text, at, at + 8).iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if text.get(at) != Some(&b',') {
            return None;
        }
        at += 1;
    }
    None
}

/// Judges the name before a call or a word; names of actions on a password count too.
fn judge(name: &[u8]) -> Name {
    let judged = names::judge(name);
    let known = [&b"auth"[..], b"passwd", b"passphrase", b"salt", b"creds", b"credentials"];
    if judged == Name::Plain && known.iter().any(|ending| pairs::ends_with(name, ending)) {
        return Name::Weak;
    }
    judged
}

/// Returns the rest of the line after the name that ends at `end`, if a secret may be there.
///
/// That is the case if it has a digit, which few passwords lack, if a quotation follows, if the command reads standard
/// input, or if the name is an option; never where a program goes on.
#[inline(always)]
fn line_of(text: &[u8], end: usize) -> Option<&[u8]> {
    let line = part(text, end, end + REACH);
    let mut digit = false;
    let mut length = 0;
    for byte in line {
        match byte {
            b'\n' | b'\r' => break,
            b'{' | b'}' | b';' if !digit => return None,
            b'0'..=b'9' => digit = true,
            _ => {}
        }
        length += 1;
    }
    let line = part(line, 0, length);
    let may_hold_secret = digit
        || matches!(line.trim_ascii_start().first(), Some(b'\'' | b'"'))
        || line.windows(3).any(|sign| sign == b"<<<")
        || reads_stdin(text, end, line)
        || name_before(text, end).starts_with(b"-");
    may_hold_secret.then_some(line)
}

/// The relation of a word to its name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Relation {
    /// It is the value of an option with one hyphen.
    Option,
    /// A sentence calls it the secret: "the password is …".
    Sentence,
    /// It follows, maybe behind other words.
    Nearby,
}

/// Returns the secret among the words behind the name that ends at `end`.
fn words(text: &[u8], end: usize) -> Option<Span> {
    let line = line_of(text, end)?;
    if reads_stdin(text, end, line)
        && let Some(span) = fed(text, end)
    {
        return Some(span);
    }
    let option = match name_before(text, end) {
        // Options with two hyphens are judged where they stand.
        [b'-', b'-', ..] => return None,
        name => name.starts_with(b"-"),
    };
    let mut from = 0;
    let mut before: &[u8] = b"";
    for number in 0..MOST_WORDS {
        from += part(line, from, line.len()).iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let rest = part(line, from, line.len());
        let length = rest.iter().position(|byte| matches!(byte, b' ' | b'\t')).unwrap_or(rest.len());
        let word = part(rest, 0, length);
        if word.is_empty() {
            return None;
        }
        if !is_between(word) || (option && number == 0) {
            let how = match before {
                _ if option && number == 0 => Relation::Option,
                b"is" | b"is:" | b"was" | b"be" | b"to" | b"<<<" => Relation::Sentence,
                _ => Relation::Nearby,
            };
            return candidate(text, end + from, word, end, how);
        }
        before = word;
        from += length;
    }
    None
}

/// Returns `true` if a word may stand between a name and its value: a plain one, a sign, a short option.
fn is_between(word: &[u8]) -> bool {
    let plain = word.strip_suffix(b":").unwrap_or(word);
    plain.iter().all(u8::is_ascii_lowercase)
        || matches!(word, b"<<<" | b"->" | b"=>" | b"/" | b"-" | b"=" | b":" | b":=" | b"I" | b"BY")
        || matches!(word, [b'-', letter] if letter.is_ascii_alphabetic())
}

/// Judges the word at `start`, without quotes and the signs of a sentence around it.
fn candidate(text: &[u8], start: usize, word: &[u8], end: usize, how: Relation) -> Option<Span> {
    let opening = word.iter().take_while(|byte| matches!(byte, b'"' | b'\'' | b'`' | b'(' | b'*')).count();
    let closing = |byte: &&u8| matches!(byte, b'"' | b'\'' | b'`' | b')' | b',' | b'.' | b';' | b':' | b'*');
    let length = word.len() - word.iter().rev().take_while(closing).count();
    let mut from = opening;
    let mut value = word.get(opening..length)?;
    // `admin/…`, `admin:…`
    if let Some(split) = value.iter().position(|byte| matches!(byte, b'/' | b':'))
        && split > 0
        && part(value, 0, split).iter().all(u8::is_ascii_lowercase)
        && !value.starts_with(b"http")
    {
        from += split + 1;
        value = part(value, split + 1, value.len());
    }
    let name = name_before(text, end);
    let span = |judged| Span { start: start + from, end: start + length, kind: pairs::kind(name, judged) };
    if how == Relation::Option {
        let judged = names::judge(name.strip_prefix(b"-").unwrap_or(name));
        let secret = matches!(judged, Name::Password | Name::Key | Name::Bare)
            && !value.starts_with(b"-")
            && !values::is_path(value)
            && !values::refers(value, opening > 0)
            && value.len() >= 4
            && !value.iter().all(u8::is_ascii_lowercase);
        return secret.then(|| span(judged));
    }
    if !is_one_word(value) {
        return None;
    }
    if !looks_drawn(value, 8) {
        let said = how == Relation::Sentence && can_be_stated_password(value);
        return (said && names::judge(name) == Name::Password).then(|| span(Name::Password));
    }
    match judge(name) {
        Name::Plain | Name::Header | Name::Cookie => None,
        // The id of a signing key is public.
        _ if pairs::ends_with(name, b"signingkey") => None,
        // Keys of tables and tokens of texts have short values.
        Name::Weak | Name::Bare
            if value.len() < 16
                && !names_password_in_prose(name)
                && !pairs::is_qualified(text, end, name) =>
        {
            None
        }
        judged => Some(span(judged)),
    }
}

/// Returns `true` if a value that a sentence calls a password can be one: letters and digits, and no name of an
/// encoding.
fn can_be_stated_password(value: &[u8]) -> bool {
    let encodings = [&b"sha"[..], b"md5", b"base", b"utf", b"SHA", b"MD5", b"aes", b"AES", b"v"];
    value.len() >= 6
        && value.iter().any(u8::is_ascii_digit)
        && value.iter().any(u8::is_ascii_alphabetic)
        && !encodings.iter().any(|start| value.starts_with(start))
        && !values::is_path(value)
        && !values::refers(value, true)
}

/// Returns `true` if a name of one word means a password in prose.
fn names_password_in_prose(name: &[u8]) -> bool {
    [&b"pass"[..], b"pwd", b"pw", b"passwd", b"creds", b"credentials", b"passphrase"]
        .iter()
        .any(|ending| pairs::ends_with(name, ending))
}

/// Returns `true` if `value` has none of the signs of paths, addresses, versions and programs.
fn is_one_word(value: &[u8]) -> bool {
    let hex = value.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    !hex && !value.iter().any(|byte| {
        matches!(byte, b'/' | b'\\' | b'.' | b':' | b'=' | b'(' | b'[' | b'{' | b'<' | b',' | b';')
    })
}

/// Returns `true` if `value` looks like a password that was drawn: letters with digits or signs, in an order that no
/// name has.
fn looks_drawn(value: &[u8], least: usize) -> bool {
    let sign = |byte: &u8| {
        matches!(byte, b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'~' | b'+' | b'?')
    };
    (least..=REACH).contains(&value.len())
        && value.iter().any(u8::is_ascii_alphabetic)
        && !value.contains(&b' ')
        && values::is_scrambled(value, value.iter().any(sign))
        && !values::is_path(value)
        && !values::refers(value, true)
        && !values::is_expression(value)
}

/// Returns `true` if the command around the name that ends at `end` reads its secret from standard input. `line` is the
/// rest of its line.
fn reads_stdin(text: &[u8], end: usize, line: &[u8]) -> bool {
    let name = name_before(text, end);
    let begins = |word: &[u8]| line.trim_ascii_start().starts_with(word);
    match name.last() {
        Some(b'n') => name.ends_with(b"-stdin") || name.ends_with(b"with-token"),
        Some(b'd') => name.ends_with(b"passwd") || name.ends_with(b"-fd"),
        Some(b't' | b's') => {
            let secret = name.ends_with(b"secret") || name.ends_with(b"secrets");
            (secret && (begins(b"set ") || begins(b"put ") || begins(b"create ")))
                || (name == b"-pass" && begins(b"stdin"))
        }
        _ => false,
    }
}

/// Returns the secret that is fed to the command at `at`: from the `echo` before its pipe, or from the text behind
/// `<<<`.
pub(super) fn fed(text: &[u8], at: usize) -> Option<Span> {
    piped(text, at).or_else(|| here_string(text, at))
}

/// Returns the secret in `echo … | command`.
fn piped(text: &[u8], at: usize) -> Option<Span> {
    let from = at.saturating_sub(2 * REACH);
    let before = part(text, from, at);
    let pipe = before.iter().rposition(|byte| matches!(byte, b'|' | b'\n' | b';' | b'&'))?;
    if before.get(pipe) != Some(&b'|') {
        return None;
    }
    let left = part(before, 0, pipe).trim_ascii_end();
    let begin =
        left.iter().rposition(|byte| matches!(byte, b'|' | b'\n' | b';' | b'(')).map_or(0, |place| place + 1);
    let command = part(left, begin, left.len());
    let printed =
        command.windows(5).any(|word| word == b"echo ") || command.windows(7).any(|word| word == b"printf ");
    if !printed {
        return None;
    }
    let (start, end) = match left.last()? {
        quote @ (b'"' | b'\'') => {
            let inside = part(left, 0, left.len() - 1);
            (inside.iter().rposition(|byte| byte == quote)? + 1, inside.len())
        }
        _ => (left.iter().rposition(|byte| matches!(byte, b' ' | b'\t'))? + 1, left.len()),
    };
    fed_value(text, from + start, from + end)
}

/// Returns the secret in `command <<< …`.
fn here_string(text: &[u8], at: usize) -> Option<Span> {
    let line = part(text, at, at + REACH);
    let line = part(line, 0, line.iter().position(|byte| *byte == b'\n').unwrap_or(line.len()));
    let sign = line.windows(3).position(|sign| sign == b"<<<")?;
    let found = values::value(text, at + sign + 3)?;
    fed_value(text, found.start, found.end)
}

/// Returns the value from `start` to `end`; of `name:value` only the last part.
fn fed_value(text: &[u8], start: usize, end: usize) -> Option<Span> {
    let value = part(text, start, end);
    let name = value.iter().position(|byte| *byte == b':').map_or(0, |colon| colon + 1);
    let secret = part(value, name, value.len());
    let holds = secret.len() >= 4 && !values::refers(secret, true) && !values::stands_for(value);
    holds.then_some(Span { start: start + name, end, kind: "password" })
}
