//! Waits for requests to end: Ctrl-C, and the service manager.
//!
//! The two signals are blocked before any thread is started, so that they reach the one thread that waits for them and
//! interrupt no other. So is the one that ends a process when a file reaches a limit: a failed write is an answer.

use std::thread::Builder;

use agent_tracer_intake::Stop;
use nix::sys::signal::{SigSet, Signal};

use crate::failure::Failure;

fn ends() -> SigSet {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGINT);
    signals.add(Signal::SIGTERM);
    signals
}

/// Keeps the signals back for this thread and those that it starts.
pub(crate) fn hold() -> Result<(), Failure> {
    let mut signals = ends();
    signals.add(Signal::SIGXFSZ);
    signals.thread_block().map_err(|error| Failure::new(format!("cannot hold signals: {error}")))
}

/// Waits for a request to end this process; returns the name of the signal.
pub(crate) fn wait() -> Result<&'static str, Failure> {
    ends()
        .wait()
        .map(Signal::as_str)
        .map_err(|error| Failure::new(format!("cannot wait for signals: {error}")))
}

/// Ends the process at once at the next signal: a second request means it.
pub(crate) fn release() {
    // Then a second one does what it did before: nothing.
    ends().thread_unblock().ok();
}

/// Makes the next signal request a stop. Call it before any other thread is started, or after [`hold`].
pub(crate) fn request_on_end(stop: &Stop) -> Result<(), Failure> {
    hold()?;
    let stop = stop.clone();
    let watch = move || {
        if wait().is_ok() {
            stop.request();
            release();
            // A process must be there for the second signal to end.
            loop {
                std::thread::park();
            }
        }
    };
    let started = Builder::new().name("signals".to_owned()).spawn(watch);
    started.map(drop).map_err(|error| Failure::new(format!("cannot start a thread: {error}")))
}
