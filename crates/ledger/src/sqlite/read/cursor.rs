//! Records where a page ends and the next begins: the sort key of its last item, as one opaque word.
//!
//! A key names a place, not a number of items before it, so that what is added meanwhile neither repeats nor hides an
//! item. The word is base64url over: a byte for the list, eight bytes (little endian) for each part of the key, two
//! bytes of a hash, so that a word of another list or a broken one is refused instead of read as some other place.

use xxhash_rust::xxh3::xxh3_64;

use crate::store::{Answer, MAX_LIMIT, Paging, QueryError};
use crate::view::Page;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The number of items of a page without a limit.
const USUAL_LIMIT: u32 = 100;

/// The lists that have pages. The numbers are in cursors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// Tasks.
    Tasks = 1,
    /// Rows of timelines, oldest first.
    Rows = 2,
    /// Rows of timelines, newest first.
    RowsNewestFirst = 3,
    /// Turns.
    Turns = 4,
    /// The context chart.
    Context = 5,
    /// Files of a task.
    TaskFiles = 6,
    /// Names by how often.
    Ranked = 7,
    /// Loops.
    Loops = 8,
    /// Usage.
    Usage = 9,
    /// Hits.
    Search = 10,
    /// Decisions of rules.
    Decisions = 11,
    /// Looks at other people's sessions.
    Visits = 12,
}

/// Returns a number for a name that stands in cursors: the same in every store and every process.
#[must_use]
pub fn stable(name: &str) -> i64 {
    xxh3_64(name.as_bytes()).cast_signed()
}

/// Returns how many items a page may have.
pub fn limit(paging: &Paging) -> usize {
    let limit = if paging.limit == 0 { USUAL_LIMIT } else { paging.limit.min(MAX_LIMIT) };
    limit as usize
}

