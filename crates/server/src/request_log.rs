//! Logs requests that failed or took long, one line each.
//!
//! Law: a line names the method, the template of the route, the status and the time. Paths, parameters, headers and bodies
//! belong to the client, and a secret may be in any of them.

use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use tracing::{debug, error, warn};

/// Time from which a request is slow. A page of the dashboard asks several questions at once, and a person notices that
/// much of each.
const SLOW: Duration = Duration::from_millis(250);

/// Name of the route where no template matches: files of the dashboard, and unknown paths.
const UNMATCHED: &str = "*";

/// Answers a request, and logs it if it failed or took long.
///
/// The time ends where the head of the answer is ready: a stream would never end.
pub(crate) async fn log(request: Request, next: Next) -> Response {
    let line = RequestLine::begin(&request);
    let response = next.run(request).await;
    line.end(response.status());
    response
}

/// Why a request is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    /// The server failed.
    Failed,
    /// It took long.
    Slow,
    /// The client was refused.
    Refused,
    /// It took long, and the client left before the answer.
    Abandoned,
}

impl Reason {
    /// Returns why this is logged, if it is. A request without a status has no answer.
    fn from_status(status: Option<StatusCode>, elapsed: Duration) -> Option<Self> {
        let is_slow = elapsed > SLOW;
        match status {
            None => is_slow.then_some(Self::Abandoned),
            Some(status) if status.is_server_error() => Some(Self::Failed),
            Some(_) if is_slow => Some(Self::Slow),
            Some(status) if status.is_client_error() => Some(Self::Refused),
            Some(_) => None,
        }
    }
}

/// A request under way. Dropped without an end, it was given up by the client.
struct RequestLine {
    method: &'static str,
    route: Option<MatchedPath>,
    begun: Instant,
    status: Option<StatusCode>,
}

impl RequestLine {
    fn begin(request: &Request) -> Self {
        Self {
            method: name(request.method()),
            route: request.extensions().get::<MatchedPath>().cloned(),
            begun: Instant::now(),
            status: None,
        }
    }

    fn end(mut self, status: StatusCode) {
        self.status = Some(status);
    }
}

impl Drop for RequestLine {
    fn drop(&mut self) {
        // Logged on drop: where the client leaves, the request is dropped and no line behind its await is reached.
        let elapsed = self.begun.elapsed();
        let Some(reason) = Reason::from_status(self.status, elapsed) else { return };
        let (method, route) = (self.method, self.route.as_ref().map_or(UNMATCHED, MatchedPath::as_str));
        let status = self.status.map(|status| status.as_u16());
        let ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        match reason {
            Reason::Failed => error!(%method, %route, status, ms, "request failed"),
            Reason::Slow => warn!(%method, %route, status, ms, "slow request"),
            Reason::Refused => debug!(%method, %route, status, ms, "request refused"),
            Reason::Abandoned => {
                warn!(%method, %route, ms, "slow request: the client left before the answer")
            }
        }
    }
}

/// Returns a method of HTTP. Others are the client's words.
fn name(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use axum::body::Body;

    use super::*;

    #[test]
    fn failures_and_slow_answers_are_logged_and_nothing_else() {
        let of = |status: u16, ms| {
            Reason::from_status(StatusCode::from_u16(status).ok(), Duration::from_millis(ms))
        };
        assert_eq!(of(200, 250), None);
        assert_eq!(of(304, 1), None);
        assert_eq!(of(200, 251), Some(Reason::Slow));
        assert_eq!(of(404, 1), Some(Reason::Refused));
        assert_eq!(of(404, 251), Some(Reason::Slow));
        assert_eq!(of(503, 1), Some(Reason::Failed));
        assert_eq!(of(500, 251), Some(Reason::Failed));
        assert_eq!(Reason::from_status(None, Duration::from_millis(250)), None);
        assert_eq!(Reason::from_status(None, Duration::from_millis(251)), Some(Reason::Abandoned));
    }

    /// Holds what was logged.
    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("lines").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_has_method_route_status_and_time_and_nothing_of_the_client() {
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .without_time()
            .json()
            .flatten_event(true)
            .with_writer(move || writer.clone())
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            let request = Request::builder()
                .method("SECRET")
                .uri("/secret?secret=secret")
                .header("authorization", "Bearer secret")
                .body(Body::from("secret"))
                .expect("a request");
            RequestLine::begin(&request).end(StatusCode::SERVICE_UNAVAILABLE);
            let begun = Instant::now().checked_sub(SLOW * 4).expect("a time");
            RequestLine { method: "GET", route: None, begun, status: Some(StatusCode::OK) }
                .end(StatusCode::OK);
            drop(RequestLine { method: "POST", route: None, begun, status: None });
        });
        let text = String::from_utf8(lines.0.lock().expect("lines").clone()).expect("text");
        assert!(!text.to_lowercase().contains("secret"), "{text}");
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let of = |line: &serde_json::Value| {
            let part = |name: &str| line[name].to_string();
            [part("level"), part("method"), part("route"), part("status")].join(" ")
        };
        let heads: Vec<String> = lines.iter().map(of).collect();
        assert_eq!(
            heads,
            [r#""ERROR" "other" "*" 503"#, r#""WARN" "GET" "*" 200"#, r#""WARN" "POST" "*" null"#]
        );
        assert!(lines.iter().skip(1).all(|line| line["ms"].as_u64().is_some_and(|ms| ms >= 1000)), "{text}");
    }
}
