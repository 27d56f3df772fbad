//! Reads the activities of one agent: work and waits, each from one moment to another.

use std::collections::BTreeMap;

use agent_tracer_event::semantics::SubtypeKey;
use agent_tracer_event::{CallState, Channel, Kind, attributes};
use serde_json::Value;

use super::model::{AttemptOutcome, ModelSpan, spans};
use super::{Basis, Moment};
use crate::project::presenters::{self, TimeSpan};
use crate::project::row::channel_bits;
use crate::project::{FactRow, List};

/// The longest gap that hooks explain. They answer within milliseconds to seconds; a longer gap is something else.
const HOOK_GAP_MS: i64 = 10_000;

/// Names what a moment was spent on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// The model thought, the way to it and back included.
    Thinking,
    /// The model wrote, the way to it and back included.
    Writing,
    /// A tool ran.
    Tool(String),
    /// A person was asked for a permission.
    Permission,
    /// A person was asked a question.
    Answer,
    /// A request failed, or was to be tried again.
    Retry,
    /// The context was compacted.
    Compaction,
    /// Hooks ran.
    Hook,
    /// No turn ran: the agent waited for its next prompt.
    Idle,
    /// Nothing that was recorded explains it.
    Unexplained,
}

/// Ranks activities of the same moment: the first rank with an activity has the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rank {
    /// A person is waited for.
    Person,
    /// Model, tools and compactions.
    Work,
    /// Failed requests, and requests beside the conversation.
    Beside,
    /// A gap that is only inferred from its neighbours.
    Gap,
    /// A call to another agent, which works itself.
    Delegation,
    /// Nothing is asked of the agent.
    Idle,
}

/// Holds one activity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activity {
    /// The number of its fact.
    pub id: i64,
    /// The moment at which it began.
    pub from: i64,
    /// The moment at which it ended.
    pub to: i64,
    /// The class.
    pub class: Class,
    /// The rank.
    pub rank: Rank,
    /// The basis of its edges: measured only if both are.
    pub basis: Basis,
}

/// Holds the activities of one agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentTime {
    /// From its first event to its last.
    pub life: TimeSpan,
    /// The turns, in which it had something to do, without overlaps and in order.
    pub turns: Vec<TimeSpan>,
    /// The activities.
    pub activities: Vec<Activity>,
}

/// Names the place of an agent in its tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentRole {
    /// People ask it.
    Main,
    /// Another agent asks it.
    Subagent,
}

impl AgentTime {
    /// Reads the activities of a task from its rows, which may come in any order.
    ///
    /// `life` is from its first to its last event; what still runs ends there.
    #[must_use]
    pub fn from_rows(rows: &[FactRow], life: TimeSpan, role: AgentRole) -> Self {
        let mut activities = Vec::new();
        let mut add = |id: i64, (from, to): TimeSpan, class: Class, rank: Rank, basis: Basis| {
            let (from, to) = (from.max(life.0), to.min(life.1));
            if from < to {
                activities.push(Activity { id, from, to, class, rank, basis });
            }
        };
        let spans = spans(rows);
        for (span, next) in spans.iter().zip(spans.iter().skip(1).map(Some).chain([None])) {
            model_time(span, next, &mut add);
        }
        for row in rows {
            if let Some(wait) = presenters::wait(row) {
                let class = if row.list == List::Question { Class::Answer } else { Class::Permission };
                add(row.fact, wait, class, Rank::Person, Basis::Measured);
            }
            if row.is_call() && row.list != List::Question {
                let rank = if delegates(row) { Rank::Delegation } else { Rank::Work };
                let class = Class::Tool(row.tool.clone().unwrap_or_default());
                let (span, basis) = run_of(row, life.1);
                add(row.fact, span, class, rank, basis);
            }
        }
        compactions(rows, &mut add);
        let turns = turns(rows, life, role);
        stop_hooks(rows, &spans, &mut add);
        let mut time = Self { life, turns, activities };
        time.fill_gaps(rows);
        time
    }

