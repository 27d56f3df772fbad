//! Trees by hand, and a thousand at random against the constraints looked up one by one.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;
use crate::timing::Basis;

fn activity(id: i64, (from, to): (i64, i64), class: Class, rank: Rank) -> Activity {
    Activity { id, from, to, class, rank, basis: Basis::Measured }
}

fn tool(name: &str) -> Class {
    Class::Tool(name.to_owned())
}

fn agent(activities: Vec<Activity>) -> AgentTime {
    let from = activities.iter().map(|it| it.from).min().unwrap_or(0);
    let to = activities.iter().map(|it| it.to).max().unwrap_or(0);
    AgentTime { life: (from, to), turns: vec![(from, to)], activities }
}

fn main_of(time: &AgentTime) -> PathAgent<'_> {
    PathAgent { time, parent: None, call: None }
}

fn pace(class: Class, thousandths: u32) -> Assumptions {
    Assumptions { scales: [(class, thousandths)].into(), together: Vec::new() }
}

/// Returns a response asks for two calls, of which one waits for a permission; a second response follows both.
fn parallel_calls() -> AgentTime {
    agent(vec![
        activity(1, (0, 100), Class::Writing, Rank::Work),
        activity(2, (100, 130), tool("Read"), Rank::Work),
        activity(3, (105, 400), Class::Permission, Rank::Person),
        activity(4, (400, 450), tool("Bash"), Rank::Work),
        activity(5, (460, 560), Class::Writing, Rank::Work),
    ])
}

#[test]
fn path_runs_over_the_call_that_was_waited_for() {
    let time = parallel_calls();
    let path = PathTree::new(vec![main_of(&time)]).critical_path();
    let parts: Vec<(Option<usize>, i64, i64)> =
        path.segments.iter().map(|segment| (segment.activity, segment.from, segment.to)).collect();
    assert_eq!(
        parts,
        [
            (Some(0), 0, 100),
            (None, 100, 105),
            (Some(2), 105, 400),
            (Some(3), 400, 450),
            (None, 450, 460),
            (Some(4), 460, 560)
        ]
    );
    let slack = |activity: usize| path.slack.get(&ActivityKey { agent: 0, activity }).copied();
    assert_eq!([0, 1, 2, 3, 4].map(slack), [Some(0), Some(270), Some(0), Some(0), Some(0)]);
}

#[test]
fn without_permissions_the_next_longest_way_decides() {
    let time = parallel_calls();
    let tree = PathTree::new(vec![main_of(&time)]);
    // 100 to write, 30 for the read that had ended before the call began, 50 for the call, 10 until the next request,
    // 100 to write.
    assert_eq!(tree.end_with(&pace(Class::Permission, 0)), Some(290));
    assert_eq!(tree.end_with(&pace(tool("Bash"), 500)), Some(535));
    assert_eq!(tree.end_with(&pace(tool("Read"), 0)), Some(560));
    assert_eq!(tree.end_with(&Assumptions::default()), Some(560));
}

/// Returns two subagents, one after the other, each behind a call of the main agent.
fn two_subagents() -> [AgentTime; 3] {
    [
        agent(vec![
            activity(1, (0, 10), Class::Writing, Rank::Work),
            activity(2, (10, 115), tool("Agent"), Rank::Delegation),
            activity(3, (115, 130), Class::Writing, Rank::Work),
            activity(4, (130, 240), tool("Agent"), Rank::Delegation),
            activity(5, (240, 260), Class::Writing, Rank::Work),
        ]),
        agent(vec![activity(1, (15, 110), Class::Writing, Rank::Work)]),
        agent(vec![
            activity(1, (135, 200), Class::Writing, Rank::Work),
            activity(2, (200, 235), tool("Bash"), Rank::Work),
        ]),
    ]
}

fn tree_of(agents: &[AgentTime; 3]) -> PathTree<'_> {
    let [main, one, other] = agents;
    PathTree::new(vec![
        main_of(main),
        PathAgent { time: one, parent: Some(0), call: Some(2) },
        PathAgent { time: other, parent: Some(0), call: Some(4) },
    ])
}

#[test]
fn path_goes_through_subagents_and_their_calls_are_distances() {
    let agents = two_subagents();
    let path = tree_of(&agents).critical_path();
    let parts: Vec<(usize, Option<usize>)> =
        path.segments.iter().map(|segment| (segment.agent, segment.activity)).collect();
    let (call, back) = ((1, None), (0, None));
    let first = [(0, Some(0)), call, (1, Some(0)), back, (0, Some(2))];
    let second = [(2, None), (2, Some(0)), (2, Some(1)), back, (0, Some(4))];
    assert_eq!(parts, [first.as_slice(), second.as_slice()].concat());
    assert!(path.slack.values().all(|slack| *slack == 0), "{:?}", path.slack);
}

