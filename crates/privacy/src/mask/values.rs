//! Values: their ends, references to secrets that are none themselves, and signs of randomness.

use super::names::{self, Name};
use super::stems::Stems;
use super::{MARKER, part, words};

/// The bytes of a value that are read to judge it.
const JUDGED: usize = 128;

/// A value in a text, without its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) quoted: bool,
}

/// Returns `true` if the value at or after `at` cannot be a secret under this name: it is empty, a sign of a program,
/// or a number of few digits.
pub(super) fn is_hopeless(text: &[u8], at: usize, name: &[u8], stems: Stems) -> bool {
    // A cookie goes on to the end of its line and an authorization to a blank, so they begin with anything. A `value` may
    // be either. One letter distinguishes them from most other names.
    let (cookie, header) =
        (matches!(name.last(), Some(b'e' | b'E')), matches!(name.last(), Some(b'n' | b'N')));
    let mut start = at;
    while matches!(text.get(start), Some(b' ' | b'\t')) {
        start += 1;
    }
    match text.get(start) {
        None | Some(b'<' | b'>' | b'&' | b'|' | b')' | b']' | b'}' | b';' | b'\n' | b'\r') => true,
        // Where a quote follows at once, as in data, there is no pair of a cookie either.
        Some(b'(' | b'[' | b'{' | b'*' | b'!') => {
            !cookie || matches!(part(text, start + 1, start + 3), [b'"' | b'\'', ..] | b"\\\"")
        }
        Some(b'0'..=b'9') if !cookie => {
            // A password may be a number of some digits, but a key or token has more.
            let most = if stems.strong() { 3 } else { 9 };
            let digits =
                part(text, start, start + most + 1).iter().take_while(|byte| byte.is_ascii_digit()).count();
            match text.get(start + digits) {
                _ if digits > most => false,
                Some(b',') => {
                    matches!(text.get(start + digits + 1), Some(b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\''))
                }
                None | Some(b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b';') => true,
                Some(b')' | b']' | b'}') => !header,
                _ => false,
            }
        }
        Some(b'"' | b'\'') if !stems.strong() => is_prose(text, start + 1),
        _ => false,
    }
}

/// Returns `true` if two words in small letters begin at `at`, which is prose and no key or token.
#[inline]
fn is_prose(text: &[u8], at: usize) -> bool {
    let word = part(text, at, at + MOST_WORD).iter().take_while(|byte| byte.is_ascii_lowercase()).count();
    word > 1 && matches!(part(text, at + word, at + word + 2), [b' ', next] if next.is_ascii_lowercase())
}

/// Longest word that counts as prose.
const MOST_WORD: usize = 16;

/// Finds the value that starts at or after `at`, or as much of it as is needed to judge it.
///
/// A text can hold thousands of marks before one value without end; each of them may cost only so much.
pub(super) fn value_near(text: &[u8], at: usize) -> Option<Value> {
    let blanks = text.get(at..)?.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    value(part(text, 0, at + blanks + 2 * JUDGED), at)
}

/// Finds the value that starts at or after `at`, on the same line.
pub(super) fn value(text: &[u8], at: usize) -> Option<Value> {
    let mut start = at;
    while matches!(text.get(start), Some(b' ' | b'\t')) {
        start += 1;
    }
    // b"…", f'…': a letter may stand before the quote.
    if matches!(text.get(start), Some(b'b' | b'B' | b'r' | b'R' | b'f' | b'F' | b'u' | b'@' | b'$'))
        && matches!(text.get(start + 1), Some(b'"' | b'\'' | b'`'))
    {
        start += 1;
    }
    let slashes = text.get(start..)?.iter().take_while(|byte| **byte == b'\\').count();
    match text.get(start + slashes) {
        Some(quote @ (b'"' | b'\'' | b'`')) => quoted(text, start + slashes + 1, *quote, slashes),
        _ if slashes > 0 => None,
        // Only without a blank before it can it be a word of a shell or of a query, which end at `&`.
        _ => bare(text, start, start == at),
    }
}

