//! Runs `agent-tracer serve`: starts it, reads its output, kills it or asks it to end.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::http::Door;
use crate::world::Tracer;

/// Longer than anything takes that is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running server.
pub(crate) struct Server {
    child: Child,
    lines: Receiver<String>,
    reader: Option<JoinHandle<()>>,
    said: String,
    tracer: Tracer,
}

impl Server {
    /// Starts it, and does not wait for anything.
    pub(crate) fn spawn(tracer: &Tracer) -> Server {
        Server::spawn_as(tracer, tracer.command(&["serve", "--listen", "127.0.0.1:0"]))
    }

    /// The same, by another command.
    pub(crate) fn spawn_as(tracer: &Tracer, mut command: Command) -> Server {
        let mut child =
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts");
        let stderr = child.stderr.take().expect("standard error");
        let (sender, lines) = channel();
        let forward = move |stderr: ChildStderr| {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                // The reader may be gone; the pipe must not fill up all the same.
                drop(sender.send(line));
            }
        };
        let reader = Some(std::thread::spawn(move || forward(stderr)));
        Server { child, lines, reader, said: String::new(), tracer: tracer.clone() }
    }

    /// Starts it and waits until it listens.
    pub(crate) fn start(tracer: &Tracer) -> (Server, Door) {
        let mut server = Server::spawn(tracer);
        let door = server.door();
        (server, door)
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id()).expect("a number"))
    }

    /// Waits until it says where it listens.
    pub(crate) fn door(&mut self) -> Door {
        self.try_door(PATIENCE).expect("it listens")
    }

    /// The same, but not for longer than this.
    pub(crate) fn try_door(&mut self, patience: Duration) -> Option<Door> {
        let line = self.hear("http://", patience)?;
        let address = line.split("http://").nth(1)?.split('/').next()?.to_owned();
        let token = std::fs::read_to_string(self.tracer.home().token()).expect("the token").trim().to_owned();
        Some(Door { address, token })
    }

    /// Waits for a line that holds this; `None` if there is none in time.
    pub(crate) fn hear(&mut self, part: &str, patience: Duration) -> Option<String> {
        let until = Instant::now() + patience;
        loop {
            match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    self.said.push_str(&line);
                    self.said.push('\n');
                    if line.contains(part) {
                        return Some(line);
                    }
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    /// Waits for a line that holds this.
    #[track_caller]
    pub(crate) fn must_say(&mut self, part: &str) -> String {
        match self.hear(part, PATIENCE) {
            Some(line) => line,
            None => panic!("it never said `{part}`:\n{}", self.said),
        }
    }

    /// Ends it as a loss of power would, as far as processes can tell.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("killed");
        self.gone();
    }

    /// Asks it to end, and expects that it ends well. Returns what it said.
    pub(crate) fn end(mut self) -> String {
        kill(self.pid(), Signal::SIGTERM).expect("signalled");
        let status = self.child.wait().expect("it ends");
        let said = self.gone();
        assert_eq!(status.code(), Some(0), "{said}");
        said
    }

    /// Waits for it and for its last words.
    fn gone(&mut self) -> String {
        drop(self.child.wait());
        if let Some(reader) = self.reader.take() {
            reader.join().expect("the reader ends");
        }
        while let Ok(line) = self.lines.try_recv() {
            self.said.push_str(&line);
            self.said.push('\n');
        }
        assert!(!self.said.contains("panicked"), "{}", self.said);
        std::mem::take(&mut self.said)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Only of use if a test failed before it ended the server.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
