//! Answers hooks while a server runs: a socket of the home, and a few threads behind it.
//!
//! Laws: a question is bounded in length and in time, and so is the number of those that are answered at once; whatever
//! goes wrong here is an outage for one hook and nothing else. A payload stays in memory. A decision is written down
//! after the hook has its answer.

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

use crate::daemon::active_rules::ActiveRules;
use crate::daemon::arrivals::{ArrivalWait, Arrivals};
use crate::daemon::decision::{self, Decider, Decision, LookupTimes};
use crate::daemon::evidence::{LedgerEvidence, LookupCache, QuestionTime};
use crate::daemon::question::Question;
use crate::daemon::stop_deferrals::StopDeferrals;
use crate::evidence::EvidenceHistory;

/// Threads that answer. Each has one question at a time; who finds none free waits in the system's queue.
const THREADS: usize = 8;
/// The time one question may take to arrive and its answer to leave.
const TIMEOUT: Duration = Duration::from_secs(2);

/// The local time of the human.
#[derive(Clone, Copy, Debug)]
pub struct CurrentTime {
    /// The moment, in nanoseconds since the epoch.
    pub nanos: u64,
    /// The day of the week and the minute.
    pub local: Option<LocalTime>,
    /// The beginning of the day.
    pub midnight: Millis,
}

/// The dependencies of a policy server.
#[derive(Clone)]
pub struct Setup {
    /// The home with the socket and the spool for decisions.
    pub home: Home,
    /// The rules.
    pub rules: Arc<ActiveRules>,
    /// The history of tasks, by the questions of rules.
    pub history: TaskHistory,
    /// The store, for everything else about the past.
    pub store: Arc<dyn Store>,
    /// Envelopes on their way to the ledger.
    pub arrivals: Arc<dyn Arrivals>,
    /// Returns the current time.
    pub now: Arc<dyn Fn() -> CurrentTime + Send + Sync>,
    /// The user's home.
    pub user_home: Option<String>,
}

/// A running policy server. It stops when it is dropped.
pub struct PolicyServer {
    path: PathBuf,
    /// Device and inode of the socket's file, so that only our own is removed.
    identity: (u64, u64),
    /// Held open until the server stops: closing it wakes the waiting threads.
    open: Option<io::PipeWriter>,
    threads: Vec<JoinHandle<()>>,
}

impl std::fmt::Debug for PolicyServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PolicyServer").field("path", &self.path).finish_non_exhaustive()
    }
}

