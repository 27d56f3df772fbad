//! Questions about rules: which are in force, what they decided, and how often.

use std::collections::BTreeMap;

use agent_tracer_ledger::project::ruling::OUTCOMES;
use agent_tracer_ledger::view::{RuleDecision, RuleStat};
use agent_tracer_ledger::{DecisionFilter, MAX_LIMIT, Paging, Range};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::params::{BETWEEN, OWNER_AND_MACHINE, PAGING};
use super::{CachePolicy, Endpoint, ParamType, QueryParams, json, optional, write};
use crate::app::App;
use crate::deps::{ActiveRule, PolicyFile};
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
    pub(crate) rule: ActiveRule,
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
fn counts(app: &App, params: &QueryParams) -> Result<Vec<RuleStat>, Problem> {
    let mut range = Range { since: params.time("since"), until: params.time("until"), ..Range::default() };
    range.paging = Paging { cursor: None, limit: MAX_LIMIT };
    let mut all = Vec::new();
    for _ in 0..MOST_PARTS {
        let part = params.store(app).rules(&range)?;
        all.extend(part.items);
        match part.next_cursor {
            Some(cursor) => range.paging.cursor = Some(cursor),
            None => break,
        }
    }
    Ok(all)
}

fn policies(app: &App, params: &QueryParams) -> Result<Policies, Problem> {
    let known = (app.deps.rules)();
    let counted = counts(app, params)?.into_iter();
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

fn decisions(params: &QueryParams) -> DecisionFilter {
    let word = |word: &str| Some(word.to_owned());
    let statuses: &[&str] = match params.word("mode", word).as_deref() {
        Some("dry_run") => &["dry_run"],
        Some(_) => &["enforced", "held_back", "let_go"],
        None => &[],
    };
    DecisionFilter {
        rule: params.text("rule"),
        outcomes: params.words("decision", word),
        statuses: statuses.iter().map(|status| (*status).to_owned()).collect(),
        task: params.task("task"),
        since: params.time("since"),
        until: params.time("until"),
        paging: params.paging(),
    }
}

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        path: "/policies",
        operation: "listPolicies",
        summary: "Rules, their files, and counts of their decisions.",
        params: &[OWNER_AND_MACHINE, BETWEEN],
        shape: one::<Policies>,
        cache: CachePolicy::Always,
        ask: |app, params| write(&policies(app, params)?),
    },
    Endpoint {
        path: "/policies/decisions",
        operation: "listDecisions",
        summary: "Decisions of rules, newest first. A part may have fewer items than requested, even none, without being \
                  the last: only a part without `nextCursor` is the last.",
        params: &[
            &[
                optional("rule", ParamType::Text, "Of the rule with this name."),
                optional("decision", ParamType::Many(outcomes), "With one of these outcomes."),
                optional("mode", ParamType::One(modes), "By enforced rules, or by rules in a dry run."),
                optional("task", ParamType::Task, "In this task."),
            ],
            OWNER_AND_MACHINE,
            BETWEEN,
            PAGING,
        ],
        shape: page::<RuleDecision>,
        cache: CachePolicy::WithLedger,
        ask: |app, params| json(params.store(app).decisions(&decisions(params))),
    },
];
