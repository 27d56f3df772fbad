//! What commands that write to the ledger have in common: the lock, the file, and what its errors mean.

use std::sync::Arc;

use agent_tracer_ledger::{AppendError, Ledger};
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
    if matches!(home.data().join("ledger.db").try_exists(), Ok(false)) {
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
            failure.hint("free some space and run the command again; nothing was changed")
        }
        AppendError::ReadOnly => failure.hint("check the owner and the mode of the home folder"),
        AppendError::Closed | AppendError::Store(_) => failure.hint("nothing was changed"),
    }
}