/// Returns a value between quotes. Inside a quoted program the quotes themselves are escaped, `slashes` deep.
fn quoted(text: &[u8], start: usize, quote: u8, slashes: usize) -> Option<Value> {
    let mut end = start;
    let mut closed = false;
    while let Some(byte) = text.get(end) {
        match byte {
            b'\n' => break,
            byte if *byte == quote => {
                closed = true;
                end -= part(text, end.saturating_sub(slashes).max(start), end)
                    .iter()
                    .rev()
                    .take_while(|byte| **byte == b'\\')
                    .count();
                break;
            }
            b'\\' if slashes == 0 => end += 2,
            _ => end += 1,
        }
    }
    // `input("Password: ")`: the quote ends a text that asks for a password.
    if !closed && matches!(text.get(start), Some(b')' | b']' | b'}' | b',' | b';' | b' ')) {
        return None;
    }
    Some(Value { start, end: end.min(text.len()), quoted: true })
}

fn bare(text: &[u8], start: usize, joined: bool) -> Option<Value> {
    let mut end = start;
    while let Some(byte) = text.get(end) {
        match byte {
            b'<' | b'&' | b'|' | b'>' if end == start => return None,
            b'&' if !joined => end += 1,
            b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'|' | b';' | b'&' => break,
            b')' | b']' | b'}' | b'\\' => break,
            // A comma may be part of a password, but not before a blank, a quote or another pair.
            b',' if ends_at_comma(text, end + 1) => break,
            _ => end += 1,
        }
    }
    (end > start).then_some(Value { start, end, quoted: false })
}

