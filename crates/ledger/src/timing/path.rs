//! The critical path of a tree of agents, the slack of each activity, and what another pace would have changed.
//!
//! Recorded times are read as constraints. An activity began after everything that its agent had ended before, so it
//! keeps its distance (`lag`) from the last of these ends. The first activities of a subagent keep their distance from
//! the beginning of the call that started it. A call that waited for its subagents ends after the last of them; a
//! subagent that outlived its call holds up what its parent began after it had ended. Everything else keeps its duration.
//!
//! Law: without a change the constraints give back exactly the recorded times, so the path adds up to the wall time.
//! All of it is one sweep over the edges in the order of their times: a constraint only ever points to an earlier one.

use std::collections::BTreeMap;

use super::agent::{Activity, AgentTime, Class, Rank};

mod schedule;
#[cfg(test)]
mod tests;

use schedule::{Event, Schedule};

/// Durations are scaled in thousandths, so that the same change gives the same milliseconds everywhere.
pub const WHOLE: u32 = 1000;

/// Holds an agent of a tree with its place in it.
#[derive(Clone, Debug)]
pub struct PathAgent<'time> {
    /// Its activities.
    pub time: &'time AgentTime,
    /// The place of the agent that started it; it stands before it.
    pub parent: Option<usize>,
    /// The number of the call's fact that started it.
    pub call: Option<i64>,
}

/// Names an activity: the agent's place and the place among its activities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActivityKey {
    /// The place of the agent.
    pub agent: usize,
    /// The place among [`AgentTime::activities`].
    pub activity: usize,
}

/// Holds a part of the critical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The agent.
    pub agent: usize,
    /// The activity; without one, a distance that the recording does not explain further.
    pub activity: Option<usize>,
    /// The moment at which it begins.
    pub from: i64,
    /// The moment at which it ends.
    pub to: i64,
}

/// Holds the critical path of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CriticalPath {
    /// The parts in order. Each begins where the one before ended; together they are the whole time.
    pub segments: Vec<Segment>,
    /// The time by which each activity could have ended later without delaying the end of the tree, in milliseconds.
    pub slack: BTreeMap<ActivityKey, u64>,
}

/// Holds assumptions about another pace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assumptions {
    /// The pace of a class, in thousandths of its recorded durations.
    pub scales: BTreeMap<Class, u32>,
    /// Pairs of calls of one agent, by the numbers of their facts: the later one begins with the earlier one.
    pub together: Vec<(i64, i64)>,
}

impl Assumptions {
    /// Returns the duration of an activity under these assumptions.
    fn duration(&self, activity: &Activity) -> i64 {
        let recorded = activity.to - activity.from;
        let scale = self.scales.get(&activity.class).copied().unwrap_or(WHOLE);
        let scaled = i128::from(recorded) * i128::from(scale) / i128::from(WHOLE);
        i64::try_from(scaled).unwrap_or(i64::MAX)
    }
}

/// Holds a tree of agents as constraints.
#[derive(Debug)]
pub struct PathTree<'time> {
    agents: Vec<PathAgent<'time>>,
    schedule: Schedule,
    begin: i64,
    end: i64,
}

impl<'time> PathTree<'time> {
    /// Reads the constraints of a tree, the main agent first and parents before their subagents.
    #[must_use]
    pub fn new(agents: Vec<PathAgent<'time>>) -> Self {
        let lives = || agents.iter().map(|agent| agent.time.life);
        let begin = lives().map(|life| life.0).min().unwrap_or(0);
        let end = lives().map(|life| life.1).max().unwrap_or(begin).max(begin);
        let schedule = Schedule::new(&agents, begin);
        Self { agents, schedule, begin, end }
    }

    /// Returns the critical path and the slack of every activity.
    #[must_use]
    pub fn critical_path(&self) -> CriticalPath {
        let times = self.schedule.run(|node| self.activity(node).map_or(0, |it| it.to - it.from), &[]);
        let mut segments = Vec::new();
        let mut push = |segment: Segment| {
            if segment.from < segment.to {
                segments.push(segment);
            }
        };
        let (mut until, mut waiting) = (self.end, 0);
        let mut cause = times.last;
        while let Some(Event { node, is_end }) = cause {
            let key = self.schedule.key(node);
            let at = if is_end { times.end(node) } else { times.start(node) };
            push(Segment { agent: waiting, activity: None, from: at, to: until });
            (until, waiting) = (at, key.agent);
            // An end that follows the recorded duration leads to its own beginning; another one to what it waited for.
            cause = if is_end { times.cause_of_end(node) } else { times.cause_of_start(node) };
            if is_end && cause == Some(Event { node, is_end: false }) {
                let from = times.start(node);
                push(Segment { agent: key.agent, activity: Some(key.activity), from, to: until });
                until = from;
                cause = times.cause_of_start(node);
            }
        }
        push(Segment { agent: waiting, activity: None, from: self.begin, to: until });
        segments.reverse();
        CriticalPath { segments, slack: self.slack() }
    }

    fn slack(&self) -> BTreeMap<ActivityKey, u64> {
        let latest = self.schedule.latest_ends(self.schedule.last_end());
        let of = |(node, latest): (usize, i64)| {
            let key = self.schedule.key(node);
            let ended = self.activity(node).map_or(latest, |it| it.to);
            (key, u64::try_from(latest - ended).unwrap_or(0))
        };
        latest.into_iter().enumerate().map(of).collect()
    }

    /// Returns the moment at which the tree would have ended.
    ///
    /// `None` if a pair does not name two calls of one agent.
    #[must_use]
    pub fn end_with(&self, assumptions: &Assumptions) -> Option<i64> {
        let mut pairs = Vec::with_capacity(assumptions.together.len());
        for (one, other) in &assumptions.together {
            pairs.push(self.pair(*one, *other)?);
        }
        let times =
            self.schedule.run(|node| self.activity(node).map_or(0, |it| assumptions.duration(it)), &pairs);
        let tail = self.end - self.schedule.last_end();
        Some(times.latest.saturating_add(tail))
    }

    /// Returns the earlier and the later node of two calls of one agent.
    fn pair(&self, one: i64, other: i64) -> Option<(usize, usize)> {
        self.agents.iter().enumerate().find_map(|(agent, _)| {
            let call = |id: i64| self.schedule.call(agent, id);
            let (one, other) = (call(one)?, call(other)?);
            let key = |node: usize| (self.activity(node).map(|it| it.from), node);
            (one != other).then(|| if key(one) <= key(other) { (one, other) } else { (other, one) })
        })
    }

    fn activity(&self, node: usize) -> Option<&'time Activity> {
        let key = self.schedule.key(node);
        self.agents.get(key.agent)?.time.activities.get(key.activity)
    }
}

/// Returns `true` if an activity takes part: idleness and gaps are distances, and no one could change them.
fn is_node(activity: &Activity) -> bool {
    activity.from < activity.to
        && match activity.rank {
            Rank::Person | Rank::Work | Rank::Beside | Rank::Delegation => true,
            Rank::Gap | Rank::Idle => false,
        }
}
