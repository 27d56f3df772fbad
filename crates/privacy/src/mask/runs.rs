//! Stretches of at least twenty word characters (`A-Z a-z 0-9 _ -`): what every provider's key contains.
//!
//! A stretch of fifteen covers eight aligned bytes wherever it lies, and most eight bytes of a text hold a blank.

use super::ids::is_uuid_like;
use super::random;
use super::shapes;
use super::{Span, part};
use crate::lanes::{BLOCK, Lanes};
use crate::swar;

/// Shortest stretch that is looked at.
const LEAST: usize = 20;

/// For each byte whether it belongs to a word.
static WORD: [bool; 256] = word_bytes();

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, where a bad index is an error of the build"
)]
const fn word_bytes() -> [bool; 256] {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let character = byte as u8;
        table[byte] = character.is_ascii_alphanumeric() || character == b'_' || character == b'-';
        byte += 1;
    }
    table
}

#[inline(always)]
pub(super) fn is_word(byte: u8) -> bool {
    WORD.get(byte as usize).is_some_and(|word| *word)
}

/// Calls `on` with start and end of each long stretch, in order, until it answers true.
#[inline(always)]
fn any(text: &[u8], mut on: impl FnMut(usize, usize) -> bool) -> bool {
    if text.len() < LEAST {
        return false;
    }
    // Everything before `from` has been seen.
    let mut from = 0;
    let mut look = |at: usize| match stretch(text, from, at) {
        None => false,
        Some((start, end)) => {
            from = end;
            end - start >= LEAST && on(start, end)
        }
    };
    let (blocks, rest) = text.as_chunks();
    let mut at = 0;
    for block in blocks {
        let bytes = Lanes::of(block);
        // As in [`swar::separators`], with the backslash.
        let separators = bytes.flip(0x02).at_most(0x2d).or(bytes.is(b'\\')).bits();
        if separators & 0xff == 0 && look(at) || separators >> 8 == 0 && look(at + 8) {
            return true;
        }
        at += BLOCK;
    }
    let clean = |word: &[u8; 8]| {
        let word = u64::from_le_bytes(*word);
        swar::separators(word) | swar::backslashes(word) == 0
    };
    rest.first_chunk().is_some_and(clean) && look(at)
}

/// The stretch of word characters around the eight bytes at `at`, if it can be a long one that begins not before `from`.
#[inline(never)]
fn stretch(text: &[u8], from: usize, at: usize) -> Option<(usize, usize)> {
    // In programs and data most stretches without blanks hold a mark.
    let here = text.get(at..).and_then(|rest| rest.first_chunk::<8>())?;
    if swar::colon_to_equals(u64::from_le_bytes(*here)) != 0 {
        return None;
    }
    // Twenty bytes around eight go on for six to the left or for six to the right.
    let six = |from: usize| match text.get(from..).and_then(|rest| rest.first_chunk::<8>()) {
        Some(word) => {
            (swar::separators(u64::from_le_bytes(*word)) | swar::backslashes(u64::from_le_bytes(*word))) << 16
                == 0
        }
        // Near the end there are no eight bytes to look at; the closer look is as good.
        None => true,
    };
    if at < from || !(at < 6 || six(at + 8) || six(at - 6)) {
        return None;
    }
    let back = part(text, from, at).iter().rev().take_while(|byte| is_word(**byte)).count();
    let ahead = text.get(at..).unwrap_or_default();
    let end = at + ahead.iter().take_while(|byte| is_word(**byte)).count();
    Some((at - back, end))
}

/// Whether some stretch begins like a key.
pub(super) fn suspicious(text: &[u8]) -> bool {
    any(text, |start, end| {
        !is_uuid_like(part(text, start, end))
            && (context(text, start).is_some()
                || starts(text, start, end).any(|at| shapes::suspect(part(text, at, end)))
                || random::assigned(text, start, end).is_some())
    })
}

