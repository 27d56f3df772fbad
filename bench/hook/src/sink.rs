//! A receiver on loopback for the contestants that post over HTTP. Reads, answers 204, closes.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

/// A running receiver; it ends with the process.
pub(crate) struct Sink {
    /// Port on 127.0.0.1.
    pub(crate) port: u16,
}

impl Sink {
    /// Starts it on a free port.
    pub(crate) fn start() -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client that hangs up early is its own loss; the next one is waiting.
                drop(answer(stream));
            }
        });
        Ok(Self { port })
    }
}

fn answer(mut stream: TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut seen = Vec::new();
    let mut chunk = [0_u8; 65536];
    loop {
        let count = stream.read(&mut chunk)?;
        seen.extend_from_slice(chunk.get(..count).unwrap_or_default());
        if count == 0 || complete(&seen) {
            break;
        }
    }
    stream.write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n")
}

/// Tells whether the header and as many bytes as it promises have arrived.
fn complete(seen: &[u8]) -> bool {
    let Some(end) = seen.windows(4).position(|window| window == b"\r\n\r\n") else { return false };
    let header = String::from_utf8_lossy(seen.get(..end).unwrap_or_default()).to_ascii_lowercase();
    let length = header
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"))
        .and_then(|value| value.trim().parse::<usize>().ok())
        .unwrap_or(0);
    seen.len() >= end + 4 + length
}
