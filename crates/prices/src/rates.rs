//! Decides which price holds for each token of a response.
//!
//! A model need not have every price in every tier. The rules, in this order, for each kind of token:
//! - If the prompt is longer than a threshold, every token of the response has the price above it: that of the tier;
//!   else the standard one, but never less than the tier asks for short prompts.
//! - Else the price of the tier; else the standard price. Fast without a price of its own is priority.
//! - A write for an hour without a price costs what one for five minutes costs; reads and writes of a cache without a
//!   price cost what input costs.
//! - Inference in the US alone multiplies the price of a token.

use crate::money::{PicoDollars, divide_half_even};
use crate::table::{ListedRates, Model, PicoPrice, RateSet};
use crate::usage::{BilledUsage, Prompt, Region, Tier};

/// Holds the price of one token of each kind in one response, in pico-dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rates {
    /// The price of a token that no cache holds.
    pub input: u64,
    /// The price of a token that the model writes.
    pub output: u64,
    /// The price of a token that is read from a cache.
    pub cache_read: u64,
    /// The price of a token that is written to a cache for five minutes.
    pub cache_write_5m: u64,
    /// The price of a token that is written to a cache for an hour.
    pub cache_write_1h: u64,
}

impl Rates {
    /// Returns the rates that hold for a response; its prompt decides about thresholds.
    pub(crate) fn choose(model: &Model, sets: &[RateSet], usage: &BilledUsage) -> Self {
        let prompt_tokens = match usage.prompt {
            Prompt::Counted => usage.prompt_tokens(),
            // A sum of short prompts is long and was never paid as such.
            Prompt::Short => 0,
            Prompt::AtLeast(tokens) => tokens,
        };
        let rate = |kind: fn(&ListedRates) -> Option<PicoPrice>| rate(sets, usage.tier, prompt_tokens, kind);
        // Every row has them; a row without could only be one that no one can have read.
        let input = rate(|rates| rates.input).unwrap_or(0);
        let output = rate(|rates| rates.output).unwrap_or(0);
        let cache_read = rate(|rates| rates.cache_read).unwrap_or(input);
        let cache_write_5m = rate(|rates| rates.cache_write_5m).unwrap_or(input);
        let cache_write_1h = rate(|rates| rates.cache_write_1h).unwrap_or(cache_write_5m);
        let factor = match usage.region {
            Region::Any => None,
            Region::UsOnly => model.us_only,
        };
        // The factor goes to the price of one token, not to the sum: so two halves cost what the whole costs.
        Self {
            input: scaled(input, factor),
            output: scaled(output, factor),
            cache_read: scaled(cache_read, factor),
            cache_write_5m: scaled(cache_write_5m, factor),
            cache_write_1h: scaled(cache_write_1h, factor),
        }
    }

    /// Returns the price of the prompt.
    #[must_use]
    pub fn prompt(&self, usage: &BilledUsage) -> PicoDollars {
        [
            (usage.input, self.input),
            (usage.cache_read, self.cache_read),
            (usage.cache_write_5m, self.cache_write_5m),
            (usage.cache_write_1h, self.cache_write_1h),
        ]
        .into_iter()
        .map(|(count, rate)| times(count, rate))
        .sum()
    }

    /// Returns the price of all tokens.
    #[must_use]
    pub fn total(&self, usage: &BilledUsage) -> PicoDollars {
        self.prompt(usage) + times(usage.output, self.output)
    }
}

/// Returns what the tokens and searches of a response cost.
pub(crate) fn cost(model: &Model, sets: &[RateSet], usage: &BilledUsage) -> PicoDollars {
    Rates::choose(model, sets, usage).total(usage) + times(usage.web_searches, model.web_search.unwrap_or(0))
}

fn times(count: u64, price: PicoPrice) -> PicoDollars {
    PicoDollars(u128::from(count).saturating_mul(u128::from(price)))
}

fn scaled(price: PicoPrice, factor: Option<u64>) -> PicoPrice {
    let Some(millionths) = factor else { return price };
    let scaled = divide_half_even(u128::from(price).saturating_mul(u128::from(millionths)), 1_000_000);
    PicoPrice::try_from(scaled).unwrap_or(PicoPrice::MAX)
}

