//! Answers a query: parses its parameters, compares the entity tag, asks the store where waiting is allowed.

use std::sync::Arc;

use agent_tracer_event::Millis;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use xxhash_rust::xxh3::Xxh3;

use super::{CachePolicy, Endpoint, QueryParams};
use crate::app::App;
use crate::deps::AccessEvent;
use crate::ingest::settle;
use crate::problem::Problem;

/// The time for which an answer that depends on the clock stays the same.
const MINUTE_MS: i64 = 60_000;

/// The parts of a request that a query needs.
pub(crate) struct Question {
    /// The id in the path; empty if there is none.
    pub(crate) id: String,
    /// The whole path.
    pub(crate) path: String,
    /// The query string.
    pub(crate) query: String,
    /// The entity tag that the client has.
    pub(crate) known: Option<HeaderValue>,
    /// True if the client may change things.
    pub(crate) may_write: bool,
    /// The name of the client's token.
    pub(crate) asker: Option<Arc<str>>,
}

/// Answers one query.
pub(crate) async fn ask(app: Arc<App>, endpoint: &'static Endpoint, question: Question) -> Response {
    settle(&app).await;
    let now = (app.deps.clock)();
    let mut params = match QueryParams::read(endpoint.params, &question.query, now, &app.zone) {
        Ok(params) => params,
        Err(problem) => return problem.into_response(),
    };
    params.id = question.id.clone();
    params.may_write = question.may_write;
    let worker = Arc::clone(&app);
    let answered = app
        .blocking(move || -> Result<CachedAnswer, Problem> {
            params.narrow(&worker)?;
            if let Some(team) = &worker.deps.team {
                let (owners, task) = (params.owner_filter(), params.task("task"));
                let about = task.as_ref().map_or(question.id.as_str(), |task| task.as_str());
                let look = AccessEvent {
                    reader: question.asker.as_deref(),
                    path: audit_path(endpoint, &params),
                    id: about,
                    owners: &owners,
                };
                // The audit is written first: without an entry nothing is shown.
                (team.record_access)(look)
                    .map_err(|cause| Problem::new(StatusCode::SERVICE_UNAVAILABLE, cause.to_string()))?;
            }
            // By the place in the ledger and not by the bytes: an unchanged page need not be computed to find that out.
            let tag = match endpoint.cache {
                CachePolicy::Always => None,
                ages => {
                    // Read before the answer: what is added in between makes the tag older than the answer, never newer.
                    let seq = worker.deps.store.seq()?;
                    let ages_with_time = ages == CachePolicy::WithTime || params.relative;
                    Some(tag(
                        worker.instance,
                        seq,
                        &question.path,
                        &question.query,
                        ages_with_time.then_some(now),
                    ))
                }
            };
            if let (Some(tag), Some(known)) = (&tag, &question.known)
                && matches(known, tag)
            {
                return Ok(CachedAnswer::Unchanged(tag.clone()));
            }
            Ok(CachedAnswer::New((endpoint.ask)(&worker, &params)?, tag))
        })
        .await;
    match answered {
        Ok(Ok(answered)) => answered.into_response(),
        Ok(Err(problem)) | Err(problem) => problem.into_response(),
    }
}

/// Returns the path that the audit keeps. Usage is a list of numbers, unless it is split by session.
fn audit_path(endpoint: &Endpoint, params: &QueryParams) -> &'static str {
    let by = params.word("by", |by| Some(by.to_owned()));
    if endpoint.path == "/usage" && by.as_deref() == Some("task") { "/usage?by=task" } else { endpoint.path }
}

enum CachedAnswer {
    Unchanged(String),
    New(Vec<u8>, Option<String>),
}

impl IntoResponse for CachedAnswer {
    fn into_response(self) -> Response {
        let (mut response, tag) = match self {
            Self::Unchanged(tag) => {
                let mut response = Response::new(Body::empty());
                *response.status_mut() = StatusCode::NOT_MODIFIED;
                (response, Some(tag))
            }
            Self::New(body, tag) => {
                let mut response = Response::new(Body::from(body));
                let json = HeaderValue::from_static("application/json");
                response.headers_mut().insert(header::CONTENT_TYPE, json);
                (response, tag)
            }
        };
        let headers: &mut HeaderMap = response.headers_mut();
        // Kept by the browser alone, and params about each time: a page that is opened again costs a 304.
        let keep = if tag.is_some() { "private, no-cache" } else { "no-store" };
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(keep));
        if let Some(tag) = tag.and_then(|tag| HeaderValue::try_from(tag).ok()) {
            headers.insert(header::ETAG, tag);
        }
        response
    }
}

/// Returns the entity tag of an answer. Weak: the same answer may be sent compressed.
fn tag(instance: u64, seq: u64, path: &str, query: &str, now: Option<Millis>) -> String {
    let mut hasher = Xxh3::new();
    hasher.update(&instance.to_le_bytes());
    hasher.update(&seq.to_le_bytes());
    hasher.update(&(path.len() as u64).to_le_bytes());
    hasher.update(path.as_bytes());
    hasher.update(query.as_bytes());
    hasher.update(&now.map_or(i64::MIN, |now| now.0.div_euclid(MINUTE_MS)).to_le_bytes());
    format!("W/\"{seq}-{:016x}\"", hasher.digest())
}

fn matches(known: &HeaderValue, tag: &str) -> bool {
    let bare = tag.trim_start_matches("W/");
    known.to_str().is_ok_and(|known| known.split(',').any(|one| one.trim().trim_start_matches("W/") == bare))
}
