//! Starts the hook on each home in turn and takes down how long the agent waits for it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::json;

use crate::server::Server;

/// The hook with one home and one event.
pub(crate) struct Contestant {
    pub(crate) name: &'static str,
    program: PathBuf,
    home: PathBuf,
    session: String,
    event: &'static str,
}

/// Holds the cost of one contestant: from just before the start to the end of the child, in microseconds.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) wait_us: Vec<f64>,
}

impl Contestant {
    pub(crate) fn new(
        name: &'static str,
        program: &Path,
        home: &Path,
        session: &str,
        event: &'static str,
    ) -> Self {
        let (program, home) = (program.to_owned(), home.to_owned());
        Self { name, program, home, session: session.to_owned(), event }
    }

    /// Another call each time: the same one again and again would be found in fewer pages.
    fn payload(&self, turn: usize) -> Vec<u8> {
        let payload = json!({
            "session_id": self.session, "cwd": "/home/dev/project", "permission_mode": "default",
            "hook_event_name": self.event, "tool_name": "Bash", "tool_use_id": format!("toolu_{}{turn}", self.name.len()),
            "tool_input": {"command": format!("cargo build -p part-{turn} && git status --short"), "description": "Build"},
        });
        payload.to_string().into_bytes()
    }

    fn once(&self, turn: usize) -> Result<f64, String> {
        let fail = |error: std::io::Error| format!("cannot run `{}`: {error}", self.program.display());
        let payload = self.payload(turn);
        let mut command = Command::new(&self.program);
        command
            .arg("claude")
            .env("AGENT_TRACER_HOME", &self.home)
            .env("CLAUDE_PROJECT_DIR", "/home/dev/project");
        command.env_remove("AGENT_TRACER_OFF");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let start = Instant::now();
        let mut child = command.spawn().map_err(fail)?;
        if let Some(mut input) = child.stdin.take() {
            input.write_all(&payload).map_err(fail)?;
        }
        let output = child.wait_with_output().map_err(fail)?;
        let wait = start.elapsed().as_secs_f64() * 1e6;
        if !output.status.success() || !output.stdout.is_empty() {
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            return Err(format!(
                "`{}` should say nothing, and ended with {}: {said}",
                self.name, output.status
            ));
        }
        Ok(wait)
    }
}

/// Runs everyone so many times, one after the other, after one round that is not counted. An agent does not call its next
/// hook before the events of the last one are known: each turn begins when the server has caught up.
pub(crate) fn round_robin(
    contestants: &[Contestant],
    repetitions: usize,
    server: &Server,
) -> Result<Vec<Row>, String> {
    let mut rows: Vec<Row> = contestants
        .iter()
        .map(|one| Row { name: one.name, wait_us: Vec::with_capacity(repetitions) })
        .collect();
    for turn in 0..=repetitions {
        for (contestant, row) in contestants.iter().zip(&mut rows) {
            server.caught_up()?;
            let wait = contestant.once(turn)?;
            if turn > 0 {
                row.wait_us.push(wait);
            }
        }
    }
    Ok(rows)
}
