//! Reports of the system about changed files.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::SystemTime;

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tracing::warn;

use crate::files::Root;
use crate::log::folder_name;

/// The most changes that wait. Beyond, everything is checked instead.
const WAITING: usize = 4096;

/// A reason for the tail to wake.
pub(super) enum WakeReason {
    /// A file or folder changed at this path.
    Changed(PathBuf),
    /// The file or folder at this path is gone.
    Gone(PathBuf),
    /// A [`Waker`] was used, or changes were missed.
    Look,
}

/// Wakes a waiting tail.
#[derive(Clone, Debug)]
pub struct Waker {
    sender: SyncSender<WakeReason>,
}

impl Waker {
    /// Wakes the tail. A full queue is ignored, because it wakes the tail anyway.
    pub fn wake(&self) {
        drop(self.sender.try_send(WakeReason::Look));
    }
}

/// The identity of a folder: device, number and, because numbers are used again, the time of its creation.
type Identity = (u64, u64, Option<SystemTime>);

/// The system's watcher and what it watches.
pub(super) struct Watch {
    watcher: Option<RecommendedWatcher>,
    /// The existing folders; the flag is `true` if the system watches the folder.
    watched: HashMap<PathBuf, (Identity, bool)>,
    sender: SyncSender<WakeReason>,
    missed: Arc<AtomicBool>,
}

impl Watch {
    pub(super) fn new() -> (Self, Receiver<WakeReason>) {
        let (mut watch, wakes) = Self::blind();
        let (sender, missed) = (watch.sender.clone(), Arc::clone(&watch.missed));
        let on_event = move |event: notify::Result<Event>| report(event, &sender, &missed);
        match notify::recommended_watcher(on_event) {
            Ok(watcher) => watch.watcher = Some(watcher),
            Err(error) => {
                warn!(error = %error, "cannot watch files, checking every few seconds instead: {error}")
            }
        }
        (watch, wakes)
    }

    /// Creates a watch without reports of the system.
    pub(super) fn blind() -> (Self, Receiver<WakeReason>) {
        let (sender, wakes) = sync_channel(WAITING);
        (Self { watcher: None, watched: HashMap::new(), sender, missed: Arc::default() }, wakes)
    }

    pub(super) fn waker(&self) -> Waker {
        Waker { sender: self.sender.clone() }
    }

    /// Returns `true` if an existing folder is not watched.
    pub(super) fn is_blind(&self) -> bool {
        self.watched.values().any(|(_, watched)| !watched)
    }

    /// Returns `true` if reports were lost since the last call.
    pub(super) fn has_missed(&self) -> bool {
        self.missed.swap(false, Ordering::Relaxed)
    }

    /// Watches a folder that is new, or another one than before. Returns `true` if it is.
    pub(super) fn renew(&mut self, root: &Root) -> bool {
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
                    // The watcher's own text ends with the whole path; its kind alone does not.
                    let error = notify::Error::new(error.kind);
                    let folder = folder_name(std::slice::from_ref(root), &root.folder);
                    warn!(
                        folder = %folder,
                        error = %error,
                        "cannot watch folder `{folder}`, checking every few seconds instead: {error}"
                    );
                    false
                }
            },
        };
        self.watched.insert(root.folder.clone(), (identity, watched));
        true
    }

    /// Forgets a folder that was touched itself, as it may be another one now.
    pub(super) fn forget(&mut self, folder: &Path) {
        if self.watched.remove(folder).is_some()
            && let Some(watcher) = &mut self.watcher
        {
            // Fails if the folder is gone already, which is the usual reason to forget it.
            drop(watcher.unwatch(folder));
        }
    }
}

/// Passes a report on to the tail. Called by the watcher's own thread.
fn report(event: notify::Result<Event>, sender: &SyncSender<WakeReason>, missed: &AtomicBool) {
    let Ok(event) = event else {
        missed.store(true, Ordering::Relaxed);
        drop(sender.try_send(WakeReason::Look));
        return;
    };
    if event.need_rescan() {
        missed.store(true, Ordering::Relaxed);
        drop(sender.try_send(WakeReason::Look));
    }
    // Our own reading is reported too, and would wake the tail for ever.
    if matches!(event.kind, EventKind::Access(_)) {
        return;
    }
    let is_gone = matches!(event.kind, EventKind::Remove(_));
    for path in event.paths {
        let wake = if is_gone { WakeReason::Gone(path) } else { WakeReason::Changed(path) };
        if sender.try_send(wake).is_err() {
            missed.store(true, Ordering::Relaxed);
        }
    }
}
