//! Starts the engine behind HTTP once for all tests, or takes the server that `CLICKHOUSE_URL` names.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use agent_tracer_fleet::clickhouse::schema::Layout;
use agent_tracer_fleet::clickhouse::{Fleet, StoreAddress};

/// A running engine. It ends when its input does: when this is dropped, or when the test's process ends in any way.
pub(crate) struct Engine {
    child: Child,
    input: Option<ChildStdin>,
    pub(crate) url: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

impl Engine {
    /// Starts an engine with its data in this folder.
    pub(crate) fn start(folder: &Path, is_temporary: bool) -> Self {
        Self::start_at(folder, is_temporary, 0)
    }

    /// Returns the same at a port; 0 is any that is free.
    pub(crate) fn start_at(folder: &Path, is_temporary: bool, port: u16) -> Self {
        Self::start_with(folder, is_temporary, &["--port", &port.to_string()])
    }

    /// Returns the same with more words for the engine.
    pub(crate) fn start_with(folder: &Path, is_temporary: bool, words: &[&str]) -> Self {
        let tools = std::env::var_os("AGENT_TRACER_CLICKHOUSE_TOOLS")
            .map_or_else(|| root().join("target/tools/clickhouse"), PathBuf::from);
        let python = tools.join("bin/python");
        assert!(
            python.exists(),
            "missing: the engine of ClickHouse in `{}`\nhint: `make test-clickhouse` fetches it",
            tools.display()
        );
        let mut command = Command::new(python);
        command.arg(root().join("tests/clickhouse/engine")).arg(folder);
        command.args(words);
        if is_temporary {
            command.arg("--temporary");
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port: u16 = line
            .trim()
            .strip_prefix("listening ")
            .and_then(|port| port.parse().ok())
            .unwrap_or_else(|| panic!("the engine did not start: `{line}`"));
        Self { input: child.stdin.take(), child, url: format!("http://127.0.0.1:{port}") }
    }

    /// Ends it as a lost machine would.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.input.take();
        self.child.wait().ok();
    }
}

/// Returns a database of its own at an address.
pub(crate) fn place(url: &str, database: &str) -> StoreAddress {
    StoreAddress {
        url: url.to_owned(),
        database: database.to_owned(),
        user: None,
        password: None,
        layout: Layout::Single,
    }
}

/// Makes a new, empty database with its tables, in one layout or the other.
pub(crate) type Make = fn() -> (Arc<Fleet>, StoreAddress);

/// Returns a new, empty database with its tables.
pub(crate) fn database() -> (Arc<Fleet>, StoreAddress) {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let url = std::env::var("CLICKHOUSE_URL").unwrap_or_else(|_| {
        let engine = ENGINE.get_or_init(|| {
            let folder =
                Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("engine-{}", std::process::id()));
            Engine::start(&folder, true)
        });
        engine.url.clone()
    });
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let place = place(&url, &format!("tracer_test_{}_{number}", std::process::id()));
    let fleet = Fleet::new(place.clone()).unwrap();
    fleet.migrate().unwrap();
    (Arc::new(fleet), place)
}
