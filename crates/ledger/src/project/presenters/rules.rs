//! The presentation of rules: a decision from a row, and counts from sums.

use std::collections::BTreeMap;

use agent_tracer_event::{FactId, Millis, attributes};

use super::About;
use crate::engine::usage_sum::count;
use crate::project::FactRow;
use crate::project::measures::Measures;
use crate::project::ruling::RuleKey;
use crate::view::{RuleDecision, RuleInputs, RuleStat};

/// Returns one decision.
#[must_use]
pub fn decision(about: &About, row: &FactRow) -> RuleDecision {
    let owned = |key: &str| row.text(key).map(str::to_owned);
    let word = |key: &str| owned(key).unwrap_or_else(|| "unknown".to_owned());
    let status = word(attributes::RULE_STATUS);
    let tool_use_id = row.data.tool_use_id.clone();
    RuleDecision {
        id: about.row_id(row.fact),
        task_id: about.uid.to_string(),
        owner: about.owner.clone(),
        call_id: tool_use_id
            .as_deref()
            .map(|id| FactId::derive(&about.uid, &format!("tool:{id}")).to_string()),
        title: row.data.title.clone(),
        rule: word(attributes::RULE_ID),
        origin: word(attributes::RULE_SOURCE),
        rule_project: owned(attributes::RULE_PROJECT),
        severity: owned(attributes::SEVERITY),
        inputs: RuleInputs {
            event: row.data.hook_event_name.clone(),
            agent: about.agent,
            agent_type: about.type_of(row),
            is_subagent: about.background,
            tool_name: row.tool.clone().or_else(|| owned(attributes::TOOL_NAME)),
            tool_use_id,
            cwd: owned(attributes::CWD),
        },
        decision: word(attributes::RULE_DECISION),
        outcome: word(attributes::RULE_OUTCOME),
        mode: if status == "dry_run" { "dry_run" } else { "enforce" }.to_owned(),
        status,
        basis: word(attributes::RULE_BASIS),
        answered_by: word(attributes::ANSWERED_BY),
        took_us: super::number(row, attributes::DECISION_US),
        occurred_at: Millis(row.occurred),
    }
}

/// Counts of rules out of the sums of their keys, most decisions first, then by name.
pub fn rule_stats(sums: impl IntoIterator<Item = (RuleKey, Measures)>) -> Vec<RuleStat> {
    let mut stats: BTreeMap<(String, String), (RuleStat, i64)> = BTreeMap::new();
    for (key, sums) in sums {
        let n = count(sums.n);
        if n == 0 {
            continue;
        }
        let place = (key.rule.clone(), key.project.clone());
        let (stat, took) = stats.entry(place).or_insert_with(|| {
            let project = Some(key.project.clone()).filter(|project| !project.is_empty());
            (RuleStat { rule: key.rule.clone(), project, ..RuleStat::default() }, 0)
        });
        stat.count += n;
        *took = took.saturating_add(sums.decision_us);
        match key.status.as_str() {
            "dry_run" => stat.dry_run += n,
            "held_back" => stat.held_back += n,
            "let_go" => stat.let_go += n,
            _ => stat.enforced += n,
        }
        *stat.outcomes.entry(key.outcome).or_default() += n;
    }
    let mut stats: Vec<RuleStat> = stats
        .into_values()
        .map(|(stat, took)| RuleStat { mean_us: count(took) / stat.count.max(1), ..stat })
        .collect();
    // What is already in the order of names stays in it where counts are equal.
    stats.sort_by_key(|stat| std::cmp::Reverse(stat.count));
    stats
}
