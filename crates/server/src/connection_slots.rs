//! ConnectionSlots for connections: a bounded number, and a connection without a request gives way to a new one.
//!
//! A slot is given only to a connection that may ask (see [`crate::serve`]), so that no other user of the machine can
//! take the slots of its owner. When all slots are taken, the connection that has been without a request for the
//! longest time is ended; one with a request or an open stream is never ended for another.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// The time a connection may be without a request while others wait for its slot.
const IDLE: Duration = Duration::from_secs(1);

/// The interval of looking for such a connection while one waits.
// Looked for only while one waits: without a queue an idle connection costs nothing.
const PAUSE: Duration = Duration::from_millis(100);

/// The slots of a server.
pub(crate) struct ConnectionSlots {
    room: Arc<Semaphore>,
    taken: Mutex<Vec<Weak<Activity>>>,
}

/// Requests and answers of one connection.
struct Activity {
    /// Requests that are being answered, until the last byte of the answer.
    requests: AtomicUsize,
    /// The end of the last of them; at first the beginning of the connection.
    since: Mutex<Instant>,
    /// Ends the connection.
    end: Notify,
}

/// The slot of one connection. Dropped, it is free.
pub(crate) struct ConnectionSlot {
    activity: Arc<Activity>,
    _permit: OwnedSemaphorePermit,
}

impl ConnectionSlots {
    pub(crate) fn new(connections: usize) -> Self {
        Self { room: Arc::new(Semaphore::new(connections)), taken: Mutex::default() }
    }

    /// Waits for a slot.
    pub(crate) async fn take(&self) -> Option<ConnectionSlot> {
        loop {
            match tokio::time::timeout(PAUSE, Arc::clone(&self.room).acquire_owned()).await {
                Ok(permit) => return Some(self.slot(permit.ok()?)),
                Err(_) => self.end_idle(),
            }
        }
    }

    fn slot(&self, permit: OwnedSemaphorePermit) -> ConnectionSlot {
        let activity = Arc::new(Activity {
            requests: AtomicUsize::new(0),
            since: Mutex::new(Instant::now()),
            end: Notify::new(),
        });
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        // Swept where a slot is taken, so that a connection that ends needs no lock.
        taken.retain(|other| other.strong_count() > 0);
        taken.push(Arc::downgrade(&activity));
        ConnectionSlot { activity, _permit: permit }
    }

    /// Ends the connection that has been without a request for the longest time, if it was long enough.
    fn end_idle(&self) {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = taken.iter().filter_map(Weak::upgrade).filter_map(|one| Some((one.idle_since()?, one)));
        if let Some((since, longest)) = idle.min_by_key(|(since, _)| *since)
            && since.elapsed() >= IDLE
        {
            longest.end.notify_one();
        }
    }
}

impl Activity {
    fn idle_since(&self) -> Option<Instant> {
        let is_idle = self.requests.load(Ordering::SeqCst) == 0;
        is_idle.then(|| *self.since.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ConnectionSlot {
    /// Waits until the connection has to give way.
    pub(crate) async fn ended(&self) {
        loop {
            self.activity.end.notified().await;
            // A request may have come while the word was on its way.
            if self.activity.idle_since().is_some() {
                return;
            }
        }
    }

    /// Returns whether a request is being answered.
    pub(crate) fn is_answering(&self) -> bool {
        self.activity.requests.load(Ordering::SeqCst) > 0
    }

    /// Begins a request.
    pub(crate) fn begin(&self) -> RequestGuard {
        self.activity.requests.fetch_add(1, Ordering::SeqCst);
        RequestGuard(Arc::clone(&self.activity))
    }
}

/// Stands for a request until its answer has been sent.
pub(crate) struct RequestGuard(Arc<Activity>);

impl Drop for RequestGuard {
    fn drop(&mut self) {
        *self.0.since.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        self.0.requests.fetch_sub(1, Ordering::SeqCst);
    }
}

impl RequestGuard {
    /// Keeps the request alive until the body of its answer was sent.
    pub(crate) fn until_sent(self, response: Response) -> Response {
        response.map(|body| Body::new(GuardedBody { body, _guard: self }))
    }
}

/// The body of an answer, and the request that it belongs to.
struct GuardedBody {
    body: Body,
    _guard: RequestGuard,
}

impl HttpBody for GuardedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
