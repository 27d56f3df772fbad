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
mod right;
mod wanted;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::doors::Look;
use crate::epoch::Place;
use crate::problem::{Problem, Wrong};
use crate::query::{Asked, OWNER, Param, Reads, agents, kinds, lanes, may};
use crate::security::Granted;
use right::Right;
use wanted::Wanted;

/// Which rows are followed.
pub(crate) const PARAMS: &[Param] = &[
    may(
        "after",
        Reads::Text,
        "Begin behind this `seq`, or behind the event of this id; `Last-Event-ID` beats it.",
    ),
    may("task", Reads::Task, "Rows of this task."),
    may("tree", Reads::Flag, "With the rows of its subagents."),
    may("lane", Reads::Many(lanes), "In one of these lanes."),
    may("kind", Reads::Many(kinds), "Of one of these kinds."),
    may("agent", Reads::One(agents), "Of this agent."),
    may("project", Reads::Text, "In this project."),
    OWNER,
];

/// Begins a stream.
pub(crate) async fn get(State(app): State<Arc<App>>, request: Request) -> Response {
    let reader = request.extensions().get::<Granted>().and_then(|granted| granted.owner.clone());
    let opened = match read(&app, &request) {
        Ok((asked, after)) => open(&app, reader, &asked, after, Right::of(&request)).await,
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

/// What is followed, and behind which place.
fn read(app: &App, request: &Request) -> Result<(Asked, Option<Place>), Problem> {
    let mut asked = Asked::read(&[PARAMS], request.uri().query().unwrap_or_default(), (app.doors.clock)())?;
    if asked.flag("tree") && asked.task("task").is_none() {
        let wrong = Wrong::new("tree", "needs a `task`");
        return Err(Problem::wrong(StatusCode::BAD_REQUEST, vec![wrong]));
    }
    asked.narrow(app)?;
    let after = match request.headers().get("last-event-id") {
        None => match asked.text("after") {
            None => None,
            Some(after) => Some(Place::parse(&after).ok_or_else(|| {
                let wrong = Wrong::new("after", "is neither a `seq` nor the id of an event");
                Problem::wrong(StatusCode::BAD_REQUEST, vec![wrong])
            })?),
        },
        Some(id) => {
            let place = id.to_str().ok().and_then(Place::parse);
            Some(place.ok_or_else(|| Problem::bad("`Last-Event-ID` is no id of an event"))?)
        }
    };
    Ok((asked, after))
}

async fn open(
    app: &Arc<App>,
    reader: Option<Arc<str>>,
    asked: &Asked,
    after: Option<Place>,
    right: Right,
) -> Result<Body, Problem> {
    let mut wanted = Wanted::of(asked);
    if let Some(team) = app.doors.team.clone() {
        let (owners, task, worker) = (asked.owner_filter(), asked.task("task"), Arc::clone(app));
        let store = asked.narrowed.clone();
        wanted.owner = app
            .blocking(move || -> Result<_, Problem> {
                let id = task.as_ref().map_or("", |task| task.as_str());
                (team.look)(Look { reader: reader.as_deref(), path: "/stream", id, owners: &owners })
                    .map_err(|cause| Problem::new(StatusCode::SERVICE_UNAVAILABLE, cause.to_string()))?;
                let Some(task) = task else { return Ok(owners.owner) };
                // Two people may have it: it is said whose is followed, or nothing is.
                let store = store.as_ref().unwrap_or(&worker.doors.store);
                Ok(store.task((worker.doors.clock)(), &task)?.owner)
            })
            .await??;
    }
    let permit = Arc::clone(&app.streams).try_acquire_owned();
    let permit = permit.map_err(|_| Problem::too_many("there are as many followers as there may be", 5))?;
    let follower = follow::Follower::new(Arc::clone(app), wanted, permit);
    Ok(body::of(|sender| follower.run(after, right, sender)))
}
