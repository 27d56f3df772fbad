//! What the system tells of changes.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::SystemTime;

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use crate::files::Root;
use crate::note::{Note, Notes};

/// Changes that may wait; if there are more, everything is looked at instead.
const WAITING: usize = 4096;

/// Why the tail wakes.
pub(super) enum Wake {
    /// Something changed at this path.
    Changed(PathBuf),
    /// What was at this path is gone.
    Gone(PathBuf),
    /// Somebody wants it to look up.
    Look,
}

/// Wakes a tail that waits.
#[derive(Clone, Debug)]
pub struct Waker {
    sender: SyncSender<Wake>,
}

impl Waker {
    /// Makes the tail look up. If so much waits that there is no room, it does so anyway.
    pub fn wake(&self) {
        drop(self.sender.try_send(Wake::Look));
    }
}

/// What tells a folder from another one of the same name: device, number and, because numbers are used again, birth.
type Identity = (u64, u64, Option<SystemTime>);

/// The system's watcher and what it watches.
pub(super) struct Watch {
    watcher: Option<RecommendedWatcher>,
    /// The folders that are there, and whether they are watched.
    watched: HashMap<PathBuf, (Identity, bool)>,
    sender: SyncSender<Wake>,
    missed: Arc<AtomicBool>,
}

impl Watch {
    pub(super) fn new(notes: &Notes) -> (Self, Receiver<Wake>) {
        let (mut watch, wakes) = Self::blind(notes);
        let (sender, missed) = (watch.sender.clone(), Arc::clone(&watch.missed));
        let hear = move |event: notify::Result<Event>| hear(event, &sender, &missed);
        match notify::recommended_watcher(hear) {
            Ok(watcher) => watch.watcher = Some(watcher),
            Err(error) => notes(Note::warning(format!(
                "the system does not tell which files change, looking every few seconds: {error}"
            ))),
        }
        (watch, wakes)
    }

    /// Nobody tells of changes.
    pub(super) fn blind(_: &Notes) -> (Self, Receiver<Wake>) {
        let (sender, wakes) = sync_channel(WAITING);
        (Self { watcher: None, watched: HashMap::new(), sender, missed: Arc::default() }, wakes)
    }

    pub(super) fn waker(&self) -> Waker {
        Waker { sender: self.sender.clone() }
    }

    /// Whether some folder that is there is not watched.
    pub(super) fn is_blind(&self) -> bool {
        self.watched.values().any(|(_, watched)| !watched)
    }

    /// Whether changes were not told; asking forgets it.
    pub(super) fn has_missed(&self) -> bool {
        self.missed.swap(false, Ordering::Relaxed)
    }

    /// Watches a folder if it is there and was not, or is another one than it was; says whether that is so.
    pub(super) fn renew(&mut self, root: &Root, notes: &Notes) -> bool {
        let now = fs::metadata(&root.folder).ok().filter(fs::Metadata::is_dir);
        let now = now.map(|facts| (facts.dev(), facts.ino(), facts.created().ok()));
        let known = self.watched.get(&root.folder).map(|(identity, _)| *identity);
        if now == known {
            return false;
        }
        if known.is_some() {
            self.forget(&root.folder);
        }
        let Some(identity) = now else { return false };
        let watched = match &mut self.watcher {
            None => false,
            Some(watcher) => match watcher.watch(&root.folder, RecursiveMode::Recursive) {
                Ok(()) => true,
                Err(error) => {
                    notes(Note::warning(format!(
                        "cannot watch `{}`, looking into it every few seconds: {error}",
                        root.folder.display()
                    )));
                    false
                }
            },
        };
        self.watched.insert(root.folder.clone(), (identity, watched));
        true
    }

    /// The folder itself was touched: it may be another one now.
    pub(super) fn forget(&mut self, folder: &Path) {
        if self.watched.remove(folder).is_some()
            && let Some(watcher) = &mut self.watcher
        {
            // It may be gone already, which is what is wanted.
            drop(watcher.unwatch(folder));
        }
    }
}

/// Called by the watcher's own thread.
fn hear(event: notify::Result<Event>, sender: &SyncSender<Wake>, missed: &AtomicBool) {
    let Ok(event) = event else {
        missed.store(true, Ordering::Relaxed);
        drop(sender.try_send(Wake::Look));
        return;
    };
    if event.need_rescan() {
        missed.store(true, Ordering::Relaxed);
        drop(sender.try_send(Wake::Look));
    }
    // Reading a file is told too, and we read them.
    if matches!(event.kind, EventKind::Access(_)) {
        return;
    }
    let is_gone = matches!(event.kind, EventKind::Remove(_));
    for path in event.paths {
        let wake = if is_gone { Wake::Gone(path) } else { Wake::Changed(path) };
        if sender.try_send(wake).is_err() {
            missed.store(true, Ordering::Relaxed);
        }
    }
}
