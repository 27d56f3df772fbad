//! How long events are kept: the user's `retention.conf`, and the thread of the server that acts on it.
//!
//! The file has one setting, `days N`. Without it, or without the file, everything is kept. Law: what cannot be
//! understood deletes nothing.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use agent_tracer_event::Millis;
use agent_tracer_intake::{Clock, Note, Notes, Stop};
use agent_tracer_ledger::view::RetentionHealth;
use agent_tracer_ledger::{Ledger, Retention};
use agent_tracer_spool::Home;

use crate::failure::{Failure, plain};
use crate::rounds::Rounds;

/// How often a server looks for what is too old.
const EVERY: Duration = Duration::from_secs(24 * 60 * 60);
/// The most bytes of the file.
const FILE_BYTES: u64 = 64 << 10;
/// The longest time that can be said: a hundred years.
pub(crate) const MOST_DAYS: u32 = 36_500;
const DAY_MS: i64 = 86_400_000;

/// Where the file is.
pub(crate) fn path(home: &Home) -> PathBuf {
    home.config().join("retention.conf")
}

/// Reads the file: for how many days events are kept, if not for ever.
pub(crate) fn read(path: &Path) -> Result<Option<u32>, Failure> {
    let mut bytes = Vec::new();
    match File::open(path).and_then(|file| file.take(FILE_BYTES).read_to_end(&mut bytes)) {
        Ok(_) => {}
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(cause) => {
            return Err(Failure::new(format!("cannot read `{}`: {}", path.display(), plain(&cause))));
        }
    }
    parse(&String::from_utf8_lossy(&bytes)).map_err(|(line, what)| {
        Failure::new(format!("cannot read `{}`: line {line}: {what}", path.display()))
            .hint("write `days 90`, or nothing to keep everything; nothing was deleted")
    })
}

fn parse(text: &str) -> Result<Option<u32>, (usize, String)> {
    let mut days = None;
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        let wrong = |what: String| Err((number + 1, what));
        match line.split_whitespace().collect::<Vec<_>>().as_slice() {
            [] => {}
            ["days", _] if days.is_some() => return wrong("`days` stands twice".to_owned()),
            ["days", count] => match count.parse() {
                Ok(count @ 1..=MOST_DAYS) => days = Some(count),
                _ => return wrong(format!("`{count}` is not between 1 and {MOST_DAYS}")),
            },
            [word, ..] => return wrong(format!("`{word}` is no setting")),
        }
    }
    Ok(days)
}

/// What so many days mean at a moment.
pub(crate) fn older_than(days: u32, now: Millis) -> Retention {
    let before = Millis(now.0.saturating_sub(i64::from(days) * DAY_MS));
    Retention { events_before: Some(before), kept_before: Some(before) }
}

/// What a server did about it so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept(Arc<Mutex<(RetentionHealth, Option<String>)>>);

impl Kept {
    /// What is kept, since when nothing older is there, and what is wrong with the file.
    pub(crate) fn look(&self) -> (RetentionHealth, Option<String>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the file and drops what is too old. Says what is worth a line in the log.
    fn tend(&self, path: &Path, ledger: &Ledger, now: Millis) -> Option<Note> {
        let days = match read(path) {
            Ok(days) => days,
            Err(failure) => {
                let text = failure.to_string();
                self.0.lock().unwrap_or_else(PoisonError::into_inner).1 = Some(text.clone());
                return Some(Note::warning(text));
            }
        };
        let done = days.map(|days| (days, ledger.retain(older_than(days, now))));
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.1 = None;
        told.0.days = days;
        match done {
            None => None,
            Some((_, Err(error))) => {
                let text = format!("cannot drop what is too old: {error}");
                told.1 = Some(text.clone());
                Some(Note::warning(text))
            }
            Some((days, Ok(done))) => {
                told.0.last_at = Some(now);
                told.0.tasks += done.tasks;
                told.0.events += done.events;
                let (tasks, events) = (done.tasks, done.events);
                (tasks > 0).then(|| {
                    Note::info(format!("dropped {events} events of {tasks} tasks, older than {days} days"))
                })
            }
        }
    }
}

/// Drops what is too old now and once a day, until somebody asks to stop.
pub(crate) fn start(
    home: &Home,
    ledger: &Arc<Ledger>,
    clock: &Clock,
    notes: &Notes,
    stop: &Stop,
) -> Result<(Kept, JoinHandle<()>), Failure> {
    let kept = Kept::default();
    let (told, path, ledger) = (kept.clone(), path(home), Arc::clone(ledger));
    let rounds = Rounds { name: "retention", every: EVERY, notes, stop };
    let (clock, notes) = (Arc::clone(clock), Arc::clone(notes));
    let thread = rounds.behind(move || {
        if let Some(note) = told.tend(&path, &ledger, clock()) {
            notes(note);
        }
        Ok(())
    })?;
    Ok((kept, thread))
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("days", 1, "`days` is no setting"),
            ("\ndays 0", 2, "`0` is not between"),
            ("days -3", 1, "`-3` is not between"),
            ("days 99999999999", 1, "`99999999999` is not between"),
            ("days 3\ndays 4", 2, "stands twice"),
            ("months 3", 1, "`months` is no setting"),
            ("days 3 4", 1, "`days` is no setting"),
        ] {
            let (at, told) = parse(text).expect_err(text);
            assert!(at == line && told.contains(what), "{text}: line {at}: {told}");
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
        let (ledger, path) = (ledger.expect("a ledger"), folder.path().join("retention.conf"));
        let kept = Kept::default();
        assert!(kept.tend(&path, &ledger, Millis(9)).is_none());
        assert_eq!(kept.look(), (RetentionHealth::default(), None));
        crate::files::write_private(&path, b"days many\n").expect("written");
        assert!(matches!(kept.tend(&path, &ledger, Millis(9)), Some(Note::Warning(_))));
        let (health, problem) = kept.look();
        assert!(health.days.is_none() && problem.expect("a problem").contains("line 1: `many`"));
        crate::files::write_private(&path, b"days 7\n").expect("written");
        assert!(kept.tend(&path, &ledger, Millis(9)).is_none());
        let (health, problem) = kept.look();
        assert_eq!((health.days, health.last_at, problem), (Some(7), Some(Millis(9)), None));
    }
}
