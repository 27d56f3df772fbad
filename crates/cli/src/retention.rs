//! Applies the table `[retention]` of `config.toml`: a thread of the server drops old events.
//!
//! Without its key `days` everything is kept. Law: what cannot be understood deletes nothing, and neither does a clock
//! that cannot be believed ([`ClockTrust`]).

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use agent_tracer_event::Millis;
use agent_tracer_intake::{Clock, Stop};
use agent_tracer_ledger::view::RetentionHealth;
use agent_tracer_ledger::{AppendError, ClockTrust, Ledger, Retention, Upkeep, error_text};
use agent_tracer_spool::Home;
use serde::Deserialize;

use tracing::info;

use crate::config::{self, Form, OldFile, Repeats, Section, Value, Word, between};
use crate::failure::Failure;
use crate::periodic::PeriodicJob;

/// Pause between two runs.
const EVERY: Duration = Duration::from_secs(24 * 60 * 60);
/// The longest time that can be said: a hundred years.
pub(crate) const MOST_DAYS: u32 = 36_500;
const DAY_MS: i64 = 86_400_000;

/// Holds the table of the user's settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub(crate) struct RetentionSettings {
    /// Days for which events are kept; for ever without it.
    #[serde(deserialize_with = "between::<1, { MOST_DAYS as i64 }, _, _>")]
    pub(crate) days: Option<u32>,
}

impl Section for RetentionSettings {
    const NAME: &'static str = "retention";
    const OLD_FILE: OldFile = OldFile {
        name: "retention.conf",
        form: Form::Lines {
            words: &[Word { word: "days", key: "days", value: Value::Number }],
            repeats: Repeats::AreFaults,
        },
    };
    const HINT: &'static str =
        "correct the line, or remove the table to keep everything; nothing was deleted";
}

/// Reads for how many days events are kept, if not for ever.
pub(crate) fn days(home: &Home) -> Result<Option<u32>, Failure> {
    Ok(config::read::<RetentionSettings>(home)?.and_then(|settings| settings.days))
}

/// Returns the retention that a number of days means at a time.
pub(crate) fn older_than(days: u32, now: Millis) -> Retention {
    let before = Millis(now.0.saturating_sub(i64::from(days) * DAY_MS));
    Retention { events_before: Some(before), kept_before: Some(before) }
}

/// Describes why a clock is not believed.
pub(crate) fn doubt(now: Millis, known: Millis) -> String {
    let days = now.0.saturating_sub(known.0) / DAY_MS;
    format!("the clock shows {now}, {days} days after the last moment that is known to be right ({known})")
}

/// Lists the results of a run.
enum RetentionRun {
    Dropped(Upkeep),
    ClockDoubtful(Failure),
}

/// Counts what a run dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DroppedEvents {
    events: u64,
    tasks: u64,
    /// Age in days beyond which nothing was kept.
    days: u32,
}

/// Drops what is too old, if the clock can be believed. Where there is nothing to drop, no clock is doubted.
fn drop_older(ledger: &Ledger, days: u32, now: Millis) -> Result<RetentionRun, AppendError> {
    let older = older_than(days, now);
    match ledger.judge_clock(now)? {
        // Asked only where something would go: a wrong clock without old events is no problem to report.
        ClockTrust::Ahead { known } if ledger.would_retain(older)? != Upkeep::default() => {
            let failure =
                Failure::new(format!("nothing older than {days} days was dropped: {}", doubt(now, known)));
            return Ok(RetentionRun::ClockDoubtful(failure.hint(
                "set the clock; if it is right, run `agent-tracer retain --yes` or wait until something was recorded on \
                 3 days",
            )));
        }
        ClockTrust::Ahead { .. } => {}
        ClockTrust::Sound => ledger.trust_clock(now)?,
    }
    ledger.retain(older).map(RetentionRun::Dropped)
}

/// Holds the state of retention for the health page.
#[derive(Clone, Debug, Default)]
pub(crate) struct RetentionState(Arc<Mutex<(RetentionHealth, Option<String>)>>);

