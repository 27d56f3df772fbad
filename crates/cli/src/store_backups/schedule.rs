//! Schedules backups of the store and reports their state.
//!
//! Law: a time that has not come yet is not believed, and while the store is known to be damaged no backup is made and none
//! is removed.

use std::fs;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant, UNIX_EPOCH};

use agent_tracer_event::Millis;
use agent_tracer_intake::{Clock, Stop};
use agent_tracer_ledger::view::StoreFaults;
use agent_tracer_ledger::{Ledger, Pace};
use agent_tracer_spool::Home;
use tracing::info;

use super::{Kind, StoreBackup, damaged, failure_mark, list, make, note_failure, retain, size};
use crate::backup_job::{self, BackupSettings};
use crate::failure::Failure;
use crate::periodic::PeriodicJob;
use crate::{config, figures};

/// Pause between two checks for a due backup.
const EVERY: Duration = Duration::from_secs(60);
/// Pause after each four megabytes, so that other users of the disk come first.
const REST: Duration = Duration::from_millis(100);
/// Time limit for the comparison of all pages with their checksums before a backup.
const CHECK_PATIENCE: Duration = Duration::from_secs(120);
const MINUTE_MS: i64 = 60_000;

/// Holds the state of the store's backups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BackupStatus {
    /// Time of the newest backup.
    pub(crate) last: Option<Millis>,
    /// Interval in minutes, and the number of backups to keep.
    pub(crate) schedule: Option<(u32, u32)>,
    /// Problem, with a hint.
    pub(crate) problem: Option<String>,
}

/// Looks how they stand.
pub(crate) fn status(home: &Home, now: Millis) -> BackupStatus {
    let wanted = match backup_job::read(home) {
        Ok(wanted) => wanted.store,
        Err(failure) => {
            return BackupStatus { problem: Some(failure.to_string()), ..BackupStatus::default() };
        }
    };
    let all = list(home).unwrap_or_default();
    let last = last_made(&all, now);
    let schedule = wanted.every_minutes.map(|every| (every, wanted.keep));
    let failed = fs::read_to_string(failure_mark(home)).ok();
    let problem = match (failed, schedule) {
        (Some(text), _) => {
            let (_, why) = text.trim_end().split_once(' ').unwrap_or(("", "unknown cause"));
            Some(format!(
                "the last backup of the store failed: {why}\nhint: run `agent-tracer backup create` to try again"
            ))
        }
        (None, Some((every, _))) if is_overdue(home, last, every, now) => {
            let is_ahead = all.iter().any(|backup| backup.kind == Kind::Store && backup.at > now);
            let since = match last {
                Some(last) => format!("was made {} ago", figures::age(now.0.saturating_sub(last.0))),
                None if is_ahead => "has a time that has not come yet".to_owned(),
                None => "was never made".to_owned(),
            };
            Some(format!(
                "a backup of the store is overdue: one is due every {}, and the last {since}\n\
                 hint: the server makes them while it runs; `agent-tracer backup create` makes one now",
                span(every)
            ))
        }
        _ => None,
    };
    BackupStatus { last, schedule, problem }
}

/// Returns when the last one was made, as far as its time can be believed.
fn last_made(all: &[StoreBackup], now: Millis) -> Option<Millis> {
    all.iter().rfind(|backup| backup.kind == Kind::Store && backup.at <= now).map(|backup| backup.at)
}

fn is_overdue(home: &Home, last: Option<Millis>, every: u32, now: Millis) -> bool {
    // Without any, it is due since the schedule was written.
    let written = || {
        let since = fs::metadata(config::path_in_force::<BackupSettings>(home)).ok()?.modified().ok()?;
        let since = since.duration_since(UNIX_EPOCH).ok()?;
        i64::try_from(since.as_millis()).ok().map(Millis)
    };
    let span = i64::from(every) * MINUTE_MS;
    // A quarter of the interval: a machine that slept or was off at the due time is not reported at once.
    let patience = (span / 4).max(15 * MINUTE_MS);
    last.or_else(written).is_some_and(|from| now.0.saturating_sub(from.0) > span + patience)
}

/// Writes a span of minutes as people do: `1d`, `12h`, `30m`.
pub(crate) fn span(minutes: u32) -> String {
    match minutes {
        minutes if minutes % 1440 == 0 => format!("{}d", minutes / 1440),
        minutes if minutes % 60 == 0 => format!("{}h", minutes / 60),
        minutes => format!("{minutes}m"),
    }
}

