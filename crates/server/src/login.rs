//! The one-time link: made for a client with the token, opened by a browser.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::problem::Problem;
use crate::query::{ParamType, QueryParams, optional};

/// Makes a link.
pub(crate) async fn make(State(app): State<Arc<App>>) -> Response {
    if app.access.is_team() {
        let detail = "a team's server has no one-time links\nhint: a browser comes through a proxy that names people; see docs/team.md";
        return Problem::not_found(detail).into_response();
    }
    match app.access.codes.make((app.deps.clock)()) {
        Ok(code) => {
            let headers = [
                (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
                (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
            ];
            (headers, serde_json::to_vec(&code).unwrap_or_default()).into_response()
        }
        Err(_) => {
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "no random numbers available").into_response()
        }
    }
}

/// Opens a link: the browser gets its cookie and goes on to the dashboard.
pub(crate) async fn open(State(app): State<Arc<App>>, request: Request) -> Response {
    let now = (app.deps.clock)();
    let params: &[&[crate::query::Param]] = &[&[optional("code", ParamType::Text, "The code.")]];
    let params = match QueryParams::read(params, request.uri().query().unwrap_or_default(), now, &app.zone) {
        Ok(params) => params,
        Err(problem) => return problem.into_response(),
    };
    let cookie = params.text("code").and_then(|code| app.access.log_in(&code, now));
    let Some(cookie) = cookie.and_then(|cookie| HeaderValue::try_from(cookie).ok()) else {
        return Problem::new(
            StatusCode::FORBIDDEN,
            "this link was used or has expired\nhint: run `agent-tracer up` for a new one",
        )
        .into_response();
    };
    let mut response = Response::new(Body::empty());
    // Sent on: the spent code does not stay in the address bar, nor the page in the history under it.
    *response.status_mut() = StatusCode::SEE_OTHER;
    let headers = response.headers_mut();
    headers.insert(header::LOCATION, HeaderValue::from_static("/"));
    headers.insert(header::SET_COOKIE, cookie);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
