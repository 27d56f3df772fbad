//! Asks the server of this machine.
//!
//! Law: no token is sent unless a request needs it, and only to
//! the address that the lock of the home names.

use std::net::SocketAddr;
use std::time::Duration;

use agent_tracer_server::owner_token;
use agent_tracer_spool::Home;
use serde_json::Value;
use ureq::Body;
use ureq::http::Response;

use crate::failure::Failure;
use crate::http;

/// The path of the server's health.
pub(crate) const HEALTH: &str = "/api/v1/health";

/// Time limit for a server to accept, and to answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// The most that is read of an answer.
const ANSWER_BYTES: u64 = 1 << 20;

/// Returns the status and the JSON of an answer; `None` if there is no such answer.
pub(crate) fn get(address: SocketAddr, path: &str) -> Option<(u16, Value)> {
    let request = http::local_client(PATIENCE, PATIENCE).get(format!("http://{address}{path}"));
    read(request.header("accept", "application/json").call())
}

/// Returns a new one-time link to the dashboard of the server of a home.
pub(crate) fn login_link(address: SocketAddr, home: &Home) -> Result<String, Failure> {
    let token = owner_token(&home.token()).map_err(|error| Failure::from_text(&error.to_string()))?;
    let request = http::local_client(PATIENCE, PATIENCE).post(format!("http://{address}/api/v1/login-codes"));
    let request =
        request.header("accept", "application/json").header("authorization", format!("Bearer {token}"));
    let refused = |why: &str| {
        Failure::new(format!("the server at http://{address} returned no link: {why}"))
            .hint("run `agent-tracer doctor` for details")
    };
    let (status, answer) =
        read(request.send_empty()).ok_or_else(|| refused("the answer is not one of Agent Tracer"))?;
    let text = |key: &str| answer.get(key).and_then(Value::as_str);
    match text("path") {
        // Only a path is taken from the answer: the address is the one that was called.
        Some(path) if status == 200 && path.starts_with('/') => Ok(format!("http://{address}{path}")),
        Some(_) | None => {
            let why = text("detail").or_else(|| text("title")).unwrap_or("no reason");
            Err(refused(why.lines().next().unwrap_or_default()))
        }
    }
}

/// Reads an answer; `None` if it is none, or holds no JSON.
fn read(answer: Result<Response<Body>, ureq::Error>) -> Option<(u16, Value)> {
    let mut answer = answer.ok()?;
    let text = answer.body_mut().with_config().limit(ANSWER_BYTES).read_to_string().ok()?;
    Some((answer.status().as_u16(), serde_json::from_str(&text).ok()?))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread::JoinHandle;

    use super::*;

    /// Answers once; returns the request.
    fn answering(answer: &'static str) -> (SocketAddr, JoinHandle<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let answering = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a caller");
            let mut asked = [0; 1024];
            let count = stream.read(&mut asked).expect("a request");
            write!(stream, "{answer}").expect("an answer");
            String::from_utf8_lossy(&asked[..count]).into_owned()
        });
        (address, answering)
    }

    #[test]
    fn a_link_is_made_with_the_token_of_the_home() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::in_folder(folder.path());
        let token = owner_token(&home.token()).expect("a token");
        let (address, asked) = answering("HTTP/1.0 200 OK\r\n\r\n{\"path\":\"/login?code=x\"}");
        assert_eq!(login_link(address, &home).expect("a link"), format!("http://{address}/login?code=x"));
        let asked = asked.join().expect("a request");
        assert!(asked.starts_with("POST /api/v1/login-codes HTTP/1.1\r\n"), "{asked}");
        assert!(asked.contains(&format!("\r\nauthorization: Bearer {token}\r\n")), "{asked}");
    }

    #[test]
    fn a_refusal_is_reported_with_its_reason_and_a_way_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::in_folder(folder.path());
        for (answer, why) in [
            (
                "HTTP/1.0 401 Unauthorized\r\n\r\n{\"detail\":\"unknown token\\nhint: x\"}",
                ": unknown token\n",
            ),
            ("HTTP/1.0 200 OK\r\n\r\n{\"path\":\".evil/\"}", ": no reason\n"),
            ("SSH-2.0-x\r\n", "the answer is not one of Agent Tracer"),
        ] {
            let (address, asked) = answering(answer);
            let outcome = login_link(address, &home).map_err(|failure| failure.to_string());
            asked.join().expect("a request");
            let failure = outcome.expect_err(answer);
            assert!(failure.contains(why) && failure.contains("\nhint: "), "{failure}");
        }
    }
}
