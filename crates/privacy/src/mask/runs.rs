//! Stretches of at least sixteen word characters (`A-Z a-z 0-9 _ -`), of which every provider's key has one.
//!
//! Sixteen bytes are tested at once. No stretch within them is long enough, so only the first byte and the last one
//! that do not belong to a word matter.

use super::ids::is_uuid_like;
use super::{Span, framed, part, random, shapes, vendors};
use crate::lanes::{BLOCK, Lanes};

/// Shortest stretch that is checked.
const LEAST: usize = 16;

/// True for each byte that belongs to a word.
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

/// Returns a set bit for each byte of a block that belongs to a word.
#[inline(always)]
fn word_bits(block: &[u8; BLOCK]) -> u32 {
    let bytes = Lanes::of(block);
    let letters = bytes.with(0x20).among(b'a', 26);
    letters.or(bytes.among(b'0', 10)).or(bytes.is(b'_')).or(bytes.is(b'-')).bits()
}

/// Calls `on` with start and end of each long stretch, in order, until it returns `true`.
#[inline(always)]
fn any(text: &[u8], mut on: impl FnMut(usize, usize) -> bool) -> bool {
    if text.len() < LEAST {
        return false;
    }
    let (blocks, rest) = text.as_chunks();
    // The start of the current stretch.
    let mut start = 0;
    let mut at = 0;
    for block in blocks {
        // One bit for each byte that ends a stretch.
        // Sixteen bytes at once: this search sees every byte of every text and decides what a long payload costs.
        let ends = word_bits(block) ^ 0xffff;
        if ends != 0 {
            let end = at + ends.trailing_zeros() as usize;
            if end - start >= LEAST && on(start, end) {
                return true;
            }
            start = at + 32 - ends.leading_zeros() as usize;
        }
        at += BLOCK;
    }
    // The rest is shorter than a block, so only the current stretch can become long in it.
    let end = at + rest.iter().take_while(|byte| is_word(**byte)).count();
    end.saturating_sub(start) >= LEAST && on(start, end)
}

/// Returns `true` if some stretch begins like a key.
pub(super) fn suspicious(text: &[u8]) -> bool {
    let mut seen = 0;
    any(text, |start, end| {
        let from = token_start(text, start, end, seen);
        seen = end;
        !is_uuid_like(part(text, start, end))
            && (context(text, start, end).is_some()
                || any_start(text, from, start, end, |at| text.get(at..).is_some_and(shapes::suspect))
                || random::assigned(text, start, end).is_some())
    })
}

/// Collects the keys.
pub(super) fn find(text: &[u8], spans: &mut Vec<Span>) {
    // The ends of the last stretch and of the last key.
    let (mut seen, mut done) = (0, 0);
    any(text, |start, end| {
        // A stretch inside of a masked key is part of it.
        if end > done {
            if is_uuid_like(part(text, start, end)) {
                spans.extend(in_address(text, start, end).or_else(|| vendors::secret(text, start, end)));
            } else {
                done = find_in(text, start, end, seen.max(done), done, spans);
            }
        }
        seen = end;
        false
    });
}

/// Collects the keys in a stretch after `done` and returns the end of the last one. The part of the token before the
/// stretch is searched too, but nothing before `floor`.
#[inline(never)]
fn find_in(text: &[u8], start: usize, end: usize, floor: usize, done: usize, spans: &mut Vec<Span>) -> usize {
    let mut done = done;
    if start >= done
        && let Some(span) = in_context(text, start, end)
    {
        done = span.end;
        spans.push(span);
    }
    let from = token_start(text, start, end, floor);
    any_start(text, from, start, end, |at| {
        if at >= done
            && let Some((length, kind)) = text.get(at..).and_then(shapes::matches)
            // A key outside of the stretch belongs to another one.
            && at + length > start
        {
            done = at + length;
            spans.push(Span { start: at, end: done, kind });
        }
        false
    });
    if end > done
        && let Some(span) = unshaped(text, start, end)
    {
        done = done.max(span.end);
        spans.push(span);
    }
    done
}

