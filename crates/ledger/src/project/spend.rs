//! The cost of responses of providers, summed: the one bundle of tokens and cost behind every sum, row and record.
//!
//! A response itself carries [`agent_tracer_event::Tokens`], as its provider counted it. Sums of responses are signed,
//! because a row that changes takes away what it had added.

use std::collections::BTreeMap;

use agent_tracer_event::Tokens;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// A dollar in the unit of costs.
pub const DOLLAR: i64 = 1_000_000_000_000;

/// Converts an unsigned count to a summand.
pub fn summand(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Tokens and cost of some responses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Spend {
    /// Input tokens.
    pub input: i64,
    /// Output tokens.
    pub output: i64,
    /// Tokens read from caches.
    pub cache_read: i64,
    /// Tokens written to caches.
    pub cache_write: i64,
    /// Reasoning tokens.
    pub reasoning: i64,
    /// Pico-dollars: every price per token is a whole number of them, so sums do not drift.
    pub cost: i64,
    /// Responses.
    pub responses: i64,
    /// Responses without a price.
    pub unpriced: i64,
}

/// Declares the arithmetic of a struct of sums: each field, and those that are sums themselves.
macro_rules! sums {
    ($name:ident { $($field:ident),* } { $($inner:ident),* }) => {
        impl $name {
            /// Returns the sums, added (`sign` 1) or taken away (`sign` -1).
            #[must_use]
            pub fn times(mut self, sign: i64) -> Self {
                $(self.$field = self.$field.saturating_mul(sign);)*
                $(self.$inner = self.$inner.times(sign);)*
                self
            }

            /// Returns `true` if all counts are zero.
            #[must_use]
            pub fn is_zero(&self) -> bool {
                *self == Self::default()
            }
        }

        impl std::ops::AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                $(self.$field = self.$field.saturating_add(other.$field);)*
                $(self.$inner += other.$inner;)*
            }
        }
    };
}
pub(crate) use sums;

sums!(Spend { input, output, cache_read, cache_write, reasoning, cost, responses, unpriced } {});

impl Spend {
    /// The columns of every table that keeps it, in the order of [`Self::numbers`].
    pub const COLUMNS: [&str; 8] =
        ["input", "output", "cache_read", "cache_write", "reasoning", "cost", "responses", "unpriced"];

    /// Returns the spend of one response. A response without a price has no cost and counts as unpriced.
    #[must_use]
    pub fn of_response(usage: &Tokens, cost: Option<i64>) -> Self {
        Self {
            input: summand(usage.input),
            output: summand(usage.output),
            cache_read: summand(usage.cache_read),
            cache_write: summand(usage.cache_write),
            reasoning: summand(usage.reasoning.unwrap_or(0)),
            cost: cost.unwrap_or(0),
            responses: 1,
            unpriced: i64::from(cost.is_none()),
        }
    }

    /// Returns the values of [`Self::COLUMNS`].
    #[must_use]
    pub const fn numbers(&self) -> [i64; 8] {
        [
            self.input,
            self.output,
            self.cache_read,
            self.cache_write,
            self.reasoning,
            self.cost,
            self.responses,
            self.unpriced,
        ]
    }

    /// Returns the spend whose [`Self::COLUMNS`] have these values.
    #[must_use]
    pub const fn of_numbers(numbers: [i64; 8]) -> Self {
        let [input, output, cache_read, cache_write, reasoning, cost, responses, unpriced] = numbers;
        Self { input, output, cache_read, cache_write, reasoning, cost, responses, unpriced }
    }

    /// Returns the tokens. A negative sum would be a slip of the writer and counts as none; reasoning of zero is
    /// unknown.
    #[must_use]
    pub fn tokens(&self) -> Tokens {
        let count = |sum: i64| u64::try_from(sum).unwrap_or(0);
        Tokens {
            input: count(self.input),
            output: count(self.output),
            cache_read: count(self.cache_read),
            cache_write: count(self.cache_write),
            reasoning: (self.reasoning > 0).then(|| count(self.reasoning)),
        }
    }

