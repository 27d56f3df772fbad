//! Many clients on one thread, each with a connection that it uses again and again.
//!
//! The server shares its two cores with the load generator. A thread for each connection would spend more of them on
//! waking threads than on asking, so one thread waits for all connections at once, and events are made of prepared text.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};

use crate::machine;
use crate::sample::Sample;

/// Longest duration of an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Holds the outcome of the requests.
#[derive(Debug, Default)]
pub(crate) struct PostOutcome {
    pub(crate) times: Sample,
    pub(crate) accepted: u64,
    pub(crate) others: u64,
    /// Processor time of the clients themselves.
    pub(crate) cpu: Duration,
}

/// Holds one connection with its unsent and its received bytes.
struct Client {
    stream: TcpStream,
    request: Vec<u8>,
    sent: usize,
    received: Vec<u8>,
    begun: Instant,
}

impl Client {
    /// Sends what the connection takes; tells whether everything is sent.
    fn send(&mut self) -> io::Result<bool> {
        while let Some(rest) = self.request.get(self.sent..).filter(|rest| !rest.is_empty()) {
            match self.stream.write(rest) {
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Hears what there is; gives the status once the answer is whole.
    fn hear(&mut self, buffer: &mut [u8]) -> io::Result<Option<u16>> {
        loop {
            match self.stream.read(buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.received.extend(buffer.iter().take(count)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) => return Err(error),
            }
            if let Some(status) = status(&self.received) {
                self.received.clear();
                return Ok(Some(status));
            }
        }
    }
}

/// The status of an answer, if all of it is there.
fn status(received: &[u8]) -> Option<u16> {
    let end = received.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = std::str::from_utf8(received.get(..end)?).ok()?;
    let mut lines = head.split("\r\n");
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let length = lines
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .map_or(Some(0), |(_, length)| length.trim().parse::<usize>().ok())?;
    (received.len() >= end + 4 + length).then_some(status)
}

/// Asks on all connections for so long. `next` makes the request of a client, anew for each.
pub(crate) fn ask(
    streams: Vec<TcpStream>,
    lasting: Duration,
    mut next: impl FnMut(usize, &mut Vec<u8>),
) -> io::Result<PostOutcome> {
    let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
    let (began, cpu) = (Instant::now(), machine::thread_cpu());
    let mut clients = Vec::with_capacity(streams.len());
    for (number, stream) in streams.into_iter().enumerate() {
        stream.set_nonblocking(true)?;
        epoll.add(&stream, EpollEvent::new(EpollFlags::EPOLLIN, number as u64))?;
        clients.push(Client { stream, request: Vec::new(), sent: 0, received: Vec::new(), begun: began });
    }
    let mut outcome = PostOutcome::default();
    let mut asking = 0;
    let mut begin = |number: usize, client: &mut Client, epoll: &Epoll| -> io::Result<()> {
        client.request.clear();
        client.sent = 0;
        next(number, &mut client.request);
        client.begun = Instant::now();
        if !client.send()? {
            let both = EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT;
            epoll.modify(&client.stream, &mut EpollEvent::new(both, number as u64))?;
        }
        Ok(())
    };
    for (number, client) in clients.iter_mut().enumerate() {
        begin(number, client, &epoll)?;
        asking += 1;
    }
    let mut buffer = vec![0; 64 << 10];
    let mut ready = vec![EpollEvent::empty(); clients.len().max(1)];
    let patience = EpollTimeout::try_from(PATIENCE).map_err(io::Error::other)?;
    while asking > 0 {
        let count = epoll.wait(&mut ready, patience)?;
        if count == 0 {
            return Err(ErrorKind::TimedOut.into());
        }
        for event in ready.iter().take(count) {
            let number = event.data() as usize;
            let Some(client) = clients.get_mut(number) else { continue };
            if event.events().contains(EpollFlags::EPOLLOUT) && client.send()? {
                let only = EpollFlags::EPOLLIN;
                epoll.modify(&client.stream, &mut EpollEvent::new(only, number as u64))?;
            }
            let Some(status) = client.hear(&mut buffer)? else { continue };
            match status {
                202 => {
                    outcome.times.push(client.begun.elapsed());
                    outcome.accepted += 1;
                }
                _ => outcome.others += 1,
            }
            match began.elapsed() < lasting {
                true => begin(number, client, &epoll)?,
                false => asking -= 1,
            }
        }
    }
    outcome.cpu = machine::thread_cpu().saturating_sub(cpu);
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn an_answer_is_whole_with_its_body() {
        let answer = b"HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\n{}";
        for cut in 0..answer.len() {
            assert_eq!(status(&answer[..cut]), None, "{cut}");
        }
        assert_eq!(status(answer), Some(202));
        assert_eq!(status(b"HTTP/1.1 503 Busy\r\n\r\n"), Some(503));
    }

    #[test]
    fn every_answer_is_counted_whatever_its_pieces() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        // The second of two answers refuses; both come in pieces.
        let serve = std::thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream);
            let mut count = 0;
            let mut line = String::new();
            while reader.read_line(&mut line).unwrap() > 0 {
                count += 1;
                let status = if count % 2 == 1 { "202 Accepted" } else { "503 Busy" };
                let stream = reader.get_mut();
                write!(stream, "HTTP/1.1 {status}\r\nContent-").unwrap();
                stream.flush().unwrap();
                write!(stream, "Length: 2\r\n\r\n{{}}").unwrap();
                line.clear();
            }
            count
        });
        let streams = vec![TcpStream::connect(address).unwrap()];
        let outcome = ask(streams, Duration::from_millis(50), |_, request| request.extend(b"one\n")).unwrap();
        assert_eq!(outcome.accepted + outcome.others, serve.join().unwrap());
        assert!(outcome.accepted >= outcome.others && outcome.accepted - outcome.others <= 1, "{outcome:?}");
        assert_eq!(outcome.times.len() as u64, outcome.accepted);
    }
}
