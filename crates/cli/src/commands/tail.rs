//! `agent-tracer tail`: rows as they change.
//!
//! Where a server runs its stream is followed, which tells of a row within milliseconds; else the ledger is looked at
//! several times a second, which also sees what an import brings. A row that changes is shown again if that can be seen.

mod line;
mod server;
mod wanted;

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
use line::Lines;
use server::Ended;
use wanted::Wanted;

/// How often the ledger is looked at.
const LOOK: Duration = Duration::from_millis(200);
/// How often somebody looks for a server.
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
    let mut wanted = Wanted::of(arguments, &reading)?;
    let mut lines = Lines::new(LocalTime::of(environment), arguments.json);
    if reading.store().is_none() {
        reading.say_empty(output, environment, false)?;
        if arguments.no_follow {
            return Ok(ExitCode::SUCCESS);
        }
        output.say("waiting for the first event; Ctrl-C ends")?;
        reading = wait_for_ledger(options, environment)?;
    }
    let Some(store) = reading.store() else { return Ok(ExitCode::SUCCESS) };
    let seq = store.seq().map_err(refused)?;
    let before = last_rows(store, seq, arguments.lines, &mut wanted)?;
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
                    server::follow(address, &wanted, &mut after, &mut |row| lines.show(row, output));
                match followed? {
                    // Its rows are in the ledger too.
                    Ended::Unreachable | Ended::Missed => {}
                    Ended::Stopped => looked = None,
                }
            }
        }
        poll(store, &mut after, &mut wanted, &mut lines, output)?;
        wait();
    }
}

#[expect(clippy::disallowed_methods, reason = "nobody rings when a file changes that another process writes")]
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
    wanted: &mut Wanted,
    lines: &mut Lines,
    output: &mut Output,
) -> Result<(), Failure> {
    loop {
        // A part holds whole places, and may be short before the end: only an empty one is the end.
        let rows = store.changes(*after, PART).map_err(refused)?;
        let Some(last) = rows.last() else { return Ok(()) };
        *after = last.seq;
        for row in rows.iter().filter(|row| wanted.has(row, store)) {
            lines.show(row, output)?;
        }
    }
}

/// The last rows that are wanted, oldest first.
fn last_rows(store: &Arc<dyn Store>, seq: u64, count: u32, wanted: &mut Wanted) -> Result<Vec<Row>, Failure> {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    if count == 0 {
        return Ok(Vec::new());
    }
    // A row may have changed many times, so as many places as rows are wanted may be too few.
    let mut back = u64::try_from(count).unwrap_or(u64::MAX).max(64);
    loop {
        let mut after = seq.saturating_sub(back);
        let mut found: Vec<Row> = Vec::new();
        loop {
            let rows = store.changes(after, PART).map_err(refused)?;
            let Some(last) = rows.last() else { break };
            after = last.seq;
            found.extend(rows.into_iter().filter(|row| row.seq <= seq && wanted.has(row, store)));
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
