//! The shipper as a process of its own, so that its memory and its processor time are its own: `bench-fleet --role
//! shipper`. It tells after every step, in one line of JSON, how far it is.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent_tracer_fleet::ship::{Cursor, Http, Policy, Shipper, Step, Target};
use agent_tracer_ledger::Outbox;
use agent_tracer_prices::Prices;
use serde::{Deserialize, Serialize};

use crate::process;

/// Variable with its token: every user can read a command line.
pub(crate) const TOKEN: &str = "BENCH_FLEET_TOKEN";

/// Holds its task.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    pub(crate) ledger: PathBuf,
    pub(crate) to: String,
    pub(crate) cursor: PathBuf,
    /// It stops then, wherever it is.
    pub(crate) minutes: Option<u64>,
}

/// Holds its progress.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Progress {
    /// The newest place of the ledger.
    pub(crate) newest: u64,
    pub(crate) until: u64,
    pub(crate) facts: u64,
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
    pub(crate) seconds: f64,
    pub(crate) cpu_seconds: f64,
    pub(crate) peak_mb: f64,
}

/// Ships until everything is there, or its time is over.
pub(crate) fn run(order: &Order) -> Result<(), String> {
    let text = |error: &dyn std::error::Error| error.to_string();
    let outbox = Outbox::open(&order.ledger, Arc::new(Prices::embedded())).map_err(|error| text(&error))?;
    let newest = outbox.newest().map_err(|error| text(&error))?;
    let token = std::env::var(TOKEN).unwrap_or_default();
    let target = Target::new(&order.to, &token).map_err(|error| text(&error))?;
    let cursor = Cursor::open(&order.cursor, target.url()).map_err(|error| text(&error))?;
    let policy = Policy::parse("level = \"full\"", None).map_err(|error| text(&error))?;
    let mut shipper =
        Shipper::new(outbox, policy, cursor, Box::new(Http::new(target, ureq::tls::RootCerts::WebPki)));
    let (start, me) = (Instant::now(), std::process::id());
    let most = order.minutes.map(|minutes| Duration::from_secs(60 * minutes));
    let mut progress = Progress { newest, ..Progress::default() };
    while most.is_none_or(|most| start.elapsed() < most) {
        let Step::Sent(sent) = shipper.step().map_err(|error| text(&error))? else { break };
        progress.until = sent.until;
        progress.facts += sent.facts;
        progress.rows += sent.facts + sent.tasks;
        progress.bytes += sent.bytes;
        progress.seconds = start.elapsed().as_secs_f64();
        progress.cpu_seconds = process::cpu_seconds(me);
        progress.peak_mb = crate::machine::memory_mb(me).1;
        let line = serde_json::to_string(&progress).map_err(|error| text(&error))?;
        writeln!(std::io::stdout(), "{line}").map_err(|error| text(&error))?;
    }
    Ok(())
}
