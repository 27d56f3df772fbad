//! Describes what a response used up, in the counts that providers bill.

use agent_tracer_event::{Metadata, Tokens, attributes};

/// The billed counts of one response, or of several with one tier and region. The four counts of tokens that were
/// read do not overlap: their sum is the prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BilledUsage {
    /// Tokens read that were neither read from nor written to a cache.
    pub input: u64,
    /// Tokens written by the model, reasoning included.
    pub output: u64,
    /// Tokens read from a cache.
    pub cache_read: u64,
    /// Tokens written to a cache for five minutes, or for a time that the provider does not name.
    pub cache_write_5m: u64,
    /// Tokens written to a cache for an hour.
    pub cache_write_1h: u64,
    /// Searches of the web that the provider made.
    pub web_searches: u64,
    /// At which service the provider answered.
    pub tier: Tier,
    /// The place where it had to answer.
    pub region: Region,
    /// Is true if prices for long prompts apply.
    pub prompt: Prompt,
}

impl BilledUsage {
    /// Returns all tokens that the model read: what decides whether the prompt is a long one.
    #[must_use]
    pub fn prompt_tokens(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write_tokens())
    }

    /// Returns the tokens that were written to a cache, for any time.
    #[must_use]
    pub fn cache_write_tokens(&self) -> u64 {
        self.cache_write_5m.saturating_add(self.cache_write_1h)
    }

    /// Returns the usage without implausible counts of tokens, so that sums of many responses stay within 64 bits.
    #[must_use]
    pub fn capped(self) -> Self {
        let cap = |count: u64| count.min(MOST_TOKENS);
        Self {
            input: cap(self.input),
            output: cap(self.output),
            cache_read: cap(self.cache_read),
            cache_write_5m: cap(self.cache_write_5m),
            cache_write_1h: cap(self.cache_write_1h),
            ..self
        }
    }

    /// Reads what a response's fact says: its usage, how long the cache was written for, searches, service and region.
    ///
    /// An unknown tier or region counts as the ordinary one. Nothing if there is no usage.
    #[must_use]
    pub fn read(metadata: &Metadata) -> Option<Self> {
        let mut spent = Self::from(&Tokens::read(metadata)?);
        let count = |key: &str| metadata.get(key).and_then(|number| number.as_u64()).unwrap_or(0);
        let word = |key: &str| metadata.get(key).and_then(|word| word.as_str()).unwrap_or_default();
        // The sum rules over its parts: what is not said to be kept for an hour was kept for five minutes.
        spent.cache_write_1h = count(attributes::CACHE_CREATION_1H_TOKENS).min(spent.cache_write_5m);
        spent.cache_write_5m -= spent.cache_write_1h;
        spent.web_searches = count(attributes::WEB_SEARCH_REQUESTS);
        spent.tier = match word(attributes::SPEED) {
            "fast" => Tier::Fast,
            _ => Tier::from_name(word(attributes::SERVICE_TIER)).unwrap_or_default(),
        };
        spent.region = if word(attributes::INFERENCE_GEO) == "us" { Region::UsOnly } else { Region::Any };
        Some(spent)
    }
}

/// The most tokens of one kind that one response can plausibly have.
const MOST_TOKENS: u64 = 1 << 40;

impl From<&Tokens> for BilledUsage {
    /// Takes every write to a cache for one of five minutes: [`Tokens`] does not tell them apart.
    fn from(usage: &Tokens) -> Self {
        Self {
            input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read,
            cache_write_5m: usage.cache_write,
            ..Self::default()
        }
    }
}

/// The service that was paid for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// The standard tier.
    #[default]
    Standard,
    /// Answers within a day, for half of the price.
    Batch,
    /// Fast mode. Where it has no price of its own it is another name for priority.
    Fast,
    /// Cheaper and slower.
    Flex,
    /// Ahead of the others.
    Priority,
    /// Faster than priority.
    Ultrafast,
}

impl Tier {
    /// Every tier.
    pub const ALL: [Self; 6] =
        [Self::Standard, Self::Batch, Self::Fast, Self::Flex, Self::Priority, Self::Ultrafast];

