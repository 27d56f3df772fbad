//! Keys without a prefix that are known by their structure: the signs between their parts, or their ending.

use super::shapes::{Body, extent};
use super::{Span, part};

/// Returns the key that the stretch of word characters from `start` to `end` is a part of.
#[inline]
pub(super) fn secret(text: &[u8], start: usize, end: usize) -> Option<Span> {
    let before = start.checked_sub(1).and_then(|at| text.get(at));
    match (before, text.get(end)) {
        (Some(b'~' | b'.' | b'!' | b'|' | b':' | b'C' | b'$'), _) | (_, Some(b'.' | b'~')) => {
            parts(text, start, end)
        }
        _ => ending(text, start, end),
    }
}

/// Returns a key with a known ending: `<32 hexadecimal digits>-us12`, `<6>_<29>_mmk`.
fn ending(text: &[u8], start: usize, end: usize) -> Option<Span> {
    let run = part(text, start, end);
    let region = run.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let head = part(run, 0, run.len() - region);
    if (1..=2).contains(&region)
        && head.len() == 35
        && head.ends_with(b"-us")
        && Body::Hex.count(head, 32) == 32
    {
        return Some(Span { start, end, kind: "mailchimp-key" });
    }
    if run.len() == 84 && part(run, 76, 80) == b"AZDO" {
        return Some(Span { start, end, kind: "azure-devops-token" });
    }
    (run.len() == 40 && run.ends_with(b"_mmk") && run.get(6) == Some(&b'_')).then_some(Span {
        start,
        end,
        kind: "maxmind-key",
    })
}

#[inline(never)]
fn parts(text: &[u8], start: usize, end: usize) -> Option<Span> {
    let run = part(text, start, end);
    let before = part(text, start.saturating_sub(64), start);
    let span = |back: usize, kind| {
        let start = start - back;
        Some(Span { start, end: start + extent(text.get(start..)?), kind })
    };
    // `abc8Q~…`, whose rest may hold dots and tildes too.
    let joined = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'~');
    let back = before.iter().rev().take_while(|byte| joined(byte)).count();
    let token = part(before, before.len() - back, before.len());
    if let Some(mark) = token.windows(2).position(|pair| pair == b"Q~")
        && mark >= 4
        && token.get(mark - 1).is_some_and(u8::is_ascii_digit)
    {
        let back = back - (mark - 4);
        let length = text.get(start - back..)?.iter().take(64).take_while(|byte| joined(byte)).count();
        return (36..=42).contains(&length).then_some(Span {
            start: start - back,
            end: start - back + length,
            kind: "azure-secret",
        });
    }
    if let Some(span) = password_hash(text, before, start) {
        return Some(span);
    }
    // `<14>.atlasv1.<60 and more>`
    if let Some(head) = before.strip_suffix(b".atlasv1.") {
        let name = head.iter().rev().take(14).take_while(|byte| byte.is_ascii_alphanumeric()).count();
        return span(9 + name, "terraform-token");
    }
    // `00<13>!<80 and more>`, which may hold dots too
    let before_token = part(before, 0, before.len() - back);
    if before_token.last() == Some(&b'!') {
        let head = part(before_token, before_token.len().saturating_sub(16), before_token.len() - 1);
        if head.len() == 15 && head.starts_with(b"00") && head.iter().all(u8::is_ascii_alphanumeric) {
            return span(back + 16, "salesforce-token");
        }
    }
    // `<15 digits>|<27 and more>`, also with its bar spelled `%7C`
    if run.len() >= 27
        && let Some(head) = before.strip_suffix(b"|").or_else(|| before.strip_suffix(b"%7C"))
    {
        let digits = head.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        if (15..=16).contains(&digits) {
            let start = start - (before.len() - head.len() + digits);
            return Some(Span { start, end, kind: "facebook-token" });
        }
    }
    // `<22>==:<32>`
    if run.len() == 32
        && let Some(head) = before.strip_suffix(b"==:")
    {
        let length = head
            .iter()
            .rev()
            .take(23)
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
            .count();
        if length == 22 {
            return Some(Span { start: start - 25, end, kind: "tableau-token" });
        }
    }
    // A token of a bot of Discord: an id in Base64, six characters, and at least 27.
    if (23..=28).contains(&run.len())
        && matches!(run.first(), Some(b'M' | b'N' | b'O'))
        && text.get(end) == Some(&b'.')
        && text.get(end + 7) == Some(&b'.')
        && Body::Word.count(text.get(end + 1..)?, 7) == 6
    {
        let length = Body::Word.count(text.get(end + 8..)?, 64);
        return (length >= 27).then_some(Span { start, end: end + 8 + length, kind: "discord-token" });
    }
    // `<32 hexadecimal digits>.<16 letters and digits>`
    let tail = Body::Alnum.count(text.get(end + 1..).unwrap_or_default(), 17);
    let mixed = part(text, end + 1, end + 1 + tail);
    if text.get(end) == Some(&b'.')
        && run.len() == 32
        && tail == 16
        && Body::Hex.count(run, 32) == 32
        && mixed.iter().any(u8::is_ascii_lowercase)
        && mixed
            .windows(2)
            .filter(
                |pair| matches!(pair, [one, other] if one.is_ascii_lowercase() != other.is_ascii_lowercase()),
            )
            .count()
            >= 2
    {
        return Some(Span { start, end: end + 17, kind: "zai-key" });
    }
    ending(text, start, end)
}

/// Schemes of crypt(3) between their dollars.
const SCHEMES: [&[u8]; 9] = [b"1", b"2a", b"2b", b"2y", b"5", b"6", b"y", b"argon2id", b"argon2i"];

/// Returns a hash of crypt(3), `$6$<salt>$<hash>` or `$2b$12$<salt and hash>`, from which a password can be guessed. It
/// begins in `before` and goes on at `start`.
fn password_hash(text: &[u8], before: &[u8], start: usize) -> Option<Span> {
    let belongs =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'$' | b'.' | b'/' | b'=' | b',' | b'+');
    let back = before.iter().rev().take_while(|byte| belongs(byte)).count();
    let head = part(before, before.len() - back, before.len());
    let dollar = head.iter().position(|byte| *byte == b'$')?;
    let mut parts = part(head, dollar + 1, head.len()).split(|byte| *byte == b'$');
    let scheme = parts.next()?;
    // The scheme must be closed before the stretch begins.
    parts.next()?;
    let begin = start - back + dollar;
    let length = text.get(begin..)?.iter().take(256).take_while(|byte| belongs(byte)).count();
    (SCHEMES.contains(&scheme) && length >= 30).then_some(Span {
        start: begin,
        end: begin + length,
        kind: "password-hash",
    })
}
