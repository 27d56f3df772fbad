//! Measures a team's store beside the embedded one.
//!
//! A history is made from a seed and brought to a ledger, or with `--keep` a ledger is used that `bench-store --keep` made
//! (and only read: what shipping remembers is kept elsewhere); a real server, on the engine that `--store` names or on one
//! that is started here, takes all of it as shipments over HTTP; then both stores are asked the same questions. Prints
//! tables, and with `--json FILE` the same as JSON. The load average stands beside every number.

mod direct;
mod engine;
mod process;
mod shipper;
mod shipping;

#[path = "../../store/src/machine.rs"]
#[expect(dead_code, reason = "shared with the bench of the embedded store")]
mod machine;
#[path = "../../store/src/queries.rs"]
#[expect(dead_code, reason = "shared with the bench of the embedded store")]
mod queries;
#[path = "../../store/src/report.rs"]
mod report;
#[path = "../../store/src/sample.rs"]
mod sample;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent_tracer_fleet::clickhouse::{Fleet, Reader, RollupDelays, StoreAddress};
use agent_tracer_ledger::{Batch, Ledger, Options as LedgerOptions, Store, open_read_only};
use agent_tracer_testkit::history::History;
use direct::Direct;
use engine::Engine;
use report::{Report, complain};
use serde_json::json;
use shipper::Order;

/// The same as in the program that is measured.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Observations that are brought to the ledger at once.
const AT_ONCE: usize = 2_000;

/// Longest wait for merges before bytes are counted.
const SETTLING: Duration = Duration::from_secs(300);

/// Holds the options of the command line.
struct Options {
    events: u64,
    calls: usize,
    store: Option<String>,
    tools: PathBuf,
    json: Option<PathBuf>,
    folder: PathBuf,
    /// A ledger that is there already, of so many events as `events` says.
    keep: Option<PathBuf>,
    minutes: Option<u64>,
    /// Set if the store is complete already, from an earlier run.
    is_shipped: bool,
    /// So many owners have the same history in the end.
    owners: u64,
    role: Option<String>,
    order: Order,
}

fn options(arguments: &[String]) -> Result<Options, String> {
    let mut options = Options {
        events: 100_000,
        calls: 20,
        store: None,
        tools: PathBuf::from("target/tools/clickhouse"),
        json: None,
        folder: std::env::temp_dir(),
        keep: None,
        minutes: None,
        is_shipped: false,
        owners: 1,
        role: None,
        order: Order::default(),
    };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("`{word}` needs a value"));
        let number = |text: &String| text.parse::<u64>().map_err(|_| format!("`{text}` is no number"));
        match word.as_str() {
            "--events" => options.events = number(value()?)?,
            "--calls" => options.calls = usize::try_from(number(value()?)?).unwrap_or(20),
            "--store" => options.store = Some(value()?.clone()),
            "--tools" => options.tools = PathBuf::from(value()?),
            "--json" => options.json = Some(PathBuf::from(value()?)),
            "--folder" => options.folder = PathBuf::from(value()?),
            "--keep" => options.keep = Some(PathBuf::from(value()?)),
            "--minutes" => options.minutes = Some(number(value()?)?),
            "--shipped" => options.is_shipped = true,
            "--owners" => options.owners = number(value()?)?.max(1),
            "--role" => options.role = Some(value()?.clone()),
            "--ledger" => options.order.ledger = PathBuf::from(value()?),
            "--cursor" => options.order.cursor = PathBuf::from(value()?),
            "--to" => options.order.to.clone_from(value()?),
            _ => {
                return Err(format!(
                    "`{word}` is not known\nhint: --events N, --calls N, --store URL, --tools DIR, --folder DIR, --keep DIR (a \
                     ledger of `bench-store --keep`, with its --events), --minutes N (of shipping), --shipped (ask a store that an earlier run \
                     filled), --owners N (who have the same history in the end), --json FILE"
                ));
            }
        }
    }
    options.order.minutes = options.minutes;
    Ok(options)
}

