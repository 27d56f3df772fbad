//! What the server looks at again and again: a thread that looks, rests, and ends when it is asked to.
//!
//! Law: a problem that stays is told once, so that a log is read and not skipped.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use agent_tracer_intake::{Note, Notes, Stop};

use crate::failure::{Failure, plain};

/// A thread that looks once in a while.
pub(crate) struct Rounds<'a> {
    /// What the thread is called.
    pub(crate) name: &'static str,
    /// How long it rests in between.
    pub(crate) every: Duration,
    pub(crate) notes: &'a Notes,
    pub(crate) stop: &'a Stop,
}

impl Rounds<'_> {
    /// Looks now, and is back when that look is over; the others follow on the thread.
    pub(crate) fn at_once(
        self,
        look: impl FnMut() -> Result<(), String> + Send + 'static,
    ) -> Result<JoinHandle<()>, Failure> {
        let mut look = telling(Arc::clone(self.notes), look);
        look();
        let (stop, every) = (self.stop.clone(), self.every);
        self.spawn(move || {
            while !stop.wait(every) {
                look();
            }
        })
    }

    /// Looks on the thread alone, the first time too: for what may take long.
    pub(crate) fn behind(
        self,
        look: impl FnMut() -> Result<(), String> + Send + 'static,
    ) -> Result<JoinHandle<()>, Failure> {
        let mut look = telling(Arc::clone(self.notes), look);
        let (stop, every) = (self.stop.clone(), self.every);
        self.spawn(move || {
            loop {
                look();
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

/// The look, with what it could not do told unless it was told last time.
fn telling(notes: Notes, mut look: impl FnMut() -> Result<(), String>) -> impl FnMut() {
    let mut told: Option<String> = None;
    move || {
        let problem = look().err();
        if let Some(problem) = problem.as_ref().filter(|problem| told.as_ref() != Some(*problem)) {
            notes(Note::warning(problem.clone()));
        }
        told = problem;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use super::*;

    #[test]
    fn a_problem_is_told_once_and_again_after_it_was_gone() {
        let heard = Arc::new(Mutex::new(0));
        let counted = Arc::clone(&heard);
        let notes: Notes = Arc::new(move |_| *counted.lock().unwrap_or_else(PoisonError::into_inner) += 1);
        let mut looks = [Err("a"), Err("a"), Err("b"), Ok(()), Err("b"), Err("b")].into_iter();
        let mut look = telling(notes, move || looks.next().unwrap_or(Ok(())).map_err(str::to_owned));
        let mut told = Vec::new();
        for _ in 0..7 {
            look();
            told.push(*heard.lock().unwrap_or_else(PoisonError::into_inner));
        }
        assert_eq!(told, [1, 1, 2, 2, 3, 3, 3]);
    }
}
