//! Asking threads to end, and waiting without missing that.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A request to end that many threads look at. Clones are the same request.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    inner: Arc<(Mutex<bool>, Condvar)>,
}

impl Stop {
    /// Nobody has been asked to end yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks every thread to end and wakes those that wait here.
    pub fn request(&self) {
        let (flag, wake) = &*self.inner;
        *flag.lock().unwrap_or_else(PoisonError::into_inner) = true;
        wake.notify_all();
    }

    /// Whether somebody has asked.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        *self.inner.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until somebody asks or the time is up; says whether somebody has asked.
    pub fn wait(&self, most: Duration) -> bool {
        let (flag, wake) = &*self.inner;
        let until = Instant::now() + most;
        let mut asked = flag.lock().unwrap_or_else(PoisonError::into_inner);
        while !*asked {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            asked = wake.wait_timeout(asked, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        *asked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_waits_is_woken_by_the_request() {
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
