//! Folds the entries of one fact into the fact.
//!
//! An entry has some of the fields and a certainty. Entries are sorted by authority and laid over each other, so that
//! each field has the value of the most authoritative entry that has it, and remembers the channel of that entry.
//! Authority compares, in this order: the certainty of the entry, the rank of its channel, its phase, its time, its
//! position in its source, and at last its content, so that no two different entries are equal.
//!
//! Three fields do not follow the most authoritative entry. A fact began at the earliest time of the opening entries of
//! the best certainty. It ended at the earliest time of the closing entries of the best certainty: a call ends exactly
//! once, at the first of its closers. Its certainty is the best of all.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use agent_tracer_event::{
    CallState, Certainty, Channel, Entry, Kind, Lane, Metadata, Millis, Phase, Subject, TaskKey,
};
use serde::Serialize;

/// An entry and the channel that reported it.
#[derive(Clone, Debug, PartialEq)]
pub struct SourcedEntry {
    /// The entry.
    pub entry: Entry,
    /// The channel that brought it.
    pub channel: Channel,
}

/// Everything known about one thing that happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Fact {
    /// The subject.
    pub subject: Subject,
    /// The task that it belongs to.
    pub task: TaskKey,
    /// Its natural key within the task.
    pub key: String,
    /// The moment when it began.
    pub occurred_at: Millis,
    /// The position in its source: breaks ties between equal times.
    pub order: u64,
    /// The moment when it ended.
    pub ended_at: Option<Millis>,
    /// Its lane; events always have one.
    pub lane: Option<Lane>,
    /// The title that a person reads.
    pub title: Option<String>,
    /// Longer text.
    pub body: Option<String>,
    /// The state of a call.
    pub state: Option<CallState>,
    /// The tool.
    pub tool_name: Option<String>,
    /// The agent's id of the call.
    pub tool_use_id: Option<String>,
    /// The natural key of its turn.
    pub turn: Option<String>,
    /// The subagent that acted.
    pub agent_id: Option<String>,
    /// The type of the agent that acted.
    pub agent_type: Option<String>,
    /// The hook event that reported it.
    pub hook_event_name: Option<String>,
    /// The files that it concerns, sorted.
    pub file_paths: BTreeSet<String>,
    /// All other fields.
    pub metadata: Metadata,
    /// Every channel that reported it.
    pub channels: BTreeSet<Channel>,
    /// The channel that each field came from.
    pub field_channels: BTreeMap<String, Channel>,
    /// The certainty of the best of them.
    pub certainty: Certainty,
    /// The name of the series to which it belongs.
    #[serde(skip)]
    pub series: Option<String>,
}

impl Fact {
    /// Returns the kind, if this is an event.
    #[must_use]
    pub fn kind(&self) -> Option<Kind> {
        match self.subject {
            Subject::Event(kind) => Some(kind),
            Subject::Task | Subject::Turn | Subject::Account => None,
        }
    }
}

/// Returns the rank of a phase: an entry that closes knows more about the end than one that opens.
fn phase_rank(phase: Phase) -> u8 {
    match phase {
        Phase::Open => 0,
        Phase::Update => 1,
        Phase::Close => 2,
    }
}

/// Compares two entries by authority: the greater decides a field that both have. Different entries are never equal.
fn authority(left: &SourcedEntry, right: &SourcedEntry) -> Ordering {
    let (a, b) = (&left.entry, &right.entry);
    a.evidence
        .certainty
        .cmp(&b.evidence.certainty)
        .then_with(|| left.channel.cmp(&right.channel))
        .then_with(|| phase_rank(a.phase).cmp(&phase_rank(b.phase)))
        .then_with(|| a.occurred_at.cmp(&b.occurred_at))
        .then_with(|| a.order.cmp(&b.order))
        // Entries that agree in all of this and still differ are rare. Their text decides, because it does not depend
        // on the place and time of the reading.
        .then_with(|| content(a).cmp(&content(b)))
}

fn content(entry: &Entry) -> String {
    serde_json::to_string(entry).unwrap_or_default()
}

