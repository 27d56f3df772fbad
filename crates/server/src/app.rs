//! State shared by every request, and the one place where waiting for a disk is allowed.

use std::net::SocketAddr;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use agent_tracer_intake::Privacy;
use axum::http::StatusCode;
use tokio::sync::{Semaphore, watch};

use crate::config::Config;
use crate::deps::ServerDeps;
use crate::epoch::Epoch;
use crate::excluded_tasks::ExcludedTasks;
use crate::local_zone::LocalZone;
use crate::memory::Memory;
use crate::metrics::Cache;
use crate::problem::Problem;
use crate::security::Access;

/// Seconds until a client should retry while the privacy settings cannot be read.
const PRIVACY_RETRY_S: u32 = 5;

/// Requests that may wait for the store at once. The others wait for them.
// Fewer than the threads that may wait (`serve::WAITING_THREADS`): the user of a new connection is looked up on one of
// them, and must be found even while every request waits for the store.
const WORKERS: usize = 12;

/// State shared by every request.
pub(crate) struct App {
    pub(crate) config: Config,
    pub(crate) deps: ServerDeps,
    /// The address it really listens on: the port may have been left to the system.
    pub(crate) address: SocketAddr,
    /// The time zone of days where a query does not say.
    pub(crate) zone: LocalZone,
    /// Drawn at start: tags of answers of an earlier server, with another store, are not ours.
    pub(crate) instance: u64,
    /// Within which places in the order of delivery mean the same.
    pub(crate) epoch: Epoch,
    pub(crate) access: Access,
    /// Followers of the stream that there is still room for.
    pub(crate) streams: Arc<Semaphore>,
    /// Turns true when the server stops.
    pub(crate) closing: watch::Receiver<bool>,
    pub(crate) metrics: Mutex<Cache>,
    /// Sessions of which nothing may be recorded.
    pub(crate) excluded: ExcludedTasks,
    /// Memory that large requests share.
    pub(crate) memory: Memory,
    /// One back-test at a time.
    pub(crate) backtests: Arc<Semaphore>,
    /// Records of shipments with an impossible time, since the server began.
    pub(crate) clamped: AtomicU64,
    workers: Arc<Semaphore>,
}

impl App {
    pub(crate) fn new(
        config: Config,
        deps: ServerDeps,
        address: SocketAddr,
        zone: LocalZone,
        instance: u64,
        closing: watch::Receiver<bool>,
    ) -> Self {
        Self {
            // A place of a team is a moment that several processes share: with an epoch of its own, each would be a stranger
            // to the followers of the others.
            epoch: match deps.team {
                None => Epoch::beginning((deps.clock)()),
                Some(_) => Epoch::none(),
            },
            access: Access::new(&config, address, deps.team.clone()),
            streams: Arc::new(Semaphore::new(config.limits.streams)),
            memory: Memory::new(),
            // A replay reads the history and holds a worker all the while: two at once would be felt by every page.
            backtests: Arc::new(Semaphore::new(1)),
            clamped: AtomicU64::new(0),
            workers: Arc::new(Semaphore::new(WORKERS)),
            metrics: Mutex::new(Cache::default()),
            excluded: ExcludedTasks::new(&deps.excluded),
            config,
            deps,
            address,
            zone,
            instance,
            closing,
        }
    }

    /// Returns what may be kept now, or the refusal of everything that would be.
    pub(crate) fn privacy(&self) -> Result<Arc<Privacy>, Problem> {
        (self.deps.privacy)().map_err(|why| Problem::later(why.to_string(), PRIVACY_RETRY_S))
    }

    /// Runs work that may wait, away from the threads that serve connections.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let stopped = |_| Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping");
        // The permit goes with the work: a request that is given up does not make room for another while its work
        // still holds a thread.
        let permit = Arc::clone(&self.workers).acquire_owned().await.map_err(stopped)?;
        let work = move || {
            let done = work();
            drop(permit);
            done
        };
        tokio::task::spawn_blocking(work).await.map_err(|_| {
            Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal error: the request was not answered")
        })
    }
}