/// Returns the key in a stretch that begins like no known one.
#[inline]
fn unshaped(text: &[u8], start: usize, end: usize) -> Option<Span> {
    let framed = framed::secret(text, start, end);
    if framed.is_some() {
        return framed;
    }
    let kinds = CharacterKinds::of(part(text, start, end));
    if !kinds.digits || !(kinds.lower || kinds.upper) {
        return None;
    }
    let drawn = kinds.lower && kinds.upper;
    let assigned = if drawn { random::assigned(text, start, end) } else { None };
    assigned.or_else(|| vendors::secret(text, start, end)).or_else(|| {
        let unnamed = || random::prefixed(text, start, end).or_else(|| random::introduced(text, start, end));
        if drawn { unnamed() } else { None }
    })
}

/// The kinds of characters in a stretch.
#[derive(Clone, Copy, PartialEq, Eq)]
struct CharacterKinds {
    lower: bool,
    upper: bool,
    digits: bool,
}

impl CharacterKinds {
    #[inline(always)]
    fn of(run: &[u8]) -> Self {
        let (mut small, mut capital, mut digits) = (0, 0, 0);
        for byte in run {
            small |= u8::from(*byte >= b'a');
            capital |= u8::from(byte.is_ascii_uppercase());
            digits |= u8::from(byte.is_ascii_digit());
        }
        Self { lower: small != 0, upper: capital != 0, digits: digits != 0 }
    }
}

/// Returns the start of the token that the stretch at `start` belongs to, not before `floor`: bodies in Base64 are
/// broken into stretches by `+`, `/` and `%`, and some prefixes end in a dot or a colon.
#[inline]
fn token_start(text: &[u8], start: usize, end: usize, floor: usize) -> usize {
    let reach = match start.checked_sub(1).and_then(|at| text.get(at)) {
        Some(b'+' | b'%' | b'~' | b'=') => TOKEN,
        // Folders are seldom written in capitals, and bodies in Base64 never without.
        Some(b'/') if part(text, start, end).iter().any(u8::is_ascii_uppercase) => TOKEN,
        Some(b'.' | b':') => DOTTED,
        _ => return start,
    };
    let joins = |byte: u8| matches!(byte, b'.' | b'+' | b'/' | b'%' | b'~' | b'=' | b':');
    let before = part(text, floor.max(start.saturating_sub(reach)), start);
    start - before.iter().rev().take_while(|byte| is_word(**byte) || joins(**byte)).count()
}

/// The distance back within which a prefix that ends in a dot is searched.
const DOTTED: usize = 32;

/// The distance back within which the beginning of a token is searched.
const TOKEN: usize = 512;

/// Calls `on` with the places in a token where a key may begin, until it returns `true`: where no letter or digit
/// stands before. The token begins at `from`, its first long stretch at `start`.
#[inline(always)]
fn any_start(text: &[u8], from: usize, start: usize, end: usize, mut on: impl FnMut(usize) -> bool) -> bool {
    if from < start && (from..start).any(|at| opens(text, at) && on(at)) {
        return true;
    }
    // At the beginning of a stretch also behind the letters of an escape; inside that is behind a `_` or `-`.
    if (start..end.min(start + 3)).any(|at| opens(text, at) && on(at)) {
        return true;
    }
    let inside = part(text, start + 2, end).iter().zip(start + 3..);
    for (byte, at) in inside {
        if matches!(byte, b'_' | b'-') && on(at) {
            return true;
        }
    }
    false
}

/// Returns `true` if a word may begin at `at`: nothing word-like before it, or only the letter of an escape that stands
/// in the text as such (`\n`, `%3D`).
fn opens(text: &[u8], at: usize) -> bool {
    match part(text, at.saturating_sub(3), at) {
        [] => true,
        [.., last] if !last.is_ascii_alphanumeric() => true,
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [b'%', high, low] => high.is_ascii_hexdigit() && low.is_ascii_hexdigit(),
        _ => false,
    }
}

