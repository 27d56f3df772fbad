//! The `usage` of a response, as Claude Code's rows spell it.

use agent_tracer_event::Usage;

use super::scan::{Cursor, Read};
use super::text::Text;

/// Describes what one response cost in tokens and server tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tokens {
    /// Tokens read by the model, beside the cached ones.
    pub input: u64,
    /// Tokens that the model wrote.
    pub output: u64,
    /// Tokens read from the cache.
    pub cache_read: u64,
    /// Tokens written to the cache, whatever their time to live.
    pub cache_creation: u64,
    /// Those of them that live for five minutes, where the split is given.
    pub cache_creation_5m: Option<u64>,
    /// Those of them that live for an hour, where the split is given.
    pub cache_creation_1h: Option<u64>,
    /// Holds how many of `output` were thinking, where it is given.
    pub reasoning: Option<u64>,
    /// Searches that the provider made.
    pub web_searches: u64,
    /// Pages that the provider fetched.
    pub web_fetches: u64,
}

impl Tokens {
    /// In the words that are the same for every agent.
    #[must_use]
    pub fn usage(&self) -> Usage {
        Usage {
            input_tokens: self.input,
            output_tokens: self.output,
            cache_read_tokens: self.cache_read,
            cache_creation_tokens: self.cache_creation,
            reasoning_tokens: self.reasoning,
        }
    }

    /// Returns what two tellings of one response come to: the larger of each number.
    ///
    /// Older clients wrote a row per block while the answer was still arriving, with the tokens so far; later ones
    /// repeat the final numbers. Either way the largest is the true one, in whatever order the rows are read.
    #[must_use]
    pub fn fold(&self, other: &Self) -> Self {
        Self {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            cache_read: self.cache_read.max(other.cache_read),
            cache_creation: self.cache_creation.max(other.cache_creation),
            cache_creation_5m: self.cache_creation_5m.max(other.cache_creation_5m),
            cache_creation_1h: self.cache_creation_1h.max(other.cache_creation_1h),
            reasoning: self.reasoning.max(other.reasoning),
            web_searches: self.web_searches.max(other.web_searches),
            web_fetches: self.web_fetches.max(other.web_fetches),
        }
    }

    /// All numbers, for comparing.
    pub(super) fn bytes(&self) -> [u8; 96] {
        let known = |number: Option<u64>| [number.unwrap_or(0), u64::from(number.is_some())];
        let [a, b] = known(self.cache_creation_5m);
        let [c, d] = known(self.cache_creation_1h);
        let [e, f] = known(self.reasoning);
        let [g, h, i, j] = [self.input, self.output, self.cache_read, self.cache_creation];
        let mut bytes = [0; 96];
        let numbers = [a, b, c, d, e, f, g, h, i, j, self.web_searches, self.web_fetches];
        for (place, number) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(numbers) {
            *place = number.to_le_bytes();
        }
        bytes
    }

    /// The sum of two responses.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let add = |one: Option<u64>, two: Option<u64>| match (one, two) {
            (None, None) => None,
            (one, two) => Some(one.unwrap_or(0).saturating_add(two.unwrap_or(0))),
        };
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_creation: self.cache_creation.saturating_add(other.cache_creation),
            cache_creation_5m: add(self.cache_creation_5m, other.cache_creation_5m),
            cache_creation_1h: add(self.cache_creation_1h, other.cache_creation_1h),
            reasoning: add(self.reasoning, other.reasoning),
            web_searches: self.web_searches.saturating_add(other.web_searches),
            web_fetches: self.web_fetches.saturating_add(other.web_fetches),
        }
    }
}

/// A `usage` object, with what it says beside the counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spent<'a> {
    pub(super) tokens: Tokens,
    /// True if any of the four counts was there. If none was, the cost of the response is unknown.
    pub(super) counted: bool,
    pub(super) service_tier: Text<'a>,
    pub(super) speed: Text<'a>,
    pub(super) inference_geo: Text<'a>,
}

