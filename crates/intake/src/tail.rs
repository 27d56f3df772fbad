//! Follows files as they grow.
//!
//! The system reports changes of files, quickly but not reliably. So there is a second way, which costs little:
//! every two seconds the recently changed files and the folders themselves are checked, and every few minutes
//! everything is. Without reports (no watcher, no watches left), everything is checked every few seconds,
//! less often the longer that takes.

mod active;
mod named;
mod watch;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use agent_tracer_agents::sessions::{SessionFile, recognise};

use crate::files::{Files, FoundFile, ReadError, ReadOutcome, Root, find, find_in, read_facts};
use crate::log;
use crate::pace::Pace;
use crate::stop::Stop;
use active::ActiveFiles;
pub use named::{NamedCounts, NamedFiles};
pub use watch::Waker;
use watch::{WakeReason, Watch};

/// The interval between two checks of folders and active files.
const TICK: Duration = Duration::from_secs(2);
/// The time to gather changes before reading: a write is rarely alone.
const GATHER: Duration = Duration::from_millis(15);
/// The interval between two checks of everything while the system reports changes.
const WALK: Duration = Duration::from_secs(300);
/// The same interval without reports.
const WALK_BLIND: Duration = Duration::from_secs(3);
/// Checks of everything take at most one part in so many of the time.
const WALK_SHARE: u32 = 100;

/// Follows the files of some folders.
pub struct Tail {
    files: Arc<Files>,
    /// The folders that are followed; those of named files come after the first `fixed`.
    roots: Vec<Root>,
    fixed: usize,
    named: NamedFiles,
    named_version: u64,
    /// Files that hooks named, outside of the folders.
    named_files: BTreeMap<PathBuf, SessionFile>,
    watch: Watch,
    wakes: Receiver<WakeReason>,
    active: ActiveFiles,
    /// Files to read now.
    changed: BTreeSet<PathBuf>,
    /// Files that could not be read yet.
    later: BTreeMap<PathBuf, SessionFile>,
    walked: Instant,
    walk_cost: Duration,
    walks_now: bool,
}

impl Tail {
    /// Begins to watch. [`Tail::run`] reads later changes. It reads what is there already only after a change, or after
    /// [`Tail::read_everything`].
    pub fn new(files: Arc<Files>, roots: Vec<Root>) -> (Self, Waker) {
        Self::with(files, roots, Watch::new)
    }

    /// Creates a tail that checks for changes itself, for a system that cannot report them.
    pub fn polling(files: Arc<Files>, roots: Vec<Root>) -> (Self, Waker) {
        Self::with(files, roots, Watch::blind)
    }

    fn with(
        files: Arc<Files>,
        roots: Vec<Root>,
        make: fn() -> (Watch, Receiver<WakeReason>),
    ) -> (Self, Waker) {
        // One queue for reports and wakes, so that the thread waits at one place.
        let (mut watch, wakes) = make();
        let waker = watch.waker();
        for root in &roots {
            watch.renew(root);
        }
        let named = NamedFiles::outside(&roots);
        let tail = Self {
            files,
            fixed: roots.len(),
            roots,
            named,
            named_version: 0,
            named_files: BTreeMap::new(),
            watch,
            wakes,
            active: ActiveFiles::default(),
            changed: BTreeSet::new(),
            later: BTreeMap::new(),
            walked: Instant::now(),
            walk_cost: Duration::ZERO,
            walks_now: false,
        };
        (tail, waker)
    }

    /// Follows the files of this collection, too.
    #[must_use]
    pub fn with_named(mut self, named: NamedFiles) -> Self {
        named.wake_with(self.watch.waker());
        self.named = named;
        self
    }

    /// Lets [`Tail::run`] begin with the files that are there already.
    pub fn read_everything(&mut self) {
        self.walks_now = true;
    }

    /// Reads changes until a stop is requested. The requester also uses the [`Waker`].
    pub fn run(mut self, stop: &Stop) {
        let mut pace = Pace::default();
        let mut ticked = Instant::now();
        while !stop.is_requested() {
            self.follow_named();
            if self.walks_now || self.walked.elapsed() >= self.walk_pause() {
                self.walk();
            }
            match self.read_changed(stop) {
                Ok(()) => pace.succeeded(),
                Err(error) => {
                    let pause = pace.failed();
                    log::warn_unread(&error, Some(pause));
                    stop.wait(pause);
                    continue;
                }
            }
            self.gather(TICK.saturating_sub(ticked.elapsed()), stop);
            if ticked.elapsed() >= TICK {
                ticked = Instant::now();
                self.tick();
            }
        }
    }

    /// Waits for a change, then a moment longer for those that come with it.
    fn gather(&mut self, most: Duration, stop: &Stop) {
        match self.wakes.recv_timeout(most) {
            Ok(wake) => self.woken(wake),
            Err(RecvTimeoutError::Timeout) => return,
            Err(RecvTimeoutError::Disconnected) => {
                // Cannot happen while the watch lives; a pause is better than a busy loop in any case.
                stop.wait(most);
                return;
            }
        }
        let until = Instant::now() + GATHER;
        while let Ok(wake) = self.wakes.recv_timeout(until.saturating_duration_since(Instant::now())) {
            self.woken(wake);
        }
        if self.watch.has_missed() {
            self.walks_now = true;
        }
    }

