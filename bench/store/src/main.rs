//! Measures what keeping and asking costs.
//!
//! A history is made from a seed and brought to the real ledger; every question is asked with other parameters each
//! time, beside the same at a tenth of the size; then the real server takes events over HTTP beside what SQLite itself
//! allows, drains a spool, passes rows on live, and does nothing. Prints tables on standard output and, with
//! `--json FILE`, the same as JSON. The load average stands beside every number: on a machine that others use, compare
//! within a run, not between runs.

mod clients;
mod disk;
mod floors;
mod http;
mod idle;
mod live;
mod load;
mod machine;
mod queries;
mod report;
mod sample;
mod server;
mod spool;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use report::Report;
use server::Server;

/// The same as in the program that is measured.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Holds the options of the command line.
#[derive(Debug)]
struct Options {
    events: u64,
    seed: u64,
    calls: usize,
    json: Option<PathBuf>,
    /// Parent of the temporary folder of databases.
    folder: PathBuf,
    /// Folder of databases that stay; an existing one is measured as it is.
    keep: Option<PathBuf>,
    /// The program that serves; beside this one unless named.
    server: Option<PathBuf>,
    parts: Vec<String>,
}

/// Lists the measurements, in this order.
const PARTS: &[&str] = &["import", "questions", "disk", "ingest", "spool", "live", "idle"];

fn options(arguments: &[String]) -> Result<Options, String> {
    let mut options = Options {
        events: 1_000_000,
        seed: 1,
        calls: 200,
        json: None,
        folder: std::env::temp_dir(),
        keep: None,
        server: None,
        parts: PARTS.iter().map(|part| (*part).to_owned()).collect(),
    };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("`{argument}` needs a value"));
        let number = |text: &String| text.parse::<u64>().map_err(|_| format!("`{argument}` needs a number"));
        match argument.as_str() {
            "--events" => options.events = number(value()?)?.max(1_000),
            "--seed" => options.seed = number(value()?)?,
            "--calls" => options.calls = number(value()?)?.max(1) as usize,
            "--json" => options.json = Some(value()?.into()),
            "--folder" => options.folder = value()?.into(),
            "--keep" => options.keep = Some(value()?.into()),
            "--server" => options.server = Some(value()?.into()),
            "--parts" => {
                options.parts = value()?.split(',').map(str::to_owned).collect();
                if let Some(part) = options.parts.iter().find(|part| !PARTS.contains(&part.as_str())) {
                    return Err(format!("there is no part `{part}`\nhint: {}", PARTS.join(", ")));
                }
            }
            other => {
                let known = "--events N, --seed N, --calls N, --json FILE, --folder DIR, --keep DIR, --server FILE, --parts A,B";
                return Err(format!("unknown argument `{other}`\nhint: {known}"));
            }
        }
    }
    Ok(options)
}

/// The program that serves.
fn program(options: &Options) -> Result<PathBuf, String> {
    let beside = || std::env::current_exe().ok().map(|own| own.with_file_name("agent-tracer"));
    let program = options.server.clone().or_else(beside).filter(|program| program.is_file());
    program.ok_or_else(|| {
        "there is no server to measure\nhint: build it with `cargo build --release -p agent-tracer-cli`, or name it with `--server`".to_owned()
    })
}

fn measure(options: &Options, report: &mut Report) -> Result<(), String> {
    let wants = |part: &str| options.parts.iter().any(|wanted| wanted == part);
    let temporary = tempfile::Builder::new()
        .prefix("bench-store-")
        .tempdir_in(&options.folder)
        .map_err(|error| format!("cannot make a folder in `{}`: {error}", options.folder.display()))?;
    let folder = |name: &str| -> Result<PathBuf, String> {
        let path = match (&options.keep, name) {
            (Some(kept), "full" | "tenth") => kept.join(name),
            _ => temporary.path().join(name),
        };
        std::fs::create_dir_all(&path)
            .map_err(|error| format!("cannot make `{}`: {error}", path.display()))?;
        Ok(path)
    };
    let full = folder("full")?;
    if wants("import") || wants("questions") {
        import(options, &full, &folder("tenth")?, wants("questions"), report)?;
    }
    if wants("spool") {
        spool::measure(&folder("spool")?, report)?;
    }
    if wants("disk") {
        disk::measure(&program(options)?, &folder("disk")?, &folder("disk-floor")?, report)?;
    }
    if wants("idle") {
        let server = Server::start(&program(options)?, &folder("fresh")?)?;
        idle::measure(&server, "fresh", 40.0, report)?;
    }
    if wants("ingest") || wants("live") || wants("idle") {
        let server = Server::start(&program(options)?, &full)?;
        if wants("live") {
            live::measure(&server, report)?;
        }
        if wants("ingest") {
            http::measure(&server, &folder("floors")?, report)?;
        }
        if wants("idle") {
            idle::measure(&server, "after the load", 150.0, report)?;
        }
    }
    Ok(())
}

/// Fills the ledger, and asks it everything beside one of a tenth of its size.
fn import(
    options: &Options,
    full: &Path,
    tenth: &Path,
    ask: bool,
    report: &mut Report,
) -> Result<(), String> {
    let before = if ask {
        let small = load::load(&tenth.join("ledger.db"), options.events / 10, options.seed, report)?;
        queries::ask(&small.ledger.store(), small.events, options.seed, options.calls)?
    } else {
        Vec::new()
    };
    let loaded = load::load(&full.join("ledger.db"), options.events, options.seed, report)?;
    if let Some(fading) = loaded.fading {
        let what =
            format!("the last tenth is written at {fading:.2} x the speed of the first (at least 0.75)");
        report.judge("I3", &what, fading >= 0.75);
    }
    if ask {
        let rows = queries::ask(&loaded.ledger.store(), loaded.events, options.seed, options.calls)?;
        queries::report(&rows, &before, loaded.events, report);
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut report = Report::default();
    let outcome = options(&arguments).and_then(|options| {
        measure(&options, &mut report)?;
        report.end(options.json.as_deref())
    });
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            report::complain(&message);
            ExitCode::from(2)
        }
    }
}
