//! Tests of sixteen bytes at a time, with one bit of the result for each byte.
//!
//! On x86-64 a test is one instruction for all sixteen, and so is the way from lanes to bits; every such processor has
//! them. Elsewhere the tests are loops over bytes, for the compiler to vectorise. Law: both give the same answer for
//! every byte.

/// The number of bytes tested at once.
pub(crate) const BLOCK: usize = 16;

#[cfg(target_arch = "x86_64")]
pub(crate) use native::Lanes;
#[cfg(not(target_arch = "x86_64"))]
pub(crate) use portable::Lanes;

#[cfg(target_arch = "x86_64")]
#[expect(
    unsafe_code,
    reason = "these instructions have no safe name outside of functions that are marked for them"
)]
mod native {
    use std::arch::x86_64::{
        __m128i, _mm_and_si128, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8,
        _mm_or_si128, _mm_set1_epi8, _mm_sub_epi8, _mm_xor_si128,
    };

    use super::BLOCK;

    /// Sixteen bytes, or the result of a test for each of them.
    #[derive(Clone, Copy)]
    pub(crate) struct Lanes(__m128i);

    // SAFETY, for all of these: the instructions are those of SSE2, which is part of x86-64; they touch no memory but
    // that of the block that is loaded, which is as long as what they read and may lie anywhere.
    impl Lanes {
        #[inline(always)]
        pub(crate) fn of(block: &[u8; BLOCK]) -> Self {
            // SAFETY: see above.
            Self(unsafe { _mm_loadu_si128(block.as_ptr().cast()) })
        }

        #[inline(always)]
        fn all(byte: u8) -> __m128i {
            // SAFETY: see above.
            unsafe { _mm_set1_epi8(byte.cast_signed()) }
        }

        /// Marks the bytes that equal `byte`.
        #[inline(always)]
        pub(crate) fn is(self, byte: u8) -> Self {
            // SAFETY: see above.
            Self(unsafe { _mm_cmpeq_epi8(self.0, Self::all(byte)) })
        }

        /// Marks the bytes that are at most `byte`.
        #[inline(always)]
        pub(crate) fn at_most(self, byte: u8) -> Self {
            // SAFETY: see above.
            Self(unsafe { _mm_cmpeq_epi8(_mm_min_epu8(self.0, Self::all(byte)), self.0) })
        }

        /// Marks the bytes that are one of the `count` values from `first` on.
        #[inline(always)]
        pub(crate) fn among(self, first: u8, count: u8) -> Self {
            // SAFETY: see above.
            Self(unsafe { _mm_sub_epi8(self.0, Self::all(first)) }).at_most(count - 1)
        }

        /// Returns the bytes with some of their bits set: capital letters become small ones.
        #[inline(always)]
        pub(crate) fn with(self, bits: u8) -> Self {
            // SAFETY: see above.
            Self(unsafe { _mm_or_si128(self.0, Self::all(bits)) })
        }

        /// Returns the bytes with some of their bits inverted.
        #[inline(always)]
        pub(crate) fn flip(self, bits: u8) -> Self {
            // SAFETY: see above.
            Self(unsafe { _mm_xor_si128(self.0, Self::all(bits)) })
        }

        #[inline(always)]
        pub(crate) fn or(self, other: Self) -> Self {
            // SAFETY: see above.
            Self(unsafe { _mm_or_si128(self.0, other.0) })
        }

        #[inline(always)]
        pub(crate) fn and(self, other: Self) -> Self {
            // SAFETY: see above.
            Self(unsafe { _mm_and_si128(self.0, other.0) })
        }

        /// Returns one bit for each marked byte; the first byte's is the lowest.
        #[inline(always)]
        pub(crate) fn bits(self) -> u32 {
            // SAFETY: see above.
            unsafe { _mm_movemask_epi8(self.0) }.cast_unsigned()
        }
    }
}

#[cfg(any(test, not(target_arch = "x86_64")))]
mod portable {
    use super::BLOCK;

    /// Sixteen bytes, or the result of a test for each of them.
    #[derive(Clone, Copy)]
    pub(crate) struct Lanes([u8; BLOCK]);

    impl Lanes {
        #[inline(always)]
        pub(crate) fn of(block: &[u8; BLOCK]) -> Self {
            Self(*block)
        }

