//! `key="password" value="hunter2"`, `- name: PASSWORD` and `  value: hunter2`: the name of a secret stands in a member
//! or attribute of its own, before the value or behind it.

use super::names::{self, Name};
use super::{pairs, part, values};

/// The distance to both sides within which the name is searched.
const REACH: usize = 192;

/// Returns `true` if a member or attribute of this name has a value that another one names.
pub(super) fn is_value(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"value")
}

/// Returns `true` if a member or attribute of this name names the value beside it.
pub(crate) fn is_name(name: &[u8]) -> bool {
    (3..=8).contains(&name.len())
        && [&b"name"[..], b"key", b"header", b"variable", b"field"]
            .iter()
            .any(|known| name.eq_ignore_ascii_case(known))
}

/// Returns `true` if the quotes after the mark at `at` are empty.
fn is_empty(text: &[u8], at: usize) -> bool {
    matches!(
        part(text, at + 1, at + 5),
        [b'"', b'"', ..] | [b'\'', b'\'', ..] | [b'\\', b'"', b'\\', b'"'] | [b' ', b'"', b'"', ..]
    )
}

/// Judges the value whose mark is at `at` by its neighbours in the same element.
pub(super) fn judge_by_sibling(text: &[u8], at: usize) -> Option<(Name, &'static str)> {
    // An empty value has no secret, and its neighbours would be searched for nothing.
    if is_empty(text, at) {
        return None;
    }
    let before = part(text, at.saturating_sub(REACH), at);
    let start = at - before.len() + element_start(before);
    let behind = part(text, at + 1, at + 1 + REACH);
    attribute(text, start, at).or_else(|| attribute(text, at + 1, at + 1 + element_end(behind)))
}

/// Returns the judgement of a naming attribute or member between `from` and `to`.
pub(super) fn attribute(text: &[u8], from: usize, to: usize) -> Option<(Name, &'static str)> {
    let marks = part(text, from, to).iter().zip(from..).filter(|(byte, _)| matches!(byte, b'=' | b':'));
    marks.map(|(_, at)| at).find_map(|at| {
        // The letter before the mark excludes most names cheaply: few letters end a name that counts.
        let last = part(text, from, at).iter().rev().find(|byte| byte.is_ascii_alphanumeric());
        if !matches!(last, Some(b'e' | b'y' | b'r' | b'd' | b'E' | b'Y' | b'R' | b'D')) {
            return None;
        }
        let (name, _) = pairs::name(text, at)?;
        if !is_name(name) {
            return None;
        }
        let found = values::value_near(part(text, 0, to), at + 1)?;
        let named = part(text, found.start, found.end);
        let judged = names::judge(named);
        (judged != Name::Plain).then(|| (judged, pairs::kind(named, judged)))
    })
}

/// Returns the start of the element that `before` ends in: after a bracket, an empty line, or at the item of a list.
fn element_start(before: &[u8]) -> usize {
    let mut line_ends = before.len();
    for (at, byte) in before.iter().enumerate().rev() {
        match byte {
            b'{' | b'}' | b'<' | b'>' => return at + 1,
            b'\n' => {
                let line = part(before, at + 1, line_ends).trim_ascii_start();
                if line.is_empty() || line.starts_with(b"-") {
                    return at + 1;
                }
                line_ends = at;
            }
            _ => {}
        }
    }
    0
}

/// Returns the end of the element that `behind` goes on with.
fn element_end(behind: &[u8]) -> usize {
    let ends = |(at, byte): (usize, &u8)| match byte {
        b'{' | b'}' | b'<' | b'>' => true,
        b'\n' => {
            let line = part(behind, at + 1, behind.len()).trim_ascii_start();
            line.is_empty() || line.starts_with(b"-")
        }
        _ => false,
    };
    behind.iter().enumerate().position(ends).unwrap_or(behind.len())
}
