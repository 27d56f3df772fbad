//! Cost of replaying the rules over the whole history: a process of its own, its time and its peak memory.

use std::path::Path;
use std::time::Instant;

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use serde_json::Value;

use crate::server::command;

/// Holds the cost of one back-test.
pub(crate) struct Tried {
    /// Calls that were judged.
    pub(crate) calls: u64,
    /// Seconds on the clock, and on the processor.
    pub(crate) wall_s: f64,
    pub(crate) cpu_s: f64,
    /// The most memory of any process that was started here and has ended, in megabytes: a back-test is the largest.
    pub(crate) peak_mb: f64,
}

fn children() -> Result<Usage, String> {
    getrusage(UsageWho::RUSAGE_CHILDREN).map_err(|error| format!("cannot ask what processes took: {error}"))
}

fn cpu_s(usage: &Usage) -> f64 {
    (usage.user_time().num_microseconds() + usage.system_time().num_microseconds()) as f64 / 1e6
}

/// Tries the rules of a home on everything that it holds.
pub(crate) fn run(program: &Path, home: &Path) -> Result<Tried, String> {
    let (before, begin) = (children()?, Instant::now());
    let output = command(program, home)
        .args(["policy", "backtest", "--since", "3650d", "--json"])
        .current_dir(home)
        .output()
        .map_err(|error| format!("cannot start `{}`: {error}", program.display()))?;
    let wall_s = begin.elapsed().as_secs_f64();
    let after = children()?;
    let said: Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| format!("`policy backtest` failed: {}", String::from_utf8_lossy(&output.stderr)))?;
    Ok(Tried {
        calls: said.get("calls").and_then(Value::as_u64).unwrap_or(0),
        wall_s,
        cpu_s: cpu_s(&after) - cpu_s(&before),
        peak_mb: after.max_rss() as f64 / 1024.0,
    })
}
