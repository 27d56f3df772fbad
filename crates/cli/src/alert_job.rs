//! Alerts: the table `[alerts]` of `config.toml`, the desktop, and the thread of the server that watches.
//!
//! Law: sending has a thread of its own and a bound on its time, so that nothing that is recorded ever waits for it. What
//! did not arrive is counted and logged, without its address.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use agent_tracer_event::Millis;
use agent_tracer_intake::{Clock, Stop};
use agent_tracer_jobs::alerts::{Alert, Counts, Outcome, Settings, Watch, webhook};
use agent_tracer_ledger::{Store, error_text};
use agent_tracer_spool::Home;
use tracing::{info, warn};

use crate::config::{self, Form, OldFile, Section};
use crate::environment::Environment;
use crate::failure::{Failure, plain};
use crate::http::TrustStore;
use crate::local_time::LocalTime;
use crate::periodic::PeriodicJob;

/// Pause between two checks for alerts.
const EVERY: Duration = Duration::from_secs(10);
/// Alerts of one look that are sent; the others are counted.
const SENT_MAX: usize = 20;
/// Time limit for the desktop notification.
const DESKTOP_PATIENCE: Duration = Duration::from_secs(5);

impl Section for Settings {
    const NAME: &'static str = "alerts";
    const OLD_FILE: OldFile = OldFile { name: "alerts.toml", form: Form::Toml };
    const HINT: &'static str = "correct the line; no alerts are sent until then";
}

/// Reads the table; none if there is none.
pub(crate) fn read(home: &Home) -> Result<Option<Settings>, Failure> {
    config::read(home)
}

/// Holds the destination of an alert and the reason for a failure.
pub(crate) struct Delivery {
    /// `desktop`, or the number of the webhook.
    pub(crate) to: String,
    pub(crate) error: Option<String>,
}

/// Sends an alert everywhere.
pub(crate) fn send(settings: &Settings, alert: &Alert, trust: &TrustStore) -> Vec<Delivery> {
    let mut sent = Vec::new();
    if settings.desktop {
        sent.push(Delivery {
            to: "desktop".to_owned(),
            error: show(alert).err().map(|failure| failure.text()),
        });
    }
    for (number, target) in settings.webhook.iter().enumerate() {
        let error = webhook::send(target, alert, trust.roots()).err().map(|error| error.to_string());
        sent.push(Delivery { to: format!("webhook {}", number + 1), error });
    }
    sent
}

/// Shows an alert on the desktop, by the program that the system has for it.
fn show(alert: &Alert) -> Result<(), Failure> {
    let program = if cfg!(target_os = "macos") { "osascript" } else { "notify-send" };
    let mut command = Command::new(program);
    if cfg!(target_os = "macos") {
        // The text is an argument of the script, never a part of it.
        command.args([
            "-e",
            "on run argv",
            "-e",
            "display notification (item 1 of argv) with title \"Agent Tracer\"",
        ]);
        command.args(["-e", "end run", "--", &alert.text]);
    } else {
        command.args(["--app-name=Agent Tracer", "--", "Agent Tracer", &alert.text]);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command
        .spawn()
        .map_err(|cause| Failure::new(format!("cannot start `{program}`: {}", plain(&cause))))?;
    let until = Instant::now() + DESKTOP_PATIENCE;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(_)) => return Err(Failure::new("the desktop rejected the notification")),
            Ok(None) if Instant::now() < until => std::thread::park_timeout(Duration::from_millis(20)),
            Ok(None) | Err(_) => {
                drop(child.kill());
                drop(child.wait());
                return Err(Failure::new("the desktop did not answer in time"));
            }
        }
    }
}

struct AlertJob {
    home: Home,
    store: Arc<dyn Store>,
    zone: LocalTime,
    trust: TrustStore,
    watch: Watch,
    sent: u64,
    failed: u64,
    counts: Counts,
}

impl AlertJob {
    fn look(&mut self, now: Millis, stop: &Stop) -> Result<(), Failure> {
        let settings = read(&self.home)?;
        // A store without anybody to tell is not even asked.
        let Some(settings) = settings.filter(Settings::has_receiver) else { return Ok(()) };
        let midnight = self.zone.midnight(now);
        let alerts = self.watch.check(self.store.as_ref(), &settings, now, midnight);
        let alerts = alerts.map_err(|error| {
            Failure::from_text(&format!("cannot look for alerts: {}", error_text(&error)))
        })?;
        // Bounded: an outage of one cause can raise an alert for each task.
        for alert in alerts.iter().take(SENT_MAX) {
            // The server ends without waiting for receivers.
            if stop.is_requested() {
                break;
            }
            let mut errors = Vec::new();
            for sent in send(&settings, alert, &self.trust) {
                match sent.error {
                    None => {
                        self.sent += 1;
                        self.counts.add(alert.kind, Outcome::Sent);
                    }
                    Some(error) => {
                        self.failed += 1;
                        self.counts.add(alert.kind, Outcome::Failed);
                        errors.push(format!("{}: {error}", sent.to));
                    }
                }
            }
            let kind = alert.kind.as_str();
            match errors.is_empty() {
                true => {
                    info!(alert.kind = kind, sent = self.sent, "alert {kind}: sent; {} so far", self.sent);
                }
                false => {
                    let (failed, error) = (self.failed, errors.join("; "));
                    warn!(
                        alert.kind = kind,
                        failed,
                        error = %error,
                        "alert {kind}: not delivered: {error}; {failed} failed so far"
                    );
                }
            }
        }
        for crowded in alerts.iter().skip(SENT_MAX) {
            self.counts.add(crowded.kind, Outcome::Crowded);
        }
        if alerts.len() > SENT_MAX {
            let dropped = alerts.len() - SENT_MAX;
            warn!(dropped, "dropped {dropped} alerts: more than {SENT_MAX} at once");
        }
        Ok(())
    }
}

/// Starts the thread that watches for alerts until it is stopped.
pub(crate) fn start(
    home: &Home,
    store: Arc<dyn Store>,
    environment: &Environment,
    clock: &Clock,
    stop: &Stop,
) -> Result<(Counts, JoinHandle<()>), Failure> {
    let (home, counts) = (home.clone(), Counts::default());
    let watch = Watch::counting(counts.clone());
    let (zone, trust) = (LocalTime::of(environment), TrustStore::of(environment));
    let mut job = AlertJob { home, store, zone, trust, watch, sent: 0, failed: 0, counts: counts.clone() };
    let periodic = PeriodicJob { name: "alerts", every: EVERY, stop };
    let (clock, stop) = (Arc::clone(clock), stop.clone());
    let thread = periodic.repeat(move || job.look(clock(), &stop))?;
    Ok((counts, thread))
}
