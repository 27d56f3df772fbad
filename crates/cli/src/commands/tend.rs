//! What commands that write to the ledger have in common: the lock, the file, and what its errors mean.

use std::sync::Arc;

use agent_tracer_ledger::{AppendError, Ledger, Upkeep, has_store};
use agent_tracer_spool::Home;

use crate::arguments::Options;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::instance::Instance;
use crate::output::Output;
use crate::sources;

/// A ledger that nobody else writes to.
pub(super) struct Tended {
    pub(super) home: Home,
    pub(super) ledger: Arc<Ledger>,
    _instance: Instance,
}

/// Takes the ledger of the home that is meant; none, and a word about it, if nothing was ever recorded there.
pub(super) fn open(
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<Option<Tended>, Failure> {
    let (home, _) = environment.home(options.home.as_deref())?;
    if !has_store(&home.data().join("ledger.db")) {
        output.say(&format!("nothing is recorded in `{}` yet", home.data().display()))?;
        return Ok(None);
    }
    let instance = Instance::take(&home)?;
    let ledger = Arc::new(sources::ledger(&home)?);
    Ok(Some(Tended { home, ledger, _instance: instance }))
}

/// Why the ledger did not do it.
pub(super) fn refused(error: &AppendError) -> Failure {
    let failure = Failure::new(format!("cannot change the ledger: {error}"));
    match error {
        AppendError::DiskFull => {
            failure.hint("free some space and run the command again: it goes on where it stopped")
        }
        AppendError::ReadOnly => failure.hint("check the owner and the mode of the home folder"),
        AppendError::Gone(_) | AppendError::Item(_) => failure.hint(error.way_out()),
        AppendError::Closed | AppendError::Store(_) => {
            failure.hint("run the command again: it goes on where it stopped")
        }
    }
}

/// So many events between two words about how far it is.
const TOLD_EVERY: u64 = 100_000;

/// Tells now and then how far long work is.
#[derive(Debug, Default)]
pub(super) struct Pace {
    told: u64,
}

impl Pace {
    /// Takes note of what was done so far.
    pub(super) fn tell(&mut self, verb: &str, done: &Upkeep, output: &mut Output) {
        if let Some(text) = self.line(verb, done) {
            // Who does not listen any more is no reason to stop.
            drop(output.say(&text));
        }
    }

    fn line(&mut self, verb: &str, done: &Upkeep) -> Option<String> {
        if done.events < self.told + TOLD_EVERY {
            return None;
        }
        self.told = done.events;
        Some(format!("{verb} {} events of {} tasks so far", done.events, done.tasks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_work_says_nothing_and_much_of_it_now_and_then() {
        let mut pace = Pace::default();
        let mut said = Vec::new();
        for step in 1..=50_u64 {
            let done = Upkeep { tasks: step, events: step * 5_000, observations: 0 };
            said.extend(pace.line("dropped", &done));
        }
        assert_eq!(
            said,
            ["dropped 100000 events of 20 tasks so far", "dropped 200000 events of 40 tasks so far"]
        );
    }
}
