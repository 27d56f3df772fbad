//! Masking: secrets in a text become `[masked:<kind>]`, the rest stays as it is.
//!
//! There is no list of secrets to compare with, so this is pattern work with three kinds of trigger, chosen so that the
//! densest text, a program or data without one blank, costs about twenty instructions per byte:
//!
//! - [`runs`]: stretches of at least sixteen word characters. Every provider's key has one ([`shapes`]).
//! - [`stems`]: parts of the names that passwords and tokens have, with the `=` or `:` behind them ([`pairs`]), or words
//!   that announce one ([`phrases`]).
//! - [`marks`]: `<`, `--`, ` -` and `:/`, around which elements, options, private keys and addresses are spelled ([`tags`],
//!   [`options`], [`blocks`]).
//!
//! Only a text is searched, never its spelling in JSON, so escapes hide nothing.
//!
//! The laws: masking is idempotent; a value that only refers to a secret (`$TOKEN`, `process.env.KEY`,
//! `<your-token>`) is not one; text is never made longer by more than its markers; time is linear.

mod argv;
mod blocks;
mod framed;
mod ids;
mod marks;
mod name_judgement;
mod names;
mod options;
mod pairs;
mod phrases;
mod proximity;
mod random;
mod rules;
mod runs;
mod shapes;
mod sibling_name;
mod stems;
mod tags;
mod values;
mod vendors;
mod words;

use std::borrow::Cow;

use stems::StemMatch;

pub(crate) use argv::Argv;
pub(crate) use name_judgement::NameJudgement;
pub(crate) use random::KIND as RANDOM;
pub(crate) use sibling_name::is_name;

/// A stretch of text that is a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The kind of secret, as it appears in the marker.
    pub(crate) kind: &'static str,
}

/// The beginning of every marker. Existing markers in a text stay.
pub(crate) const MARKER: &[u8] = b"[masked:";

/// Shorter texts contain no secret worth masking.
// Below, a value is as likely a word or a number, and masking it would hide more than it protects.
const SHORTEST: usize = 8;

/// The beginning of a prompt that the client wrote, not a person.
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

/// Returns `true` if there may be a secret in `text`. Never `false` where [`find`] finds one.
pub(crate) fn suspicious(text: &[u8]) -> bool {
    if is_clean(text) {
        return false;
    }
    let mut spans = Vec::new();
    find(text, &mut spans);
    !spans.is_empty() || runs::suspicious(text)
}

/// Returns `true` if `text` is obviously without a secret, after a cheap check.
#[inline]
fn is_clean(text: &[u8]) -> bool {
    text.len() < SHORTEST || ids::is_id(text) || ids::is_short_word(text)
}

/// Collects the secrets of `text`, in order and apart from each other.
pub(crate) fn find(text: &[u8], spans: &mut Vec<Span>) {
    spans.clear();
    if is_clean(text) {
        return;
    }
    runs::find(text, spans);
    let mut names = Vec::new();
    let named = stems::marks(text, |found| match found {
        StemMatch::Mark(at) => {
            if names.is_empty() {
                // Reserved at the first name only: most texts have none.
                names.reserve(64);
            }
            names.push(at);
        }
        StemMatch::Hint(at) => spans.extend(phrases::secret(text, at)),
        StemMatch::Near(at) => spans.extend(proximity::secret(text, at)),
    });
    // Names and marks are visited in one order of places, so that what is masked already is skipped by one comparison.
    let mut search = Search { text, spans, done: 0, keys_done: 0 };
    let mut names = names.as_slice();
    marks::each(text, |at| {
        while let [name, rest @ ..] = names
            && *name <= at
        {
            search.look(*name, secret);
            names = rest;
        }
        search.unnamed(at, named);
    });
    names.iter().for_each(|name| search.look(*name, secret));
    if spans.len() > 1 {
        settle(spans);
    }
}

/// The search around marks, in their order.
struct Search<'s> {
    text: &'s [u8],
    spans: &'s mut Vec<Span>,
    /// The end of the last secret.
    done: usize,
    /// The end of the last private key.
    keys_done: usize,
}

