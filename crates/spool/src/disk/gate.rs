//! The gate of the tests: lets the calling thread's "process" die, or its disk fail, at a chosen step.
//!
//! Steps are counted per thread. A write is two steps, so that it can also happen by half. After its
//! death a process changes nothing any more, not even to clean up. A process can also be held before a
//! step while others run.

use std::cell::{Cell, RefCell};
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// The fate of a thread's steps.
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

/// A stop before one step: the thread reports it, then waits for permission to go on.
struct StepGate {
    step: usize,
    reached: Sender<()>,
    go: Receiver<()>,
}

thread_local! {
    static HOLD: RefCell<Option<StepGate>> = const { RefCell::new(None) };
    static PLAN: Cell<Plan> = const { Cell::new(Plan::Open) };
    static STEPS: Cell<usize> = const { Cell::new(0) };
}

/// Runs with a plan; returns the result and the number of attempted steps.
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

/// Runs `work` in a thread of its own, holds it before the given step, and runs `meanwhile`.
///
/// If the work has fewer steps, it ends before `meanwhile` runs.
pub(crate) fn held_at<T: Send, M>(
    step: usize,
    work: impl FnOnce() -> T + Send,
    meanwhile: impl FnOnce() -> M,
) -> (T, M) {
    let (reached, has_reached) = channel();
    let (let_go, go) = channel();
    thread::scope(|scope| {
        let worker = scope.spawn(move || {
            STEPS.set(0);
            HOLD.set(Some(StepGate { step, reached, go }));
            let result = work();
            HOLD.set(None);
            result
        });
        // Either it is held, or it has ended and dropped its sender; both mean that it stands still.
        has_reached.recv().ok();
        let during = meanwhile();
        let_go.send(()).ok();
        (worker.join().unwrap(), during)
    })
}

fn tick() -> usize {
    let step = STEPS.get();
    STEPS.set(step + 1);
    HOLD.with_borrow(|hold| {
        if let Some(hold) = hold.as_ref().filter(|hold| hold.step == step) {
            hold.reached.send(()).unwrap();
            hold.go.recv().unwrap();
        }
    });
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

/// Returns the bytes to write and the error to report after them, if the write is to happen by half.
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
