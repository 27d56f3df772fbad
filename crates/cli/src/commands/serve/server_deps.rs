//! Builds the dependencies of the server.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use agent_tracer_event::Millis;
use agent_tracer_intake::tail::{NamedCounts, NamedFiles};
use agent_tracer_intake::{Clock, History, Intake, PrivacyError, PrivacyFile, State};
use agent_tracer_jobs::alerts::Counts;
use agent_tracer_ledger::view::{ImportHealth, RetentionHealth, SpoolHealth, StoreFaults};
use agent_tracer_ledger::{Batch, Ledger, QueueFull};
use agent_tracer_policy::daemon::ActiveRules;
use agent_tracer_server::{Append, Capabilities, Live, PolicyListing, ServerDeps, SpoolView, WriteCallback};
use agent_tracer_spool::{Home, Spool};

use super::excluded_sessions;
use crate::client_drift;
use crate::instance::LockState;
use crate::retention::RetentionState;
use crate::ship_job::Progress;
use crate::store_backups;

/// Holds the state that the parts of this process share.
pub(super) struct Shared {
    pub(super) ledger: Arc<Ledger>,
    pub(super) live: Live,
    pub(super) home: Home,
    pub(super) clock: Clock,
    pub(super) privacy: Arc<PrivacyFile>,
    /// Started after the server, stopped before it.
    pub(super) intake: Arc<Mutex<Option<Intake>>>,
    /// Transcripts that posted hooks name.
    pub(super) named: NamedFiles,
    pub(super) kept: RetentionState,
    /// Actions of the server beyond queries.
    pub(super) acts: Capabilities,
    /// The rules in force.
    pub(super) active_rules: Arc<ActiveRules>,
    /// Progress of shipping to a team's server.
    pub(super) shipped: Progress,
    /// Counts of sent alerts.
    pub(super) alerts: Counts,
    /// State of the lock file.
    pub(super) lock: LockState,
    /// Problem text for an interrupted purge. Only another purge ends it, and that needs this server stopped.
    pub(super) unfinished_purge: Option<String>,
    /// Agents with settings that no longer fit their version.
    pub(super) drift: client_drift::Problems,
}

impl Shared {
    pub(super) fn server_deps(&self) -> ServerDeps {
        let privacy = Arc::clone(&self.privacy);
        let (spool, clock, intake) =
            (Spool::at(&self.home.spool()), Arc::clone(&self.clock), Arc::clone(&self.intake));
        let (kept, active_rules, shipped) =
            (self.kept.clone(), Arc::clone(&self.active_rules), self.shipped.clone());
        let (ledger, alerts) = (Arc::clone(&self.ledger), self.alerts.clone());
        let (lock, unfinished_purge) = (self.lock.clone(), self.unfinished_purge.clone());
        let drift = Arc::clone(&self.drift);
        let settings = Arc::clone(&self.privacy);
        let home = self.home.clone();
        ServerDeps {
            team: None,
            capabilities: self.acts.clone(),
            store: self.ledger.store(),
            append: Arc::new(Queue { ledger: Arc::clone(&self.ledger), named: self.named.clone() }),
            live: self.live.clone(),
            clock: Arc::clone(&self.clock),
            spool: Arc::new(move || {
                let state = intake.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(Intake::state);
                let mut view = look(&spool, clock(), state);
                let lost = agent_tracer_ledger::lost_posts(&store_backups::store(&home));
                // Posts that the ledger put aside are lost too, and the spool has no count of them.
                if lost > 0 {
                    view.health.lost.insert("set_aside".to_owned(), lost);
                }
                let (retention, problem) = kept.look();
                view.retention = retention;
                view.posted_bytes = ledger.waiting_bytes();
                view.ship = shipped.now();
                view.alerts = Some(alerts.clone());
                let parked = state.map_or(0, |state| state.files.parked);
                view.faults = Some(faults(ledger.faults(), parked, &lock));
                view.lock_removals = lock.removed();
                view.problems.extend(problem);
                view.problems.extend(unfinished_purge.clone());
                view.problems.extend(store_backups::status(&home, clock()).problem);
                view.problems.extend(active_rules.problems());
                view.problems.extend(drift.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned());
                view.problems.extend(settings.problem().map(|error| problem_of(&error)));
                view
            }),
            home: Some(self.home.clone()),
            rules: {
                let active_rules = Arc::clone(&self.active_rules);
                Arc::new(move || PolicyListing::from_rules(&active_rules))
            },
            privacy: Arc::new(move || privacy.current().map_err(|error| problem_of(&error).into())),
            unrecorded: {
                let privacy = Arc::clone(&self.privacy);
                Arc::new(move |session| privacy.keeps_out_session(session))
            },
            excluded: excluded_sessions::load(excluded_sessions::path(&self.home), &self.privacy),
            assets: Arc::new(crate::dashboard::file),
        }
    }
}

