//! Runs beside a team's server: one thread follows the store and refreshes the tokens, another makes the sums of past
//! days.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::clickhouse::{AccessEntry, Fleet, FleetError, Reader, RollupDelays};
use agent_tracer_event::Millis;
use agent_tracer_ledger::{AppendError, Batch, Changes, FaultCause, QueryError, error_text};
use agent_tracer_server as server;
use agent_tracer_server::{
    Append, AuditEntry, ExcludedSessions, FindAsset, Live, PolicyListing, Provider, ServerDeps,
    ShipmentError, SpoolView, WriteCallback,
};

use crate::team::arrivals::{ArrivalCursor, ArrivalUpdate};
use crate::team::audit::Audit;
use crate::team::token::KnownTokens;

/// Pause between two polls of the store for arrivals and valid tokens.
const PAUSE: Duration = Duration::from_millis(1_000);

/// Pause between two checks for days that ended or were marked.
const DAYS_PAUSE: Duration = Duration::from_secs(20);

/// A team's server, beside the server.
pub struct Team {
    fleet: Arc<Fleet>,
    reader: Reader,
    known: Arc<KnownTokens>,
    live: Live,
    clock: Provider<Millis>,
    problems: Arc<Problems>,
    /// Dropped, they end the threads.
    stops: Vec<Sender<()>>,
    /// Ends work that is under way.
    is_ending: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

/// Holds the last problem of each thread, or none.
#[derive(Default)]
struct Problems {
    following: Mutex<Option<String>>,
    days: Mutex<Option<String>>,
}

impl Problems {
    fn all(&self) -> Vec<String> {
        let report =
            |problem: &Mutex<Option<String>>| problem.lock().unwrap_or_else(PoisonError::into_inner).clone();
        [&self.following, &self.days].into_iter().filter_map(report).collect()
    }
}

/// Makes the sums of days until it is stopped. Every process does: two that run at once make the same.
fn make_days(fleet: &Fleet, problem: &Mutex<Option<String>>, stopped: &Receiver<()>, is_ending: &AtomicBool) {
    let go_on = || !is_ending.load(Ordering::Relaxed);
    loop {
        let made = fleet.make_days(RollupDelays::default(), &go_on);
        report(
            problem,
            made.err().map(|error| format!("the sums of days were not made: {}", error_text(&error))),
        );
        if stopped.recv_timeout(DAYS_PAUSE) != Err(RecvTimeoutError::Timeout) {
            return;
        }
    }
}

/// Nothing is appended: what a team's server holds was derived elsewhere.
struct ReadOnlyAppend;

impl Append for ReadOnlyAppend {
    fn submit(&self, _: Batch, done: WriteCallback) -> Result<(), Box<Batch>> {
        done(Err(AppendError::ReadOnly));
        Ok(())
    }
}

/// Describes a visit as the audit of the server lists it.
fn entry(visit: AccessEntry) -> AuditEntry {
    AuditEntry {
        at: Millis(visit.at),
        reader: visit.reader,
        owner: visit.owner,
        task_id: Some(visit.task).filter(|task| !task.is_empty()),
        question: visit.what,
    }
}

fn report(problem: &Mutex<Option<String>>, what: Option<String>) {
    *problem.lock().unwrap_or_else(PoisonError::into_inner) = what;
}

impl Team {
    /// Brings the store up to date, learns the tokens, and begins to follow.
    ///
    /// # Errors
    /// If the store cannot be reached, refuses, or was made by a newer version.
    pub fn start(fleet: Arc<Fleet>, clock: Provider<Millis>) -> Result<Self, FleetError> {
        fleet.migrate()?;
        let reader = Reader::of_all_owners(Arc::clone(&fleet));
        let known = Arc::new(KnownTokens::default());
        // Before the first request can come: a server that does not know its tokens yet would refuse all of them.
        known.replace(fleet.tokens()?);
        let newest = reader.seq().map_err(|error| FleetError::Refused(FaultCause::new(error)))?;
        let live = Live::new();
        let problems: Arc<Problems> = Arc::default();
        let is_ending: Arc<AtomicBool> = Arc::default();
        let (stop, stopped) = channel::<()>();
        let follows = {
            let (fleet, reader) = (Arc::clone(&fleet), reader.clone());
            let (known, live, problems) = (Arc::clone(&known), live.clone(), Arc::clone(&problems));
            let mut follow = ArrivalCursor::from(newest);
            std::thread::Builder::new().name("team".to_owned()).spawn(move || {
                while stopped.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                    let asked = fleet.tokens().map(|tokens| known.replace(tokens)).map_err(QueryError::from);
                    let followed = match live.is_followed() {
                        true => follow.next(&reader).map(|update| match update {
                            ArrivalUpdate::Rows(rows) => live.publish(&rows),
                            ArrivalUpdate::Missed(from, to) => live.publish_missed(from, to),
                        }),
                        false => follow.skip_unread(&reader),
                    };
                    report(&problems.following, asked.and(followed).err().map(|error| error_text(&error)));
                }
            })
        };
        let (stop_days, stopped) = channel::<()>();
        let makes = {
            let (fleet, problems) = (Arc::clone(&fleet), Arc::clone(&problems));
            let is_ending = Arc::clone(&is_ending);
            std::thread::Builder::new()
                .name("days".to_owned())
                .spawn(move || make_days(&fleet, &problems.days, &stopped, &is_ending))
        };
        let mut team = Self {
            fleet,
            reader,
            known,
            live,
            clock,
            problems,
            stops: vec![stop, stop_days],
            is_ending,
            threads: Vec::new(),
        };
        for thread in [follows, makes] {
            team.threads.push(thread.map_err(|error| FleetError::Unreachable(error.into()))?);
        }
        Ok(team)
    }

