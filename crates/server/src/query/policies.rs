//! Questions about rules: which are in force, what they decided, and how often.

use std::collections::BTreeMap;

use agent_tracer_ledger::project::ruling::OUTCOMES;
use agent_tracer_ledger::view::{RuleDecision, RuleStat};
use agent_tracer_ledger::{DecisionFilter, MAX_LIMIT, Paging, Range};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::params::{BETWEEN, PAGING, WHOSE};
use super::{CachePolicy, Endpoint, ParamType, QueryParams, json, may, write};
use crate::app::App;
use crate::deps::{PolicyFile, RuleInForce};
use crate::openapi::{one, page};
use crate::problem::Problem;

/// Pages of counts that are read at most: more rules than anyone has, and a bound whatever the store answers.
const MOST_PARTS: usize = 20;

/// The rules that act on what agents do, and what they did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Policies {
    /// The rules in force, the user's first, in the order of their files.
    pub(crate) items: Vec<Policy>,
    /// The files that they stand in, the user's first.
    pub(crate) files: Vec<PolicyFile>,
    /// Decisions of rules that are in force no longer.
    pub(crate) past: Vec<RuleStat>,
    /// The time a hook waits for an answer, in milliseconds.
    pub(crate) deadline_ms: u32,
    /// Problems of the rules.
    pub(crate) problems: Vec<String>,
}

/// A rule that acts on what agents do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Policy {
    #[serde(flatten)]
    pub(crate) rule: RuleInForce,
    /// Counts of its decisions. `lastAt` ignores `since` and `until`.
    pub(crate) counts: RuleStat,
}

fn outcomes() -> Vec<&'static str> {
    OUTCOMES.to_vec()
}

fn modes() -> Vec<&'static str> {
    vec!["enforce", "dry_run"]
}

/// Returns the counts of every rule that ever decided.
fn counts(app: &App, asked: &QueryParams) -> Result<Vec<RuleStat>, Problem> {
    let mut range = Range { since: asked.time("since"), until: asked.time("until"), ..Range::default() };
    range.paging = Paging { cursor: None, limit: MAX_LIMIT };
    let mut all = Vec::new();
    for _ in 0..MOST_PARTS {
        let part = asked.store(app).rules(&range)?;
        all.extend(part.items);
        match part.next_cursor {
            Some(cursor) => range.paging.cursor = Some(cursor),
            None => break,
        }
    }
    Ok(all)
}

fn policies(app: &App, asked: &QueryParams) -> Result<Policies, Problem> {
    let known = (app.deps.rules)();
    let counted = counts(app, asked)?.into_iter();
    let mut counts: BTreeMap<(String, Option<String>), RuleStat> =
        counted.map(|stat| ((stat.rule.clone(), stat.project.clone()), stat)).collect();
    let items = known.rules.into_iter().map(|rule| {
        let nothing =
            RuleStat { rule: rule.name.clone(), project: rule.project.clone(), ..RuleStat::default() };
        let counts = counts.remove(&(rule.name.clone(), rule.project.clone())).unwrap_or(nothing);
        Policy { rule, counts }
    });
    let items = items.collect();
    let past = counts.into_values().collect();
    Ok(Policies { items, files: known.files, past, deadline_ms: known.deadline_ms, problems: known.problems })
}

fn decisions(asked: &QueryParams) -> DecisionFilter {
    let word = |word: &str| Some(word.to_owned());
    let statuses: &[&str] = match asked.word("mode", word).as_deref() {
        Some("dry_run") => &["dry_run"],
        Some(_) => &["enforced", "held_back", "let_go"],
        None => &[],
    };
    DecisionFilter {
        rule: asked.text("rule"),
        outcomes: asked.words("decision", word),
        statuses: statuses.iter().map(|status| (*status).to_owned()).collect(),
        task: asked.task("task"),
        since: asked.time("since"),
        until: asked.time("until"),
        paging: asked.paging(),
    }
}

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        path: "/policies",
        operation: "listPolicies",
        summary: "Rules that act on what agents do, the files they stand in, and how often they decided what.",
        params: &[WHOSE, BETWEEN],
        shape: one::<Policies>,
        ages: CachePolicy::Always,
        ask: |app, asked| write(&policies(app, asked)?),
    },
    Endpoint {
        path: "/policies/decisions",
        operation: "listDecisions",
        summary: "What rules decided, newest first. A part may have fewer items than asked for, even none, and still \
                  not be the last: only one without `nextCursor` is.",
        params: &[
            &[
                may("rule", ParamType::Text, "Of the rule with this name."),
                may("decision", ParamType::Many(outcomes), "That came to one of these."),
                may("mode", ParamType::One(modes), "By rules that act, or by those that rehearse."),
                may("task", ParamType::Task, "In this task."),
            ],
            WHOSE,
            BETWEEN,
            PAGING,
        ],
        shape: page::<RuleDecision>,
        ages: CachePolicy::WithLedger,
        ask: |app, asked| json(asked.store(app).decisions(&decisions(asked))),
    },
];