/// Returns the value at `at` of a word without quotes, up to the next blank, if it is long and mixed. It may contain
/// signs that end other values.
#[inline(never)]
pub(super) fn mixed_token(text: &[u8], at: usize) -> Option<Value> {
    let rest = part(text, at, at + 2 * JUDGED);
    let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`');
    let length = ended(text, at, rest, ends)?;
    let token = part(rest, 0, length);
    let quoted = rest.get(length).is_some_and(|byte| !byte.is_ascii_whitespace());
    (!quoted && is_mixed(token) && !holds_pair(token) && !is_expression(token) && !stands_for(token))
        .then_some(Value { start: at, end: at + length, quoted: false })
}

/// Returns the end of `rest`, which stands at `at` in `text`; `None` if it is longer than the limit. A cut there could
/// split a character, and the remainder would be searched as a value of its own.
fn ended(text: &[u8], at: usize, rest: &[u8], ends: impl Fn(&u8) -> bool) -> Option<usize> {
    rest.iter().position(ends).or_else(|| (at + rest.len() == text.len()).then_some(rest.len()))
}

/// Returns `true` if another pair follows in `token` after a sign that ends values: `…;Name=…`, `…&name=…`.
fn holds_pair(token: &[u8]) -> bool {
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    token.iter().enumerate().any(|(at, byte)| {
        let after = part(token, at + 1, token.len());
        let name = after.iter().take_while(is_name).count();
        matches!(byte, b';' | b'&') && name > 0 && after.get(name) == Some(&b'=')
    })
}

/// Returns the word at `at` of a shell or an environment file, up to the next blank, if it was drawn although it has
/// signs that end other values: twelve characters of three kinds, and no command, pair or reference after a sign.
#[inline(never)]
pub(super) fn shell_word(text: &[u8], at: usize) -> Option<Value> {
    let rest = part(text, at, at + JUDGED);
    let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'\\');
    let length = ended(text, at, rest, ends)?;
    let word = part(rest, 0, length);
    let breaks = |byte: &u8| {
        matches!(
            byte,
            b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>' | b'|' | b';' | b'&' | b'!' | b'*' | b'@'
        )
    };
    let sign = word.iter().position(breaks)?;
    let quoted = rest.get(length).is_some_and(|byte| !byte.is_ascii_whitespace());
    let any = |kind: fn(&u8) -> bool| u8::from(word.iter().any(kind));
    let kinds = 1 + any(u8::is_ascii_lowercase) + any(u8::is_ascii_uppercase) + any(u8::is_ascii_digit);
    let refers = || {
        (word.first() == Some(&b'$') && is_variable(word))
            || (word.first() == Some(&b'<') && word.ends_with(b">"))
            || word.windows(2).any(|pair| pair == b"${" || pair == b"{{" || pair == b"$(" || pair == b"<(")
            || marker_length(word).is_some()
            || is_expression(word)
            || (sign > 0 && is_next(part(word, sign, word.len())))
    };
    (!quoted && word.len() >= 12 && kinds >= 3 && !refers()).then_some(Value {
        start: at,
        end: at + length,
        quoted: false,
    })
}

/// Returns the end of a word without quotes that goes on after `end` with a sign and more drawn characters.
pub(super) fn whole_token(text: &[u8], start: usize, end: usize) -> usize {
    if !matches!(text.get(end), Some(b')' | b']' | b'}' | b';' | b'&' | b'|' | b'<' | b'>')) {
        return end;
    }
    let rest = part(text, end, end + JUDGED);
    let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'\\');
    // A token beyond the limit is data. If it were cut there, the remainder would be searched as another value.
    let length = match rest.iter().position(ends) {
        Some(length) => length,
        None if end + rest.len() == text.len() => rest.len(),
        None => return end,
    };
    let tail = part(rest, 0, length);
    let quoted = rest.get(length).is_some_and(|byte| !byte.is_ascii_whitespace());
    let drawn = !quoted && !is_next(tail) && is_mixed(part(text, start, end + length));
    if drawn { end + length } else { end }
}

/// Returns `true` if `tail` begins with another command, pair or address: a sign, then a plain word, or nothing.
fn is_next(tail: &[u8]) -> bool {
    if matches!(tail.first(), Some(b';' | b'&')) && tail.contains(&b'=') {
        return true;
    }
    let signs = tail.iter().take_while(|byte| !byte.is_ascii_alphanumeric()).count();
    let rest = part(tail, signs, tail.len());
    let plain = |byte: &u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-' | b'.' | b'/')
    };
    let word = rest.iter().take_while(|byte| plain(byte)).count();
    let named = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    rest.is_empty() || word == rest.len() || (named > 0 && matches!(rest.get(named), Some(b'=' | b':')))
}

fn ends_at_comma(text: &[u8], after: usize) -> bool {
    for byte in part(text, after, after + 64) {
        match byte {
            b'=' | b':' => return true,
            b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b')' | b'}' | b']' => break,
            _ => {}
        }
    }
    matches!(
        text.get(after),
        None | Some(b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'`' | b')' | b'}' | b']')
    )
}

/// Returns `true` if `value` only stands for a secret, or for the absence of one.
///
/// A long and mixed value is never a reference, even with the signs of one: it was drawn.
pub(super) fn refers(value: &[u8], quoted: bool) -> bool {
    let judged = part(value, 0, JUDGED);
    // A call or an index shows by one sign, so this cheap check comes first.
    if !quoted
        && (judged.iter().any(|byte| matches!(byte, b'(' | b'['))
            || matches!(judged.first(), Some(b'&' | b'!' | b'@')))
        && (is_expression(judged) || !is_mixed(judged))
    {
        return true;
    }
    if stands_for(value) {
        return true;
    }
    let value = judged;
    if words::listed_in_any_case(words::PLACEHOLDERS, value) {
        return true;
    }
    if starts_ignoring_case(value, b"your-")
        || starts_ignoring_case(value, b"your_")
        || value.starts_with(b"YOUR")
    {
        return true;
    }
    !quoted && is_code(value)
}

