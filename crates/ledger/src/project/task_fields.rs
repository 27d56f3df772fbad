//! The fold of the entries about a task itself: the most authoritative value of each field.
//!
//! Every hook repeats its working directory and the like, so a task has as many entries about itself as it has events.
//! They are not stored one by one: only the most authoritative value of a field matters, and the comparison of two does
//! not depend on the order of their arrival. The state below therefore is the fold, however many entries went into it.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use agent_tracer_event::{Certainty, Channel, Entry, Phase, attributes};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The most authoritative value of a field: certainty, channel, phase, time, order, value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct FieldClaim(Certainty, Channel, u8, i64, u64, Value);

impl FieldClaim {
    fn authority(&self, other: &Self) -> Ordering {
        (self.0, self.1, self.2, self.3, self.4)
            .cmp(&(other.0, other.1, other.2, other.3, other.4))
            // Values of equal authority are rare. Their text decides, because any other choice would depend on which
            // came first.
            .then_with(|| self.5.to_string().cmp(&other.5.to_string()))
    }
}

/// The title of a prompt is that of the first prompt; other titles are replaced by later ones.
const PROMPT_TITLE: &str = "title prompt";
const TITLE: &str = "title ";

/// The sources of titles, the best first.
const TITLES: [&str; 10] = [
    "custom",
    "agent_name",
    "session_title",
    "ai",
    "summary",
    "delegation",
    "description",
    "prompt",
    "agent_path",
    "agent_type",
];

/// The account of a session; the last one counts.
pub const ACCOUNT: &str = "account";

/// Each account of a session under its own time: a fork begins with the one that was the last when it was made.
const ACCOUNTS: &str = "account at ";

/// The number of accounts that are kept, the newest ones.
const MOST_ACCOUNTS: usize = 32;

/// Keys that name the parent of a task. Among equally certain values the first counts: an agent that outlives `/clear`
/// later reports the session that followed the one that started it.
const PARENT: [&str; 2] = [attributes::PARENT_SESSION, attributes::PARENT_CERTAINTY];

/// The prefix of keys by which an agent names the session whose account includes some of its responses.
pub const PAID_BY: &str = attributes::PAID_BY_PREFIX;

/// The prefix of keys by which a session names an agent whose responses its account includes.
pub const PAID_FOR: &str = attributes::PAID_FOR_PREFIX;

/// The effect of an entry on the fields of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FieldChange {
    /// No change.
    Nothing,
    /// The same values, from a surer or later entry.
    Surer,
    /// A value changed.
    News,
}

/// Everything that was reported about one task itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskFields(BTreeMap<String, FieldClaim>);

impl TaskFields {
    /// Takes the fields of an entry about the task or its account.
    pub fn hear(&mut self, entry: &Entry, channel: Channel) -> FieldChange {
        let phase = match entry.phase {
            Phase::Open => 0,
            Phase::Update => 1,
            Phase::Close => 2,
        };
        let said = |value: Value| {
            FieldClaim(entry.evidence.certainty, channel, phase, entry.occurred_at.0, entry.order, value)
        };
        if entry.subject == agent_tracer_event::Subject::Account {
            let said = said(Value::Object(entry.metadata.clone()));
            let earlier =
                if entry.key == ACCOUNT { self.take_account(said.clone()) } else { FieldChange::Nothing };
            return self.take(&entry.key, said).max(earlier);
        }
        let source = entry.metadata.get(attributes::TITLE_SOURCE).and_then(Value::as_str).unwrap_or("prompt");
        let mut change = FieldChange::Nothing;
        for (key, value) in &entry.metadata {
            change = change.max(match key.as_str() {
                attributes::TITLE_SOURCE => FieldChange::Nothing,
                attributes::TITLE => self.take(&format!("{TITLE}{source}"), said(value.clone())),
                key => self.take(key, said(value.clone())),
            });
        }
        change
    }

    /// Returns `true` if a field of the task came from one of these channels.
    #[must_use]
    pub fn is_from(&self, channels: &[Channel]) -> bool {
        self.0.values().any(|said| channels.contains(&said.1))
    }

