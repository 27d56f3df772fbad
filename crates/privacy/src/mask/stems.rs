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

const PASS: u32 = u32::from_be_bytes(*b"pass");
const TOKE: u32 = u32::from_be_bytes(*b"toke");
const SECR: u32 = u32::from_be_bytes(*b"secr");
const AUTH: u32 = u32::from_be_bytes(*b"auth");
const CRED: u32 = u32::from_be_bytes(*b"cred");
const COOK: u32 = u32::from_be_bytes(*b"cook");
const SIGN: u32 = u32::from_be_bytes(*b"sign");
const PWD: u32 = u32::from_be_bytes(*b"\0pwd");
const KEY: u32 = u32::from_be_bytes(*b"\0key");
/// `pat` and `sig` only as words of their own: there are too many paths, patterns and signals.
const PAT: u32 = u32::from_be_bytes(*b"\0pat");
const SIG: u32 = u32::from_be_bytes(*b"\0sig");
/// `pw` at the very end of a name.
const PW: u32 = u32::from_be_bytes(*b"pw\0\0");

/// Reads a name from its end.
struct Reader {
    /// The last four bytes, the latest highest, in lower case. Signs change too, but into nothing that is compared.
    recent: u32,
}

impl Reader {
    /// Takes the byte before; whether a stem begins with it.
    #[inline(always)]
    fn reads(&mut self, byte: u8, class: Class) -> bool {
        self.recent = (self.recent >> 8) | (u32::from(byte | 0x20) << 24);
        class == Class::Initial && self.is_stem()
    }

    fn is_stem(&self) -> bool {
        let next = (self.recent & 0xff) as u8;
        matches!(self.recent, PASS | TOKE | SECR | AUTH | CRED | COOK | SIGN | PW)
            || matches!(self.recent >> 8, PWD | KEY)
            || (matches!(self.recent >> 8, PAT | SIG) && !next.is_ascii_alphabetic())
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
        } else if length == 1 && *byte == b'\\' && reader.recent >> 24 == u32::from(b't') {
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
