//! Copies of what goes into compactions: the user's `backup.conf`, and the thread of the server that makes them.
//!
//! The file has lines of a word and its value: `on`, `days N` (30 unless given), `megabytes N` (1024 unless given), and for
//! backups of the store `store-every N` (minutes; none are made unless it is given) and `store-keep N` (7 unless given).
//! Law: what is not understood copies nothing and removes nothing.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use agent_tracer_event::{Kind, Millis, TaskId, attributes};
use agent_tracer_intake::files::{Root, open};
use agent_tracer_intake::{Clock, Stop};
use agent_tracer_jobs::compaction::{backup, file};
use agent_tracer_ledger::view::Row;
use agent_tracer_ledger::{AppendError, ClockTrust, Ledger, QueryError, Store};
use agent_tracer_spool::Home;
use serde_json::Value;
use tracing::info;

use crate::failure::{Failure, plain};
use crate::periodic::PeriodicJob;
use crate::{files, retention};

/// Pause between two checks.
const EVERY: Duration = Duration::from_secs(5);
const DAY_MS: i64 = 24 * 60 * 60 * 1000;
const HOUR_MS: u64 = 60 * 60 * 1000;
const ROWS_MAX: u32 = 1000;
const FILE_BYTES: usize = 64 << 10;

/// Holds the user's backup settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BackupSettings {
    pub(crate) is_on: bool,
    pub(crate) days: u32,
    pub(crate) megabytes: u32,
    /// Interval between backups of the store, in minutes.
    pub(crate) store_every: Option<u32>,
    /// Number of those backups to keep.
    pub(crate) store_keep: u32,
}

impl Default for BackupSettings {
    fn default() -> Self {
        Self { is_on: false, days: 30, megabytes: 1024, store_every: None, store_keep: 7 }
    }
}

/// Returns the folder of the copies.
pub(crate) fn folder(home: &Home) -> PathBuf {
    home.data().join("backup")
}

/// Returns the path of the settings file.
pub(crate) fn path(home: &Home) -> PathBuf {
    home.config().join("backup.conf")
}

/// Reads the file; nothing is on if there is none.
pub(crate) fn read(home: &Home) -> Result<BackupSettings, Failure> {
    let path = path(home);
    let Some(bytes) = files::read_own(&path, FILE_BYTES)? else { return Ok(BackupSettings::default()) };
    parse(&String::from_utf8_lossy(&bytes)).map_err(|(line, what)| {
        Failure::new(format!("cannot read `{}`: line {line}: {what}", path.display()))
            .hint("correct the line, or run `agent-tracer backup on` or `off`, which rewrites the file")
    })
}

fn parse(text: &str) -> Result<BackupSettings, (usize, String)> {
    let mut settings = BackupSettings::default();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let count = |text: &str| match text.parse() {
            Ok(count @ 1..=1_000_000) => Ok(count),
            _ => Err((number + 1, format!("`{text}` is not between 1 and 1000000"))),
        };
        match line.split_whitespace().collect::<Vec<_>>().as_slice() {
            [] => {}
            ["on"] => settings.is_on = true,
            ["off"] => settings.is_on = false,
            ["days", text] => settings.days = count(text)?,
            ["megabytes", text] => settings.megabytes = count(text)?,
            ["store-every", text] => settings.store_every = Some(count(text)?),
            ["store-keep", text] => settings.store_keep = count(text)?,
            [word, ..] => return Err((number + 1, format!("`{word}` is no setting"))),
        }
    }
    Ok(settings)
}