/// Collects the keys.
pub(super) fn find(text: &[u8], spans: &mut Vec<Span>) {
    let mut done = 0;
    any(text, |start, end| {
        if end <= done || is_uuid_like(part(text, start, end)) {
            return false;
        }
        if start >= done
            && let Some(span) = in_context(text, start, end)
        {
            done = span.end;
            spans.push(span);
        }
        for at in starts(text, start, end) {
            if at >= done
                && let Some((length, kind)) = shapes::matches(text.get(at..).unwrap_or_default(), end - at)
            {
                done = at + length;
                spans.push(Span { start: at, end: done, kind });
            }
        }
        if end > done
            && let Some(span) = random::assigned(text, start, end)
        {
            done = span.end;
            spans.push(span);
        }
        false
    });
}

/// Places in a stretch where a key may begin: where no letter or digit stands before.
fn starts(text: &[u8], start: usize, end: usize) -> impl Iterator<Item = usize> + '_ {
    // Inside a stretch that is behind a `_` or `-`; at its beginning also behind the letters of an escape.
    let inside =
        part(text, start, end).iter().zip(start + 1..).filter(|(byte, _)| matches!(byte, b'_' | b'-'));
    let first = (start..end.min(start + 3)).filter(|at| opens(text, *at));
    first.chain(inside.map(|(_, at)| at).filter(move |at| *at >= start + 3))
}

/// Whether a word may begin at `at`: nothing word-like before it, or only the letter of an escape that stands in
/// the text as such (`\n`, `%3D`).
fn opens(text: &[u8], at: usize) -> bool {
    match part(text, at.saturating_sub(3), at) {
        [] => true,
        [.., last] if !last.is_ascii_alphanumeric() => true,
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [b'%', high, low] => high.is_ascii_hexdigit() && low.is_ascii_hexdigit(),
        _ => false,
    }
}

/// Keys that are known by what stands before them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Context {
    /// `SG.`, `ya29.`, `hvs.`: the prefix ends in a dot. Holds its length and kind.
    Dotted(usize, &'static str),
    /// The second part of a JSON web token whose first is short.
    Jwt(usize),
    /// `Bearer `.
    Bearer,
    /// `123456789:AA…`.
    Telegram(usize),
    /// The last part of an address that is itself the secret.
    Webhook,
    /// `1//0…`, a refresh token of Google.
    Refresh,
}

/// Prefixes that end in a dot, so that the stretch begins after them.
const DOTTED: &[(&[u8], &str)] = &[
    (b"SG.", "sendgrid-key"),
    (b"ya29.", "google-token"),
    (b"hvs.", "vault-token"),
    (b"hvb.", "vault-token"),
    (b"dp.pt.", "doppler-token"),
    (b"dp.st.", "doppler-token"),
    (b"dp.ct.", "doppler-token"),
    (b"dp.sa.", "doppler-token"),
    (b"hvr.", "vault-token"),
    (b"xoxe.", "slack-token"),
    (b"sl.", "dropbox-token"),
    (b"dt0c01.", "dynatrace-token"),
    (b"glpat.", "gitlab-token"),
];

/// Addresses whose last part is the secret.
const WEBHOOKS: &[&[u8]] = &[
    b"hooks.slack.com/services/",
    b"hooks.slack.com/workflows/",
    b"discord.com/api/webhooks/",
    b"discordapp.com/api/webhooks/",
    b"outlook.office.com/webhook/",
    b".webhook.office.com/",
];

/// Whether the path that ends in `before` belongs to such an address: each of its last parts may end it.
fn is_webhook(before: &[u8]) -> bool {
    let mut head = before;
    for _ in 0..6 {
        let Some(slash) = head.iter().rposition(|byte| *byte == b'/') else { return false };
        if matches!(part(head, slash.saturating_sub(1), slash), b"s" | b"k" | b"m") {
            let address = part(head, 0, slash + 1);
            if WEBHOOKS.iter().any(|known| address.ends_with(known)) {
                return true;
            }
        }
        head = part(head, 0, slash);
    }
    false
}

