//! What runs beside a team's server: a thread that follows the store and keeps the tokens fresh.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use agent_tracer_clickhouse::{Fleet, FleetError, Reader, VisitFilter};
use agent_tracer_event::Millis;
use agent_tracer_ledger::view::Page;
use agent_tracer_ledger::{Answer, Batch, QueryError};
use agent_tracer_server as server;
use agent_tracer_server::{
    Append, AppendError, Ask, AuditEntry, AuditFilter, DeadLetters, Done, Doors, FindAsset, Live, NotTaken,
    Remembered, RulesInForce, SpoolView,
};

use crate::audit::Audit;
use crate::follow::{Follow, News};
use crate::token::Known;

/// How often the store is asked what arrived, and whose tokens hold.
const PAUSE: Duration = Duration::from_millis(1_000);

/// A team's server, beside the server.
pub struct Team {
    fleet: Arc<Fleet>,
    reader: Reader,
    known: Arc<Known>,
    live: Live,
    clock: Ask<Millis>,
    problem: Arc<Mutex<Option<String>>>,
    /// Dropped, it ends the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Nothing is appended: what a team's server holds was derived elsewhere.
struct Nowhere;

impl Append for Nowhere {
    fn submit(&self, _: Batch, done: Done) -> Result<(), Box<Batch>> {
        done(Err(AppendError::ReadOnly));
        Ok(())
    }
}

/// Who looked at what, in the server's words.
fn looks(fleet: &Fleet, asked: &AuditFilter) -> Answer<Page<AuditEntry>> {
    let filter = VisitFilter {
        owner: asked.owner.clone(),
        reader: asked.reader.clone(),
        since: asked.since.map(|at| at.0),
        until: asked.until.map(|at| at.0),
        ..VisitFilter::default()
    };
    let page = fleet.visit_page(&filter, &asked.paging)?;
    Ok(page.map(|visit| AuditEntry {
        at: Millis(visit.at),
        reader: visit.reader,
        owner: visit.owner,
        task_id: Some(visit.task).filter(|task| !task.is_empty()),
        question: visit.what,
    }))
}

fn told(problem: &Mutex<Option<String>>, what: Option<String>) {
    *problem.lock().unwrap_or_else(PoisonError::into_inner) = what;
}

impl Team {
    /// Brings the store up to date, learns the tokens, and begins to follow.
    ///
    /// # Errors
    /// If the store cannot be reached, refuses, or was made by a newer version.
    pub fn start(fleet: Arc<Fleet>, clock: Ask<Millis>) -> Result<Self, FleetError> {
        fleet.migrate()?;
        let reader = Reader::everybody(Arc::clone(&fleet));
        let known = Arc::new(Known::default());
        known.replace(fleet.tokens()?);
        let newest = reader.seq().map_err(|error| FleetError::Refused(error.to_string()))?;
        let live = Live::new();
        let problem: Arc<Mutex<Option<String>>> = Arc::default();
        let (stop, stopped) = channel::<()>();
        let thread = {
            let (fleet, reader) = (Arc::clone(&fleet), reader.clone());
            let (known, live, problem) = (Arc::clone(&known), live.clone(), Arc::clone(&problem));
            let mut follow = Follow::from(newest);
            std::thread::Builder::new().name("team".to_owned()).spawn(move || {
                while stopped.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                    let asked = fleet.tokens().map(|tokens| known.replace(tokens)).map_err(QueryError::from);
                    let followed = match live.is_followed() {
                        true => follow.next(&reader).map(|news| match news {
                            News::Rows(rows) => live.publish(&rows),
                            News::Missed(from, to) => live.publish_missed(from, to),
                        }),
                        false => follow.rest(&reader),
                    };
                    told(&problem, asked.and(followed).err().map(|error| error.to_string()));
                }
            })
        };
        let thread = thread.map_err(|error| FleetError::Unreachable(error.to_string()))?;
        Ok(Self { fleet, reader, known, live, clock, problem, stop: Some(stop), thread: Some(thread) })
    }

    /// What the server is given.
    #[must_use]
    pub fn doors(&self, assets: FindAsset) -> Doors {
        let (known, clock) = (Arc::clone(&self.known), Arc::clone(&self.clock));
        let fleet = Arc::clone(&self.fleet);
        let problem = Arc::clone(&self.problem);
        Doors {
            store: Arc::new(self.reader.clone()),
            append: Arc::new(Nowhere),
            live: self.live.clone(),
            clock: Arc::clone(&self.clock),
            spool: Arc::new(move || {
                let problem = problem.lock().unwrap_or_else(PoisonError::into_inner).clone();
                SpoolView { problems: problem.into_iter().collect(), ..SpoolView::default() }
            }),
            dead_letters: DeadLetters::none(),
            rules: Arc::new(RulesInForce::default),
            privacy: Arc::new(Arc::default),
            excluded: Remembered::default(),
            unrecorded: Arc::new(|_| false),
            assets,
            acts: server::Acts::default(),
            team: Some(server::Team {
                look: {
                    let (fleet, reader, clock) =
                        (Arc::clone(&self.fleet), self.reader.clone(), Arc::clone(&self.clock));
                    let audit = Audit::default();
                    Arc::new(move |look| audit.note(&fleet, &reader, look, clock().0))
                },
                looks: {
                    let fleet = Arc::clone(&self.fleet);
                    Arc::new(move |filter| looks(&fleet, filter))
                },
                holder: Arc::new(move |secret| known.holder(secret, clock().0)),
                take: Arc::new(move |owner, shipment| {
                    fleet.write(owner, shipment).map_err(|error| match error {
                        FleetError::Bad(what) => NotTaken::Bad(what),
                        error => NotTaken::Later(error.to_string()),
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
        self.stop.take();
        if let Some(thread) = self.thread.take() {
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
