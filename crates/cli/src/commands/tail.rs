//! `agent-tracer tail`: rows as they change.
//!
//! Follows the stream of a running server, which delivers a row within milliseconds; without a server it polls the
//! ledger several times a second, which also finds imported rows. A changed row is printed again if the change is
//! visible.

mod filter;
mod line;
mod server;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent_tracer_ledger::Store;
use agent_tracer_ledger::view::Row;

use crate::arguments::{Options, Tail};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::instance::Instance;
use crate::local_time::LocalTime;
use crate::output::Output;
use crate::reading::{Reading, refused};
use filter::TailFilter;
use line::Lines;
use server::StreamEnd;

/// Pause between two polls of the ledger.
const LOOK: Duration = Duration::from_millis(200);
/// Pause between two searches for a server.
const LOOK_FOR_SERVER: Duration = Duration::from_secs(2);
/// Rows that are asked for at once.
const PART: u32 = 500;

pub(super) fn run(
    arguments: &Tail,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let mut reading = Reading::open(options, environment)?;
    let mut filter = TailFilter::of(arguments, &reading)?;
    let mut lines = Lines::new(LocalTime::of(environment), arguments.json);
    if reading.store().is_none() {
        reading.say_empty(output, environment, false)?;
        if arguments.no_follow {
            return Ok(ExitCode::SUCCESS);
        }
        output.say("waiting for the first event; press Ctrl-C to stop")?;
        reading = wait_for_ledger(options, environment)?;
    }
    let Some(store) = reading.store() else { return Ok(ExitCode::SUCCESS) };
    // Read before the last rows are shown, so that what arrives meanwhile is shown once and not left out.
    let seq = store.seq().map_err(refused)?;
    let before = last_rows(store, seq, arguments.lines, &mut filter)?;
    for row in &before {
        lines.show(row, output)?;
    }
    if arguments.no_follow {
        if before.is_empty() {
            reading.say_empty(output, environment, true)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut after = seq;
    let mut looked: Option<Instant> = None;
    loop {
        if looked.is_none_or(|at| at.elapsed() >= LOOK_FOR_SERVER) {
            looked = Some(Instant::now());
            if let Some(address) = Instance::address(&reading.home) {
                let followed =
                    server::follow(address, &filter, &mut after, &mut |row| lines.show(row, output));
                match followed? {
                    // Its rows are in the ledger too.
                    StreamEnd::Unreachable | StreamEnd::Missed => {}
                    // A server that is restarted answers again in a moment.
                    StreamEnd::Stopped => looked = None,
                }
            }
        }
        poll(store, &mut after, &mut filter, &mut lines, output)?;
        wait();
    }
}

#[expect(clippy::disallowed_methods, reason = "no event reports a write by another process")]
fn wait() {
    std::thread::sleep(LOOK);
}

fn wait_for_ledger(options: &Options, environment: &Environment) -> Result<Reading, Failure> {
    loop {
        wait();
        let reading = Reading::open(options, environment)?;
        if reading.store().is_some() {
            return Ok(reading);
        }
    }
}

/// Shows what changed since the last look.
fn poll(
    store: &Arc<dyn Store>,
    after: &mut u64,
    filter: &mut TailFilter,
    lines: &mut Lines,
    output: &mut Output,
) -> Result<(), Failure> {
    loop {
        // A part holds whole places, and may be short before the end: only an empty one is the end.
        let rows = store.changes(*after, PART).map_err(refused)?;
        let Some(last) = rows.last() else { return Ok(()) };
        *after = last.seq;
        for row in rows.iter().filter(|row| filter.has(row, store)) {
            lines.show(row, output)?;
        }
    }
}

/// Returns the last rows that are filter, oldest first.
fn last_rows(
    store: &Arc<dyn Store>,
    seq: u64,
    count: u32,
    filter: &mut TailFilter,
) -> Result<Vec<Row>, Failure> {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    if count == 0 {
        return Ok(Vec::new());
    }
    // A row may have changed many times, so as many places as rows are filter may be too few.
    let mut back = u64::try_from(count).unwrap_or(u64::MAX).max(64);
    loop {
        let mut after = seq.saturating_sub(back);
        let mut found: Vec<Row> = Vec::new();
        loop {
            let rows = store.changes(after, PART).map_err(refused)?;
            let Some(last) = rows.last() else { break };
            after = last.seq;
            found.extend(rows.into_iter().filter(|row| row.seq <= seq && filter.has(row, store)));
            let surplus = found.len().saturating_sub(count);
            found.drain(..surplus);
            if after >= seq {
                break;
            }
        }
        if found.len() >= count || back >= seq {
            return Ok(found);
        }
        back = back.saturating_mul(8);
    }
}
