//! A home that is full: every captured file of both agents, imported once by the program itself.
//!
//! Importing takes a while, so it is done once, and every test gets a copy.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use agent_tracer_event::{Agent, Millis, TaskKey};
use agent_tracer_ledger::view::Task;
use agent_tracer_ledger::{MAX_LIMIT, Paging, Store, TaskFilter, open_read_only};
use serde_json::Value;

use crate::world::World;

pub(crate) const LEDGER: &str = "home/.local/share/agent-tracer/ledger.db";

/// Returns a world with a ledger of every captured file.
pub(crate) fn full() -> World {
    static FULL: OnceLock<World> = OnceLock::new();
    let original = FULL.get_or_init(|| {
        let world = World::without_hook();
        lay(&world);
        world.run(&["import"]).ended_with(0);
        world
    });
    let world = World::without_hook();
    copy(&original.path("home"), &world.path("home"));
    world
}

/// Lays every captured file where its agent would have.
fn lay(world: &World) {
    let claude = agent_tracer_testkit::fixtures().join("claude-code");
    for path in below(&claude) {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let relative = path.strip_prefix(&claude).expect("below").to_string_lossy().into_owned();
        if !matches!(name.as_str(), "hooks.jsonl" | "truth.json") && !relative.starts_with("otel") {
            put(&path, &world.path(&format!("home/.claude/projects/{relative}")));
        }
    }
    for path in below(&agent_tracer_testkit::fixtures().join("codex/0.166.0/rollouts")) {
        let text = fs::read_to_string(&path).expect("text");
        let first: Value = serde_json::from_str(text.lines().next().expect("a row")).expect("JSON");
        let thread = first.pointer("/payload/id").and_then(Value::as_str).expect("an id");
        let scenario = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let name =
            format!("home/.codex/sessions/2026/11/15/{scenario}/rollout-2026-11-15T19-33-11-{thread}.jsonl");
        put(&path, &world.path(&name));
    }
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { found.extend(below(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

fn put(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().expect("a folder")).expect("folders");
    fs::copy(from, to).expect("copied");
}

fn copy(from: &Path, to: &Path) {
    for path in below(from) {
        put(&path, &to.join(path.strip_prefix(from).expect("below")));
    }
}

/// The ledger of a world, to be asked directly.
pub(crate) fn store(world: &World) -> Arc<dyn Store> {
    open_read_only(&world.path(LEDGER)).expect("a ledger")
}

/// Long after everything that was captured, so that nothing changes while a test runs.
pub(crate) const LATER: Millis = Millis(1_900_000_000_000);

/// All tasks, as the store tells them.
pub(crate) fn tasks(world: &World) -> Vec<Task> {
    let store = store(world);
    let paging = Paging { limit: MAX_LIMIT, ..Paging::default() };
    let page = store.tasks(LATER, &TaskFilter { paging, ..TaskFilter::default() }).expect("tasks");
    assert!(page.next_cursor.is_none() && page.items.len() > 100, "{}", page.items.len());
    page.items
}

/// The id of the task that started a subagent which started another one.
pub(crate) fn nested() -> String {
    TaskKey::new(Agent::CLAUDE_CODE, "2ebc5ab6-4a16-4d07-8e32-a49967836261").task_id().to_string()
}

/// The part of an id that tables show.
pub(crate) fn short(id: &str) -> &str {
    id.get(..9).expect("an id")
}

/// Runs a command and reads its JSON.
#[track_caller]
pub(crate) fn json(world: &World, arguments: &[&str]) -> Value {
    let mut all = arguments.to_vec();
    all.push("--json");
    serde_json::from_str(&world.run(&all).ended_with(0).stdout).expect("JSON")
}
