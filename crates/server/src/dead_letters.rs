//! What the spool could not read: seen by everybody who may read, put back by who may change things.

use std::sync::Arc;

use agent_tracer_event::Millis;
use agent_tracer_ledger::view::Page;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::doors::Requeued;
use crate::problem::Problem;

/// A file that the spool could not read and keeps aside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeadLetter {
    /// Its name, by which it can be put back.
    pub name: String,
    /// Why it could not be read.
    pub reason: String,
    /// How long it is.
    pub bytes: u64,
    /// When it arrived. Absent for what never was an envelope, which cannot be put back.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub arrived_at: Option<Millis>,
}

/// The newest of them.
pub(crate) fn list(app: &App) -> Result<Page<DeadLetter>, Problem> {
    let letters = (app.doors.dead_letters.list)()
        .map_err(|error| Problem::new(StatusCode::SERVICE_UNAVAILABLE, error))?;
    Ok(Page::whole(letters))
}

/// Puts one back.
pub(crate) async fn requeue(State(app): State<Arc<App>>, Path(name): Path<String>) -> Response {
    let worker = Arc::clone(&app);
    match app.blocking(move || (worker.doors.dead_letters.requeue)(&name)).await {
        Ok(Requeued::Waits) => StatusCode::NO_CONTENT.into_response(),
        Ok(Requeued::Unknown) => {
            Problem::new(StatusCode::NOT_FOUND, "there is no dead letter of that name that could go back")
                .into_response()
        }
        Ok(Requeued::Failed(why)) => Problem::new(StatusCode::SERVICE_UNAVAILABLE, why).into_response(),
        Err(problem) => problem.into_response(),
    }
}
