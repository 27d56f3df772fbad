//! Durations in logarithmic buckets: integers that can be added and taken away, so that a percentile of any stretch is
//! the percentile of a sum.
//!
//! Bucket `b` holds durations in (γ^(b-1), γ^b] milliseconds with γ = 1.02, and answers with the middle of that range in
//! the sense of the ratio, so that no answer is more than 1 % from the true duration. Zero has a bucket of its own.

const GAMMA: f64 = 1.02;

/// The bucket of a duration in milliseconds.
#[must_use]
pub fn bucket(ms: u64) -> i64 {
    match ms {
        0 => 0,
        1 => 1,
        ms => ((ms as f64).ln() / GAMMA.ln()).ceil() as i64 + 1,
    }
}

/// The duration that a bucket stands for, in milliseconds.
#[must_use]
pub fn value(bucket: i64) -> f64 {
    match bucket {
        i64::MIN..=0 => 0.0,
        1 => 1.0,
        bucket => GAMMA.powi(i32::try_from(bucket - 1).unwrap_or(i32::MAX)) * 2.0 / (1.0 + GAMMA),
    }
}

/// The duration that this share of all calls did not exceed, from buckets in ascending order with their counts.
#[must_use]
pub fn quantile(buckets: &[(i64, u64)], share: f64) -> Option<f64> {
    let total: u64 = buckets.iter().map(|(_, count)| count).sum();
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

    proptest! {
        #[test]
        fn no_answer_is_more_than_one_percent_off(ms in 0_u64..1_000_000_000_000) {
            let answer = value(bucket(ms));
            prop_assert!((answer - ms as f64).abs() <= ms as f64 * 0.01 + 1e-9, "{} for {}", answer, ms);
        }

        #[test]
        fn percentiles_of_many_are_within_one_percent(mut all in proptest::collection::vec(0_u64..100_000, 1..200), share in 0.01_f64..1.0) {
            let mut counts = std::collections::BTreeMap::new();
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