/// Length of `pat`, fourteen characters and the dot.
const AIRTABLE: usize = 18;

/// Whether `before` ends in the first part of a token of Airtable.
fn is_airtable(before: &[u8]) -> bool {
    let head = part(before, before.len().saturating_sub(AIRTABLE), before.len());
    head.len() == AIRTABLE
        && head.starts_with(b"pat")
        && part(head, 3, AIRTABLE - 1).iter().all(u8::is_ascii_alphanumeric)
        && part(head, 3, AIRTABLE - 1).iter().any(u8::is_ascii_digit)
}

fn context(text: &[u8], start: usize) -> Option<Context> {
    let before = part(text, start.saturating_sub(160), start);
    match before.last()? {
        b'.' => {
            for (prefix, kind) in DOTTED {
                if before.ends_with(prefix) && opens(text, start - prefix.len()) {
                    return Some(Context::Dotted(prefix.len(), kind));
                }
            }
            if is_airtable(before) && opens(text, start - AIRTABLE) {
                return Some(Context::Dotted(AIRTABLE, "airtable-token"));
            }
            let first = before.len() - 1;
            let length = part(before, 0, first).iter().rev().take_while(|byte| is_word(**byte)).count();
            let begins = part(before, first - length, first).starts_with(b"eyJ");
            (begins && length >= 10).then_some(Context::Jwt(length + 1))
        }
        b' ' => {
            let word = part(before, before.len().saturating_sub(7), before.len());
            word.eq_ignore_ascii_case(b"bearer ").then_some(Context::Bearer)
        }
        b':' => {
            let digits = before.iter().rev().skip(1).take_while(|byte| byte.is_ascii_digit()).count();
            (8..=12).contains(&digits).then_some(Context::Telegram(digits + 1))
        }
        b'/' if before.ends_with(b"1//") && opens(text, start - 3) => Some(Context::Refresh),
        b'/' => is_webhook(before).then_some(Context::Webhook),
        _ => None,
    }
}

fn in_context(text: &[u8], start: usize, end: usize) -> Option<Span> {
    let run = part(text, start, end);
    match context(text, start)? {
        Context::Dotted(length, kind) => {
            let end = end + shapes::dotted(text.get(end..).unwrap_or_default());
            Some(Span { start: start - length, end, kind })
        }
        Context::Jwt(length) => {
            let end = end + shapes::dotted(text.get(end..).unwrap_or_default());
            Some(Span { start: start - length, end, kind: "jwt" })
        }
        Context::Bearer if run.iter().any(u8::is_ascii_digit) => {
            let end = end + shapes::dotted(text.get(end..).unwrap_or_default());
            Some(Span { start, end, kind: "authorization" })
        }
        Context::Telegram(length) if run.starts_with(b"AA") && (33..=37).contains(&run.len()) => {
            Some(Span { start: start - length, end, kind: "telegram-token" })
        }
        Context::Refresh if run.starts_with(b"0") => {
            Some(Span { start: start - 3, end, kind: "google-token" })
        }
        Context::Webhook => Some(Span { start, end, kind: "webhook" }),
        Context::Bearer | Context::Telegram(_) | Context::Refresh => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_long_stretch_is_found_wherever_it_lies() {
        for before in 0..70 {
            for length in 15..50 {
                let text = format!("{} {} tail of words", "a b".repeat(before), "x".repeat(length));
                let mut found = Vec::new();
                any(text.as_bytes(), |start, end| {
                    found.push((start, end));
                    false
                });
                let start = 3 * before + 1;
                let expected: &[(usize, usize)] =
                    if length >= LEAST { &[(start, start + length)] } else { &[] };
                assert_eq!(found, expected, "{text}");
            }
        }
    }
}