    fn take(&mut self, key: &str, new: FieldClaim) -> FieldChange {
        let Some(old) = self.0.get_mut(key) else {
            self.0.insert(key.to_owned(), new);
            return FieldChange::News;
        };
        let is_better = match key {
            PROMPT_TITLE => (new.3, new.4, new.5.to_string())
                .cmp(&(old.3, old.4, old.5.to_string()))
                .then_with(|| old.authority(&new))
                .is_lt(),
            key if PARENT.contains(&key) => new
                .0
                .cmp(&old.0)
                .then_with(|| (old.3, old.4).cmp(&(new.3, new.4)))
                .then_with(|| new.authority(old))
                .is_gt(),
            _ => new.authority(old).is_gt(),
        };
        if !is_better {
            return FieldChange::Nothing;
        }
        let change = if old.5 == new.5 { FieldChange::Surer } else { FieldChange::News };
        *old = new;
        change
    }

    fn take_account(&mut self, said: FieldClaim) -> FieldChange {
        let key = format!("{ACCOUNTS}{:016} {:016}", said.3.max(0), said.4);
        let is_known = self.0.contains_key(&key);
        let mut known = self.0.keys().filter(|known| known.starts_with(ACCOUNTS));
        let first = known.next().cloned();
        let is_full = known.count() + 1 >= MOST_ACCOUNTS;
        match first.filter(|_| is_full && !is_known) {
            Some(first) if key < first => return FieldChange::Nothing,
            Some(first) => {
                self.0.remove(&first);
            }
            None => {}
        }
        self.take(&key, said)
    }

    /// Returns the accounts of a session with their times, oldest first.
    pub fn accounts(&self) -> impl Iterator<Item = (i64, &Value)> {
        let all = self.0.iter().filter(|(key, _)| key.starts_with(ACCOUNTS));
        all.map(|(_, said)| (said.3, &said.5))
    }

    /// Returns the last account of a session with the time at which it was written.
    #[must_use]
    pub fn account(&self) -> Option<(i64, &Value)> {
        self.0.get(ACCOUNT).map(|said| (said.3, &said.5))
    }

    /// Returns the rest of each field name that begins with `beginning`, in order.
    pub fn names_behind<'t>(&'t self, beginning: &'t str) -> impl Iterator<Item = &'t str> {
        let from = self.0.range(beginning.to_owned()..);
        from.map_while(move |(key, _)| key.strip_prefix(beginning))
    }

    /// Returns the value of a field.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key).map(|said| &said.5)
    }

    /// Returns the value of a field if it is a text.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str().filter(|text| !text.is_empty())
    }

    /// Returns the value of a field if it is a whole number.
    #[must_use]
    pub fn number(&self, key: &str) -> Option<i64> {
        self.get(key)?.as_i64()
    }

    /// Returns the certainty of a field.
    #[must_use]
    pub fn certainty(&self, key: &str) -> Option<Certainty> {
        self.0.get(key).map(|said| said.0)
    }

    /// Returns the channel that reported a field.
    #[must_use]
    pub fn channel(&self, key: &str) -> Option<Channel> {
        self.0.get(key).map(|said| said.1)
    }

    /// Returns the best title.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        let known = TITLES.iter().find_map(|source| self.text(&format!("{TITLE}{source}")));
        known.or_else(|| {
            let mut others = self.0.iter().filter(|(key, _)| key.starts_with(TITLE));
            others.find_map(|(_, said)| said.5.as_str())
        })
    }
}

#[cfg(test)]
mod tests {
    use agent_tracer_event::{Agent, Evidence, Metadata, Millis, Subject, TaskKey};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn entry(at: i64, certainty: Certainty, metadata: Value) -> Entry {
        let Value::Object(metadata) = metadata else { panic!("metadata is an object") };
        let mut entry = Entry::new(
            Subject::Task,
            Phase::Update,
            TaskKey::new(Agent::CLAUDE_CODE, "s"),
            "task",
            Millis(at),
            Evidence { certainty, reason: "test".to_owned() },
        );
        entry.metadata = metadata;
        entry
    }

    #[test]
    fn the_first_prompt_names_the_task_until_a_caller_gives_it_a_name() {
        let mut reported = TaskFields::default();
        reported.hear(
            &entry(20, Certainty::Measured, json!({"title": "second", "titleSource": "prompt"})),
            Channel::Hook,
        );
        reported.hear(
            &entry(10, Certainty::Inferred, json!({"title": "first", "titleSource": "prompt"})),
            Channel::Transcript,
        );
        assert_eq!(reported.title(), Some("first"));
        reported.hear(
            &entry(30, Certainty::Reported, json!({"title": "Mine", "titleSource": "custom"})),
            Channel::Transcript,
        );
        assert_eq!(reported.title(), Some("Mine"));
    }