/// Returns the word for a place.
pub fn write(list: List, key: &[i64]) -> String {
    let mut bytes = vec![list as u8];
    for part in key {
        bytes.extend_from_slice(&part.to_le_bytes());
    }
    let [low, high, ..] = xxh3_64(&bytes).to_le_bytes();
    bytes.extend_from_slice(&[low, high]);
    let mut word = String::with_capacity(bytes.len() * 4 / 3 + 3);
    for chunk in bytes.chunks(3) {
        let bits =
            chunk.iter().fold(0_u32, |bits, byte| (bits << 8) | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..=chunk.len() {
            let index = (bits >> (18 - 6 * place)) & 63;
            word.push(ALPHABET.get(index as usize).map_or('A', |byte| char::from(*byte)));
        }
    }
    word
}

/// Returns the place that a word names.
pub fn read<const N: usize>(list: List, word: &str) -> Answer<[i64; N]> {
    decode(list, word).ok_or_else(|| {
        QueryError::Bad(
            "`cursor` is not one of this list\nhint: use `nextCursor` of an earlier answer as it is"
                .to_owned(),
        )
    })
}

/// Returns the place at which a page begins, if it is not the first.
pub fn page_start<const N: usize>(list: List, paging: &Paging) -> Answer<Option<[i64; N]>> {
    paging.cursor.as_deref().map(|word| read(list, word)).transpose()
}

fn decode<const N: usize>(list: List, word: &str) -> Option<[i64; N]> {
    let wanted = 1 + 8 * N + 2;
    // Before anything is decoded: a word comes from outside and can be as long as a URL.
    if word.len() > wanted * 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(wanted);
    for chunk in word.as_bytes().chunks(4) {
        let mut bits = 0_u32;
        for byte in chunk {
            let index = ALPHABET.iter().position(|letter| letter == byte)?;
            bits = (bits << 6) | u32::try_from(index).ok()?;
        }
        bits <<= 6 * (4 - chunk.len());
        let [_, first, second, third] = bits.to_be_bytes();
        bytes.extend([first, second, third].iter().take(chunk.len().saturating_sub(1)));
    }
    let (body, hash) = bytes.split_at_checked(wanted - 2)?;
    let [low, high, ..] = xxh3_64(body).to_le_bytes();
    let (first, key) = body.split_first()?;
    // Two bytes are no secret and stop no one who wants to build a cursor. They stop words that were cut or belong to
    // another list.
    if hash != [low, high] || *first != list as u8 {
        return None;
    }
    let mut parts = [0_i64; N];
    for (part, bytes) in parts.iter_mut().zip(key.chunks_exact(8)) {
        *part = i64::from_le_bytes(bytes.try_into().ok()?);
    }
    Some(parts)
}

/// Returns a page of a list that is known as a whole: sorted by its key, which no two items share.
pub fn page<T, const N: usize>(
    list: List,
    paging: &Paging,
    mut items: Vec<T>,
    key: impl Fn(&T) -> [i64; N],
) -> Answer<Page<T>> {
    let after = page_start(list, paging)?;
    items.retain(|item| after.is_none_or(|after| key(item) > after));
    // After the cut-off: sorting only what is behind the cursor costs less on every page but the first.
    items.sort_unstable_by_key(&key);
    Ok(cut(list, limit(paging), items, key))
}

/// Returns a page out of items that are in order, of which one more than the page holds may have been fetched.
pub fn cut<T, const N: usize>(
    list: List,
    limit: usize,
    mut items: Vec<T>,
    key: impl Fn(&T) -> [i64; N],
) -> Page<T> {
    // One more than the page was fetched, which tells whether there is a next page without counting the list.
    let is_last = items.len() <= limit;
    items.truncate(limit);
    let next_cursor = if is_last { None } else { items.last().map(|last| write(list, &key(last))) };
    Page { items, next_cursor }
}

impl<T> Page<T> {
    /// Returns the same page with other items.
    pub fn map<U>(self, change: impl FnMut(T) -> U) -> Page<U> {
        Page { items: self.items.into_iter().map(change).collect(), next_cursor: self.next_cursor }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_page_has_a_hundred_items_unless_it_says_and_never_more_than_the_most() {
        let limit = |limit| super::limit(&Paging { cursor: None, limit });
        assert_eq!((limit(0), limit(7), limit(u32::MAX)), (100, 7, 500));
    }

    #[test]
    fn a_word_of_another_list_is_refused() {
        let word = write(List::Tasks, &[1, 2]);
        assert!(matches!(read::<2>(List::Search, &word), Err(QueryError::Bad(_))));
        assert!(matches!(read::<1>(List::Tasks, &word), Err(QueryError::Bad(_))));
        assert!(matches!(read::<2>(List::Tasks, ""), Err(QueryError::Bad(_))));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(key in any::<[i64; 3]>()) {
            let word = write(List::Rows, &key);
            prop_assert!(word.bytes().all(|byte| ALPHABET.contains(&byte)));
            prop_assert_eq!(read::<3>(List::Rows, &word).unwrap(), key);
        }

        #[test]
        fn garbage_is_no_panic_and_no_place(word in "\\PC{0,60}") {
            prop_assert!(read::<2>(List::Tasks, &word).is_err());
        }

        #[test]
        fn pages_together_are_the_list(mut items in proptest::collection::btree_set(any::<[i64; 2]>(), 0..50), limit in 1_u32..9) {
            let mut paging = Paging { cursor: None, limit };
            let mut seen = Vec::new();
            loop {
                let page = page(List::Ranked, &paging, items.iter().copied().collect(), |item| *item).unwrap();
                prop_assert!(page.items.len() <= limit as usize);
                seen.extend(page.items);
                // What comes in before the place that was reached changes nothing behind it.
                items.insert([i64::MIN, seen.len() as i64]);
                match page.next_cursor {
                    Some(cursor) => paging.cursor = Some(cursor),
                    None => break,
                }
            }
            items.retain(|item| item[0] != i64::MIN || seen.contains(item));
            prop_assert_eq!(seen, items.into_iter().collect::<Vec<_>>());
        }
    }
}
