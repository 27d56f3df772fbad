//! The sum of a copy, behind its last page: the letters `agent-tracer-sum` and the XXH3-128 of all that stands before them,
//! little-endian.
//!
//! It is a part of the copy's own file, so that a copy stays one file, whatever it is called and wherever it is moved. The
//! engine reads as many pages as the first one names, and never what is behind them. A page has 512 bytes or a multiple of
//! that, so the length of a file tells whether it should have a sum: one whose letters are damaged is missed.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use xxhash_rust::xxh3::Xxh3;

const MAGIC: &[u8; 16] = b"agent-tracer-sum";
const LENGTH: u64 = 32;
const PAGE_MIN: u64 = 512;

/// The result of comparing a copy with its sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CopySum {
    /// The file has none: it is no copy, or an earlier version made it.
    Absent,
    /// Its bytes are those that were written.
    Matches,
    /// They are not.
    Differs,
}

/// Appends the sum to a copy. The caller syncs the file.
pub(super) fn append(path: &Path) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).append(true).open(path)?;
    let length = file.metadata()?.len();
    let sum = sum_of(&mut file, length)?;
    let mut bytes = MAGIC.to_vec();
    bytes.extend(sum.to_le_bytes());
    file.write_all(&bytes)
}

/// Compares a copy with its sum.
pub(super) fn check(path: &Path) -> io::Result<CopySum> {
    let mut file = File::open(path)?;
    let Some(length) = content_length(&file)? else { return Ok(CopySum::Absent) };
    let sum = sum_of(&mut file, length)?;
    let mut end = Vec::new();
    file.take(LENGTH).read_to_end(&mut end)?;
    let is_same = end.strip_prefix(MAGIC).is_some_and(|known| known == sum.to_le_bytes());
    Ok(if is_same { CopySum::Matches } else { CopySum::Differs })
}

/// Cuts the sum off a copy that becomes a store.
pub(super) fn cut(path: &Path) -> io::Result<()> {
    let file = OpenOptions::new().write(true).open(path)?;
    match content_length(&file)? {
        Some(length) => file.set_len(length),
        None => Ok(()),
    }
}

/// Returns how many bytes stand before the sum; none if the file has none.
fn content_length(file: &File) -> io::Result<Option<u64>> {
    let length = file.metadata()?.len();
    Ok((length % PAGE_MIN == LENGTH).then(|| length - LENGTH))
}

/// Returns the sum of the first bytes, and leaves the file behind them.
fn sum_of(file: &mut File, length: u64) -> io::Result<u128> {
    let mut sum = Xxh3::new();
    let mut left = length;
    let mut bytes = vec![0; 1 << 16];
    while left > 0 {
        let wanted = usize::try_from(left).unwrap_or(bytes.len()).min(bytes.len());
        let part = bytes.get_mut(..wanted).unwrap_or_default();
        file.read_exact(part)?;
        sum.update(part);
        left -= wanted as u64;
    }
    Ok(sum.digest128())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_of_a_copy_and_of_its_sum_counts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("copy");
        let put = |bytes: &[u8]| File::create(&path).unwrap().write_all(bytes).unwrap();
        let pages: Vec<u8> = (0..1024_u32).map(|number| (number * 7) as u8).collect();
        put(&pages);
        assert_eq!(check(&path).unwrap(), CopySum::Absent);
        append(&path).unwrap();
        assert_eq!(check(&path).unwrap(), CopySum::Matches);
        let whole = std::fs::read(&path).unwrap();
        for place in (0..whole.len()).step_by(13).chain(1024..whole.len()) {
            let mut flipped = whole.clone();
            flipped[place] ^= 1 << (place % 8);
            put(&flipped);
            assert_eq!(check(&path).unwrap(), CopySum::Differs, "{place}");
        }
        put(&whole);
        cut(&path).unwrap();
        cut(&path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), pages);
    }
}
