//! The body of a request: whole, within its limit, of a type that is read here, and decompressed.
//!
//! A compressed body is decompressed twice: first to weigh it, without keeping anything, and then, if it is within its
//! limits and there is memory for it, into a buffer of its size.

use std::io::Read;

use agent_tracer_agents::extent::{Bounds, Meter};
use axum::body::Bytes;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use flate2::read::MultiGzDecoder;
use http_body_util::{BodyExt, Limited};

use crate::app::App;
use crate::memory::{self, Share};
use crate::problem::Problem;

/// Bytes that are weighed at once.
const PIECE: usize = 32 << 10;

/// A body and what it says of itself.
pub(crate) struct Body {
    /// Its bytes, decompressed.
    pub(crate) bytes: Bytes,
    /// Its media type without parameters, in lower case.
    pub(crate) media_type: String,
    /// The number of values its bytes hold, if they are JSON.
    meter: Meter,
    /// The memory that it holds. Kept until what was read of it is stored.
    pub(crate) share: Share,
}

impl Body {
    /// Refuses a body of which more would be built than is held in memory.
    pub(crate) fn check(&self, bounds: Bounds) -> Result<(), Problem> {
        if bounds.hold(self.meter.extent()) {
            return Ok(());
        }
        Err(too_many_values(bounds.values))
    }

    /// Refuses a body with texts of which more would be built, where those are JSON themselves.
    pub(crate) fn check_texts(&self, most: usize) -> Result<(), Problem> {
        if self.meter.within_texts() <= most {
            return Ok(());
        }
        Err(too_many_values(most))
    }
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
    // By the header alone: a client that says how much it has need not send it.
    if said.is_some_and(|said| said > most as u64) {
        return Err(too_large(most));
    }
    // A body of unknown length may become as long as any, so memory for the longest is set aside.
    let said = said.and_then(|said| usize::try_from(said).ok()).unwrap_or(most);
    let arriving = app.memory.arrive(said).await?;
    // The whole request has its time; the body must not use up what is needed to answer.
    let collected = tokio::time::timeout(
        app.config.limits.request_time * 2 / 3,
        Limited::new(request.into_body(), most).collect(),
    );
    let slow = |_| Problem::new(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time");
    let bytes = match collected.await.map_err(slow)? {
        Ok(collected) => collected.to_bytes(),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => return Err(too_large(most)),
        Err(_) => return Err(Problem::bad("the body ended early")),
    };
    // A short body is weighed faster than it is handed to another thread.
    let (size, meter) = if packed || bytes.len() > PIECE {
        let given = bytes.clone();
        app.blocking(move || weigh(&given, packed, most)).await??
    } else {
        weigh(&bytes, packed, most)?
    };
    let is_json = media_type.ends_with("json");
    let weight = if is_json { memory::weight(size, &meter) } else { memory::binary_weight(size) };
    let share = app.memory.read(weight).await?;
    let bytes = if packed { app.blocking(move || unpack(&bytes, size)).await?? } else { bytes };
    drop(arriving);
    Ok(Body { bytes, media_type, meter, share })
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
        Some(_) => {
            Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported content encoding; use `gzip`"))
        }
    }
}

/// Returns how many bytes a body has, decompressed, and how many values.
fn weigh(body: &[u8], packed: bool, most: usize) -> Result<(usize, Meter), Problem> {
    let mut meter = Meter::default();
    if !packed {
        meter.feed(body);
        return Ok((body.len(), meter));
    }
    // One byte more than is allowed is read, and no more: a small body may unpack to any size.
    let mut plain = MultiGzDecoder::new(body).take(most as u64 + 1);
    let (mut piece, mut size) = (vec![0; PIECE], 0);
    loop {
        match plain.read(&mut piece) {
            Ok(0) => return Ok((size, meter)),
            Ok(read) => {
                size += read;
                if size > most {
                    return Err(too_large(most));
                }
                meter.feed(piece.get(..read).unwrap_or_default());
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return Err(Problem::bad("the body is not compressed with gzip")),
        }
    }
}

fn unpack(packed: &[u8], size: usize) -> Result<Bytes, Problem> {
    let mut plain = Vec::with_capacity(size);
    let read = MultiGzDecoder::new(packed).take(size as u64).read_to_end(&mut plain);
    match read {
        Err(_) => Err(Problem::bad("the body is not compressed with gzip")),
        Ok(_) => Ok(plain.into()),
    }
}

fn too_large(most: usize) -> Problem {
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, format!("the body is over {most} bytes"))
}

fn too_many_values(most: usize) -> Problem {
    let detail = format!("the body holds more than {most} values\nhint: send it in several parts");
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail)
}
