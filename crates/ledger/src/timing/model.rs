//! Requests to the model as spans: when each was sent, when its first token and its end came.
//!
//! Transcripts have a row for each block when it is complete, so the first row is not the first token, and the last block
//! of a response is its end. The request may have a row of its own; telemetry reports durations and the time to the first
//! token; hooks may report both edges of an attempt. Where none of these is known, the request is taken to follow the last thing that the model had waited for: a prompt, the result of a call, a compaction, an attempt that
//! failed. No request starts before the response before it ended, because a conversation is sent as a whole.

use std::collections::{HashMap, HashSet};

use agent_tracer_event::{CallState, Channel, Kind, attributes};
use serde_json::Value;

use super::{Basis, Moment};
use crate::project::row::channel_bits;
use crate::project::{FactRow, List};

/// Names the end of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// The model answered.
    Answered,
    /// The answer was cut off.
    Cut,
    /// The provider or the connection failed.
    Failed,
}

/// Holds one request to the model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelSpan {
    /// The number of its fact.
    pub id: i64,
    /// The turn.
    pub turn: Option<i64>,
    /// The end of it.
    pub outcome: AttemptOutcome,
    /// It is a step of the conversation, and not a request of a helper beside it.
    pub in_conversation: bool,
    /// It wrote the summary of a compaction.
    pub compacts: bool,
    /// The moment at which the request was sent.
    pub requested: Option<Moment>,
    /// The moment at which the first token came.
    pub first_token: Option<Moment>,
    /// The moment at which the thinking at its beginning was complete.
    pub thought_until: Option<Moment>,
    /// The moment at which it ended.
    pub ended: Moment,
    /// The client waited so long before it tried again.
    pub retry_in_ms: Option<u64>,
    /// The model.
    pub model: Option<String>,
    /// The effort of reasoning.
    pub effort: Option<String>,
    /// The reason for which the model stopped, or the error.
    pub stop_reason: Option<String>,
    /// Counts the tokens of the answer, thinking included.
    pub output_tokens: Option<u64>,
    /// Counts the tokens of thinking.
    pub thinking_tokens: Option<u64>,
}

impl ModelSpan {
    /// Returns its duration, or `None` if its beginning is unknown.
    #[must_use]
    pub fn duration_ms(&self) -> Option<u64> {
        u64::try_from(self.ended.at - self.requested?.at).ok()
    }
}

/// Reads the requests of one task from its rows, which may come in any order. The spans are sorted by their ends.
#[must_use]
pub fn spans(rows: &[FactRow]) -> Vec<ModelSpan> {
    let known = RequestReports::collect(rows);
    let mut spans: Vec<ModelSpan> = rows
        .iter()
        .filter_map(|row| match row.kind? {
            Kind::TokenUsage => known.response(row),
            Kind::ModelRequest => known.attempt(row),
            Kind::AssistantResponse => known.failed_turn(row),
            _ => None,
        })
        .collect();
    spans.sort_by_key(|span| (span.ended.at, span.id));
    known.set_starts(&mut spans);
    spans
}

/// Holds what other rows report of requests.
struct RequestReports<'row> {
    /// The last moment at which a block of a response was complete, by the ids of request and message.
    blocks: HashMap<&'row str, i64>,
    /// Accounts of requests that telemetry gave, by the id of the request.
    accounts: HashMap<&'row str, &'row FactRow>,
    /// Reports of hooks that a request is being sent, in order.
    sendings: Vec<i64>,
    /// The moments that a request may have followed, in order.
    causes: Vec<i64>,
    /// The requests that responses name.
    reported: HashSet<&'row str>,
}

fn number(row: &FactRow, key: &str) -> Option<i64> {
    row.meta(key).and_then(|value| value.as_i64().or_else(|| Some(value.as_f64()?.round() as i64)))
}

fn moved(at: i64, back_ms: Option<i64>) -> Option<i64> {
    back_ms.filter(|ms| *ms >= 0).map(|ms| at.saturating_sub(ms))
}

impl<'row> RequestReports<'row> {
    fn collect(rows: &'row [FactRow]) -> Self {
        let mut known = Self {
            blocks: HashMap::new(),
            accounts: HashMap::new(),
            sendings: Vec::new(),
            causes: Vec::new(),
            reported: HashSet::new(),
        };
        for row in rows {
            known.read(row);
        }
        known.sendings.sort_unstable();
        known.causes.sort_unstable();
        known
    }

