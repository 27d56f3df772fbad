//! The time of a tree of agents, divided among classes: each millisecond belongs to one.
//!
//! The rule for a moment in which several things go on: waiting for a person comes first, because nothing else shortens
//! it; then work (model, tools, compactions), then failed requests and requests beside the conversation, then gaps that
//! hooks explain, then calls to agents, then idleness. Activities of the first rank that is there share the moment
//! equally, by their number. What is shared is rounded so that the parts add up to the whole; a rest below a
//! millisecond goes to the class that stands later.

use std::collections::BTreeMap;

use super::Basis;
use super::agent::{AgentTime, Class, Rank, without};
use crate::project::presenters::TimeSpan;

/// Holds the time of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassTime {
    /// All of it.
    pub ms: u64,
    /// The part of it that is inferred.
    pub inferred_ms: u64,
}

/// Holds the time of a tree by class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeLedger {
    /// From the first to the last event of the tree.
    pub life: TimeSpan,
    /// The classes with any time. Their sum is the length of the life.
    pub classes: BTreeMap<Class, ClassTime>,
}

impl TimeLedger {
    /// Divides the time of agents, the main one first.
    #[must_use]
    pub fn divide(agents: &[AgentTime]) -> Self {
        let begin = agents.iter().map(|agent| agent.life.0).min().unwrap_or(0);
        let end = agents.iter().map(|agent| agent.life.1).max().unwrap_or(begin).max(begin);
        let all = agents.iter().flat_map(|agent| &agent.activities);
        let done = all
            .map(|activity| (activity.from, activity.to, (activity.rank, &activity.class, activity.basis)));
        let turns = agents.first().map_or(&[][..], |main| &main.turns);
        let idle = without(&[(begin, end)], turns).into_iter();
        let idle = idle.map(|(from, to)| (from, to, (Rank::Idle, &Class::Idle, Basis::Measured)));
        let mut edges: Vec<(i64, Key<'_>, bool)> =
            done.chain(idle).flat_map(|(from, to, key)| [(from, key, true), (to, key, false)]).collect();
        // At one moment the order does not matter: nothing is shared between equal moments.
        edges.sort_unstable_by_key(|(at, _, begins)| (*at, !begins));
        let mut ledger = Self { life: (begin, end), classes: BTreeMap::new() };
        let mut active: BTreeMap<Key<'_>, u64> = BTreeMap::new();
        let mut at = begin;
        for (edge, key, begins) in edges {
            ledger.share(edge.min(end) - at, &active);
            at = at.max(edge.min(end));
            let count = active.entry(key).or_default();
            *count = if begins { *count + 1 } else { count.saturating_sub(1) };
            if *count == 0 {
                active.remove(&key);
            }
        }
        ledger.share(end - at, &BTreeMap::new());
        ledger
    }

    fn share(&mut self, length: i64, active: &BTreeMap<Key<'_>, u64>) {
        let Ok(length @ 1..) = u64::try_from(length) else { return };
        let Some(((first, ..), _)) = active.first_key_value() else {
            return self.add(&Class::Unexplained, length, Basis::Inferred);
        };
        let sharing = || active.iter().take_while(|((rank, ..), _)| rank == first);
        let whole: u64 = sharing().map(|(_, count)| count).sum();
        let part = |count: u64| u128::from(length) * u128::from(count) / u128::from(whole.max(1));
        let mut counted = 0;
        for ((_, class, basis), count) in sharing() {
            let before = part(counted);
            counted += count;
            self.add(class, u64::try_from(part(counted) - before).unwrap_or(0), *basis);
        }
    }

    fn add(&mut self, class: &Class, ms: u64, basis: Basis) {
        if ms == 0 {
            return;
        }
        let time = match self.classes.get_mut(class) {
            Some(time) => time,
            None => self.classes.entry(class.clone()).or_default(),
        };
        time.ms += ms;
        time.inferred_ms += if basis == Basis::Inferred { ms } else { 0 };
    }

    /// Returns the length of the life.
    #[must_use]
    pub fn wall_ms(&self) -> u64 {
        self.life.1.abs_diff(self.life.0)
    }

    /// Returns the time of a class.
    #[must_use]
    pub fn ms(&self, class: &Class) -> u64 {
        self.classes.get(class).map_or(0, |time| time.ms)
    }
}

type Key<'a> = (Rank, &'a Class, Basis);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::agent::Activity;
    use super::*;

    fn activity(from: i64, to: i64, class: Class, rank: Rank) -> Activity {
        Activity { id: from, from, to, class, rank, basis: Basis::Measured }
    }

    fn tool(name: &str) -> Class {
        Class::Tool(name.to_owned())
    }

    fn agent(life: TimeSpan, activities: Vec<Activity>) -> AgentTime {
        AgentTime { life, turns: vec![life], activities }
    }

    fn classes(ledger: &TimeLedger) -> Vec<(Class, u64)> {
        ledger.classes.iter().map(|(class, time)| (class.clone(), time.ms)).collect()
    }

    #[test]
    fn activities_of_one_rank_share_a_moment_equally() {
        let shared = vec![
            activity(0, 10, tool("Read"), Rank::Work),
            activity(0, 10, tool("Read"), Rank::Work),
            activity(4, 10, tool("Bash"), Rank::Work),
        ];
        let ledger = TimeLedger::divide(&[agent((0, 12), shared)]);
        assert_eq!(classes(&ledger), [(tool("Bash"), 2), (tool("Read"), 8), (Class::Unexplained, 2)]);
    }

    #[test]
    fn wait_for_a_person_hides_work_and_work_of_an_agent_hides_the_call_to_it() {
        let main = vec![
            activity(0, 100, tool("Agent"), Rank::Delegation),
            activity(60, 70, Class::Permission, Rank::Person),
        ];
        let sub = vec![activity(10, 80, Class::Writing, Rank::Work)];
        let ledger = TimeLedger::divide(&[agent((0, 100), main), agent((10, 80), sub)]);
        assert_eq!(classes(&ledger), [(Class::Writing, 60), (tool("Agent"), 30), (Class::Permission, 10)]);
    }

    #[test]
    fn time_between_turns_of_the_main_agent_is_idle_unless_another_works() {
        let main = AgentTime { life: (0, 100), turns: vec![(10, 20), (90, 95)], activities: Vec::new() };
        let sub = agent((40, 60), vec![activity(40, 60, Class::Writing, Rank::Work)]);
        let ledger = TimeLedger::divide(&[main, sub]);
        assert_eq!(classes(&ledger), [(Class::Writing, 20), (Class::Idle, 65), (Class::Unexplained, 15)]);
    }

    #[test]
    fn tree_without_agents_has_no_time() {
        assert_eq!(TimeLedger::divide(&[]), TimeLedger::default());
    }

    fn any_agent() -> impl Strategy<Value = AgentTime> {
        let class = prop_oneof![
            Just((Class::Permission, Rank::Person)),
            Just((Class::Writing, Rank::Work)),
            Just((tool("Bash"), Rank::Work)),
            Just((tool("Read"), Rank::Work)),
            Just((Class::Retry, Rank::Beside)),
            Just((Class::Hook, Rank::Gap)),
            Just((tool("Agent"), Rank::Delegation)),
        ];
        let activity = (0_i64..200, 0_i64..60, class)
            .prop_map(|(from, length, (class, rank))| activity(from, from + length, class, rank));
        let turns = proptest::collection::vec((0_i64..200, 0_i64..60), 0..4);
        (0_i64..200, 0_i64..120, proptest::collection::vec(activity, 0..12), turns).prop_map(
            |(begin, length, mut activities, turns)| {
                let life = (begin, begin + length);
                let within = |(from, to): TimeSpan| (from.max(life.0), to.min(life.1));
                for activity in &mut activities {
                    (activity.from, activity.to) = within((activity.from, activity.to));
                }
                activities.retain(|activity| activity.from < activity.to);
                let turns = turns.into_iter().map(|(from, length)| within((from, from + length)));
                AgentTime { life, turns: crate::project::presenters::disjoint(turns), activities }
            },
        )
    }

    proptest! {
        #[test]
        fn classes_add_up_to_the_wall_time(agents in proptest::collection::vec(any_agent(), 0..5)) {
            let ledger = TimeLedger::divide(&agents);
            prop_assert_eq!(ledger.classes.values().map(|time| time.ms).sum::<u64>(), ledger.wall_ms());
            for time in ledger.classes.values() {
                prop_assert!(time.inferred_ms <= time.ms);
            }
        }

        #[test]
        fn first_rank_has_every_moment_of_its_own(agents in proptest::collection::vec(any_agent(), 0..5)) {
            let ledger = TimeLedger::divide(&agents);
            let all = agents.iter().flat_map(|agent| &agent.activities);
            let spans = all.filter(|activity| activity.rank == Rank::Person);
            let union = crate::project::presenters::disjoint(spans.map(|span| (span.from, span.to)));
            let expected: i64 = union.iter().map(|(from, to)| to - from).sum();
            prop_assert_eq!(i64::try_from(ledger.ms(&Class::Permission)).unwrap(), expected);
        }

        #[test]
        fn rest_and_covers_are_the_whole(
            spans in proptest::collection::vec((0_i64..200, 0_i64..60), 0..6),
            covers in proptest::collection::vec((0_i64..200, 0_i64..60), 0..6),
        ) {
            let joined = |spans: Vec<(i64, i64)>| {
                crate::project::presenters::disjoint(spans.into_iter().map(|(from, length)| (from, from + length)))
            };
            let (spans, covers) = (joined(spans), joined(covers));
            let rest = without(&spans, &covers);
            let holds = |spans: &[TimeSpan], at: i64| spans.iter().any(|(from, to)| (*from..*to).contains(&at));
            for at in 0..260 {
                let expected = holds(&spans, at) && !holds(&covers, at);
                prop_assert_eq!(holds(&rest, at), expected, "{}", at);
            }
        }
    }
}
