//! Losses of the provider's cache: where a prefix that had been cached was paid for again, and why.
//!
//! A response can read from the cache what the response before it left there: what that one read and wrote. What it
//! does not read of that is lost, and is paid at the price of a write or of plain input instead of that of a read. The
//! difference is the price of the loss.
//!
//! Several causes may hold at once. The first in the order of [`Cause`] gets the loss: acts that break a prefix by
//! themselves come before time, and guesses come last.

use std::collections::HashMap;

use super::history::{History, MarkKind, PricedResponse};
use super::money::{Amount, fit_rates};

/// Names the cause for which a cached prefix was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// The conversation was replaced by a summary.
    Compaction,
    /// Another model was asked; caches are kept by model.
    ModelSwitch,
    /// The system prompt or the tools changed; they stand before everything else.
    ToolsChanged,
    /// The cached prefix was not used in time.
    Expired,
    /// A message before the end was changed, cut or taken back.
    EarlyEdit,
    /// No recorded event explains it.
    Unknown,
}

impl Cause {
    /// All causes, in the order of precedence.
    pub const ALL: [Self; 6] = [
        Self::Compaction,
        Self::ModelSwitch,
        Self::ToolsChanged,
        Self::Expired,
        Self::EarlyEdit,
        Self::Unknown,
    ];

    /// Returns its name in answers.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Compaction => "compaction",
            Self::ModelSwitch => "model_switch",
            Self::ToolsChanged => "tools_changed",
            Self::Expired => "expired",
            Self::EarlyEdit => "early_edit",
            Self::Unknown => "unknown",
        }
    }
}

/// Holds one loss of a cached prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheLoss {
    /// The number of the response that paid for it.
    pub response: i64,
    /// The moment.
    pub at: i64,
    /// The number of the turn's fact.
    pub turn: Option<i64>,
    /// The cause that gets the loss.
    pub cause: Cause,
    /// Other causes that hold as well, in the order of precedence.
    pub others: Vec<Cause>,
    /// The cause was recorded as an event. Otherwise it is inferred from counts and times.
    pub is_recorded: bool,
    /// Counts the tokens that could have been read.
    pub tokens: u64,
    /// The price above that of reading them.
    pub extra: Amount,
    /// The time since the response before it.
    pub gap_ms: i64,
}

/// The time that a cache of five minutes keeps a prefix, in milliseconds.
const FIVE_MINUTES_MS: i64 = 300_000;
/// The time that a cache of an hour keeps a prefix, in milliseconds.
const HOUR_MS: i64 = 3_600_000;
/// The smallest unit in which providers without priced writes cache a prefix.
const BLOCK_TOKENS: u64 = 128;

/// Returns every loss, in the order of the responses.
#[must_use]
pub fn losses(history: &History) -> Vec<CacheLoss> {
    let main: Vec<&PricedResponse> =
        history.responses.iter().filter(|response| response.in_conversation).collect();
    let priced_writes = main.iter().any(|response| response.usage.cache_write_tokens() > 0);
    let reads = main.iter().any(|response| response.usage.cache_read > 0);
    // Where a provider never reports a cache, nothing was lost: there is none.
    if !priced_writes && !reads {
        return Vec::new();
    }
    let mut losses = Vec::new();
    let mut messages = 0;
    let mut marks = history.marks.iter().peekable();
    for pair in main.windows(2) {
        let [before, now] = pair else { continue };
        let mut events = Vec::new();
        while let Some(mark) = marks.next_if(|mark| mark.at < now.at) {
            if mark.at >= before.at {
                events.push(mark.kind);
            }
        }
        messages = before.request.as_ref().map_or(messages, |request| request.messages);
        let cached = if priced_writes {
            before.usage.cache_read.saturating_add(before.usage.cache_write_tokens())
        } else {
            before.usage.prompt_tokens() / BLOCK_TOKENS * BLOCK_TOKENS
        };
        let readable = cached.min(now.usage.prompt_tokens());
        let lost = readable.saturating_sub(now.usage.cache_read);
        if lost == 0 || !priced_writes && lost < BLOCK_TOKENS {
            continue;
        }
        let gap_ms = now.requested_at.unwrap_or(now.at) - before.at;
        let (causes, is_recorded) = causes(before, now, &events, gap_ms, messages);
        let mut causes = causes.into_iter();
        losses.push(CacheLoss {
            response: now.id,
            at: now.at,
            turn: now.turn,
            cause: causes.next().unwrap_or(Cause::Unknown),
            others: causes.collect(),
            is_recorded,
            tokens: lost,
            extra: extra(now, lost),
            gap_ms,
        });
    }
    losses
}