    /// Returns the name that the price table and the user's own prices use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Batch => "batch",
            Self::Fast => "fast",
            Self::Flex => "flex",
            Self::Priority => "priority",
            Self::Ultrafast => "ultrafast",
        }
    }

    /// Returns the tier of that name; `default` and `auto` are what providers call the standard one.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "default" | "auto" => Some(Self::Standard),
            name => Self::ALL.into_iter().find(|tier| tier.name() == name),
        }
    }
}

/// The place where the provider had to compute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Region {
    /// Anywhere: the list price.
    #[default]
    Any,
    /// In the United States only, which some models charge extra for.
    UsOnly,
}

/// Tells whether the prices for long prompts apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Prompt {
    /// The counts are one response's: its prompt decides.
    #[default]
    Counted,
    /// They are the sum of several responses with short prompts, or no one knows: a sum says nothing about a prompt.
    Short,
    /// They are the sum of several responses with prompts of at least this many tokens each.
    AtLeast(u64),
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_tier_is_found_by_its_name() {
        for tier in Tier::ALL {
            assert_eq!(Tier::from_name(tier.name()), Some(tier));
        }
        assert_eq!(Tier::from_name("default"), Some(Tier::Standard));
        assert_eq!(Tier::from_name("express"), None);
    }

    #[test]
    fn a_usage_is_spent_whole() {
        let usage = Tokens::from_inclusive(100, 40, 10, 7, Some(3));
        let spent = BilledUsage::from(&usage);
        assert_eq!(spent.prompt_tokens() + spent.output, usage.total());
        assert_eq!((spent.input, spent.cache_read, spent.cache_write_5m), (50, 40, 10));
    }

    #[test]
    fn a_fact_says_how_long_caches_live_and_who_served_it() {
        let mut metadata = Metadata::new();
        assert_eq!(BilledUsage::read(&metadata), None);
        Tokens::from_inclusive(100, 40, 10, 7, None).write(&mut metadata);
        let plain = BilledUsage {
            input: 50,
            output: 7,
            cache_read: 40,
            cache_write_5m: 10,
            ..BilledUsage::default()
        };
        assert_eq!(BilledUsage::read(&metadata), Some(plain));
        for (key, value) in [
            ("cacheCreation1hTokens", json!(4)),
            ("webSearchRequests", json!(2)),
            ("serviceTier", json!("priority")),
            ("inferenceGeo", json!("us")),
        ] {
            metadata.insert(key.to_owned(), value);
        }
        let served = BilledUsage {
            cache_write_5m: 6,
            cache_write_1h: 4,
            web_searches: 2,
            tier: Tier::Priority,
            region: Region::UsOnly,
            ..plain
        };
        assert_eq!(BilledUsage::read(&metadata), Some(served));
        metadata.insert("speed".to_owned(), json!("fast"));
        assert_eq!(BilledUsage::read(&metadata), Some(BilledUsage { tier: Tier::Fast, ..served }));
    }

    #[test]
    fn parts_that_exceed_the_whole_and_unknown_words_are_harmless() {
        let mut metadata = Metadata::new();
        Tokens::from_inclusive(10, 0, 10, 0, None).write(&mut metadata);
        for (key, value) in [
            ("cacheCreation1hTokens", json!(99)),
            ("webSearchRequests", json!(-1)),
            ("serviceTier", json!("express")),
            ("speed", json!(3)),
            ("inferenceGeo", json!("not_available")),
        ] {
            metadata.insert(key.to_owned(), value);
        }
        assert_eq!(
            BilledUsage::read(&metadata),
            Some(BilledUsage { cache_write_1h: 10, ..BilledUsage::default() })
        );
    }

    #[test]
    fn caps_take_only_what_is_implausible() {
        let plain = BilledUsage { input: 5, output: 7, cache_write_1h: 3, ..BilledUsage::default() };
        assert_eq!(plain.capped(), plain);
        let broken = BilledUsage { cache_read: u64::MAX, ..plain };
        assert_eq!(broken.capped(), BilledUsage { cache_read: MOST_TOKENS, ..plain });
    }

    #[test]
    fn a_prompt_beyond_all_bounds_saturates() {
        let spent = BilledUsage { input: u64::MAX, cache_read: 5, ..BilledUsage::default() };
        assert_eq!(spent.prompt_tokens(), u64::MAX);
    }
}
