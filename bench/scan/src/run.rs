//! Starts every contestant in turn, each in a process of its own, and takes down what it cost.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};

use crate::ccusage;
use crate::contestants::{Answer, Mode};

/// Holds the cost of one contestant, one entry per round.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) says: &'static str,
    pub(crate) wall_s: Vec<f64>,
    pub(crate) cpu_s: Vec<f64>,
    pub(crate) answer: Answer,
}

/// CPU time of all children so far in seconds. They run one at a time, so a difference is one child's own.
fn children_cpu_s() -> f64 {
    getrusage(UsageWho::RUSAGE_CHILDREN).map_or(0.0, |usage| {
        let seconds = |time: TimeVal| time.num_microseconds() as f64 / 1e6;
        seconds(usage.user_time()) + seconds(usage.system_time())
    })
}

/// The largest resident set of any child so far, in kilobytes.
fn children_peak_kb() -> u64 {
    getrusage(UsageWho::RUSAGE_CHILDREN).map_or(0, |usage| u64::try_from(usage.max_rss()).unwrap_or(0))
}

fn once(mut command: Command, name: &str) -> Result<(f64, f64, Vec<u8>), String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let before = children_cpu_s();
    let start = Instant::now();
    let output = command.output().map_err(|error| format!("cannot run `{name}`: {error}"))?;
    let wall = start.elapsed().as_secs_f64();
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("`{name}` ended with {}: {}", output.status, said.trim()));
    }
    Ok((wall, children_cpu_s() - before, output.stdout))
}

/// Runs everyone `rounds` times, one after the other, after one round that is not counted.
pub(crate) fn round_robin(
    home: &Path,
    rounds: usize,
    threads: usize,
    peer: Option<&Path>,
) -> Result<Vec<Row>, String> {
    let own = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    let mut rows: Vec<Row> = Mode::ALL.iter().map(|mode| row(mode.name(), mode.says())).collect();
    let mut rival = row("ccusage", "peer: daily report, offline");
    for round in 0..=rounds {
        for (mode, row) in Mode::ALL.iter().zip(&mut rows) {
            let mut command = Command::new(&own);
            command.args(["--child", mode.name()]).arg(home).arg(threads.to_string());
            let (wall, cpu, said) = once(command, mode.name())?;
            row.answer = serde_json::from_slice(&said)
                .map_err(|error| format!("cannot understand the answer of `{}`: {error}", mode.name()))?;
            if round > 0 {
                row.wall_s.push(wall);
                row.cpu_s.push(cpu);
            }
        }
        if let Some(program) = peer {
            let before = children_peak_kb();
            let (wall, cpu, said) = once(ccusage::command(program, home), "ccusage")?;
            rival.answer = ccusage::answer(&said)?;
            // Only a new maximum is surely the peer's; it has the largest by far.
            rival.answer.peak_kb = children_peak_kb().max(before);
            if round > 0 {
                rival.wall_s.push(wall);
                rival.cpu_s.push(cpu);
            }
        }
    }
    if peer.is_some() {
        rows.push(rival);
    }
    Ok(rows)
}

fn row(name: &'static str, says: &'static str) -> Row {
    Row { name, says, wall_s: Vec::new(), cpu_s: Vec::new(), answer: Answer::default() }
}