impl Search<'_> {
    /// Looks at a mark without the name of a secret before it; `named` if there are any in the text.
    #[inline(always)]
    fn unnamed(&mut self, at: usize, named: bool) {
        let text = self.text;
        let next = text.get(at + 1).copied().unwrap_or_default();
        match text.get(at) {
            // Elements are named too.
            // Markup is full of `<`, so an element is looked at only where the text has some name of a secret.
            Some(b'<') if named && next.is_ascii_alphabetic() => self.look(at, tags::secret),
            Some(b'-') if matches!(next, b'B' | b'E') && blocks::block_at(text, at) => self.block(at),
            Some(b'-') if options::may_follow(text, at, next) => self.look(at, options::secret),
            Some(b':') => {
                self.look(at, |text, at| blocks::url(text, at).or_else(|| phrases::registry(text, at)))
            }
            _ => {}
        }
    }

    /// Looks with `secret` at the mark at `at`. Text that is masked already is skipped.
    #[inline(always)]
    fn look(&mut self, at: usize, secret: impl Fn(&[u8], usize) -> Option<Span>) {
        if at >= self.done
            && let Some(span) = secret(self.text, at)
        {
            self.done = span.end;
            self.spans.push(span);
        }
    }

    /// Looks for a private key at `at`, which may reach beyond the text that is masked already.
    #[inline(never)]
    fn block(&mut self, at: usize) {
        if at >= self.keys_done
            && let Some(span) = blocks::block(self.text, at)
        {
            self.done = self.done.max(span.end);
            self.keys_done = span.end;
            self.spans.push(span);
        }
    }
}

/// Writes `text` over `out`, with the secrets in it replaced, and returns their number. `spans` are those that [`find`]
/// found.
///
/// A marker in the place of a secret may change the meaning of the text beside it, so the result is searched again
/// until nothing more is found. That makes masking idempotent for any set of patterns.
pub(crate) fn replace(text: &[u8], spans: &mut Vec<Span>, out: &mut Vec<u8>) -> u32 {
    let mut count = spans.len();
    out.clear();
    write(text, spans, out);
    // Bounded by bytes and not by passes: addresses nested in each other come off two kilobytes at a time.
    let mut searched = 0;
    while !spans.is_empty() && searched <= PASSES * text.len() + SEARCHED_ANYWAY {
        searched += out.len();
        find(out, spans);
        if !spans.is_empty() {
            count += spans.len();
            let before = std::mem::take(out);
            write(&before, spans, out);
        }
    }
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The most bytes to search again, in lengths of the text. No text but an attack was seen to need more than two.
const PASSES: usize = 8;
/// Bytes that may be searched again in addition, for short texts: a search unwraps only two kilobytes of addresses that
/// are nested in each other.
const SEARCHED_ANYWAY: usize = 4 << 20;

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
    // The longer one first: a key inside of a masked password needs no marker of its own.
    spans.sort_by_key(|span| (span.start, usize::MAX - span.end));
    spans.dedup_by(|next, kept| {
        let together = next.start < kept.end;
        if together {
            kept.end = kept.end.max(next.end);
            // A kind by name is more precise than `random`.
            if kept.kind == random::KIND {
                kept.kind = next.kind;
            }
        }
        together
    });
}

/// Returns the secret after the `=` or `:` at `at`, if the name of one stands before it.
#[inline(never)]
fn secret(text: &[u8], at: usize) -> Option<Span> {
    match text.get(at) {
        Some(b':') => {
            blocks::url(text, at).or_else(|| pairs::secret(text, at)).or_else(|| phrases::registry(text, at))
        }
        _ => pairs::secret(text, at),
    }
}

/// Returns the bytes of `text` from `start` to `end`, or as many of them as there are.
fn part(text: &[u8], start: usize, end: usize) -> &[u8] {
    text.get(start..end.min(text.len())).unwrap_or_default()
}
