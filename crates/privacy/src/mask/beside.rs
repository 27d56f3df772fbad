//! `key="password" value="hunter2"`, `- name: PASSWORD` and `  value: hunter2`: the name of a secret stands in a member
//! or attribute of its own, before the value or behind it.

use super::names::{self, Name};
use super::{pairs, part, values};

/// How far to both sides the name is looked for.
const REACH: usize = 192;

/// Whether a member or attribute of this name holds what another one names.
pub(super) fn is_value(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"value")
}

/// Whether a member or attribute of this name names the value beside it.
pub(crate) fn is_name(name: &[u8]) -> bool {
    (3..=8).contains(&name.len())
        && [&b"name"[..], b"key", b"header", b"variable", b"field"]
            .iter()
            .any(|known| name.eq_ignore_ascii_case(known))
}

/// Whether nothing stands between the quotes behind the mark at `at`.
fn is_empty(text: &[u8], at: usize) -> bool {
    matches!(
        part(text, at + 1, at + 5),
        [b'"', b'"', ..] | [b'\'', b'\'', ..] | [b'\\', b'"', b'\\', b'"'] | [b' ', b'"', b'"', ..]
    )
}

/// What is said about the value whose mark is at `at` by its neighbours in the same element.
pub(super) fn telling(text: &[u8], at: usize) -> Option<(Name, &'static str)> {
    if is_empty(text, at) {
        return None;
    }
    let before = part(text, at.saturating_sub(REACH), at);
    let start = at - before.len() + begin(before);
    let behind = part(text, at + 1, at + 1 + REACH);
    attribute(text, start, at).or_else(|| attribute(text, at + 1, at + 1 + end(behind)))
}

/// What a naming attribute or member between `from` and `to` says.
pub(super) fn attribute(text: &[u8], from: usize, to: usize) -> Option<(Name, &'static str)> {
    let marks = part(text, from, to).iter().zip(from..).filter(|(byte, _)| matches!(byte, b'=' | b':'));
    marks.map(|(_, at)| at).find_map(|at| {
        // Most are told by the letter before the mark: the last ones of the names that count.
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

/// Where the element begins that `before` ends in: behind a bracket, an empty line, or at the item of a list.
fn begin(before: &[u8]) -> usize {
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

/// Where the element ends that `behind` goes on with.
fn end(behind: &[u8]) -> usize {
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
