//! Sends one question to the server and reads its answer, within a deadline.

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use agent_tracer_agent::Agent;
use agent_tracer_policy_abi::wire::{ANSWER_HEAD, AnswerHead, QuestionHead};
use agent_tracer_spool::{Home, socket};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, connect, setsockopt, socket, sockopt};
use nix::sys::time::{TimeVal, TimeValLike};

/// The texts of a question.
pub(crate) struct Texts<'t> {
    /// The name of the envelope; empty if nothing was recorded.
    pub(crate) name: &'t [u8],
    /// The project, as the agent names it.
    pub(crate) folder: &'t [u8],
    /// The payload.
    pub(crate) payload: &'t [u8],
}

/// An answer for the agent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) exit: u8,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

/// The reason for a missing answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum AnswerError {
    /// No server listens.
    NoServer,
    /// The server did not answer in time, or not in this protocol.
    Late,
}

/// Sends a question and waits for the answer.
pub(crate) fn ask(
    home: &Home,
    agent: Agent,
    texts: &Texts<'_>,
    deadline: Instant,
) -> Result<Answer, AnswerError> {
    let mut stream = connect_to_server(home, deadline)?;
    exchange(&mut stream, agent, texts, deadline).map_err(|_| AnswerError::Late)
}

fn connect_to_server(home: &Home, deadline: Instant) -> Result<UnixStream, AnswerError> {
    let path = socket::locate(home, &home.answers()).map_err(|_| AnswerError::NoServer)?;
    let address = UnixAddr::new(&path).map_err(|_| AnswerError::NoServer)?;
    let left = left(deadline).map_err(|_| AnswerError::Late)?;
    let late = |_| AnswerError::Late;
    let end = socket(AddressFamily::Unix, SockType::Stream, SockFlag::empty(), None).map_err(late)?;
    // Also limits the wait for a full queue of connections.
    let limit = TimeVal::microseconds(i64::try_from(left.as_micros()).unwrap_or(i64::MAX));
    setsockopt(&end, sockopt::SendTimeout, &limit).map_err(late)?;
    match connect(end.as_raw_fd(), &address) {
        Ok(()) if is_foreign(&end, home) => Err(AnswerError::Late),
        Ok(()) => Ok(UnixStream::from(end)),
        Err(nix::Error::ENOENT | nix::Error::ECONNREFUSED | nix::Error::ENOTDIR | nix::Error::EACCES) => {
            Err(AnswerError::NoServer)
        }
        Err(_) => Err(AnswerError::Late),
    }
}

/// Returns `true` if the process at the other end belongs to another user. The file's mode keeps others out already.
fn is_foreign(end: &OwnedFd, home: &Home) -> bool {
    let peer = peer_user(end);
    home.user().is_some_and(|user| !peer.is_ok_and(|peer| peer == user || peer == 0))
}

#[cfg(target_os = "linux")]
fn peer_user(end: &OwnedFd) -> nix::Result<u32> {
    nix::sys::socket::getsockopt(end, sockopt::PeerCredentials).map(|peer| peer.uid())
}

#[cfg(not(target_os = "linux"))]
fn peer_user(end: &OwnedFd) -> nix::Result<u32> {
    nix::unistd::getpeereid(end).map(|(user, _)| user.as_raw())
}

fn exchange(
    stream: &mut UnixStream,
    agent: Agent,
    texts: &Texts<'_>,
    deadline: Instant,
) -> io::Result<Answer> {
    let head = QuestionHead {
        agent,
        name: texts.name.len(),
        folder: texts.folder.len(),
        payload: texts.payload.len(),
    };
    let head = head.bytes().ok_or(io::ErrorKind::InvalidInput)?;
    let mut question =
        Vec::with_capacity(head.len() + texts.name.len() + texts.folder.len() + texts.payload.len());
    for part in [&head[..], texts.name, texts.folder, texts.payload] {
        question.extend_from_slice(part);
    }
    let mut rest = question.as_slice();
    while !rest.is_empty() {
        stream.set_write_timeout(Some(left(deadline)?))?;
        let written = stream.write(rest)?;
        rest = rest.get(written..).unwrap_or_default();
    }
    let mut head = [0; ANSWER_HEAD];
    fill(stream, &mut head, deadline)?;
    let head = AnswerHead::read(&head).ok_or(io::ErrorKind::InvalidData)?;
    let (mut stdout, mut stderr) = (vec![0; head.stdout], vec![0; head.stderr]);
    fill(stream, &mut stdout, deadline)?;
    fill(stream, &mut stderr, deadline)?;
    Ok(Answer { exit: head.exit, stdout, stderr })
}

/// Fills the buffer before the deadline.
fn fill(stream: &mut UnixStream, mut room: &mut [u8], deadline: Instant) -> io::Result<()> {
    while !room.is_empty() {
        stream.set_read_timeout(Some(left(deadline)?))?;
        match stream.read(room)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => room = room.get_mut(read..).unwrap_or_default(),
        }
    }
    Ok(())
}

/// Returns the remaining time. No time left is an error, because the system takes zero for no limit.
fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left < Duration::from_micros(1) { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}
