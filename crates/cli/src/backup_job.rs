//! Copies of what goes into compactions: the table `[backup]` of `config.toml`, and the thread of the server that makes
//! them.
//!
//! The table also holds the schedule of the store's backups. Law: what is not understood copies nothing and removes
//! nothing.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use agent_tracer_event::{Kind, Millis, TaskId, attributes};
use agent_tracer_intake::files::{Root, open};
use agent_tracer_intake::{Clock, Stop};
use agent_tracer_jobs::compaction::{backup, file};
use agent_tracer_ledger::view::Row;
use agent_tracer_ledger::{AppendError, ClockTrust, Ledger, QueryError, Store, error_text};
use agent_tracer_spool::Home;
use serde::Deserialize;
use tracing::info;

use crate::config::{self, Form, OldFile, Repeats, Section, Value, Word, between};
use crate::failure::{Failure, plain};
use crate::periodic::PeriodicJob;
use crate::retention;

/// Pause between two checks.
const EVERY: Duration = Duration::from_secs(5);
const DAY_MS: i64 = 24 * 60 * 60 * 1000;
const HOUR_MS: u64 = 60 * 60 * 1000;
const ROWS_MAX: u32 = 1000;
/// The most of anything that is counted in the settings.
pub(crate) const COUNT_MAX: i64 = 1_000_000;

/// Holds the table of the user's settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub(crate) struct BackupSettings {
    /// Copies of what goes into compactions.
    pub(crate) compactions: CompactionCopies,
    /// Backups of the store.
    pub(crate) store: StoreSchedule,
}

/// Holds the settings of copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub(crate) struct CompactionCopies {
    pub(crate) enabled: bool,
    /// Days for which a copy is kept.
    #[serde(deserialize_with = "between::<1, COUNT_MAX, _, _>")]
    pub(crate) days: u32,
    /// Room for all copies.
    #[serde(deserialize_with = "between::<1, COUNT_MAX, _, _>")]
    pub(crate) megabytes: u32,
}

impl Default for CompactionCopies {
    fn default() -> Self {
        Self { enabled: false, days: 30, megabytes: 1024 }
    }
}

/// Holds the schedule of backups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub(crate) struct StoreSchedule {
    /// Interval between two backups; none are made without it.
    #[serde(deserialize_with = "between::<1, COUNT_MAX, _, _>")]
    pub(crate) every_minutes: Option<u32>,
    /// Number of backups to keep.
    #[serde(deserialize_with = "between::<1, COUNT_MAX, _, _>")]
    pub(crate) keep: u32,
}

impl Default for StoreSchedule {
    fn default() -> Self {
        Self { every_minutes: None, keep: 7 }
    }
}

impl Section for BackupSettings {
    const NAME: &'static str = "backup";
    const OLD_FILE: OldFile = OldFile {
        name: "backup.conf",
        form: Form::Lines {
            words: &[
                Word { word: "on", key: "compactions.enabled", value: Value::Switch(true) },
                Word { word: "off", key: "compactions.enabled", value: Value::Switch(false) },
                Word { word: "days", key: "compactions.days", value: Value::Number },
                Word { word: "megabytes", key: "compactions.megabytes", value: Value::Number },
                Word { word: "store-every", key: "store.every_minutes", value: Value::Number },
                Word { word: "store-keep", key: "store.keep", value: Value::Number },
            ],
            repeats: Repeats::Replace,
        },
    };
    const HINT: &'static str = "correct the line; nothing is copied and nothing removed until then";
}

/// Returns the folder of the copies.
pub(crate) fn folder(home: &Home) -> PathBuf {
    home.data().join("backup")
}

/// Reads the table; nothing is on if there is none.
pub(crate) fn read(home: &Home) -> Result<BackupSettings, Failure> {
    Ok(config::read(home)?.unwrap_or_default())
}

struct BackupJob {
    home: Home,
    ledger: Arc<Ledger>,
    store: Arc<dyn Store>,
    roots: Vec<Root>,
    seen: Option<u64>,
    /// Time of the last entry that confirms the clock.
    believed: Option<Millis>,
}

