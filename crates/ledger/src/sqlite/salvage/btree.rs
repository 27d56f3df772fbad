//! The pages of a tree: cells, and the rows in them.
//!
//! The format: <https://www.sqlite.org/fileformat2.html#b_tree_pages>. Law: contradictory data is not believed. A cell
//! that leaves its page, a record whose parts do not have the stated length, or a text that is not UTF-8 gives no row.

use rusqlite::types::Value;

use super::pages::{PageNumber, Pages, number};

const INTERIOR_INDEX: u8 = 2;
const INTERIOR_TABLE: u8 = 5;
const LEAF_INDEX: u8 = 10;
const LEAF_TABLE: u8 = 13;

/// The longest row that is read: an observation has at most so many bytes.
const ROW_BYTES: u64 = 80 << 20;

/// A row of a table that has row ids.
pub(super) struct Row {
    pub(super) id: i64,
    pub(super) values: Vec<Value>,
}

/// The content of a page. A cell that cannot be read is `None`.
pub(super) enum Page {
    /// Rows with their ids.
    Leaf(Vec<Option<Row>>),
    /// Pages with the greatest id below each, and the last one.
    Interior(Vec<Option<(PageNumber, i64)>>, PageNumber),
    /// Rows of an index, or of a table without row ids.
    IndexLeaf(Vec<Option<Vec<Value>>>),
    /// The same with pages between them, and the last one.
    IndexInterior(Vec<(Option<PageNumber>, Option<Vec<Value>>)>, PageNumber),
}

impl Page {
    /// Reads a page; none if it is none of a tree.
    pub(super) fn read(pages: &Pages, page: PageNumber) -> Option<Self> {
        Self::parse(pages, page, &pages.read(page)?)
    }

    /// Reads it from an image of the page.
    pub(super) fn parse(pages: &Pages, page: PageNumber, bytes: &[u8]) -> Option<Self> {
        let begin = if page == 1 { 100 } else { 0 };
        let kind = *bytes.get(begin)?;
        let is_leaf = matches!(kind, LEAF_TABLE | LEAF_INDEX);
        let head = begin + if is_leaf { 8 } else { 12 };
        let count = usize::try_from(number(bytes, begin + 3, 2)?).ok()?;
        // Every cell takes a pointer and four bytes at least.
        if head + count * 6 > pages.usable {
            return None;
        }
        let cells = (0..count).map(|cell| {
            let at = usize::try_from(number(bytes, head + cell * 2, 2)?).ok()?;
            (at >= head + count * 2).then_some(())?;
            bytes.get(at..pages.usable)
        });
        let last = || number(bytes, begin + 8, 4);
        Some(match kind {
            LEAF_TABLE => Self::Leaf(cells.map(|cell| table_row(pages, cell?)).collect()),
            INTERIOR_TABLE => {
                let child =
                    |cell: &[u8]| Some((number(cell, 0, 4)?, varint(cell.get(4..)?)?.0.cast_signed()));
                Self::Interior(cells.map(|cell| child(cell?)).collect(), last()?)
            }
            LEAF_INDEX => Self::IndexLeaf(cells.map(|cell| index_row(pages, cell?)).collect()),
            INTERIOR_INDEX => {
                let parts = cells.map(|cell| match cell {
                    Some(cell) => (number(cell, 0, 4), cell.get(4..).and_then(|rest| index_row(pages, rest))),
                    None => (None, None),
                });
                Self::IndexInterior(parts.collect(), last()?)
            }
            _ => return None,
        })
    }
}

fn table_row(pages: &Pages, cell: &[u8]) -> Option<Row> {
    let (length, taken) = varint(cell)?;
    let rest = cell.get(taken..)?;
    let (id, taken) = varint(rest)?;
    let record = payload(pages, rest.get(taken..)?, length, pages.usable.checked_sub(35)?)?;
    Some(Row { id: id.cast_signed(), values: values(&record)? })
}

fn index_row(pages: &Pages, cell: &[u8]) -> Option<Vec<Value>> {
    let (length, taken) = varint(cell)?;
    let most = (pages.usable.checked_sub(12)? * 64 / 255).checked_sub(23)?;
    values(&payload(pages, cell.get(taken..)?, length, most)?)
}

