//! Markup: `<password>…</password>`, `<entry key="password">…</entry>`, `<key>password</key><string>…</string>`.

use super::names::{self, Name};
use super::{Span, name_judgement, pairs, part, sibling_name, stems, values};

/// Longest tag, and longest text between two tags, that is read.
const MOST: usize = 512;

/// Elements whose attributes or neighbours name their content.
const GENERAL: &[&[u8]] = &[
    b"entry",
    b"string",
    b"item",
    b"param",
    b"property",
    b"setting",
    b"value",
    b"field",
    b"data",
    b"element",
];

/// Returns the secret between the tag that begins at `at` and the one that closes it.
#[inline(never)]
pub(super) fn secret(text: &[u8], at: usize) -> Option<Span> {
    let (name, stem) = stems::tag(part(text, at + 1, at + 1 + names::MOST));
    let general = matches!(name.len(), 4..=8) && GENERAL.contains(&name);
    if !general && !stem {
        return None;
    }
    let tag = part(text, at + 1, at + MOST);
    let close = tag.iter().position(|byte| matches!(byte, b'>' | b'<'))?;
    if tag.get(close) != Some(&b'>') || part(tag, 0, close).ends_with(b"/") {
        return None;
    }
    let start = at + 1 + close + 1;
    let inside = part(text, start, start + MOST);
    let length = inside.iter().position(|byte| *byte == b'<')?;
    let inside = part(inside, 0, length);
    let value = inside.trim_ascii();
    if value.is_empty() || part(text, start + length, start + length + 2) != b"</" {
        return None;
    }
    let (judged, kind) = if general {
        sibling_name::attribute(text, at + 1, start - 1).or_else(|| key_before(text, at))?
    } else {
        let judged = names::judge(name);
        (judged, pairs::kind(name, judged))
    };
    if judged == Name::Plain || values::refers(value, true) || !name_judgement::fits(judged, value) {
        return None;
    }
    let start = start + (inside.len() - inside.trim_ascii_start().len());
    Some(Span { start, end: start + value.len(), kind })
}

/// Returns the judgement of the `<key>` that was closed just before `at`.
fn key_before(text: &[u8], at: usize) -> Option<(Name, &'static str)> {
    let mut before = part(text, at.saturating_sub(MOST), at);
    while let [rest @ .., b' ' | b'\t' | b'\n' | b'\r'] | [rest @ .., b'\\', b'n' | b't' | b'r'] = before {
        before = rest;
    }
    let before = before.strip_suffix(b"</key>")?;
    let key = before.rsplit(|byte| *byte == b'>').next()?;
    let judged = names::judge(key);
    Some((judged, pairs::kind(key, judged)))
}
