//! Tables by name.
//!
//! Every command is looked up in several tables by its name. The keys are fixed when the program is built, so no input
//! can be chosen to make them collide, and a short hash is enough.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A table that is looked into by name.
pub(crate) type Index<V> = HashMap<&'static str, V, BuildHasherDefault<ShortHash>>;

/// FNV-1a: one multiplication per byte, made for short keys.
pub(crate) struct ShortHash(u64);

impl Default for ShortHash {
    fn default() -> Self {
        // The offset basis of FNV-1a for 64 bits; the factor below is its prime.
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for ShortHash {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
