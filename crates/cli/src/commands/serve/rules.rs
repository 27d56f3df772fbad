//! Keeps the rules in force while the server runs: looks every other second whether a file of rules changed, and learns of
//! projects from where agents work.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use agent_tracer_event::Millis;
use agent_tracer_intake::{Clock, Stop};
use agent_tracer_ledger::{Paging, Store, TaskFilter};
use agent_tracer_policy::daemon::{ActiveRules, project_root};
use tracing::{info, warn};

use crate::failure::Failure;
use crate::periodic::PeriodicJob;

/// Pause between two checks.
const EVERY: Duration = Duration::from_secs(2);
/// Age of the last event up to which a project counts as active and its rules are read.
const RECENT_MS: i64 = 24 * 60 * 60 * 1000;
/// Limit of recent tasks that are read.
const RECENT_TASKS: u32 = 200;

/// Starts the thread that checks until it is stopped. The first check is over when this returns, so that no answer
/// follows older rules.
pub(super) fn start(
    active_rules: &Arc<ActiveRules>,
    store: Arc<dyn Store>,
    clock: &Clock,
    stop: &Stop,
) -> Result<JoinHandle<()>, Failure> {
    let mut watch = Watch {
        active_rules: Arc::clone(active_rules),
        store,
        seen: None,
        roots: Vec::new(),
        reported: Vec::new(),
    };
    let job = PeriodicJob { name: "rules", every: EVERY, stop };
    let clock = Arc::clone(clock);
    job.run_and_repeat(move || {
        watch.look(clock());
        Ok(())
    })
}

struct Watch {
    active_rules: Arc<ActiveRules>,
    store: Arc<dyn Store>,
    /// The place in the order of delivery up to which `roots` is what it should be.
    seen: Option<u64>,
    roots: Vec<PathBuf>,
    /// Problems that were reported.
    reported: Vec<String>,
}

impl Watch {
    fn look(&mut self, now: Millis) {
        // A store that cannot answer says so elsewhere; the rules that are known stay.
        if let Ok(seq) = self.store.seq()
            && self.seen != Some(seq)
        {
            self.seen = Some(seq);
            self.roots = self.recent(now);
        }
        // Files are compared by the rules, every time: an edit of a rules file changes no row of the store.
        let looked = self.active_rules.reload(&self.roots);
        if looked.changed {
            let rules = self.active_rules.rules().len();
            info!(rules, "rules in force: {rules}");
        }
        for problem in looked.problems.iter().filter(|problem| !self.reported.contains(problem)) {
            let failure = Failure::from_text(problem);
            warn!(hint = failure.hint_line(), "{}", failure.message());
        }
        self.reported = looked.problems;
    }

    /// Returns the roots of recently active projects.
    fn recent(&self, now: Millis) -> Vec<PathBuf> {
        let filter = TaskFilter {
            since: Some(Millis(now.0.saturating_sub(RECENT_MS))),
            paging: Paging { cursor: None, limit: RECENT_TASKS },
            ..TaskFilter::default()
        };
        let Ok(page) = self.store.tasks(now, &filter) else { return Vec::new() };
        let mut roots: Vec<PathBuf> = page
            .items
            .iter()
            .flat_map(|task| [&task.workspace_path, &task.project])
            .map(|folder| Path::new(folder.as_str()))
            .filter(|folder| folder.is_absolute())
            .map(project_root)
            .collect();
        roots.sort();
        // Many tasks share a project, and each root costs a look at the disk every two seconds.
        roots.dedup();
        roots
    }
}