#[test]
fn subagents_that_ran_at_once_end_with_the_slower_one() {
    let agents = two_subagents();
    let tree = tree_of(&agents);
    let together = Assumptions { together: vec![(4, 2)], ..Assumptions::default() };
    // The first ends at 115, then 15 to write; the second would have ended at 120. Then 20 to write.
    assert_eq!(tree.end_with(&together), Some(150));
    assert_eq!(tree.end_with(&Assumptions { together: vec![(2, 3)], ..Assumptions::default() }), None);
    assert_eq!(tree.end_with(&Assumptions { together: vec![(2, 2)], ..Assumptions::default() }), None);
}

#[test]
fn subagent_that_outlives_its_call_holds_up_what_began_after_it() {
    let main = agent(vec![
        activity(1, (0, 10), Class::Writing, Rank::Work),
        activity(2, (10, 12), tool("Agent"), Rank::Delegation),
        activity(3, (12, 50), Class::Writing, Rank::Work),
        activity(4, (205, 230), Class::Writing, Rank::Work),
    ]);
    let sub = agent(vec![activity(1, (14, 200), tool("Bash"), Rank::Work)]);
    let tree = PathTree::new(vec![main_of(&main), PathAgent { time: &sub, parent: Some(0), call: Some(2) }]);
    assert_eq!(tree.end_with(&pace(tool("Bash"), 500)), Some(137));
    assert_eq!(tree.critical_path().slack.get(&ActivityKey { agent: 0, activity: 2 }), Some(&150));
}

#[test]
fn tree_without_activities_is_one_distance() {
    let time = AgentTime { life: (5, 25), turns: Vec::new(), activities: Vec::new() };
    let tree = PathTree::new(vec![main_of(&time)]);
    let whole = Segment { agent: 0, activity: None, from: 5, to: 25 };
    assert_eq!(tree.critical_path().segments, [whole]);
    assert_eq!(tree.end_with(&Assumptions::default()), Some(25));
    assert_eq!(PathTree::new(Vec::new()).critical_path(), CriticalPath::default());
}

/// The same constraints, each looked up among all activities, without any order or sum that is kept.
struct BruteForce<'tree> {
    agents: &'tree [PathAgent<'tree>],
    durations: HashMap<ActivityKey, i64>,
    /// The earlier call that a later one begins with.
    together: HashMap<ActivityKey, ActivityKey>,
    begin: i64,
    known: std::cell::RefCell<HashMap<(ActivityKey, bool), i64>>,
}