    fn woken(&mut self, wake: WakeReason) {
        match wake {
            WakeReason::Gone(path) => {
                if self.roots.iter().any(|root| root.folder == path) {
                    self.watch.forget(&path);
                }
            }
            WakeReason::Changed(path) => {
                self.changed.insert(path);
            }
            WakeReason::Look => {}
        }
    }

    /// Follows the files that hooks named since the last call.
    fn follow_named(&mut self) {
        let Some(followed) = self.named.changed_since(&mut self.named_version) else { return };
        for root in self.roots.drain(self.fixed..) {
            if !followed.roots.contains(&root) {
                self.watch.forget(&root.folder);
            }
        }
        let known = std::mem::take(&mut self.named_files);
        for (path, file) in followed.files {
            if !known.contains_key(&path) {
                self.changed.insert(path.clone());
            }
            self.named_files.insert(path, file);
        }
        // The folder counts as changed once: its files were there before it was watched.
        for root in followed.roots {
            self.changed.insert(root.folder.clone());
            self.watch.renew(&root);
            self.roots.push(root);
        }
    }

    /// Checks the folders themselves, and the files that changed recently.
    fn tick(&mut self) {
        for root in &self.roots {
            if self.watch.renew(root) {
                let changed = &mut self.changed;
                find(root, &mut |found| {
                    if self.files.is_news(&found) {
                        changed.insert(found.path);
                    }
                });
            }
        }
        let files = &self.files;
        self.changed.extend(self.active.changed(|found| files.is_news(found)));
        // Not watched, because each is one file in a folder that is not ours to watch.
        let named = self.named_files.iter().filter_map(|(path, file)| found(path, file));
        self.changed.extend(named.filter(|found| files.is_news(found)).map(|found| found.path));
        self.changed.extend(std::mem::take(&mut self.later).into_keys());
        self.changed.extend(self.files.due());
    }

    /// Checks every file of every folder.
    fn walk(&mut self) {
        let begun = Instant::now();
        self.walks_now = false;
        for root in &self.roots {
            let changed = &mut self.changed;
            let failed = find(root, &mut |found| {
                if self.files.is_news(&found) {
                    changed.insert(found.path);
                }
            });
            for (folder, error) in failed {
                log::warn_unlisted(&self.roots, &folder, &error);
            }
        }
        self.walked = Instant::now();
        self.walk_cost = begun.elapsed();
    }

    fn walk_pause(&self) -> Duration {
        let pause = if self.watch.is_blind() { WALK_BLIND } else { WALK };
        pause.max(self.walk_cost * WALK_SHARE)
    }

    /// Reads the changed files. After a refusal of the sink, the rest stays for the next time.
    fn read_changed(&mut self, stop: &Stop) -> Result<(), ReadError> {
        while let Some(path) = self.changed.pop_first() {
            if stop.is_requested() {
                return Ok(());
            }
            if let Some(file) = self.named_files.get(&path).cloned() {
                self.read_one(path, file, stop)?;
                continue;
            }
            let Some(root) = self.roots.iter().find(|root| path.starts_with(&root.folder)) else { continue };
            // Links are not followed, except if the folder itself is one.
            let is_folder =
                path == root.folder || fs::symlink_metadata(&path).is_ok_and(|facts| facts.is_dir());
            if is_folder {
                let changed = &mut self.changed;
                let mut failed = Vec::new();
                // A new folder may have got its files before it was watched.
                find_in(
                    root,
                    &path,
                    &mut |found| {
                        changed.insert(found.path);
                    },
                    &mut failed,
                );
                continue;
            }
            let Some(file) = recognise(root.agent, &path) else { continue };
            self.read_one(path, file, stop)?;
        }
        Ok(())
    }

    fn read_one(&mut self, path: PathBuf, file: SessionFile, stop: &Stop) -> Result<(), ReadError> {
        if !self.named.admits(&path, &file) {
            self.active.forget(&path);
            return Ok(());
        }
        match self.files.read(&path, &file, stop) {
            Ok(ReadOutcome::Read | ReadOutcome::Nothing) => self.active.touch(&path, &file),
            // Kept out of the changed files, or a half-written one would be read in a circle.
            Ok(ReadOutcome::Later) => {
                self.later.insert(path, file);
            }
            Ok(ReadOutcome::Gone) => self.active.forget(&path),
            Ok(ReadOutcome::Busy | ReadOutcome::Stopped) => {}
            Err(error @ ReadError::Sink { .. }) => {
                self.changed.insert(path);
                return Err(error);
            }
            // It is due again later; no other file waits for it.
            Err(error @ (ReadError::File { .. } | ReadError::Parked { .. })) => {
                log::warn_unread(&error, None);
            }
        }
        Ok(())
    }
}

/// Returns a file with its present metadata, if it exists.
fn found(path: &Path, file: &SessionFile) -> Option<FoundFile> {
    let facts = read_facts(path).ok().flatten()?;
    Some(FoundFile { path: path.to_owned(), file: file.clone(), facts })
}
