//! Keys without a prefix that look like a hash: they are known by the vendor's name before them, `asana = "…"`.

use super::rules::VENDORS;
use super::shapes::{Body, Vendor};
use super::{Span, part, random};

/// The distance back within which the vendor's name is searched.
const REACH: usize = 48;

/// For each letter of the alphabet the first row in [`VENDORS`] whose name begins with it; the last entry is the end.
static FIRST: [u16; 27] = first_letters();

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, where a bad index is an error of the build"
)]
const fn first_letters() -> [u16; 27] {
    let mut table = [0; 27];
    let mut letter = 0;
    while letter < 27 {
        let mut at = 0;
        while at < VENDORS.len() && VENDORS[at].name[0] < b'a' + letter as u8 {
            at += 1;
        }
        table[letter] = at as u16;
        letter += 1;
    }
    table
}

/// Returns the key in the stretch of word characters from `start` to `end`, if a vendor's name stands before its mark.
#[inline]
pub(super) fn secret(text: &[u8], start: usize, end: usize) -> Option<Span> {
    match part(text, start.saturating_sub(1), start) {
        [b'=' | b':' | b'"' | b'\'' | b'`' | b' '] => secret_behind(text, start, end),
        _ => None,
    }
}

#[inline(never)]
fn secret_behind(text: &[u8], start: usize, end: usize) -> Option<Span> {
    let at = random::mark_before(text, start)?;
    let before = part(text, at.saturating_sub(REACH), at);
    let line =
        before.iter().rposition(|byte| matches!(byte, b'\n' | b';' | b'{')).map_or(0, |place| place + 1);
    let name = part(before, line, before.len());
    if !random::may_name(name) {
        return None;
    }
    let rows = named(name);
    let most = rows.iter().map(|row| row.most).max()?;
    let (length, kind) = key(rows, part(text, start, end.max(start + usize::from(most) + 1)))?;
    Some(Span { start, end: start + length, kind })
}

/// Returns the rows of the vendor that is named in `name`.
pub(super) fn named(name: &[u8]) -> &'static [Vendor] {
    let mut previous = b' ';
    for (at, byte) in name.iter().enumerate() {
        let begins = byte.is_ascii_alphabetic()
            && (!previous.is_ascii_alphanumeric()
                || (byte.is_ascii_uppercase() && previous.is_ascii_lowercase()));
        previous = *byte;
        if begins {
            let rows = rows_of(part(name, at, name.len()));
            if !rows.is_empty() {
                return rows;
            }
        }
    }
    &[]
}

/// Returns the rows of the vendor whose name `text` begins with.
fn rows_of(text: &[u8]) -> &'static [Vendor] {
    let Some([first, second]) = text.first_chunk::<2>() else { return &[] };
    let letter = usize::from((first | 0x20).wrapping_sub(b'a'));
    let (Some(from), Some(to)) = (FIRST.get(letter), FIRST.get(letter + 1)) else { return &[] };
    let begins = |row: &Vendor| {
        row.name.get(1) == Some(&(second | 0x20))
            && part(text, 0, row.name.len()).eq_ignore_ascii_case(row.name)
            && !text.get(row.name.len()).is_some_and(u8::is_ascii_lowercase)
    };
    let near = VENDORS.get(*from as usize..*to as usize).unwrap_or_default();
    let Some(place) = near.iter().position(begins) else { return &[] };
    let near = near.get(place..).unwrap_or_default();
    let same = near.iter().take_while(|row| near.first().is_some_and(|first| first.name == row.name)).count();
    near.get(..same).unwrap_or_default()
}

/// Returns the length and kind of the key that `value` begins with, by the rows of its vendor.
pub(super) fn key(rows: &[Vendor], value: &[u8]) -> Option<(usize, &'static str)> {
    rows.iter().find_map(|row| {
        let most = usize::from(row.most);
        let length = row.body.count(value, most + 1);
        let held = part(value, 0, length);
        let whole = value.get(length).is_none_or(|byte| Body::Base64.count(&[*byte], 1) != 1);
        let mixed = held.iter().any(u8::is_ascii_digit) && held.iter().any(u8::is_ascii_alphabetic);
        let fits = (usize::from(row.least)..=most).contains(&length) && whole && mixed;
        fits.then_some((length, row.kind))
    })
}
