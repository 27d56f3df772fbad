//! Doing nothing: what the server costs while nobody asks and nothing happens.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::live::pause;
use crate::machine::{self, Busy};
use crate::report::Report;
use crate::server::Server;

/// How long it is watched.
const LASTING: Duration = Duration::from_secs(10);

/// How long it may finish what it began.
const SETTLING: Duration = Duration::from_secs(3);

/// Watches a server; `most_mb` is its bar.
pub(crate) fn measure(server: &Server, when: &str, most_mb: f64, report: &mut Report) {
    wait(SETTLING);
    let (before, begun) = (Busy::of(server.pid(), ""), Instant::now());
    wait(LASTING);
    let busy = Busy::of(server.pid(), "").since(&before) / begun.elapsed().as_secs_f64();
    let (now, peak) = machine::memory_mb(server.pid());
    let own = machine::anonymous_mb(server.pid());
    report.title(&format!("idle, {when} (load {:.1})", machine::load()));
    report.line(&format!(
        "  {now:.1} MB resident ({own:.1} of it its own, {peak:.1} at its peak), {busy:.2} ms of processor time a second"
    ));
    report.keep(
        "idle",
        json!({ "when": when, "residentMegabytes": now, "ownMegabytes": own, "peakMegabytes": peak, "cpuMsPerSecond": busy, "load": machine::load() }),
    );
    report.judge("D1", &format!("{when}: {now:.1} MB (at most {most_mb})"), now <= most_mb);
    report.judge(
        "D1",
        &format!("{when}: {busy:.2} ms of processor time a second (at most 0.25)"),
        busy <= 0.25,
    );
}

fn wait(lasting: Duration) {
    let begun = Instant::now();
    while let Some(left) = lasting.checked_sub(begun.elapsed()).filter(|left| !left.is_zero()) {
        pause(left);
    }
}
