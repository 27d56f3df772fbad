//! Runs one target until it is through, fails or stands still.
//!
//! The target runs in a thread of its own, so that one that never returns is noticed as well. A stack
//! overflow or an abort ends the process; the runs are numbered, so it can be found again by its seed.

use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::mutate::mutate;
use crate::random::Random;
use crate::targets::Target;

/// Holds limits and options of a run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// At most so many runs.
    pub runs: Option<u64>,
    /// At most so much time, looked at every few runs.
    pub time: Option<Duration>,
    /// Decides every input.
    pub seed: u64,
    /// A single run that takes longer stands still.
    pub patience: Duration,
}

/// Result of a run.
#[derive(Debug)]
pub enum Ending {
    /// The plan was carried out.
    Passed {
        /// Runs done.
        runs: u64,
        /// Time taken.
        elapsed: Duration,
    },
    /// A law was broken.
    Panicked(Failure),
    /// A run did not return.
    StoodStill(Failure),
}

/// The input that ended it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The number of the run, which gives the input again with the same seed and corpus.
    pub run: u64,
    /// The input, made smaller where it still fails.
    pub input: Vec<u8>,
    /// Message of the panic.
    pub message: String,
}

/// Holds the sources of one target's inputs.
#[derive(Debug)]
pub struct Source<'a> {
    target: &'a Target,
    seeds: Vec<Vec<u8>>,
    corpus: &'a [Vec<u8>],
    seed: u64,
}

impl<'a> Source<'a> {
    /// Returns the source of a target's inputs, which depend on nothing else.
    pub fn new(target: &'a Target, corpus: &'a [Vec<u8>], seed: u64) -> Source<'a> {
        Source { target, seeds: (target.seeds)(), corpus, seed }
    }

    /// Returns the input of one run: first the seeds and the corpus as they are, then mutations, of a
    /// seed or of the corpus in equal parts: a corpus of thousands must not drown the seeds.
    pub fn input(&self, run: u64) -> Vec<u8> {
        let untouched =
            usize::try_from(run).ok().and_then(|run| self.seeds.iter().chain(self.corpus).nth(run));
        if let Some(input) = untouched {
            return input.clone();
        }
        let mut random = Random::of_run(self.seed, self.target.name, run);
        let own = self.corpus.is_empty() || random.below(2) == 0;
        let pool = if own && !self.seeds.is_empty() { &self.seeds } else { self.corpus };
        let mut input = random.pick(pool).cloned().unwrap_or_default();
        mutate(&mut random, &mut input, pool, self.target.dictionary);
        input
    }
}

/// Tries a single input, as it is.
pub fn replay(target: &Target, input: Vec<u8>, plan: &Plan) -> Ending {
    let alone = Target { seeds: Vec::new, ..*target };
    fuzz(&alone, &[input], &Plan { runs: Some(1), time: None, ..plan.clone() })
}

/// Carries out the plan for one target; its own seeds come before the corpus.
pub fn fuzz(target: &Target, corpus: &[Vec<u8>], plan: &Plan) -> Ending {
    let current = Arc::new(Mutex::new((0, Vec::new())));
    let (sender, receiver) = channel();
    let worker = Worker {
        target: *target,
        corpus: corpus.to_vec(),
        plan: plan.clone(),
        current: Arc::clone(&current),
    };
    thread::spawn(move || worker.work(&sender));
    let mut last = None;
    loop {
        match receiver.recv_timeout(plan.patience) {
            Ok(ending) => return ending,
            Err(RecvTimeoutError::Timeout) => {
                let (run, input) = current.lock().unwrap_or_else(PoisonError::into_inner).clone();
                if last.replace(run) == Some(run) {
                    let message = format!("no answer within {:?}", plan.patience);
                    return Ending::StoodStill(Failure { run, input, message });
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                let message = "the harness itself failed".to_owned();
                return Ending::StoodStill(Failure { run: 0, input: Vec::new(), message });
            }
        }
    }
}

struct Worker {
    target: Target,
    corpus: Vec<Vec<u8>>,
    plan: Plan,
    /// The run being tried, for the watcher.
    current: Arc<Mutex<(u64, Vec<u8>)>>,
}

impl Worker {
    fn work(self, ending: &Sender<Ending>) {
        let start = Instant::now();
        let source = Source::new(&self.target, &self.corpus, self.plan.seed);
        let mut run = 0;
        let ended = loop {
            if self.plan.runs.is_some_and(|runs| run >= runs) || (run % 64 == 0 && self.time_is_up(start)) {
                break Ending::Passed { runs: run, elapsed: start.elapsed() };
            }
            let input = source.input(run);
            self.watch(run, &input);
            if let Err(message) = attempt(&self.target, &input) {
                let (input, message) = self.shrink(run, input, message);
                break Ending::Panicked(Failure { run, input, message });
            }
            run += 1;
        };
        // The receiver is gone if a run took too long and was given up.
        ending.send(ended).ok();
    }

    fn time_is_up(&self, start: Instant) -> bool {
        self.plan.time.is_some_and(|time| start.elapsed() >= time)
    }

    fn watch(&self, run: u64, input: &[u8]) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        current.0 = run;
        current.1.clear();
        current.1.extend_from_slice(input);
    }

    /// Takes parts away as long as what is left still fails.
    fn shrink(&self, run: u64, mut input: Vec<u8>, mut message: String) -> (Vec<u8>, String) {
        let mut size = input.len() / 2;
        let mut tries = 20_000;
        // A fault must be reported, however long it takes to make it small.
        let begun = Instant::now();
        while size > 0 {
            let mut start = 0;
            while start < input.len() && tries > 0 && begun.elapsed() < self.plan.patience / 3 {
                tries -= 1;
                let mut smaller = input.clone();
                smaller.drain(start..(start + size).min(input.len()));
                self.watch(run, &smaller);
                match attempt(&self.target, &smaller) {
                    Err(said) => (input, message) = (smaller, said),
                    Ok(()) => start += size,
                }
            }
            size /= 2;
        }
        (input, message)
    }
}

/// Tries one input; the error is what the panic said.
fn attempt(target: &Target, input: &[u8]) -> Result<(), String> {
    panic::catch_unwind(AssertUnwindSafe(|| (target.run)(input))).map_err(|payload| {
        let text = payload.downcast_ref::<String>().cloned();
        text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
    })
}