/// Holds the interval between backups in minutes, or `None` for off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BackupInterval(pub(crate) Option<u32>);

/// Reads a span as people write it; `off` is none.
pub(crate) fn parse_span(text: &str) -> Result<BackupInterval, String> {
    if text == "off" {
        return Ok(BackupInterval(None));
    }
    let wrong = || "write an interval such as `1d`, `12h` or `30m`, or `off`".to_owned();
    let unit = match text.chars().next_back() {
        Some('m') => 1,
        Some('h') => 60,
        Some('d') => 1440,
        Some('w') => 7 * 1440,
        _ => return Err(wrong()),
    };
    let digits = text.get(..text.len() - 1).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    let minutes =
        digits.and_then(|digits| digits.parse::<u32>().ok()).and_then(|count| count.checked_mul(unit));
    match minutes {
        Some(minutes @ 10..=525_600) => Ok(BackupInterval(Some(minutes))),
        Some(_) => Err("between 10 minutes and a year".to_owned()),
        None => Err(wrong()),
    }
}

/// Makes backups when they are due, until the server ends.
pub(crate) fn start(
    home: &Home,
    ledger: &Arc<Ledger>,
    clock: &Clock,
    stop: &Stop,
) -> Result<JoinHandle<()>, Failure> {
    let job = PeriodicJob { name: "store-backup", every: EVERY, stop };
    let (home, clock, stop) = (home.clone(), Arc::clone(clock), stop.clone());
    let ledger = Arc::clone(ledger);
    job.repeat(move || back_up_if_due(&home, &ledger, clock(), &stop))
}

/// Waits until every page was compared with its sum once since the server began, and returns what was found.
fn await_check(ledger: &Ledger, stop: &Stop) -> StoreFaults {
    let until = Instant::now() + CHECK_PATIENCE;
    loop {
        let faults = ledger.faults();
        let is_known = faults.check.rounds > 0 || is_damaged(&faults);
        if is_known || Instant::now() > until || stop.wait(REST) {
            return faults;
        }
    }
}

fn is_damaged(faults: &StoreFaults) -> bool {
    faults.damaged_pages > 0 || faults.read_failures > 0
}

fn back_up_if_due(home: &Home, ledger: &Ledger, now: Millis, stop: &Stop) -> Result<(), Failure> {
    let wanted = backup_job::read(home)?.store;
    let Some(every) = wanted.every_minutes else { return Ok(()) };
    let due = |last: Millis| now.0.saturating_sub(last.0) >= i64::from(every) * MINUTE_MS;
    // Decided by the files, not by a note of the last run: a backup that was removed is due again.
    if last_made(&list(home)?, now).is_some_and(|last| !due(last)) {
        return Ok(());
    }
    // A damaged store is not backed up: rotation would remove the last good copy.
    let faults = await_check(ledger, stop);
    if is_damaged(&faults) {
        let failure = damaged("a part of the store is damaged")
            .hint("run `agent-tracer doctor` for the damage and the fix");
        note_failure(home, now, &failure);
        return Err(failure);
    }
    let made = make(home, now, |_, _| if stop.wait(REST) { Pace::Stop } else { Pace::GoOn });
    if stop.is_requested() {
        // The next start makes it; that is no failure.
        drop(fs::remove_file(failure_mark(home)));
        return Ok(());
    }
    let (backup, contents) = made?;
    let (name, tasks, bytes) = (&backup.name, contents.tasks, contents.bytes);
    info!(backup = %name, tasks, bytes, "backed up the store: {name} with {tasks} tasks, {}", size(bytes));
    // What is missing or strange in the store may still be in an older backup.
    if faults.changed_pages > 0 || faults.damaged_commits > 0 {
        return Ok(());
    }
    retain(home, wanted.keep, now).map(drop)
}

#[cfg(test)]
mod tests {
    use super::super::stamp;
    use super::*;
    use crate::files;