impl PolicyServer {
    /// Opens the socket of the home, for the user alone, and begins to answer.
    ///
    /// The socket that a dead server left is replaced; one that is listened on, and anything that is no socket, is not.
    pub fn open(setup: &Setup) -> io::Result<Self> {
        let path = socket::create(&setup.home, &setup.home.answers())?;
        remove_stale(&path)?;
        let listener = UnixListener::bind(&path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
        let facts = fs::symlink_metadata(&path)?;
        let worker = Arc::new(Worker {
            setup: setup.clone(),
            deferrals: StopDeferrals::default(),
            owner: facts.uid(),
        });
        listener.set_nonblocking(true)?;
        // A pipe wakes all threads at once and needs no signal: closing the listener from another thread does not end
        // a call of `poll` that waits on it.
        let (closing, open) = io::pipe()?;
        let acceptor = Arc::new(Mutex::new(Acceptor { listener, closing }));
        let identity = (facts.dev(), facts.ino());
        let mut server = Self { path, identity, open: Some(open), threads: Vec::new() };
        for number in 0..THREADS {
            let (acceptor, worker) = (Arc::clone(&acceptor), Arc::clone(&worker));
            let work = move || {
                while let Some(stream) = accept(&acceptor) {
                    // A panic is an outage for this hook alone.
                    drop(catch_unwind(AssertUnwindSafe(|| worker.serve(stream))));
                }
            };
            server.threads.push(std::thread::Builder::new().name(format!("answers-{number}")).spawn(work)?);
        }
        Ok(server)
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

impl Drop for PolicyServer {
    fn drop(&mut self) {
        self.end();
    }
}

/// Accepts questions. One thread at a time waits here, so that one question wakes one thread.
struct Acceptor {
    listener: UnixListener,
    closing: io::PipeReader,
}

/// Waits for a question; `None` once the server stops, even if the socket's file was removed meanwhile.
fn accept(acceptor: &Mutex<Acceptor>) -> Option<UnixStream> {
    let acceptor = acceptor.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let mut watched = [
            PollFd::new(acceptor.listener.as_fd(), PollFlags::POLLIN),
            PollFd::new(acceptor.closing.as_fd(), PollFlags::POLLIN),
        ];
        match poll(&mut watched, PollTimeout::NONE) {
            Ok(_) | Err(nix::Error::EINTR) => {}
            Err(_) => return None,
        }
        if watched.last().and_then(PollFd::any) == Some(true) {
            return None;
        }
        // The hook may be gone again.
        if let Ok((stream, _)) = acceptor.listener.accept()
            // On macOS an accepted socket inherits the mode of the listener.
            && stream.set_nonblocking(false).is_ok()
        {
            return Some(stream);
        }
    }
}

/// Removes a socket without a listener.
fn remove_stale(path: &Path) -> io::Result<()> {
    let facts = match fs::symlink_metadata(path) {
        Ok(facts) => facts,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if !facts.file_type().is_socket() {
        let what = "the path of the socket holds another kind of file";
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
    }
    match UnixStream::connect(path) {
        Ok(_) => Err(io::Error::new(io::ErrorKind::AddrInUse, "another server answers here")),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        Err(error) => Err(error),
    }
}

/// Answers questions on one thread.
struct Worker {
    setup: Setup,
    deferrals: StopDeferrals,
    /// The user of the socket.
    owner: u32,
}

/// A question as it came over the socket.
struct ReceivedQuestion {
    agent: Agent,
    envelope: Option<EnvelopeName>,
    folder: Option<PathBuf>,
    payload: Vec<u8>,
}

impl Worker {
    fn serve(&self, mut stream: UnixStream) {
        let began = Instant::now();
        if !is_from(&stream, self.owner) {
            return;
        }
        let Ok(asked) = read(&mut stream, began + TIMEOUT) else { return };
        // A question that cannot be judged here gets no answer, and the hook judges it by itself.
        if !self.setup.rules.knows_user_rules() {
            return;
        }
        let Ok(question) = Question::read(asked.agent, &asked.payload) else { return };
        let Some(question) = question else {
            drop(send(&mut stream, &Answer::default()));
            return;
        };
        let decided = self.decide(&asked, question, began);
        let is_sent = send(&mut stream, &decided.answer).is_ok();
        drop(stream);
        // A hook that is gone did what holds in an outage, and wrote that down.
        if let (true, Some(envelope)) = (is_sent, &asked.envelope) {
            let decision = Decision {
                identity: &decided.identity,
                event: Some(envelope.as_str()),
                root: &decided.root,
                verdict: &decided.verdict,
                by: Decider::Server,
                took: decided.took,
                times: decided.times,
            };
            decision::record(&decision, asked.agent, &self.setup.home, (self.setup.now)().nanos);
        }
    }

    fn decide(&self, asked: &ReceivedQuestion, question: Question, began: Instant) -> DecidedAnswer {
        let root = question.root(asked.folder.as_deref(), Path::new("/"));
        let policy = self.setup.rules.policy(&root);
        let now = (self.setup.now)();
        let around = Surroundings {
            project: root.to_str().map(str::to_owned),
            home: self.setup.user_home.clone(),
            now: now.local,
        };
        let identity = question.identity().clone();
        let call = question.into_call(around);
        // The hook began to wait a little before; half of its time is left for the rest.
        let max_wait = Duration::from_millis(u64::from(self.setup.rules.deadline_ms()) / 2);
        let history = EvidenceHistory::new(LedgerEvidence {
            agent: asked.agent,
            payload: &asked.payload,
            history: &self.setup.history,
            store: self.setup.store.as_ref(),
            time: QuestionTime { now: Millis::from_nanos(now.nanos), midnight: now.midnight },
            wait: ArrivalWait {
                arrivals: self.setup.arrivals.as_ref(),
                envelope: asked.envelope,
                session: call.session.as_deref(),
                max_wait,
            },
            deferrals: &self.deferrals,
            cache: LookupCache::default(),
        });
        let verdict = policy.decide(&call, &history);
        self.deferrals.remember(&call, &verdict);
        let times = history.evidence.times();
        DecidedAnswer {
            answer: answer(&call, &verdict),
            verdict,
            identity,
            root,
            took: began.elapsed(),
            times,
        }
    }
}

/// The answer to a question.
struct DecidedAnswer {
    answer: Answer,
    verdict: Verdict,
    identity: serde_json::Map<String, serde_json::Value>,
    root: PathBuf,
    took: Duration,
    times: LookupTimes,
}

/// Returns whether the peer is this user. The file's mode keeps others out too.
fn is_from(stream: &UnixStream, owner: u32) -> bool {
    // Root may ask, because it can read the socket's folder and become the user in any case.
    peer_user(stream).is_ok_and(|peer| peer == owner || peer == 0)
}

#[cfg(target_os = "linux")]
fn peer_user(stream: &UnixStream) -> nix::Result<u32> {
    use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
    getsockopt(stream, PeerCredentials).map(|peer| peer.uid())
}

#[cfg(not(target_os = "linux"))]
fn peer_user(stream: &UnixStream) -> nix::Result<u32> {
    nix::unistd::getpeereid(stream).map(|(user, _)| user.as_raw())
}

fn read(stream: &mut UnixStream, until: Instant) -> io::Result<ReceivedQuestion> {
    let mut head = [0; QUESTION_HEAD];
    read_exactly(stream, &mut head, until)?;
    let head = QuestionHead::read(&head).ok_or(io::ErrorKind::InvalidData)?;
    let mut text = |length: usize| -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        read_exactly(stream, &mut bytes, until)?;
        Ok(bytes)
    };
    let (name, folder) = (text(head.name)?, text(head.folder)?);
    Ok(ReceivedQuestion {
        agent: head.agent,
        envelope: EnvelopeName::parse(&name),
        folder: (!folder.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(&folder))),
        payload: text(head.payload)?,
    })
}

fn read_exactly(stream: &mut UnixStream, mut buffer: &mut [u8], until: Instant) -> io::Result<()> {
    while !buffer.is_empty() {
        let left = until.saturating_duration_since(Instant::now());
        // A timeout of zero would mean to wait for ever. The time is for the whole question, so that a peer that
        // sends a byte now and then cannot keep the thread.
        if left < Duration::from_micros(1) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(buffer)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => buffer = buffer.get_mut(read..).unwrap_or_default(),
        }
    }
    Ok(())
}

fn send(stream: &mut UnixStream, answer: &Answer) -> io::Result<()> {
    let head = AnswerHead { exit: answer.exit, stdout: answer.stdout.len(), stderr: answer.stderr.len() };
    let head = head.bytes().ok_or(io::ErrorKind::InvalidData)?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    stream.write_all(&[&head[..], answer.stdout.as_bytes(), answer.stderr.as_bytes()].concat())
}
