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
    let reader = request.extensions().get::<Granted>().and_then(|granted| granted.owner.clone());
    let opened = match read(&app, &request) {
        Ok((asked, after)) => open(&app, reader, &asked, after).await,
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
fn read(app: &App, request: &Request) -> Result<(Asked, Option<u64>), Problem> {
    let mut asked = Asked::read(&[PARAMS], request.uri().query().unwrap_or_default(), (app.doors.clock)())?;
    if asked.flag("tree") && asked.task("task").is_none() {
        let wrong = Wrong::new("tree", "needs a `task`");
        return Err(Problem::wrong(StatusCode::BAD_REQUEST, vec![wrong]));
    }
    asked.narrow(app)?;
    let after = match request.headers().get("last-event-id") {
        None => asked.whole("after"),
        Some(id) => {
            let id = id.to_str().ok().and_then(|id| id.parse().ok()).filter(|id| *id <= LARGEST);
            let wrong = || Problem::bad("`Last-Event-ID` is no `seq`");
            Some(id.ok_or_else(wrong)?)
        }
    };
    Ok((asked, after))
}

async fn open(
    app: &Arc<App>,
    reader: Option<Arc<str>>,
    asked: &Asked,
    after: Option<u64>,
) -> Result<Body, Problem> {
    let mut wanted = Wanted::of(asked);
    if let Some(team) = app.doors.team.clone() {
        let (whose, task, worker) = (asked.whose(), asked.task("task"), Arc::clone(app));
        let store = asked.narrowed.clone();
        wanted.owner = app
            .blocking(move || -> Result<_, Problem> {
                let id = task.as_ref().map_or("", |task| task.as_str());
                (team.look)(Look { reader: reader.as_deref(), path: "/stream", id, whose: &whose })
                    .map_err(|problem| Problem::new(StatusCode::SERVICE_UNAVAILABLE, problem))?;
                let Some(task) = task else { return Ok(whose.owner) };
                // Two people may have it: it is said whose is followed, or nothing is.
                let store = store.as_ref().unwrap_or(&worker.doors.store);
                Ok(store.task((worker.doors.clock)(), &task)?.owner)
            })
            .await??;
    }
    let permit = Arc::clone(&app.streams).try_acquire_owned();
    let permit = permit.map_err(|_| Problem::too_many("there are as many followers as there may be", 5))?;
    let follower = follow::Follower::new(Arc::clone(app), wanted, permit);
    Ok(body::of(|sender| follower.run(after, sender)))
}
