//! Masking: secrets in a text become `[masked:<kind>]`, the rest stays as it is.
//!
//! There is no list of secrets to compare with, so this is pattern work with two kinds of trigger, chosen so
//! that ordinary text costs about three instructions per byte:
//!
//! - [`runs`]: stretches of at least twenty word characters, found eight bytes at a time. Every provider's key has
//!   one ([`shapes`]).
//! - [`marks`]: `=`, `:`, `<`, `--` and ` -`, around which passwords, headers, URLs, options and elements are spelled
//!   ([`pairs`], [`options`], [`blocks`], [`tags`]), and two hints in letters ([`phrases`]).
//!
//! The laws: masking is idempotent; a value that only refers to a secret (`$TOKEN`, `process.env.KEY`,
//! `<your-token>`) is not one; text is never made longer by more than its markers; time is linear.

mod argv;
mod beside;
mod blocks;
mod ids;
mod marks;
mod named;
mod names;
mod options;
mod pairs;
mod phrases;
mod random;
mod runs;
mod shapes;
mod stems;
mod tags;
mod values;
mod words;

use std::borrow::Cow;

pub(crate) use argv::Argv;
pub(crate) use beside::is_name;
pub(crate) use named::Telling;
pub(crate) use random::KIND as RANDOM;

/// A stretch of text that is a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// What it is, as it appears in the marker.
    pub(crate) kind: &'static str,
}

/// How every marker begins. A text that already holds markers keeps them.
pub(crate) const MARKER: &[u8] = b"[masked:";

/// Texts shorter than this hold no secret worth the name.
const SHORTEST: usize = 8;

/// How a prompt that nobody typed begins.
pub(crate) const NOTIFICATION: &[u8] = b"<task-notification";

/// Returns `text` with every secret replaced by `[masked:<kind>]`.
pub fn mask(text: &str) -> Cow<'_, str> {
    let mut spans = Vec::new();
    find(text.as_bytes(), &mut spans);
    if spans.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len() + 16);
    replace(text.as_bytes(), &mut spans, &mut out);
    // Spans begin and end beside ASCII bytes, so nothing is lossy here.
    Cow::Owned(String::from_utf8_lossy(&out).into_owned())
}

/// What a quick look at a text says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// There is no secret in it, and no task notification.
    Clean,
    /// There may be something in it; nothing begins before the mark at this place, and there is no key and no phrase.
    From(usize),
    /// There may be anything in it.
    Anything,
}

/// Whether `text` needs a closer look. Never says so little that [`find`] would find more.
///
/// Also right for the spelling of a JSON string, as long as it has no escapes but those of quote, backslash
/// and white space: so most strings are copied without being decoded.
pub(crate) fn look(text: &[u8]) -> Look {
    if text.len() < SHORTEST || ids::is_id(text) {
        return Look::Clean;
    }
    // Too short for a key: only a pair could be in it, and a pair has a mark.
    if let Some(no_marks) = marks::none_in_short(text)
        && no_marks
    {
        return Look::Clean;
    }
    if runs::suspicious(text) || marks::hints(text, |at| phrases::may_be(text, at)) {
        return Look::Anything;
    }
    let mut from = 0;
    let suspect = |at| {
        from = at;
        may_matter(text, at) && suspect(text, at)
    };
    if marks::any(text, 0, suspect) { Look::From(from) } else { Look::Clean }
}

/// Whether there may be a secret in `text`.
pub(crate) fn suspicious(text: &[u8]) -> bool {
    look(text) != Look::Clean
}

/// Collects the secrets of `text`, in order and apart from each other.
pub(crate) fn find(text: &[u8], spans: &mut Vec<Span>) {
    find_after(text, Look::Anything, spans);
}

/// Collects the secrets of `text` that are left after a look at it.
pub(crate) fn find_after(text: &[u8], look: Look, spans: &mut Vec<Span>) {
    spans.clear();
    let from = match look {
        Look::Clean => return,
        Look::From(place) => place,
        Look::Anything if text.len() < SHORTEST || ids::is_id(text) => return,
        Look::Anything => {
            runs::find(text, spans);
            marks::hints(text, |at| {
                spans.extend(phrases::secret(text, at));
                false
            });
            0
        }
    };
    let mut done = 0;
    let mut keys_done = 0;
    marks::any(text, from, |at| {
        // What is masked already is not looked at again; but a private key in it may reach further.
        let block = at >= keys_done && blocks::block_at(text, at);
        let found = match (block, at >= done) {
            (true, _) => blocks::block(text, at),
            (false, true) if may_matter(text, at) && suspect(text, at) => secret(text, at),
            (false, _) => None,
        };
        if let Some(span) = found {
            done = done.max(span.end);
            if block {
                keys_done = span.end;
            }
            spans.push(span);
        }
        false
    });
    if spans.len() > 1 {
        settle(spans);
    }
}

