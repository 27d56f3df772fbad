//! The `usage` of a response, as Claude Code's rows spell it.

use agent_tracer_event::Tokens;

use super::scan::{Cursor, Read};
use super::text::Text;
use crate::usage::BilledTokens;

/// Returns all counts as bytes, for comparing two rows of one response.
pub(super) fn billed_bytes(billed: &BilledTokens) -> [u8; 96] {
    let known = |number: Option<u64>| [number.unwrap_or(0), u64::from(number.is_some())];
    let Tokens { input, output, cache_read, cache_write, reasoning } = billed.tokens;
    let [a, b] = known(billed.cache_write_5m);
    let [c, d] = known(billed.cache_write_1h);
    let [e, f] = known(reasoning);
    let [g, h, i, j] = [input, output, cache_read, cache_write];
    let mut bytes = [0; 96];
    let numbers = [a, b, c, d, e, f, g, h, i, j, billed.web_searches, billed.web_fetches];
    for (place, number) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(numbers) {
        *place = number.to_le_bytes();
    }
    bytes
}

/// A `usage` object: the counts, and the words beside them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage<'a> {
    pub(super) billed: BilledTokens,
    /// True if any of the four counts was there. If none was, the cost of the response is unknown.
    pub(super) counted: bool,
    pub(super) service_tier: Text<'a>,
    pub(super) speed: Text<'a>,
    pub(super) inference_geo: Text<'a>,
}

/// Reads a `usage` object; `None` if something else stands there.
pub(super) fn read_usage<'a>(cursor: &mut Cursor<'a>) -> Read<Option<Usage<'a>>> {
    if cursor.peek() != Some(b'{') {
        return cursor.skip().map(|()| None);
    }
    let mut usage = Usage::default();
    let billed = &mut usage.billed;
    let tokens = &mut billed.tokens;
    let mut written = None;
    cursor.members(|cursor, name| {
        let mut counted = |cursor: &mut Cursor<'a>, number: &mut u64| -> Read<()> {
            if let Some(count) = cursor.count()? {
                *number = count;
                usage.counted = true;
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
            b"service_tier" => cursor.text().map(|text| usage.service_tier = text.unwrap_or_default()),
            b"speed" => cursor.text().map(|text| usage.speed = text.unwrap_or_default()),
            b"inference_geo" => cursor.text().map(|text| usage.inference_geo = text.unwrap_or_default()),
            _ => cursor.skip(),
        }
    })?;
    // A few older rows give only the split.
    let split = billed.cache_write_5m.unwrap_or(0).saturating_add(billed.cache_write_1h.unwrap_or(0));
    billed.tokens.cache_write = written.unwrap_or(split);
    usage.counted |= written.is_none() && split > 0;
    Ok(Some(usage))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Option<Usage<'_>> {
        let mut cursor = Cursor::new(text.as_bytes());
        let usage = read_usage(&mut cursor).unwrap();
        cursor.end().unwrap();
        usage
    }

    #[test]
    fn the_whole_form_is_read() {
        let usage = read(
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
        assert_eq!((usage.billed, usage.counted), (billed, true));
        assert!(
            usage.service_tier.is("standard") && usage.speed.is("fast") && usage.inference_geo.is_empty()
        );
        assert_eq!(tokens.total(), 4 + 84 + 10101 + 207);
    }

    #[test]
    fn other_spellings_orders_and_gaps_are_read_too() {
        let usage = read(r#" { "output_tokens" : 2 , "cache_read_tokens":"3", "cache_creation": {"ephemeral_5m_input_tokens": 5, "ephemeral_1h_input_tokens": 6} } "#).unwrap();
        assert_eq!(
            (usage.billed.tokens.output, usage.billed.tokens.cache_read, usage.billed.tokens.cache_write),
            (2, 3, 11)
        );
        let usage = read(r#"{"service_tier":null,"speed":3,"server_tool_use":null,"cache_creation":7,"output_tokens_details":[]}"#).unwrap();
        assert_eq!((usage.counted, usage.billed), (false, BilledTokens::default()));
    }

    #[test]
    fn a_value_that_is_not_an_object_has_no_usage() {
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
        fn rows_of_one_response_fold_in_any_order(one in tokens(), two in tokens(), three in tokens()) {
            prop_assert_eq!(one.fold(&two), two.fold(&one));
            prop_assert_eq!(one.fold(&two).fold(&three), one.fold(&two.fold(&three)));
            prop_assert_eq!(one.fold(&one), one);
        }
    }
}
