//! Sessions of which nothing may be recorded, because their working directory is known and excluded.
//!
//! Telemetry and most posted events do not say where they come from. They are refused by their session, which is
//! remembered over a restart through [`crate::ExcludedSessions`].

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use agent_tracer_event::TaskId;

use crate::deps::ExcludedSessions;

/// The most sessions that are remembered; the oldest gives way.
const REMEMBERED: usize = 10_000;

/// The sessions.
pub(crate) struct ExcludedTasks {
    known: Mutex<(HashSet<TaskId>, VecDeque<TaskId>)>,
    keep: Arc<dyn Fn(&TaskId) + Send + Sync>,
}

impl ExcludedTasks {
    /// Starts with the sessions that were known before.
    pub(crate) fn new(before: &ExcludedSessions) -> Self {
        let excluded = Self { known: Mutex::default(), keep: Arc::clone(&before.keep) };
        for task in &before.tasks {
            excluded.insert(task.clone());
        }
        excluded
    }

    /// Remembers one. Waits for the disk if it is new.
    pub(crate) fn add(&self, task: TaskId) {
        if self.insert(task.clone()) {
            (self.keep)(&task);
        }
    }

    /// Adds a session; returns whether it is new.
    fn insert(&self, task: TaskId) -> bool {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let (set, order) = &mut *known;
        let is_new = set.insert(task.clone());
        if is_new {
            order.push_back(task);
        }
        // The end of a session does not reach this set: without a bound it would grow for ever.
        if order.len() > REMEMBERED
            && let Some(oldest) = order.pop_front()
        {
            set.remove(&oldest);
        }
        is_new
    }

    /// Returns whether nothing of this task may be recorded.
    pub(crate) fn holds(&self, task: &TaskId) -> bool {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).0.contains(task)
    }
}

#[cfg(test)]
mod tests {
    use agent_tracer_event::{Agent, TaskKey};

    use super::*;

    #[test]
    fn those_of_before_are_known_and_only_new_ones_are_kept() {
        let task = |name: &str| TaskKey::new(Agent::CODEX, name).task_id();
        let kept: Arc<Mutex<Vec<TaskId>>> = Arc::default();
        let keep = Arc::clone(&kept);
        let keep = Arc::new(move |task: &TaskId| keep.lock().unwrap().push(task.clone()));
        let excluded = ExcludedTasks::new(&ExcludedSessions { tasks: vec![task("old")], keep });
        assert!(excluded.holds(&task("old")) && !excluded.holds(&task("new")));
        for name in ["old", "new", "new"] {
            excluded.add(task(name));
        }
        assert_eq!(*kept.lock().unwrap(), [task("new")]);
    }

    #[test]
    fn only_so_many_are_remembered() {
        let excluded = ExcludedTasks::new(&ExcludedSessions::default());
        let task = |number: usize| TaskKey::new(Agent::CODEX, number.to_string()).task_id();
        for number in 0..=REMEMBERED {
            excluded.add(task(number));
        }
        assert!(!excluded.holds(&task(0)));
        assert!(excluded.holds(&task(1)) && excluded.holds(&task(REMEMBERED)));
    }
}