/// Returns `true` if `value` has at least twelve characters of several kinds, digits among them, that change as they do
/// where a password is drawn.
pub(super) fn is_mixed(value: &[u8]) -> bool {
    let value = part(value, 0, JUDGED);
    if value.len() < 12 || !value.iter().any(u8::is_ascii_alphabetic) {
        return false;
    }
    let any = |kind: fn(&u8) -> bool| value.iter().any(kind);
    let both_cases = any(u8::is_ascii_uppercase) && any(u8::is_ascii_lowercase);
    match (distinct_signs(value), any(u8::is_ascii_digit)) {
        // No program has so many kinds of signs in one word.
        (4.., digits) => digits || both_cases,
        (3, false) => both_cases && changes(value) >= 2,
        (_, false) => false,
        (signs, true) => (signs > 0 || both_cases) && changes(value) >= 2 && !is_wordy(value),
    }
}

/// Counts the different signs in `value`. Those of programs count once together.
fn distinct_signs(value: &[u8]) -> u32 {
    let mut seen = 0u128;
    for byte in value {
        match byte {
            b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'"' | b'\'' | b'.' | b',' | b':' | b'_' | b'-'
            | b'/' => seen |= 1,
            byte if byte.is_ascii_graphic() && !byte.is_ascii_alphanumeric() => seen |= 1 << (byte & 0x7f),
            _ => {}
        }
    }
    seen.count_ones()
}

/// Counts the letters and digits that follow one of another kind.
fn changes(value: &[u8]) -> usize {
    let kind = |byte: &u8| match byte {
        b'a'..=b'z' => 1u8,
        b'A'..=b'Z' => 2,
        b'0'..=b'9' => 3,
        _ => 0,
    };
    let changed = |one, other| kind(one) != kind(other) && kind(one) != 0 && kind(other) != 0;
    value.windows(2).filter(|pair| matches!(pair, [one, other] if changed(one, other))).count()
}

/// Returns `true` if `text` consists of words, as names and paths do: a letter hardly ever follows a digit, and the
/// kinds of characters change seldom.
fn is_wordy(text: &[u8]) -> bool {
    let behind_digit =
        |pair: &&[u8]| matches!(pair, [one, other] if one.is_ascii_digit() && other.is_ascii_alphabetic());
    text.windows(2).filter(behind_digit).count() <= 1 && changes(text) * 3 < text.len()
}

/// Returns `true` if letters and digits, and signs if there are any, stand in an order that no name of a program has.
pub(super) fn is_scrambled(value: &[u8], signs: bool) -> bool {
    let changes = changes(value);
    let groups = value
        .windows(2)
        .filter(|pair| matches!(pair, [one, other] if one.is_ascii_digit() && !other.is_ascii_digit()))
        .count()
        + usize::from(value.last().is_some_and(u8::is_ascii_digit));
    if groups == 0 {
        // Without a digit the letters must change their case at every third place, or signs stand between.
        return changes * 3 >= value.len() || (signs && changes * 4 >= value.len());
    }
    changes * 5 >= 2 * value.len()
        || (groups >= 2 && changes * 10 >= 3 * value.len())
        || (signs && changes * 6 >= value.len())
}

/// Returns `true` if an unquoted value is a call, an index or a borrow of a program: `os.environ[`, `&self.token`.
pub(super) fn is_expression(value: &[u8]) -> bool {
    let signs = value.iter().take_while(|byte| matches!(byte, b'&' | b'!' | b'@' | b'*')).count();
    let rest = part(value, signs, value.len());
    let head = rest.iter().position(|byte| matches!(byte, b'(' | b'[')).unwrap_or(rest.len());
    let path = part(rest, 0, head);
    let names = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'-' | b'>');
    path.len() >= 3
        && path.first().is_some_and(|byte| !byte.is_ascii_digit())
        && path.iter().all(names)
        && is_wordy(path)
}

