//! Exact shares of a cost: rates that fit it, and the division of an amount.
//!
//! Law: a division loses nothing. Whatever is split is the sum of its parts to the last pico-dollar, and an amount
//! without a price stays unpriced instead of being counted as zero.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use agent_tracer_prices::{BilledUsage, Rates};

/// Relations between the prices of one model that hold for most models, for costs whose table is not known.
const USUAL: Rates =
    Rates { input: 100, output: 500, cache_read: 10, cache_write_5m: 125, cache_write_1h: 200 };

/// Returns rates under which the prompt of a response is not dearer than the response was.
///
/// The recorded cost is the truth. Where the table of today disagrees with it, or knows no price, its relations still
/// divide the cost: each rate is scaled and rounded down, and what rounding leaves belongs to the output.
#[must_use]
pub fn fit_rates(known: Option<Rates>, usage: &BilledUsage, cost: u64) -> Rates {
    let rates = known.unwrap_or(USUAL);
    let total = rates.total(usage).0;
    let fits = total <= u128::from(cost);
    if known.is_some() && fits || total == 0 {
        return rates;
    }
    let scaled = |rate: u64| {
        let scaled = u128::from(rate).saturating_mul(u128::from(cost)) / total;
        u64::try_from(scaled).unwrap_or(u64::MAX)
    };
    Rates {
        input: scaled(rates.input),
        output: scaled(rates.output),
        cache_read: scaled(rates.cache_read),
        cache_write_5m: scaled(rates.cache_write_5m),
        cache_write_1h: scaled(rates.cache_write_1h),
    }
}

/// Holds a cost as far as prices are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// The part with a price, in pico-dollars.
    pub priced: u64,
    /// Counts the tokens without a price.
    pub unpriced_tokens: u64,
}

impl Amount {
    /// Returns an amount with a price.
    #[must_use]
    pub const fn of(pico_dollars: u64) -> Self {
        Self { priced: pico_dollars, unpriced_tokens: 0 }
    }

    /// Returns tokens without a price.
    #[must_use]
    pub const fn unpriced(tokens: u64) -> Self {
        Self { priced: 0, unpriced_tokens: tokens }
    }

    /// Returns the cost in pico-dollars, or `None` if no part of it has a price and some tokens have none.
    #[must_use]
    pub const fn known(&self) -> Option<u64> {
        if self.priced == 0 && self.unpriced_tokens > 0 { None } else { Some(self.priced) }
    }

    /// Returns the amount without a part of it.
    #[must_use]
    pub const fn without(self, part: Self) -> Self {
        Self {
            priced: self.priced.saturating_sub(part.priced),
            unpriced_tokens: self.unpriced_tokens.saturating_sub(part.unpriced_tokens),
        }
    }
}

impl Add for Amount {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            priced: self.priced.saturating_add(other.priced),
            unpriced_tokens: self.unpriced_tokens.saturating_add(other.unpriced_tokens),
        }
    }
}

impl AddAssign for Amount {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Amount {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::default(), Add::add)
    }
}

/// Divides a whole in proportion to weights. The parts add up to the whole; without any weight the first part is all.
#[must_use]
pub fn divide(whole: u64, weights: &[u64]) -> Vec<u64> {
    let all: u128 = weights.iter().copied().map(u128::from).sum();
    if all == 0 {
        let mut parts = vec![0; weights.len()];
        if let Some(first) = parts.first_mut() {
            *first = whole;
        }
        return parts;
    }
    // Smaller weights of the same proportion keep the products below within 128 bits.
    let shift = (u128::BITS - all.leading_zeros()).saturating_sub(u64::BITS);
    let all: u128 = weights.iter().map(|weight| u128::from(*weight) >> shift).sum();
    // Each part is the difference of two rounded sums, so the roundings cancel out and no remainder is left over.
    let mut weighed = 0_u128;
    let mut given = 0_u64;
    let mut parts = Vec::with_capacity(weights.len());
    for weight in weights {
        weighed += u128::from(*weight) >> shift;
        let until = u64::try_from(u128::from(whole) * weighed / all.max(1)).unwrap_or(whole);
        parts.push(until - given);
        given = until;
    }
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn cost_without_any_price_is_not_zero() {
        assert_eq!(Amount::default().known(), Some(0));
        assert_eq!(Amount::unpriced(5).known(), None);
        assert_eq!((Amount::unpriced(5) + Amount::of(7)).known(), Some(7));
    }

    proptest! {
        #[test]
        fn parts_add_up_to_the_whole(whole in 0_u64..u64::MAX, weights in proptest::collection::vec(0_u64..u64::MAX, 1..20)) {
            let parts = divide(whole, &weights);
            prop_assert_eq!(parts.iter().copied().map(u128::from).sum::<u128>(), u128::from(whole));
            prop_assert!(weights.iter().all(|weight| *weight == 0) || parts.iter().zip(&weights).all(|(part, weight)| *weight > 0 || *part == 0));
        }

        #[test]
        fn fitted_rates_never_make_a_prompt_dearer_than_its_response(
            input in 0_u64..1_000_000, cache_read in 0_u64..1_000_000, output in 0_u64..100_000, cost in 0_u64..1_000_000_000_000_000,
            rates in proptest::option::of((0_u64..100_000_000, 0_u64..10_000_000, 0_u64..100_000_000)),
        ) {
            let usage = BilledUsage { input, cache_read, output, ..BilledUsage::default() };
            let known = rates.map(|(input, cache_read, output)| Rates { input, cache_read, output, ..Rates::default() });
            let fitted = fit_rates(known, &usage, cost);
            prop_assert!(fitted.prompt(&usage).0 <= u128::from(cost) || fitted.total(&usage).0 == 0);
            if let Some(known) = known.filter(|known| known.total(&usage).0 == u128::from(cost)) {
                prop_assert_eq!(fitted, known);
            }
        }
    }
}
