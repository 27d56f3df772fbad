//! A fixed table of names, indexed when it is compiled: a look-up costs a hash of four bytes and one compare.

/// Marks the end of a chain; so a table holds at most 255 rows.
const END: u8 = u8::MAX;

/// Names with their meanings.
pub(crate) struct Table<T: 'static, const N: usize> {
    rows: [(&'static [u8], T); N],
    /// For each hash the first row that has it.
    heads: [u8; 256],
    /// For each row the next one of the same hash.
    next: [u8; N],
}

const fn hash(length: usize, first: u8, middle: u8, last: u8) -> usize {
    let mixed = (length as u32)
        .wrapping_mul(0x9e37_79b1)
        .wrapping_add((first as u32).wrapping_mul(0x85eb_ca6b))
        .wrapping_add((middle as u32).wrapping_mul(0xc2b2_ae35))
        .wrapping_add((last as u32).wrapping_mul(0x27d4_eb2f));
    (mixed >> 24) as usize
}

impl<T: Copy, const N: usize> Table<T, N> {
    /// Builds the index. Names must be there once, and not be empty.
    #[expect(
        clippy::indexing_slicing,
        reason = "evaluated by the compiler, where a bad index is an error of the build"
    )]
    pub(crate) const fn new(rows: [(&'static [u8], T); N]) -> Self {
        assert!(N < END as usize, "the table has more rows than a byte can count");
        let mut heads = [END; 256];
        let mut next = [END; N];
        let mut at = 0;
        while at < N {
            let name = rows[at].0;
            let slot = hash(name.len(), name[0], name[name.len() / 2], name[name.len() - 1]);
            next[at] = heads[slot];
            heads[slot] = at as u8;
            at += 1;
        }
        Self { rows, heads, next }
    }

    /// Returns the meaning of `name`.
    #[inline]
    pub(crate) fn get(&self, name: &[u8]) -> Option<T> {
        let (first, last, middle) = (name.first()?, name.last()?, name.get(name.len() / 2)?);
        let slot = hash(name.len(), *first, *middle, *last);
        let mut at = *self.heads.get(slot)?;
        while let Some((known, meaning)) = self.rows.get(at as usize) {
            if *known == name {
                return Some(*meaning);
            }
            at = *self.next.get(at as usize)?;
        }
        None
    }

    /// Returns the names, in the order of the table.
    #[cfg(test)]
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static [u8]> + '_ {
        self.rows.iter().map(|row| row.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static NUMBERS: Table<u8, 3> = Table::new([(b"one", 1), (b"two", 2), (b"three", 3)]);

    #[test]
    fn only_names_in_the_table_are_found() {
        assert_eq!(NUMBERS.get(b"one"), Some(1));
        assert_eq!(NUMBERS.get(b"two"), Some(2));
        assert_eq!(NUMBERS.get(b"three"), Some(3));
        for other in [&b""[..], b"o", b"onE", b"ones", b"four", b"thrXe"] {
            assert_eq!(NUMBERS.get(other), None);
        }
    }
}
