//! Decides which price holds for what was spent.
//!
//! A model need not have every price in every tier. The rules, in this order, for each kind of token:
//! - If the prompt is longer than a threshold, every token of the response has the price above it: that of the tier;
//!   else the standard one, but never less than the tier asks for short prompts.
//! - Else the price of the tier; else the standard price. Fast without a price of its own is priority.
//! - A write for an hour without a price costs what one for five minutes costs; reads and writes of a cache without a
//!   price cost what input costs.
//! - Inference in the US alone multiplies the price of a token.

use crate::money::{PicoDollars, divide_half_even};
use crate::spent::{Prompt, Region, Spent, Tier};
use crate::table::{Model, PicoPrice, RateSet, Rates};

/// Returns what the spent tokens and searches cost.
pub(crate) fn cost(model: &Model, sets: &[RateSet], spent: &Spent) -> PicoDollars {
    let prompt_tokens = match spent.prompt {
        Prompt::Counted => spent.prompt_tokens(),
        Prompt::Short => 0,
        Prompt::AtLeast(tokens) => tokens,
    };
    let rate = |kind: fn(&Rates) -> Option<PicoPrice>| rate(sets, spent.tier, prompt_tokens, kind);
    // Every row has them; a row without could only be one that no one can have read.
    let input = rate(|rates| rates.input).unwrap_or(0);
    let output = rate(|rates| rates.output).unwrap_or(0);
    let cache_read = rate(|rates| rates.cache_read).unwrap_or(input);
    let cache_write_5m = rate(|rates| rates.cache_write_5m).unwrap_or(input);
    let cache_write_1h = rate(|rates| rates.cache_write_1h).unwrap_or(cache_write_5m);
    let factor = match spent.region {
        Region::Any => None,
        Region::UsOnly => model.us_only,
    };
    let tokens = [
        (spent.input, input),
        (spent.output, output),
        (spent.cache_read, cache_read),
        (spent.cache_write_5m, cache_write_5m),
        (spent.cache_write_1h, cache_write_1h),
    ];
    // The factor goes to the price of one token, not to the sum: so two halves cost what the whole costs.
    let tokens: PicoDollars =
        tokens.into_iter().map(|(count, price)| times(count, scaled(price, factor))).sum();
    tokens + times(spent.web_searches, u128::from(model.web_search.unwrap_or(0)))
}

fn times(count: u64, price: u128) -> PicoDollars {
    PicoDollars(u128::from(count).saturating_mul(price))
}

fn scaled(price: PicoPrice, factor: Option<u64>) -> u128 {
    let price = u128::from(price);
    match factor {
        Some(millionths) => divide_half_even(price.saturating_mul(u128::from(millionths)), 1_000_000),
        None => price,
    }
}

fn rate(
    sets: &[RateSet],
    tier: Tier,
    prompt_tokens: u64,
    kind: fn(&Rates) -> Option<PicoPrice>,
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

    fn rates(input: u64, output: u64) -> Rates {
        Rates { input: Some(input), output: Some(output), ..Rates::default() }
    }

    fn set(tier: Tier, above: Option<u64>, rates: Rates) -> RateSet {
        RateSet { tier, above, rates }
    }

    fn model() -> Model {
        let mut model = Model::new(Cow::Borrowed("m"), Origin::User);
        (model.us_only, model.web_search) = (Some(1_100_000), Some(1000));
        model
    }

    fn one_of_each() -> Spent {
        Spent { input: 1, output: 1, cache_read: 1, cache_write_5m: 1, cache_write_1h: 1, ..Spent::default() }
    }

    fn pico(sets: &[RateSet], spent: Spent) -> u128 {
        cost(&model(), sets, &spent).0
    }

    #[test]
    fn each_kind_of_token_has_its_price() {
        let all = Rates {
            input: Some(1),
            output: Some(20),
            cache_read: Some(300),
            cache_write_5m: Some(4000),
            cache_write_1h: Some(50_000),
        };
        let sets = [set(Tier::Standard, None, all)];
        assert_eq!(pico(&sets, one_of_each()), 54_321);
        assert_eq!(pico(&sets, Spent { web_searches: 3, ..Spent::default() }), 3000);
    }

    #[test]
    fn caches_without_a_price_cost_what_input_costs() {
        let sets = [set(Tier::Standard, None, rates(7, 100))];
        assert_eq!(pico(&sets, one_of_each()), 4 * 7 + 100);
        let sets = [set(Tier::Standard, None, Rates { cache_write_5m: Some(50), ..rates(7, 100) })];
        assert_eq!(pico(&sets, one_of_each()), 2 * 7 + 2 * 50 + 100);
    }

    #[test]
    fn a_tier_takes_its_own_prices_and_the_standard_ones_for_the_rest() {
        let sets = [
            set(Tier::Standard, None, Rates { cache_read: Some(3), ..rates(10, 100) }),
            set(Tier::Priority, None, rates(20, 200)),
        ];
        let spent = |tier| Spent { input: 1, output: 1, cache_read: 1, tier, ..Spent::default() };
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
        let spent = |input, cache_read| Spent { input, cache_read, output: 1, ..Spent::default() };
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
        let sum = Spent { input: 1000, ..Spent::default() };
        assert_eq!(pico(&sets, Spent { prompt: Prompt::Short, ..sum }), 10_000);
        assert_eq!(pico(&sets, Spent { prompt: Prompt::AtLeast(201), ..sum }), 20_000);
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
        let spent = |tier| Spent { input: 201, output: 1, tier, ..Spent::default() };
        assert_eq!(pico(&sets, spent(Tier::Priority)), 201 * 25 + 150);
        assert_eq!(pico(&sets, spent(Tier::Flex)), 201 * 20 + 150);
        assert_eq!(pico(&sets, spent(Tier::Batch)), 201 * 8 + 60);
    }

    #[test]
    fn a_tier_that_misses_the_highest_threshold_takes_the_next() {
        let sets = [
            set(Tier::Standard, None, rates(10, 100)),
            set(Tier::Standard, Some(200), rates(20, 150)),
            set(Tier::Flex, Some(500), Rates { output: Some(9), ..Rates::default() }),
        ];
        let spent = Spent { input: 501, output: 1, tier: Tier::Flex, ..Spent::default() };
        assert_eq!(pico(&sets, spent), 501 * 20 + 9);
    }

    #[test]
    fn the_us_alone_cost_more_per_token_but_not_per_search() {
        let sets = [set(Tier::Standard, None, rates(10, 100))];
        let spent =
            Spent { input: 3, output: 1, web_searches: 1, region: Region::UsOnly, ..Spent::default() };
        assert_eq!(pico(&sets, spent), 3 * 11 + 110 + 1000);
    }

    #[test]
    fn numbers_beyond_all_bounds_do_not_overflow() {
        let dear =
            Rates { cache_read: Some(u64::MAX), cache_write_5m: Some(u64::MAX), ..rates(u64::MAX, u64::MAX) };
        let sets = [set(Tier::Standard, None, dear)];
        let all = Spent {
            input: u64::MAX,
            output: u64::MAX,
            cache_read: u64::MAX,
            cache_write_5m: u64::MAX,
            cache_write_1h: u64::MAX,
            web_searches: u64::MAX,
            region: Region::UsOnly,
            ..Spent::default()
        };
        assert_eq!(pico(&sets, all), u128::MAX);
    }
}