fn load(path: &Path, events: u64, report: &mut Report) -> Result<(), String> {
    let ledger = Ledger::open(path, LedgerOptions::default()).map_err(|error| error.to_string())?;
    let mut history = History::new(events, 1).timed(machine::thread_cpu);
    let (start, mut brought) = (Instant::now(), 0_u64);
    loop {
        let observed = history.batch(AT_ONCE);
        if observed.is_empty() {
            break;
        }
        brought += observed.len() as u64;
        ledger.append(Batch { observed, ..Batch::default() }).map_err(|error| error.to_string())?;
    }
    ledger.finish_search().map_err(|error| error.to_string())?;
    // Closed, so that what only waits in the log of the database is not counted.
    ledger.close();
    report.line(&format!(
        "  ledger: {brought} events in {:.1} s (load {:.1})",
        start.elapsed().as_secs_f64(),
        machine::load()
    ));
    Ok(())
}

fn measure(options: &Options, report: &mut Report) -> Result<(), String> {
    let folder = tempfile::Builder::new()
        .prefix("bench-fleet-")
        .tempdir_in(&options.folder)
        .map_err(|error| format!("cannot make a folder: {error}"))?;
    let started = match &options.store {
        Some(_) => None,
        None => Some(Engine::start(&options.tools, &folder.path().join("engine"))?),
    };
    let address = match (&options.store, &started) {
        (Some(store), _) => store.clone(),
        (None, Some((_, address))) => address.clone(),
        (None, None) => return Err("there is no store".to_owned()),
    };
    let engine = started.as_ref().map(|(engine, _)| engine.pid());
    let place = StoreAddress::parse(&address).ok_or_else(|| format!("`{address}` is no store"))?;
    let direct = Direct::new(&place)?;
    let fleet = Arc::new(Fleet::new(place).map_err(|error| error.to_string())?);
    fleet.migrate().map_err(|error| error.to_string())?;
    report.title(&format!("{} events", options.events));
    let path = match &options.keep {
        Some(kept) => kept.join("ledger.db"),
        None => folder.path().join("ledger.db"),
    };
    if options.keep.is_none() {
        load(&path, options.events, report)?;
    }
    let is_all = match options.is_shipped {
        true => true,
        false => {
            let store = shipping::Target { fleet: &fleet, direct: &direct, engine };
            shipping::ship(&path, folder.path(), &store, options.minutes, report)?
        }
    };
    days(&fleet, engine, report)?;
    let embedded = open_read_only(&path).map_err(|error| error.to_string())?;
    let store: Arc<dyn Store> = Arc::new(Reader::of_all_owners(Arc::clone(&fleet)));
    bytes(&path, embedded.as_ref(), store.as_ref(), &fleet, (options.events, is_all), report)?;
    questions(options, &embedded, &store, report)?;
    if options.owners > 1 {
        multiply(options, (&fleet, &direct), engine, report)?;
        questions(options, &embedded, &store, report)?;
    }
    if let Some(pid) = engine {
        report.line(&format!(
            "  highest memory of the engine after the questions: {:.0} MB",
            machine::memory_mb(pid).1
        ));
    }
    Ok(())
}

/// Gives the history to more owners, within the engine.
fn multiply(
    options: &Options,
    (fleet, direct): (&Fleet, &Direct),
    engine: Option<u32>,
    report: &mut Report,
) -> Result<(), String> {
    let begun = Instant::now();
    for owner in 1..options.owners {
        direct.copy_owner("bench", &format!("bench-{owner}"))?;
    }
    report.title(&format!(
        "the same for {} owners, {} events in all: copied in {:.0} s",
        options.owners,
        options.events * options.owners,
        begun.elapsed().as_secs_f64()
    ));
    fleet.mark_all_days().map_err(|error| error.to_string())?;
    days(fleet, engine, report)?;
    settle(fleet)?;
    for table in fleet.disk_usage().map_err(|error| error.to_string())? {
        report.line(&format!(
            "  {:<10} {:>10} rows with older versions, {:>4} parts, {:>12} bytes",
            table.table, table.rows, table.parts, table.bytes
        ));
    }
    Ok(())
}

/// Makes the sums of days that are over, as a server does beside its other work. Here no writer is active: nothing is
/// waited for.
fn days(fleet: &Fleet, engine: Option<u32>, report: &mut Report) -> Result<(), String> {
    let (begun, before) = (Instant::now(), engine.map_or(0.0, process::cpu_seconds));
    let made = fleet
        .make_days(RollupDelays { closes_ms: 0, grace_ms: 0 }, &|| true)
        .map_err(|error| error.to_string())?;
    let cpu = engine.map_or(0.0, process::cpu_seconds) - before;
    let seconds = begun.elapsed().as_secs_f64();
    report.line(&format!(
        "  sums of {} closed days made in {seconds:.1} s, {cpu:.1} s of the engine's processor time (load {:.1})",
        made.closed + made.again,
        machine::load()
    ));
    report.keep("days", json!({ "days": made.closed + made.again, "seconds": seconds, "cpuSeconds": cpu }));
    Ok(())
}