impl BruteForce<'_> {
    fn nodes(&self, agent: usize) -> impl Iterator<Item = (ActivityKey, &Activity)> {
        let all = self.agents[agent].time.activities.iter().enumerate();
        all.filter(|(_, it)| is_node(it)).map(move |(activity, it)| (ActivityKey { agent, activity }, it))
    }

    fn last(&self, agent: usize) -> Option<i64> {
        self.nodes(agent).map(|(_, it)| it.to).max()
    }

    fn call_of(&self, agent: usize) -> Option<(ActivityKey, &Activity)> {
        let (parent, call) = (self.agents[agent].parent?, self.agents[agent].call?);
        self.nodes(parent).filter(|(_, it)| it.rank == Rank::Delegation && it.id == call).last()
    }

    fn waits(&self, call: &Activity, agent: usize) -> bool {
        self.last(agent).is_some_and(|last| last <= call.to && last > call.from)
    }

    fn children(&self, agent: usize) -> impl Iterator<Item = usize> {
        (0..self.agents.len()).filter(move |child| self.agents[*child].parent == Some(agent))
    }

    /// Returns the last end in an agent until a moment, by a reading of ends.
    fn ends(&self, agent: usize, until: i64, end: &dyn Fn(ActivityKey, &Activity) -> i64) -> Option<i64> {
        let own = self.nodes(agent).filter(|(_, it)| it.to <= until).map(|(key, it)| end(key, it)).max();
        let joined = self.children(agent).filter(|child| {
            let waited = self.call_of(*child).is_some_and(|(_, call)| self.waits(call, *child));
            !waited && self.last(*child).is_some_and(|last| last <= until)
        });
        own.max(joined.filter_map(|child| self.ends(child, self.last(child)?, end)).max())
    }

    fn start(&self, key: ActivityKey) -> i64 {
        if let Some(known) = self.known.borrow().get(&(key, false)) {
            return *known;
        }
        let it = &self.agents[key.agent].time.activities[key.activity];
        let start = match self.together.get(&key) {
            Some(earlier) => self.start(*earlier),
            None => self.start_by_base(key.agent, it.from),
        };
        self.known.borrow_mut().insert((key, false), start);
        start
    }

    fn start_by_base(&self, agent: usize, from: i64) -> i64 {
        let recorded = |_: ActivityKey, it: &Activity| it.to;
        if let Some(at) = self.ends(agent, from, &recorded) {
            return self.ends(agent, from, &|key, _| self.end(key)).unwrap() + from - at;
        }
        if let Some((call, it)) = self.call_of(agent).filter(|(_, it)| it.from <= from) {
            return self.start(call) + from - it.from;
        }
        match self.agents[agent].parent {
            Some(parent) => self.start_by_base(parent, from),
            None => from,
        }
    }

    fn end(&self, key: ActivityKey) -> i64 {
        if let Some(known) = self.known.borrow().get(&(key, true)) {
            return *known;
        }
        let it = &self.agents[key.agent].time.activities[key.activity];
        let is_call = |child: &usize| {
            self.call_of(*child).is_some_and(|(call, it)| call == key && self.waits(it, *child))
        };
        let waited: Vec<usize> = self.children(key.agent).filter(is_call).collect();
        let by = |end: &dyn Fn(ActivityKey, &Activity) -> i64| {
            waited.iter().filter_map(|child| self.ends(*child, it.to, end)).max()
        };
        let end = match (by(&|_, it| it.to), by(&|key, _| self.end(key))) {
            (Some(recorded), Some(end)) => end + it.to - recorded,
            _ => self.start(key) + self.durations[&key],
        };
        self.known.borrow_mut().insert((key, true), end);
        end
    }

    fn tree_end(&self) -> i64 {
        let all = || (0..self.agents.len()).flat_map(|agent| self.nodes(agent));
        let life =
            self.agents.iter().map(|agent| agent.time.life.1).max().unwrap_or(self.begin).max(self.begin);
        let recorded = all().map(|(_, it)| it.to).max().unwrap_or(self.begin);
        all().map(|(key, _)| self.end(key)).max().unwrap_or(self.begin).max(self.begin) + life - recorded
    }
}

fn brute_force<'tree>(
    agents: &'tree [PathAgent<'tree>],
    duration: impl Fn(ActivityKey, &Activity) -> i64,
    together: &[(ActivityKey, ActivityKey)],
) -> i64 {
    let mut force = BruteForce {
        agents,
        durations: HashMap::new(),
        together: together.iter().map(|(earlier, later)| (*later, *earlier)).collect(),
        begin: agents.iter().map(|agent| agent.time.life.0).min().unwrap_or(0),
        known: std::cell::RefCell::default(),
    };
    for agent in 0..agents.len() {
        let all: Vec<(ActivityKey, i64)> =
            force.nodes(agent).map(|(key, it)| (key, duration(key, it))).collect();
        force.durations.extend(all);
    }
    force.tree_end()
}

/// An agent at random: its activities, and the agent and the delegation that started it.
type AnyAgent = (AgentTime, usize, Option<usize>);

fn any_agent() -> impl Strategy<Value = AnyAgent> {
    let class = prop_oneof![
        2 => Just((Class::Permission, Rank::Person)),
        3 => Just((Class::Writing, Rank::Work)),
        3 => Just((tool("Bash"), Rank::Work)),
        2 => Just((tool("Agent"), Rank::Delegation)),
        1 => Just((Class::Hook, Rank::Gap)),
    ];
    let one = (0_i64..200, 1_i64..60, class);
    (proptest::collection::vec(one, 0..9), 0_usize..6, proptest::option::weighted(0.8, 0_usize..3)).prop_map(
        |(activities, parent, call)| {
            let activities = activities.into_iter().enumerate().map(|(id, (from, length, (class, rank)))| {
                activity(i64::try_from(id).unwrap(), (from, from + length), class, rank)
            });
            (agent(activities.collect()), parent, call)
        },
    )
}

/// Returns some agents at random. Numbers of facts are unique in the tree, as in a store.
fn any_agents() -> impl Strategy<Value = Vec<AnyAgent>> {
    proptest::collection::vec(any_agent(), 1..6).prop_map(|mut agents| {
        for (place, (time, ..)) in (0_i64..).zip(&mut agents) {
            for activity in &mut time.activities {
                activity.id += place * 100;
            }
        }
        agents
    })
}

