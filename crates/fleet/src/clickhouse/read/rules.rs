//! Reads the decisions of the user's rules, newest first, and their counts.

use std::collections::HashMap;

use agent_tracer_ledger::engine::cursor::{self, List as Listing};
use agent_tracer_ledger::insights;
use agent_tracer_ledger::project::List;
use agent_tracer_ledger::project::presenters;
use agent_tracer_ledger::project::ruling::{RuleKey, ending_masks, rule_number};
use agent_tracer_ledger::project::tally::Dim;
use agent_tracer_ledger::project::time::Level;
use agent_tracer_ledger::view::{Page, RuleDecision, RuleStat};
use agent_tracer_ledger::{Answer, DecisionFilter, Decisions, Range};
use clickhouse::Row;
use serde::Deserialize;

use super::closed_days::ClosedDays;
use super::family::{Member, TaskColumns};
use super::sums::ALWAYS;
use super::task::PLACE;
use super::{Reader, keys_in};

/// Holds the time of a rule's last decision.
#[derive(Row, Deserialize)]
struct LastDecision {
    key: String,
    at: i64,
}

impl Reader {
    /// Returns the time of each rule's last decision, by its name and its project.
    pub(super) fn last_of_rules(&self, closed: &ClosedDays) -> Answer<HashMap<(String, String), i64>> {
        let (scope, facts, dim) = (self.task_filter(), self.fact_filter(), Dim::Rule.code());
        let made = closed.sums_condition(ALWAYS, Level::Day).map(|made| {
            format!(
                "SELECT key AS rule, day_sum.last AS moment FROM day_sum FINAL WHERE {scope} AND dim = {dim} AND {made}"
            )
        });
        let open = closed.open(ALWAYS).map(|open| {
            format!(
                "SELECT rule, occurred AS moment FROM fact FINAL ARRAY JOIN sums.dim AS own_dim, sums.key AS rule \
                 WHERE {facts} AND list = {} AND own_dim = {dim} AND {}",
                List::Rule.code(),
                open.facts
            )
        });
        let parts: Vec<String> = made.into_iter().chain(open).collect();
        let lines = self.rows::<LastDecision>(&format!(
            "SELECT rule AS key, max(moment) AS at FROM ({}) GROUP BY key",
            parts.join(" UNION ALL ")
        ))?;
        let mut last: HashMap<(String, String), i64> = HashMap::new();
        for line in lines {
            let key = RuleKey::parse(&line.key);
            let at = last.entry((key.rule, key.project)).or_insert(line.at);
            *at = line.at.max(*at);
        }
        Ok(last)
    }
}

impl Decisions for Reader {
    /// Returns a page of decisions, newest first.
    fn decisions(&self, filter: &DecisionFilter) -> Answer<Page<RuleDecision>> {
        let after = cursor::page_start::<4>(Listing::Decisions, &filter.paging)?;
        let limit = cursor::limit(&filter.paging);
        let mut all = vec![self.fact_filter(), format!("list = {}", List::Rule.code())];
        if let Some(id) = &filter.task {
            all.push(format!("(owner, task) IN {}", keys_in([&self.one::<Member>(id)?.key()])));
        }
        all.extend(
            filter.rule.as_ref().map(|rule| format!("bitShiftRight(signature, 8) = {}", rule_number(rule))),
        );
        let (statuses, outcomes) = ending_masks(&filter.statuses, &filter.outcomes);
        // The signature of a decision holds rule, status and outcome, so that a filter reads one column and not the
        // text.
        for (bits, place) in [(statuses, "bitShiftRight(signature, 4)"), (outcomes, "signature")] {
            if bits >= 0 {
                all.push(format!("bitTest({bits}, bitAnd({place}, 15))"));
            }
        }
        all.extend(filter.since.map(|since| format!("occurred >= {}", since.0)));
        all.extend(filter.until.map(|until| format!("occurred < {}", until.0)));
        if let Some([occurred, order, fact, task]) = after {
            all.push(format!("(occurred, ord, fact, {PLACE}) < ({occurred}, {order}, {fact}, {task})"));
        }
        let found = self.facts(&format!(
            "WHERE {} ORDER BY occurred DESC, ord DESC, fact DESC, {PLACE} DESC LIMIT {}",
            all.join(" AND "),
            limit + 1
        ))?;
        let page = cursor::cut(Listing::Decisions, limit, found, |stored| {
            [stored.row.occurred, stored.row.order, stored.row.fact, stored.place]
        });
        let abouts = self.abouts(&self.members_of(&page.items)?)?;
        let items = page
            .items
            .iter()
            .filter_map(|stored| Some(presenters::decision(abouts.get(&stored.key)?, &stored.row)))
            .collect();
        Ok(Page { items, next_cursor: page.next_cursor })
    }

    fn rules(&self, range: &Range) -> Answer<Page<RuleStat>> {
        insights::rules(self, range)
    }
}
