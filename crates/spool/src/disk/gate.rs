//! The gate of the tests: lets the calling thread's "process" die, or its disk fail, at a chosen step.
//!
//! Steps are counted per thread. A write is two steps, so that it can also happen by half. After its
//! death a process changes nothing any more, not even to clean up.

use std::cell::Cell;
use std::io;

/// What happens to the steps of a thread.
#[derive(Debug, Clone, Copy)]
enum Plan {
    /// Nothing special.
    Open,
    /// Every step from this one on does not happen.
    DieAt(usize),
    /// The step with this number fails, a write by half; all others happen.
    FailAt(usize, io::ErrorKind),
    /// Every write from this step on fails by half, as on a full disk; all others happen.
    NoSpaceFrom(usize),
}

thread_local! {
    static PLAN: Cell<Plan> = const { Cell::new(Plan::Open) };
    static STEPS: Cell<usize> = const { Cell::new(0) };
}

/// Runs with a plan; returns the result and the number of steps that were asked for.
fn run<T>(plan: Plan, work: impl FnOnce() -> T) -> (T, usize) {
    struct Reset;
    impl Drop for Reset {
        fn drop(&mut self) {
            PLAN.set(Plan::Open);
        }
    }
    let _reset = Reset;
    STEPS.set(0);
    PLAN.set(plan);
    let result = work();
    (result, STEPS.get())
}

/// Runs undisturbed and counts the steps.
pub(crate) fn counted<T>(work: impl FnOnce() -> T) -> (T, usize) {
    run(Plan::Open, work)
}

/// Runs as a process that dies before the given step (from zero); returns whether it died.
pub(crate) fn dying_at<T>(step: usize, work: impl FnOnce() -> T) -> (T, bool) {
    let (result, steps) = run(Plan::DieAt(step), work);
    (result, steps > step)
}

/// Runs with one failing step.
pub(crate) fn failing_at<T>(step: usize, kind: io::ErrorKind, work: impl FnOnce() -> T) -> (T, usize) {
    run(Plan::FailAt(step, kind), work)
}

/// Runs on a disk that is full from the given step on.
pub(crate) fn full_from<T>(step: usize, work: impl FnOnce() -> T) -> (T, usize) {
    run(Plan::NoSpaceFrom(step), work)
}

fn tick() -> usize {
    let step = STEPS.get();
    STEPS.set(step + 1);
    step
}

fn dead() -> io::Error {
    io::Error::other("the process is dead")
}

pub(super) fn pass() -> io::Result<()> {
    let step = tick();
    match PLAN.get() {
        Plan::DieAt(at) if step >= at => Err(dead()),
        Plan::FailAt(at, kind) if step == at => Err(kind.into()),
        Plan::Open | Plan::DieAt(_) | Plan::FailAt(..) | Plan::NoSpaceFrom(_) => Ok(()),
    }
}

/// Returns what to write, and what to say then, if the write is to happen by half.
pub(super) fn pass_write(bytes: &[u8]) -> io::Result<Option<(&[u8], io::Error)>> {
    let (first, second) = (tick(), tick());
    let half = &bytes[..bytes.len() / 2];
    match PLAN.get() {
        Plan::DieAt(at) if first >= at => Err(dead()),
        Plan::DieAt(at) if second >= at => Ok(Some((half, dead()))),
        Plan::FailAt(at, kind) if first == at || second == at => Ok(Some((half, kind.into()))),
        Plan::NoSpaceFrom(at) if second >= at => Ok(Some((half, io::ErrorKind::StorageFull.into()))),
        Plan::Open | Plan::DieAt(_) | Plan::FailAt(..) | Plan::NoSpaceFrom(_) => Ok(None),
    }
}
