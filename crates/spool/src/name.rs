//! The name of an envelope: `<20-digit nanoseconds>-<pid>-<counter>`.
//!
//! Names sort by time of arrival and hold nothing of the payload. Only canonical names parse (no
//! leading zeros but in the time), so a name is one value and one file name at the same time.

use std::fmt;

use crate::decimal;

/// Digits of the time, then two numbers of at most ten digits, each with its dash.
const CAPACITY: usize = 20 + 1 + 10 + 1 + 10;

/// The file name of one envelope; orders as its text does, so oldest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EnvelopeName {
    /// The text, padded with zero bytes: they sort below every byte of a name.
    bytes: [u8; CAPACITY],
    length: u8,
}

impl EnvelopeName {
    /// Returns the name for a time of arrival, the writer's pid and the writer's counter.
    pub fn new(nanos: u64, pid: u32, counter: u32) -> EnvelopeName {
        let mut text = Vec::with_capacity(CAPACITY);
        // Twenty digits hold any `u64`, so that names sort as their times do.
        decimal::push_padded(&mut text, nanos);
        text.push(b'-');
        decimal::push(&mut text, u64::from(pid));
        text.push(b'-');
        decimal::push(&mut text, u64::from(counter));
        EnvelopeName::from_text(&text)
    }

    /// Reads a file name; `None` for anything that [`EnvelopeName::new`] would not write.
    pub fn parse(text: &[u8]) -> Option<EnvelopeName> {
        let (nanos, rest) = text.split_at_checked(20)?;
        decimal::read(nanos)?;
        let mut parts = rest.strip_prefix(b"-")?.split(|byte| *byte == b'-');
        let (pid, counter) = (parts.next()?, parts.next()?);
        let canonical = |text: &[u8]| {
            let number = decimal::read(text)?;
            (number <= u64::from(u32::MAX) && (text.len() == 1 || !text.starts_with(b"0"))).then_some(())
        };
        canonical(pid)?;
        canonical(counter)?;
        parts.next().is_none().then(|| EnvelopeName::from_text(text))
    }

    /// Returns the file name.
    pub fn as_str(&self) -> &str {
        let text = self.bytes.get(..usize::from(self.length)).unwrap_or_default();
        std::str::from_utf8(text).unwrap_or_default()
    }

    /// Returns the time of arrival in nanoseconds since the epoch.
    pub fn nanos(&self) -> u64 {
        self.bytes.get(..20).and_then(decimal::read).unwrap_or_default()
    }

    /// Takes text that is known to be a name.
    fn from_text(text: &[u8]) -> EnvelopeName {
        let mut bytes = [0u8; CAPACITY];
        for (slot, byte) in bytes.iter_mut().zip(text) {
            *slot = *byte;
        }
        EnvelopeName { bytes, length: text.len().min(CAPACITY) as u8 }
    }
}

impl fmt::Display for EnvelopeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for EnvelopeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_and_sort_by_time() {
        let names = [
            EnvelopeName::new(0, 0, 0),
            EnvelopeName::new(9, u32::MAX, u32::MAX),
            EnvelopeName::new(10, 1, 0),
            EnvelopeName::new(1_731_600_000_123_456_789, 812, 0),
            EnvelopeName::new(u64::MAX, u32::MAX, u32::MAX),
        ];
        assert!(names.is_sorted());
        for name in names {
            assert_eq!(EnvelopeName::parse(name.as_str().as_bytes()), Some(name));
        }
        assert_eq!(names[3].as_str(), "01731600000123456789-812-0");
        assert_eq!(names[3].nanos(), 1_731_600_000_123_456_789);
        assert_eq!(names[4].as_str().len(), CAPACITY);
    }

    #[test]
    fn order_is_the_order_of_the_file_names() {
        let names: Vec<_> = [(5, 1, 0), (5, 1, 1), (5, 1, 10), (5, 10, 0), (5, 2, 0), (6, 0, 0)]
            .map(|(n, p, c)| EnvelopeName::new(n, p, c))
            .into();
        let mut sorted = names.clone();
        sorted.sort();
        let mut texts: Vec<_> = names.iter().map(EnvelopeName::as_str).collect();
        texts.sort_unstable();
        assert_eq!(sorted.iter().map(EnvelopeName::as_str).collect::<Vec<_>>(), texts);
    }

    #[test]
    fn only_names_of_the_writer_are_parsed() {
        let nanos = "01731600000123456789";
        for text in [
            "",
            "-",
            ".",
            "..",
            ".reason",
            nanos,
            "1-2-3",
            &format!("{nanos}-1"),
            &format!("{nanos}-1-"),
            &format!("{nanos}--1"),
            &format!("{nanos}-1-2-3"),
            &format!("{nanos}-01-2"),
            &format!("{nanos}-1-00"),
            &format!("{nanos}-1-2.reason"),
            &format!("{nanos}-1-2 "),
            &format!("{nanos}-4294967296-0"),
            &format!("{nanos}-1-4294967296"),
            &format!("{nanos}0-1-2"),
            "99999999999999999999-1-2",
            "0173160000012345678x-1-2",
            "../../../../etc/passwd",
        ] {
            assert_eq!(EnvelopeName::parse(text.as_bytes()), None, "{text:?}");
        }
    }
}