/// Returns `true` if the subject `new` replaces `old`: a specific kind is never replaced by a vague one.
fn says_more(new: Subject, old: Subject) -> bool {
    // A reader that does not know a tool reports it as one all the same. A better account names it, whatever its
    // certainty.
    let vague = |subject: Subject| matches!(subject, Subject::Event(Kind::ToolUsed | Kind::Unrecognised));
    !vague(new) || vague(old)
}

/// Returns the earliest time among the most certain entries of a phase.
fn earliest(
    reported: &[SourcedEntry],
    wanted: Phase,
    time: impl Fn(&Entry) -> Option<Millis>,
) -> Option<(Millis, u64)> {
    let candidates = || {
        reported.iter().filter(|reported| reported.entry.phase == wanted).filter_map(|reported| {
            Some((reported.entry.evidence.certainty, time(&reported.entry)?, reported.entry.order))
        })
    };
    // Among the surest only: a guess that is early must not move the beginning that a hook measured.
    let best = candidates().map(|(certainty, _, _)| certainty).max()?;
    candidates().filter(|(certainty, _, _)| *certainty == best).map(|(_, at, order)| (at, order)).min()
}

/// Folds all entries of one fact, in any order. Returns `None` without entries.
#[must_use]
pub fn fold(entries: &[SourcedEntry]) -> Option<Fact> {
    fold_with(entries.to_vec(), true)
}

/// Folds without [`Fact::field_channels`]. Rows do not store them, and recording them costs more than the fold.
pub(crate) fn fold_unnamed(entries: Vec<SourcedEntry>) -> Option<Fact> {
    fold_with(entries, false)
}

fn fold_with(mut reported: Vec<SourcedEntry>, is_named: bool) -> Option<Fact> {
    // Every key of the comparison is in the entry itself. Nothing of its arrival is, or the fold would depend on the
    // order of delivery.
    reported.sort_by(authority);
    // The same entry can come through two deliveries under two names, and is one statement.
    reported.dedup_by(|left, right| authority(left, right).is_eq());
    let began = earliest(&reported, Phase::Open, |entry| Some(entry.occurred_at))
        .or_else(|| reported.iter().map(|reported| (reported.entry.occurred_at, reported.entry.order)).min());
    let ended = earliest(&reported, Phase::Close, |entry| entry.ended_at)
        .or_else(|| earliest(&reported, Phase::Update, |entry| entry.ended_at))
        .or_else(|| earliest(&reported, Phase::Open, |entry| entry.ended_at));
    let first = reported.first()?;
    let (occurred_at, order) = began.unwrap_or((first.entry.occurred_at, first.entry.order));
    let mut fact = Fact {
        subject: first.entry.subject,
        task: first.entry.task.clone(),
        key: first.entry.key.clone(),
        occurred_at,
        order,
        ended_at: ended.map(|(at, _)| at),
        lane: None,
        title: None,
        body: None,
        state: None,
        tool_name: None,
        tool_use_id: None,
        turn: None,
        agent_id: None,
        agent_type: None,
        hook_event_name: None,
        file_paths: BTreeSet::new(),
        metadata: Metadata::new(),
        channels: BTreeSet::new(),
        field_channels: BTreeMap::new(),
        certainty: first.entry.evidence.certainty,
        series: None,
    };
    // From the least authoritative on, so that each field ends with the value of the surest entry that has it.
    for reported in reported {
        if is_named {
            name_fields(&mut fact, &reported);
        }
        overlay(&mut fact, reported);
    }
    if let Some(kind) = fact.kind() {
        fact.lane = fact.lane.or(Some(kind.lane()));
    }
    // The map keeps the order of insertion, which must not reveal the order of entries.
    fact.metadata.sort_keys();
    Some(fact)
}

/// Returns `true` if the state of an entry replaces that of the fact. A more authoritative entry about the beginning of
/// a call does not reopen one that has ended.
fn says_state(fact: &Fact, entry: &Entry) -> bool {
    entry.state.is_some_and(|state| state != CallState::Running || fact.state.is_none())
}

