//! Runs periodic jobs of the server: a thread that works, pauses, and ends on request.
//!
//! Law: a lasting problem is reported once, so that a log is read and not skipped.

use std::thread::JoinHandle;
use std::time::Duration;

use agent_tracer_intake::Stop;
use tracing::warn;

use crate::failure::{Failure, plain};

/// A thread that looks once in a while.
pub(crate) struct PeriodicJob<'a> {
    /// Name of the thread.
    pub(crate) name: &'static str,
    /// Pause between two runs.
    pub(crate) every: Duration,
    pub(crate) stop: &'a Stop,
}

impl PeriodicJob<'_> {
    /// Runs the work now and returns when it is over; later runs follow on the thread.
    pub(crate) fn run_and_repeat(
        self,
        work: impl FnMut() -> Result<(), Failure> + Send + 'static,
    ) -> Result<JoinHandle<()>, Failure> {
        let mut work = reporting(logging(self.name), work);
        work();
        let (stop, every) = (self.stop.clone(), self.every);
        self.spawn(move || {
            while !stop.wait(every) {
                work();
            }
        })
    }

    /// Runs the work on the thread alone, the first time too: for what may take long.
    pub(crate) fn repeat(
        self,
        work: impl FnMut() -> Result<(), Failure> + Send + 'static,
    ) -> Result<JoinHandle<()>, Failure> {
        let mut work = reporting(logging(self.name), work);
        let (stop, every) = (self.stop.clone(), self.every);
        self.spawn(move || {
            loop {
                work();
                if stop.wait(every) {
                    return;
                }
            }
        })
    }

    fn spawn(&self, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, Failure> {
        let thread = std::thread::Builder::new().name(self.name.to_owned()).spawn(work);
        thread.map_err(|cause| Failure::new(format!("cannot start a thread: {}", plain(&cause))))
    }
}

/// Returns a function that logs the failures of a job.
fn logging(job: &'static str) -> impl FnMut(&Failure) {
    move |failure| warn!(job, hint = failure.hint_line(), "{}", failure.message())
}

/// Runs the job and reports a failure unless it is the same as last time.
fn reporting(
    mut report: impl FnMut(&Failure),
    mut work: impl FnMut() -> Result<(), Failure>,
) -> impl FnMut() {
    let mut last: Option<Failure> = None;
    move || {
        // Forgotten after a success, so that a problem that comes back is reported again.
        let problem = work().err();
        if let Some(problem) = problem.as_ref().filter(|problem| last.as_ref() != Some(*problem)) {
            report(problem);
        }
        last = problem;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex, PoisonError};

    use super::*;

    #[test]
    fn a_problem_is_reported_once_and_again_after_it_was_gone() {
        let reports = Arc::new(Mutex::new(0));
        let counted = Arc::clone(&reports);
        let report = move |_: &Failure| *counted.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        let mut looks = [Err("a"), Err("a"), Err("b"), Ok(()), Err("b"), Err("b")].into_iter();
        let mut work = reporting(report, move || looks.next().unwrap_or(Ok(())).map_err(Failure::new));
        let mut last = Vec::new();
        for _ in 0..7 {
            work();
            last.push(*reports.lock().unwrap_or_else(PoisonError::into_inner));
        }
        assert_eq!(last, [1, 1, 2, 2, 3, 3, 3]);
    }
}
