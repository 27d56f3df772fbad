//! Wraps every request: access control, a time limit, compression and the headers of every answer.

use std::io::Write;
use std::sync::Arc;

use axum::body::{Body, HttpBody};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::BodyExt;

use crate::app::App;
use crate::problem::Problem;
use crate::security::{Peer, add_headers};

/// Answers shorter than this are sent as they are.
// Such an answer fits into one packet, which arrives no sooner when it is shorter.
const WORTH_BYTES: u64 = 1024;

/// Answers longer than this are compressed where waiting is allowed.
// Two threads serve all connections: a long answer that was compressed on one would hold up everybody.
const LONG_BYTES: usize = 64 << 10;

/// Admits a request or answers with the reason of the refusal.
pub(crate) async fn guard(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let gzip = takes(request.headers(), "gzip");
    let peer = request.extensions().get::<Peer>().copied();
    let now = (app.deps.clock)();
    let granted = match peer {
        // Measured before the credentials are read: nothing is parsed of a head that is too long.
        _ if head_bytes(&request) > app.config.limits.header_bytes => {
            let most = app.config.limits.header_bytes;
            let detail = format!("request line and headers exceed {most} bytes");
            Err(Problem::new(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, detail))
        }
        Some(peer) => app.access.check(request.method(), request.uri(), request.headers(), peer, now),
        None => Err(Problem::new(StatusCode::FORBIDDEN, "peer address unknown")),
    };
    let answered = match granted {
        Err(problem) => problem.into_response(),
        Ok(granted) => {
            request.extensions_mut().insert(granted);
            match tokio::time::timeout(app.config.limits.request_time, next.run(request)).await {
                Ok(response) => response,
                Err(_) => Problem::new(StatusCode::GATEWAY_TIMEOUT, "the answer timed out").into_response(),
            }
        }
    };
    let mut response = if gzip { compress(&app, answered).await } else { answered };
    add_headers(response.headers_mut());
    response
}

/// Returns the length of the request line and the headers on the wire. The HTTP library limits its buffer only, and
/// lets a larger head through if it arrives at once.
fn head_bytes(request: &Request) -> usize {
    let line = request.method().as_str().len() + request.uri().to_string().len() + " HTTP/1.1\r\n ".len();
    let headers =
        request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len());
    line + headers.sum::<usize>() + "\r\n".len()
}

/// Returns whether the client accepts this encoding.
pub(crate) fn takes(headers: &HeaderMap, encoding: &str) -> bool {
    let lists = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    lists.flat_map(|list| list.split(',')).any(|one| {
        let mut parts = one.split(';').map(str::trim);
        let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(encoding));
        let refused = parts.any(|part| {
            part.strip_prefix("q=")
                .is_some_and(|weight| weight.parse::<f32>().is_ok_and(|weight| weight == 0.0))
        });
        named && !refused
    })
}

/// Compresses an answer whose length is known. A stream has none, and is sent as it comes.
async fn compress(app: &App, response: Response) -> Response {
    let worth = response.body().size_hint().exact().is_some_and(|bytes| bytes >= WORTH_BYTES);
    let text = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let text = text.is_some_and(|kind| kind.contains("json") || kind.starts_with("text/"));
    // Files of the dashboard carry an encoding already: they are compressed when the program is built.
    if !worth || !text || response.headers().contains_key(header::CONTENT_ENCODING) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let plain = match body.collect().await {
        Ok(body) => body.to_bytes(),
        Err(_) => {
            return Problem::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "internal error: the answer could not be read",
            )
            .into_response();
        }
    };
    let given = plain.clone();
    let packed = if plain.len() > LONG_BYTES {
        app.blocking(move || gzip(&given)).await.unwrap_or(None)
    } else {
        gzip(&given)
    };
    let Some(packed) = packed.filter(|packed| packed.len() < plain.len()) else {
        return Response::from_parts(parts, Body::from(plain));
    };
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    parts.headers.append(header::VARY, HeaderValue::from_static("accept-encoding"));
    Response::from_parts(parts, Body::from(packed))
}

fn gzip(plain: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(plain.len() / 4), Compression::fast());
    encoder.write_all(plain).ok()?;
    encoder.finish().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoding_is_taken_only_if_it_is_asked_for() {
        let taken = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(value));
            takes(&headers, "gzip")
        };
        for value in ["gzip", "br, gzip", "GZIP;q=0.5", "deflate, gzip;q=1.0, *;q=0"] {
            assert!(taken(value), "{value}");
        }
        for value in ["", "br", "gzip;q=0", "gzip; q=0.0", "xgzip"] {
            assert!(!taken(value), "{value}");
        }
    }
}
