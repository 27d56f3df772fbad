//! One body for every error: `application/problem+json` (RFC 9457).
//!
//! `type` is a name that programs may compare, `title` says it in a few words, `detail` says it of this request, and
//! `errors` lists every part of the request that is wrong. Nothing of a payload is repeated but names and positions.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The body of an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// The kind of problem: `urn:agent-tracer:problem:` and a name.
    #[serde(rename = "type")]
    pub kind: String,
    /// The kind in words.
    pub title: String,
    /// The status of the answer.
    pub status: u16,
    /// The error in this request.
    pub detail: String,
    /// Every part of the request that is wrong.
    pub errors: Vec<FieldError>,
    /// After how many seconds to try again.
    #[serde(skip)]
    pub retry_after: Option<u32>,
}

/// One part of a request that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FieldError {
    /// The parameter, or the place in the body as a JSON pointer.
    pub at: String,
    /// The error in it.
    pub reason: String,
}

impl FieldError {
    /// Names a part and what is wrong with it.
    pub(crate) fn new(at: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { at: at.into(), reason: reason.into() }
    }
}

/// Returns the name and the title of a status.
fn words(status: StatusCode) -> (&'static str, &'static str) {
    match status.as_u16() {
        400 => ("bad-request", "bad request"),
        401 => ("no-token", "token required"),
        403 => ("forbidden", "forbidden"),
        404 => ("not-found", "not found"),
        405 => ("method-not-allowed", "method not allowed"),
        406 => ("not-acceptable", "not acceptable"),
        408 => ("slow-request", "request timed out"),
        409 => ("conflict", "conflict"),
        413 => ("too-large", "request too large"),
        415 => ("unsupported-type", "unsupported content type"),
        421 => ("wrong-host", "unknown host name"),
        422 => ("invalid", "invalid request"),
        429 => ("too-many", "too many requests"),
        431 => ("headers-too-large", "headers too large"),
        503 => ("unavailable", "service unavailable"),
        504 => ("too-slow", "answer timed out"),
        507 => ("disk-full", "disk full"),
        _ => ("failed", "internal error"),
    }
}

impl Problem {
    /// Creates a problem of this status.
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        let (name, title) = words(status);
        Self {
            kind: format!("urn:agent-tracer:problem:{name}"),
            title: title.to_owned(),
            status: status.as_u16(),
            detail: detail.into(),
            errors: Vec::new(),
            retry_after: None,
        }
    }

    /// Creates a problem with status 400.
    pub(crate) fn bad(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    /// Creates a problem that lists the invalid parts of a request.
    pub(crate) fn invalid_fields(status: StatusCode, errors: Vec<FieldError>) -> Self {
        let detail =
            errors.iter().map(|wrong| format!("`{}` {}", wrong.at, wrong.reason)).collect::<Vec<_>>();
        let mut problem = Self::new(status, detail.join("; "));
        problem.errors = errors;
        problem
    }

    /// Creates a problem with status 404.
    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, detail)
    }

    /// Creates a problem with status 429.
    pub(crate) fn too_many(detail: impl Into<String>, seconds: u32) -> Self {
        let mut problem = Self::new(StatusCode::TOO_MANY_REQUESTS, detail);
        problem.retry_after = Some(seconds);
        problem
    }

    /// Creates a problem with status 503, for a request that can be answered later.
    pub(crate) fn later(detail: impl Into<String>, seconds: u32) -> Self {
        let mut problem = Self::new(StatusCode::SERVICE_UNAVAILABLE, detail);
        problem.retry_after = Some(seconds);
        problem
    }

    /// Returns the status as a number that the answer carries.
    pub(crate) fn code(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

impl From<agent_tracer_ledger::QueryError> for Problem {
    fn from(error: agent_tracer_ledger::QueryError) -> Self {
        use agent_tracer_ledger::{QueryError, error_text};
        match error {
            QueryError::Bad(what) => Self::bad(what),
            QueryError::NotFound => Self::not_found("not found"),
            QueryError::Damaged(_) | QueryError::Store(_) => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, error_text(&error))
            }
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = self.code();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        // RFC 9110 wants the scheme named in every 401.
        if self.status == 401 {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
