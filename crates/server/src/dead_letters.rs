//! Dead letters: listed for clients that may read, put back by clients that may change things.

use std::sync::Arc;

use agent_tracer_event::Millis;
use agent_tracer_ledger::view::Page;
use agent_tracer_spool::{self as spool, Home, Spool, SpoolError, doorbell};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::problem::Problem;

/// Dead letters in one answer: more than a person reads.
const LISTED_MAX: usize = 200;

/// A file that the spool could not read and keeps aside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeadLetter {
    /// Its name, by which it can be put back.
    pub(crate) name: String,
    /// The reason why it could not be read.
    pub(crate) reason: String,
    /// Its length.
    pub(crate) bytes: u64,
    /// The time of its arrival. Absent for a file that never was an envelope and cannot be put back.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) arrived_at: Option<Millis>,
}

impl From<spool::DeadLetter> for DeadLetter {
    fn from(letter: spool::DeadLetter) -> Self {
        let arrived_at = letter.arrived_nanos.map(Millis::from_nanos);
        Self { name: letter.name, reason: letter.reason, bytes: letter.bytes, arrived_at }
    }
}

/// Lists the newest dead letters.
pub(crate) fn list(app: &App) -> Result<Page<DeadLetter>, Problem> {
    let Some(home) = &app.deps.home else { return Ok(Page::whole(Vec::new())) };
    let letters = Spool::at(&home.spool()).dead_letters(LISTED_MAX).map_err(|error| unavailable(&error))?;
    Ok(Page::whole(letters.into_iter().map(DeadLetter::from).collect()))
}

/// Puts a dead letter back among those that wait.
pub(crate) async fn requeue(State(app): State<Arc<App>>, Path(name): Path<String>) -> Response {
    let worker = Arc::clone(&app);
    match app.blocking(move || put_back(worker.deps.home.as_ref(), &name)).await {
        Ok(Ok(())) => StatusCode::NO_CONTENT.into_response(),
        Ok(Err(problem)) | Err(problem) => problem.into_response(),
    }
}

fn put_back(home: Option<&Home>, name: &str) -> Result<(), Problem> {
    let is_back = match home {
        Some(home) => Spool::at(&home.spool()).requeue(name).map_err(|error| unavailable(&error))?,
        None => false,
    };
    match home {
        Some(home) if is_back => {
            // The drain sleeps until it is woken: without a ring the letter would wait for the next envelope.
            doorbell::ring(home);
            Ok(())
        }
        _ => Err(Problem::not_found("no dead letter of this name can be queued again")),
    }
}

fn unavailable(error: &SpoolError) -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string())
}
