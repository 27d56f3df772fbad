//! `agent-tracer serve`: takes observations in, stores them, and answers queries.
//!
//! Law: the parts stop in the reverse of the order in which they start. Intake ends first, then everything taken in is
//! written, and the ledger is closed last.

mod compactions;
mod excluded_sessions;
mod lock_watch;
mod policy_server;
mod rules;
mod server_deps;
mod start_message;
mod team;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use agent_tracer_event::Agent;
use agent_tracer_intake::tail::NamedFiles;
use agent_tracer_intake::{History, Intake, ProcessLister, Setup, Sink, StartError, Stop};
use agent_tracer_ledger::{CheckPace, Ledger, error_text};
use agent_tracer_policy::daemon::ActiveRules;
use agent_tracer_server::{Capabilities, Config, Live, ServeError, Server, owner_token};
use agent_tracer_spool::Home;
use tracing::{info, warn};

use crate::arguments::{LogFormatName, Options, Serve};
use crate::commands::maintenance;
use crate::config;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::instance::Instance;
use crate::local_time::LocalTime;
use crate::output::Output;
use crate::{
    alert_job, backup_job, client_drift, context_job, home, log, replay, retention, ship_job, signals,
    sources, store_backups,
};

/// Problem text for an interrupted purge.
const UNFINISHED_PURGE: &str = "a purge was not finished, and bytes of what it deleted may still be in the store\n\
    hint: stop the server and run any `agent-tracer purge`: it ends what was begun first";

/// A server that answers.
pub(super) struct Ready<'a> {
    /// The one-time link to its dashboard.
    pub(super) link: &'a str,
    /// The address.
    pub(super) address: SocketAddr,
    /// The home.
    home: &'a Home,
    intake: &'a Arc<Mutex<Option<Intake>>>,
}

impl Ready<'_> {
    /// Returns a look at how far the history is read; it sees nothing once the server stops.
    pub(super) fn history(&self) -> Arc<dyn Fn() -> Option<History> + Send + Sync> {
        let intake = Arc::clone(self.intake);
        Arc::new(move || {
            let intake = intake.lock().unwrap_or_else(PoisonError::into_inner);
            intake.as_ref().map(|intake| intake.state().history)
        })
    }
}

/// Greets the user of a server that answers.
pub(super) type ReadyReport<'a> = dyn FnMut(&Ready<'_>, &mut Output) -> Result<(), Failure> + 'a;

pub(super) fn run(
    arguments: &Serve,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    run_reporting(arguments, options, environment, output, &mut |ready, output| {
        start_message::lines(ready.link, ready.address, &environment.program(), ready.home)
            .iter()
            .try_for_each(|line| output.say(line))
    })
}

