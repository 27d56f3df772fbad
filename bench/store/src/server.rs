//! The real server, as a process of its own.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use agent_tracer_spool::Home;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// A server that is gone when it is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
    pub(crate) home: Home,
}

impl Server {
    /// Starts the program on a home of its own, and waits until it says where it listens.
    pub(crate) fn start(program: &Path, home: &Path) -> Result<Self, String> {
        let fail = |error: std::io::Error| format!("cannot start `{}`: {error}", program.display());
        let mut child = Command::new(program)
            .args(["serve", "--listen", "127.0.0.1:0", "--home"])
            .arg(home)
            .env_clear()
            .env("HOME", home)
            .env("TZ", "UTC")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(fail)?;
        let mut said = String::new();
        let stderr = child.stderr.take();
        let mut server = Self {
            child,
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            token: String::new(),
            home: Home::in_folder(home),
        };
        let Some(stderr) = stderr else { return Err("the server has no standard error".to_owned()) };
        let mut lines = BufReader::new(stderr);
        while !said.contains("stop       Ctrl-C") {
            if lines.read_line(&mut said).map_err(fail)? == 0 {
                return Err(format!("the server did not start:\n{said}"));
            }
        }
        let link = said.split("http://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or_default();
        server.address =
            link.parse().map_err(|_| format!("the server does not say where it listens:\n{said}"))?;
        let token = server.home.token();
        server.token = std::fs::read_to_string(&token)
            .map_err(|error| format!("cannot read `{}`: {error}", token.display()))?
            .trim()
            .to_owned();
        // Its log must be read, or it would wait for a full pipe.
        std::thread::spawn(move || {
            let mut rest = Vec::new();
            drop(lines.read_to_end(&mut rest));
        });
        Ok(server)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Ok(pid) = i32::try_from(self.child.id()) {
            // One that is gone already needs no signal.
            kill(Pid::from_raw(pid), Signal::SIGTERM).ok();
        }
        drop(self.child.wait());
    }
}