/// Returns `true` if `value` is a placeholder, or has been replaced already.
pub(super) fn stands_for(value: &[u8]) -> bool {
    let Some(first) = value.first() else { return true };
    // A single hyphen stands for standard input.
    if value == b"-" {
        return true;
    }
    if marker_length(value).is_some_and(|length| length == value.len()) {
        return true;
    }
    match first {
        b'$' | b'%' if is_variable(value) => return true,
        b'<' if value.len() < 12 || value.contains(&b'>') => return true,
        b'{' | b'*' if !is_mixed(value) || value.starts_with(b"{{") => return true,
        _ => {}
    }
    let value = part(value, 0, JUDGED);
    // `xxxx`, `........`, `ghp_xxxxxxxx`, `abc***`, `sk-ant-...`: written to be replaced, or already replaced.
    let filler = |byte: &u8| matches!(byte, b'x' | b'X' | b'.' | b'-' | b'_' | b'*' | b'?' | b'#' | b'0');
    if value.iter().all(filler) && value.len() > 1 {
        return true;
    }
    // Only to the end: `xxxxhunter2` may be a real password.
    let elided = |part: &[u8]| matches!(part, b"xxxx" | b"XXXX");
    let end = value.iter().rev().take_while(|byte| filler(byte)).count();
    let end = part(value, value.len() - end, value.len());
    if end.windows(4).any(elided) || value.ends_with(b"...") || value.ends_with("…".as_bytes()) {
        return true;
    }
    if value.iter().any(|byte| matches!(byte, b'*' | b'{'))
        && (value.windows(3).any(|part| part == b"***")
            || value.windows(2).any(|part| part == b"${" || (part == b"{{" && value.contains(&b'}'))))
    {
        return true;
    }
    let schemes =
        [&b"op://"[..], b"vault:", b"env:", b"env.", b"secret://", b"ssm://", b"file:", b"arn:aws:"];
    value.iter().any(|byte| matches!(byte, b':' | b'.'))
        && schemes.iter().any(|scheme| value.starts_with(scheme))
}

/// Returns `true` if a value that begins with `$` or `%` is a variable: `$NAME`, `$NAME/x`, `${…}`, `$(…)`, `%s`,
/// `%NAME%`.
fn is_variable(value: &[u8]) -> bool {
    let (sign, rest) = match value {
        [_] | [] => return false,
        [sign, rest @ ..] => (*sign, rest),
    };
    let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let name = part(rest, 0, length);
    let behind = rest.get(length);
    let word =
        name.first().is_some_and(|first| !first.is_ascii_digit()) && (name.len() < 8 || is_wordy(name));
    match sign {
        b'%' if rest.len() <= 2 => true,
        b'%' if length == 0 => matches!(behind, Some(b'(' | b'{')),
        b'%' => behind == Some(&b'%') && rest.len() == length + 1 && word,
        _ if length == 0 => matches!(behind, Some(b'{' | b'(')) || !is_mixed(value),
        _ if rest.len() == 1 => true,
        _ => {
            let goes_on = matches!(
                behind,
                Some(
                    b'-' | b'!' | b'#' | b'^' | b'+' | b'~' | b'?' | b'*' | b'=' | b'$' | b'%' | b'&' | b'@'
                )
            );
            word && !goes_on
        }
    }
}

/// Returns `true` if `value` is a name, or names with dots between.
pub(super) fn is_path_of_names(value: &[u8]) -> bool {
    value.split(|byte| *byte == b'.').all(is_identifier)
}

/// Returns `true` if `value` is names with dots between that no program would write: it begins and ends like nothing
/// known.
pub(super) fn is_host_like(value: &[u8]) -> bool {
    let mut segments = value.split(|byte| *byte == b'.');
    let (Some(root), Some(last)) = (segments.next(), segments.next_back()) else { return false };
    is_path_of_names(value)
        && !words::listed(words::ROOTS, root)
        && matches!(names::judge(last), Name::Plain | Name::Weak)
        && value.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'.')
}

