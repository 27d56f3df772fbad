//! Exact shares of a cost: prices of single tokens, and the division of an amount.
//!
//! Law: a division loses nothing. Whatever is split is the sum of its parts to the last pico-dollar, and an amount
//! without a price stays unpriced instead of being counted as zero.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// Holds the tokens of one response. The four counts of read tokens do not overlap: their sum is the prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenCounts {
    /// Counts the tokens that were neither read from a cache nor written to one.
    pub input: u64,
    /// Counts the tokens that were read from a cache.
    pub cache_read: u64,
    /// Counts the tokens that were written to a cache for five minutes, or for a time that the provider does not name.
    pub cache_write_5m: u64,
    /// Counts the tokens that were written to a cache for an hour.
    pub cache_write_1h: u64,
    /// Counts the tokens that the model wrote.
    pub output: u64,
    /// Counts those of the written tokens that were reasoning.
    pub reasoning: u64,
}

impl TokenCounts {
    /// Returns the counts without implausible ones, so that sums of them stay within 64 bits.
    #[must_use]
    pub fn capped(self) -> Self {
        let cap = |count: u64| count.min(MOST_TOKENS);
        Self {
            input: cap(self.input),
            cache_read: cap(self.cache_read),
            cache_write_5m: cap(self.cache_write_5m),
            cache_write_1h: cap(self.cache_write_1h),
            output: cap(self.output),
            reasoning: cap(self.reasoning),
        }
    }

    /// Returns the tokens that the model read.
    #[must_use]
    pub fn prompt(&self) -> u64 {
        self.cache_read.saturating_add(self.cache_write()).saturating_add(self.input)
    }

    /// Returns the tokens that were written to a cache.
    #[must_use]
    pub fn cache_write(&self) -> u64 {
        self.cache_write_5m.saturating_add(self.cache_write_1h)
    }
}

/// Holds the price of one token of each kind in one response, in pico-dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rates {
    /// The price of a token that no cache holds.
    pub input: u64,
    /// The price of a token that is read from a cache.
    pub cache_read: u64,
    /// The price of a token that is written to a cache for five minutes.
    pub cache_write_5m: u64,
    /// The price of a token that is written to a cache for an hour.
    pub cache_write_1h: u64,
    /// The price of a token that the model writes.
    pub output: u64,
}

impl Rates {
    /// Relations between the prices of one model that hold for most models, for costs whose table is not known.
    const USUAL: Self =
        Self { input: 100, cache_read: 10, cache_write_5m: 125, cache_write_1h: 200, output: 500 };

    /// Returns the price of the prompt.
    #[must_use]
    pub fn prompt(&self, tokens: &TokenCounts) -> u128 {
        [
            (tokens.input, self.input),
            (tokens.cache_read, self.cache_read),
            (tokens.cache_write_5m, self.cache_write_5m),
            (tokens.cache_write_1h, self.cache_write_1h),
        ]
        .into_iter()
        .map(|(count, rate)| u128::from(count) * u128::from(rate))
        .sum()
    }

    /// Returns the price of all tokens.
    #[must_use]
    pub fn total(&self, tokens: &TokenCounts) -> u128 {
        self.prompt(tokens) + u128::from(tokens.output) * u128::from(self.output)
    }

    /// Returns rates under which the prompt of a response is not dearer than the response was.
    ///
    /// The recorded cost is the truth. Where the table of today disagrees with it, or knows no price, its relations
    /// still divide the cost: each rate is scaled and rounded down, and what rounding leaves belongs to the output.
    #[must_use]
    pub fn fitted(known: Option<Self>, tokens: &TokenCounts, cost: u64) -> Self {
        let rates = known.unwrap_or(Self::USUAL);
        let total = rates.total(tokens);
        let fits = total <= u128::from(cost);
        if known.is_some() && fits || total == 0 {
            return rates;
        }
        let scaled = |rate: u64| {
            let scaled = u128::from(rate) * u128::from(cost) / total;
            u64::try_from(scaled).unwrap_or(u64::MAX)
        };
        Self {
            input: scaled(rates.input),
            cache_read: scaled(rates.cache_read),
            cache_write_5m: scaled(rates.cache_write_5m),
            cache_write_1h: scaled(rates.cache_write_1h),
            output: scaled(rates.output),
        }
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

/// The most tokens of one kind that one response can plausibly have. Sums of capped counts stay within 64 bits.
const MOST_TOKENS: u64 = 1 << 40;

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
            let tokens = TokenCounts { input, cache_read, output, ..TokenCounts::default() };
            let known = rates.map(|(input, cache_read, output)| Rates { input, cache_read, output, ..Rates::default() });
            let fitted = Rates::fitted(known, &tokens, cost);
            prop_assert!(fitted.prompt(&tokens) <= u128::from(cost) || fitted.total(&tokens) == 0);
            if let Some(known) = known.filter(|known| known.total(&tokens) == u128::from(cost)) {
                prop_assert_eq!(fitted, known);
            }
        }
    }
}
