//! The nesting of containers: a stack of bits, because dropped content may nest to any depth.

/// The open containers, one bit each: 1 for an object.
#[derive(Default)]
pub(crate) struct ContainerStack {
    full: Vec<u64>,
    word: u64,
    /// Bits in use of `word`; 0 only when nothing is open.
    used: u32,
}

impl ContainerStack {
    pub(crate) fn push(&mut self, object: bool) {
        if self.used == 64 {
            self.full.push(self.word);
            self.used = 0;
        }
        // One bit per container, because dropped content is not bounded in depth and a stack of bytes would be.
        self.word = (self.word << 1) | u64::from(object);
        self.used += 1;
    }

    pub(crate) fn pop(&mut self) {
        self.word >>= 1;
        self.used = self.used.saturating_sub(1);
        if self.used == 0
            && let Some(word) = self.full.pop()
        {
            self.word = word;
            self.used = 64;
        }
    }

    /// Returns `true` if the innermost container is an object; `None` if nothing is open.
    pub(crate) fn top(&self) -> Option<bool> {
        (self.used > 0).then_some(self.word & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_are_popped_in_reverse() {
        let mut nest = ContainerStack::default();
        let kinds: Vec<bool> =
            (0..1000u32).map(|number| number.wrapping_mul(2_654_435_761) >> 31 == 1).collect();
        assert_eq!(nest.top(), None);
        for kind in &kinds {
            nest.push(*kind);
        }
        for kind in kinds.iter().rev() {
            assert_eq!(nest.top(), Some(*kind));
            nest.pop();
        }
        assert_eq!(nest.top(), None);
        nest.pop();
        assert_eq!(nest.top(), None);
    }
}
