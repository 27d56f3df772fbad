//! Where hooks are answered while a server runs: a socket of the home, and a few threads behind it.
//!
//! Laws: a question is bounded in length and in time, and so is the number of those that are answered at once; whatever
//! goes wrong here is an outage for one hook and nothing else. A payload stays in memory. A decision is written down
//! after the hook has its answer.

use std::cell::OnceCell;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::{Answer, LocalTime, Surroundings, Verdict, answer};
use agent_tracer_event::{Agent, Millis};
use agent_tracer_ledger::{Store, TaskHistory};
use agent_tracer_policy_abi::wire::{AnswerHead, QUESTION_HEAD, QuestionHead};
use agent_tracer_spool::{EnvelopeName, Home, socket};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::daemon::arrivals::{Arrivals, Reach};
use crate::daemon::book::Book;
use crate::daemon::decision::{self, By, Decision, Spent};
use crate::daemon::past::{LedgerPast, Looked, Times, When};
use crate::daemon::put_off::PutOff;
use crate::daemon::question::Question;

/// Threads that answer. Each has one question at a time; who finds none free waits in the system's queue.
const THREADS: usize = 8;
/// How long one question may take to arrive and its answer to leave.
const PATIENCE: Duration = Duration::from_secs(2);

/// What time it is, where the human is.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// The moment, in nanoseconds since the epoch.
    pub nanos: u64,
    /// The day of the week and the minute.
    pub local: Option<LocalTime>,
    /// The beginning of the day.
    pub midnight: Millis,
}

/// What answering needs.
#[derive(Clone)]
pub struct Setup {
    /// Where the socket is, and the spool for decisions.
    pub home: Home,
    /// The rules.
    pub book: Arc<Book>,
    /// The past.
    pub past: TaskHistory,
    /// The rest of it.
    pub store: Arc<dyn Store>,
    /// What is on its way to the ledger.
    pub arrivals: Arc<dyn Arrivals>,
    /// What time it is.
    pub now: Arc<dyn Fn() -> Now + Send + Sync>,
    /// The user's home.
    pub user_home: Option<String>,
}

