//! Replays draft rules over the history: `POST /api/v1/policies/backtest`.
//!
//! Law: one at a time, no longer than a request may take, and no longer than the asker is there. What was found by then
//! is answered, and says that it is not everything.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use agent_tracer_agents::extent::Bounds;
use agent_tracer_event::Millis;
use agent_tracer_policy::backtest::{Backtest, ReplayRequest, Setting, run};
use agent_tracer_policy::{Policy, read};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::ingest::read_body;
use crate::problem::{FieldError, Problem};
use crate::query::{Param, ParamType, QueryParams, TIME_ZONE, optional};

/// The stretch of history to replay where the request names none.
const USUAL_MS: i64 = 30 * 24 * 60 * 60 * 1000;

/// The longest draft that is tried over HTTP: what is built of it takes some hundred times as much.
const DRAFT_BYTES: usize = 128 << 10;

/// The most faults of a draft that are listed.
const FAULTS: usize = 100;

pub(crate) const PARAMS: &[Param] = &[
    optional("since", ParamType::Time, "Start of the range; thirty days ago unless given."),
    TIME_ZONE,
    optional("project", ParamType::Text, "Only tasks of this project."),
];

/// Rules to try.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct BacktestRequest {
    /// The text of a `policy.toml`.
    pub(crate) policy: String,
}

/// Replays draft rules over the history.
pub(crate) async fn post(State(app): State<Arc<App>>, request: Request) -> Response {
    match answer(&app, request).await {
        Ok(found) => {
            let headers = [
                (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
                (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
            ];
            (headers, serde_json::to_vec(&found).unwrap_or_default()).into_response()
        }
        Err(problem) => problem.into_response(),
    }
}

/// Signals that the client no longer waits for the answer: dropped with the request.
struct ClientGuard(Arc<AtomicBool>);

impl Drop for ClientGuard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

async fn answer(app: &Arc<App>, request: Request) -> Result<Backtest, Problem> {
    let Some(setting) = app.deps.capabilities.backtest.clone() else {
        let detail = "this server has no rules\nhint: each machine has its own rules; ask its own server";
        return Err(Problem::not_found(detail));
    };
    let began = Instant::now();
    let now = (app.deps.clock)();
    let params = QueryParams::read(&[PARAMS], request.uri().query().unwrap_or_default(), now, &app.zone)?;
    let body = read_body(app, request, &["application/json"]).await?;
    body.check(Bounds::POSTED)?;
    let draft: BacktestRequest = serde_json::from_slice(&body.bytes).map_err(|error| {
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, format!("the body is not a draft: {error}"))
    })?;
    if draft.policy.len() > DRAFT_BYTES {
        let detail = format!(
            "the draft is over {DRAFT_BYTES} bytes\nhint: `agent-tracer policy backtest` reads longer ones"
        );
        return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail));
    }
    let policy = understood(&draft.policy)?;
    let one = Arc::clone(&app.backtests).try_acquire_owned();
    let one = one.map_err(|_| Problem::too_many("another back-test is running", 5))?;
    let is_over = Arc::new(AtomicBool::new(false));
    let client = ClientGuard(Arc::clone(&is_over));
    // Before the guard ends the request: an answer that says how far it came is worth more than a 504.
    let until = began + app.config.limits.request_time * 2 / 3;
    let worker = Arc::clone(app);
    let replayed = app.blocking(move || {
        let since = params.time("since").unwrap_or(Millis(now.0.saturating_sub(USUAL_MS)));
        let question =
            Question { policy: &policy, since, now, project: params.text("project"), setting: &setting };
        let found = replay(&worker, question, until, &is_over);
        drop(one);
        found
    });
    let found = replayed.await?;
    drop(client);
    found
}

struct Question<'q> {
    policy: &'q Policy,
    since: Millis,
    now: Millis,
    project: Option<String>,
    setting: &'q Setting,
}

fn replay(
    app: &App,
    question: Question<'_>,
    until: Instant,
    is_over: &AtomicBool,
) -> Result<Backtest, Problem> {
    let Question { policy, since, now, project, setting } = question;
    let ask = ReplayRequest { policy, since, now, project, setting };
    let found = run(app.deps.store.as_ref(), &ask, |_| {
        if is_over.load(Ordering::Relaxed) {
            return Some("stopped");
        }
        (until.saturating_duration_since(Instant::now()) == Duration::ZERO).then_some("time")
    });
    Ok(found?)
}

/// Parses a draft. The error lists every fault with its line and column.
fn understood(text: &str) -> Result<Policy, Problem> {
    read(text).map(Policy::of_user).map_err(|faults| {
        let errors = faults.into_iter().take(FAULTS).map(|fault| {
            let reason = match fault.hint {
                Some(hint) => format!("{}\nhint: {hint}", fault.what),
                None => fault.what,
            };
            FieldError::new(format!("policy:{}:{}", fault.line, fault.column), reason)
        });
        Problem::invalid_fields(StatusCode::UNPROCESSABLE_ENTITY, errors.collect())
    })
}