/// The file that says this.
pub(crate) fn write(settings: BackupSettings) -> String {
    let state = if settings.is_on { "on" } else { "off" };
    let compactions = format!(
        "# Copies of what goes into compactions. See docs/compaction.md.\n{state}\ndays {}\nmegabytes {}\n",
        settings.days, settings.megabytes
    );
    match settings.store_every {
        None => compactions,
        Some(minutes) => format!(
            "{compactions}# Backups of the store, in minutes. See docs/recovery.md.\nstore-every {minutes}\nstore-keep {}\n",
            settings.store_keep
        ),
    }
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
    fn look(&mut self, now: Millis) -> Result<(), String> {
        let settings = read(&self.home).map_err(|failure| failure.to_string())?;
        let folder = folder(&self.home);
        let failed = |cause: std::io::Error| format!("cannot keep a copy of a compaction: {}", plain(&cause));
        if !settings.is_on && !folder.exists() {
            self.seen = None;
            return Ok(());
        }
        let newest = self.store.seq().map_err(|error| error.to_string())?;
        let after = self.seen.replace(newest);
        if let Some(mut after) = after.filter(|after| *after < newest) {
            while settings.is_on && after < newest {
                let rows = self.store.changes(after, ROWS_MAX).map_err(|error| error.to_string())?;
                let Some(last) = rows.last() else { break };
                after = last.seq.max(after + 1);
                for row in rows.iter().filter(|row| row.kind == Kind::ContextSaved) {
                    if let Some(path) = self.keep(row, now).map_err(failed)? {
                        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                        info!("kept a copy of a compaction: {name}");
                    }
                }
            }
            backup::remove(&folder, |backup| is_gone(self.store.as_ref(), &backup.task, now))
                .map_err(failed)?;
        }
        let room = u64::from(settings.megabytes) << 20;
        let before = Millis(now.0.saturating_sub(i64::from(settings.days) * DAY_MS));
        let doubt = self.doubt_clock(now).map_err(|error| error.to_string())?;
        // A clock that cannot be believed makes nothing old; the room is what it is.
        let from = if doubt.is_some() { Millis(0) } else { before };
        backup::retain(&folder, from, room).map_err(failed)?;
        let first = backup::stamp(before);
        let is_old = |copies: Vec<backup::Backup>| copies.iter().any(|copy| copy.stamp < first);
        match doubt {
            Some(doubt) if is_old(backup::list(&folder).map_err(failed)?) => Err(format!(
                "no copy of a compaction older than {} days was removed: {doubt}\n\
                 hint: set the clock; if it is right, wait until something was recorded on 3 days",
                settings.days
            )),
            _ => Ok(()),
        }
    }

    /// Says why the clock is not believed; nothing if it is. That it is, is noted once an hour, so that a clock that jumps
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
        let bytes = row.metadata.get(attributes::TRANSCRIPT_BYTES).and_then(Value::as_u64);
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
    periodic.at_once(move || job.look(clock()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_jumps_ahead_makes_no_copy_old_and_the_room_counts_all_the_same() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::in_folder(folder.path());
        let copies = super::folder(&home);
        std::fs::create_dir_all(&copies).expect("a folder");
        let settings = BackupSettings { is_on: true, days: 30, megabytes: 1, ..BackupSettings::default() };
        files::write_private(&path(&home), write(settings).as_bytes()).expect("written");
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
            let refused = job.look(ahead).expect_err("it is not believed");
            assert!(refused.contains("the clock shows") && refused.contains("\nhint: "), "{refused}");
            assert_eq!(there(), 1);
        }
        copy(2, 2 << 20);
        job.look(ahead).expect_err("it is not believed");
        assert_eq!(there(), 1, "there is no room for it");
        job.look(now).expect("looked");
        ledger.close();
    }

    #[test]
    fn nothing_is_copied_unless_the_user_says_so() {
        assert!(!parse("").unwrap().is_on && !parse("# on\ndays 3\n").unwrap().is_on);
        for store_every in [None, Some(60)] {
            let store_keep = if store_every.is_some() { 3 } else { 7 };
            let all = BackupSettings { is_on: true, days: 3, megabytes: 9, store_every, store_keep };
            assert_eq!(parse(&write(all)), Ok(all));
        }
        assert_eq!(
            parse("store-keep 2").unwrap().store_every,
            None,
            "the store is backed up only where that is asked for"
        );
        for text in ["\nyes", "\ndays 0", "\nmegabytes -1", "\nstore-every 0", "\nstore-keep x"] {
            assert_eq!(parse(text).unwrap_err().0, 2, "{text}");
        }
    }
}
