//! Applies the table `[context]` of `config.toml`: a thread of the server writes the context pages.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use agent_tracer_event::Millis;
use agent_tracer_intake::{Clock, Stop};
use agent_tracer_jobs::context::{PageWriter, Settings};
use agent_tracer_ledger::{Store, error_text};
use agent_tracer_spool::Home;

use crate::config::{self, Form, OldFile, Repeats, Section, Value, Word};
use crate::failure::{Failure, plain};
use crate::local_time::LocalTime;
use crate::periodic::PeriodicJob;

/// Pause between two checks for news.
const EVERY: Duration = Duration::from_secs(30);
/// Interval at which unchanged pages are written too: from their age an agent sees that a server runs.
const ANYWAY_MS: i64 = 15 * 60 * 1000;

impl Section for Settings {
    const NAME: &'static str = "context";
    const OLD_FILE: OldFile = OldFile {
        name: "context.conf",
        form: Form::Lines {
            words: &[
                Word { word: "on", key: "enabled", value: Value::Switch(true) },
                Word { word: "off", key: "enabled", value: Value::Switch(false) },
                Word { word: "export-task", key: "export_task", value: Value::Switch(true) },
                Word { word: "bytes", key: "bytes", value: Value::Number },
                Word { word: "budget-usd", key: "budget_usd", value: Value::Amount },
            ],
            repeats: Repeats::Replace,
        },
    };
    const HINT: &'static str = "correct the line; no context is refreshed until then";
}

/// Reads the table; nothing is on if there is none.
pub(crate) fn read(home: &Home) -> Result<Settings, Failure> {
    Ok(config::read(home)?.unwrap_or_default())
}

struct ContextJob {
    home: Home,
    store: Arc<dyn Store>,
    zone: LocalTime,
    seen: Option<(u64, Settings)>,
    written: Millis,
}

impl ContextJob {
    fn look(&mut self, now: Millis) -> Result<(), Failure> {
        let settings = read(&self.home)?;
        let keeper = PageWriter::new(self.home.clone());
        if !settings.enabled {
            self.seen = None;
            return keeper.clear().map_err(|cause| {
                Failure::new(format!("cannot remove the context pages: {}", plain(&cause)))
            });
        }
        let seq = self.store.seq().map_err(|error| Failure::from_text(&error_text(&error)))?;
        let is_known = self.seen.as_ref().is_some_and(|(known, wanted)| *known == seq && *wanted == settings);
        // Settings count as a change too: switching a field off must not wait for the next event.
        if is_known && now.0 - self.written.0 < ANYWAY_MS {
            return Ok(());
        }
        let midnight = self.zone.midnight(now);
        let kept = keeper.refresh(self.store.as_ref(), &settings, now, midnight);
        kept.map_err(|cause| {
            Failure::from_text(&format!("cannot write the context pages: {}", error_text(&cause)))
        })?;
        (self.seen, self.written) = (Some((seq, settings)), now);
        Ok(())
    }
}

/// Starts the thread that writes the pages until it is stopped. The first run is over when this returns.
pub(crate) fn start(
    home: &Home,
    store: Arc<dyn Store>,
    zone: LocalTime,
    clock: &Clock,
    stop: &Stop,
) -> Result<JoinHandle<()>, Failure> {
    let home = home.clone();
    let mut job = ContextJob { home, store, zone, seen: None, written: Millis(0) };
    let clock = Arc::clone(clock);
    let periodic = PeriodicJob { name: "context", every: EVERY, stop };
    periodic.run_and_repeat(move || job.look(clock()))
}
