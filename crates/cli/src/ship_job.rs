//! Ships from this machine: the files in its home, a thread, and the pauses between attempts.
//!
//! Law: what may leave is read anew at every start, and where it cannot be read nothing leaves.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use agent_tracer_fleet::ship::{Backoff, Cursor, Http, Policy, SendCounts, Settings, Shipper, Step, Target};
use agent_tracer_intake::Stop;
use agent_tracer_ledger::view::ShipHealth;
use agent_tracer_ledger::{Outbox, error_text};
use agent_tracer_spool::Home;
use tracing::warn;

use crate::config::{self, Form, OldFile, Section};
use crate::environment::Environment;
use crate::failure::{Failure, plain};
use crate::http::TrustStore;
use crate::{files, sources};

/// Pause between two checks for new events.
const PAUSE: Duration = Duration::from_secs(2);

/// The most bytes of a policy or a token.
const FILE_BYTES: usize = 1 << 20;

/// Returns the path of the progress file.
pub(crate) fn cursor_path(home: &Home) -> PathBuf {
    home.data().join("ship.json")
}

impl Section for Settings {
    const NAME: &'static str = "ship";
    const OLD_FILE: OldFile = OldFile { name: "ship.toml", form: Form::Toml };
    const HINT: &'static str = "correct the line; nothing leaves until then";
}

fn read(path: &Path) -> Result<Option<String>, Failure> {
    let Some(bytes) = files::read_own(path, FILE_BYTES)? else { return Ok(None) };
    let text = String::from_utf8(bytes);
    text.map(Some).map_err(|_| Failure::new(format!("cannot read `{}`: it is not UTF-8", path.display())))
}

/// Returns a failure from an error of the room that ships.
pub(crate) fn failure_of(error: &dyn std::error::Error) -> Failure {
    Failure::from_text(&error_text(error))
}

/// Returns the policy: that of a named file, which must exist, or the table `[ship]`, which need not.
pub(crate) fn policy(
    home: &Home,
    environment: &Environment,
    named: Option<&Path>,
) -> Result<Policy, Failure> {
    let user = environment.user_home().ok();
    let user = user.as_ref().map(|user| user.as_os_str().as_encoded_bytes());
    // A policy that was named must exist: without it everything would leave.
    let Some(path) = named.map(|path| environment.absolute(path)) else {
        return Ok(Policy::from_settings(config::read(home)?.unwrap_or_default(), user));
    };
    let Some(text) = read(&path)? else {
        return Err(Failure::new(format!("no file `{}`", path.display())));
    };
    Policy::parse(&text, user).map_err(|error| {
        let failure = failure_of(&error);
        failure.hint(format!("correct `{}`", path.display()))
    })
}

/// Returns the server and the token for it.
fn target(home: &Home, environment: &Environment, to: &str) -> Result<Target, Failure> {
    let path = home.config().join("ship.token");
    let token = match environment.variable("AGENT_TRACER_SHIP_TOKEN") {
        Some(token) => token.into_string().unwrap_or_default(),
        None => read(&path)?.unwrap_or_default(),
    };
    Target::new(to, &token).map_err(|error| failure_of(&error))
}

/// Returns the outbox of the ledger.
pub(crate) fn outbox(home: &Home) -> Result<Outbox, Failure> {
    let path = home.data().join("ledger.db");
    let prices = Arc::new(sources::prices(home)?);
    Outbox::open(&path, prices)
        .map_err(|error| failure_of(&error).hint("run `agent-tracer serve` or `agent-tracer import` first"))
}

/// Returns a shipper to a server.
pub(crate) fn shipper(
    home: &Home,
    environment: &Environment,
    to: &str,
    policy: Policy,
) -> Result<Shipper, Failure> {
    let target = target(home, environment, to)?;
    let cursor = Cursor::open(&cursor_path(home), target.url()).map_err(|error| failure_of(&error))?;
    Ok(Shipper::new(
        outbox(home)?,
        policy,
        cursor,
        Box::new(Http::new(target, TrustStore::of(environment).roots())),
    ))
}

/// Ships until it is asked to stop, or once until everything is there. What passes is tried again for ever.
pub(crate) fn run(
    shipper: &mut Shipper,
    stop: &Stop,
    is_once: bool,
    progress: &Progress,
) -> Result<SendCounts, Failure> {
    let mut all = SendCounts::default();
    let mut backoff = Backoff::default();
    while !stop.is_requested() {
        let stepped = shipper.step();
        progress.update(|health| {
            health.behind = shipper.lag().unwrap_or(health.behind);
            health.problem = stepped.as_ref().err().map(|error| error_text(error));
        });
        match stepped {
            Ok(Step::Sent(sent)) => {
                backoff.worked();
                all.add(&sent);
            }
            Ok(Step::UpToDate) => {
                backoff.worked();
                if is_once {
                    break;
                }
                stop.wait(PAUSE);
            }
            Err(error) if error.is_passing() && !is_once => {
                // Many machines lose one server at one moment: the number of this process sets them apart.
                let wait = backoff.failed(u64::from(std::process::id()));
                let (error, retry_s) = (error_text(&error), wait.as_secs());
                warn!(error = %error, retry_s, "ship: {error}; retrying in {retry_s} s");
                stop.wait(wait);
            }
            Err(error) => return Err(failure_of(&error)),
        }
    }
    Ok(all)
}

/// Holds the state of shipping for the health page.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress(Arc<Mutex<Option<ShipHealth>>>);

impl Progress {
    fn update(&self, change: impl FnOnce(&mut ShipHealth)) {
        change(self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default());
    }

    /// Returns the progress, if shipping is on.
    pub(crate) fn now(&self) -> Option<ShipHealth> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Ships beside the server, if `ship.to` names a server.
pub(crate) fn start(
    home: &Home,
    environment: &Environment,
    stop: &Stop,
    progress: &Progress,
) -> Result<Option<thread::JoinHandle<()>>, Failure> {
    let policy = policy(home, environment, None)?;
    let Some(to) = policy.to().map(str::to_owned) else { return Ok(None) };
    progress.update(|health| health.to.clone_from(&to));
    let mut shipper = shipper(home, environment, &to, policy).inspect_err(|failure| {
        progress.update(|health| health.problem = Some(failure.message().to_owned()));
    })?;
    let progress = progress.clone();
    let stop = stop.clone();
    let thread = thread::Builder::new().name("ship".to_owned()).spawn(move || {
        if let Err(failure) = run(&mut shipper, &stop, false, &progress) {
            progress.update(|health| health.problem = Some(failure.message().to_owned()));
            warn!(
                hint = failure.hint_line(),
                "ship: {}; nothing is shipped until the next start",
                failure.message()
            );
        }
    });
    thread.map(Some).map_err(|cause| Failure::new(format!("cannot start a thread: {}", plain(&cause))))
}
