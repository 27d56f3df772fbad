//! Starts every contestant in turn and takes down what it cost.

use std::io::Write;
use std::process::Stdio;
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};

use crate::contestants::{Bench, Contestant};

/// Holds the cost of one contestant, one entry per repetition.
pub(crate) struct Row {
    /// The program.
    pub(crate) name: &'static str,
    /// The payload.
    pub(crate) payload: &'static str,
    /// From just before the start to the end of the child, in microseconds.
    pub(crate) wait_us: Vec<f64>,
    /// User and system time of the child in microseconds.
    pub(crate) cpu_us: Vec<f64>,
}

/// CPU time of all children that have been waited for, in microseconds.
///
/// Children run one at a time, so the difference over one start is that child's own.
fn children_cpu_us() -> f64 {
    getrusage(UsageWho::RUSAGE_CHILDREN).map_or(0.0, |usage| {
        let micros = |time: TimeVal| time.num_microseconds() as f64;
        micros(usage.user_time()) + micros(usage.system_time())
    })
}

fn once(contestant: &Contestant) -> Result<(f64, f64), String> {
    let fail = |error: std::io::Error| format!("cannot run `{}`: {error}", contestant.name);
    let mut command = contestant.command();
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let before = children_cpu_us();
    let start = Instant::now();
    let mut child = command.spawn().map_err(fail)?;
    if let Some(mut input) = child.stdin.take() {
        // A program that does not read (`/bin/true`) closes the pipe: that is its way, not a failure.
        drop(input.write_all(&contestant.bytes));
    }
    let status = child.wait().map_err(fail)?;
    let wait = start.elapsed().as_secs_f64() * 1e6;
    if !status.success() {
        return Err(format!("`{}` ended with {status}", contestant.name));
    }
    Ok((wait, children_cpu_us() - before))
}

/// A program after a slow one finds cold caches, so the order changes.
fn shuffle(order: &mut [usize], dice: &mut u64) {
    for last in (1..order.len()).rev() {
        *dice ^= *dice << 13;
        *dice ^= *dice >> 7;
        *dice ^= *dice << 17;
        order.swap(last, (*dice % (last as u64 + 1)) as usize);
    }
}

/// Runs everyone `repetitions` times, one after the other, after one round that is not counted.
pub(crate) fn round_robin(bench: &Bench, repetitions: usize) -> Result<Vec<Row>, String> {
    let mut rows: Vec<Row> = bench
        .contestants
        .iter()
        .map(|contestant| Row {
            name: contestant.name,
            payload: contestant.payload,
            wait_us: Vec::with_capacity(repetitions),
            cpu_us: Vec::with_capacity(repetitions),
        })
        .collect();
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let mut dice = 0x9e37_79b9_7f4a_7c15_u64;
    for repetition in 0..=repetitions {
        shuffle(&mut order, &mut dice);
        for index in &order {
            let (Some(contestant), Some(row)) = (bench.contestants.get(*index), rows.get_mut(*index)) else {
                continue;
            };
            let (wait, cpu) = once(contestant)?;
            if repetition > 0 {
                row.wait_us.push(wait);
                row.cpu_us.push(cpu);
            }
        }
    }
    Ok(rows)
}
