//! Looks after the ledger while the server runs: whether its files are there, whether it can be written again, and whether
//! the file that names this process is still in its place.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use agent_tracer_intake::Stop;
use agent_tracer_ledger::Ledger;
use tracing::info;

use crate::failure::Failure;
use crate::instance::Instance;
use crate::periodic::PeriodicJob;

/// Pause between two checks.
const EVERY: Duration = Duration::from_secs(2);

/// Starts the thread that checks until it is stopped.
pub(super) fn start(
    ledger: &Arc<Ledger>,
    instance: &Instance,
    stop: &Stop,
) -> Result<JoinHandle<()>, Failure> {
    let (ledger, mut check_lock) = (Arc::clone(ledger), instance.lock_check());
    let job = PeriodicJob { name: "guarding", every: EVERY, stop };
    let mut remade = 0;
    job.repeat(move || {
        check_lock()?;
        let faults = ledger.faults();
        if faults.check.sums_remade > remade {
            remade = faults.check.sums_remade;
            let why = faults.check.remade_because.as_deref().unwrap_or("they could not be used");
            info!(reason = %why, "rebuilding the page checksums of `ledger.db`: {why}");
        }
        // Where nothing comes any more, only this finds out that writing works again.
        if !faults.recording && ledger.probe().is_ok() {
            return Ok(());
        }
        // Counts change while a fault lasts; its first line does not.
        match faults.problems.first() {
            Some(problem) => Err(Failure::new(problem.lines().next().unwrap_or_default())),
            None => Ok(()),
        }
    })
}