/// Returns the faults of `privacy.conf` as one text for a list of problems.
fn problem_of(error: &PrivacyError) -> String {
    format!(
        "{error}; until it is fixed, the previous settings apply, or nothing is recorded\nhint: {}",
        error.hint
    )
}

/// The ledger's queue, for what is posted.
struct Queue {
    ledger: Arc<Ledger>,
    named: NamedFiles,
}

impl Append for Queue {
    fn submit(&self, batch: Batch, done: WriteCallback) -> Result<(), Box<Batch>> {
        // Before the batch is given away: a posted hook may name a file that is to be followed.
        self.named.learn(&batch);
        self.ledger.submit(batch, done).map_err(|QueueFull(batch)| Box::new(batch))
    }

    fn post(&self, batch: Batch, done: WriteCallback) -> Result<(), Box<Batch>> {
        self.named.learn(&batch);
        self.ledger.post(batch, done).map_err(|QueueFull(batch)| Box::new(batch))
    }

    fn soon(&self) -> Option<Box<dyn Fn() -> bool + Send + Sync>> {
        /// Size of the folding backlog above which a waiting query is not served first.
        const SOON_BYTES: u64 = 4 << 20;
        let ledger = Arc::clone(&self.ledger);
        // In a burst the wait would be in vain: such an answer may be as old as the burst is long (ADR 15).
        (1..=SOON_BYTES).contains(&ledger.waiting_bytes()).then(|| {
            let token = ledger.flush_token();
            Box::new(move || ledger.is_flushed(token)) as Box<dyn Fn() -> bool + Send + Sync>
        })
    }
}

/// Returns the state of the spool and the problems around it.
fn look(spool: &Spool, now: Millis, state: Option<State>) -> SpoolView {
    let mut problems = Vec::new();
    let stats = match spool.stats() {
        Ok(stats) => Some(stats),
        Err(error) => {
            problems.push(format!("{error}; check the permissions of the spool"));
            None
        }
    };
    let import = state.map(|state| progress(state.history));
    if let Some(state) = state {
        if let History::Reading(progress) = state.history
            && progress.files_total > 0
        {
            problems.push(format!(
                "the history is still being read: {} of {} files; numbers grow until it is done",
                progress.files, progress.files_total
            ));
        }
        if state.files.failed > 0 {
            problems.push(format!("{} reads of files failed; the log names them", state.files.failed));
        }
        problems.extend(unread(state.named));
    }
    let Some(stats) = stats else {
        return SpoolView { problems, import, ..SpoolView::default() };
    };
    let lost: BTreeMap<String, u64> = stats
        .lost
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(reason, count)| (reason.as_str().to_owned(), *count))
        .collect();
    let oldest = stats.oldest_nanos.map(Millis::from_nanos);
    let lag = oldest.map_or(0, |oldest| now.0.saturating_sub(oldest.0));
    SpoolView {
        health: SpoolHealth { waiting: stats.waiting, quarantined: stats.quarantined, lost },
        lag_ms: u64::try_from(lag).unwrap_or(0),
        posted_bytes: 0,
        alerts: None,
        import,
        retention: RetentionHealth::default(),
        ship: None,
        lock_removals: 0,
        faults: None,
        problems,
    }
}

