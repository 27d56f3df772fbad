//! The built-in table as a whole, and the names that people meet in it.

use agent_tracer_prices::{BilledUsage, Prices, Prompt, Region, Source, Tier};

fn million(tier: Tier) -> BilledUsage {
    BilledUsage { input: 1_000_000, output: 1_000_000, prompt: Prompt::Short, tier, ..BilledUsage::default() }
}

#[test]
fn every_row_is_found_by_its_own_name_and_says_where_it_comes_from() {
    let prices = Prices::embedded();
    let mut rows = 0;
    for name in prices.models() {
        let price = prices.find(name).unwrap();
        let about = price.about();
        assert_eq!((about.model, about.exact), (name, true));
        let Source::Litellm { version, date } = about.source else { panic!("{name} is the user's") };
        assert!(version.split('.').all(|part| part.parse::<u32>().is_ok()), "{name}: {version}");
        assert!(date.len() == 10 && date.starts_with("20"), "{name}: {date}");
        // A dollar per thousand tokens is beyond every list price: a slip of the unit would be, too.
        for tier in Tier::ALL {
            let dollars = price.cost(&million(tier)).dollars();
            assert!(dollars > 0.0 && dollars < 1000.0, "{name}: {dollars} a million");
        }
        assert!(price.window().is_none_or(|window| (4_000..=10_000_000).contains(&window)), "{name}");
        rows += 1;
    }
    assert!(rows > 300, "{rows} models");
}

#[test]
fn a_cache_never_makes_reading_dearer_and_writing_cheaper() {
    let prices = Prices::embedded();
    let one = BilledUsage { prompt: Prompt::Short, ..BilledUsage::default() };
    for name in prices.models() {
        let price = prices.find(name).unwrap();
        let fresh = price.cost(&BilledUsage { input: 1, ..one });
        assert!(price.cost(&BilledUsage { cache_read: 1, ..one }) <= fresh, "{name}");
        let short = price.cost(&BilledUsage { cache_write_5m: 1, ..one });
        assert!(short >= fresh && price.cost(&BilledUsage { cache_write_1h: 1, ..one }) >= short, "{name}");
    }
}

#[test]
fn models_that_were_retired_keep_their_last_price() {
    let prices = Prices::embedded();
    for (name, dollars) in [
        ("claude-sonnet-4-20250514", 18.0),
        ("claude-3-7-sonnet-20250219", 18.0),
        ("claude-3-5-haiku-20241022", 4.8),
        ("claude-opus-4-1-20250805", 90.0),
        ("codex-mini-latest", 7.5),
    ] {
        assert_eq!(prices.cost(name, &million(Tier::Standard)).unwrap().dollars(), dollars, "{name}");
        assert!(
            matches!(prices.about(name).unwrap().source, Source::Litellm { date: "2025-11-16", .. }),
            "{name}"
        );
    }
}

#[test]
fn tiers_regions_searches_and_long_prompts_have_their_prices() {
    let prices = Prices::embedded();
    let dollars = |name: &str, spent: BilledUsage| prices.cost(name, &spent).unwrap().dollars();
    assert_eq!(dollars("claude-opus-5-5", million(Tier::Standard)), 24.0);
    assert_eq!(dollars("claude-opus-5-5", million(Tier::Fast)), 48.0);
    assert_eq!(dollars("claude-opus-5-5", million(Tier::Batch)), 12.0);
    let us_only = BilledUsage { region: Region::UsOnly, ..million(Tier::Standard) };
    assert_eq!(dollars("claude-opus-5-5", us_only), 26.4);
    assert_eq!(dollars("claude-opus-5-5", BilledUsage { web_searches: 100, ..BilledUsage::default() }), 1.0);
    assert_eq!(
        dollars("claude-opus-5-5", BilledUsage { cache_write_1h: 1_000_000, ..BilledUsage::default() }),
        8.0
    );
    assert_eq!(dollars("gpt-5.5", million(Tier::Priority)), 87.5);
    // Fast mode of Codex is the priority of its provider.
    assert_eq!(dollars("gpt-5.5", million(Tier::Fast)), 87.5);
    assert_eq!(dollars("gpt-5.5", million(Tier::Flex)), 17.5);
    assert_eq!(dollars("gpt-6.1-sol", million(Tier::Ultrafast)), 72.0);
    let prompt = |input| BilledUsage { input, ..BilledUsage::default() };
    assert_eq!(dollars("gpt-5.5", prompt(272_000)), 1.36);
    assert_eq!(dollars("gpt-5.5", prompt(273_000)), 2.73);
    assert_eq!(dollars("claude-haiku-5-5", prompt(100_000)), 0.01);
    assert_eq!(dollars("claude-haiku-5-5", prompt(101_000)), 0.0505);
    // A long prompt costs most Claude models nothing extra.
    assert_eq!(dollars("claude-opus-5-5", prompt(900_000)), 3.6);
}

#[test]
fn names_of_clouds_dates_and_windows_lead_to_a_price() {
    let prices = Prices::embedded();
    for (said, row) in [
        ("claude-sonnet-4-5[1m]", "claude-sonnet-4-5"),
        ("claude-opus-5-5-20261101", "claude-opus-5-5"),
        ("anthropic/claude-opus-5-5", "claude-opus-5-5"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
        ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5@20250929"),
        ("claude-opus-4-0", "claude-opus-4-20250514"),
        ("openai/gpt-5.5", "gpt-5.5"),
        ("gpt-6-sol-2026-09-22", "gpt-6-sol"),
        ("CLAUDE-OPUS-5-5", "claude-opus-5-5"),
    ] {
        let about = prices.about(said).unwrap();
        assert_eq!(about.model, row, "{said}");
        assert_eq!(about.exact, said.eq_ignore_ascii_case(row), "{said}");
    }
    assert_eq!(prices.window("claude-sonnet-4-5"), Some(200_000));
    assert_eq!(prices.window("claude-sonnet-4-5[1m]"), Some(1_000_000));
    for unknown in ["sonnet", "<synthetic>", "gpt-99", "llama-4", ""] {
        assert!(prices.cost(unknown, &million(Tier::Standard)).is_none(), "{unknown}");
        assert!(prices.window(unknown).is_none() && prices.about(unknown).is_none(), "{unknown}");
    }
}

#[test]
fn a_source_is_named_in_words() {
    let prices = Prices::embedded();
    assert_eq!(prices.about("claude-opus-5-5").unwrap().source.to_string(), "litellm 1.108.4 of 2026-11-09");
    assert_eq!(Source::User.to_string(), "own prices");
}

#[test]
fn the_table_names_its_source_and_its_licence() {
    let text = include_str!("../../src/table.csv");
    let header: String = text.lines().take_while(|line| line.starts_with('#')).collect();
    assert!(header.contains("litellm") && header.contains("MIT") && header.contains("Copyright"));
}