/// An open desk. It closes when it is dropped.
pub struct Desk {
    path: PathBuf,
    /// Device and inode of the socket's file, so that only our own is removed.
    identity: (u64, u64),
    /// Held open until the desk closes: that it is closed is what wakes those who wait.
    open: Option<io::PipeWriter>,
    threads: Vec<JoinHandle<()>>,
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Desk {
    /// Opens the socket of the home, for the user alone, and begins to answer.
    ///
    /// The socket that a dead server left is replaced; one that is listened on, and anything that is no socket, is not.
    pub fn open(setup: &Setup) -> io::Result<Self> {
        let path = socket::made(&setup.home, &setup.home.answers())?;
        remove_stale(&path)?;
        let listener = UnixListener::bind(&path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
        let facts = fs::symlink_metadata(&path)?;
        let clerk = Arc::new(Clerk { setup: setup.clone(), put_off: PutOff::default(), owner: facts.uid() });
        listener.set_nonblocking(true)?;
        let (closing, open) = io::pipe()?;
        let entrance = Arc::new(Mutex::new(Entrance { listener, closing }));
        let identity = (facts.dev(), facts.ino());
        let mut desk = Self { path, identity, open: Some(open), threads: Vec::new() };
        for number in 0..THREADS {
            let (entrance, clerk) = (Arc::clone(&entrance), Arc::clone(&clerk));
            let work = move || {
                while let Some(stream) = next(&entrance) {
                    // A bug of ours is an outage for this hook, and nobody else.
                    drop(catch_unwind(AssertUnwindSafe(|| clerk.serve(stream))));
                }
            };
            desk.threads.push(std::thread::Builder::new().name(format!("answers-{number}")).spawn(work)?);
        }
        Ok(desk)
    }

    /// Answers what was asked already, then no more.
    pub fn close(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.open = None;
        let is_ours =
            fs::symlink_metadata(&self.path).is_ok_and(|facts| (facts.dev(), facts.ino()) == self.identity);
        if is_ours {
            drop(fs::remove_file(&self.path));
        }
        for thread in self.threads.drain(..) {
            // A thread that panicked has said so already.
            drop(thread.join());
        }
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.end();
    }
}

/// Where questions come in. One thread at a time waits here, so that one question wakes one thread.
struct Entrance {
    listener: UnixListener,
    closing: io::PipeReader,
}

/// Waits for a question; `None` once the desk closes, whoever took the socket's file away meanwhile.
fn next(entrance: &Mutex<Entrance>) -> Option<UnixStream> {
    let entrance = entrance.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let mut watched = [
            PollFd::new(entrance.listener.as_fd(), PollFlags::POLLIN),
            PollFd::new(entrance.closing.as_fd(), PollFlags::POLLIN),
        ];
        match poll(&mut watched, PollTimeout::NONE) {
            Ok(_) | Err(nix::Error::EINTR) => {}
            Err(_) => return None,
        }
        if watched.last().and_then(PollFd::any) == Some(true) {
            return None;
        }
        // Whoever asked may be gone again.
        if let Ok((stream, _)) = entrance.listener.accept()
            && stream.set_nonblocking(false).is_ok()
        {
            return Some(stream);
        }
    }
}

/// Removes a socket that nobody listens on.
fn remove_stale(path: &Path) -> io::Result<()> {
    let facts = match fs::symlink_metadata(path) {
        Ok(facts) => facts,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if !facts.file_type().is_socket() {
        let what = "the path of the socket is taken by something that is no socket";
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
    }
    match UnixStream::connect(path) {
        Ok(_) => Err(io::Error::new(io::ErrorKind::AddrInUse, "another server answers here")),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        Err(error) => Err(error),
    }
}

/// Who answers.
struct Clerk {
    setup: Setup,
    put_off: PutOff,
    /// Whose the socket is.
    owner: u32,
}

/// A question as it came over the socket.
struct Asked {
    agent: Agent,
    envelope: Option<EnvelopeName>,
    folder: Option<PathBuf>,
    payload: Vec<u8>,
}

impl Clerk {
    fn serve(&self, mut stream: UnixStream) {
        let began = Instant::now();
        if !is_of(&stream, self.owner) {
            return;
        }
        let Ok(asked) = read(&mut stream, began + PATIENCE) else { return };
        // A question that nobody here can judge gets no answer, and the hook judges it by itself.
        if !self.setup.book.knows_user_rules() {
            return;
        }
        let Ok(question) = Question::read(asked.agent, &asked.payload) else { return };
        let Some(question) = question else {
            drop(tell(&mut stream, &Answer::default()));
            return;
        };
        let decided = self.decide(&asked, question, began);
        let is_told = tell(&mut stream, &decided.answer).is_ok();
        drop(stream);
        // A hook that is gone did what holds in an outage, and wrote that down.
        if is_told && asked.envelope.is_some() {
            let decision = Decision {
                whose: &decided.whose,
                root: &decided.root,
                verdict: &decided.verdict,
                by: By::Server,
                took: decided.took,
                spent: decided.spent,
            };
            decision::write_down(&decision, asked.agent, &self.setup.home, (self.setup.now)().nanos);
        }
    }

    fn decide(&self, asked: &Asked, question: Question, began: Instant) -> Decided {
        let root = question.root(asked.folder.as_deref(), Path::new("/"));
        let policy = self.setup.book.policy(&root);
        let now = (self.setup.now)();
        let around = Surroundings {
            project: root.to_str().map(str::to_owned),
            home: self.setup.user_home.clone(),
            now: now.local,
        };
        let whose = question.whose().clone();
        let call = question.into_call(around);
        // The hook began to wait a little before; half of its time is left for the rest.
        let patience = Duration::from_millis(u64::from(self.setup.book.deadline_ms()) / 2);
        let history = LedgerPast {
            agent: asked.agent,
            payload: &asked.payload,
            past: &self.setup.past,
            store: self.setup.store.as_ref(),
            when: When { now: Millis::from_nanos(now.nanos), midnight: now.midnight },
            reach: Reach {
                arrivals: self.setup.arrivals.as_ref(),
                envelope: asked.envelope,
                session: call.session.as_deref(),
                patience,
            },
            put_off: &self.put_off,
            known: OnceCell::new(),
            looked: Looked::default(),
            times: Times::default(),
        };
        let verdict = policy.decide(&call, &history);
        self.put_off.remember(&call, &verdict);
        let spent = history.times.spent();
        Decided { answer: answer(&call, &verdict), verdict, whose, root, took: began.elapsed(), spent }
    }
}

/// What came of a question.
struct Decided {
    answer: Answer,
    verdict: Verdict,
    whose: serde_json::Map<String, serde_json::Value>,
    root: PathBuf,
    took: Duration,
    spent: Spent,
}

/// Whether the other end is this user's. The file's mode keeps others out; where the system says who it is, it is asked.
#[cfg(target_os = "linux")]
fn is_of(stream: &UnixStream, owner: u32) -> bool {
    use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
    getsockopt(stream, PeerCredentials).is_ok_and(|peer| peer.uid() == owner || peer.uid() == 0)
}

#[cfg(not(target_os = "linux"))]
fn is_of(_: &UnixStream, _: u32) -> bool {
    true
}

fn read(stream: &mut UnixStream, until: Instant) -> io::Result<Asked> {
    let mut head = [0; QUESTION_HEAD];
    fill(stream, &mut head, until)?;
    let head = QuestionHead::read(&head).ok_or(io::ErrorKind::InvalidData)?;
    let mut text = |length: usize| -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        fill(stream, &mut bytes, until)?;
        Ok(bytes)
    };
    let (name, folder) = (text(head.name)?, text(head.folder)?);
    Ok(Asked {
        agent: head.agent,
        envelope: EnvelopeName::parse(&name),
        folder: (!folder.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(&folder))),
        payload: text(head.payload)?,
    })
}

fn fill(stream: &mut UnixStream, mut room: &mut [u8], until: Instant) -> io::Result<()> {
    while !room.is_empty() {
        let left = until.saturating_duration_since(Instant::now());
        if left < Duration::from_micros(1) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(room)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => room = room.get_mut(read..).unwrap_or_default(),
        }
    }
    Ok(())
}

fn tell(stream: &mut UnixStream, answer: &Answer) -> io::Result<()> {
    let head = AnswerHead { exit: answer.exit, stdout: answer.stdout.len(), stderr: answer.stderr.len() };
    let head = head.bytes().ok_or(io::ErrorKind::InvalidData)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(&[&head[..], answer.stdout.as_bytes(), answer.stderr.as_bytes()].concat())
}
