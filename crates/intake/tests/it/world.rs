//! A small world for one test: agents' homes, a spool, a sink that remembers everything, and a clock that is set.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::time::{Duration, Instant, UNIX_EPOCH};

use agent_tracer_agents::sessions::{SessionFile, recognise};
use agent_tracer_event::{Agent, Millis, Outcome, Subject};
use agent_tracer_intake::files::{Files, ReadOutcome, Root};
use agent_tracer_intake::{Clock, PrivacyFile, Projects, Sink, Stop};
use agent_tracer_ledger::{AppendError, Batch, Cursor, Observed, Receipt, Verdict};
use agent_tracer_spool::Home;

/// The modification time of the files of a test.
pub(crate) const WRITTEN: i64 = 1_790_000_000_000;

/// A sink that remembers every batch in order.
#[derive(Default)]
pub(crate) struct Recorder {
    inner: Mutex<Recorded>,
    news: Condvar,
}

#[derive(Default)]
struct Recorded {
    batches: Vec<Batch>,
    cursors: HashMap<String, Cursor>,
    names: HashSet<String>,
    /// Errors for the next batches.
    refusals: Vec<AppendError>,
    /// Observations with this text in their name or source are refused, while others are taken.
    poison: Option<String>,
    attempts: usize,
}

impl Recorder {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Refuses the next batch with this error. Several calls refuse as many batches.
    pub(crate) fn refuse(&self, error: AppendError) {
        self.inner.lock().unwrap().refusals.push(error);
    }

    /// Refuses observations with this text in their name or source from now on; none without a text.
    pub(crate) fn poison(&self, part: Option<&str>) {
        self.inner.lock().unwrap().poison = part.map(str::to_owned);
    }

    /// Returns the number of batches that were offered.
    pub(crate) fn attempts(&self) -> usize {
        self.inner.lock().unwrap().attempts
    }

    pub(crate) fn batches(&self) -> Vec<Batch> {
        self.inner.lock().unwrap().batches.clone()
    }

    pub(crate) fn observed(&self) -> Vec<Observed> {
        self.batches().into_iter().flat_map(|batch| batch.observed).collect()
    }

    pub(crate) fn skipped(&self) -> u64 {
        self.batches().iter().map(|batch| batch.skipped).sum()
    }

    /// Returns the observations of a file in order, without the projects that the intake added.
    pub(crate) fn observed_in(&self, path: &Path) -> Vec<(String, Verdict)> {
        let source = path.to_str().unwrap();
        let inner = self.inner.lock().unwrap();
        let observed = inner.batches.iter().flat_map(|batch| &batch.observed);
        observed
            .filter(|observed| observed.source.as_deref() == Some(source))
            .map(|observed| without_projects(observed.clone()))
            .collect()
    }

    pub(crate) fn forget_rows(&self) {
        self.inner.lock().unwrap().batches.clear();
    }

    /// Waits until the batches satisfy a condition; fails after sixty seconds.
    #[track_caller]
    pub(crate) fn wait_until(&self, what: &str, is_met: impl Fn(&[Batch]) -> bool) -> Duration {
        let begun = Instant::now();
        let mut inner = self.inner.lock().unwrap();
        while !is_met(&inner.batches) {
            let left = Duration::from_secs(60).saturating_sub(begun.elapsed());
            assert!(!left.is_zero(), "waited in vain: {what}");
            inner = self.news.wait_timeout(inner, left).unwrap().0;
        }
        begun.elapsed()
    }
}

/// Returns the name and verdict of an observation, without the projects that the intake added.
pub(crate) fn without_projects(mut observed: Observed) -> (String, Verdict) {
    if let Verdict::Read(reading) = &mut observed.verdict {
        reading.entries.retain(|entry| {
            !(entry.subject == Subject::Task
                && entry.metadata.len() == 1
                && entry.metadata.contains_key("project"))
        });
    }
    (observed.name, observed.verdict)
}

impl Sink for Recorder {
    fn append(&self, batch: Batch) -> Result<Receipt, AppendError> {
        let mut inner = self.inner.lock().unwrap();
        inner.attempts += 1;
        self.news.notify_all();
        if let Some(refusal) = inner.refusals.pop() {
            return Err(refusal);
        }
        let mut receipt = Receipt::default();
        let mut batch = batch;
        if let Some(part) = inner.poison.clone() {
            let is_poison = |observed: &Observed| {
                observed.name.contains(&part)
                    || observed.source.as_ref().is_some_and(|file| file.contains(&part))
            };
            let damaged = || "a page is damaged".to_owned();
            if !batch.cursors.is_empty() && batch.observed.iter().any(is_poison) {
                return Err(AppendError::Item(damaged().into()));
            }
            let places = batch.observed.iter().enumerate().filter(|(_, observed)| is_poison(observed));
            receipt.unwritten = places.map(|(place, _)| (place, damaged())).collect();
            batch.observed.retain(|observed| !is_poison(observed));
        }
        let mut outcomes = Vec::new();
        for observed in &batch.observed {
            let is_new = inner.names.insert(observed.name.clone());
            outcomes.push(if is_new { Outcome::Recorded } else { Outcome::Duplicate });
        }
        for cursor in &batch.cursors {
            inner.cursors.insert(cursor.source.clone(), cursor.clone());
        }
        inner.batches.push(batch);
        Ok(Receipt { outcomes, ..receipt })
    }