/// Waits until no merge runs; gives the seconds.
#[expect(clippy::disallowed_methods, reason = "the engine does not report the end of a merge")]
fn settle(fleet: &Fleet) -> Result<f64, String> {
    let begun = Instant::now();
    while fleet.merges().map_err(|error| error.to_string())? > 0 && begun.elapsed() < SETTLING {
        std::thread::sleep(Duration::from_secs(1));
    }
    Ok(begun.elapsed().as_secs_f64())
}

/// Counts rows and bytes of both, once merges have settled.
fn bytes(
    path: &Path,
    embedded: &dyn Store,
    store: &dyn Store,
    fleet: &Fleet,
    (events, is_all): (u64, bool),
    report: &mut Report,
) -> Result<(), String> {
    let settled = settle(fleet)?;
    let (there, here) = (
        store.health().map_err(|error| error.to_string())?,
        embedded.health().map_err(|error| error.to_string())?,
    );
    if is_all && (there.events, there.tasks) != (here.events, here.tasks) {
        return Err(format!(
            "{} rows of {} tasks arrived of {} rows of {} tasks",
            there.events, there.tasks, here.events, here.tasks
        ));
    }
    let tables = fleet.disk_usage().map_err(|error| error.to_string())?;
    for table in &tables {
        report.line(&format!(
            "  {:<10} {:>10} rows with older versions, {:>4} parts, {:>12} bytes",
            table.table, table.rows, table.parts, table.bytes
        ));
    }
    let sqlite = machine::database_size(path);
    let events = events.max(1) as f64;
    // What has not arrived is not on that disk.
    let share = there.events as f64 / here.events.max(1) as f64;
    report.line(&format!(
        "  bytes an event on disk: SQLite {:.0} (entries, facts, sums and search), ClickHouse {:.0} (facts and search); \
         {:.2} rows an event; merges settled within {settled:.0} s (load {:.1})",
        sqlite as f64 / events,
        there.bytes as f64 / (events * share).max(1.0),
        here.events as f64 / events,
        machine::load()
    ));
    report.keep(
        "bytes",
        json!({
            "events": events, "entries": here.entries, "rows": there.events, "tasks": there.tasks, "isAll": is_all,
            "sqlite": sqlite, "clickhouse": there.bytes, "settledSeconds": settled,
        }),
    );
    Ok(())
}

fn questions(
    options: &Options,
    embedded: &Arc<dyn Store>,
    store: &Arc<dyn Store>,
    report: &mut Report,
) -> Result<(), String> {
    report.title(&format!("questions, ms (load {:.1})", machine::load()));
    let here = queries::ask(embedded, options.events, 1, options.calls)?;
    let there = queries::ask(store, options.events, 1, options.calls)?;
    report.line(&format!(
        "  {:<24} {:>10} {:>10} {:>12} {:>12}",
        "", "SQLite p50", "p95", "ClickHouse p50", "p95"
    ));
    for (one, two) in here.iter().zip(&there) {
        report.line(&format!(
            "  {:<24} {:>10.2} {:>10.2} {:>12.1} {:>12.1}",
            one.name,
            one.sample.p50(),
            one.sample.p95(),
            two.sample.p50(),
            two.sample.p95()
        ));
        report.keep(
            "questions",
            json!({ "name": one.name, "sqlite": one.sample.json(), "clickhouse": two.sample.json() }),
        );
    }
    report.line(&format!("  (load {:.1} at the end)", machine::load()));
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut report = Report::default();
    let done = options(&arguments).and_then(|options| match options.role.as_deref() {
        Some("shipper") => shipper::run(&options.order).map(|()| true),
        Some(role) => Err(format!("`{role}` is no role")),
        None => measure(&options, &mut report).and_then(|()| report.end(options.json.as_deref())),
    });
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            complain(&message);
            ExitCode::FAILURE
        }
    }
}
