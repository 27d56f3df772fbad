//! The constraints between activities, and the sweeps over them.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::{ActivityKey, PathAgent, is_node};
use crate::timing::agent::Rank;

/// Names an edge of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    /// The node.
    pub(super) node: usize,
    /// It is the end and not the beginning.
    pub(super) is_end: bool,
}

/// Names the thing that a beginning keeps its distance from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    /// The beginning of the tree.
    Tree,
    /// The last end in an agent until then.
    LastEnd(usize),
    /// The beginning of a call.
    Call(usize),
}

#[derive(Debug)]
struct Node {
    key: ActivityKey,
    from: i64,
    to: i64,
    base: Base,
    lag: i64,
    /// The agents that it waited for, and its distance from the last of their ends.
    waits: Vec<usize>,
    wait_lag: i64,
}

/// Holds the nodes of a tree and the order in which their edges are swept.
#[derive(Debug)]
pub(super) struct Schedule {
    nodes: Vec<Node>,
    calls: Vec<HashMap<i64, usize>>,
    steps: Vec<Step>,
    begin: i64,
}

/// Names one step of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// A node begins or ends.
    Edge(Event),
    /// The last activity of an agent has ended, which its parent did not wait for.
    Join { agent: usize, parent: usize },
}

/// Places a step among all: by its time, ends before beginnings, the agent, the node.
type StepOrder = (i64, u8, Reverse<usize>, usize);

/// Holds the last end in an agent so far, with the edge that gave it.
#[derive(Clone, Copy, Debug)]
struct LastEnd {
    at: i64,
    cause: Option<Event>,
}

/// Holds the times that a sweep gave.
#[derive(Debug)]
pub(super) struct Times {
    starts: Vec<i64>,
    ends: Vec<i64>,
    start_causes: Vec<Option<Event>>,
    end_causes: Vec<Option<Event>>,
    /// The last end of all.
    pub(super) latest: i64,
    /// The edge that is the last end of all.
    pub(super) last: Option<Event>,
}

impl Times {
    pub(super) fn start(&self, node: usize) -> i64 {
        self.starts.get(node).copied().unwrap_or(0)
    }

    pub(super) fn end(&self, node: usize) -> i64 {
        self.ends.get(node).copied().unwrap_or(0)
    }

    pub(super) fn cause_of_start(&self, node: usize) -> Option<Event> {
        self.start_causes.get(node).copied().flatten()
    }

    pub(super) fn cause_of_end(&self, node: usize) -> Option<Event> {
        self.end_causes.get(node).copied().flatten()
    }
}