impl RetentionState {
    /// Returns the retention, the time before which nothing is left, and the fault of the settings.
    pub(crate) fn look(&self) -> (RetentionHealth, Option<String>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the settings and drops what is too old. Returns what was dropped, if anything was.
    fn retain(&self, home: &Home, ledger: &Ledger, now: Millis) -> Result<Option<DroppedEvents>, Failure> {
        let days = match days(home) {
            Ok(days) => days,
            Err(failure) => {
                self.0.lock().unwrap_or_else(PoisonError::into_inner).1 = Some(failure.text());
                return Err(failure);
            }
        };
        let done = days.map(|days| (days, drop_older(ledger, days, now)));
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The problem is cleared before the run's own result, so that a mended file ends its report.
        state.1 = None;
        state.0.days = days;
        match done {
            None => Ok(None),
            Some((_, Err(error))) => {
                let failure = Failure::from_text(&format!("cannot drop old events: {}", error_text(&error)));
                state.1 = Some(failure.text());
                Err(failure)
            }
            Some((_, Ok(RetentionRun::ClockDoubtful(failure)))) => {
                state.1 = Some(failure.text());
                Err(failure)
            }
            Some((days, Ok(RetentionRun::Dropped(done)))) => {
                state.0.last_at = Some(now);
                state.0.tasks += done.tasks;
                state.0.events += done.events;
                let dropped = DroppedEvents { events: done.events, tasks: done.tasks, days };
                Ok((dropped.tasks > 0).then_some(dropped))
            }
        }
    }
}

/// Starts the thread that drops old events now and once a day, until it is stopped.
pub(crate) fn start(
    home: &Home,
    ledger: &Arc<Ledger>,
    clock: &Clock,
    stop: &Stop,
) -> Result<(RetentionState, JoinHandle<()>), Failure> {
    let kept = RetentionState::default();
    let (state, home, ledger) = (kept.clone(), home.clone(), Arc::clone(ledger));
    let job = PeriodicJob { name: "retention", every: EVERY, stop };
    let clock = Arc::clone(clock);
    let thread = job.repeat(move || {
        if let Some(DroppedEvents { events, tasks, days }) = state.retain(&home, &ledger, clock())? {
            info!(events, tasks, days, "dropped {events} events of {tasks} tasks, older than {days} days");
        }
        Ok(())
    })?;
    Ok((kept, thread))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files;

    /// Reads a text of the file that held these settings before.
    fn parse(text: &str) -> Result<Option<u32>, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::in_folder(folder.path());
        write(&home, text);
        days(&home).map_err(|failure| failure.to_string())
    }

    fn write(home: &Home, text: &str) {
        files::write_private(&RetentionSettings::OLD_FILE.path(home), text.as_bytes()).expect("written");
    }

    #[test]
    fn everything_is_kept_unless_a_number_of_days_is_written() {
        for text in ["", "\n# days 90\n", "   \n"] {
            assert_eq!(parse(text), Ok(None), "{text}");
        }
        assert_eq!(parse("# mine\n  days 90   # a quarter\n"), Ok(Some(90)));
    }

    #[test]
    fn what_is_not_understood_is_named_with_its_line() {
        for (text, line, what) in [
            ("days", 1, "unknown setting `days`"),
            ("\ndays 0", 2, "`0` is not between"),
            ("days -3", 1, "`-3` is not between"),
            ("days 99999999999", 1, "`99999999999` is not between"),
            ("days 3\ndays 4", 2, "duplicate key"),
            ("months 3", 1, "unknown setting `months`"),
            ("days 3 4", 1, "unknown setting `days`"),
        ] {
            let state = parse(text).expect_err(text);
            assert!(state.contains(&format!("line {line}: ")) && state.contains(what), "{text}: {state}");
        }
    }

    #[test]
    fn days_are_counted_back_at_once_and_never_beyond_the_beginning() {
        assert_eq!(older_than(2, Millis(3 * DAY_MS)).events_before, Some(Millis(DAY_MS)));
        assert_eq!(older_than(MOST_DAYS, Millis(i64::MIN)).kept_before, Some(Millis(i64::MIN)));
    }