/// Serves, and reports the ready server in words of the caller.
pub(super) fn run_reporting(
    arguments: &Serve,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
    report_ready: &mut ReadyReport<'_>,
) -> Result<ExitCode, Failure> {
    signals::hold()?;
    let clock = sources::clock();
    log::start(&arguments.log, environment, &clock)?;
    if let Some(store) = &arguments.store {
        return team::run(arguments, store, options, environment, clock, output);
    }
    let (tracer, named) = environment.home(options.home.as_deref())?;
    let mut roots = Vec::new();
    for agent in Agent::ALL {
        roots.extend(sources::roots(*agent, &tracer, environment)?);
    }
    let mended = home::prepare(&tracer, named.is_none())?;
    // Taken before anything is opened: two servers of one home would both write its ledger.
    let mut instance = Instance::take(&tracer)?;
    let token = owner_token(&tracer.token()).map_err(|error| explained(&error))?;
    if let Some(mended) = mended {
        warn!(repair = "hash key", "{mended}");
    }
    for old in config::leftovers(&tracer).iter().filter(|old| old.is_read) {
        let name = old.path.file_name().unwrap_or_default().to_string_lossy();
        let table = old.table;
        info!(
            file = %name,
            table,
            "reading {name} in place of the table [{table}]: `agent-tracer config migrate` moves it"
        );
    }
    let privacy = Arc::new(sources::privacy(&tracer, environment)?);
    let check = CheckPace { bytes_per_second: u64::from(arguments.check_rate) << 20, ..CheckPace::default() };
    let ledger = Arc::new(sources::ledger_checked(&tracer, check)?);
    let is_purge_pending = ledger.is_purge_pending().map_err(|error| maintenance::refused(&error))?;
    let unfinished_purge = is_purge_pending.then(|| UNFINISHED_PURGE.to_owned());
    if let Some(problem) = &unfinished_purge {
        let failure = Failure::from_text(problem);
        warn!(hint = failure.hint_line(), "{}", failure.message());
    }
    let stop_upkeep = Stop::new();
    let (kept, upkeep) = retention::start(&tracer, &ledger, &clock, &stop_upkeep)?;
    let active_rules = Arc::new(ActiveRules::new(tracer.clone(), environment.main_program()));
    let lock_thread = lock_watch::start(&ledger, &instance, &stop_upkeep)?;
    let rules_thread = rules::start(&active_rules, ledger.store(), &clock, &stop_upkeep)?;
    let zone = LocalTime::of(environment);
    let context_thread = context_job::start(&tracer, ledger.store(), zone, &clock, &stop_upkeep)?;
    let (alerts, alert_thread) =
        alert_job::start(&tracer, ledger.store(), environment, &clock, &stop_upkeep)?;
    let (drift, drift_thread) = client_drift::start(&tracer, ledger.store(), &clock, &stop_upkeep)?;
    let copy_thread = backup_job::start(&tracer, &ledger, roots.clone(), &clock, &stop_upkeep)?;
    let backup_thread = store_backups::start(&tracer, &ledger, &clock, &stop_upkeep)?;
    let live = Live::new();
    {
        let (followed, live) = (live.clone(), live.clone());
        ledger.on_commit_while(
            move || followed.is_followed(),
            move |committed| {
                live.publish(&committed.rows);
                live.publish_removed(committed.seq, &committed.removed);
            },
        );
    }
    let named = NamedFiles::of_user(&roots, tracer.user());
    let shared = server_deps::Shared {
        named: named.clone(),
        ledger: Arc::clone(&ledger),
        live,
        home: tracer.clone(),
        clock: Arc::clone(&clock),
        privacy: Arc::clone(&privacy),
        intake: Arc::default(),
        kept,
        acts: Capabilities {
            backtest: Some(replay::setting(environment, sources::prices(&tracer)?)),
            compactions: Some(compactions::reader(roots.clone(), &privacy)),
        },
        active_rules,
        shipped: ship_job::Progress::default(),
        alerts,
        lock: instance.state(),
        unfinished_purge,
        drift,
    };
    let mut config = Config::new(token);
    config.listen = arguments.listen;
    config.time_zone = environment.time_zone();
    config.own_prices = sources::prices(&tracer)?.overridden() as u64;
    // The server listens before the intake starts, so that a taken port leaves the spool as it is.
    let server = start(config, &shared)?;
    instance.publish(server.address());
    let running = running(&ledger)?;
    let setup = Setup { home: tracer.clone(), roots, privacy, clock, named, running };
    let sink: Arc<dyn Sink> = Arc::<Ledger>::clone(&ledger);
    let intake = Intake::start(setup, sink).map_err(|error| not_started(&error))?;
    let policy_server = policy_server::open(&shared, &intake.drained(), environment).map_err(|error| {
        // Rules still hold: hooks then decide by themselves, without the history of the session.
        warn!(error = %error, "cannot answer hooks: {error}");
    });
    *shared.intake.lock().unwrap_or_else(PoisonError::into_inner) = Some(intake);

    let ship_thread =
        ship_job::start(&tracer, environment, &stop_upkeep, &shared.shipped).unwrap_or_else(|failure| {
            // Recording goes on, whatever a team's policy says.
            warn!(hint = failure.hint_line(), "nothing is shipped: {}", failure.message());
            None
        });

    // Made last: it is valid for some minutes only.
    let link = server.login_link().map_err(|error| explained(&error))?;
    match arguments.log.log_format {
        // A line that is not JSON would be one that a program cannot read, and the link is a secret while it works.
        LogFormatName::Json => info!(address = %server.address(), "Agent Tracer is running"),
        LogFormatName::Text => {
            let (address, intake) = (server.address(), &shared.intake);
            report_ready(&Ready { link: &link, address, home: &tracer, intake }, output)?;
        }
    }
    let signal = signals::wait()?;
    signals::release();
    info!(signal, "{signal}: stopping");
    // From here on hooks decide by themselves.
    drop(policy_server);
    // Requested of all at once, then joined: each may be in the middle of its work.
    stop_upkeep.request();
    // A thread that panicked has said so already.
    drop(upkeep.join());
    drop(lock_thread.join());
    drop(rules_thread.join());
    drop(context_thread.join());
    drop(alert_thread.join());
    drop(copy_thread.join());
    drop(backup_thread.join());
    drop(drift_thread.join());
    drop(ship_thread.map(std::thread::JoinHandle::join));
    stop(&shared.intake, server, &ledger);
    drop(instance);
    info!("stopped; new events wait in the spool");
    Ok(ExitCode::SUCCESS)
}

/// Returns the processes that ran when the last server ended: their hooks named them, and they may be gone without a
/// last event.
fn running(ledger: &Ledger) -> Result<Option<ProcessLister>, Failure> {
    let list = ledger.running().map_err(|error| explained(&error))?;
    Ok(Some(Arc::new(move || list.clone())))
}

/// Starts the server; a time zone of the system that it does not know is no reason not to.
fn start(mut config: Config, shared: &server_deps::Shared) -> Result<Server, Failure> {
    match agent_tracer_server::serve(config.clone(), shared.server_deps()) {
        Err(ServeError::NoSuchZone(_)) => {
            config.time_zone = None;
            agent_tracer_server::serve(config, shared.server_deps()).map_err(|error| explained(&error))
        }
        other => other.map_err(|error| explained(&error)),
    }
}

fn stop(intake: &Mutex<Option<Intake>>, server: Server, ledger: &Ledger) {
    let intake = intake.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(intake) = intake {
        intake.stop();
    }
    server.stop();
    ledger.close();
}

fn not_started(error: &StartError) -> Failure {
    let failure = explained(error);
    match error {
        StartError::Spool(_) => failure.hint("run `agent-tracer doctor` for details about the spool"),
        StartError::Sink(_) | StartError::Thread(_) => failure,
    }
}

/// Returns a failure from an error of another room: its text, its causes, and its hint if it has one.
fn explained(error: &dyn std::error::Error) -> Failure {
    Failure::from_text(&error_text(error))
}
