//! Doing nothing: what the server costs without requests and events.
//!
//! A server that has just been loaded is not idle: search follows behind the writer. So it is watched once the store says
//! that nothing is left to do, and the time that took is reported.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::live::pause;
use crate::machine::{self, Busy};
use crate::report::Report;
use crate::server::Server;

/// Duration of the measurement.
const LASTING: Duration = Duration::from_secs(10);

/// Longest time to finish earlier work.
const SETTLING: Duration = Duration::from_secs(3);

/// After so long it is called busy, not idle.
const PATIENCE: Duration = Duration::from_secs(1_800);

/// Rows that search does not know yet. It does not count beyond some hundred thousand.
fn lag(server: &Server) -> Result<u64, String> {
    let fail = |error: &dyn std::fmt::Display| format!("cannot ask the store of the server: {error}");
    let store = agent_tracer_ledger::open_read_only(&server.home.data().join("ledger.db"))
        .map_err(|error| fail(&error))?;
    Ok(store.health().map_err(|error| fail(&error))?.search_lag)
}

/// Waits until search knows everything. Tells how many rows it did not know, and how long that took.
fn settle(server: &Server) -> Result<(u64, Duration), String> {
    let (begun, behind) = (Instant::now(), lag(server)?);
    let mut left = behind;
    while left > 0 {
        if begun.elapsed() > PATIENCE {
            return Err(format!("search still does not know {left} rows after {} s", PATIENCE.as_secs()));
        }
        pause(Duration::from_millis(500));
        left = lag(server)?;
    }
    Ok((behind, begun.elapsed()))
}

/// Watches a server once it has settled; `most_mb` is its bar.
pub(crate) fn measure(server: &Server, when: &str, most_mb: f64, report: &mut Report) -> Result<(), String> {
    let (behind, settling) = settle(server)?;
    wait(SETTLING);
    let (before, begun) = (Busy::of(server.pid(), ""), Instant::now());
    wait(LASTING);
    let busy = Busy::of(server.pid(), "").since(&before) / begun.elapsed().as_secs_f64();
    let (now, peak) = machine::memory_mb(server.pid());
    let own = machine::anonymous_mb(server.pid());
    report.title(&format!("idle, {when} (load {:.1})", machine::load()));
    report.line(&format!(
        "  settled after {:.1} s (search did not know {behind}{} rows)",
        settling.as_secs_f64(),
        if behind >= 100_000 { " or more" } else { "" }
    ));
    report.line(&format!(
        "  {now:.1} MB resident ({own:.1} of it its own, {peak:.1} at its peak), {busy:.2} ms of processor time a second"
    ));
    report.keep(
        "idle",
        json!({ "when": when, "residentMegabytes": now, "ownMegabytes": own, "peakMegabytes": peak, "cpuMsPerSecond": busy, "behindRows": behind, "settlingSeconds": settling.as_secs_f64(), "load": machine::load() }),
    );
    report.judge("D1", &format!("{when}: {now:.1} MB (at most {most_mb})"), now <= most_mb);
    report.judge(
        "D1",
        &format!("{when}: {busy:.2} ms of processor time a second (at most 0.25)"),
        busy <= 0.25,
    );
    Ok(())
}

fn wait(lasting: Duration) {
    let begun = Instant::now();
    while let Some(left) = lasting.checked_sub(begun.elapsed()).filter(|left| !left.is_zero()) {
        pause(left);
    }
}