/// Keys that are known by the text before them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Context {
    /// A token of Airtable, whose first part has this length with its dot.
    Airtable(usize),
    /// `Bearer `.
    Bearer,
    /// `123456789:AA…`.
    Telegram(usize),
    /// The last part of an address that is itself the secret.
    Webhook,
    /// `1//0…`, a refresh token of Google.
    Refresh,
}

/// Addresses whose last part is the secret.
const WEBHOOKS: &[&[u8]] = &[
    b"hooks.slack.com/services/",
    b"hooks.slack.com/workflows/",
    b"hooks.slack.com/triggers/",
    b"discord.com/api/webhooks/",
    b"discordapp.com/api/webhooks/",
    b"outlook.office.com/webhook/",
    b".webhook.office.com/",
    b"hooks.zapier.com/hooks/",
    b"chat.googleapis.com/v1/spaces/",
];

/// Returns `true` if the path that ends in `before` belongs to such an address: each of its last parts may end it.
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

/// Returns the last part of such an address, if it has the shape of a UUID.
fn in_address(text: &[u8], start: usize, end: usize) -> Option<Span> {
    let before = part(text, start.saturating_sub(160), start);
    // Ids of sessions stand in paths too, but not behind one another.
    let parts = before.ends_with(b"/") && before.contains(&b':') && is_webhook(before);
    parts.then_some(Span { start, end, kind: "webhook" })
}

/// The length of `pat`, fourteen characters and the dot.
const AIRTABLE: usize = 18;

/// Returns `true` if `before` ends in the first part of a token of Airtable.
fn is_airtable(before: &[u8]) -> bool {
    let head = part(before, before.len().saturating_sub(AIRTABLE), before.len());
    head.len() == AIRTABLE
        && head.starts_with(b"pat")
        && part(head, 3, AIRTABLE - 1).iter().all(u8::is_ascii_alphanumeric)
        && (part(head, 3, AIRTABLE - 1).iter().any(u8::is_ascii_digit)
            || part(head, 4, AIRTABLE - 1).iter().any(u8::is_ascii_uppercase))
}

fn context(text: &[u8], start: usize, end: usize) -> Option<Context> {
    let before = part(text, start.saturating_sub(160), start);
    match before.last()? {
        b'.' => (is_airtable(before) && opens(text, start - AIRTABLE)).then_some(Context::Airtable(AIRTABLE)),
        b' ' => {
            let word = part(before, before.len().saturating_sub(7), before.len());
            word.eq_ignore_ascii_case(b"bearer ").then_some(Context::Bearer)
        }
        b':' => {
            let digits = before.iter().rev().skip(1).take_while(|byte| byte.is_ascii_digit()).count();
            (8..=12).contains(&digits).then_some(Context::Telegram(digits + 1))
        }
        b'/' if before.ends_with(b"1//") && opens(text, start - 3) => Some(Context::Refresh),
        // Folders are seldom named with digits or capitals, and such addresses never without.
        b'/' if part(text, start, end)
            .iter()
            .any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase()) =>
        {
            is_webhook(before).then_some(Context::Webhook)
        }
        _ => None,
    }
}

fn in_context(text: &[u8], start: usize, end: usize) -> Option<Span> {
    let run = part(text, start, end);
    match context(text, start, end)? {
        Context::Airtable(length) => Some(Span { start: start - length, end, kind: "airtable-token" }),
        Context::Bearer if run.iter().any(u8::is_ascii_digit) => {
            let end = start + shapes::extent(text.get(start..).unwrap_or_default());
            Some(Span { start, end, kind: "authorization" })
        }
        Context::Telegram(length) if run.starts_with(b"AA") && (33..=37).contains(&run.len()) => {
            Some(Span { start: start - length, end, kind: "telegram-token" })
        }
        Context::Refresh if run.starts_with(b"0") => {
            Some(Span { start: start - 3, end, kind: "google-token" })
        }
        Context::Webhook if !run.iter().all(u8::is_ascii_digit) => Some(Span { start, end, kind: "webhook" }),
        Context::Webhook | Context::Bearer | Context::Telegram(_) | Context::Refresh => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_long_stretch_is_found_at_every_place() {
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