fn causes(
    before: &PricedResponse,
    now: &PricedResponse,
    events: &[MarkKind],
    gap_ms: i64,
    messages: u64,
) -> (Vec<Cause>, bool) {
    let mut causes = Vec::new();
    let mut recorded = Vec::new();
    let mut note = |cause: Cause, is_recorded: bool| {
        if !causes.contains(&cause) {
            causes.push(cause);
            recorded.push((cause, is_recorded));
        }
    };
    if events.iter().any(|event| matches!(event, MarkKind::Compaction { .. })) {
        note(Cause::Compaction, true);
    }
    if before.model != now.model {
        note(Cause::ModelSwitch, true);
    }
    if let (Some(then), Some(request)) = (&before.request, &now.request)
        && then.shape != request.shape
    {
        note(Cause::ToolsChanged, true);
    }
    let kept_ms =
        if before.usage.cache_write_1h > before.usage.cache_write_5m { HOUR_MS } else { FIVE_MINUTES_MS };
    if events.contains(&MarkKind::Resume { expired: true }) {
        note(Cause::Expired, true);
    } else if gap_ms > kept_ms {
        note(Cause::Expired, false);
    }
    if events.contains(&MarkKind::Rewind)
        || now.request.as_ref().is_some_and(|request| request.kept < messages)
    {
        note(Cause::EarlyEdit, true);
    } else if causes.is_empty() && now.usage.prompt_tokens() < before.usage.prompt_tokens() {
        // The conversation only grows by itself: a shorter prompt means that something was taken out of it.
        causes.push(Cause::EarlyEdit);
        recorded.push((Cause::EarlyEdit, false));
    }
    causes.sort_unstable();
    let is_recorded = causes
        .first()
        .is_some_and(|first| recorded.iter().any(|(cause, is_recorded)| cause == first && *is_recorded));
    (causes, is_recorded)
}

/// Returns the price of lost tokens above that of reading them.
///
/// They stand behind what was read: first in what was written to the cache, then in plain input.
fn extra(response: &PricedResponse, lost: u64) -> Amount {
    let Some(cost) = response.cost else { return Amount::unpriced(lost) };
    let usage = &response.usage;
    let rates = fit_rates(response.rates, usage, cost);
    let mut left = lost;
    let mut paid = 0_u128;
    for (count, rate) in [
        (usage.cache_write_1h, rates.cache_write_1h),
        (usage.cache_write_5m, rates.cache_write_5m),
        (usage.input, rates.input),
    ] {
        let taken = left.min(count);
        paid += u128::from(taken) * u128::from(rate);
        left -= taken;
    }
    let read = u128::from(lost - left) * u128::from(rates.cache_read);
    Amount::of(u64::try_from(paid.saturating_sub(read)).unwrap_or(u64::MAX))
}

/// Sums losses by cause: their count, tokens and price.
#[must_use]
pub fn by_cause(losses: &[CacheLoss]) -> HashMap<Cause, (u64, u64, Amount)> {
    let mut sums: HashMap<Cause, (u64, u64, Amount)> = HashMap::new();
    for loss in losses {
        let (count, tokens, extra) = sums.entry(loss.cause).or_default();
        *count += 1;
        *tokens = tokens.saturating_add(loss.tokens);
        *extra += loss.extra;
    }
    sums
}

#[cfg(test)]
mod tests {
    use agent_tracer_prices::{BilledUsage, Rates};

    use super::super::history::{Mark, RequestForm};
    use super::*;

    const RATES: Rates = Rates {
        input: 5_000,
        cache_read: 500,
        cache_write_5m: 6_250,
        cache_write_1h: 10_000,
        output: 25_000,
    };

    fn response(id: i64, at: i64, cache_read: u64, cache_write_5m: u64, input: u64) -> PricedResponse {
        let usage = BilledUsage { input, cache_read, cache_write_5m, output: 10, ..BilledUsage::default() };
        PricedResponse {
            id,
            at,
            in_conversation: true,
            model: "m".to_owned(),
            usage,
            cost: u64::try_from(RATES.total(&usage).0).ok(),
            rates: Some(RATES),
            ..PricedResponse::default()
        }
    }

    fn history(responses: Vec<PricedResponse>) -> History {
        History { responses, ..History::default() }
    }

    #[test]
    fn a_cache_that_is_read_whole_has_no_loss() {
        let found = losses(&history(vec![
            response(1, 0, 0, 10_000, 5),
            response(2, 1_000, 10_000, 500, 5),
            response(3, 2_000, 10_500, 40, 5),
        ]));
        assert_eq!(found, []);
    }

