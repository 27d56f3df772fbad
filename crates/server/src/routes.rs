//! Maps paths to handlers.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};

use crate::app::App;
use crate::problem::Problem;
use crate::query::{self, Endpoint, Question};
use crate::security::Grant;
use crate::{
    assets, backtest, dead_letters, guard, health, ingest, login, metrics, openapi, otlp, request_log, stream,
};

/// Builds every route, with the guard around all of them.
pub(crate) fn router(app: Arc<App>) -> Router {
    let mut router: Router<Arc<App>> = Router::new();
    for endpoint in query::endpoints() {
        router = router.route(&format!("{}{}", query::ROOT, endpoint.path), question(endpoint));
    }
    router = ingest::hook_routes(router);
    // Built once: it holds nothing of a request, and a client that is generated asks for it rarely.
    let document: Arc<str> = openapi::text().into();
    router
        .route("/api/v1/openapi.json", get(move || async move { document_response(&document) }))
        .route("/api/v1/stream", get(stream::get))
        .route("/api/v1/login-codes", post(login::make))
        .route("/api/v1/dead-letters/{name}/requeue", post(dead_letters::requeue))
        .route("/api/v1/policies/backtest", post(backtest::post))
        .route("/login", get(login::open))
        .route("/health", get(health::get))
        .route("/metrics", get(metrics::get))
        .route("/ingest/v1/sessions/ensure", post(ingest::ensure_session))
        .route("/api/runtime-session-ensure", post(ingest::ensure_session))
        .route("/ingest/v1/sessions/end", post(ingest::end_session))
        .route("/api/runtime-session-end", post(ingest::end_session))
        .route("/ingest/v1/events", post(ingest::post_events))
        .route("/ingest/v1/shipments", post(ingest::post_shipment))
        .route("/v1/logs", post(otlp::post_logs))
        .route("/v1/metrics", post(otlp::post_metrics))
        .route("/v1/traces", post(otlp::post_traces))
        .fallback(assets::get)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(middleware::from_fn_with_state(Arc::clone(&app), guard::guard))
        // The outermost layer: its time includes the guard, and what the guard refuses has a line too.
        .layer(middleware::from_fn(request_log::log))
        .with_state(app)
}

fn question(endpoint: &'static Endpoint) -> MethodRouter<Arc<App>> {
    let has_id = endpoint.path.contains("{id}");
    if has_id {
        get(move |State(app): State<Arc<App>>, Path(id): Path<String>, request: Request| {
            query::ask(app, endpoint, question_of(id, &request))
        })
    } else {
        get(move |State(app): State<Arc<App>>, request: Request| {
            query::ask(app, endpoint, question_of(String::new(), &request))
        })
    }
}

fn question_of(id: String, request: &Request) -> Question {
    Question {
        id,
        path: request.uri().path().to_owned(),
        query: request.uri().query().unwrap_or_default().to_owned(),
        known: request.headers().get(header::IF_NONE_MATCH).cloned(),
        may_write: request.extensions().get::<Grant>().is_some_and(|granted| granted.may_write),
        asker: request.extensions().get::<Grant>().and_then(|granted| granted.owner.clone()),
    }
}

fn document_response(document: &Arc<str>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache")),
    ];
    (headers, document.to_string()).into_response()
}

async fn method_not_allowed(method: Method) -> Response {
    let detail = format!("method `{method}` not allowed");
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, detail).into_response()
}
