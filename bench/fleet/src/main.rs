//! Measures a team's store beside the embedded one.
//!
//! A history is made from a seed and brought to a ledger; a real server, on the engine that `--store` names or on one that
//! is started here, takes all of it as shipments over HTTP; then both stores are asked the same questions. Prints tables,
//! and with `--json FILE` the same as JSON. The load average stands beside every number.

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

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::Instant;

use agent_tracer_clickhouse::{Fleet, Place, Reader, TokenScope};
use agent_tracer_event::Millis;
use agent_tracer_ledger::{Batch, Ledger, Options as LedgerOptions, Outbox, Store};
use agent_tracer_prices::Prices;
use agent_tracer_server::{Ask, Config, draw_token, serve};
use agent_tracer_ship::{Cursor, Http, Policy, Shipper, Step, Target};
use agent_tracer_team::{Team, token};
use agent_tracer_testkit::history::History;
use report::{Report, complain};
use serde_json::json;

/// The same as in the program that is measured.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Observations that are brought to the ledger at once.
const AT_ONCE: usize = 2_000;

/// What the command line asked for.
struct Options {
    events: u64,
    calls: usize,
    store: Option<String>,
    tools: PathBuf,
    json: Option<PathBuf>,
    folder: PathBuf,
}

fn options(arguments: &[String]) -> Result<Options, String> {
    let mut options = Options {
        events: 100_000,
        calls: 20,
        store: None,
        tools: PathBuf::from("target/tools/clickhouse"),
        json: None,
        folder: std::env::temp_dir(),
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
            _ => {
                return Err(format!(
                    "`{word}` is not known\nhint: --events N, --calls N, --store URL, --tools DIR, --folder DIR, --json FILE"
                ));
            }
        }
    }
    Ok(options)
}

