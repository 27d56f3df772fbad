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
    // A limit on file sizes must be an error of the write, which the store reports, and not the end of the process.
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

/// Calls `start`, which starts a process, with no signal held back: a process inherits what this thread holds back, and
/// could then be ended by nothing but `kill -9`. A signal that arrives meanwhile ends this process at once.
pub(crate) fn unheld<T>(start: impl FnOnce() -> T) -> T {
    // A program inherits the mask of the thread that starts it, and could then be ended by `kill -9` alone.
    let held = SigSet::thread_get_mask();
    // Without the mask nothing was held back, as far as is known.
    SigSet::empty().thread_set_mask().ok();
    let started = start();
    if let Ok(held) = held {
        held.thread_set_mask().ok();
    }
    started
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

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    use super::*;

    #[test]
    fn a_process_that_is_started_can_be_ended_and_this_thread_goes_on_holding() {
        hold().expect("held");
        let run = || Command::new("/bin/sh").args(["-c", "kill -TERM $$"]).status().expect("a shell");
        assert_eq!(run().signal(), None, "it inherits what is held back");
        assert_eq!(unheld(run).signal(), Some(Signal::SIGTERM as i32));
        let held = SigSet::thread_get_mask().expect("a mask");
        assert!(held.contains(Signal::SIGTERM) && held.contains(Signal::SIGXFSZ));
    }
}
