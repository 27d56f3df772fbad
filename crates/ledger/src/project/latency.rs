//! Durations in logarithmic buckets: integers that can be added and taken away, so that a percentile of any stretch is
//! the percentile of a sum.
//!
//! Bucket `b` holds durations in (γ^(b-1), γ^b] milliseconds with γ = 1.02, and answers with the middle of that range in
//! the sense of the ratio, so that no answer is more than 1 % from the true duration. Zero has a bucket of its own.

use std::collections::BTreeMap;

const GAMMA: f64 = 1.02;

/// No duration has a bucket behind this one.
pub const LAST: usize = 2_303;

/// Returns the bucket of a duration in milliseconds.
#[must_use]
pub fn bucket(ms: u64) -> i64 {
    match ms {
        0 => 0,
        1 => 1,
        ms => ((ms as f64).ln() / GAMMA.ln()).ceil() as i64 + 1,
    }
}

/// Returns the duration that a bucket stands for, in milliseconds.
#[must_use]
pub fn value(bucket: i64) -> f64 {
    match bucket {
        i64::MIN..=0 => 0.0,
        1 => 1.0,
        bucket => GAMMA.powi(i32::try_from(bucket - 1).unwrap_or(i32::MAX)) * 2.0 / (1.0 + GAMMA),
    }
}

/// Returns the duration that this share of all calls did not exceed, from buckets in ascending order with their counts.
#[must_use]
pub fn quantile(buckets: &[(i64, u64)], share: f64) -> Option<f64> {
    let total: u64 = buckets.iter().map(|(_, count)| count).sum();
    // The nearest rank, so that the answer is a duration that was measured, up to the width of its bucket.
    let rank = ((total as f64 * share).ceil() as u64).max(1);
    let mut seen = 0;
    for (bucket, count) in buckets {
        seen += count;
        if seen >= rank {
            return Some(value(*bucket));
        }
    }
    None
}

/// Returns how many of these durations are at most so many milliseconds. Those in the bucket of the bound count as
/// well, so that a duration up to 2 % above it may be among them, and none below it is ever missing.
#[must_use]
pub fn at_most(buckets: &BTreeMap<i64, u64>, ms: u64) -> u64 {
    buckets.range(..=bucket(ms)).map(|(_, count)| count).sum()
}

/// Packs buckets with their counts: ascending, each as its distance from the one before and its count, both in seven
/// bits to a byte with the lowest first. Buckets that hold nothing are left out.
#[must_use]
pub fn pack(buckets: &BTreeMap<i64, i64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut before = 0;
    for (bucket, count) in buckets {
        // Buckets that were subtracted to nothing are left out, so that a sum without rows packs to nothing and its
        // row goes.
        if let (Ok(distance), Ok(count @ 1..)) = (u64::try_from(*bucket - before), u64::try_from(*count)) {
            put(&mut bytes, distance);
            put(&mut bytes, count);
            before = *bucket;
        }
    }
    bytes
}

/// Unpacks buckets. What cannot be read ends the list.
#[must_use]
pub fn unpack(bytes: &[u8]) -> Vec<(i64, u64)> {
    let mut rest = bytes.iter();
    let mut buckets = Vec::new();
    let mut bucket = 0_i64;
    while let (Some(distance), Some(count)) = (take(&mut rest), take(&mut rest)) {
        bucket = bucket.saturating_add(i64::try_from(distance).unwrap_or(i64::MAX));
        buckets.push((bucket, count));
    }
    buckets
}

fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push((number as u8 & 0x7f) | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take(bytes: &mut std::slice::Iter<'_, u8>) -> Option<u64> {
    let mut number = 0_u64;
    // Bounded, so that damaged bytes end the reading and cannot shift beyond the number.
    for shift in (0..64).step_by(7) {
        let byte = bytes.next()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn small_durations_are_exact() {
        assert_eq!(value(bucket(0)), 0.0);
        assert_eq!(value(bucket(1)), 1.0);
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn no_duration_is_behind_the_last_bucket() {
        assert!(usize::try_from(bucket(u64::MAX)).unwrap() <= LAST);
    }

    proptest! {
        #[test]
        fn what_is_packed_is_unpacked(buckets in proptest::collection::btree_map(0_i64..2_000, 1_i64..1_000_000, 0..50)) {
            let unpacked: Vec<(i64, i64)> =
                unpack(&pack(&buckets)).into_iter().map(|(bucket, n)| (bucket, i64::try_from(n).unwrap())).collect();
            prop_assert_eq!(unpacked, buckets.into_iter().collect::<Vec<_>>());
        }

        #[test]
        fn garbage_is_no_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            prop_assert!(unpack(&bytes).len() <= bytes.len());
        }

        #[test]
        fn no_answer_is_more_than_one_percent_off(ms in 0_u64..1_000_000_000_000) {
            let answer = value(bucket(ms));
            prop_assert!((answer - ms as f64).abs() <= ms as f64 * 0.01 + 1e-9, "{} for {}", answer, ms);
        }

        #[test]
        fn counts_at_a_bound_are_off_by_two_percent_of_it_at_most(all in proptest::collection::vec(0_u64..100_000, 0..200), bound in 0_u64..120_000) {
            let mut buckets = BTreeMap::new();
            for ms in &all {
                *buckets.entry(bucket(*ms)).or_insert(0_u64) += 1;
            }
            let below = |limit: f64| all.iter().filter(|ms| **ms as f64 <= limit).count() as u64;
            let answer = at_most(&buckets, bound);
            prop_assert!(answer >= below(bound as f64) && answer <= below(bound as f64 * GAMMA + 1e-9));
        }

        #[test]
        fn percentiles_of_many_are_within_one_percent(mut all in proptest::collection::vec(0_u64..100_000, 1..200), share in 0.01_f64..1.0) {
            let mut counts = BTreeMap::new();
            for ms in &all {
                *counts.entry(bucket(*ms)).or_insert(0_u64) += 1;
            }
            let buckets: Vec<(i64, u64)> = counts.into_iter().collect();
            all.sort_unstable();
            let rank = ((all.len() as f64 * share).ceil() as usize).max(1);
            let exact = all[rank - 1] as f64;
            let answer = quantile(&buckets, share).unwrap();
            prop_assert!((answer - exact).abs() <= exact * 0.01 + 1e-9);
        }
    }
}
