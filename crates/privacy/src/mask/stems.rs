//! Stems of telling names, wherever they occur in a text.
//!
//! Programs and data are full of `=` and `:`, and hardly any of them follows the name of a secret. So the search is not
//! for the marks but for the stems, all at once, one bit per letter of each: every byte leaves those bits whose letter
//! it is. From a stem the way leads on to the end of its name, and over blanks and quotes to its mark.

/// The stems. `#` stands for any byte but a letter, and for the end of the text: `pat`, `sig` and `pw` count only where
/// they end a word, because there are too many paths, patterns and signals. `@` is that too, or a `d`. A `value` is
/// named beside it, and `IDENTIFIED BY` names a password in SQL.
const STEMS: [&[u8]; 15] = [
    b"pass", b"secr", b"auth", b"cook", b"pw@", b"psk#", b"value#", b"toke", b"cred", b"sign", b"key",
    b"pat#", b"sig#", b"d by", CONFIG,
];

/// The number of stems, from the first, that may name a secret of digits, or something beside them that does.
const STRONG: usize = 7;

/// No name of a secret itself, but one may follow.
const CONFIG: &[u8] = b"confi";

/// Set for bytes that belong to a name.
const NAME: u64 = 1 << 63;
/// Set for bytes that may stand between a name and its mark: a blank, the end of a quotation.
const SKIP: u64 = 1 << 62;

struct Bits {
    /// For each byte the places of the stems where it may stand.
    of: [u64; 256],
    first: u64,
    /// The last letters of the stems, but for that of [`CONFIG`].
    last: u64,
    config: u64,
    /// The last letters of [`STRONG`].
    strong: u64,
}

