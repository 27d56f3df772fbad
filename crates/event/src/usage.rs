//! Covers what a response of a provider cost in tokens, counted the same way for every agent.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::entry::Metadata;

/// The tokens of one response or of a sum of them. The four numbers do not overlap: their sum is all there was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Tokens read by the model that were neither read from nor written to a cache.
    pub input_tokens: u64,
    /// Tokens that the model wrote.
    pub output_tokens: u64,
    /// Tokens read from a cache.
    pub cache_read_tokens: u64,
    /// Tokens read by the model and written to a cache.
    pub cache_creation_tokens: u64,
    /// Holds how many of `output_tokens` were reasoning, where the provider says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
}

impl Usage {
    /// The key under which a fact carries it.
    pub const KEY: &str = "usage";

    /// From a provider that reports cached tokens inside the input, as OpenAI's do.
    #[must_use]
    pub fn from_inclusive(
        input: u64,
        cached: u64,
        cache_written: u64,
        output: u64,
        reasoning: Option<u64>,
    ) -> Self {
        // A provider that contradicts itself must not make the parts larger than the whole.
        let cache_read_tokens = cached.min(input);
        let cache_creation_tokens = cache_written.min(input - cache_read_tokens);
        Self {
            input_tokens: input - cache_read_tokens - cache_creation_tokens,
            output_tokens: output,
            cache_read_tokens,
            cache_creation_tokens,
            reasoning_tokens: reasoning,
        }
    }

    /// All tokens.
    #[must_use]
    pub fn total(&self) -> u64 {
        [self.output_tokens, self.cache_read_tokens, self.cache_creation_tokens]
            .iter()
            .fold(self.input_tokens, |sum, part| sum.saturating_add(*part))
    }

    /// The sum of two.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let reasoning_tokens = match (self.reasoning_tokens, other.reasoning_tokens) {
            (None, None) => None,
            (one, two) => Some(one.unwrap_or(0).saturating_add(two.unwrap_or(0))),
        };
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cache_read_tokens: self.cache_read_tokens.saturating_add(other.cache_read_tokens),
            cache_creation_tokens: self.cache_creation_tokens.saturating_add(other.cache_creation_tokens),
            reasoning_tokens,
        }
    }

    /// Writes it under its key, as an object with the names of the wire contract.
    pub fn write(&self, metadata: &mut Metadata) {
        let mut object = Metadata::new();
        object.insert("inputTokens".to_owned(), Value::from(self.input_tokens));
        object.insert("outputTokens".to_owned(), Value::from(self.output_tokens));
        object.insert("cacheReadTokens".to_owned(), Value::from(self.cache_read_tokens));
        object.insert("cacheCreationTokens".to_owned(), Value::from(self.cache_creation_tokens));
        if let Some(reasoning) = self.reasoning_tokens {
            object.insert("reasoningTokens".to_owned(), Value::from(reasoning));
        }
        metadata.insert(Self::KEY.to_owned(), Value::Object(object));
    }

    /// Reads what [`Usage::write`] wrote.
    #[must_use]
    pub fn read(metadata: &Metadata) -> Option<Self> {
        Self::deserialize(metadata.get(Self::KEY)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_tokens_are_taken_out_of_the_input() {
        let usage = Usage::from_inclusive(1230, 400, 30, 80, Some(30));
        assert_eq!(
            (usage.input_tokens, usage.cache_read_tokens, usage.cache_creation_tokens),
            (800, 400, 30)
        );
        assert_eq!(usage.total(), 1310);
    }

    #[test]
    fn parts_never_exceed_the_whole() {
        for (input, cached, written) in [(10, 20, 0), (10, 0, 20), (10, 8, 8), (0, 1, 1)] {
            let usage = Usage::from_inclusive(input, cached, written, 1, None);
            assert_eq!(usage.total(), input + 1);
        }
        assert_eq!(Usage::from_inclusive(u64::MAX, 0, 0, u64::MAX, None).total(), u64::MAX);
    }

    #[test]
    fn what_is_written_is_read_and_has_the_names_of_the_contract() {
        let usage = Usage::from_inclusive(5, 2, 1, 7, Some(3));
        let mut metadata = Metadata::new();
        usage.write(&mut metadata);
        assert_eq!(Usage::read(&metadata), Some(usage));
        assert_eq!(metadata.get(Usage::KEY), serde_json::to_value(usage).ok().as_ref());
        assert_eq!(Usage::read(&Metadata::new()), None);
    }

    #[test]
    fn reasoning_is_unknown_only_if_both_are() {
        let plain = Usage::from_inclusive(1, 0, 0, 1, None);
        let thinking = Usage::from_inclusive(1, 0, 0, 1, Some(1));
        assert_eq!(plain.plus(&plain).reasoning_tokens, None);
        assert_eq!(plain.plus(&thinking), Usage { input_tokens: 2, output_tokens: 2, ..thinking });
    }
}
