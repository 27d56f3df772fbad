//! Joins the lines of several senders into one insert.
//!
//! ClickHouse makes a part of every insert and merges parts later: many small inserts cost more than few large ones. So
//! one insert runs at a time; lines that arrive meanwhile wait, and go together when it ends. No sender waits for more
//! to come: a lonely sender is written at once. No sender is acknowledged before the insert that holds its lines has
//! ended.

use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::clickhouse::fleet::FleetError;

type WriteResult = Result<(), FleetError>;

/// Gathers what waits.
#[derive(Debug)]
pub(crate) struct InsertBatcher<T> {
    turn: Mutex<BatchQueue<T>>,
    ended: Condvar,
}

#[derive(Debug)]
struct BatchQueue<T> {
    next: u64,
    waiting: VecDeque<(u64, T)>,
    is_running: bool,
    /// Of those who have not looked yet.
    results: HashMap<u64, WriteResult>,
}

impl<T> Default for InsertBatcher<T> {
    fn default() -> Self {
        let turn =
            BatchQueue { next: 0, waiting: VecDeque::new(), is_running: false, results: HashMap::new() };
        Self { turn: Mutex::new(turn), ended: Condvar::new() }
    }
}

/// Holds a group that is being written. On drop it notifies every sender in it, even if the writer panicked.
struct Group<'gather, T> {
    gather: &'gather InsertBatcher<T>,
    numbers: Vec<u64>,
    results: Vec<WriteResult>,
}

impl<T> Drop for Group<'_, T> {
    fn drop(&mut self) {
        let mut turn = self.gather.lock();
        turn.is_running = false;
        let mut results = std::mem::take(&mut self.results).into_iter();
        for number in &self.numbers {
            let lost = || Err(FleetError::Unreachable("writing ended early".into()));
            turn.results.insert(*number, results.next().unwrap_or_else(lost));
        }
        drop(turn);
        // All, because the condition is shared: the one whose turn it is cannot be chosen.
        self.gather.ended.notify_all();
    }
}

impl<T> InsertBatcher<T> {
    fn lock(&self) -> MutexGuard<'_, BatchQueue<T>> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes one, alone or with others; gives what became of it. `write` answers for each of a group, in its order;
    /// a group weighs no more than `most`, unless one alone does.
    pub(crate) fn write(
        &self,
        one: T,
        most: usize,
        weigh: impl Fn(&T) -> usize,
        write: impl Fn(&[T]) -> Vec<WriteResult>,
    ) -> WriteResult {
        let mut turn = self.lock();
        let ticket = turn.next;
        turn.next += 1;
        turn.waiting.push_back((ticket, one));
        loop {
            if let Some(result) = turn.results.remove(&ticket) {
                return result;
            }
            if turn.is_running {
                turn = self.ended.wait(turn).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            turn.is_running = true;
            let (mut numbers, mut group, mut weight) = (Vec::new(), Vec::new(), 0);
            while let Some((_, next)) = turn.waiting.front() {
                weight += weigh(next);
                // One that alone is too heavy goes alone: it could not be written at all otherwise.
                if weight > most && !group.is_empty() {
                    break;
                }
                if let Some((number, next)) = turn.waiting.pop_front() {
                    numbers.push(number);
                    group.push(next);
                }
            }
            drop(turn);
            // Written without the lock: senders that come meanwhile form the next group.
            let mut running = Group { gather: self, numbers, results: Vec::new() };
            running.results = write(&group);
            drop(running);
            turn = self.lock();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use super::*;

    fn wait_for_waiting(gather: &InsertBatcher<u32>, count: usize) {
        let begun = Instant::now();
        while gather.lock().waiting.len() < count {
            assert!(begun.elapsed() < Duration::from_secs(60), "no sender came");
            std::thread::yield_now();
        }
    }

    #[test]
    fn what_comes_while_one_is_written_is_written_together_and_each_hears_of_its_own() {
        let gather = Arc::new(InsertBatcher::<u32>::default());
        let groups = Arc::new(Mutex::new(Vec::new()));
        let bring = |one: u32| {
            let (gather, groups) = (Arc::clone(&gather), Arc::clone(&groups));
            std::thread::spawn(move || {
                gather.write(
                    one,
                    30,
                    |_| 10,
                    |group| {
                        groups.lock().unwrap().push(group.len());
                        if group == [0] {
                            // The others come while the first is written.
                            wait_for_waiting(&gather, 4);
                        }
                        let refuse = |one: &u32| FleetError::Refused(one.to_string().into());
                        group.iter().map(|one| if one % 2 == 0 { Ok(()) } else { Err(refuse(one)) }).collect()
                    },
                )
            })
        };
        let first = bring(0);
        let begun = Instant::now();
        while !gather.lock().is_running {
            assert!(begun.elapsed() < Duration::from_secs(60), "no sender began");
            std::thread::yield_now();
        }
        let others: Vec<_> = (1..5).map(|one| (one, bring(one))).collect();
        assert!(first.join().unwrap().is_ok());
        for (one, other) in others {
            match other.join().unwrap() {
                Ok(()) => assert_eq!(one % 2, 0),
                Err(error) => assert_eq!(error, FleetError::Refused(one.to_string().into())),
            }
        }
        assert_eq!(*groups.lock().unwrap(), [1, 3, 1], "three weigh as much as may go at once");
    }

    #[test]
    fn a_writer_that_panics_leaves_no_sender_waiting() {
        let gather = Arc::new(InsertBatcher::<u32>::default());
        let other = Arc::clone(&gather);
        let panics =
            std::thread::spawn(move || other.write(1, 30, |_| 10, |_| panic!("as a broken writer would")));
        assert!(panics.join().is_err());
        assert!(gather.write(2, 30, |_| 10, |group| group.iter().map(|_| Ok(())).collect()).is_ok());
    }
}
