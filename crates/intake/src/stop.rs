//! Ends threads, and interrupts their pauses.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A request to end, shared by many threads. Clones are the same request.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    inner: Arc<(Mutex<bool>, Condvar)>,
}

impl Stop {
    /// Creates a request that is not made yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes the request and wakes the threads that wait for it.
    pub fn request(&self) {
        let (flag, wake) = &*self.inner;
        *flag.lock().unwrap_or_else(PoisonError::into_inner) = true;
        wake.notify_all();
    }

    /// Returns `true` once the request was made.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        *self.inner.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the request, at most this long. Returns `true` if it was made.
    pub fn wait(&self, most: Duration) -> bool {
        let (flag, wake) = &*self.inner;
        let until = Instant::now() + most;
        let mut requested = flag.lock().unwrap_or_else(PoisonError::into_inner);
        while !*requested {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            requested = wake.wait_timeout(requested, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        *requested
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_request_wakes_a_waiting_thread() {
        let stop = Stop::new();
        let waiting = stop.clone();
        let thread = std::thread::spawn(move || waiting.wait(Duration::from_secs(600)));
        stop.request();
        assert!(thread.join().unwrap());
        assert!(stop.is_requested());
    }

    #[test]
    fn without_a_request_the_time_runs_out() {
        let stop = Stop::new();
        assert!(!stop.wait(Duration::from_millis(1)));
        assert!(!stop.is_requested());
    }
}