/// Writes `text` over `out`, with the secrets in it replaced; says how many there were. `spans` holds those that
/// [`find`] found.
///
/// What stands beside a secret may mean something else once the secret is a marker, so the result is searched again
/// until nothing more is found. That makes masking idempotent whatever the patterns are.
pub(crate) fn replace(text: &[u8], spans: &mut Vec<Span>, out: &mut Vec<u8>) -> u32 {
    let mut count = spans.len();
    out.clear();
    write(text, spans, out);
    for _ in 0..PASSES {
        if spans.is_empty() {
            break;
        }
        find(out, spans);
        if !spans.is_empty() {
            count += spans.len();
            let before = std::mem::take(out);
            write(&before, spans, out);
        }
    }
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// How often a text is searched again. Two is the most that was ever seen.
const PASSES: usize = 8;

/// Appends `text` with its `spans` replaced.
fn write(text: &[u8], spans: &[Span], out: &mut Vec<u8>) {
    let mut from = 0;
    for span in spans {
        out.extend_from_slice(text.get(from..span.start).unwrap_or_default());
        out.extend_from_slice(MARKER);
        out.extend_from_slice(span.kind.as_bytes());
        out.push(b']');
        from = span.end;
    }
    out.extend_from_slice(text.get(from..).unwrap_or_default());
}

/// Sorts the spans and joins those that touch the same text; the first, longest one gives its kind.
fn settle(spans: &mut Vec<Span>) {
    spans.sort_by_key(|span| (span.start, usize::MAX - span.end));
    spans.dedup_by(|next, kept| {
        let together = next.start < kept.end;
        if together {
            kept.end = kept.end.max(next.end);
            // A name says more than that something looks random.
            if kept.kind == random::KIND {
                kept.kind = next.kind;
            }
        }
        together
    });
}

/// Whether the mark at `at` is worth a call: most are done with here, after a few instructions per byte of their name.
#[inline(always)]
fn may_matter(text: &[u8], at: usize) -> bool {
    match text.get(at) {
        Some(b'=') => stems::before(text, at),
        Some(b':') => matches!(text.get(at + 1), Some(b'/' | b'_')) || stems::before(text, at),
        Some(b'<') => text.get(at + 1).is_some_and(u8::is_ascii_alphabetic),
        _ => true,
    }
}

/// Whether something secret may be spelled around the mark at `at`.
#[inline(never)]
fn suspect(text: &[u8], at: usize) -> bool {
    match text.get(at) {
        Some(b':') => {
            blocks::url_at(text, at) || pairs::named(text, at) || phrases::registry_name(text, at).is_some()
        }
        Some(b'=') => pairs::named(text, at),
        Some(b'-') => blocks::block_at(text, at) || options::named(text, at),
        Some(b'<') => notifies(text, at) || tags::may_open(text, at),
        _ => false,
    }
}

/// Whether a task notification begins at `at`.
fn notifies(text: &[u8], at: usize) -> bool {
    text.get(at..).is_some_and(|rest| rest.starts_with(NOTIFICATION))
}

/// The secret that is spelled around the mark at `at`.
fn secret(text: &[u8], at: usize) -> Option<Span> {
    match text.get(at) {
        Some(b':') => {
            blocks::url(text, at).or_else(|| pairs::secret(text, at)).or_else(|| phrases::registry(text, at))
        }
        Some(b'=') => pairs::secret(text, at),
        Some(b'-') => options::secret(text, at),
        Some(b'<') => tags::secret(text, at),
        _ => None,
    }
}

/// The bytes of `text` from `start` to `end`, or as many of them as there are.
fn part(text: &[u8], start: usize, end: usize) -> &[u8] {
    text.get(start..end.min(text.len())).unwrap_or_default()
}
