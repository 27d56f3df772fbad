//! A quick look at names: does any stem of a telling name occur in it at all?
//!
//! Programs and data are full of `=` and `:`, so this is asked about a hundred times in a page of either. All stems are
//! looked for at once, one bit per letter of each: a name is read from its end, and every byte leaves those bits
//! whose letter it is.

use super::part;

/// The stems, spelled from their end. `#` is what is no letter, and the end of the name: `pat`, `sig` and `pw` count only
/// where they end a word, because there are too many paths, patterns and signals. A `value` is named beside it.
const STEMS: [&[u8]; 13] = [
    b"ssap", b"ekot", b"rces", b"htua", b"derc", b"kooc", b"ngis", b"dwp", b"yek", b"#tap", b"#gis", b"#wp",
    b"#eulav",
];

/// Set for bytes that belong to a name.
const NAME: u64 = 1 << 63;
/// Set for bytes that may stand between a name and its mark: a blank, the end of a quotation.
const SKIP: u64 = 1 << 62;

struct Bits {
    /// For each byte the places of the stems where it may stand.
    of: [u64; 256],
    first: u64,
    last: u64,
    /// What has been read before anything is: the end of the name.
    start: u64,
}

static BITS: Bits = bits();

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, where a bad index is an error of the build"
)]
const fn bits() -> Bits {
    let mut bits = Bits { of: [0; 256], first: NAME, last: 0, start: 0 };
    let mut byte = 0;
    while byte < 256 {
        bits.of[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'.' => NAME,
            b' ' | b'\t' | b'"' | b'\'' | b'`' | b'\\' | b']' | b'?' | b'!' => SKIP,
            _ => 0,
        };
        byte += 1;
    }
    let (mut stem, mut place) = (0, 0);
    while stem < STEMS.len() {
        bits.first |= 1 << place;
        let mut at = 0;
        while at < STEMS[stem].len() {
            let letter = STEMS[stem][at];
            if letter == b'#' {
                bits.start |= 1 << place;
                let mut other = 0;
                while other < 256 {
                    if bits.of[other] & NAME != 0 && !(other as u8).is_ascii_alphabetic() {
                        bits.of[other] |= 1 << place;
                    }
                    other += 1;
                }
            } else {
                bits.of[letter as usize] |= 1 << place;
                bits.of[letter.to_ascii_uppercase() as usize] |= 1 << place;
            }
            at += 1;
            place += 1;
        }
        bits.last |= 1 << (place - 1);
        stem += 1;
    }
    assert!(place < 62, "one bit per letter, and two are taken");
    bits
}

#[inline(always)]
fn bits_of(byte: u8) -> u64 {
    BITS.of.get(byte as usize).copied().unwrap_or(0)
}

/// How far back a name is looked for.
const REACH: usize = 128;

/// Whether a stem occurs in what may be the name before the mark at `at`. Never false where there is one.
#[inline]
pub(super) fn before(text: &[u8], at: usize) -> bool {
    let mut before = part(text, at.saturating_sub(REACH), at);
    while let [rest @ .., last] = before
        && bits_of(*last) & SKIP != 0
    {
        before = rest;
        // A tab that is spelled `\t` stands before the mark, not a name.
        while let [rest @ .., b'\\', b't'] = before {
            before = rest;
        }
    }
    while let [rest @ .., b'\\', b't'] = before {
        before = rest;
    }
    within(before)
}

/// Whether a stem occurs in the name that `text` ends in.
#[inline]
pub(super) fn within(text: &[u8]) -> bool {
    let mut state = BITS.start;
    for byte in text.iter().rev() {
        state = ((state << 1) | BITS.first) & bits_of(*byte);
        if state & BITS.last != 0 {
            return true;
        }
        if state & NAME == 0 {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stem_is_seen_before_its_mark_in_every_spelling() {
        for text in [
            "password=",
            "DB_PASS=",
            "x.apiKey =",
            "\"token\": ",
            "['secret'] =",
            "my-auth\t:",
            "key\\t=",
            "key \\t\\t =",
            "a\\npw=",
            "Cookie  :",
            "credentials!:",
            "MYSQL_PWD=",
            "sig?:",
            "pat_1=",
            "MY_PW=",
        ] {
            let at = text.rfind(['=', ':']).expect("a mark");
            assert!(before(text.as_bytes(), at), "{text}");
        }
        for text in [
            "=",
            "name=",
            "version = ",
            "password(x)=",
            "password, x=",
            "std:",
            "\"edition\":",
            "opwx=",
            "path=",
            "signal=",
            "   :",
            "\\t=",
        ] {
            let at = text.rfind(['=', ':']).expect("a mark");
            assert_eq!(before(text.as_bytes(), at), text == "signal=", "{text}");
        }
    }
}
