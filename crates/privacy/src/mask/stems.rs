//! A quick look at names: does any stem of a telling name occur in it at all?
//!
//! Programs and data are full of `=` and `:`, so this is asked about a hundred times in a page of either. It reads a
//! name once, from its end, one look into a table per byte; only behind the first letter of a stem anything is compared.

use super::part;

/// What a byte is to a name that is read from its end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Ends the name.
    Stop,
    /// May stand between a name and its mark: a blank, the end of a quotation.
    Skip,
    /// Belongs to a name.
    Name,
    /// Belongs to a name, and may begin a stem.
    Initial,
}

static CLASSES: [Class; 256] = classes();

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, where a bad index is an error of the build"
)]
const fn classes() -> [Class; 256] {
    let mut table = [Class::Stop; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'p' | b't' | b's' | b'a' | b'c' | b'k' | b'P' | b'T' | b'S' | b'A' | b'C' | b'K' => {
                Class::Initial
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'.' => Class::Name,
            b' ' | b'\t' | b'"' | b'\'' | b'`' | b'\\' | b']' | b'?' | b'!' => Class::Skip,
            _ => Class::Stop,
        };
        byte += 1;
    }
    table
}

const fn three(stem: &[u8; 3]) -> u32 {
    let [first, second, third] = *stem;
    (first as u32) << 16 | (second as u32) << 8 | third as u32
}

const PAS: u32 = three(b"pas");
const PAT: u32 = three(b"pat");
const PWD: u32 = three(b"pwd");
/// `pw` at the very end of a name.
const PW: u32 = three(b"pw\0");
const TOK: u32 = three(b"tok");
const SEC: u32 = three(b"sec");
const SIG: u32 = three(b"sig");
const AUT: u32 = three(b"aut");
const CRE: u32 = three(b"cre");
const COO: u32 = three(b"coo");
const KEY: u32 = three(b"key");

/// Reads a name from its end.
struct Reader {
    /// The last three bytes, the latest highest, in lower case. Signs change too, but into nothing that is compared.
    recent: u32,
}

impl Reader {
    /// Takes the byte before; whether a stem begins with it.
    #[inline(always)]
    fn reads(&mut self, byte: u8, class: Class) -> bool {
        self.recent = (self.recent >> 8) | (u32::from(byte | 0x20) << 16);
        class == Class::Initial
            && matches!(self.recent, PAS | PAT | PWD | PW | TOK | SEC | SIG | AUT | CRE | COO | KEY)
    }
}

#[inline(always)]
fn class(byte: u8) -> Class {
    CLASSES.get(byte as usize).copied().unwrap_or(Class::Stop)
}

/// How far back a name is looked for.
const REACH: usize = 128;

/// Whether a stem occurs in what may be the name before the mark at `at`. Never false where there is one.
pub(super) fn before(text: &[u8], at: usize) -> bool {
    let mut reader = Reader { recent: 0 };
    let mut length = 0;
    for byte in part(text, at.saturating_sub(REACH), at).iter().rev() {
        let class = class(*byte);
        if matches!(class, Class::Name | Class::Initial) {
            length += 1;
            if reader.reads(*byte, class) {
                return true;
            }
        } else if length == 1 && *byte == b'\\' && reader.recent >> 16 == u32::from(b't') {
            // A tab that is spelled `\t` stands before the mark, not a name.
            length = 0;
            reader.recent = 0;
        } else if length > 0 || class == Class::Stop {
            return false;
        }
    }
    false
}

/// Whether a stem occurs in `name`.
pub(super) fn within(name: &[u8]) -> bool {
    let mut reader = Reader { recent: 0 };
    name.iter().rev().any(|byte| reader.reads(*byte, class(*byte)))
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
            "a\\npw=",
            "Cookie  :",
            "credentials!:",
            "MYSQL_PWD=",
            "sig?:",
            "pat_1=",
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
            "opw_x=",
            "   :",
            "\\t=",
        ] {
            let at = text.rfind(['=', ':']).expect("a mark");
            assert!(!before(text.as_bytes(), at), "{text}");
        }
    }
}
