//! The tokens of responses, counted the same way for every agent.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::entry::Metadata;

/// The tokens of one response or of a sum of them. The first four numbers do not overlap: their sum is all there was.
///
/// The only bundle of token counts: readers, prices, folds, answers and the wire embed it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Tokens {
    /// Input tokens, without those read from or written to a cache.
    #[serde(rename = "inputTokens")]
    pub input: u64,
    /// Output tokens, reasoning included.
    #[serde(rename = "outputTokens")]
    pub output: u64,
    /// Tokens read from a cache.
    #[serde(rename = "cacheReadTokens")]
    pub cache_read: u64,
    /// Tokens written to a cache.
    #[serde(rename = "cacheCreationTokens")]
    pub cache_write: u64,
    /// Reasoning tokens, which are inside the output tokens, where the provider counts them.
    #[serde(default, rename = "reasoningTokens", skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
}

impl Tokens {
    /// The key under which a fact carries it.
    pub const KEY: &str = "usage";

    /// Returns the tokens of a provider that counts cached tokens inside the input, as OpenAI's do.
    #[must_use]
    pub fn from_inclusive(
        input: u64,
        cached: u64,
        cache_written: u64,
        output: u64,
        reasoning: Option<u64>,
    ) -> Self {
        // A provider that contradicts itself must not make the parts larger than the whole.
        let cache_read = cached.min(input);
        let cache_write = cache_written.min(input - cache_read);
        Self { input: input - cache_read - cache_write, output, cache_read, cache_write, reasoning }
    }

    /// Returns the tokens that the model read.
    #[must_use]
    pub fn prompt(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    /// Returns the number of all tokens.
    #[must_use]
    pub fn total(&self) -> u64 {
        // Saturating, because counts come from files that anybody can write.
        self.prompt().saturating_add(self.output)
    }

    /// Returns the result of a function of each two counts. Reasoning is unknown only if it is unknown in both.
    #[must_use]
    pub fn combine(&self, other: &Self, count: impl Fn(u64, u64) -> u64) -> Self {
        // Unknown and zero are different: a provider that counts no reasoning must not look like a model that did
        // none.
        let reasoning = match (self.reasoning, other.reasoning) {
            (None, None) => None,
            (one, two) => Some(count(one.unwrap_or(0), two.unwrap_or(0))),
        };
        Self {
            input: count(self.input, other.input),
            output: count(self.output, other.output),
            cache_read: count(self.cache_read, other.cache_read),
            cache_write: count(self.cache_write, other.cache_write),
            reasoning,
        }
    }

    /// Returns the sum of two.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        self.combine(other, u64::saturating_add)
    }

    /// Writes it under its key, as an object with the names of the wire contract.
    pub fn write(&self, metadata: &mut Metadata) {
        // Built by hand: serializing the struct into a value takes a fallible path for something that cannot fail.
        let mut object = Metadata::new();
        object.insert("inputTokens".to_owned(), Value::from(self.input));
        object.insert("outputTokens".to_owned(), Value::from(self.output));
        object.insert("cacheReadTokens".to_owned(), Value::from(self.cache_read));
        object.insert("cacheCreationTokens".to_owned(), Value::from(self.cache_write));
        if let Some(reasoning) = self.reasoning {
            object.insert("reasoningTokens".to_owned(), Value::from(reasoning));
        }
        metadata.insert(Self::KEY.to_owned(), Value::Object(object));
    }

    /// Reads what [`Tokens::write`] wrote.
    #[must_use]
    pub fn read(metadata: &Metadata) -> Option<Self> {
        // A usage of another shape is none; a wrong cost is worse than a missing one.
        Self::deserialize(metadata.get(Self::KEY)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_tokens_are_taken_out_of_the_input() {
        let usage = Tokens::from_inclusive(1230, 400, 30, 80, Some(30));
        assert_eq!((usage.input, usage.cache_read, usage.cache_write), (800, 400, 30));
        assert_eq!(usage.total(), 1310);
    }

    #[test]
    fn parts_never_exceed_the_whole() {
        for (input, cached, written) in [(10, 20, 0), (10, 0, 20), (10, 8, 8), (0, 1, 1)] {
            let usage = Tokens::from_inclusive(input, cached, written, 1, None);
            assert_eq!(usage.total(), input + 1);
        }
        assert_eq!(Tokens::from_inclusive(u64::MAX, 0, 0, u64::MAX, None).total(), u64::MAX);
    }

    #[test]
    fn what_is_written_is_read_and_has_the_names_of_the_contract() {
        let usage = Tokens::from_inclusive(5, 2, 1, 7, Some(3));
        let mut metadata = Metadata::new();
        usage.write(&mut metadata);
        assert_eq!(Tokens::read(&metadata), Some(usage));
        assert_eq!(metadata.get(Tokens::KEY), serde_json::to_value(usage).ok().as_ref());
        assert_eq!(Tokens::read(&Metadata::new()), None);
    }

    #[test]
    fn reasoning_is_unknown_only_if_both_are() {
        let plain = Tokens::from_inclusive(1, 0, 0, 1, None);
        let thinking = Tokens::from_inclusive(1, 0, 0, 1, Some(1));
        assert_eq!(plain.plus(&plain).reasoning, None);
        assert_eq!(plain.plus(&thinking), Tokens { input: 2, output: 2, ..thinking });
    }
}