fn rate(
    sets: &[RateSet],
    tier: Tier,
    prompt_tokens: u64,
    kind: fn(&ListedRates) -> Option<PicoPrice>,
) -> Option<PicoPrice> {
    let of = |tier: Tier, above: Option<u64>| {
        let set = sets.iter().find(|set| set.tier == tier && set.above == above)?;
        kind(&set.rates)
    };
    let of_tier = |above: Option<u64>| match tier {
        Tier::Standard => None,
        Tier::Fast => of(Tier::Fast, above).or_else(|| of(Tier::Priority, above)),
        Tier::Batch | Tier::Flex | Tier::Priority | Tier::Ultrafast => of(tier, above),
    };
    let short = of_tier(None).or_else(|| of(Tier::Standard, None));
    let passed = sets.iter().filter_map(|set| set.above).filter(|above| prompt_tokens > *above);
    // From the highest threshold down, because a tier need not know each of them.
    let mut bound = passed.clone().max();
    while let Some(above) = bound {
        let long = of_tier(Some(above))
            // Never less than the tier's short price: a tier that lists no threshold would get cheaper by a longer
            // prompt.
            .or_else(|| of(Tier::Standard, Some(above)).map(|price| price.max(short.unwrap_or(0))));
        if long.is_some() {
            return long;
        }
        bound = passed.clone().filter(|lower| *lower < above).max();
    }
    short
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::table::Origin;

    fn rates(input: u64, output: u64) -> ListedRates {
        ListedRates { input: Some(input), output: Some(output), ..ListedRates::default() }
    }

    fn set(tier: Tier, above: Option<u64>, rates: ListedRates) -> RateSet {
        RateSet { tier, above, rates }
    }

    fn model() -> Model {
        let mut model = Model::new(Cow::Borrowed("m"), Origin::User);
        (model.us_only, model.web_search) = (Some(1_100_000), Some(1000));
        model
    }

    fn one_of_each() -> BilledUsage {
        BilledUsage {
            input: 1,
            output: 1,
            cache_read: 1,
            cache_write_5m: 1,
            cache_write_1h: 1,
            ..BilledUsage::default()
        }
    }

    fn pico(sets: &[RateSet], spent: BilledUsage) -> u128 {
        cost(&model(), sets, &spent).0
    }

    #[test]
    fn each_kind_of_token_has_its_price() {
        let all = ListedRates {
            input: Some(1),
            output: Some(20),
            cache_read: Some(300),
            cache_write_5m: Some(4000),
            cache_write_1h: Some(50_000),
        };
        let sets = [set(Tier::Standard, None, all)];
        assert_eq!(pico(&sets, one_of_each()), 54_321);
        assert_eq!(pico(&sets, BilledUsage { web_searches: 3, ..BilledUsage::default() }), 3000);
    }

    #[test]
    fn caches_without_a_price_cost_what_input_costs() {
        let sets = [set(Tier::Standard, None, rates(7, 100))];
        assert_eq!(pico(&sets, one_of_each()), 4 * 7 + 100);
        let sets = [set(Tier::Standard, None, ListedRates { cache_write_5m: Some(50), ..rates(7, 100) })];
        assert_eq!(pico(&sets, one_of_each()), 2 * 7 + 2 * 50 + 100);
    }

    #[test]
    fn a_tier_takes_its_own_prices_and_the_standard_ones_for_the_rest() {
        let sets = [
            set(Tier::Standard, None, ListedRates { cache_read: Some(3), ..rates(10, 100) }),
            set(Tier::Priority, None, rates(20, 200)),
        ];
        let spent = |tier| BilledUsage { input: 1, output: 1, cache_read: 1, tier, ..BilledUsage::default() };
        assert_eq!(pico(&sets, spent(Tier::Standard)), 113);
        assert_eq!(pico(&sets, spent(Tier::Priority)), 223);
        assert_eq!(pico(&sets, spent(Tier::Flex)), 113);
        // Fast mode of those who have no such word.
        assert_eq!(pico(&sets, spent(Tier::Fast)), 223);
    }

    #[test]
    fn a_prompt_past_the_threshold_makes_every_token_dearer() {
        let sets = [
            set(Tier::Standard, None, rates(10, 100)),
            set(Tier::Standard, Some(200), rates(20, 150)),
            set(Tier::Standard, Some(500), rates(30, 160)),
        ];
        let spent =
            |input, cache_read| BilledUsage { input, cache_read, output: 1, ..BilledUsage::default() };
        assert_eq!(pico(&sets, spent(200, 0)), 200 * 10 + 100);
        assert_eq!(pico(&sets, spent(201, 0)), 201 * 20 + 150);
        // What a cache gave is part of the prompt.
        assert_eq!(pico(&sets, spent(100, 101)), 201 * 20 + 150);
        assert_eq!(pico(&sets, spent(501, 0)), 501 * 30 + 160);
    }

    #[test]
    fn a_sum_of_responses_is_not_a_long_prompt() {
        let sets =
            [set(Tier::Standard, None, rates(10, 100)), set(Tier::Standard, Some(200), rates(20, 150))];
        let sum = BilledUsage { input: 1000, ..BilledUsage::default() };
        assert_eq!(pico(&sets, BilledUsage { prompt: Prompt::Short, ..sum }), 10_000);
        assert_eq!(pico(&sets, BilledUsage { prompt: Prompt::AtLeast(201), ..sum }), 20_000);
        assert_eq!(pico(&sets, sum), 20_000);
    }

    #[test]
    fn a_tier_without_a_price_for_long_prompts_never_gets_cheaper_by_length() {
        let sets = [
            set(Tier::Standard, None, rates(10, 100)),
            set(Tier::Standard, Some(200), rates(20, 150)),
            set(Tier::Priority, None, rates(25, 140)),
            set(Tier::Flex, None, rates(5, 50)),
            set(Tier::Batch, Some(200), rates(8, 60)),
        ];
        let spent = |tier| BilledUsage { input: 201, output: 1, tier, ..BilledUsage::default() };
        assert_eq!(pico(&sets, spent(Tier::Priority)), 201 * 25 + 150);
        assert_eq!(pico(&sets, spent(Tier::Flex)), 201 * 20 + 150);
        assert_eq!(pico(&sets, spent(Tier::Batch)), 201 * 8 + 60);
    }

    #[test]
    fn a_tier_that_misses_the_highest_threshold_takes_the_next() {
        let sets = [
            set(Tier::Standard, None, rates(10, 100)),
            set(Tier::Standard, Some(200), rates(20, 150)),
            set(Tier::Flex, Some(500), ListedRates { output: Some(9), ..ListedRates::default() }),
        ];
        let spent = BilledUsage { input: 501, output: 1, tier: Tier::Flex, ..BilledUsage::default() };
        assert_eq!(pico(&sets, spent), 501 * 20 + 9);
    }

    #[test]
    fn the_us_alone_cost_more_per_token_but_not_per_search() {
        let sets = [set(Tier::Standard, None, rates(10, 100))];
        let spent = BilledUsage {
            input: 3,
            output: 1,
            web_searches: 1,
            region: Region::UsOnly,
            ..BilledUsage::default()
        };
        assert_eq!(pico(&sets, spent), 3 * 11 + 110 + 1000);
    }

    #[test]
    fn numbers_beyond_all_bounds_do_not_overflow() {
        let dear = ListedRates {
            cache_read: Some(u64::MAX),
            cache_write_5m: Some(u64::MAX),
            ..rates(u64::MAX, u64::MAX)
        };
        let sets = [set(Tier::Standard, None, dear)];
        let all = BilledUsage {
            input: u64::MAX,
            output: u64::MAX,
            cache_read: u64::MAX,
            cache_write_5m: u64::MAX,
            cache_write_1h: u64::MAX,
            web_searches: u64::MAX,
            region: Region::UsOnly,
            ..BilledUsage::default()
        };
        assert_eq!(pico(&sets, all), u128::MAX);
    }
}
