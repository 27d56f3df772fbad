//! Bulk import: the history straight into the real ledger.

use std::path::Path;
use std::time::{Duration, Instant};

use agent_tracer_ledger::{Batch, Ledger, Options};
use serde_json::{Value, json};

use crate::machine::{self, Busy};
use crate::report::Report;
use crate::sample::Sample;
use agent_tracer_testkit::history::History;

/// Observations that are brought at once.
const AT_ONCE: usize = 2_000;

/// Holds the cost of an import.
pub(crate) struct Loaded {
    pub(crate) ledger: Ledger,
    pub(crate) events: u64,
    /// Rate of the last tenth against the first, in processor time; unknown if it was there already.
    pub(crate) fading: Option<f64>,
}

/// Brings a history to a new ledger.
pub(crate) fn load(path: &Path, events: u64, seed: u64, report: &mut Report) -> Result<Loaded, String> {
    let fail = |error: &dyn std::fmt::Display| format!("cannot write `{}`: {error}", path.display());
    let is_there = path.exists();
    let ledger = Ledger::open(path, Options::default()).map_err(|error| fail(&error))?;
    if is_there {
        ledger.finish_search().map_err(|error| fail(&error))?;
        report.title(&format!("`{}` is there already: nothing is imported", path.display()));
        return Ok(Loaded { ledger, events, fading: None });
    }
    let mut history = History::new(events, seed).timed(machine::thread_cpu);
    let mut appending = Duration::ZERO;
    let writer = || Busy::of(std::process::id(), "ledger-writer");
    let mut commits = Sample::default();
    let mut brought = 0_u64;
    let (mut writing, mut prepared) = (0.0, 0.0);
    let mut tenths: Vec<(u64, f64)> = Vec::new();
    let begun = Instant::now();
    loop {
        let observed = history.batch(AT_ONCE);
        if observed.is_empty() {
            break;
        }
        let count = observed.len() as u64;
        let (start, before, own) = (Instant::now(), writer(), machine::thread_cpu());
        ledger.append(Batch { observed, ..Batch::default() }).map_err(|error| fail(&error))?;
        let took = start.elapsed();
        appending += took;
        commits.push(took);
        // The caller prepares its batch, so its time belongs to writing too.
        let preparing = machine::thread_cpu().saturating_sub(own).as_secs_f64() * 1e3;
        let busy = writer().since(&before);
        writing += busy + preparing;
        prepared += preparing;
        brought += count;
        let tenth = (brought.saturating_mul(10) / events.max(1)) as usize;
        if tenths.len() <= tenth {
            tenths.resize(tenth + 1, (0, 0.0));
        }
        if let Some(sum) = tenths.get_mut(tenth) {
            sum.0 += count;
            sum.1 += busy;
        }
    }
    let wall = begun.elapsed();
    let before_search = machine::database_size(path);
    let (start, before_cpu) = (Instant::now(), writer());
    ledger.finish_search().map_err(|error| fail(&error))?;
    let searching = start.elapsed();
    let searching_cpu = writer().since(&before_cpu);
    let (now, peak) = machine::memory_mb(std::process::id());
    // Processor time, because it repeats: how long a commit takes depends on who else is at work.
    let rate = |(count, busy): &(u64, f64)| *count as f64 / busy * 1e3;
    let full: Vec<f64> = tenths.iter().filter(|(count, _)| *count > events / 20).map(rate).collect();
    let fading = match (full.first(), full.last()) {
        (Some(first), Some(last)) => Some(last / first),
        _ => None,
    };
    let per = |took: Duration| took.as_secs_f64() * 1e6 / brought.max(1) as f64;
    let spent = history.spent;
    let bytes = machine::database_size(path);
    let each = |bytes: u64| bytes as f64 / brought.max(1) as f64;
    report.title(&format!(
        "import of {brought} events, {} MB as sent (load {:.1})",
        history.bytes / 1_000_000,
        machine::load()
    ));
    report.line(&format!(
        "  append alone {:>8.0} events/s    read and append {:>8.0} events/s    with search {:>8.0} events/s",
        brought as f64 / appending.as_secs_f64(),
        brought as f64 / (appending + spent.reading).as_secs_f64(),
        brought as f64 / (appending + spent.reading + searching).as_secs_f64(),
    ));
    report.line(&format!(
        "  µs per event, wall: read {:.1}, append {:.1}, search behind it {:.1} (making it up {:.1}, not counted)",
        per(spent.reading),
        per(appending),
        per(searching),
        per(spent.making)
    ));
    report.line(&format!(
        "  µs per event, CPU:  read {:.1}, append {:.1} ({:.1} of it before the writer), search behind it {:.1} (search takes what it can while the writer waits)",
        per(spent.reading_cpu),
        writing * 1e3 / brought.max(1) as f64,
        prepared * 1e3 / brought.max(1) as f64,
        searching_cpu * 1e3 / brought.max(1) as f64
    ));
    report.line(&format!(
        "  commits of {AT_ONCE}: p50 {:.0} ms, p95 {:.0} ms, max {:.0} ms; last tenth at {:.2} x the first",
        commits.p50(),
        commits.p95(),
        commits.max(),
        fading.unwrap_or(f64::NAN)
    ));
    report.line(&format!(
        "  bytes per event: {:.0} ({:.0} without search; {:.0} as sent); this process {now:.0} MB, at its peak {peak:.0} MB; wall {:.1} s",
        each(bytes),
        each(before_search),
        each(history.bytes),
        wall.as_secs_f64()
    ));
    let tenths: Vec<Value> = tenths.iter().map(|tenth| json!(rate(tenth))).collect();
    report.keep(
        "import",
        json!({
            "events": brought, "load": machine::load(), "appendSeconds": appending.as_secs_f64(),
            "readSeconds": spent.reading.as_secs_f64(), "searchSeconds": searching.as_secs_f64(),
            "appendCpuSeconds": writing / 1e3, "prepareCpuSeconds": prepared / 1e3, "readCpuSeconds": spent.reading_cpu.as_secs_f64(),
            "searchCpuSeconds": searching_cpu / 1e3, "makeSeconds": spent.making.as_secs_f64(), "bytes": bytes, "bytesWithoutSearch": before_search,
            "bytesAsSent": history.bytes, "commits": commits.json(), "eventsPerSecondByTenth": tenths,
            "residentMegabytes": now, "peakMegabytes": peak,
        }),
    );
    Ok(Loaded { ledger, events: brought, fading })
}