/// Reads a `usage` object; `None` if something else stands there.
pub(super) fn spent<'a>(cursor: &mut Cursor<'a>) -> Read<Option<Spent<'a>>> {
    if cursor.peek() != Some(b'{') {
        return cursor.skip().map(|()| None);
    }
    let mut spent = Spent::default();
    let tokens = &mut spent.tokens;
    let mut written = None;
    cursor.members(|cursor, name| {
        let mut counted = |cursor: &mut Cursor<'a>, number: &mut u64| -> Read<()> {
            if let Some(count) = cursor.count()? {
                *number = count;
                spent.counted = true;
            }
            Ok(())
        };
        match &*name.name() {
            b"input_tokens" => counted(cursor, &mut tokens.input),
            b"output_tokens" => counted(cursor, &mut tokens.output),
            b"cache_read_input_tokens" | b"cache_read_tokens" => counted(cursor, &mut tokens.cache_read),
            b"cache_creation_input_tokens" | b"cache_creation_tokens" => {
                let mut count = 0;
                counted(cursor, &mut count)?;
                written = Some(count);
                Ok(())
            }
            b"cache_creation" => cursor.members(|cursor, name| match &*name.name() {
                b"ephemeral_5m_input_tokens" => cursor.count().map(|count| tokens.cache_creation_5m = count),
                b"ephemeral_1h_input_tokens" => cursor.count().map(|count| tokens.cache_creation_1h = count),
                _ => cursor.skip(),
            }),
            b"output_tokens_details" => cursor.members(|cursor, name| match &*name.name() {
                b"thinking_tokens" | b"reasoning_tokens" => {
                    cursor.count().map(|count| tokens.reasoning = count)
                }
                _ => cursor.skip(),
            }),
            b"server_tool_use" => cursor.members(|cursor, name| match &*name.name() {
                b"web_search_requests" => {
                    cursor.count().map(|count| tokens.web_searches = count.unwrap_or(0))
                }
                b"web_fetch_requests" => cursor.count().map(|count| tokens.web_fetches = count.unwrap_or(0)),
                _ => cursor.skip(),
            }),
            b"service_tier" => cursor.text().map(|text| spent.service_tier = text.unwrap_or_default()),
            b"speed" => cursor.text().map(|text| spent.speed = text.unwrap_or_default()),
            b"inference_geo" => cursor.text().map(|text| spent.inference_geo = text.unwrap_or_default()),
            _ => cursor.skip(),
        }
    })?;
    // A few older rows give only the split.
    let split = tokens.cache_creation_5m.unwrap_or(0).saturating_add(tokens.cache_creation_1h.unwrap_or(0));
    tokens.cache_creation = written.unwrap_or(split);
    spent.counted |= written.is_none() && split > 0;
    Ok(Some(spent))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Option<Spent<'_>> {
        let mut cursor = Cursor::new(text.as_bytes());
        let spent = spent(&mut cursor).unwrap();
        cursor.end().unwrap();
        spent
    }

    #[test]
    fn the_whole_form_is_read() {
        let spent = read(
            r#"{"input_tokens":4,"cache_creation_input_tokens":207,"cache_read_input_tokens":10101,"output_tokens":84,
            "output_tokens_details":{"thinking_tokens":12},"server_tool_use":{"web_search_requests":2,"web_fetch_requests":1},
            "service_tier":"standard","cache_creation":{"ephemeral_1h_input_tokens":7,"ephemeral_5m_input_tokens":200},
            "inference_geo":"","iterations":[{"input_tokens":99,"output_tokens":99}],"speed":"fast","fallback_credit":null}"#,
        )
        .unwrap();
        let tokens = Tokens {
            input: 4,
            output: 84,
            cache_read: 10101,
            cache_creation: 207,
            cache_creation_5m: Some(200),
            cache_creation_1h: Some(7),
            reasoning: Some(12),
            web_searches: 2,
            web_fetches: 1,
        };
        assert_eq!((spent.tokens, spent.counted), (tokens, true));
        assert!(
            spent.service_tier.is("standard") && spent.speed.is("fast") && spent.inference_geo.is_empty()
        );
        assert_eq!(tokens.usage().total(), 4 + 84 + 10101 + 207);
    }

    #[test]
    fn other_spellings_orders_and_gaps_are_read_too() {
        let spent = read(r#" { "output_tokens" : 2 , "cache_read_tokens":"3", "cache_creation": {"ephemeral_5m_input_tokens": 5, "ephemeral_1h_input_tokens": 6} } "#).unwrap();
        assert_eq!((spent.tokens.output, spent.tokens.cache_read, spent.tokens.cache_creation), (2, 3, 11));
        let spent = read(r#"{"service_tier":null,"speed":3,"server_tool_use":null,"cache_creation":7,"output_tokens_details":[]}"#).unwrap();
        assert_eq!((spent.counted, spent.tokens), (false, Tokens::default()));
    }

    #[test]
    fn no_object_is_no_usage() {
        for text in ["null", "7", "\"x\"", "[1]"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    fn tokens() -> impl Strategy<Value = Tokens> {
        (0..50_u64, 0..50_u64, 0..50_u64, prop::option::of(0..9_u64)).prop_map(
            |(input, output, cache_read, reasoning)| Tokens {
                input,
                output,
                cache_read,
                reasoning,
                ..Tokens::default()
            },
        )
    }

    proptest! {
        #[test]
        fn tellings_of_one_response_fold_in_any_order(one in tokens(), two in tokens(), three in tokens()) {
            prop_assert_eq!(one.fold(&two), two.fold(&one));
            prop_assert_eq!(one.fold(&two).fold(&three), one.fold(&two.fold(&three)));
            prop_assert_eq!(one.fold(&one), one);
        }
    }
}
