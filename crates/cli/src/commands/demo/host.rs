//! The demo's server: this same program as `serve`, in the demo's world.
//!
//! A process of its own, because the server reads where everything is from its environment, and this process keeps the
//! user's.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, ChildStderr, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent_tracer_intake::Stop;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::demo::Stage;
use crate::failure::{Failure, plain};

/// Time limit for the start of the server: a busy machine is no failure.
const START_LIMIT: Duration = Duration::from_secs(60);
/// Pause between two checks that the server still runs.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Last lines of its output that are kept for the report of a failure.
const LINES_KEPT: usize = 12;

/// A running server.
pub(super) struct Host {
    child: Mutex<Child>,
    said: Arc<Mutex<VecDeque<String>>>,
    link: String,
}

impl Host {
    /// Starts a server and waits until it says where it listens.
    pub(super) fn start(stage: &Stage, listen: SocketAddr) -> Result<Host, Failure> {
        let program = std::env::current_exe().map_err(|cause| {
            Failure::new(format!("cannot find the path of this program: {}", plain(&cause)))
        })?;
        let mut child = stage
            .command(&program)
            .args(["serve", "--listen", &listen.to_string()])
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|cause| Failure::file("start", &program, &cause))?;
        let said = Arc::new(Mutex::new(VecDeque::new()));
        let link = child.stderr.take().map(|stderr| listen_to(stderr, &said)).transpose()?;
        let link = link.and_then(|link| link.recv_timeout(START_LIMIT).ok());
        let host = Host { child: Mutex::new(child), said, link: link.clone().unwrap_or_default() };
        if link.is_none() {
            let failure = host.failure("the demo's server did not start");
            // What it did not start cannot end badly.
            host.end().ok();
            return Err(failure);
        }
        Ok(host)
    }

    /// The link that signs a browser in.
    pub(super) fn link(&self) -> &str {
        &self.link
    }

    /// Returns the origin at which it answers, without a slash at the end.
    pub(super) fn origin(&self) -> &str {
        self.link.split_once("/login").map_or(&self.link, |(origin, _)| origin)
    }

    /// Waits for the end of the server or of the demo; the one brings the other.
    pub(super) fn watch(&self, stop: &Stop) {
        while !stop.wait(LOOK_EVERY) {
            if self.has_ended() {
                stop.request();
            }
        }
    }

    fn has_ended(&self) -> bool {
        matches!(self.child().try_wait(), Ok(Some(_)) | Err(_))
    }

    fn child(&self) -> std::sync::MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the server and waits until it has.
    pub(super) fn end(&self) -> Result<(), Failure> {
        let status = {
            let mut child = self.child();
            if let Ok(None) = child.try_wait()
                && let Ok(pid) = i32::try_from(child.id())
            {
                // After Ctrl-C the child has received the signal itself: then this finds no process.
                kill(Pid::from_raw(pid), Signal::SIGTERM).ok();
            }
            child.wait()
        };
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(_) => Err(self.failure("the demo's server ended with an error")),
            Err(cause) => Err(Failure::new(format!("cannot wait for the demo's server: {}", plain(&cause)))),
        }
    }

    fn failure(&self, text: &str) -> Failure {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let lines: Vec<&str> = said.iter().map(String::as_str).collect();
        if lines.is_empty() {
            Failure::new(text)
        } else {
            Failure::new(format!("{text}; it said:\n{}", lines.join("\n")))
        }
    }
}

/// Reads what the server says, to its end: the link goes to the one who waits for it, the last lines are kept.
fn listen_to(stderr: ChildStderr, said: &Arc<Mutex<VecDeque<String>>>) -> Result<Receiver<String>, Failure> {
    let (found, link): (SyncSender<String>, _) = sync_channel(1);
    let said = Arc::clone(said);
    let listen = move || {
        let mut found = Some(found);
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            if let Some(link) = line.trim().strip_prefix("dashboard")
                && let Some(found) = found.take()
            {
                // A receiver that timed out is gone.
                found.send(link.trim().to_owned()).ok();
            }
            let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
            if said.len() == LINES_KEPT {
                said.pop_front();
            }
            said.push_back(line);
        }
    };
    let started = std::thread::Builder::new().name("demo-server".to_owned()).spawn(listen);
    started.map_err(|cause| Failure::new(format!("cannot start a thread: {}", plain(&cause))))?;
    Ok(link)
}