static BITS: Bits = bits();

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, where a bad index is an error of the build"
)]
const fn bits() -> Bits {
    let mut bits = Bits { of: [0; 256], first: 0, last: 0, config: 0, strong: 0 };
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
            if letter == b'#' || letter == b'@' {
                let mut other = 0;
                while other < 256 {
                    let named = letter == b'@' && (other as u8).eq_ignore_ascii_case(&b'd');
                    if named || !(other as u8).is_ascii_alphabetic() {
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
        if stem + 1 == STEMS.len() {
            bits.config = 1 << (place - 1);
        } else {
            bits.last |= 1 << (place - 1);
        }
        if stem < STRONG {
            bits.strong |= 1 << (place - 1);
        }
        stem += 1;
    }
    assert!(place < 62, "one bit per letter, and two are taken");
    bits
}

#[inline(always)]
fn bits_of(byte: u8) -> u64 {
    BITS.of.get(byte as usize).copied().unwrap_or(0)
}

/// Returns `true` if a byte may belong to a name.
#[inline(always)]
pub(super) fn is_name(byte: u8) -> bool {
    bits_of(byte) & NAME != 0
}

#[inline(always)]
fn step(state: u64, byte: u8) -> u64 {
    ((state << 1) | BITS.first) & bits_of(byte)
}

/// Returns the place at or after `from` where a stem has been read to its last sign, which may be the end of the text,
/// and the bits of the stems read there.
#[inline(always)]
fn stem(text: &[u8], from: usize) -> Option<(usize, u64)> {
    const LAST: u64 = BITS.last | BITS.config;
    let (words, tail) = text.get(from..)?.as_chunks::<8>();
    let mut state = 0;
    let mut at = from;
    for word in words {
        let before = state;
        let mut seen = 0;
        for byte in word {
            state = step(state, *byte);
            seen |= state;
        }
        if seen & LAST != 0 {
            state = before;
            for byte in word {
                state = step(state, *byte);
                if state & LAST != 0 {
                    return Some((at, state));
                }
                at += 1;
            }
        }
        at += 8;
    }
    for byte in tail {
        state = step(state, *byte);
        if state & LAST != 0 {
            return Some((at, state));
        }
        at += 1;
    }
    (step(state, b'\0') & BITS.last != 0).then_some((at, BITS.last))
}

/// A finding of [`marks`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StemMatch {
    /// An `=` or `:` after a possible name of a secret.
    Mark(usize),
    /// The `w` of `password` or the `f` of `config`, before a blank.
    Hint(usize),
    /// The end of a possible name of a secret, without a mark after it.
    Near(usize),
}

/// Calls `on` with each mark after a possible name of a secret, and with each hint, in order. Returns `false` if there
/// is no stem at all.
#[inline(never)]
pub(super) fn marks(text: &[u8], mut on: impl FnMut(StemMatch)) -> bool {
    let mut from = 0;
    let mut any = false;
    while let Some((at, read)) = stem(text, from) {
        let mut end = at;
        while text.get(end).is_some_and(|byte| is_name(*byte)) {
            end += 1;
        }
        if matches!(text.get(end), Some(b' ' | b'\t' | b'\\')) {
            hint(text.get(..end).unwrap_or_default(), &mut on);
        }
        // A name that begins with `config` may go on with a stem.
        let named = read & BITS.last != 0 || within(text.get(at..end).unwrap_or_default());
        if named {
            any = true;
            let name_end = end;
            end = behind_blanks(text, end);
            if matches!(text.get(end), Some(b'=' | b':')) {
                on(StemMatch::Mark(end));
            } else if follows_name(text, name_end) && may_be_near(text, name_end) {
                on(StemMatch::Near(name_end));
            }
        }
        // The byte that ends the search may begin a stem, but never ends one.
        from = end.max(at + 1);
    }
    any
}

/// Returns `true` if a value may stand near the name that ends at `end`, because it ends like one of a secret. This
/// cheap check excludes most names.
#[inline(never)]
fn may_be_near(text: &[u8], end: usize) -> bool {
    matches!(
        part_before(text, end),
        [.., b'o' | b'w', b'r' | b's', b'd' | b'D']
            | [.., b'R' | b'W', b'D']
            | [.., b'w', b'd']
            | [.., b'a', b's', b's']
            | [.., b'A', b'S', b'S']
            | [.., b'r', b'e' | b'a', b't' | b's', b'e' | b's']
            | [.., b'e', b't' | b'n' | b'y']
            | [.., b'E', b'T' | b'N' | b'Y']
            | [.., b't', b's']
            | [.., b's', b'e']
            | [.., b't', b'h']
            | [.., b'd', b's']
            | [.., b'a' | b'l', b's' | b'l', b'e' | b's']
            | [b'd' | b'D', b' ', b'b' | b'B', b'y' | b'Y']
            | [.., b'i', b'n']
            | [.., b'f', b'd']
            | [.., b'L', b'T']
            | [.., b'p', b'w']
    )
}

/// Returns `true` if an argument or a word follows the name that ends at `end`.
#[inline(always)]
fn follows_name(text: &[u8], end: usize) -> bool {
    match text.get(end) {
        None | Some(b' ' | b'(' | b'\t' | b'\n') => true,
        Some(b'"' | b'\'' | b'`') => text.get(end + 1) == Some(&b','),
        _ => false,
    }
}

/// Returns the last four bytes before `end`.
#[inline(always)]
fn part_before(text: &[u8], end: usize) -> &[u8] {
    text.get(end.saturating_sub(4)..end).unwrap_or_default()
}

/// Skips the blanks and quotes that may stand between a name that ends at `from` and its mark.
#[inline(always)]
fn behind_blanks(text: &[u8], from: usize) -> usize {
    let mut at = from;
    loop {
        match text.get(at) {
            // A tab that is spelled `\t` stands before the mark, not a name.
            Some(b'\\') if text.get(at + 1) == Some(&b't') => at += 2,
            Some(byte) if bits_of(*byte) & SKIP != 0 => at += 1,
            _ => return at,
        }
    }
}

/// Reports the hint at the end of `text`, if there is one.
#[inline(always)]
fn hint(text: &[u8], on: &mut impl FnMut(StemMatch)) {
    match text.last_chunk::<6>() {
        Some(b"ssword") if text.ends_with(b"password") => on(StemMatch::Hint(text.len() - 4)),
        Some(b"config") => on(StemMatch::Hint(text.len() - 3)),
        Some(b"figure") if text.ends_with(b"configure") => on(StemMatch::Hint(text.len() - 6)),
        _ => {}
    }
}

/// Returns the name of the tag at the start of `text`, without its namespace, and `true` if a stem occurs in it.
#[inline]
pub(super) fn tag(text: &[u8]) -> (&[u8], bool) {
    let (mut start, mut end) = (0, 0);
    let (mut state, mut seen) = (0, 0);
    for byte in text {
        match byte {
            b':' => {
                start = end + 1;
                (state, seen) = (0, 0);
            }
            _ if is_name(*byte) => {
                state = step(state, *byte);
                seen |= state;
            }
            _ => break,
        }
        end += 1;
    }
    let stem = (seen | step(state, b'\0')) & BITS.last != 0;
    (text.get(start..end).unwrap_or_default(), stem)
}

/// Returns `true` if a stem occurs in the name at the end of `text`.
#[inline]
pub(super) fn within(text: &[u8]) -> bool {
    let length = text.iter().rev().take_while(|byte| is_name(**byte)).count();
    seen(text.get(text.len() - length..).unwrap_or_default()).any()
}

/// The stems of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stems(u64);

impl Stems {
    /// Returns `true` if there are any.
    pub(super) fn any(self) -> bool {
        self.0 & BITS.last != 0
    }

    /// Returns `true` if the name may be that of a password, a header or a cookie, or of a member that names the value
    /// beside it: not only of keys and tokens.
    pub(super) fn strong(self) -> bool {
        self.0 & BITS.strong != 0
    }
}

/// Returns the stems of `name`.
#[inline(always)]
pub(super) fn seen(name: &[u8]) -> Stems {
    let mut state = 0;
    let mut seen = 0;
    for byte in name {
        state = step(state, *byte);
        seen |= state;
    }
    Stems(seen | step(state, b'\0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<usize> {
        let mut places = Vec::new();
        marks(text.as_bytes(), |found| match found {
            StemMatch::Mark(at) => places.push(at),
            StemMatch::Hint(_) | StemMatch::Near(_) => {}
        });
        places
    }

    #[test]
    fn hints_are_found_before_blanks_and_only_there() {
        for (text, expected) in [
            ("my password x", 7),
            ("x.password\tx", 6),
            ("password\\tx", 4),
            ("git config x", 7),
            ("configure x", 3),
            ("pass_config x", 8),
        ] {
            let mut hints = Vec::new();
            marks(text.as_bytes(), |found| match found {
                StemMatch::Hint(at) => hints.push(at),
                StemMatch::Mark(_) | StemMatch::Near(_) => {}
            });
            assert_eq!(hints, [expected], "{text}");
            assert!(matches!(text.as_bytes()[expected], b'w' | b'f'));
        }
        for text in
            ["password", "config", "password=x", "config.x y", "passwords x", "configured x", "xfigure x"]
        {
            marks(text.as_bytes(), |found| assert!(!matches!(found, StemMatch::Hint(_)), "{text}"));
        }
    }

    #[test]
    fn a_name_that_begins_with_config_may_hold_a_stem() {
        assert_eq!(found("config_token=x config=x"), [12]);
        assert!(!marks(b"config=x configure x", |_| {}));
    }

    #[test]
    fn a_mark_is_found_behind_a_stem_in_every_spelling() {
        for text in [
            "password=",
            "DB_PASS=",
            "x.apiKey =",
            "\"token\": ",
            "['secret'] =",
            "my-auth\t:",
            "key\\t=",
            "key \\t\\t =",
            "key\\\\t=",
            "a\\npw=",
            "\\token=",
            "Cookie  :",
            "credentials!:",
            "MYSQL_PWD=",
            "sig?:",
            "pat_1=",
            "MY_PW=",
            "value=",
            "signal=",
        ] {
            let mark = text.rfind(['=', ':']).expect("a mark");
            for before in 0..20 {
                let text = format!("{}{text} and more of it", " ".repeat(before));
                assert_eq!(found(&text), [mark + before], "{text}");
            }
        }
        for text in [
            "=",
            "name=",
            "version = ",
            "password(x)=",
            "password, x=",
            "password x=",
            "std:",
            "\"edition\":",
            "opwx=",
            "path=",
            "pass",
            "pat",
            "   :",
            "\\t=",
            "key\\tx=",
        ] {
            assert_eq!(found(text), [0usize; 0], "{text}");
        }
    }

    #[test]
    fn each_of_many_marks_is_found_and_each_once() {
        assert_eq!(found("key=pass:token token = pw"), [3, 8, 21]);
        assert_eq!(found("passpasskeytoken=key"), [16]);
        assert_eq!(found("pat=sig=pw=value="), [3, 7, 10, 16]);
    }

    #[test]
    fn a_stem_counts_at_the_end_of_a_name_and_only_in_the_last_one() {
        for name in ["pat", "x_pw", "sig2", "apikey", "token_count"] {
            assert!(within(name.as_bytes()), "{name}");
        }
        for name in ["", "path", "pwx", "token (x", "key x"] {
            assert!(!within(name.as_bytes()), "{name}");
        }
    }
}
