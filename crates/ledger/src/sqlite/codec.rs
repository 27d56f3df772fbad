//! The format of blobs: a byte for the encoding, then the bytes.
//!
//! `0x00`: unchanged. `0x01`: an LZ4 block behind its length, compressed with the dictionary of this room, because rows
//! are short and repeat the same names.

use std::borrow::Cow;
use std::cell::RefCell;

use super::pack::Packer;

const PLAIN: u8 = 0;
const PACKED: u8 = 1;

/// Shorter texts do not gain from packing.
const WORTH_PACKING: usize = 96;

/// Text that many rows share. Changing it would make packed rows unreadable: a new one needs a new first byte.
const DICTIONARY: &[u8] = include_bytes!("dictionary.txt");

/// A blob that cannot be read.
#[derive(Debug)]
pub(crate) struct Unreadable;

/// The buffers with which one thread encodes blobs. They are reused, because every row needs them.
struct Scratch {
    packer: Packer,
    json: Vec<u8>,
    blob: Vec<u8>,
}

/// Buffers that grew larger than this are given back.
const KEPT: usize = 256 * 1024;

thread_local! {
    static SCRATCH: RefCell<Scratch> =
        RefCell::new(Scratch { packer: Packer::new(DICTIONARY), json: Vec::new(), blob: Vec::new() });
}

impl Scratch {
    fn encode(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.blob.clear();
        if bytes.len() >= WORTH_PACKING {
            self.blob.push(PACKED);
            self.blob.extend_from_slice(&u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
            if !self.packer.pack(bytes, &mut self.blob) {
                self.blob.truncate(1);
                self.blob
                    .extend_from_slice(&lz4_flex::block::compress_prepend_size_with_dict(bytes, DICTIONARY));
            }
            if self.blob.len() <= bytes.len() {
                let blob = self.blob.clone();
                self.blob.shrink_to(KEPT);
                return blob;
            }
        }
        let mut blob = Vec::with_capacity(bytes.len() + 1);
        blob.push(PLAIN);
        blob.extend_from_slice(bytes);
        blob
    }
}

/// Writes a blob.
pub(crate) fn encode(bytes: &[u8]) -> Vec<u8> {
    SCRATCH.with_borrow_mut(|scratch| scratch.encode(bytes))
}

/// Reads a blob.
pub(crate) fn decode(blob: &[u8]) -> Result<Cow<'_, [u8]>, Unreadable> {
    match blob.split_first() {
        Some((&PLAIN, bytes)) => Ok(Cow::Borrowed(bytes)),
        Some((&PACKED, packed)) => lz4_flex::block::decompress_size_prepended_with_dict(packed, DICTIONARY)
            .map(Cow::Owned)
            .map_err(|_| Unreadable),
        _ => Err(Unreadable),
    }
}

/// Writes a value as a blob of JSON.
pub(crate) fn encode_json<T: serde::Serialize>(value: &T) -> Vec<u8> {
    SCRATCH.with_borrow_mut(|scratch| {
        let mut json = std::mem::take(&mut scratch.json);
        json.clear();
        if serde_json::to_writer(&mut json, value).is_err() {
            json.clear();
        }
        let blob = scratch.encode(&json);
        json.shrink_to(KEPT);
        scratch.json = json;
        blob
    })
}

/// Reads a value from a blob of JSON.
pub(crate) fn decode_json<T: serde::de::DeserializeOwned>(blob: &[u8]) -> Result<T, Unreadable> {
    serde_json::from_slice(&decode(blob)?).map_err(|_| Unreadable)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_that_every_row_has_cost_little() {
        let row = br#"{"k":"tool:toolu_01","t":"Run tests","h":"PostToolUse","m":{"permissionMode":"default","cwd":"/srv/app","subtypeKey":"run_test","subtypeLabel":"Run test","subtypeGroup":"execution","toolFamily":"terminal","operation":"execute"}}"#;
        assert!(encode(row).len() * 3 < row.len() * 2, "{} of {}", encode(row).len(), row.len());
    }

    #[test]
    fn a_text_of_any_length_comes_back() {
        for length in [0, 95, 96, 58_000, 70_000, 300_000] {
            let text: Vec<u8> = (0..length).map(|at: u32| (at / 3 % 251) as u8).collect();
            assert_eq!(decode(&encode(&text)).unwrap().into_owned(), text);
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(bytes in proptest::collection::vec(0..9_u8, 0..2000)) {
            prop_assert_eq!(decode(&encode(&bytes)).unwrap().into_owned(), bytes);
        }

        #[test]
        fn garbage_is_no_panic(blob in proptest::collection::vec(any::<u8>(), 0..200)) {
            decode(&blob).ok();
        }
    }
}
