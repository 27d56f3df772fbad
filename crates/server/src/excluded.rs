//! Sessions of which nothing may be recorded, because somebody said where they work and that place is excluded.
//!
//! Telemetry and most posted events do not say where they come from. They are refused by their session, as long as the
//! server remembers it.

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, PoisonError};

use agent_tracer_event::TaskId;

/// The most sessions that are remembered; the oldest gives way.
const REMEMBERED: usize = 10_000;

/// The sessions.
#[derive(Default)]
pub(crate) struct Excluded(Mutex<(HashSet<TaskId>, VecDeque<TaskId>)>);

impl Excluded {
    /// Remembers one.
    pub(crate) fn add(&self, task: TaskId) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (set, order) = &mut *known;
        if set.insert(task.clone()) {
            order.push_back(task);
        }
        if order.len() > REMEMBERED
            && let Some(oldest) = order.pop_front()
        {
            set.remove(&oldest);
        }
    }

    /// Whether nothing of this task may be recorded.
    pub(crate) fn holds(&self, task: &TaskId) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0.contains(task)
    }
}

#[cfg(test)]
mod tests {
    use agent_tracer_event::{Agent, TaskKey};

    use super::*;

    #[test]
    fn only_so_many_are_remembered() {
        let excluded = Excluded::default();
        let task = |number: usize| TaskKey::new(Agent::Codex, number.to_string()).task_id();
        for number in 0..=REMEMBERED {
            excluded.add(task(number));
        }
        assert!(!excluded.holds(&task(0)));
        assert!(excluded.holds(&task(1)) && excluded.holds(&task(REMEMBERED)));
    }
}
