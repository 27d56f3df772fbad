//! The `usage` of a response, as Claude Code's rows spell it.

use agent_tracer_event::Tokens;

use super::scan::{Cursor, Read};
use super::text::Text;

/// The counts of one response, or of a sum of them: tokens, and what this client tells beside them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct BilledTokens {
    /// The tokens.
    pub tokens: Tokens,
    /// Those of the written tokens that a cache keeps for five minutes, where the split is given.
    pub cache_write_5m: Option<u64>,
    /// Those of the written tokens that a cache keeps for an hour, where the split is given.
    pub cache_write_1h: Option<u64>,
    /// Searches that the provider made.
    pub web_searches: u64,
    /// Pages that the provider fetched.
    pub web_fetches: u64,
}

impl BilledTokens {
    /// Returns what two reports of one response come to: the larger of each number.
    ///
    /// Older clients wrote a row per block while the answer was still arriving, with the tokens so far; later ones
    /// repeat the final numbers. Either way the largest is the true one, in whatever order the rows are read.
    #[must_use]
    pub fn fold(&self, other: &Self) -> Self {
        self.combine(other, u64::max)
    }

    /// Returns the sum of two responses.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        self.combine(other, u64::saturating_add)
    }

    fn combine(&self, other: &Self, count: impl Fn(u64, u64) -> u64) -> Self {
        let known = |one: Option<u64>, two: Option<u64>| match (one, two) {
            (None, None) => None,
            (one, two) => Some(count(one.unwrap_or(0), two.unwrap_or(0))),
        };
        Self {
            tokens: self.tokens.combine(&other.tokens, &count),
            cache_write_5m: known(self.cache_write_5m, other.cache_write_5m),
            cache_write_1h: known(self.cache_write_1h, other.cache_write_1h),
            web_searches: count(self.web_searches, other.web_searches),
            web_fetches: count(self.web_fetches, other.web_fetches),
        }
    }

    /// All numbers, for comparing.
    pub(super) fn bytes(&self) -> [u8; 96] {
        let known = |number: Option<u64>| [number.unwrap_or(0), u64::from(number.is_some())];
        let Tokens { input, output, cache_read, cache_write, reasoning } = self.tokens;
        let [a, b] = known(self.cache_write_5m);
        let [c, d] = known(self.cache_write_1h);
        let [e, f] = known(reasoning);
        let [g, h, i, j] = [input, output, cache_read, cache_write];
        let mut bytes = [0; 96];
        let numbers = [a, b, c, d, e, f, g, h, i, j, self.web_searches, self.web_fetches];
        for (place, number) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(numbers) {
            *place = number.to_le_bytes();
        }
        bytes
    }
}

/// A `usage` object, with what it says beside the counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spent<'a> {
    pub(super) billed: BilledTokens,
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
    let billed = &mut spent.billed;
    let tokens = &mut billed.tokens;
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
                b"ephemeral_5m_input_tokens" => cursor.count().map(|count| billed.cache_write_5m = count),
                b"ephemeral_1h_input_tokens" => cursor.count().map(|count| billed.cache_write_1h = count),
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
                    cursor.count().map(|count| billed.web_searches = count.unwrap_or(0))
                }
                b"web_fetch_requests" => cursor.count().map(|count| billed.web_fetches = count.unwrap_or(0)),
                _ => cursor.skip(),
            }),
            b"service_tier" => cursor.text().map(|text| spent.service_tier = text.unwrap_or_default()),
            b"speed" => cursor.text().map(|text| spent.speed = text.unwrap_or_default()),
            b"inference_geo" => cursor.text().map(|text| spent.inference_geo = text.unwrap_or_default()),
            _ => cursor.skip(),
        }
    })?;
    // A few older rows give only the split.
    let split = billed.cache_write_5m.unwrap_or(0).saturating_add(billed.cache_write_1h.unwrap_or(0));
    billed.tokens.cache_write = written.unwrap_or(split);
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
        let tokens =
            Tokens { input: 4, output: 84, cache_read: 10101, cache_write: 207, reasoning: Some(12) };
        let billed = BilledTokens {
            tokens,
            cache_write_5m: Some(200),
            cache_write_1h: Some(7),
            web_searches: 2,
            web_fetches: 1,
        };
        assert_eq!((spent.billed, spent.counted), (billed, true));
        assert!(
            spent.service_tier.is("standard") && spent.speed.is("fast") && spent.inference_geo.is_empty()
        );
        assert_eq!(tokens.total(), 4 + 84 + 10101 + 207);
    }

    #[test]
    fn other_spellings_orders_and_gaps_are_read_too() {
        let spent = read(r#" { "output_tokens" : 2 , "cache_read_tokens":"3", "cache_creation": {"ephemeral_5m_input_tokens": 5, "ephemeral_1h_input_tokens": 6} } "#).unwrap();
        assert_eq!(
            (spent.billed.tokens.output, spent.billed.tokens.cache_read, spent.billed.tokens.cache_write),
            (2, 3, 11)
        );
        let spent = read(r#"{"service_tier":null,"speed":3,"server_tool_use":null,"cache_creation":7,"output_tokens_details":[]}"#).unwrap();
        assert_eq!((spent.counted, spent.billed), (false, BilledTokens::default()));
    }

    #[test]
    fn no_object_is_no_usage() {
        for text in ["null", "7", "\"x\"", "[1]"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    fn tokens() -> impl Strategy<Value = BilledTokens> {
        (0..50_u64, 0..50_u64, 0..50_u64, prop::option::of(0..9_u64), prop::option::of(0..9_u64)).prop_map(
            |(input, output, cache_read, reasoning, cache_write_1h)| BilledTokens {
                tokens: Tokens { input, output, cache_read, reasoning, ..Tokens::default() },
                cache_write_1h,
                ..BilledTokens::default()
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