    fn read(&mut self, row: &'row FactRow) {
        if let Some(written) = written(row) {
            for key in [attributes::MESSAGE_ID, attributes::REQUEST_ID] {
                if let Some(id) = row.text(key) {
                    let last = self.blocks.entry(id).or_insert(written);
                    *last = written.max(*last);
                }
            }
        }
        let request = row.text(attributes::REQUEST_ID);
        match row.kind {
            None => self.causes.push(row.occurred),
            Some(Kind::UserMessage | Kind::UserPromptExpansion | Kind::SessionStarted) => {
                self.causes.push(row.occurred);
            }
            Some(Kind::ContextSaved) => self.causes.push(row.ended.unwrap_or(row.occurred)),
            Some(Kind::TokenUsage) => self.reported.extend(request),
            Some(Kind::ModelRequest) => match request {
                _ if row.text(attributes::REQUEST_PHASE) == Some("before") => {
                    self.sendings.push(row.occurred)
                }
                Some(request) => {
                    self.accounts.insert(request, row);
                }
                None => {}
            },
            Some(_) if row.is_call() && row.state != Some(CallState::Running) => {
                self.causes.extend(row.ended);
            }
            Some(_) => {}
        }
    }

    fn account(&self, row: &FactRow) -> Option<&'row FactRow> {
        self.accounts.get(row.text(attributes::REQUEST_ID)?).copied()
    }

    fn response(&self, row: &FactRow) -> Option<ModelSpan> {
        if row.text(attributes::NOT_COUNTED) == Some("copy") || row.text(attributes::COPY_OF).is_some() {
            return None;
        }
        let block = [attributes::MESSAGE_ID, attributes::REQUEST_ID]
            .into_iter()
            .filter_map(|key| self.blocks.get(row.text(key)?).copied())
            .max();
        // Telemetry alone reports the end of a request, and nothing of its blocks.
        let ended = block.unwrap_or(row.occurred).max(row.occurred);
        let is_cut = row.meta(attributes::PARTIAL) == Some(&Value::Bool(true));
        let source = row.text(attributes::QUERY_SOURCE).unwrap_or_default();
        let compacts = source == "compact" || row.text(attributes::PURPOSE) == Some("compaction");
        let usage = agent_tracer_event::Tokens::read(&row.data.metadata);
        let mut span = ModelSpan {
            outcome: if is_cut { AttemptOutcome::Cut } else { AttemptOutcome::Answered },
            in_conversation: in_conversation(row),
            compacts,
            thought_until: number(row, attributes::THOUGHT_UNTIL).map(Moment::measured),
            stop_reason: row.text(attributes::STOP_REASON).map(str::to_owned),
            output_tokens: usage.as_ref().map(|usage| usage.output),
            thinking_tokens: usage.as_ref().and_then(|usage| usage.reasoning),
            ..attempt(row, Moment::measured(ended))
        };
        let durations = [Some(row), self.account(row)].into_iter().flatten();
        let (mut duration, mut first_token) = (None, None);
        for account in durations {
            duration = duration.or_else(|| number(account, attributes::DURATION_MS));
            first_token = first_token.or_else(|| number(account, attributes::TTFT_MS));
        }
        // The end of a request in telemetry follows its last block, and its duration ends there.
        let end = self.account(row).and_then(|account| account.ended).unwrap_or(ended);
        let requested = number(row, attributes::REQUESTED_AT).or_else(|| moved(end, duration));
        span.requested = requested.filter(|at| *at <= row.occurred).map(Moment::measured);
        span.first_token = span.requested.zip(first_token).and_then(|(requested, after)| {
            let at = requested.at.saturating_add(after.max(0));
            (at <= ended).then(|| Moment::measured(at))
        });
        Some(span)
    }

    fn attempt(&self, row: &FactRow) -> Option<ModelSpan> {
        let is_response = row.list == List::Response && row.state == Some(CallState::Succeeded);
        if is_response && row.text(attributes::NOT_COUNTED).is_none() {
            // Only the hook reports this response.
            let usage = agent_tracer_event::Tokens::read(&row.data.metadata);
            return Some(ModelSpan {
                outcome: AttemptOutcome::Answered,
                output_tokens: usage.as_ref().map(|usage| usage.output),
                thinking_tokens: usage.and_then(|usage| usage.reasoning),
                ..attempt(row, Moment::measured(row.ended.unwrap_or(row.occurred)))
            });
        }
        let has_failed = row.state == Some(CallState::Failed)
            || matches!(row.text(attributes::STATUS), Some("error" | "failed"));
        let is_answered =
            row.text(attributes::REQUEST_ID).is_some_and(|request| self.reported.contains(request));
        if !has_failed || is_answered {
            return None;
        }
        let ended = row.ended.unwrap_or(row.occurred);
        let requested = moved(ended, number(row, attributes::DURATION_MS));
        Some(ModelSpan {
            requested: requested.map(Moment::measured),
            retry_in_ms: number(row, attributes::RETRY_IN_MS).and_then(|ms| u64::try_from(ms).ok()),
            stop_reason: reason(row),
            ..attempt(row, Moment::measured(ended))
        })
    }

    /// Reads the last attempt of a turn that failed, if only the end of the turn reports it.
    fn failed_turn(&self, row: &FactRow) -> Option<ModelSpan> {
        let request = row.text(attributes::REQUEST_ID);
        let is_reported =
            |request: &str| self.reported.contains(request) || self.accounts.contains_key(request);
        if !row.is_failed_stop() || request.is_none() || request.is_some_and(is_reported) {
            return None;
        }
        Some(ModelSpan { stop_reason: reason(row), ..attempt(row, Moment::measured(row.occurred)) })
    }

    /// Sets the beginnings that no channel reported for the request itself.
    fn set_starts(&self, spans: &mut [ModelSpan]) {
        // Failed attempts and their waits come before the attempt that follows.
        let mut causes = self.causes.clone();
        for span in spans.iter().filter(|span| span.outcome == AttemptOutcome::Failed) {
            let wait = i64::try_from(span.retry_in_ms.unwrap_or(0)).unwrap_or(i64::MAX);
            causes.push(span.ended.at.saturating_add(wait));
        }
        causes.sort_unstable();
        let mut before = i64::MIN;
        for span in spans {
            if !span.in_conversation && span.outcome != AttemptOutcome::Failed {
                continue;
            }
            // A block that came first is an end as well: nothing that follows it led to the request.
            let first_block = span.thought_until.map_or(span.ended.at, |thought| thought.at);
            let last = |moments: &[i64]| {
                let count = moments.partition_point(|at| *at <= first_block);
                moments.get(count.checked_sub(1)?).copied().filter(|at| *at >= before)
            };
            if span.requested.is_none() {
                span.requested = match last(&self.sendings) {
                    Some(at) => Some(Moment::measured(at)),
                    None => last(&causes)
                        .or((before > i64::MIN).then_some(before))
                        .map(|at| Moment { at, basis: Basis::Inferred }),
                };
            }
            before = before.max(span.ended.at);
        }
    }
}