impl BackupJob {
    fn look(&mut self, now: Millis) -> Result<(), Failure> {
        let settings = read(&self.home)?.compactions;
        let folder = folder(&self.home);
        let failed = |cause: std::io::Error| {
            Failure::new(format!("cannot keep a copy of a compaction: {}", plain(&cause)))
        };
        let unanswered = |error: QueryError| Failure::from_text(&error_text(&error));
        if !settings.enabled && !folder.exists() {
            self.seen = None;
            return Ok(());
        }
        let newest = self.store.seq().map_err(unanswered)?;
        // Only rows that arrive while this runs: clients rewrite their files, so an older mark may not fit.
        let after = self.seen.replace(newest);
        if let Some(mut after) = after.filter(|after| *after < newest) {
            while settings.enabled && after < newest {
                let rows = self.store.changes(after, ROWS_MAX).map_err(unanswered)?;
                let Some(last) = rows.last() else { break };
                after = last.seq.max(after + 1);
                for row in rows.iter().filter(|row| row.kind == Kind::ContextSaved) {
                    if let Some(path) = self.keep(row, now).map_err(failed)? {
                        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                        info!(task.id = %row.task_id, copy = %name, "kept a copy of a compaction: {name}");
                    }
                }
            }
            backup::remove(&folder, |backup| is_gone(self.store.as_ref(), &backup.task, now))
                .map_err(failed)?;
        }
        let room = u64::from(settings.megabytes) << 20;
        let before = Millis(now.0.saturating_sub(i64::from(settings.days) * DAY_MS));
        let doubt = self.doubt_clock(now).map_err(|error| Failure::from_text(&error_text(&error)))?;
        // A clock that cannot be believed makes nothing old; the room is what it is.
        // The room counts even then: a doubtful clock must not let copies fill the disk.
        let from = if doubt.is_some() { Millis(0) } else { before };
        backup::retain(&folder, from, room).map_err(failed)?;
        let first = backup::stamp(before);
        let is_old = |copies: Vec<backup::Backup>| copies.iter().any(|copy| copy.stamp < first);
        match doubt {
            Some(doubt) if is_old(backup::list(&folder).map_err(failed)?) => {
                let days = settings.days;
                let failure = Failure::new(format!(
                    "no copy of a compaction older than {days} days was removed: {doubt}"
                ));
                Err(failure
                    .hint("set the clock; if it is right, wait until something was recorded on 3 days"))
            }
            _ => Ok(()),
        }
    }

    /// Returns why the clock is not believed, if it is not. A sound one is noted every hour, so that a jump
    /// is known by it.
    fn doubt_clock(&mut self, now: Millis) -> Result<Option<String>, AppendError> {
        if self.believed.is_some_and(|then| now.0.saturating_sub(then.0).unsigned_abs() < HOUR_MS) {
            return Ok(None);
        }
        match self.ledger.judge_clock(now)? {
            ClockTrust::Ahead { known } => Ok(Some(retention::doubt(now, known))),
            ClockTrust::Sound => {
                self.ledger.trust_clock(now)?;
                self.believed = Some(now);
                Ok(None)
            }
        }
    }

    /// Copies the file of the task of a row up to where it reached then.
    fn keep(&self, row: &Row, now: Millis) -> std::io::Result<Option<PathBuf>> {
        let bytes = row.metadata.get(attributes::TRANSCRIPT_BYTES).and_then(serde_json::Value::as_u64);
        let task = TaskId::parse(&row.task_id).and_then(|id| self.store.task(now, &id).ok());
        let (Some(bytes), Some(task)) = (bytes, task) else { return Ok(None) };
        let Some(found) = file::of_task(&self.roots, &task) else { return Ok(None) };
        let source = open(&found.path, found.file.form)?;
        backup::keep(&folder(&self.home), &task, row.occurred_at, source, bytes)
    }
}

/// Returns whether a task was purged. A store that cannot answer purged nothing.
fn is_gone(store: &dyn Store, task: &str, now: Millis) -> bool {
    TaskId::parse(task).is_some_and(|id| matches!(store.task(now, &id), Err(QueryError::NotFound)))
}

