//! The dashboard's files, and the page itself for every path that the dashboard knows how to show.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use xxhash_rust::xxh3::xxh3_64;

use crate::app::App;
use crate::deps::Asset;
use crate::guard::takes;
use crate::problem::Problem;

/// Shown while the program was built without its dashboard.
const NO_DASHBOARD: &[u8] = b"<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
<title>Agent Tracer</title>\n<h1>Agent Tracer runs</h1>\n\
<p>This program was built without its dashboard. Build it with <code>make build</code>, which needs Node 20 or newer, \
and start it again.</p>\n<p>The data is at <a href=\"/api/v1/tasks\">/api/v1/tasks</a>, \
its description at <a href=\"/api/v1/openapi.json\">/api/v1/openapi.json</a>.</p>\n</html>\n";

const PAGE: &str = "index.html";

/// Paths that are never the dashboard's.
// Answered with the page, a typing error in a path of the API would look like success.
const ROOTS: &[&str] = &["api", "ingest", "hooks", "v1", "metrics", "health", "login"];

/// Gives a file of the dashboard.
pub(crate) async fn get(State(app): State<Arc<App>>, request: Request) -> Response {
    let path = request.uri().path().trim_start_matches('/');
    let first = path.split('/').next().unwrap_or_default();
    if !matches!(*request.method(), Method::GET | Method::HEAD) || ROOTS.contains(&first) {
        return Problem::not_found("path not found").into_response();
    }
    let name = if path.is_empty() { PAGE } else { path };
    if let Some(asset) = (app.deps.assets)(name) {
        return give(&asset, name, &request);
    }
    let last = path.rsplit('/').next().unwrap_or_default();
    if first == "assets" || last.contains('.') {
        return Problem::not_found("file not found").into_response();
    }
    let none =
        Asset { content_type: "text/html; charset=utf-8", plain: NO_DASHBOARD, gzip: None, brotli: None };
    give(&(app.deps.assets)(PAGE).unwrap_or(none), PAGE, &request)
}

fn give(asset: &Asset, name: &str, request: &Request) -> Response {
    let tag = format!("\"{:016x}\"", xxh3_64(asset.plain));
    let known = request.headers().get(header::IF_NONE_MATCH).and_then(|known| known.to_str().ok());
    let unchanged =
        known.is_some_and(|known| known.split(',').any(|one| one.trim().trim_start_matches("W/") == tag));
    let (body, encoding) = match (asset.brotli, asset.gzip) {
        (Some(brotli), _) if takes(request.headers(), "br") => (brotli, Some("br")),
        (_, Some(gzip)) if takes(request.headers(), "gzip") => (gzip, Some("gzip")),
        _ => (asset.plain, None),
    };
    let mut response = Response::new(if unchanged { Body::empty() } else { Body::from(body) });
    let headers = response.headers_mut();
    if !unchanged {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.content_type));
        if let Some(encoding) = encoding {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
        }
    }
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    // The builder puts a hash of the contents into the names below `assets`: another content has another name.
    let keep = if name.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(keep));
    if let Ok(tag) = HeaderValue::try_from(tag) {
        headers.insert(header::ETAG, tag);
    }
    if unchanged {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    response
}
