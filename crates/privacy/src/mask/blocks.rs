//! Secrets that are known by their frame: private keys between their lines, and passwords in addresses.

use super::names::LONG;
use super::runs::is_word;
use super::{Span, part, values};

const BEGIN: &[u8] = b"-----BEGIN ";
/// Longest text between the hyphens of a frame's first line.
const LABEL: usize = 64;

const END: &[u8] = b"-----END ";
/// The distance back within which the body of a key without its first line is searched.
const BODY: usize = 16 * 1024;

/// Returns `true` if a private key may begin or end around the hyphen at `at`.
pub(super) fn block_at(text: &[u8], at: usize) -> bool {
    text.get(frame_start(text, at)..).is_some_and(|rest| rest.starts_with(BEGIN) || rest.starts_with(END))
}

/// Returns the first hyphen of the row that `at` lies in; marks come for each hyphen of a row.
fn frame_start(text: &[u8], at: usize) -> usize {
    at - part(text, at.saturating_sub(4), at).iter().rev().take_while(|byte| **byte == b'-').count()
}

/// Returns the private key that begins around the hyphen at `at`, up to its last line or, where that is missing, to the
/// end; or the one that ends there and whose beginning is missing.
pub(super) fn block(text: &[u8], at: usize) -> Option<Span> {
    let frame = frame_start(text, at);
    let rest = text.get(frame..)?;
    if let Some(label) = rest.strip_prefix(BEGIN) {
        return is_private(label).then(|| {
            let last_line =
                find(text, frame + BEGIN.len(), END).map(|end| after_hyphens(text, end + END.len()));
            Span { start: frame, end: last_line.unwrap_or(text.len()), kind: "private-key" }
        });
    }
    let label = rest.strip_prefix(END)?;
    let before = part(text, frame.saturating_sub(BODY), frame);
    let body = before.iter().rev().take_while(|byte| is_body(**byte)).count();
    (is_private(label) && body >= 20).then_some(Span {
        start: frame - body,
        end: after_hyphens(text, frame + END.len()),
        kind: "private-key",
    })
}

/// Returns the private part of the PuTTY key whose first mark is at `at`: its lines and their checksum.
#[inline(never)]
pub(super) fn putty(text: &[u8], at: usize) -> Option<Span> {
    let key = part(text, at, at + BODY);
    let lines = find(key, 0, b"Private-Lines:")?;
    let start = lines + part(key, lines, key.len()).iter().position(|byte| matches!(byte, b'\n' | b'\\'))?;
    let start = start
        + part(key, start, start + 4).iter().take_while(|byte| matches!(byte, b'\n' | b'\r' | b'\\')).count();
    let end = find(key, start, b"Private-MAC:").map_or(key.len(), |mac| {
        let value = mac + b"Private-MAC:".len();
        let blanks = part(key, value, value + 2).iter().take_while(|byte| **byte == b' ').count();
        value
            + blanks
            + part(key, value + blanks, key.len()).iter().take_while(|byte| byte.is_ascii_hexdigit()).count()
    });
    Some(Span { start: at + start, end: at + end, kind: "private-key" })
}

/// Returns `true` if the text after `-----BEGIN ` or `-----END ` names a private key.
fn is_private(label: &[u8]) -> bool {
    let head = part(label, 0, LABEL);
    let line = head.iter().position(|byte| matches!(byte, b'-' | b'\n' | b'\\')).unwrap_or(head.len());
    part(head, 0, line).windows(11).any(|part| part == b"PRIVATE KEY")
}

/// Returns `true` for bytes of Base64 in lines, whose breaks may be spelled `\n`.
fn is_body(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'\n' | b'\r' | b'\\')
}

/// Returns the place after the hyphens that end a frame's line.
fn after_hyphens(text: &[u8], from: usize) -> usize {
    find(text, from, b"-----").map_or(text.len(), |end| end + 5)
}

fn find(text: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    let rest = text.get(from..)?;
    rest.windows(what.len()).position(|part| part == what).map(|place| from + place)
}

/// Longest part of an address that is searched for its `@`.
const AUTHORITY: usize = 2048;

/// Returns the text between `://` and the last `@` before the path.
fn user(text: &[u8], at: usize) -> Option<&[u8]> {
    let rest = part(text, at + 3, at + 3 + AUTHORITY);
    let ends =
        |byte: &u8| matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\') || byte.is_ascii_whitespace();
    let length = rest.iter().take_while(|byte| !ends(byte) && !matches!(byte, b'/' | b'?' | b'#')).count();
    let authority = part(rest, 0, length);
    if let Some(user) = authority.iter().rposition(|byte| *byte == b'@') {
        return Some(part(authority, 0, user));
    }
    // A password may contain signs that should end the address. After the colon of a host there is a number.
    let colon = authority.iter().position(|byte| *byte == b':')?;
    let port = part(authority, colon + 1, length);
    let unclear = port.is_empty() && !matches!(rest.get(length), Some(b'#' | b'?'));
    if unclear || authority.starts_with(b"[") || (!port.is_empty() && port.iter().all(u8::is_ascii_digit)) {
        return None;
    }
    let whole = part(rest, 0, rest.iter().take_while(|byte| !ends(byte)).count());
    let user = whole.iter().rposition(|byte| *byte == b'@')?;
    whole.get(user + 1).is_some_and(u8::is_ascii_alphanumeric).then(|| part(whole, 0, user))
}

/// Returns the password of the address whose colon is at `at`; without one, a user that is itself a key.
pub(super) fn url(text: &[u8], at: usize) -> Option<Span> {
    if part(text, at, at + 3) != b"://" {
        return None;
    }
    let user = user(text, at)?;
    // A marker holds a colon of its own.
    let skipped = values::marker_length(user).unwrap_or(0);
    let from = at + 3;
    match part(user, skipped, user.len()).iter().position(|byte| *byte == b':') {
        Some(colon) => {
            let start = skipped + colon + 1;
            let password = part(user, start, user.len());
            // Masked before; the `@` after the marker was out of reach then.
            if values::marker_length(password).is_some_and(|length| password.get(length) == Some(&b'@')) {
                return None;
            }
            (!values::stands_for(password)).then_some(Span {
                start: from + start,
                end: from + user.len(),
                kind: "url-password",
            })
        }
        None if user.len() >= LONG && user.iter().all(|byte| is_word(*byte)) && values::random(user) => {
            Some(Span { start: from, end: from + user.len(), kind: "url-password" })
        }
        None => None,
    }
}