/// Returns all bytes of a record, of which at most so many stand in its cell.
fn payload(pages: &Pages, cell: &[u8], length: u64, most: usize) -> Option<Vec<u8>> {
    if length > ROW_BYTES {
        return None;
    }
    let length = usize::try_from(length).ok()?;
    if length <= most {
        return cell.get(..length).map(<[u8]>::to_vec);
    }
    let least = (pages.usable.checked_sub(12)? * 32 / 255).checked_sub(23)?;
    let chunk = pages.usable.checked_sub(4)?;
    let here = least + length.checked_sub(least)? % chunk;
    let here = if here <= most { here } else { least };
    let mut record = cell.get(..here)?.to_vec();
    let mut next = number(cell, here, 4)?;
    while record.len() < length {
        let page = pages.read(next).filter(|_| next <= pages.count)?;
        let part = chunk.min(length - record.len());
        record.extend_from_slice(page.get(4..4 + part)?);
        next = number(&page, 0, 4)?;
    }
    // A chain that goes on behind its end is another's.
    (next == 0).then_some(record)
}

/// Reads the values of a record; none unless they fill it.
fn values(record: &[u8]) -> Option<Vec<Value>> {
    let (length, mut at) = varint(record)?;
    let head = record.get(..usize::try_from(length).ok()?)?;
    let mut body = record.get(head.len()..)?;
    let mut values = Vec::new();
    while at < head.len() {
        let (kind, taken) = varint(head.get(at..)?)?;
        at += taken;
        let bytes = match kind {
            0 | 8 | 9 => 0,
            1..=4 => kind,
            5 => 6,
            6 | 7 => 8,
            10 | 11 => return None,
            _ => (kind - 12) / 2,
        };
        let (value, rest) = body.split_at_checked(usize::try_from(bytes).ok()?)?;
        body = rest;
        values.push(match kind {
            0 => Value::Null,
            1..=6 => Value::Integer(signed(value)),
            7 => Value::Real(f64::from_be_bytes(value.try_into().ok()?)),
            8 => Value::Integer(0),
            9 => Value::Integer(1),
            _ if kind % 2 == 0 => Value::Blob(value.to_vec()),
            _ => Value::Text(String::from_utf8(value.to_vec()).ok()?),
        });
    }
    (at == head.len() && body.is_empty()).then_some(values)
}

fn signed(bytes: &[u8]) -> i64 {
    let negative = bytes.first().is_some_and(|byte| byte & 0x80 != 0);
    bytes.iter().fold(if negative { -1 } else { 0 }, |sum, byte| sum << 8 | i64::from(*byte))
}

/// Reads a number of one to nine bytes, and tells how many there were.
fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut sum = 0_u64;
    for (at, byte) in bytes.iter().take(9).enumerate() {
        if at == 8 {
            return Some((sum << 8 | u64::from(*byte), 9));
        }
        sum = sum << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((sum, at + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_length_are_read() {
        for (bytes, expected) in [
            (&[0x00][..], (0, 1)),
            (&[0x7f], (127, 1)),
            (&[0x81, 0x00], (128, 2)),
            (&[0xff; 9], (u64::MAX, 9)),
        ] {
            assert_eq!(varint(bytes), Some(expected));
        }
        assert_eq!((varint(&[]), varint(&[0x80])), (None, None));
        assert_eq!((signed(&[0xff, 0xfe]), signed(&[1, 0, 0])), (-2, 65_536));
    }

    #[test]
    fn a_record_that_contradicts_itself_is_none() {
        let whole = [4, 1, 15, 9, 0xff, b'a'];
        let read = values(&whole).unwrap();
        assert_eq!(read, [Value::Integer(-1), Value::Text("a".to_owned()), Value::Integer(1)]);
        for (at, byte) in [(0, 5), (0, 200), (1, 6), (2, 17), (2, 11), (5, 0xff)] {
            let mut damaged = whole;
            damaged[at] = byte;
            assert_eq!(values(&damaged), None, "{at} {byte}");
        }
        assert_eq!(values(&whole[..5]), None);
        assert_eq!(values(&[whole.as_slice(), &[0]].concat()), None);
    }
}