/// Returns `true` if a request is a step of the conversation and not a helper's beside it.
pub(crate) fn in_conversation(row: &FactRow) -> bool {
    if row.meta(attributes::SIDECHAIN) == Some(&Value::Bool(true)) || row.text(attributes::PURPOSE).is_some()
    {
        return false;
    }
    let source = row.text(attributes::QUERY_SOURCE).unwrap_or_default();
    ["", "sdk", "main", "subagent"].contains(&source)
        || source.starts_with("repl_main_thread")
        || source.starts_with("agent:")
}

/// Returns the moment at which a block of a response was complete.
fn written(row: &FactRow) -> Option<i64> {
    match row.kind? {
        Kind::AssistantResponse | Kind::AssistantCommentary | Kind::ThoughtLogged => {
            (row.channels & channel_bits(&[Channel::Transcript]) != 0).then_some(row.occurred)
        }
        _ if row.is_call() => number(row, attributes::WRITTEN_AT),
        _ => None,
    }
}

fn reason(row: &FactRow) -> Option<String> {
    let words =
        [attributes::STOP_REASON, attributes::ERROR, attributes::CONNECTION_ERROR, attributes::ERROR_TYPE];
    let status = || number(row, attributes::HTTP_STATUS).map(|status| format!("status {status}"));
    words.iter().find_map(|key| row.text(key)).map(str::to_owned).or_else(status)
}

/// Returns a failed attempt with what every row says.
fn attempt(row: &FactRow, ended: Moment) -> ModelSpan {
    let text = |key: &str| row.text(key).filter(|text| !text.is_empty()).map(str::to_owned);
    ModelSpan {
        id: row.fact,
        turn: row.turn,
        outcome: AttemptOutcome::Failed,
        in_conversation: true,
        compacts: false,
        requested: None,
        first_token: None,
        thought_until: None,
        ended,
        retry_in_ms: None,
        model: text(attributes::MODEL),
        effort: text(attributes::EFFORT),
        stop_reason: None,
        output_tokens: None,
        thinking_tokens: None,
    }
}