    #[test]
    fn a_pause_beyond_the_time_to_live_costs_the_difference_to_a_read() {
        let found = losses(&history(vec![response(1, 0, 0, 10_000, 0), response(2, 301_000, 0, 10_100, 0)]));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].cause, found[0].is_recorded, found[0].tokens), (Cause::Expired, false, 10_000));
        assert_eq!(found[0].extra, Amount::of(10_000 * (6_250 - 500)));
    }

    #[test]
    fn long_wait_for_the_first_token_is_no_pause() {
        let mut second = response(2, 301_000, 0, 10_100, 0);
        second.requested_at = Some(1_000);
        let found = losses(&history(vec![response(1, 0, 0, 10_000, 0), second]));
        assert_eq!((found[0].cause, found[0].gap_ms), (Cause::Unknown, 1_000));
    }

    #[test]
    fn an_hour_is_kept_for_an_hour() {
        let mut first = response(1, 0, 0, 0, 0);
        first.usage.cache_write_1h = 10_000;
        let found = losses(&history(vec![first.clone(), response(2, 600_000, 0, 10_000, 0)]));
        assert_eq!(found[0].cause, Cause::Unknown);
        let found = losses(&history(vec![first, response(2, HOUR_MS + 1, 0, 10_000, 0)]));
        assert_eq!(found[0].cause, Cause::Expired);
    }

    #[test]
    fn another_model_has_another_cache_even_after_a_pause() {
        let mut second = response(2, 900_000, 0, 10_000, 0);
        second.model = "other".to_owned();
        let found = losses(&history(vec![response(1, 0, 0, 10_000, 0), second]));
        assert_eq!((found[0].cause, found[0].others.as_slice()), (Cause::ModelSwitch, &[Cause::Expired][..]));
    }

    #[test]
    fn changed_tools_and_changed_messages_are_distinguished_by_the_form_of_the_request() {
        let form =
            |shape: &str, kept, messages| Some(RequestForm { shape: shape.to_owned(), kept, messages });
        let mut first = response(1, 0, 0, 10_000, 0);
        first.request = form("a", 0, 4);
        let mut tools = response(2, 1_000, 0, 10_000, 0);
        tools.request = form("b", 4, 6);
        let found = losses(&history(vec![first.clone(), tools]));
        assert_eq!((found[0].cause, found[0].is_recorded), (Cause::ToolsChanged, true));
        let mut edit = response(2, 1_000, 4_000, 6_000, 0);
        edit.request = form("a", 2, 6);
        let found = losses(&history(vec![first, edit]));
        assert_eq!((found[0].cause, found[0].is_recorded, found[0].tokens), (Cause::EarlyEdit, true, 6_000));
    }

    #[test]
    fn compaction_and_rewind_are_recorded_causes_and_a_shorter_prompt_is_an_inferred_one() {
        let pair = vec![response(1, 0, 0, 10_000, 0), response(2, 1_000, 2_000, 3_000, 0)];
        let mut history = history(pair);
        let found = losses(&history);
        assert_eq!((found[0].cause, found[0].is_recorded, found[0].tokens), (Cause::EarlyEdit, false, 3_000));
        history.marks.push(Mark { id: 9, at: 500, kind: MarkKind::Rewind });
        assert_eq!((losses(&history)[0].cause, losses(&history)[0].is_recorded), (Cause::EarlyEdit, true));
        history.marks = vec![Mark { id: 9, at: 500, kind: MarkKind::Compaction { summary_bytes: 10 } }];
        assert_eq!(losses(&history)[0].cause, Cause::Compaction);
    }

    #[test]
    fn a_provider_that_reports_no_writes_loses_only_whole_blocks() {
        let at = |id, at, cache_read, input| response(id, at, cache_read, 0, input);
        let found = losses(&history(vec![at(1, 0, 0, 1_000), at(2, 10, 896, 300), at(3, 20, 0, 1_300)]));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].response, found[0].tokens), (3, 1_152));
        assert_eq!(losses(&history(vec![at(1, 0, 0, 1_000), at(2, 10, 0, 2_000)])), []);
    }

    #[test]
    fn tokens_without_a_price_are_lost_without_a_price() {
        let mut second = response(2, 400_000, 0, 10_000, 0);
        second.cost = None;
        let found = losses(&history(vec![response(1, 0, 0, 10_000, 0), second]));
        assert_eq!(found[0].extra, Amount::unpriced(10_000));
    }

    #[test]
    fn requests_beside_the_conversation_break_nothing() {
        let mut aside = response(2, 500, 0, 300, 7);
        aside.in_conversation = false;
        let found =
            losses(&history(vec![response(1, 0, 0, 10_000, 5), aside, response(3, 900, 10_000, 500, 5)]));
        assert_eq!(found, []);
    }
}
