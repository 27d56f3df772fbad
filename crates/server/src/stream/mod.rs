//! The live stream: rows as they change, as server-sent events.
//!
//! A follower begins behind a place in the order of delivery. It subscribes first, then reads what changed up to now
//! from the store, then passes on what is committed and was not in that reading: no gap, and never backwards. Who is too
//! slow, or too far behind, gets `event: missed` with `{from, to}` and loads again. Rows that turned out to be part of
//! another, or that were purged, are told by `event: removed` with `{ids}`. Every buffer has an end.

mod body;
mod follow;
mod wanted;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::doors::Look;
use crate::problem::{Problem, Wrong};
use crate::query::{Asked, OWNER, Param, Reads, agents, kinds, lanes, may};
use crate::security::Granted;
use wanted::Wanted;

/// The largest place in the order of delivery: what a script can count to.
const LARGEST: u64 = (1 << 53) - 1;

/// Which rows are followed.
pub(crate) const PARAMS: &[Param] = &[
    may("after", Reads::Whole(0, LARGEST), "Begin behind this `seq`; `Last-Event-ID` beats it."),
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
    let asked = match read(&app, &request) {
        Ok(asked) => asked,
        Err(problem) => return problem.into_response(),
    };
    let reader = request.extensions().get::<Granted>().and_then(|granted| granted.owner.clone());
    if let Some(team) = app.doors.team.clone() {
        let owner = asked.whose().owner;
        let noted = app.blocking(move || {
            let (reader, owner) = (reader.as_deref(), owner.as_deref());
            (team.look)(Look { reader, path: "/stream", id: "", owner })
        });
        match noted.await {
            Ok(Ok(())) => {}
            Ok(Err(problem)) => {
                return Problem::new(StatusCode::SERVICE_UNAVAILABLE, problem).into_response();
            }
            Err(problem) => return problem.into_response(),
        }
    }
    match begin(&app, &request, &asked) {
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

fn read(app: &App, request: &Request) -> Result<Asked, Problem> {
    let mut asked = Asked::read(&[PARAMS], request.uri().query().unwrap_or_default(), (app.doors.clock)())?;
    if asked.flag("tree") && asked.task("task").is_none() {
        let wrong = Wrong::new("tree", "needs a `task`");
        return Err(Problem::wrong(StatusCode::BAD_REQUEST, vec![wrong]));
    }
    asked.narrow(app)?;
    Ok(asked)
}

fn begin(app: &Arc<App>, request: &Request, asked: &Asked) -> Result<Body, Problem> {
    let after = match request.headers().get("last-event-id") {
        None => asked.whole("after"),
        Some(id) => {
            let id = id.to_str().ok().and_then(|id| id.parse().ok()).filter(|id| *id <= LARGEST);
            let wrong = || Problem::bad("`Last-Event-ID` is no `seq`");
            Some(id.ok_or_else(wrong)?)
        }
    };
    let permit = Arc::clone(&app.streams).try_acquire_owned();
    let permit = permit.map_err(|_| Problem::too_many("there are as many followers as there may be", 5))?;
    let follower = follow::Follower::new(Arc::clone(app), Wanted::of(asked), permit);
    Ok(body::of(|sender| follower.run(after, sender)))
}