    /// Explains gaps in turns by the hooks that were seen at their edges.
    fn fill_gaps(&mut self, rows: &[FactRow]) {
        let hooked = channel_bits(&[Channel::Hook, Channel::Http]);
        let reported = rows.iter().filter(|row| row.channels & hooked != 0);
        let mut seen: Vec<i64> = reported.flat_map(|row| [Some(row.occurred), row.ended]).flatten().collect();
        seen.sort_unstable();
        let covered =
            presenters::disjoint(self.activities.iter().map(|activity| (activity.from, activity.to)));
        for (from, to) in without(&self.turns, &covered) {
            let first = seen.partition_point(|at| *at < from);
            let has_hook = seen.get(first).is_some_and(|at| *at <= to);
            if has_hook && to - from <= HOOK_GAP_MS {
                let (class, rank) = (Class::Hook, Rank::Gap);
                self.activities.push(Activity { id: 0, from, to, class, rank, basis: Basis::Inferred });
            }
        }
    }
}

/// Returns the parts of spans that others do not cover. Both are in order and without overlaps.
pub(super) fn without(spans: &[TimeSpan], covered: &[TimeSpan]) -> Vec<TimeSpan> {
    let mut rest = Vec::new();
    let mut covers = covered.iter().peekable();
    for &(mut from, to) in spans {
        while let Some(&&(begin, end)) = covers.peek() {
            if begin >= to {
                break;
            }
            if from < begin {
                rest.push((from, begin));
            }
            from = from.max(end);
            if end > to {
                break;
            }
            covers.next();
        }
        if from < to {
            rest.push((from, to));
        }
    }
    rest
}

/// Adds a request, as thinking and writing, and the wait after a failed one.
fn model_time(
    span: &ModelSpan,
    next: Option<&ModelSpan>,
    add: &mut impl FnMut(i64, TimeSpan, Class, Rank, Basis),
) {
    let both = |one: Moment, other: Moment| one.basis.max(other.basis);
    if span.outcome == AttemptOutcome::Failed {
        if let Some(requested) = span.requested {
            let whole = (requested.at, span.ended.at);
            add(span.id, whole, Class::Retry, Rank::Beside, both(requested, span.ended));
        }
        let reported = span.retry_in_ms.and_then(|ms| i64::try_from(ms).ok());
        let until = reported.map(|ms| Moment::measured(span.ended.at.saturating_add(ms)));
        // An attempt of the same turn follows: whatever lies between is the wait for it.
        let follows = next.filter(|next| next.turn == span.turn).and_then(|next| next.requested);
        if let Some(until) = until.or_else(|| follows.map(|moment| Moment::inferred(moment.at))) {
            add(span.id, (span.ended.at, until.at), Class::Retry, Rank::Beside, until.basis);
        }
        return;
    }
    let Some(requested) = span.requested else { return };
    let rank = if span.in_conversation || span.compacts { Rank::Work } else { Rank::Beside };
    if span.compacts {
        let whole = (requested.at, span.ended.at);
        return add(span.id, whole, Class::Compaction, rank, both(requested, span.ended));
    }
    let thought = thought_until(span, requested);
    add(span.id, (requested.at, thought.at), Class::Thinking, rank, both(requested, thought));
    add(span.id, (thought.at, span.ended.at), Class::Writing, rank, both(thought, span.ended));
}

/// Returns the moment at which thinking ended: as reported, or by its share in the tokens.
fn thought_until(span: &ModelSpan, requested: Moment) -> Moment {
    if let Some(thought) = span.thought_until {
        return thought;
    }
    let (Some(thinking), Some(output)) = (span.thinking_tokens, span.output_tokens) else { return requested };
    if thinking == 0 || output == 0 {
        return requested;
    }
    let length = i128::from(span.ended.at - requested.at);
    let share = length * i128::from(thinking.min(output)) / i128::from(output);
    Moment::inferred(requested.at + i64::try_from(share).unwrap_or(0))
}

