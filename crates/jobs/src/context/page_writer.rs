//! Writes the pages: one for each folder with recent work, and none where there is nothing to report.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use agent_tracer_event::Millis;
use agent_tracer_ledger::{Answer, Paging, Store, TaskFilter};
use agent_tracer_spool::Home;
use agent_tracer_spool::context::{self, Page};

use crate::context::settings::Settings;
use crate::context::summary::{self, SummaryRequest};

/// Folders with work within this time get a page.
const RECENT_MS: i64 = 14 * 24 * 60 * 60 * 1000;
/// The most tasks that are read, and the most folders that get a page.
const RECENT_TASKS: u32 = 500;
const FOLDERS_MAX: usize = 200;

/// Keeps the pages of one home.
#[derive(Debug)]
pub struct PageWriter {
    home: Home,
}

impl PageWriter {
    /// Keeps those of this home.
    #[must_use]
    pub fn new(home: Home) -> Self {
        Self { home }
    }

    /// Removes every page, so that agents receive no context any more.
    ///
    /// # Errors
    /// If the system does not let us.
    pub fn clear(&self) -> io::Result<()> {
        match fs::remove_dir_all(self.home.context()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Makes the mark by which agents without a page name their task, or takes it away.
    ///
    /// # Errors
    /// If the system does not let us.
    pub fn mark_task(&self, settings: &Settings) -> io::Result<()> {
        let mark = context::task_mark(&self.home);
        if settings.enabled && settings.export_task {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(self.home.context())?;
            return replace(&mark, b"");
        }
        match fs::remove_file(mark) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Writes the pages anew. Returns how many there are.
    ///
    /// # Errors
    /// If the system does not let us write, or the store cannot answer.
    pub fn refresh(
        &self,
        store: &dyn Store,
        settings: &Settings,
        now: Millis,
        midnight: Millis,
    ) -> io::Result<usize> {
        let places = places(store, now).map_err(io::Error::other)?;
        fs::DirBuilder::new().recursive(true).mode(0o700).create(self.home.context())?;
        self.mark_task(settings)?;
        let written_s = u64::try_from(now.0 / 1000).unwrap_or(0);
        // The mark lies beside the pages and must not be swept with them.
        let mut kept = BTreeSet::from([context::task_mark(&self.home)]);
        for (project, folders) in &places {
            let ask = SummaryRequest { project, now, midnight, settings };
            let text = summary::text(store, &ask).map_err(io::Error::other)?;
            let Some(text) = text else { continue };
            let page =
                Page { written_s, exports_task: settings.export_task, escaped: context::escape(&text) };
            for folder in folders {
                let Some(bytes) = context::encode(&page, folder) else { continue };
                let path = context::path(&self.home, folder);
                replace(&path, &bytes)?;
                kept.insert(path);
            }
        }
        // No recent work, or nothing to report: an old page stays for a while, then it is removed.
        for entry in fs::read_dir(self.home.context())?.flatten() {
            if !kept.contains(&entry.path()) && is_older(&entry, now) {
                drop(fs::remove_file(entry.path()));
            }
        }
        Ok(kept.len() - 1)
    }
}

/// Returns pages that were not written for longer than folders are remembered.
fn is_older(entry: &fs::DirEntry, now: Millis) -> bool {
    let modified = entry.metadata().and_then(|facts| facts.modified()).ok();
    let since = modified.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    // A page whose time is unknown counts as new: kept for too long, it does no harm.
    let millis = since.and_then(|since| i64::try_from(since.as_millis()).ok()).unwrap_or(i64::MAX);
    now.0.saturating_sub(millis) > RECENT_MS
}

/// Returns the folders with recent work, by project.
fn places(store: &dyn Store, now: Millis) -> Answer<BTreeMap<String, BTreeSet<PathBuf>>> {
    let filter = TaskFilter {
        since: Some(Millis(now.0.saturating_sub(RECENT_MS))),
        paging: Paging { cursor: None, limit: RECENT_TASKS },
        ..TaskFilter::default()
    };
    let mut places: BTreeMap<String, BTreeSet<PathBuf>> = BTreeMap::new();
    let mut count = 0;
    for task in store.tasks(now, &filter)?.items {
        for folder in [&task.project, &task.workspace_path] {
            let folder = Path::new(folder);
            // A page about `/` would be about everything below it.
            if !folder.is_absolute() || folder.parent().is_none() || count >= FOLDERS_MAX {
                continue;
            }
            let folders = places.entry(task.project.clone()).or_default();
            count += usize::from(folders.insert(folder.to_owned()));
        }
    }
    Ok(places)
}

/// Replaces a page as a whole: a hook never sees half of one.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    // Left by a process of the same number that was killed, it would refuse `create_new`.
    drop(fs::remove_file(&temporary));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
    let written = file.write_all(bytes).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        drop(fs::remove_file(&temporary));
    }
    written
}