/// Returns what hooks named and is not read.
fn unread(named: NamedCounts) -> Vec<String> {
    let mut problems = Vec::new();
    if named.refused > 0 {
        problems.push(format!(
            "{} files that hooks named outside of the known homes are not read, because they are not the user's session \
             files; the log says why",
            named.refused
        ));
    }
    if named.displaced > 0 {
        problems.push(format!(
            "hooks named more files outside of the known homes than are followed at once; {} were left\n\
             hint: read them by `agent-tracer import --path FOLDER` while no server runs",
            named.displaced
        ));
    }
    problems
}

/// Returns the faults of the store and the files around it.
fn faults(mut faults: StoreFaults, parked: u64, lock: &LockState) -> StoreFaults {
    faults.parked_files = parked;
    if parked > 0 {
        faults.problems.push(format!(
            "the store rejects {parked} files of agents; the server retries them\n\
             hint: stop the server and run `agent-tracer recover`, which salvages the readable part"
        ));
    }
    faults.problems.extend(lock.problem());
    faults
}

/// Returns the progress of the import in the server's types.
fn progress(history: History) -> ImportHealth {
    let (running, progress) = match history {
        History::Reading(progress) => (true, progress),
        History::Done(progress) => (false, progress),
    };
    ImportHealth {
        running,
        files: progress.files as u64,
        files_total: progress.files_total as u64,
        bytes: progress.bytes,
        bytes_total: progress.bytes_total,
        rows: progress.rows,
    }
}

#[cfg(test)]
mod tests {
    use agent_tracer_intake::files::Counts;
    use agent_tracer_intake::import::Progress;
    use agent_tracer_spool::envelope::{Agent, Channel, Header};

    use super::*;

    #[test]
    fn the_backlog_and_its_age_are_reported() {
        let folder = tempfile::tempdir().expect("a folder");
        let spool = Spool::at(&folder.path().join("spool"));
        spool.prepare().expect("prepared");
        let header = Header::new(Agent::CODEX, Channel::Hook, 5_000_000_000);
        spool.accept(&header, b"{}", header.arrived_nanos, 1).expect("accepted");
        spool.count_loss(agent_tracer_spool::Reason::Full);
        let view = look(&spool, Millis(7_500), None);
        assert_eq!((view.health.waiting, view.lag_ms), (1, 2_500));
        assert_eq!(view.health.lost, BTreeMap::from([("full".to_owned(), 1)]));
        assert_eq!(view.problems, Vec::<String>::new());
    }

    #[test]
    fn files_that_hooks_named_and_that_are_not_read_are_reported() {
        assert_eq!(unread(NamedCounts::default()), Vec::<String>::new());
        let both = unread(NamedCounts { refused: 3, displaced: 9_936 });
        assert!(
            both[0].starts_with("3 files that hooks named") && both[1].contains("; 9936 were left\nhint: "),
            "{both:?}"
        );
    }

    #[test]
    fn a_history_that_is_still_being_read_is_reported() {
        let folder = tempfile::tempdir().expect("a folder");
        let spool = Spool::at(&folder.path().join("spool"));
        let progress = Progress { files: 2, files_total: 9, ..Progress::default() };
        let state = |history| State {
            envelopes: 0,
            refused: 0,
            unwritten: 0,
            failures: 0,
            files: Counts::default(),
            history,
            named: NamedCounts::default(),
        };
        let problems = |history| look(&spool, Millis(0), Some(state(history))).problems;
        let found = problems(History::Reading(progress));
        assert!(found[0].contains("2 of 9 files"), "{found:?}");
        assert_eq!(problems(History::Reading(Progress::default())), Vec::<String>::new());
        let import = |history| look(&spool, Millis(0), Some(state(history))).import.expect("an import");
        let half = ImportHealth { running: true, files: 2, files_total: 9, ..ImportHealth::default() };
        assert_eq!(import(History::Reading(progress)), half);
        assert_eq!(import(History::Done(progress)), ImportHealth { running: false, ..half });
        assert_eq!(problems(History::Done(progress)), Vec::<String>::new());
    }
}