/// Returns `true` if a call runs another agent.
fn delegates(row: &FactRow) -> bool {
    row.text(attributes::SUBTYPE_KEY) == Some(SubtypeKey::Delegation.as_str())
}

/// Returns when a call ran. What the agent measured leaves out hooks and the wait for a permission.
fn run_of(row: &FactRow, open_until: i64) -> (TimeSpan, Basis) {
    let Some(ended) = row.ended else { return ((row.occurred, open_until), Basis::Inferred) };
    let whole = (row.occurred, ended);
    let basis = if row.open { Basis::Inferred } else { Basis::Measured };
    let is_measured = row.text(attributes::DURATION_SOURCE) != Some("tracer");
    let Some(duration) = row.duration.filter(|_| is_measured && !delegates(row)) else {
        return (whole, basis);
    };
    match row.state {
        Some(CallState::Succeeded | CallState::Failed) => {
            ((row.occurred.max(ended.saturating_sub(duration)), ended), basis)
        }
        _ => ((row.occurred, ended.min(row.occurred.saturating_add(duration))), basis),
    }
}

/// Adds compactions: as reported, or from the report before one to the report after it.
fn compactions(rows: &[FactRow], add: &mut impl FnMut(i64, TimeSpan, Class, Rank, Basis)) {
    let mut marks: Vec<&FactRow> =
        rows.iter().filter(|row| row.kind == Some(Kind::ContextSaved) && row.list == List::Context).collect();
    marks.sort_by_key(|row| (row.occurred, row.order, row.fact));
    let mut began = None;
    for row in marks {
        match row.text(attributes::COMPACT_PHASE) {
            Some("before") => began = Some(row.occurred),
            Some("after") => {
                let ended = row.ended.unwrap_or(row.occurred);
                if let Some(duration) = row.duration {
                    let span = (ended.saturating_sub(duration), ended);
                    add(row.fact, span, Class::Compaction, Rank::Work, Basis::Measured);
                } else if let Some(began) = began {
                    add(row.fact, (began, row.occurred), Class::Compaction, Rank::Work, Basis::Measured);
                }
                began = began.filter(|_| row.duration.is_some());
            }
            _ => {}
        }
    }
}

/// Adds the hooks that ran at the end of a turn, which follow its last response.
fn stop_hooks(
    rows: &[FactRow],
    spans: &[ModelSpan],
    add: &mut impl FnMut(i64, TimeSpan, Class, Rank, Basis),
) {
    let mut last: BTreeMap<i64, i64> = BTreeMap::new();
    for span in spans.iter().filter(|span| span.outcome != AttemptOutcome::Failed) {
        if let Some(turn) = span.turn {
            last.insert(turn, span.ended.at);
        }
    }
    for row in rows.iter().filter(|row| row.list == List::Turn) {
        let duration = row.meta(attributes::STOP_HOOK_DURATION_MS).and_then(Value::as_i64);
        if let (Some(from), Some(duration)) = (last.get(&row.fact), duration) {
            let span = (*from, from.saturating_add(duration));
            add(row.fact, span, Class::Hook, Rank::Work, Basis::Measured);
        }
    }
}

/// Returns when the agent had something to do.
fn turns(rows: &[FactRow], life: TimeSpan, role: AgentRole) -> Vec<TimeSpan> {
    let mut all: Vec<(i64, Option<i64>)> =
        rows.iter().filter(|row| row.list == List::Turn).map(|row| (row.occurred, row.ended)).collect();
    if role == AgentRole::Subagent {
        let moments = |lists: &[List]| {
            let mut moments: Vec<i64> =
                rows.iter().filter(|row| lists.contains(&row.list)).map(|row| row.occurred).collect();
            moments.sort_unstable();
            moments
        };
        let (starts, ends) = (moments(&presenters::RUN_STARTS), moments(&presenters::RUN_ENDS));
        all.extend(presenters::runs(&starts, &ends));
    }
    let within = |(from, to): (i64, Option<i64>)| (from.max(life.0), to.unwrap_or(life.1).min(life.1));
    presenters::disjoint(all.into_iter().map(within))
}