    #[test]
    fn while_the_store_is_known_to_be_damaged_no_backup_is_made_and_none_is_removed() {
        use std::os::unix::fs::FileExt;
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::in_folder(folder.path());
        fs::create_dir_all(backup_job::folder(&home)).expect("a folder");
        let text = "[backup.store]\nevery_minutes = 60\nkeep = 1\n";
        files::write_private(&config::path(&home), text.as_bytes()).expect("written");
        let store = home.data().join("ledger.db");
        let ledger = Ledger::open(&store, agent_tracer_ledger::Options::default()).expect("a ledger");
        ledger.move_log_now().expect("moved");
        ledger.check_all_pages().expect("sums");
        let (now, stop) = (Millis(1_790_000_000_000), Stop::new());
        let at = |hours: i64| Millis(now.0 + hours * 60 * MINUTE_MS);
        for hours in [0, 1] {
            back_up_if_due(&home, &ledger, at(hours), &stop).expect("made");
        }
        let names = || list(&home).expect("a list").into_iter().map(|it| it.at).collect::<Vec<_>>();
        assert_eq!(names(), [at(1)], "one is kept");
        let file = fs::OpenOptions::new().read(true).write(true).open(&store).expect("the store");
        let mut byte = [0];
        file.read_exact_at(&mut byte, 2 * 4096 + 4000).expect("a byte");
        file.write_all_at(&[byte[0] ^ 1], 2 * 4096 + 4000).expect("changed");
        ledger.check_all_pages().expect("compared");
        assert!(is_damaged(&ledger.faults()), "{:?}", ledger.faults());
        let refused = back_up_if_due(&home, &ledger, at(2), &stop).expect_err("damaged").to_string();
        assert!(refused.contains("none was removed\nhint: "), "{refused}");
        assert_eq!(names(), [at(1)]);
        let problem = status(&home, at(2)).problem.expect("a problem");
        assert!(
            problem.contains("the last backup of the store failed: a part of the store is damaged"),
            "{problem}"
        );
        ledger.close();
    }

    #[test]
    fn spans_are_read_and_written_as_people_do() {
        for text in ["10m", "1h", "36h", "1d", "30d"] {
            assert_eq!(parse_span(text).expect(text).0.map(span).as_deref(), Some(text));
        }
        assert_eq!(
            (parse_span("off"), parse_span("2w")),
            (Ok(BackupInterval(None)), Ok(BackupInterval(Some(20_160))))
        );
        for text in ["", "d", "1", "0d", "5m", "-1d", "400d", "99999999999d", "1y", "ä"] {
            assert!(parse_span(text).is_err(), "{text}");
        }
    }

    #[test]
    fn one_that_is_overdue_or_failed_is_a_problem_and_one_that_is_made_in_time_is_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::in_folder(folder.path());
        let now = Millis(1_790_000_000_000);
        assert_eq!(status(&home, now), BackupStatus::default());
        fs::create_dir_all(backup_job::folder(&home)).expect("a folder");
        let text = "[backup.store]\nevery_minutes = 60\nkeep = 2\n";
        files::write_private(&config::path(&home), text.as_bytes()).expect("written");
        for minutes in [300, 200, 100] {
            let at = Millis(now.0 - minutes * MINUTE_MS);
            fs::File::create(backup_job::folder(&home).join(format!("store-{}.db", stamp(at))))
                .expect("a file");
        }
        let standing_now = status(&home, now);
        assert_eq!(
            (standing_now.last, standing_now.schedule),
            (Some(Millis(now.0 - 100 * MINUTE_MS)), Some((60, 2)))
        );
        assert!(
            standing_now
                .problem
                .is_some_and(|problem| problem.contains("every 1h, and the last was made 1h ago"))
        );
        assert_eq!(status(&home, Millis(now.0 - 50 * MINUTE_MS)).problem, None);
        let ahead = backup_job::folder(&home).join(format!("store-{}.db", stamp(Millis(now.0 * 2))));
        fs::File::create(&ahead).expect("a file");
        assert_eq!(status(&home, now).last, standing_now.last, "its time has not come yet");
        assert_eq!((retain(&home, 2, now).expect("removed"), list(&home).expect("a list").len()), (1, 3));
        assert!(ahead.exists(), "its age is unknown");
        let early = status(&home, Millis(now.0 - 1_000 * MINUTE_MS));
        assert_eq!((early.last, early.problem), (None, None), "it is due since the schedule was written");
        files::write_private(&failure_mark(&home), b"2026 no room\n").expect("written");
        let problem = status(&home, Millis(now.0 - 50 * MINUTE_MS)).problem.expect("a problem");
        assert!(problem.contains("failed: no room\nhint: "), "{problem}");
    }
}