    fn cursor(&self, source: &str) -> Result<Option<Cursor>, AppendError> {
        Ok(self.inner.lock().unwrap().cursors.get(source).cloned())
    }

    fn cursors(&self, agent: Agent) -> Result<Vec<Cursor>, AppendError> {
        let inner = self.inner.lock().unwrap();
        Ok(inner.cursors.values().filter(|cursor| cursor.agent == agent).cloned().collect())
    }
}

pub(crate) struct World {
    folder: tempfile::TempDir,
    pub(crate) sink: Arc<Recorder>,
    now: Arc<AtomicI64>,
    pub(crate) files: Arc<Files>,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let now = Arc::new(AtomicI64::new(WRITTEN));
        let sink = Recorder::new();
        let files = make_files(folder.path(), &sink, &now);
        Self { folder, sink, now, files }
    }

    /// Restarts the program in the same world.
    pub(crate) fn restart(&mut self) {
        self.files = make_files(self.folder.path(), &self.sink, &self.now);
        self.files.load().unwrap();
    }

    /// Replaces the sink by an empty one and keeps the files.
    pub(crate) fn with_new_sink(&mut self) {
        self.sink = Recorder::new();
        self.restart();
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn home(&self) -> Home {
        Home::in_folder(self.path("home"))
    }

    pub(crate) fn clock(&self) -> Clock {
        let now = Arc::clone(&self.now);
        Arc::new(move || Millis(now.load(Ordering::Relaxed)))
    }

    pub(crate) fn set_now(&self, now: i64) {
        self.now.store(now, Ordering::Relaxed);
    }

    pub(crate) fn roots(&self) -> Vec<Root> {
        vec![
            Root::new(Agent::CLAUDE_CODE, self.path("claude/projects")),
            Root::new(Agent::CODEX, self.path("codex/sessions")),
            Root::new(Agent::CODEX, self.path("codex/archived_sessions")),
        ]
    }

    /// Replaces a file as a whole, under the same path and the same number.
    pub(crate) fn put(&self, path: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = File::create(&path).unwrap();
        file.write_all(bytes).unwrap();
        touch(&file, WRITTEN);
        path
    }

    /// Appends to a file.
    pub(crate) fn append(&self, path: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = OpenOptions::new().append(true).create(true).open(&path).unwrap();
        file.write_all(bytes).unwrap();
        touch(&file, WRITTEN);
        path
    }

    /// Reads a file of the world.
    pub(crate) fn read(&self, path: &str) -> ReadOutcome {
        let path = self.path(path);
        self.files.read(&path, &kind(&path), &Stop::new()).unwrap()
    }
}

/// Times of change are fixed: they are the time of rows that have none.
pub(crate) fn touch(file: &File, millis: i64) {
    file.set_modified(UNIX_EPOCH + Duration::from_millis(millis.try_into().unwrap())).unwrap();
}

pub(crate) fn kind(path: &Path) -> SessionFile {
    let agent = path.to_str().unwrap().contains("/codex/").then_some(Agent::CODEX);
    recognise(Some(agent.unwrap_or(Agent::CLAUDE_CODE)), path).expect("a file of an agent")
}

fn make_files(folder: &Path, sink: &Arc<Recorder>, now: &Arc<AtomicI64>) -> Arc<Files> {
    let privacy = PrivacyFile::new(folder.join("home/privacy.conf"), [7; 16], None);
    let now = Arc::clone(now);
    let clock: Clock = Arc::new(move || Millis(now.load(Ordering::Relaxed)));
    let sink: Arc<dyn Sink> = Arc::<Recorder>::clone(sink);
    Arc::new(Files::new(sink, Arc::new(privacy), Arc::new(Projects::new()), clock))
}

/// Holds the log of this process, as JSON.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Returns the one log: events come from threads that a test does not start itself, so each process has one.
    pub(crate) fn of_process() -> &'static Log {
        static LOG: OnceLock<Log> = OnceLock::new();
        LOG.get_or_init(|| {
            let log = Log::default();
            let writer = log.clone();
            let lines =
                tracing_subscriber::fmt().json().flatten_event(true).with_writer(move || writer.clone());
            tracing::subscriber::set_global_default(lines.finish()).expect("the first log");
            log
        })
    }

    /// Returns what was logged so far, by all tests of this process.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }

    /// Returns the lines whose message contains this part.
    pub(crate) fn lines(&self, part: &str) -> Vec<serde_json::Value> {
        let text = self.text();
        let lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
        lines.filter(|line| line["message"].as_str().is_some_and(|text| text.contains(part))).collect()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Returns a row of Claude Code that becomes an observation.
pub(crate) fn row(number: usize) -> String {
    format!(
        concat!(
            r#"{{"type":"user","uuid":"u{n}","sessionId":"5a13","cwd":"/nowhere/shop","version":"2.1.325","#,
            r#""timestamp":"2026-11-15T21:{m:02}:{s:02}.000Z","promptId":"p{n}","#,
            r#""message":{{"role":"user","content":"prompt number {n}"}}}}"#,
            "\n"
        ),
        n = number,
        m = number / 60 % 60,
        s = number % 60
    )
}

pub(crate) fn rows(numbers: std::ops::Range<usize>) -> String {
    numbers.map(row).collect()
}
