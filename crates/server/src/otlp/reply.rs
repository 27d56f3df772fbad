//! Answers of the protocol, in JSON and in protobuf.

use agent_tracer_agents::otlp::{Signal, protobuf};
use agent_tracer_event::Agent;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::problem::Problem;

/// The form of a request, and of its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Json,
    Protobuf,
}

/// Records that were not taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Refusals {
    /// Of programs that are none of ours.
    pub(super) foreign: u64,
    /// No records at all.
    pub(super) malformed: u64,
    /// Of sessions that the user excluded.
    pub(super) excluded: u64,
    /// The body was something else altogether.
    pub(super) is_no_export: bool,
}

impl Refusals {
    fn count(self) -> u64 {
        self.foreign + self.malformed + self.excluded
    }

    fn words(self) -> String {
        let agents: Vec<&str> = Agent::ALL.iter().map(|agent| agent.name()).collect();
        let foreign = format!("of another program than {}", agents.join(" or "));
        let parts = [
            (self.foreign, foreign.as_str()),
            (self.malformed, "not understood"),
            (self.excluded, "excluded by privacy.conf"),
        ];
        let reasons =
            parts.iter().filter(|(count, _)| *count > 0).map(|(count, why)| format!("{count} {why}"));
        reasons.collect::<Vec<_>>().join(", ")
    }
}

/// Answers that the export is on disk, except for these records.
pub(super) fn accepted(form: Form, signal: Signal, refusals: &Refusals) -> Response {
    let count = refusals.count();
    match form {
        Form::Json => {
            let member = match signal {
                Signal::Logs => "rejectedLogRecords",
                Signal::Metrics => "rejectedDataPoints",
                Signal::Traces => "rejectedSpans",
            };
            let body = match count {
                0 => json!({}),
                // The mapping writes 64-bit numbers as texts.
                _ => json!({"partialSuccess": {member: count.to_string(), "errorMessage": refusals.words()}}),
            };
            bytes("application/json", body.to_string().into_bytes())
        }
        Form::Protobuf => {
            let mut body = Vec::new();
            if count > 0 {
                let mut partial = Vec::new();
                protobuf::put_number(&mut partial, 1, count);
                protobuf::put_bytes(&mut partial, 2, refusals.words().as_bytes());
                protobuf::put_bytes(&mut body, 1, &partial);
            }
            bytes("application/x-protobuf", body)
        }
    }
}

/// Answers that the export was refused: with a `google.rpc.Status`, which the protocol's clients read.
pub(super) fn refused(problem: &Problem) -> Response {
    let code = match problem.status {
        // Codes of `google.rpc.Code`: invalid argument, unauthenticated, permission denied, resource exhausted, unavailable.
        400 | 415 | 422 => 3,
        401 => 16,
        403 => 7,
        413 | 429 | 507 => 8,
        _ => 14,
    };
    let mut body = Vec::new();
    protobuf::put_number(&mut body, 1, code);
    protobuf::put_bytes(&mut body, 2, problem.detail.as_bytes());
    let mut response = bytes("application/x-protobuf", body);
    *response.status_mut() = problem.code();
    if let Some(seconds) = problem.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

fn bytes(kind: &'static str, body: Vec<u8>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (headers, body).into_response()
}
