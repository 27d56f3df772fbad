//! Ships a ledger through a real server into the engine, and tells what each tenth of the way took.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use agent_tracer_event::Millis;
use agent_tracer_fleet::clickhouse::{Fleet, TokenScope};
use agent_tracer_fleet::team::{Team, token};
use agent_tracer_server::{Config, Provider, draw_token, serve};
use serde_json::json;

use crate::direct::Direct;
use crate::report::Report;
use crate::shipper::{self, Progress};
use crate::{machine, process};

fn clock() -> Provider<Millis> {
    Arc::new(|| Millis(i64::try_from(machine::now().as_millis()).unwrap_or(i64::MAX)))
}

/// Tells of tenths as they are done.
struct Tenths {
    done: u64,
    last: Progress,
}

impl Tenths {
    fn tell(&mut self, progress: &Progress, report: &mut Report) {
        let tenth = (progress.until * 10).checked_div(progress.newest).unwrap_or(10);
        if tenth <= self.done {
            return;
        }
        let (rows, seconds) = (progress.rows - self.last.rows, progress.seconds - self.last.seconds);
        let each = rows as f64 / seconds.max(1e-9);
        let load = machine::load();
        report.line(&format!(
            "  up to {tenth:>2} tenths: {rows} rows in {seconds:.1} s, {each:.0} rows/s (load {load:.1})"
        ));
        report.keep(
            "tenths",
            json!({ "tenth": tenth, "rows": rows, "seconds": seconds, "rowsEachSecond": each, "load": load }),
        );
        (self.done, self.last) = (tenth, *progress);
    }
}

/// Holds the destination.
pub(crate) struct Target<'run> {
    pub(crate) fleet: &'run Arc<Fleet>,
    pub(crate) direct: &'run Direct,
    /// The process of the engine, if it is one of this machine.
    pub(crate) engine: Option<u32>,
}

/// Ships everything, or as much as there is time for; gives whether that is everything.
pub(crate) fn ship(
    ledger: &Path,
    folder: &Path,
    &Target { fleet, direct, engine }: &Target<'_>,
    minutes: Option<u64>,
    report: &mut Report,
) -> Result<bool, String> {
    let text = |error: &dyn std::error::Error| error.to_string();
    let random = draw_token().map_err(|error| text(&error))?;
    let now = i64::try_from(machine::now().as_millis()).unwrap_or(0);
    let (made, secret) = token::make("bench", TokenScope::Ingest, &random, now, None);
    // The server learns its tokens when it starts.
    fleet.put_token(&made, now).map_err(|error| text(&error))?;
    let team = Team::start(Arc::clone(fleet), clock()).map_err(|error| text(&error))?;
    let mut config = Config::new(draw_token().map_err(|error| text(&error))?);
    config.listen.set_port(0);
    let server = serve(config, team.deps(Arc::new(|_| None))).map_err(|error| text(&error))?;
    let work = direct.work()?;
    process::forget_peak();
    let me = std::process::id();
    let before = (process::cpu_seconds(me), engine.map_or(0.0, process::cpu_seconds));
    let program = std::env::current_exe().map_err(|error| text(&error))?;
    let mut command = Command::new(program);
    command.args(["--role", "shipper", "--to", &format!("http://{}", server.address())]);
    command.arg("--ledger").arg(ledger).arg("--cursor").arg(folder.join("ship.json"));
    command.args(minutes.into_iter().flat_map(|minutes| ["--minutes".to_owned(), minutes.to_string()]));
    let mut child = command
        .env(shipper::TOKEN, &secret)
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start the shipper: {error}"))?;
    let mut tenths = Tenths { done: 0, last: Progress::default() };
    let mut progress = Progress::default();
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).lines() {
            let line = line.map_err(|error| text(&error))?;
            progress = serde_json::from_str(&line).map_err(|error| format!("`{line}`: {error}"))?;
            tenths.tell(&progress, report);
        }
    }
    let ended = child.wait().map_err(|error| text(&error))?;
    if !ended.success() {
        return Err(format!("the shipper ended with {ended}"));
    }
    let cpu = (process::cpu_seconds(me) - before.0, engine.map_or(0.0, process::cpu_seconds) - before.1);
    let peaks = (machine::memory_mb(me).1, engine.map_or(f64::NAN, |pid| machine::memory_mb(pid).1));
    let each = |whole: f64| whole * 1e6 / progress.rows.max(1) as f64;
    report.line(&format!(
        "  ship through the server: {} rows in {:.1} s, {:.0} rows/s, {:.0} bytes a row on the wire (load {:.1})",
        progress.rows,
        progress.seconds,
        progress.rows as f64 / progress.seconds.max(1e-9),
        progress.bytes as f64 / progress.rows.max(1) as f64,
        machine::load()
    ));
    report.line(&format!(
        "  processor time a row: shipper {:.0} us, server {:.0} us, engine {:.0} us with merges",
        each(progress.cpu_seconds),
        each(cpu.0),
        each(cpu.1)
    ));
    let work = direct.work()?.since(work);
    report.line(&format!(
        "  time a row in the engine, by its own count: inserts {:.0} us, merges {:.0} us, questions of the server {:.0} us \
         (sums of days are of both)",
        each(work.inserts),
        each(work.merges),
        each(work.questions)
    ));
    report.line(&format!(
        "  highest memory: shipper {:.0} MB, server {:.0} MB, engine {:.0} MB",
        progress.peak_mb, peaks.0, peaks.1
    ));
    report.keep(
        "ship",
        json!({
            "rows": progress.rows, "facts": progress.facts, "seconds": progress.seconds, "wireBytes": progress.bytes,
            "until": progress.until, "newest": progress.newest, "load": machine::load(),
            "engineSeconds": { "inserts": work.inserts, "merges": work.merges, "questions": work.questions },
            "cpuSeconds": { "shipper": progress.cpu_seconds, "server": cpu.0, "engine": cpu.1 },
            "peakMb": { "shipper": progress.peak_mb, "server": peaks.0, "engine": peaks.1 },
        }),
    );
    server.stop();
    team.stop();
    Ok(progress.until == progress.newest)
}