    #[test]
    fn a_sure_parent_is_not_replaced_by_a_guess() {
        let mut reported = TaskFields::default();
        reported.hear(&entry(10, Certainty::Reported, json!({"parentSession": "b"})), Channel::Hook);
        let guess = entry(99, Certainty::Guessed, json!({"parentSession": "a"}));
        assert_eq!(reported.hear(&guess, Channel::Hook), FieldChange::Nothing);
        assert_eq!(reported.text("parentSession"), Some("b"));
    }

    #[test]
    fn of_equally_sure_parents_the_first_counts() {
        let guess = |at: i64, session: &str| entry(at, Certainty::Guessed, json!({"parentSession": session}));
        for order in [[10, 20], [20, 10]] {
            let mut reported = TaskFields::default();
            for at in order {
                reported.hear(&guess(at, if at == 10 { "first" } else { "second" }), Channel::Hook);
            }
            assert_eq!(reported.text("parentSession"), Some("first"));
            let sure = entry(30, Certainty::Reported, json!({"parentSession": "sure"}));
            reported.hear(&sure, Channel::Hook);
            assert_eq!(reported.text("parentSession"), Some("sure"));
        }
    }

    #[test]
    fn fields_are_found_by_the_beginning_of_their_names() {
        let mut reported = TaskFields::default();
        let fields = json!({"paidBy:b": true, "paidBy:a": true, "paid": 1, "paidFor:c": true});
        reported.hear(&entry(10, Certainty::Reported, fields), Channel::Transcript);
        assert_eq!(reported.names_behind(PAID_BY).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(reported.names_behind(PAID_FOR).collect::<Vec<_>>(), ["c"]);
    }

    #[test]
    fn of_an_account_the_last_counts() {
        let account = |at: i64, cost: f64| {
            let mut entry = entry(at, Certainty::Reported, json!({"clientCostUsd": cost}));
            entry.subject = Subject::Account;
            entry.key = "account".to_owned();
            entry
        };
        let mut reported = TaskFields::default();
        reported.hear(&account(20, 2.0), Channel::Transcript);
        reported.hear(&account(10, 1.0), Channel::Transcript);
        assert_eq!(reported.get("account"), Some(&json!({"clientCostUsd": 2.0})));
        assert_eq!(reported.account(), Some((20, &json!({"clientCostUsd": 2.0}))));
        let times: Vec<i64> = reported.accounts().map(|(at, _)| at).collect();
        assert_eq!(times, [10, 20]);
        for at in (30..200).rev() {
            reported.hear(&account(at, 3.0), Channel::Transcript);
        }
        let times: Vec<i64> = reported.accounts().map(|(at, _)| at).collect();
        assert_eq!(times, (168..200).collect::<Vec<_>>(), "of very many the newest stay");
        assert_eq!(reported.hear(&account(40, 3.0), Channel::Transcript), FieldChange::Nothing);
    }

    fn any_entry() -> impl Strategy<Value = (Entry, Channel)> {
        let words = |words: &'static [&'static str]| proptest::sample::select(words);
        (
            0..6_i64,
            proptest::sample::select(Certainty::ALL),
            proptest::sample::select(Channel::ALL),
            proptest::collection::btree_map(
                words(&["cwd", "title", "titleSource", "model", "parentSession"]),
                words(&["prompt", "custom", "x"]),
                0..4,
            ),
        )
            .prop_map(|(at, certainty, channel, metadata)| {
                let metadata: Metadata =
                    metadata.into_iter().map(|(key, value)| (key.to_owned(), json!(value))).collect();
                (entry(at, certainty, Value::Object(metadata)), channel)
            })
    }

    proptest! {
        #[test]
        fn order_and_repetition_do_not_matter(
            (entries, shuffled) in proptest::collection::vec(any_entry(), 1..10)
                .prop_flat_map(|entries| (Just(entries.clone()), Just(entries).prop_shuffle())),
        ) {
            let mut one = TaskFields::default();
            let mut other = TaskFields::default();
            for (entry, channel) in &entries {
                one.hear(entry, *channel);
            }
            for (entry, channel) in shuffled.iter().chain(&entries) {
                other.hear(entry, *channel);
            }
            prop_assert_eq!(&one, &other);
            let text = serde_json::to_string(&one).unwrap();
            prop_assert_eq!(serde_json::from_str::<TaskFields>(&text).unwrap(), one);
        }
    }
}
