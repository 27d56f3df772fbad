//! Judges moments and counts what each rule would have done.

use std::collections::HashMap;
use std::rc::Rc;

use crate::{Basis, Call, Decision, FiredRule, Mode, OnOutage, Origin, Outcome, Policy, Rule};
use agent_tracer_event::Millis;
use agent_tracer_ledger::view::Row;

use crate::backtest::evidence::ReplayEvidence;
use crate::backtest::missing::{MissingParts, RuleSplit};
use crate::backtest::report::{Backtest, Decisions, ReplayMatch, RuleReport, UnevaluatedEvents};
use crate::evidence::EvidenceHistory;

/// The most examples of one rule.
pub const EXAMPLES_MAX: usize = 50;

/// The reason why a rule about the history could not be judged.
const NO_HISTORY: &str = "the history before this moment is unknown";

pub(crate) struct Judge {
    rules: Vec<(Origin, Rule)>,
    /// The rules split by what is missing; there are few ways in which something can be.
    splits: HashMap<MissingParts, Rc<RuleSplit>>,
    found: Vec<RuleReport>,
    outcomes: Decisions,
    pub(crate) moments: u64,
    pub(crate) calls: u64,
    pub(crate) tasks: u64,
}

impl Judge {
    pub(crate) fn new(policy: &Policy) -> Self {
        let rules: Vec<(Origin, Rule)> = policy
            .rules()
            .map(|(origin, rule)| {
                let mut rule = rule.clone();
                // With this every rule that cannot be evaluated reports it, and is counted as not judged.
                rule.on_outage = OnOutage::Deny;
                (origin, rule)
            })
            .collect();
        let found = rules.iter().map(|(origin, rule)| empty_report(*origin, rule)).collect();
        Self {
            rules,
            splits: HashMap::new(),
            found,
            outcomes: Decisions::default(),
            moments: 0,
            calls: 0,
            tasks: 0,
        }
    }

    /// Judges one moment.
    pub(crate) fn judge(
        &mut self,
        call: &Call,
        missing: MissingParts,
        history: &EvidenceHistory<ReplayEvidence<'_>>,
    ) {
        self.moments += 1;
        let rules = &self.rules;
        // Rules are split once for each combination of missing data, of which there are at most 64, and not for every
        // moment.
        let split = self.splits.entry(missing).or_insert_with(|| Rc::new(RuleSplit::new(rules, missing)));
        let split = Rc::clone(split);
        for unjudged in split.unjudged.iter().filter(|unjudged| unjudged.rule.is_about(call)) {
            if let Some(found) = self.found.get_mut(unjudged.place) {
                count_unjudged(found, unjudged.reason);
            }
        }
        let verdict = split.judged.decide(call, history);
        let mut outcome: Option<Outcome> = None;
        let mut is_warned = false;
        for fired in &verdict.fired {
            let place = self
                .rules
                .iter()
                .position(|(origin, rule)| *origin == fired.origin && rule.name == fired.rule);
            let Some(found) = place.and_then(|place| self.found.get_mut(place)) else { continue };
            // Live, the rule would have had an answer: an outage of the replay says nothing of the rule.
            if fired.basis == Basis::Outage {
                count_unjudged(found, NO_HISTORY);
                continue;
            }
            if fired.mode == Mode::Enforce && !fired.counted {
                found.held_back += 1;
            }
            *counter_of(&mut found.decisions, fired.decision) += 1;
            if found.examples.len() < EXAMPLES_MAX {
                found.examples.push(example(fired, call, history.evidence.row, history.evidence.at));
            }
            if fired.counted {
                is_warned |= fired.decision == Decision::Warn;
                outcome = outcome.max(outcome_of(fired.decision));
            }
        }
        match outcome.and_then(Outcome::decision) {
            Some(decision) => *counter_of(&mut self.outcomes, decision) += 1,
            None if is_warned => self.outcomes.warned += 1,
            None => {}
        }
    }

    pub(crate) fn report(self, since: Millis, until: Millis, stopped_by: Option<&str>) -> Backtest {
        Backtest {
            since,
            until,
            tasks: self.tasks,
            calls: self.calls,
            moments: self.moments,
            complete: stopped_by.is_none(),
            stopped_by: stopped_by.map(str::to_owned),
            outcomes: self.outcomes,
            rules: self.found,
        }
    }
}

fn outcome_of(decision: Decision) -> Option<Outcome> {
    match decision {
        Decision::Allow => Some(Outcome::Allow),
        Decision::Rewrite => Some(Outcome::Rewrite),
        Decision::Warn => None,
        Decision::Ask => Some(Outcome::Ask),
        Decision::Deny => Some(Outcome::Deny),
        Decision::Stop => Some(Outcome::Stop),
    }
}

fn counter_of(decisions: &mut Decisions, decision: Decision) -> &mut u64 {
    match decision {
        Decision::Allow => &mut decisions.allowed,
        Decision::Rewrite => &mut decisions.rewritten,
        Decision::Warn => &mut decisions.warned,
        Decision::Ask => &mut decisions.asked,
        Decision::Deny => &mut decisions.denied,
        Decision::Stop => &mut decisions.stopped,
    }
}

fn count_unjudged(found: &mut RuleReport, reason: &str) {
    match found.not_judged.iter_mut().find(|it| it.reason == reason) {
        Some(known) => known.count = Some(known.count.unwrap_or(0) + 1),
        None => found.not_judged.push(UnevaluatedEvents { reason: reason.to_owned(), count: Some(1) }),
    }
}

/// Starts the report of a rule, with the reasons for which it never can be judged.
fn empty_report(origin: Origin, rule: &Rule) -> RuleReport {
    let mut not_judged = Vec::new();
    let mut never = |is_asked: bool, reason: &str| {
        if is_asked {
            not_judged.push(UnevaluatedEvents { reason: reason.to_owned(), count: None });
        }
    };
    never(rule.require.todos_closed, "open work items are not recorded");
    never(rule.require.mentioned_opened, "the files that existed then are not recorded");
    RuleReport {
        name: rule.name.clone(),
        line: rule.line as u64,
        origin: origin.as_str().to_owned(),
        decision: rule.decision.as_str().to_owned(),
        mode: rule.mode.as_str().to_owned(),
        events: rule.events.iter().map(|event| event.as_str().to_owned()).collect(),
        decisions: Decisions::default(),
        held_back: 0,
        not_judged,
        examples: Vec::new(),
    }
}

fn example(fired: &FiredRule, call: &Call, row: &Row, at: Millis) -> ReplayMatch {
    ReplayMatch {
        row_id: row.id.clone(),
        task_id: row.task_id.clone(),
        event: call.event.as_str().to_owned(),
        tool: row.tool_name.clone(),
        title: row.title.clone(),
        agent_type: row.agent_type.clone(),
        occurred_at: at,
        decision: fired.decision.as_str().to_owned(),
        state: row.state.map(|state| state.as_str().to_owned()),
    }
}