/// An engine that ends with this process.
struct Engine {
    child: Child,
    _input: Option<ChildStdin>,
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn start_engine(tools: &Path, folder: &Path) -> Result<(Engine, String), String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/clickhouse/engine");
    let fail = |error: std::io::Error| {
        format!(
            "cannot start the engine: {error}\nhint: `scripts/fetch-clickhouse {}` fetches it",
            tools.display()
        )
    };
    let mut child = Command::new(tools.join("bin/python"))
        .arg(script)
        .arg(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(fail)?;
    let mut line = String::new();
    if let Some(stdout) = child.stdout.take() {
        BufReader::new(stdout).read_line(&mut line).map_err(fail)?;
    }
    let port = line.trim().strip_prefix("listening ").unwrap_or_default().to_owned();
    let engine = Engine { _input: child.stdin.take(), child };
    match port.is_empty() {
        true => Err(format!("the engine did not start: `{line}`")),
        false => Ok((engine, format!("clickhouse://127.0.0.1:{port}/bench_fleet"))),
    }
}

fn load(path: &Path, events: u64, report: &mut Report) -> Result<(Ledger, u64), String> {
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
    report.line(&format!(
        "  ledger: {brought} events in {:.1} s (load {:.1})",
        start.elapsed().as_secs_f64(),
        machine::load()
    ));
    Ok((ledger, brought))
}

/// Ships everything through a real server; gives facts and seconds.
fn ship(folder: &Path, fleet: &Arc<Fleet>, report: &mut Report) -> Result<(u64, f64), String> {
    let clock: Ask<Millis> =
        Arc::new(|| Millis(i64::try_from(machine::now().as_millis()).unwrap_or(i64::MAX)));
    let team = Team::start(Arc::clone(fleet), clock).map_err(|error| error.to_string())?;
    let mut config = Config::new(draw_token().map_err(|error| error.to_string())?);
    config.listen.set_port(0);
    let random = draw_token().map_err(|error| error.to_string())?;
    let now = i64::try_from(machine::now().as_millis()).unwrap_or(0);
    let (made, secret) = token::make("bench", TokenScope::Ingest, &random, now, None);
    fleet.put_token(&made, now).map_err(|error| error.to_string())?;
    // The server learns its tokens when it starts.
    drop(team);
    let clock: Ask<Millis> =
        Arc::new(|| Millis(i64::try_from(machine::now().as_millis()).unwrap_or(i64::MAX)));
    let team = Team::start(Arc::clone(fleet), clock).map_err(|error| error.to_string())?;
    let server = serve(config, team.doors(Arc::new(|_| None))).map_err(|error| error.to_string())?;
    let outbox = Outbox::open(&folder.join("ledger.db"), Arc::new(Prices::embedded()))
        .map_err(|error| error.to_string())?;
    let target =
        Target::new(&format!("http://{}", server.address()), &secret).map_err(|error| error.to_string())?;
    let cursor = Cursor::open(&folder.join("ship.json"), target.url()).map_err(|error| error.to_string())?;
    let policy = Policy::parse("level = \"full\"", None).map_err(|error| error.to_string())?;
    let mut shipper = Shipper::new(outbox, policy, cursor, Box::new(Http::new(target)));
    let (start, mut facts, mut rows, mut bytes) = (Instant::now(), 0, 0, 0);
    while let Step::Sent(sent) = shipper.step().map_err(|error| error.to_string())? {
        facts += sent.facts;
        rows += sent.facts + sent.tasks;
        bytes += sent.bytes;
    }
    let seconds = start.elapsed().as_secs_f64();
    report.line(&format!(
        "  ship through the server: {rows} rows in {seconds:.1} s, {:.0} rows/s, {:.0} bytes a row on the wire (load {:.1})",
        rows as f64 / seconds,
        bytes as f64 / rows.max(1) as f64,
        machine::load()
    ));
    report.keep(
        "ship",
        json!({ "rows": rows, "seconds": seconds, "wireBytes": bytes, "load": machine::load() }),
    );
    server.stop();
    team.stop();
    Ok((facts, seconds))
}

fn measure(options: &Options, report: &mut Report) -> Result<(), String> {
    let folder = tempfile::Builder::new()
        .prefix("bench-fleet-")
        .tempdir_in(&options.folder)
        .map_err(|error| format!("cannot make a folder: {error}"))?;
    let started = match &options.store {
        Some(_) => None,
        None => Some(start_engine(&options.tools, &folder.path().join("engine"))?),
    };
    let address = match (&options.store, &started) {
        (Some(store), _) => store.clone(),
        (None, Some((_, address))) => address.clone(),
        (None, None) => return Err("there is no store".to_owned()),
    };
    let place = Place::parse(&address).ok_or_else(|| format!("`{address}` is no store"))?;
    let fleet = Arc::new(Fleet::new(place).map_err(|error| error.to_string())?);
    fleet.migrate().map_err(|error| error.to_string())?;
    report.title(&format!("{} events", options.events));
    let path = folder.path().join("ledger.db");
    let (ledger, events) = load(&path, options.events, report)?;
    ship(folder.path(), &fleet, report)?;
    let store: Arc<dyn Store> = Arc::new(Reader::everybody(Arc::clone(&fleet)));
    let health = store.health().map_err(|error| error.to_string())?;
    let here = ledger.store().health().map_err(|error| error.to_string())?;
    if (health.events, health.tasks) != (here.events, here.tasks) {
        return Err(format!("{} rows arrived of {}", health.events, here.events));
    }
    report.title(&format!("questions, ms (load {:.1})", machine::load()));
    let embedded = queries::ask(&ledger.store(), events, 1, options.calls)?;
    let fleet_rows = queries::ask(&store, events, 1, options.calls)?;
    report.line(&format!(
        "  {:<24} {:>10} {:>10} {:>12} {:>12}",
        "", "SQLite p50", "p95", "ClickHouse p50", "p95"
    ));
    for (one, two) in embedded.iter().zip(&fleet_rows) {
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
    // Closed, so that what only waits in the log of the database is not counted.
    ledger.close();
    let (sqlite, clickhouse) = (machine::database_size(&path), health.bytes);
    let each = |bytes: u64| bytes as f64 / events.max(1) as f64;
    report.line(&format!(
        "  bytes per event on disk: SQLite {:.0} (entries, facts, sums and search), ClickHouse {:.0} (facts and search); {:.2} rows an event",
        each(sqlite),
        each(clickhouse),
        health.events as f64 / events.max(1) as f64
    ));
    report.keep(
        "bytes",
        json!({ "events": events, "rows": health.events, "tasks": health.tasks, "sqlite": sqlite, "clickhouse": clickhouse }),
    );
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut report = Report::default();
    let done = options(&arguments)
        .and_then(|options| measure(&options, &mut report).map(|()| options))
        .and_then(|options| report.end(options.json.as_deref()));
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            complain(&message);
            ExitCode::FAILURE
        }
    }
}
