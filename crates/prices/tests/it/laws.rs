//! Describes what holds for every model of the table, every tier and every count.

use agent_tracer_prices::{BilledUsage, PicoDollars, Prices, Prompt, Region, Tier};
use proptest::prelude::*;

fn names() -> Vec<String> {
    Prices::embedded().models().map(str::to_owned).collect()
}

fn count() -> impl Strategy<Value = u64> {
    // Around the thresholds for long prompts, and small ones.
    prop_oneof![0..300_u64, 90_000..110_000_u64, 190_000..300_000_u64, 0..2_000_000_u64]
}

fn spent(prompt: Prompt) -> impl Strategy<Value = BilledUsage> {
    let tier = prop::sample::select(&Tier::ALL[..]);
    let region = prop::sample::select(&[Region::Any, Region::UsOnly][..]);
    (count(), count(), count(), count(), count(), 0..9_u64, tier, region).prop_map(
        move |(input, output, cache_read, cache_write_5m, cache_write_1h, web_searches, tier, region)| {
            BilledUsage {
                input,
                output,
                cache_read,
                cache_write_5m,
                cache_write_1h,
                web_searches,
                tier,
                region,
                prompt,
            }
        },
    )
}

fn plus(one: &BilledUsage, two: &BilledUsage) -> BilledUsage {
    BilledUsage {
        input: one.input + two.input,
        output: one.output + two.output,
        cache_read: one.cache_read + two.cache_read,
        cache_write_5m: one.cache_write_5m + two.cache_write_5m,
        cache_write_1h: one.cache_write_1h + two.cache_write_1h,
        web_searches: one.web_searches + two.web_searches,
        ..*one
    }
}

fn bands() -> impl Strategy<Value = Prompt> {
    prop::sample::select(&[Prompt::Short, Prompt::AtLeast(250_000), Prompt::AtLeast(1_000_000)][..])
}

proptest! {
    #[test]
    fn two_parts_of_one_tier_cost_what_their_sum_costs(
        name in prop::sample::select(names()),
        (one, two) in bands().prop_flat_map(|band| (spent(band), spent(band))),
    ) {
        let two = BilledUsage { tier: one.tier, region: one.region, ..two };
        let prices = Prices::embedded();
        let price = prices.find(&name).unwrap();
        prop_assert_eq!(price.cost(&one) + price.cost(&two), price.cost(&plus(&one, &two)));
    }

    #[test]
    fn more_never_costs_less_even_across_a_threshold(
        name in prop::sample::select(names()),
        less in spent(Prompt::Counted),
        more in spent(Prompt::Counted),
    ) {
        let prices = Prices::embedded();
        let price = prices.find(&name).unwrap();
        prop_assert!(price.cost(&less) <= price.cost(&plus(&less, &more)), "{less:?}");
    }

    #[test]
    fn any_counts_have_a_cost_and_the_dearer_region_never_the_lower_one(
        name in prop::sample::select(names()),
        counts in any::<[u64; 6]>(),
        tier in prop::sample::select(&Tier::ALL[..]),
    ) {
        let [input, output, cache_read, cache_write_5m, cache_write_1h, web_searches] = counts;
        let any = BilledUsage { input, output, cache_read, cache_write_5m, cache_write_1h, web_searches, tier, ..BilledUsage::default() };
        let prices = Prices::embedded();
        let cost = prices.cost(&name, &any).unwrap();
        let us_only = BilledUsage { region: Region::UsOnly, ..any };
        prop_assert!(prices.cost(&name, &us_only).unwrap() >= cost);
        prop_assert!(cost.micro().dollars() >= 0.0);
    }

    #[test]
    fn a_price_of_the_user_is_the_one_that_counts(
        name in prop::sample::select(names()),
        prices in prop::array::uniform5(0..1_000_000_000_u64),
        spent in spent(Prompt::Short),
    ) {
        let [input, output, read, short, long] =
            prices.map(|price| format!("{}.{:06}", price / 1_000_000, price % 1_000_000));
        let text = format!(
            "[models.\"{name}\"]\ninput = {input}\noutput = {output}\ncache_read = {read}\ncache_write_5m = {short}\ncache_write_1h = {long}\n"
        );
        let spent = BilledUsage { tier: Tier::Standard, region: Region::Any, web_searches: 0, ..spent };
        let counts = [spent.input, spent.output, spent.cache_read, spent.cache_write_5m, spent.cache_write_1h];
        let expected = counts.iter().zip(prices).map(|(count, price)| PicoDollars(u128::from(*count) * u128::from(price))).sum();
        let with = Prices::with_overrides(&text).unwrap();
        prop_assert_eq!(with.cost(&name, &spent), Some(expected));
        prop_assert_eq!(with.find(&name).unwrap().window(), Prices::embedded().find(&name).unwrap().window());
    }
}

#[test]
fn what_costs_nothing_is_nothing() {
    let prices = Prices::embedded();
    for name in prices.models() {
        assert_eq!(prices.cost(name, &BilledUsage::default()), Some(PicoDollars::ZERO), "{name}");
    }
}