    /// Returns the sum of all tokens.
    #[must_use]
    pub fn token_sum(&self) -> i64 {
        [self.output, self.cache_read, self.cache_write]
            .iter()
            .fold(self.input, |sum, part| sum.saturating_add(*part))
    }
}

/// The spend at one model: with the two counts that a price depends on beside the tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelSums {
    /// Tokens and cost. Reasoning is not kept by model.
    pub spend: Spend,
    /// Those of the tokens written to caches that are cached for an hour.
    pub cache_write_1h: i64,
    /// Searches of the web that the provider made.
    pub searches: i64,
}

/// One of the numbers of a model's sums.
pub type ModelSumField = fn(&mut ModelSums) -> &mut i64;

sums!(ModelSums { cache_write_1h, searches } { spend });

impl ModelSums {
    /// The numbers that are tokens or searches.
    pub const PARTS: [ModelSumField; 6] = [
        |sums| &mut sums.spend.input,
        |sums| &mut sums.spend.output,
        |sums| &mut sums.spend.cache_read,
        |sums| &mut sums.spend.cache_write,
        |sums| &mut sums.cache_write_1h,
        |sums| &mut sums.searches,
    ];

    /// The stored form, which is older than [`Spend`]: the names of its members, in their order.
    const STORED: [(&str, ModelSumField); 9] = [
        ("n", |sums| &mut sums.spend.responses),
        ("input", |sums| &mut sums.spend.input),
        ("output", |sums| &mut sums.spend.output),
        ("cacheRead", |sums| &mut sums.spend.cache_read),
        ("cacheWrite", |sums| &mut sums.spend.cache_write),
        ("cacheWrite1h", |sums| &mut sums.cache_write_1h),
        ("searches", |sums| &mut sums.searches),
        ("cost", |sums| &mut sums.spend.cost),
        ("unpriced", |sums| &mut sums.spend.unpriced),
    ];
}

impl Serialize for ModelSums {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sums = *self;
        let mut members = serializer.serialize_map(Some(Self::STORED.len()))?;
        for (name, number) in Self::STORED {
            members.serialize_entry(name, number(&mut sums))?;
        }
        members.end()
    }
}

impl<'de> Deserialize<'de> for ModelSums {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = BTreeMap::<String, Value>::deserialize(deserializer)?;
        let mut sums = Self::default();
        for (name, number) in Self::STORED {
            if let Some(value) = members.get(name) {
                *number(&mut sums) = i64::deserialize(value).map_err(serde::de::Error::custom)?;
            }
        }
        Ok(sums)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_a_model_are_stored_as_they_always_were() {
        let spend = Spend {
            input: 1,
            output: 2,
            cache_read: 3,
            cache_write: 4,
            cost: 7,
            responses: 9,
            unpriced: 8,
            ..Spend::default()
        };
        let sums = ModelSums { spend, cache_write_1h: 5, searches: 6 };
        let stored = r#"{"n":9,"input":1,"output":2,"cacheRead":3,"cacheWrite":4,"cacheWrite1h":5,"searches":6,"cost":7,"unpriced":8}"#;
        assert_eq!(serde_json::to_string(&sums).unwrap(), stored);
        assert_eq!(serde_json::from_str::<ModelSums>(stored).unwrap(), sums);
        assert_eq!(serde_json::from_str::<ModelSums>("{}").unwrap(), ModelSums::default());
        assert!(serde_json::from_str::<ModelSums>(r#"{"n":"x"}"#).is_err());
    }

    #[test]
    fn columns_and_numbers_have_one_order() {
        let members = serde_json::to_value(Spend::of_numbers([1, 2, 3, 4, 5, 6, 7, 8])).unwrap();
        let snake = |name: &str| name.replace("cacheRead", "cache_read").replace("cacheWrite", "cache_write");
        let members: Vec<(String, i64)> =
            members.as_object().unwrap().iter().map(|(name, n)| (snake(name), n.as_i64().unwrap())).collect();
        let columns: Vec<(String, i64)> =
            Spend::COLUMNS.iter().map(|name| (*name).to_owned()).zip(1..).collect();
        assert_eq!(members, columns);
    }
}
