//! A terminal for one command: it sees one at both ends, and the test presses the keys.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{Termios, tcgetattr};
use nix::unistd::Pid;

use crate::world::World;

/// Longer than anything here takes on a busy machine.
const PATIENCE_MS: u16 = 60_000;

pub(crate) struct Terminal {
    child: Child,
    master: File,
    said: String,
}

impl Terminal {
    /// Starts `agent-tracer` in the project of a world, on a terminal of 80 columns.
    pub(crate) fn start(world: &World, arguments: &[&str]) -> Terminal {
        let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        let pair = openpty(&size, None).expect("a terminal");
        let end = || Stdio::from(pair.slave.try_clone().expect("another end"));
        let child = Command::new(world.path("bin/agent-tracer"))
            .args(arguments)
            .current_dir(world.path("project"))
            .env_clear()
            .env("HOME", world.path("home"))
            .env("PATH", world.path("empty"))
            .env("TMPDIR", world.path("empty"))
            .env("TERM", "xterm")
            .envs(world.variables())
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn()
            .expect("the program starts");
        Terminal { child, master: File::from(pair.master), said: String::new() }
    }

    /// Reads up to a text that was not read before.
    #[track_caller]
    pub(crate) fn read_until(&mut self, part: &str) {
        let from = self.said.len();
        while !self.said.get(from..).is_some_and(|said| said.contains(part)) {
            assert!(self.read(), "it ended without saying `{part}`:\n{}", self.said);
        }
    }

    /// Reads what is there, once. Returns `false` at the end.
    fn read(&mut self) -> bool {
        let mut ready = [PollFd::new(self.master.as_fd(), PollFlags::POLLIN)];
        assert_eq!(
            poll(&mut ready, PollTimeout::from(PATIENCE_MS)),
            Ok(1),
            "it says nothing:\n{}",
            self.said
        );
        let mut bytes = [0; 4096];
        // When the last process is gone, a terminal reports an error.
        let count = self.master.read(&mut bytes).unwrap_or(0);
        self.said.push_str(&String::from_utf8_lossy(bytes.get(..count).unwrap_or_default()));
        count > 0
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).expect("pressed");
    }

    /// Returns how the terminal behaves now.
    pub(crate) fn modes(&self) -> Termios {
        tcgetattr(&self.master).expect("modes")
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(i32::try_from(self.child.id()).expect("a number")), signal).expect("signalled");
    }

    /// Waits for the end; returns the code and everything that was said.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        while self.read() {}
        let status = self.child.wait().expect("it ends");
        (status.code(), std::mem::take(&mut self.said))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            drop(self.child.kill());
            drop(self.child.wait());
        }
    }
}
