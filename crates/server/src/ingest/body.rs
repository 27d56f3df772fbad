//! The body of a request: whole, within its limit, of a type that is read here, and decompressed.

use std::io::Read;

use axum::body::Bytes;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use flate2::read::MultiGzDecoder;
use http_body_util::{BodyExt, Limited};

use crate::app::App;
use crate::problem::Problem;

/// A body and what it says of itself.
#[derive(Debug)]
pub(crate) struct Body {
    /// Its bytes, decompressed.
    pub(crate) bytes: Bytes,
    /// Its media type without parameters, in lower case.
    pub(crate) media_type: String,
}

/// Reads a body that is of one of these media types.
pub(crate) async fn read(app: &App, request: Request, types: &[&str]) -> Result<Body, Problem> {
    let headers = request.headers();
    let media_type = media_type(headers);
    if !types.contains(&media_type.as_str()) {
        let wanted = types.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ");
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, format!("the body must be {wanted}")));
    }
    let packed = is_packed(headers)?;
    let most = app.config.limits.body_bytes;
    let said = headers.get(header::CONTENT_LENGTH).and_then(|said| said.to_str().ok()?.parse::<u64>().ok());
    if said.is_some_and(|said| said > most as u64) {
        return Err(too_large(most));
    }
    // The whole request has its time; the body must not use up what is needed to answer.
    let collected = tokio::time::timeout(
        app.config.limits.request_time * 2 / 3,
        Limited::new(request.into_body(), most).collect(),
    );
    let slow = |_| Problem::new(StatusCode::REQUEST_TIMEOUT, "the body took too long to arrive");
    let bytes = match collected.await.map_err(slow)? {
        Ok(collected) => collected.to_bytes(),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => return Err(too_large(most)),
        Err(_) => return Err(Problem::bad("the body broke off")),
    };
    if !packed {
        return Ok(Body { bytes, media_type });
    }
    let bytes = app.blocking(move || unpack(&bytes, most)).await??;
    Ok(Body { bytes, media_type })
}

fn media_type(headers: &HeaderMap) -> String {
    let given = headers.get(header::CONTENT_TYPE).and_then(|given| given.to_str().ok()).unwrap_or_default();
    given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn is_packed(headers: &HeaderMap) -> Result<bool, Problem> {
    match headers.get(header::CONTENT_ENCODING).map(|encoding| encoding.as_bytes().to_ascii_lowercase()) {
        None => Ok(false),
        Some(encoding) if encoding == b"identity" => Ok(false),
        Some(encoding) if encoding == b"gzip" => Ok(true),
        Some(_) => Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "only `gzip` is decompressed here")),
    }
}

fn unpack(packed: &[u8], most: usize) -> Result<Bytes, Problem> {
    let mut plain = Vec::new();
    // One byte more than is allowed is read, and no more: a small body may unpack to any size.
    let read = MultiGzDecoder::new(packed).take(most as u64 + 1).read_to_end(&mut plain);
    match read {
        Err(_) => Err(Problem::bad("the body is not compressed with gzip")),
        Ok(_) if plain.len() > most => Err(too_large(most)),
        Ok(_) => Ok(plain.into()),
    }
}

fn too_large(most: usize) -> Problem {
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, format!("the body is over {most} bytes"))
}