        #[inline(always)]
        fn each(self, test: impl Fn(u8) -> bool) -> Self {
            Self(self.0.map(|byte| if test(byte) { u8::MAX } else { 0 }))
        }

        #[inline(always)]
        fn both(self, other: Self, join: impl Fn(u8, u8) -> u8) -> Self {
            let mut lanes = self.0;
            for (lane, byte) in lanes.iter_mut().zip(other.0) {
                *lane = join(*lane, byte);
            }
            Self(lanes)
        }

        /// Marks the bytes that equal `byte`.
        #[inline(always)]
        pub(crate) fn is(self, byte: u8) -> Self {
            self.each(|lane| lane == byte)
        }

        /// Marks the bytes that are at most `byte`.
        #[inline(always)]
        pub(crate) fn at_most(self, byte: u8) -> Self {
            self.each(|lane| lane <= byte)
        }

        /// Marks the bytes that are one of the `count` values from `first` on.
        #[inline(always)]
        pub(crate) fn among(self, first: u8, count: u8) -> Self {
            self.each(|lane| lane.wrapping_sub(first) < count)
        }

        /// Returns the bytes with some of their bits set: capital letters become small ones.
        #[inline(always)]
        pub(crate) fn with(self, bits: u8) -> Self {
            Self(self.0.map(|byte| byte | bits))
        }

        /// Returns the bytes with some of their bits inverted.
        #[inline(always)]
        pub(crate) fn flip(self, bits: u8) -> Self {
            Self(self.0.map(|byte| byte ^ bits))
        }

        #[inline(always)]
        pub(crate) fn or(self, other: Self) -> Self {
            self.both(other, |one, other| one | other)
        }

        #[inline(always)]
        pub(crate) fn and(self, other: Self) -> Self {
            self.both(other, |one, other| one & other)
        }

        /// Returns one bit for each marked byte; the first byte's is the lowest.
        #[inline(always)]
        pub(crate) fn bits(self) -> u32 {
            // The product gathers the lowest bits of eight bytes in its highest byte.
            let gather = |lanes: &[u8; 8]| {
                let ones = u64::from_le_bytes(*lanes) & 0x0101_0101_0101_0101;
                (ones.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u32
            };
            let (halves, _) = self.0.as_chunks::<8>();
            halves.iter().rev().fold(0, |bits, half| (bits << 8) | gather(half))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_implementations_agree_on_every_byte_at_every_place() {
        for byte in 0..=255u8 {
            for place in 0..BLOCK {
                let mut block = [b'x'; BLOCK];
                block[place] = byte;
                let (native, portable) = (Lanes::of(&block), portable::Lanes::of(&block));
                let expected = if byte == b'x' { 0xffff } else { 1 << place };
                assert_eq!(native.is(byte).bits(), expected);
                assert_eq!(portable.is(byte).bits(), expected);
                for other in [0, 1, b' ', b'x', 0x7f, 0x80, 0xff] {
                    let (one, two) = (native.at_most(other), portable.at_most(other));
                    assert_eq!(one.bits(), two.bits(), "{byte} at most {other}");
                    let both =
                        (native.is(other).or(native.is(b'x')), portable.is(other).or(portable.is(b'x')));
                    assert_eq!(both.0.bits(), both.1.bits());
                    assert_eq!(one.and(both.0).bits(), two.and(both.1).bits());
                    assert_eq!(native.with(other).is(b'x').bits(), portable.with(other).is(b'x').bits());
                    let (one, two) = (native.among(other, 26), portable.among(other, 26));
                    assert_eq!(one.bits(), two.bits(), "{byte} among 26 from {other}");
                    assert_eq!(native.flip(other).is(b'x').bits(), portable.flip(other).is(b'x').bits());
                }
            }
        }
    }

    #[test]
    fn every_byte_has_its_own_bit() {
        let block = std::array::from_fn(|place| if place % 3 == 0 { b'=' } else { b'a' });
        assert_eq!(Lanes::of(&block).is(b'=').bits(), 0b1001_0010_0100_1001);
        assert_eq!(portable::Lanes::of(&block).is(b'=').bits(), 0b1001_0010_0100_1001);
    }
}