impl Schedule {
    pub(super) fn new(agents: &[PathAgent<'_>], begin: i64) -> Self {
        let mut nodes = Vec::new();
        let mut calls = vec![HashMap::new(); agents.len()];
        let mut lasts: Vec<Option<i64>> = vec![None; agents.len()];
        for (agent, (member, calls)) in agents.iter().zip(&mut calls).enumerate() {
            let activities = member.time.activities.iter().enumerate();
            for (activity, it) in activities.filter(|(_, it)| is_node(it)) {
                if it.rank == Rank::Delegation {
                    calls.insert(it.id, nodes.len());
                }
                if let Some(last) = lasts.get_mut(agent) {
                    *last = Some(last.map_or(it.to, |last| it.to.max(last)));
                }
                nodes.push(Node {
                    key: ActivityKey { agent, activity },
                    from: it.from,
                    to: it.to,
                    base: Base::Tree,
                    lag: 0,
                    waits: Vec::new(),
                    wait_lag: 0,
                });
            }
        }
        let mut schedule = Self { nodes, calls, steps: Vec::new(), begin };
        schedule.set_waits(agents, &lasts);
        schedule.set_steps(agents, &lasts);
        schedule.set_bases(agents);
        schedule
    }

    /// Returns the node of a call of an agent.
    pub(super) fn call(&self, agent: usize, id: i64) -> Option<usize> {
        self.calls.get(agent)?.get(&id).copied()
    }

    pub(super) fn key(&self, node: usize) -> ActivityKey {
        self.nodes.get(node).map_or(ActivityKey { agent: 0, activity: 0 }, |node| node.key)
    }

    /// Returns the recorded end of the last activity.
    pub(super) fn last_end(&self) -> i64 {
        self.nodes.iter().map(|node| node.to).max().unwrap_or(self.begin)
    }

    /// Returns the call that started an agent, if it stands in its parent.
    fn call_of(&self, agent: &PathAgent<'_>) -> Option<usize> {
        self.call(agent.parent?, agent.call?)
    }

    /// Finds the agents that a call waited for: those that ended before it.
    fn set_waits(&mut self, agents: &[PathAgent<'_>], lasts: &[Option<i64>]) {
        for (place, (member, last)) in agents.iter().zip(lasts).enumerate() {
            let (Some(call), Some(last)) = (self.call_of(member), *last) else { continue };
            if let Some(node) = self.nodes.get_mut(call).filter(|node| last <= node.to && last > node.from) {
                node.waits.push(place);
            }
        }
    }

    /// Orders all edges. At one moment ends come before beginnings; among ends those of subagents come first, among
    /// beginnings those of parents.
    fn set_steps(&mut self, agents: &[PathAgent<'_>], lasts: &[Option<i64>]) {
        let mut steps: Vec<(StepOrder, Step)> = Vec::new();
        for (index, node) in self.nodes.iter().enumerate() {
            let agent = node.key.agent;
            let edge = |is_end: bool| Step::Edge(Event { node: index, is_end });
            steps.push(((node.to, 0, Reverse(agent), index), edge(true)));
            steps.push(((node.from, 1, Reverse(usize::MAX - agent), index), edge(false)));
        }
        for (place, (member, last)) in agents.iter().zip(lasts).enumerate() {
            let waited = self
                .call_of(member)
                .and_then(|call| self.nodes.get(call))
                .is_some_and(|node| node.waits.contains(&place));
            if let (Some(parent), Some(last), false) = (member.parent, *last, waited) {
                let join = Step::Join { agent: place, parent };
                // It follows the agent's own ends, and comes before those of its parent.
                steps.push(((last, 0, Reverse(place), usize::MAX), join));
            }
        }
        steps.sort_unstable_by_key(|(key, _)| *key);
        self.steps = steps.into_iter().map(|(_, step)| step).collect();
    }

    /// Finds what each beginning keeps its distance from, by the recorded times.
    fn set_bases(&mut self, agents: &[PathAgent<'_>]) {
        let mut ends: Vec<Option<i64>> = vec![None; agents.len()];
        let raise = |ends: &mut Vec<Option<i64>>, agent: usize, at: i64| {
            if let Some(end) = ends.get_mut(agent) {
                *end = Some(end.map_or(at, |end| end.max(at)));
            }
        };
        let mut begun = vec![false; self.nodes.len()];
        for place in 0..self.steps.len() {
            let Some(step) = self.steps.get(place).copied() else { continue };
            match step {
                Step::Join { agent, parent } => {
                    if let Some(at) = ends.get(agent).copied().flatten() {
                        raise(&mut ends, parent, at);
                    }
                }
                Step::Edge(Event { node, is_end: true }) => {
                    if let Some(node) = self.nodes.get_mut(node) {
                        let waited =
                            node.waits.iter().filter_map(|agent| ends.get(*agent).copied().flatten());
                        node.wait_lag = waited.max().map_or(0, |at| node.to - at);
                        raise(&mut ends, node.key.agent, node.to);
                    }
                }
                Step::Edge(Event { node: index, is_end: false }) => {
                    let Some((agent, from)) = self.nodes.get(index).map(|node| (node.key.agent, node.from))
                    else {
                        continue;
                    };
                    let base = self.base(agents, agent, &ends, &begun);
                    let (base, at) = base.unwrap_or((Base::Tree, self.begin));
                    if let Some(node) = self.nodes.get_mut(index) {
                        (node.base, node.lag) = (base, from - at);
                    }
                    if let Some(begun) = begun.get_mut(index) {
                        *begun = true;
                    }
                }
            }
        }
    }

    /// Returns what an activity of an agent that begins now keeps its distance from, with its recorded time.
    fn base(
        &self,
        agents: &[PathAgent<'_>],
        agent: usize,
        ends: &[Option<i64>],
        begun: &[bool],
    ) -> Option<(Base, i64)> {
        let mut agent = agent;
        loop {
            if let Some(at) = ends.get(agent).copied().flatten() {
                return Some((Base::LastEnd(agent), at));
            }
            let member = agents.get(agent)?;
            let call = self.call_of(member).filter(|call| begun.get(*call) == Some(&true));
            if let Some((call, node)) = call.and_then(|call| Some((call, self.nodes.get(call)?))) {
                return Some((Base::Call(call), node.from));
            }
            // The call is not known, or is said to have begun later: the agent above is all there is.
            agent = member.parent.filter(|parent| *parent < agent)?;
        }
    }

    /// Sweeps all edges with other durations. The later of two nodes that are put together begins with the earlier one.
    pub(super) fn run(&self, duration: impl Fn(usize) -> i64, together: &[(usize, usize)]) -> Times {
        let count = self.nodes.len();
        let mut times = Times {
            starts: vec![self.begin; count],
            ends: vec![self.begin; count],
            start_causes: vec![None; count],
            end_causes: vec![None; count],
            latest: self.begin,
            last: None,
        };
        let mut ends = vec![LastEnd { at: i64::MIN, cause: None }; self.calls.len()];
        let earlier: HashMap<usize, usize> = together.iter().map(|(one, other)| (*other, *one)).collect();
        let raise = |ends: &mut Vec<LastEnd>, agent: usize, new: LastEnd| {
            if let Some(end) = ends.get_mut(agent).filter(|end| new.at > end.at) {
                *end = new;
            }
        };
        for step in &self.steps {
            match *step {
                Step::Join { agent, parent } => {
                    if let Some(end) = ends.get(agent).copied() {
                        raise(&mut ends, parent, end);
                    }
                }
                Step::Edge(Event { node: index, is_end: false }) => {
                    let Some(node) = self.nodes.get(index) else { continue };
                    let (at, cause) = match (earlier.get(&index), node.base) {
                        (Some(earlier), _) => {
                            (times.start(*earlier), Some(Event { node: *earlier, is_end: false }))
                        }
                        (None, Base::Tree) => (self.begin.saturating_add(node.lag), None),
                        (None, Base::LastEnd(agent)) => {
                            let end =
                                ends.get(agent).copied().unwrap_or(LastEnd { at: self.begin, cause: None });
                            (end.at.saturating_add(node.lag), end.cause)
                        }
                        (None, Base::Call(call)) => (
                            times.start(call).saturating_add(node.lag),
                            Some(Event { node: call, is_end: false }),
                        ),
                    };
                    set(&mut times.starts, index, at);
                    set(&mut times.start_causes, index, cause);
                }
                Step::Edge(event @ Event { node: index, is_end: true }) => {
                    let Some(node) = self.nodes.get(index) else { continue };
                    let waited =
                        node.waits.iter().filter_map(|agent| ends.get(*agent)).max_by_key(|end| end.at);
                    let (at, cause) = match waited {
                        Some(end) => (end.at.saturating_add(node.wait_lag), end.cause),
                        None => (
                            times.start(index).saturating_add(duration(index)),
                            Some(Event { node: index, is_end: false }),
                        ),
                    };
                    set(&mut times.ends, index, at);
                    set(&mut times.end_causes, index, cause);
                    raise(&mut ends, node.key.agent, LastEnd { at, cause: Some(event) });
                    if times.last.is_none() || at > times.latest {
                        (times.latest, times.last) = (at, Some(event));
                    }
                }
            }
        }
        times
    }

    /// Returns the latest end of each node with which the tree still ends at `end`.
    pub(super) fn latest_ends(&self, end: i64) -> Vec<i64> {
        let mut ends = vec![end; self.nodes.len()];
        // The latest beginning that children allow their call.
        let mut begins = vec![i64::MAX; self.nodes.len()];
        let mut allowed = vec![end; self.calls.len()];
        let lower = |all: &mut Vec<i64>, place: usize, at: i64| {
            if let Some(value) = all.get_mut(place) {
                *value = at.min(*value);
            }
        };
        for step in self.steps.iter().rev() {
            match *step {
                Step::Join { agent, parent } => {
                    let at = allowed.get(parent).copied().unwrap_or(end);
                    lower(&mut allowed, agent, at);
                }
                Step::Edge(Event { node: index, is_end: true }) => {
                    let Some(node) = self.nodes.get(index) else { continue };
                    let at = allowed.get(node.key.agent).copied().unwrap_or(end);
                    lower(&mut ends, index, at);
                    for agent in &node.waits {
                        lower(&mut allowed, *agent, at.saturating_sub(node.wait_lag));
                    }
                }
                Step::Edge(Event { node: index, is_end: false }) => {
                    let Some(node) = self.nodes.get(index) else { continue };
                    let own = if node.waits.is_empty() {
                        let latest = ends.get(index).copied().unwrap_or(end);
                        latest.saturating_sub(node.to - node.from)
                    } else {
                        i64::MAX
                    };
                    let at = own.min(begins.get(index).copied().unwrap_or(i64::MAX)).saturating_sub(node.lag);
                    match node.base {
                        Base::Tree => {}
                        Base::LastEnd(agent) => lower(&mut allowed, agent, at),
                        Base::Call(call) => lower(&mut begins, call, at),
                    }
                }
            }
        }
        ends
    }
}

fn set<T>(all: &mut [T], place: usize, value: T) {
    if let Some(slot) = all.get_mut(place) {
        *slot = value;
    }
}
