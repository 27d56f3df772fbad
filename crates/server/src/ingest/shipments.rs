//! What machines ship to a team's server: tasks and facts that they derived themselves.
//!
//! Law: whose they are says the token alone. What is sent twice is there once, so a sender that heard nothing sends again.

use std::sync::Arc;

use agent_tracer_ledger::record::Shipment;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::read_body;
use crate::app::App;
use crate::doors::NotTaken;
use crate::problem::Problem;
use crate::security::Granted;

/// Takes one shipment.
pub(crate) async fn post(State(app): State<Arc<App>>, request: Request) -> Response {
    match take(&app, request).await {
        Ok(()) => {
            let headers = [
                (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
                (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
            ];
            (StatusCode::ACCEPTED, headers, "{}").into_response()
        }
        Err(problem) => problem.into_response(),
    }
}

async fn take(app: &Arc<App>, request: Request) -> Result<(), Problem> {
    let Some(team) = app.doors.team.clone() else {
        return Err(Problem::new(
            StatusCode::NOT_FOUND,
            "this server keeps what happens on one machine, and takes no shipments\nhint: ship to a server that was started with `--store`",
        ));
    };
    let owner = request.extensions().get::<Granted>().and_then(|granted| granted.owner.clone());
    let Some(owner) = owner else {
        return Err(Problem::new(StatusCode::FORBIDDEN, "only the token of a person or a machine ships"));
    };
    let body = read_body(app, request, &["application/json"]).await?;
    let taken = app.blocking(move || {
        let shipment: Shipment = serde_json::from_slice(&body.bytes)
            .map_err(|error| NotTaken::Bad(format!("this is no shipment: {error}")))?;
        (team.take)(&owner, &shipment)
    });
    taken.await?.map_err(|error| match error {
        NotTaken::Bad(what) => Problem::new(StatusCode::UNPROCESSABLE_ENTITY, what),
        NotTaken::Later(what) => Problem::new(StatusCode::SERVICE_UNAVAILABLE, what),
    })
}
