//! Answers `/health`: a small question for a process supervisor.

use std::sync::Arc;

use agent_tracer_ledger::error_text;
use agent_tracer_ledger::view::HealthStatus;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::problem::Problem;

/// The server answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Liveness {
    /// `ok`: a server that cannot answer sends a problem instead.
    #[schema(value_type = HealthStatus)]
    pub(crate) status: String,
    /// The version of the server.
    pub(crate) version: String,
}

/// Answers if the store does.
pub(crate) async fn get(State(app): State<Arc<App>>) -> Response {
    let worker = Arc::clone(&app);
    // A process that listens in front of a store that cannot answer is not alive for its supervisor.
    match app.blocking(move || worker.deps.store.seq()).await {
        Ok(Ok(_)) => {
            let alive = Liveness {
                status: HealthStatus::Ok.to_string(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            };
            let headers = [
                (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
                (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
            ];
            (headers, serde_json::to_vec(&alive).unwrap_or_default()).into_response()
        }
        Ok(Err(error)) => Problem::new(StatusCode::SERVICE_UNAVAILABLE, error_text(&error)).into_response(),
        Err(problem) => problem.into_response(),
    }
}
