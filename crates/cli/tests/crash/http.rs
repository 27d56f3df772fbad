//! A client that is content with little: one request, one connection, and only the answer's first line is believed.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// Holds the address and the token for posts.
#[derive(Clone, Debug)]
pub(crate) struct Door {
    pub(crate) address: String,
    pub(crate) token: String,
}

/// Longer than any answer takes; a server that hangs fails the test instead of hanging it.
const PATIENCE: Duration = Duration::from_secs(60);

impl Door {
    /// Posts a body; returns the status and the answer, or why there is none.
    pub(crate) fn post(&self, path: &str, body: &Value) -> io::Result<(u16, String)> {
        self.send("POST", path, body.to_string().as_bytes())
    }

    pub(crate) fn get(&self, path: &str) -> io::Result<(u16, String)> {
        self.send("GET", path, b"")
    }

    fn send(&self, method: &str, path: &str, body: &[u8]) -> io::Result<(u16, String)> {
        let mut stream = TcpStream::connect(&self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let Door { address, token } = self;
        let mut request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        )
        .into_bytes();
        request.extend_from_slice(body);
        stream.write_all(&request)?;
        let mut answer = Vec::new();
        // A server that was killed may have said enough before.
        let read = stream.read_to_end(&mut answer);
        let text = String::from_utf8_lossy(&answer).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            read?;
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or(io::ErrorKind::InvalidData)?;
        Ok((status, body.to_owned()))
    }
}
