//! Opens the ledger for commands that write to it: the lock, the file, and their errors.

use std::sync::Arc;

use agent_tracer_ledger::{AppendError, Ledger, Upkeep, error_text, has_store};
use agent_tracer_spool::Home;

use crate::arguments::Options;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::instance::Instance;
use crate::output::Output;
use crate::sources;

/// Holds a ledger that no other process writes to.
pub(super) struct OpenLedger {
    pub(super) home: Home,
    pub(super) ledger: Arc<Ledger>,
    _instance: Instance,
}

/// Takes the ledger of the home that is meant; none, and a word about it, if nothing was ever recorded there.
pub(super) fn open(
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<Option<OpenLedger>, Failure> {
    let (home, _) = environment.home(options.home.as_deref())?;
    if !has_store(&home.data().join("ledger.db")) {
        output.say(&format!("nothing is recorded in `{}` yet", home.data().display()))?;
        return Ok(None);
    }
    let instance = Instance::take(&home)?;
    let ledger = Arc::new(sources::ledger(&home)?);
    Ok(Some(OpenLedger { home, ledger, _instance: instance }))
}

/// Returns the failure of a request to the ledger.
pub(super) fn refused(error: &AppendError) -> Failure {
    let failure = Failure::new(format!("cannot change the ledger: {}", error_text(error)));
    match error {
        AppendError::DiskFull => failure.hint("free some space and run the command again to continue"),
        AppendError::ReadOnly => failure.hint("check the owner and the mode of the home folder"),
        AppendError::Gone(_) | AppendError::Item(_) => failure.hint(error.way_out()),
        AppendError::Closed | AppendError::Store(_) => failure.hint("run the command again to continue"),
    }
}

/// Events between two lines of progress.
const PROGRESS_EVERY: u64 = 100_000;

/// Tells now and then how far long work is.
#[derive(Debug, Default)]
pub(super) struct Pace {
    reported: u64,
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
        if done.events < self.reported + PROGRESS_EVERY {
            return None;
        }
        self.reported = done.events;
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
