//! Takes shipments of machines to a team's server: tasks and facts that they derived themselves.
//!
//! Law: the token alone names the owner. A shipment that is sent twice is stored once, so a sender without an answer sends
//! again. A shipment is stored whole or refused whole ([`super::shipment_body`] has the bounds).

use std::sync::Arc;
use std::sync::atomic::Ordering;

use agent_tracer_ledger::{FaultCause, error_text};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{read_body, shipment_body};
use crate::app::App;
use crate::deps::ShipmentError;
use crate::problem::Problem;
use crate::security::Grant;

/// The answer to a shipment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShipmentAnswer {
    /// Records with a time outside of 1970 to 2100, which was moved to the nearer end.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) clamped: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Takes one shipment.
pub(crate) async fn post(State(app): State<Arc<App>>, request: Request) -> Response {
    match take(&app, request).await {
        Ok(answer) => {
            let headers = [
                (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
                (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
            ];
            (StatusCode::ACCEPTED, headers, serde_json::to_vec(&answer).unwrap_or_default()).into_response()
        }
        Err(problem) => problem.into_response(),
    }
}

async fn take(app: &Arc<App>, request: Request) -> Result<ShipmentAnswer, Problem> {
    let Some(team) = app.deps.team.clone() else {
        return Err(Problem::new(
            StatusCode::NOT_FOUND,
            "this server records one machine and accepts no shipments\nhint: ship to a server that was started with `--store`",
        ));
    };
    let owner = request.extensions().get::<Grant>().and_then(|granted| granted.owner.clone());
    let Some(owner) = owner else {
        return Err(Problem::new(
            StatusCode::FORBIDDEN,
            "shipping requires the token of a person or a machine",
        ));
    };
    let mut body = read_body(app, request, &["application/json"]).await?;
    body.check(shipment_body::BOUNDS)?;
    // Held until the records are stored.
    let _share = body.share.take();
    let taken = app.blocking(move || {
        let shipped =
            shipment_body::read(&body.bytes).map_err(|error| ShipmentError::Bad(FaultCause::new(error)))?;
        // Dropped before the store is waited for: the records are built, and the body is as large again.
        drop(body);
        (team.take)(&owner, &shipped.shipment).map(|()| shipped.clamped)
    });
    let clamped = taken.await?.map_err(|error| match &error {
        ShipmentError::Bad(cause) => Problem::new(StatusCode::UNPROCESSABLE_ENTITY, error_text(cause)),
        ShipmentError::Later(cause) => Problem::new(StatusCode::SERVICE_UNAVAILABLE, error_text(cause)),
    })?;
    app.clamped.fetch_add(clamped, Ordering::Relaxed);
    Ok(ShipmentAnswer { clamped })
}