/// Starts the thread that makes copies until it is stopped.
pub(crate) fn start(
    home: &Home,
    ledger: &Arc<Ledger>,
    roots: Vec<Root>,
    clock: &Clock,
    stop: &Stop,
) -> Result<JoinHandle<()>, Failure> {
    let (ledger, store) = (Arc::clone(ledger), ledger.store());
    let mut job = BackupJob { home: home.clone(), ledger, store, roots, seen: None, believed: None };
    let periodic = PeriodicJob { name: "backup", every: EVERY, stop };
    let clock = Arc::clone(clock);
    // The first look is over when this returns: what arrives from now on is new.
    periodic.run_and_repeat(move || job.look(clock()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files;

    #[test]
    fn a_clock_that_jumps_ahead_makes_no_copy_old_and_the_room_counts_all_the_same() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::in_folder(folder.path());
        let copies = super::folder(&home);
        std::fs::create_dir_all(&copies).expect("a folder");
        let text = "[backup.compactions]\nenabled = true\nmegabytes = 1\n";
        files::write_private(&config::path(&home), text.as_bytes()).expect("written");
        let ledger = Arc::new(
            Ledger::open(&home.data().join("ledger.db"), agent_tracer_ledger::Options::default())
                .expect("a ledger"),
        );
        let now = Millis(1_794_777_004_001);
        let id = agent_tracer_event::TaskKey::new(agent_tracer_event::Agent::CODEX, "one").task_id();
        let copy = |days: i64, bytes: usize| {
            let stamp = backup::stamp(Millis(now.0 - days * DAY_MS));
            files::write_private(&copies.join(format!("{id}-{stamp}-main.jsonl.zst")), &vec![0; bytes])
                .expect("written");
        };
        let there = || backup::list(&copies).expect("a list").len();
        let (ledger_of, store) = (Arc::clone(&ledger), ledger.store());
        let mut job = BackupJob {
            home: home.clone(),
            ledger: ledger_of,
            store,
            roots: Vec::new(),
            seen: None,
            believed: None,
        };
        copy(1, 10);
        copy(31, 10);
        job.look(now).expect("looked");
        assert_eq!(there(), 1, "one was too old");
        let ahead = Millis(now.0 + 400 * DAY_MS);
        for _ in 0..2 {
            let refused = job.look(ahead).expect_err("it is not believed").to_string();
            assert!(refused.contains("the clock shows") && refused.contains("\nhint: "), "{refused}");
            assert_eq!(there(), 1);
        }
        copy(2, 2 << 20);
        job.look(ahead).expect_err("it is not believed");
        assert_eq!(there(), 1, "there is no room for it");
        job.look(now).expect("looked");
        ledger.close();
    }

    /// Reads a text of the file that held these settings before.
    fn parse(text: &str) -> Result<BackupSettings, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::in_folder(folder.path());
        files::write_private(&BackupSettings::OLD_FILE.path(&home), text.as_bytes()).expect("written");
        read(&home).map_err(|failure| failure.to_string())
    }

    #[test]
    fn nothing_is_copied_unless_the_user_enables_it() {
        for text in ["", "# on\ndays 3\n", "on\noff\n"] {
            assert!(!parse(text).expect(text).compactions.enabled, "{text}");
        }
        assert_eq!(
            parse("# mine\non\ndays 3 # few\nmegabytes 9\nstore-every 60\nstore-keep 3\n"),
            Ok(BackupSettings {
                compactions: CompactionCopies { enabled: true, days: 3, megabytes: 9 },
                store: StoreSchedule { every_minutes: Some(60), keep: 3 },
            })
        );
        let kept = parse("store-keep 2").expect("settings").store;
        assert_eq!(kept.every_minutes, None, "the store is backed up only where that is asked for");
        for text in
            ["\nyes", "\ndays 0", "\nmegabytes -1", "\nstore-every 0", "\nstore-keep x", "\ndays 1000001"]
        {
            let failure = parse(text).expect_err(text);
            assert!(failure.contains("backup.conf`: line 2: "), "{text}: {failure}");
        }
    }
}