fn starts_ignoring_case(value: &[u8], start: &[u8]) -> bool {
    value.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

/// Returns `true` if an unquoted value is a piece of a program: a path of names, the name of a variable.
fn is_code(value: &[u8]) -> bool {
    // `token::Kind::Ident`, `input.parse::`
    if value.windows(2).any(|pair| pair == b"::") {
        return value
            .split(|byte| matches!(byte, b'.' | b':'))
            .all(|part| part.is_empty() || is_identifier(part));
    }
    let mut segments = value.split(|byte| *byte == b'.');
    let names = value.split(|byte| *byte == b'.').all(is_identifier);
    if !names {
        return false;
    }
    let root = segments.next().unwrap_or_default();
    let digits = value.iter().any(u8::is_ascii_digit);
    let named = |value: &[u8]| !matches!(names::judge(value), Name::Plain | Name::Weak);
    if root.len() < value.len() {
        // `config.db.password`, `node.colon2_token`
        return !digits || words::listed(words::ROOTS, root) || segments.next_back().is_some_and(named);
    }
    // `password=db_password`, `token: GITHUB_TOKEN`
    let joined = value.contains(&b'_') || value.iter().skip(1).any(u8::is_ascii_uppercase);
    joined && !digits && named(value)
}

fn is_identifier(part: &[u8]) -> bool {
    matches!(part.first(), Some(b'A'..=b'Z' | b'a'..=b'z' | b'_'))
        && part.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// Returns the length of the marker that `text` starts with.
pub(super) fn marker_length(text: &[u8]) -> Option<usize> {
    let rest = text.strip_prefix(MARKER)?;
    let kind = rest
        .iter()
        .take_while(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'0'..=b'9'))
        .count();
    (kind > 0 && rest.get(kind) == Some(&b']')).then_some(MARKER.len() + kind + 1)
}

/// Returns `true` if `value` looks drawn at random: long, of several kinds of characters that alternate.
///
/// Words joined by hyphens change their kind rarely, a drawn key at every second or third character.
pub(super) fn random(value: &[u8]) -> bool {
    !is_uuid(value) && random_above(value, 5)
}

/// Returns `true` if of `each` characters at least one is of another kind than the one before it.
pub(super) fn random_above(value: &[u8], each: usize) -> bool {
    let value = part(value, 0, JUDGED);
    if value.len() < 16 {
        return false;
    }
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = value.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    digits > 0 && letters > 0 && changes(value) * each >= value.len()
}

fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Returns `true` if a value that begins with `/` begins with a folder. Keys in Base64 begin with `/` too.
fn is_folder(value: &[u8]) -> bool {
    let rest = part(value, 1, value.len());
    let length = rest.iter().position(|byte| *byte == b'/').unwrap_or(rest.len());
    let folder = part(rest, 0, length);
    let named = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b' ');
    let in_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'+');
    let drawn = |part: &[u8]| part.len() >= 12 && !is_wordy(part);
    !is_mixed(value)
        || (folder.len() > 1
            && folder.iter().all(named)
            && is_wordy(folder)
            && !(value.iter().all(in_base64) && value.split(|byte| *byte == b'/').any(drawn)))
}

/// Returns `true` if `value` names a file.
pub(super) fn is_path(value: &[u8]) -> bool {
    let begins = value.starts_with(b"./")
        || value.starts_with(b"../")
        || value.starts_with(b"~/")
        || (value.starts_with(b"/") && value.len() < 256 && !value.ends_with(b"=") && is_folder(value));
    let ends =
        [&b".pem"[..], b".key", b".json", b".txt", b".env", b".p12", b".pub", b".crt", b".yaml", b".yml"];
    begins || ends.iter().any(|ending| value.ends_with(ending))
}