/// Records the channel of each field in an entry. It runs before [`overlay`], because [`says_state`] compares an entry
/// with the fact as it was before that entry.
fn name_fields(fact: &mut Fact, reported: &SourcedEntry) {
    let entry = &reported.entry;
    let fields = [
        ("lane", entry.lane.is_some()),
        ("title", entry.title.is_some()),
        ("body", entry.body.is_some()),
        ("toolName", entry.tool_name.is_some()),
        ("toolUseId", entry.tool_use_id.is_some()),
        ("turnId", entry.turn.is_some()),
        ("agentId", entry.agent_id.is_some()),
        ("agentType", entry.agent_type.is_some()),
        ("hookEventName", entry.hook_event_name.is_some()),
        ("state", says_state(fact, entry)),
        ("filePaths", !entry.file_paths.is_empty()),
    ];
    let fields = fields.into_iter().filter(|(_, is_said)| *is_said).map(|(name, _)| name.to_owned());
    let metadata = entry.metadata.keys().map(|key| format!("metadata.{key}"));
    fact.field_channels.extend(fields.chain(metadata).map(|name| (name, reported.channel)));
}

/// Replaces the fields of a fact by those of a more authoritative entry.
fn overlay(fact: &mut Fact, reported: SourcedEntry) {
    let SourcedEntry { entry, channel } = reported;
    fact.channels.insert(channel);
    fact.certainty = fact.certainty.max(entry.evidence.certainty);
    if says_more(entry.subject, fact.subject) {
        fact.subject = entry.subject;
    }
    if says_state(fact, &entry) {
        fact.state = entry.state;
    }
    macro_rules! take {
        ($($field:ident),+) => {
            $(if entry.$field.is_some() {
                fact.$field = entry.$field;
            })+
        };
    }
    take!(lane, title, body, tool_name, tool_use_id, turn, agent_id, agent_type, hook_event_name);
    // The series of a transcript stays: entries of other channels are matched to it ([`crate::sqlite`]'s series), and a
    // fact belongs to one series only.
    if let Some(series) = entry.series.filter(|_| fact.series.is_none() || channel == Channel::Transcript) {
        fact.series = Some(series.name);
    }
    fact.file_paths.extend(entry.file_paths);
    // Most facts have one entry with metadata, whose map is moved here instead of being copied key by key.
    if fact.metadata.is_empty() {
        fact.metadata = entry.metadata;
    } else {
        fact.metadata.extend(entry.metadata);
    }
}

#[cfg(test)]
mod tests {
    use agent_tracer_event::{Agent, Evidence};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn entry(phase: Phase, at: i64, certainty: Certainty) -> Entry {
        Entry::new(
            Subject::Event(Kind::ToolUsed),
            phase,
            TaskKey::new(Agent::CLAUDE_CODE, "s"),
            "tool:1",
            Millis(at),
            Evidence { certainty, reason: "test".to_owned() },
        )
    }

    fn reported(channel: Channel, entry: Entry) -> SourcedEntry {
        SourcedEntry { entry, channel }
    }

    #[test]
    fn a_call_ends_at_the_first_of_its_surest_closers() {
        let close = |at: i64, certainty, state| {
            let mut entry = entry(Phase::Close, at, certainty);
            entry.ended_at = Some(Millis(at));
            entry.state = Some(state);
            entry
        };
        let open = {
            let mut entry = entry(Phase::Open, 10, Certainty::Measured);
            entry.state = Some(CallState::Running);
            entry
        };
        let fact = fold(&[
            reported(Channel::Hook, close(30, Certainty::Measured, CallState::Failed)),
            reported(Channel::Hook, close(20, Certainty::Inferred, CallState::Succeeded)),
            reported(Channel::Hook, open),
        ])
        .unwrap();
        assert_eq!(fact.occurred_at, Millis(10));
        assert_eq!(fact.ended_at, Some(Millis(30)));
        assert_eq!(fact.state, Some(CallState::Failed));
    }

    #[test]
    fn a_later_account_of_the_beginning_does_not_reopen_a_call() {
        let mut open = entry(Phase::Open, 10, Certainty::Measured);
        open.state = Some(CallState::Running);
        let mut close = entry(Phase::Close, 20, Certainty::Inferred);
        close.state = Some(CallState::Denied);
        let fact = fold(&[reported(Channel::Transcript, open), reported(Channel::Hook, close)]).unwrap();
        assert_eq!(fact.state, Some(CallState::Denied));
    }