    #[test]
    fn a_server_says_what_is_wrong_with_the_file_and_deletes_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let ledger = Ledger::open(&folder.path().join("ledger.db"), agent_tracer_ledger::Options::default());
        let (ledger, home) = (ledger.expect("a ledger"), Home::in_folder(folder.path()));
        let kept = RetentionState::default();
        assert!(kept.retain(&home, &ledger, Millis(9)) == Ok(None));
        assert_eq!(kept.look(), (RetentionHealth::default(), None));
        write(&home, "days many\n");
        assert!(kept.retain(&home, &ledger, Millis(9)).is_err());
        let (health, problem) = kept.look();
        assert!(health.days.is_none() && problem.expect("a problem").contains("line 1: `many`"));
        write(&home, "days 7\n");
        assert!(kept.retain(&home, &ledger, Millis(9)) == Ok(None));
        let (health, problem) = kept.look();
        assert_eq!((health.days, health.last_at, problem), (Some(7), Some(Millis(9)), None));
    }

    /// Records a session at these moments.
    fn record(ledger: &Ledger, session: &str, moments: &[i64]) {
        use agent_tracer_event::{Agent, Channel, Entry, Evidence, Kind, Phase, Reading, Subject, TaskKey};
        use agent_tracer_ledger::{Batch, Observed, Verdict};
        let observed = moments.iter().map(|at| {
            let task = TaskKey::new(Agent::CLAUDE_CODE, session);
            let (key, evidence) = (format!("prompt:{at}"), Evidence::measured("test"));
            let kind = Subject::Event(Kind::UserMessage);
            let entry = Entry::new(kind, Phase::Open, task, key, Millis(*at), evidence);
            Observed {
                name: format!("{session}-{at}"),
                source: None,
                agent: Agent::CLAUDE_CODE,
                channel: Channel::Hook,
                arrived: Millis(*at),
                verdict: Verdict::Read(Reading { entries: vec![entry], ..Reading::default() }),
                payload: None,
                kept: None,
            }
        });
        let batch = Batch { observed: observed.collect(), ..Batch::default() };
        ledger.append(batch).expect("recorded");
    }

    /// Returns a ledger with a session of long ago and one of now, and a server that keeps ninety days.
    fn kept_for_ninety_days(now: i64) -> (tempfile::TempDir, Ledger, Home, RetentionState) {
        let folder = tempfile::tempdir().expect("a folder");
        let ledger = Ledger::open(&folder.path().join("ledger.db"), agent_tracer_ledger::Options::default());
        let (ledger, home) = (ledger.expect("a ledger"), Home::in_folder(folder.path()));
        write(&home, "days 90\n");
        record(&ledger, "now", &[now]);
        (folder, ledger, home, RetentionState::default())
    }

    const NOW: i64 = 1_794_777_000_000;

    #[test]
    fn a_clock_that_jumps_ahead_drops_nothing_and_one_that_is_right_again_goes_on() {
        let (_folder, ledger, home, kept) = kept_for_ninety_days(NOW);
        assert!(kept.retain(&home, &ledger, Millis(NOW)) == Ok(None));
        for ahead in [400, 20_000, 401] {
            let wrong = NOW + ahead * DAY_MS;
            assert!(kept.retain(&home, &ledger, Millis(wrong)).is_err(), "{ahead}");
            let problem = kept.look().1.expect("a problem");
            assert!(
                problem.contains(&format!("{ahead} days after")) && problem.contains("\nhint: "),
                "{problem}"
            );
            // What is recorded by such a clock does not make it right.
            record(&ledger, "wrong", &[wrong]);
            assert!(kept.retain(&home, &ledger, Millis(wrong + DAY_MS)).is_err());
        }
        assert_eq!(ledger.store().health().expect("health").entries, 4);
        assert!(kept.retain(&home, &ledger, Millis(NOW + DAY_MS)) == Ok(None), "it is right again");
        assert_eq!(kept.look().1, None);
        // Nor does one that is behind drop anything.
        assert!(kept.retain(&home, &ledger, Millis(0)) == Ok(None));
        assert_eq!(ledger.store().health().expect("health").entries, 4);
        // In use day after day, what is old goes when its time has come.
        for day in (0..=90).step_by(5) {
            drop(kept.retain(&home, &ledger, Millis(NOW + day * DAY_MS)));
        }
        assert_eq!(ledger.store().health().expect("health").entries, 4);
        let note = kept.retain(&home, &ledger, Millis(NOW + 91 * DAY_MS));
        assert!(matches!(note, Ok(Some(_))), "{note:?}");
        assert_eq!(ledger.store().health().expect("health").entries, 3);
    }

    #[test]
    fn a_machine_that_was_switched_off_is_believed_after_three_days_of_use() {
        let (_folder, ledger, home, kept) = kept_for_ninety_days(NOW);
        assert!(kept.retain(&home, &ledger, Millis(NOW)) == Ok(None));
        let on = NOW + 100 * DAY_MS;
        for day in 0..2 {
            record(&ledger, "later", &[on + day * DAY_MS]);
            let note = kept.retain(&home, &ledger, Millis(on + day * DAY_MS));
            assert!(note.is_err(), "{day}");
        }
        record(&ledger, "later", &[on + 2 * DAY_MS]);
        let note = kept.retain(&home, &ledger, Millis(on + 2 * DAY_MS));
        assert!(matches!(note, Ok(Some(_))), "{note:?}");
        assert_eq!((kept.look().0.tasks, ledger.store().health().expect("health").entries), (1, 3));
    }
}