/// Returns the calls to agents that each agent made, in the order of their beginnings.
fn calls(agents: &[PathAgent<'_>]) -> Vec<Vec<(ActivityKey, i64)>> {
    let calls_of = |(agent, member): (usize, &PathAgent<'_>)| {
        let all = member.time.activities.iter().enumerate();
        let mut calls: Vec<_> = all.filter(|(_, it)| it.rank == Rank::Delegation).collect();
        calls.sort_by_key(|(_, it)| it.from);
        calls.into_iter().map(|(activity, it)| (ActivityKey { agent, activity }, it.id)).collect()
    };
    agents.iter().enumerate().map(calls_of).collect()
}

fn tree_members(agents: &[AnyAgent]) -> Vec<PathAgent<'_>> {
    let mut members: Vec<PathAgent<'_>> = Vec::new();
    for (place, (time, parent, call)) in agents.iter().enumerate() {
        let parent = place.checked_sub(1).map(|last| parent % (last + 1));
        let calls = parent.map(|parent| {
            let all = agents[parent].0.activities.iter().filter(|it| it.rank == Rank::Delegation);
            all.map(|it| it.id).collect::<Vec<i64>>()
        });
        let call = calls.zip(*call).and_then(|(calls, call)| calls.get(call).copied());
        members.push(PathAgent { time, parent, call });
    }
    members
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn sweep_gives_the_same_ends_as_all_constraints_looked_up(
        agents in any_agents(),
        permission in 0_u32..2000,
        bash in 0_u32..2000,
    ) {
        let agents = tree_members(&agents);
        let assumptions = Assumptions {
            scales: [(Class::Permission, permission), (tool("Bash"), bash)].into(),
            together: Vec::new(),
        };
        let tree = PathTree::new(agents.clone());
        prop_assert_eq!(tree.end_with(&Assumptions::default()), Some(tree.end));
        let expected = brute_force(&agents, |_, it| assumptions.duration(it), &[]);
        prop_assert_eq!(tree.end_with(&assumptions), Some(expected));
        let end_with = |pairs: &[(ActivityKey, ActivityKey)], ids: Vec<(i64, i64)>| {
            let together = Assumptions { together: ids, ..assumptions.clone() };
            (tree.end_with(&together), brute_force(&agents, |_, it| assumptions.duration(it), pairs))
        };
        for calls in calls(&agents) {
            let mut pairs = Vec::new();
            for (place, (earlier, one)) in calls.iter().enumerate() {
                for (later, other) in &calls[place + 1..] {
                    let (end, expected) = end_with(&[(*earlier, *later)], vec![(*other, *one)]);
                    prop_assert_eq!(end, Some(expected), "{:?} with {:?}", earlier, later);
                }
                pairs.extend(calls.get(place + 1).map(|(later, other)| ((*earlier, *later), (*one, *other))));
            }
            let (keys, ids): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
            let (end, expected) = end_with(&keys, ids);
            prop_assert_eq!(end, Some(expected), "all with the first");
        }
    }

    #[test]
    fn path_is_the_whole_time_and_slack_is_as_much_as_there_is(
        agents in any_agents(),
    ) {
        let agents = tree_members(&agents);
        let tree = PathTree::new(agents.clone());
        let path = tree.critical_path();
        let mut at = tree.begin;
        for segment in &path.segments {
            prop_assert_eq!(segment.from, at);
            prop_assert!(segment.from < segment.to);
            at = segment.to;
        }
        prop_assert_eq!(at, tree.end);
        for segment in path.segments.iter().filter(|segment| segment.activity.is_some()) {
            let key = ActivityKey { agent: segment.agent, activity: segment.activity.unwrap() };
            prop_assert_eq!(path.slack.get(&key), Some(&0));
        }
        for (key, slack) in &path.slack {
            let waits = agents.iter().any(|child| child.parent == Some(key.agent)
                && child.call == Some(agents[key.agent].time.activities[key.activity].id));
            if waits {
                continue;
            }
            let slack = i64::try_from(*slack).unwrap();
            for (more, end) in [(slack, tree.end), (slack + 1, tree.end + 1)] {
                let longer = |it: ActivityKey, activity: &Activity| {
                    activity.to - activity.from + if it == *key { more } else { 0 }
                };
                prop_assert_eq!(brute_force(&agents, longer, &[]), end, "{:?} + {}", key, more);
            }
        }
    }
}