    #[test]
    fn each_field_remembers_the_channel_that_reported_it() {
        let mut hook = entry(Phase::Open, 10, Certainty::Measured);
        hook.title = Some("Read lib.rs".to_owned());
        hook.metadata.insert("durationMs".to_owned(), json!(5));
        let mut row = entry(Phase::Update, 11, Certainty::Reported);
        row.metadata.insert("exitCode".to_owned(), json!(3));
        row.metadata.insert("durationMs".to_owned(), json!(7));
        let fact = fold(&[reported(Channel::Hook, hook), reported(Channel::Transcript, row)]).unwrap();
        assert_eq!(fact.metadata, json!({"durationMs": 5, "exitCode": 3}).as_object().unwrap().clone());
        assert_eq!(fact.field_channels["metadata.durationMs"], Channel::Hook);
        assert_eq!(fact.field_channels["metadata.exitCode"], Channel::Transcript);
        assert_eq!(fact.channels, BTreeSet::from([Channel::Hook, Channel::Transcript]));
    }

    #[test]
    fn a_kind_that_says_what_happened_stays() {
        let mut plain = entry(Phase::Close, 20, Certainty::Measured);
        plain.subject = Subject::Event(Kind::ToolUsed);
        let mut todo = entry(Phase::Open, 10, Certainty::Guessed);
        todo.subject = Subject::Event(Kind::TodoLogged);
        let fact = fold(&[reported(Channel::Hook, plain), reported(Channel::Hook, todo)]).unwrap();
        assert_eq!(fact.kind(), Some(Kind::TodoLogged));
        assert_eq!(fact.lane, Some(Lane::Todos));
    }

    #[test]
    fn nothing_folds_to_nothing() {
        assert_eq!(fold(&[]), None);
    }

    fn any_reported() -> impl Strategy<Value = SourcedEntry> {
        let words = |words: &'static [&'static str]| proptest::sample::select(words);
        (
            proptest::sample::select(Channel::ALL),
            proptest::sample::select(Phase::ALL),
            proptest::sample::select(Certainty::ALL),
            0..5_i64,
            0..3_u64,
            proptest::option::of(proptest::sample::select(CallState::ALL)),
            proptest::option::of(words(&["a", "b", "c"])),
            proptest::option::of(0..9_i64),
            proptest::collection::btree_map(words(&["x", "y", "z"]), 0..4_i32, 0..3),
            proptest::collection::vec(words(&["p", "q"]), 0..2),
        )
            .prop_map(
                |(channel, phase, certainty, at, order, state, title, ended, metadata, paths)| {
                    let mut entry = entry(phase, at, certainty);
                    entry.order = order;
                    entry.state = state;
                    entry.title = title.map(str::to_owned);
                    entry.ended_at = ended.map(Millis);
                    entry.metadata =
                        metadata.into_iter().map(|(key, value)| (key.to_owned(), json!(value))).collect();
                    entry.file_paths = paths.into_iter().map(str::to_owned).collect();
                    reported(channel, entry)
                },
            )
    }

    proptest! {
        #[test]
        fn order_and_repetition_do_not_matter(
            (entries, shuffled) in proptest::collection::vec(any_reported(), 1..8)
                .prop_flat_map(|entries| (Just(entries.clone()), Just(entries).prop_shuffle())),
            again in proptest::collection::vec(any::<proptest::sample::Index>(), 0..4),
        ) {
            let mut repeated = shuffled;
            for index in again {
                repeated.push(index.get(&entries).clone());
            }
            prop_assert_eq!(fold(&entries), fold(&repeated));
        }

        #[test]
        fn more_entries_never_take_a_field_away(
            entries in proptest::collection::vec(any_reported(), 2..8),
        ) {
            let all = fold(&entries).unwrap();
            let some = fold(&entries[1..]).unwrap();
            prop_assert!(some.field_channels.keys().all(|field| all.field_channels.contains_key(field)));
            prop_assert!(some.metadata.keys().all(|key| all.metadata.contains_key(key)));
            prop_assert!(some.file_paths.is_subset(&all.file_paths));
            prop_assert!(some.ended_at.is_none() || all.ended_at.is_some());
        }
    }
}
