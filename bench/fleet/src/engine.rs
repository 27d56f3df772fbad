//! The engine that is started for a run, and ends with it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

/// An engine that ends with this process.
pub(crate) struct Engine {
    child: Child,
    _input: Option<ChildStdin>,
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Engine {
    /// The number of its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Starts one that keeps its data in a folder; gives its address too.
    pub(crate) fn start(tools: &Path, folder: &Path) -> Result<(Self, String), String> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/clickhouse/engine");
        let fail = |error: std::io::Error| {
            format!(
                "cannot start the engine: {error}\nhint: `scripts/fetch-clickhouse {}` fetches it",
                tools.display()
            )
        };
        let mut child = Command::new(tools.join("bin/python"))
            .arg(script)
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(fail)?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line).map_err(fail)?;
        }
        let port = line.trim().strip_prefix("listening ").unwrap_or_default().to_owned();
        let engine = Self { _input: child.stdin.take(), child };
        match port.is_empty() {
            true => Err(format!("the engine did not start: `{line}`")),
            false => Ok((engine, format!("clickhouse://127.0.0.1:{port}/bench_fleet"))),
        }
    }
}