    /// Returns the dependencies of the server.
    #[must_use]
    pub fn deps(&self, assets: FindAsset) -> ServerDeps {
        let (known, clock) = (Arc::clone(&self.known), Arc::clone(&self.clock));
        let fleet = Arc::clone(&self.fleet);
        let problems = Arc::clone(&self.problems);
        ServerDeps {
            store: Arc::new(self.reader.clone()),
            append: Arc::new(ReadOnlyAppend),
            live: self.live.clone(),
            clock: Arc::clone(&self.clock),
            spool: Arc::new(move || SpoolView { problems: problems.all(), ..SpoolView::default() }),
            home: None,
            rules: Arc::new(PolicyListing::default),
            privacy: Arc::new(|| Ok(Arc::default())),
            excluded: ExcludedSessions::default(),
            unrecorded: Arc::new(|_| false),
            assets,
            capabilities: server::Capabilities::default(),
            team: Some(server::Team {
                record_access: {
                    let (fleet, reader, clock) =
                        (Arc::clone(&self.fleet), self.reader.clone(), Arc::clone(&self.clock));
                    let audit = Audit::default();
                    Arc::new(move |look| audit.note(&fleet, &reader, look, clock().0))
                },
                list_access: {
                    let fleet = Arc::clone(&self.fleet);
                    Arc::new(move |filter| Ok(fleet.access_page(filter)?.map(entry)))
                },
                holder: Arc::new(move |secret| known.holder(secret, clock().0)),
                take: Arc::new(move |owner, shipment| {
                    fleet.write(owner, shipment).map_err(|error| match error {
                        FleetError::OwnerName { .. } | FleetError::ShipmentFormat { .. } => {
                            ShipmentError::Bad(FaultCause::new(error))
                        }
                        FleetError::Newer { .. } | FleetError::Unreachable(_) | FleetError::Refused(_) => {
                            ShipmentError::Later(FaultCause::new(error))
                        }
                    })
                }),
            }),
        }
    }

    /// Ends what runs beside the server.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.is_ending.store(true, Ordering::Relaxed);
        self.stops.clear();
        for thread in self.threads.drain(..) {
            // A thread that panicked has said so already.
            drop(thread.join());
        }
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        self.end();
    }
}
