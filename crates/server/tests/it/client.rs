//! A small HTTP client: it sends any bytes, also those that no good client would send.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// The places that a problem names.
    pub(crate) fn wrong(&self) -> Vec<String> {
        assert_eq!(self.header("content-type"), "application/problem+json", "{}", self.text());
        let problem = self.json();
        assert_eq!(problem["status"], self.status);
        for member in ["type", "title", "detail"] {
            assert!(problem[member].as_str().is_some_and(|text| !text.is_empty()), "{problem}");
        }
        let errors = problem["errors"].as_array().expect("errors");
        errors.iter().map(|wrong| wrong["at"].as_str().expect("at").to_owned()).collect()
    }
}

/// A request that is still being written.
#[derive(Clone)]
pub(crate) struct Ask {
    address: SocketAddr,
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Ask {
    pub(crate) fn new(address: SocketAddr, method: &str, path: &str) -> Self {
        let host = ("Host".to_owned(), address.to_string());
        Self {
            address,
            method: method.to_owned(),
            path: path.to_owned(),
            headers: vec![host],
            body: Vec::new(),
        }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn bearer(self, token: &str) -> Self {
        self.header("Authorization", &format!("Bearer {token}"))
    }

    pub(crate) fn body(mut self, kind: &str, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self.header("Content-Type", kind)
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string())
    }

    pub(crate) fn bytes(&self, close: bool) -> Vec<u8> {
        let mut text = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if !self.body.is_empty() || self.method == "POST" {
            text.push_str(&format!("Content-Length: {}\r\n", self.body.len()));
        }
        text.push_str(if close { "Connection: close\r\n\r\n" } else { "\r\n" });
        let mut bytes = text.into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes
    }

    pub(crate) fn send(self) -> Answer {
        let mut stream = connect(self.address);
        // A server that refuses early may close before everything is written.
        stream.write_all(&self.bytes(true)).ok();
        read(&mut BufReader::new(stream), &self.method)
    }

    /// Begins to follow a stream.
    pub(crate) fn follow(self) -> Events {
        let mut stream = connect(self.address);
        stream.write_all(&self.bytes(false)).expect("written");
        let mut reader = BufReader::new(stream);
        let (status, headers) = head(&mut reader);
        assert_eq!(status, 200);
        assert_eq!(headers.get("content-type").map(String::as_str), Some("text/event-stream"));
        Events { reader, left: 0 }
    }
}

pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("connected");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time limit");
    stream
}

fn head(reader: &mut impl BufRead) -> (u16, HashMap<String, String>) {
    let mut line = String::new();
    reader.read_line(&mut line).expect("a status line");
    let status =
        line.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_else(|| panic!("{line:?}"));
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a header");
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    (status, headers)
}

pub(crate) fn read(reader: &mut impl BufRead, method: &str) -> Answer {
    let (status, headers) = head(reader);
    let mut body = Vec::new();
    let length = headers.get("content-length").and_then(|length| length.parse::<u64>().ok());
    match length {
        Some(length) if method != "HEAD" => {
            reader.take(length).read_to_end(&mut body).expect("the body");
            assert_eq!(body.len() as u64, length, "the body is whole");
        }
        Some(_) => {}
        None => {
            reader.read_to_end(&mut body).ok();
        }
    }
    Answer { status, headers, body }
}

/// One event of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) data: String,
    pub(crate) comment: Option<String>,
}

impl Event {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.data).expect("json")
    }
}

/// A stream that is being followed.
pub(crate) struct Events {
    reader: BufReader<TcpStream>,
    /// Bytes that are left of the current chunk.
    left: usize,
}

impl Events {
    fn byte(&mut self) -> Option<u8> {
        if self.left == 0 {
            let mut line = String::new();
            self.reader.read_line(&mut line).expect("a chunk");
            if line.trim().is_empty() {
                line.clear();
                self.reader.read_line(&mut line).expect("a chunk");
            }
            self.left = usize::from_str_radix(line.trim(), 16).unwrap_or(0);
            if self.left == 0 {
                return None;
            }
        }
        let mut byte = [0];
        self.reader.read_exact(&mut byte).expect("a byte");
        self.left -= 1;
        Some(byte[0])
    }

    fn line(&mut self) -> Option<String> {
        let mut line = Vec::new();
        loop {
            match self.byte()? {
                b'\n' => return Some(String::from_utf8(line).expect("text")),
                byte => line.push(byte),
            }
        }
    }

    /// The next block, comments included. None at the end.
    pub(crate) fn block(&mut self) -> Option<Event> {
        let mut event = Event::default();
        loop {
            let line = self.line()?;
            if line.is_empty() {
                return Some(event);
            }
            match line.split_once(": ") {
                Some(("id", id)) => event.id = Some(id.to_owned()),
                Some(("event", name)) => event.name = Some(name.to_owned()),
                Some(("data", data)) => event.data.push_str(data),
                Some(("", comment)) => event.comment = Some(comment.to_owned()),
                _ => {}
            }
        }
    }

    /// The next event that is no comment.
    pub(crate) fn event(&mut self) -> Event {
        loop {
            let block = self.block().expect("the stream goes on");
            if !block.data.is_empty() {
                return block;
            }
        }
    }

    pub(crate) fn seqs(&mut self, count: usize) -> Vec<u64> {
        (0..count).map(|_| self.event().json()["seq"].as_u64().expect("seq")).collect()
    }
}
