//! The live stream: rows as they change, as server-sent events.
//!
//! A follower begins behind a place in the order of delivery. It subscribes first, then reads what changed up to now
//! from the store, then passes on what is committed and was not in that reading: no gap, and never backwards. Who is too
//! slow, or too far behind, gets `event: missed` with `{from, to}` and loads again. Rows that turned out to be part of
//! another, or that were purged, are named by `event: removed` with `{ids}`, also to those who were away meanwhile. Who
//! comes back with an id of another [`crate::epoch`] gets `missed` from the beginning, and then the rows as before. Every buffer has an end, and a stream ends
//! when the right to follow it does.

mod body;
mod follow;
mod follower_access;
mod row_selection;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::deps::AccessEvent;
use crate::epoch::StreamPosition;
use crate::problem::{FieldError, Problem};
use crate::query::{OWNER, Param, ParamType, QueryParams, agents, kinds, lanes, optional};
use crate::security::Grant;
use follower_access::FollowerAccess;
use row_selection::RowSelection;

/// Parameters that choose the rows to follow.
pub(crate) const PARAMS: &[Param] = &[
    optional(
        "after",
        ParamType::Text,
        "Start after this `seq` or this event id; `Last-Event-ID` takes precedence.",
    ),
    optional("task", ParamType::Task, "Rows of this task."),
    optional("tree", ParamType::Flag, "With the rows of its subagents."),
    optional("lane", ParamType::Many(lanes), "In one of these lanes."),
    optional("kind", ParamType::Many(kinds), "Of one of these kinds."),
    optional("agent", ParamType::One(agents), "Of this agent."),
    optional("project", ParamType::Text, "In this project."),
    OWNER,
];

/// Begins a stream.
pub(crate) async fn get(State(app): State<Arc<App>>, request: Request) -> Response {
    let reader = request.extensions().get::<Grant>().and_then(|granted| granted.owner.clone());
    let opened = match read(&app, &request) {
        Ok((params, after)) => {
            open(&app, reader, &params, after, FollowerAccess::from_request(&request)).await
        }
        Err(problem) => Err(problem),
    };
    match opened {
        Ok(body) => {
            let headers = [
                (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
                (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
            ];
            (headers, body).into_response()
        }
        Err(problem) => problem.into_response(),
    }
}

/// Reads the rows to follow, and the position after which they begin.
fn read(app: &App, request: &Request) -> Result<(QueryParams, Option<StreamPosition>), Problem> {
    let (query, now) = (request.uri().query().unwrap_or_default(), (app.deps.clock)());
    let mut params = QueryParams::read(&[PARAMS], query, now, &app.zone)?;
    if params.flag("tree") && params.task("task").is_none() {
        let wrong = FieldError::new("tree", "needs a `task`");
        return Err(Problem::invalid_fields(StatusCode::BAD_REQUEST, vec![wrong]));
    }
    params.narrow(app)?;
    let after = match request.headers().get("last-event-id") {
        None => match params.text("after") {
            None => None,
            Some(after) => Some(StreamPosition::parse(&after).ok_or_else(|| {
                let wrong = FieldError::new("after", "is neither a `seq` nor the id of an event");
                Problem::invalid_fields(StatusCode::BAD_REQUEST, vec![wrong])
            })?),
        },
        Some(id) => {
            let place = id.to_str().ok().and_then(StreamPosition::parse);
            Some(place.ok_or_else(|| Problem::bad("`Last-Event-ID` is not the id of an event"))?)
        }
    };
    Ok((params, after))
}

async fn open(
    app: &Arc<App>,
    reader: Option<Arc<str>>,
    params: &QueryParams,
    after: Option<StreamPosition>,
    right: FollowerAccess,
) -> Result<Body, Problem> {
    let mut wanted = RowSelection::from_params(params);
    if let Some(team) = app.deps.team.clone() {
        let (owners, task, worker) = (params.owner_filter(), params.task("task"), Arc::clone(app));
        let store = params.narrowed.clone();
        wanted.owner = app
            .blocking(move || -> Result<_, Problem> {
                let id = task.as_ref().map_or("", |task| task.as_str());
                (team.record_access)(AccessEvent {
                    reader: reader.as_deref(),
                    path: "/stream",
                    id,
                    owners: &owners,
                })
                .map_err(|cause| Problem::new(StatusCode::SERVICE_UNAVAILABLE, cause.to_string()))?;
                let Some(task) = task else { return Ok(owners.owner) };
                // Two people may have it: it is said whose is followed, or nothing is.
                let store = store.as_ref().unwrap_or(&worker.deps.store);
                Ok(store.task((worker.deps.clock)(), &task)?.owner)
            })
            .await??;
    }
    // After the audit and its questions: a request that is refused must not hold one of the few streams meanwhile.
    let permit = Arc::clone(&app.streams).try_acquire_owned();
    let permit = permit.map_err(|_| Problem::too_many("too many open streams", 5))?;
    let follower = follow::Follower::new(Arc::clone(app), wanted, permit);
    Ok(body::written_by(|sender| follower.run(after, right, sender)))
}
