//! The usage of a task and all its descendants, divided by model, skill or a property that tasks share.

use std::collections::BTreeMap;

use crate::engine::usage_sum::UsageSum;
use crate::project::residual::Residual;
use crate::project::spend::Spend;
use crate::shipment::TaskSpend;
use crate::view::{Page, UsageBucket};

/// The usage of each part.
#[derive(Debug, Default)]
pub struct UsageParts(BTreeMap<String, UsageSum>);

impl UsageParts {
    /// Adds responses to a part.
    pub fn add(&mut self, key: String, spend: Spend) {
        self.0.entry(key).or_default().spend += spend;
    }

    /// Adds responses that count in another task.
    pub fn add_copies(&mut self, key: String, copies: i64) {
        self.0.entry(key).or_default().copies += copies;
    }

    /// Adds the root task. The client's account of a session includes its subagents, so only the root's account counts.
    pub fn add_root(&mut self, key: String, spend: &TaskSpend) {
        let sum = self.0.entry(key).or_default();
        *sum += &spend.usage();
        sum.client_cost = spend.client_cost;
    }

    /// Adds a descendant.
    pub fn add_descendant(&mut self, key: String, spend: &TaskSpend) {
        *self.0.entry(key).or_default() += &spend.usage();
    }

    /// Adds usage that appears only in the account of the client to the parts of its models.
    pub fn add_residual(&mut self, residual: &Residual) {
        for line in residual.present().models {
            *self.0.entry(line.model.clone()).or_default() +=
                &UsageSum { residual: Some(line.into()), ..UsageSum::default() };
        }
    }

    /// Returns the parts, the most expensive first.
    #[must_use]
    pub fn page(self) -> Page<UsageBucket> {
        let bucket =
            |(key, sum): (String, UsageSum)| UsageBucket { key, label: None, owner: None, usage: sum.view() };
        let mut items: Vec<UsageBucket> = self.0.into_iter().map(bucket).collect();
        items.sort_by(|one, two| {
            two.usage.cost_usd.total_cmp(&one.usage.cost_usd).then_with(|| one.key.cmp(&two.key))
        });
        Page::whole(items)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn account_of_the_root_includes_its_descendants() {
        let spend = |cost, client_cost| TaskSpend {
            spend: Spend { cost, responses: 1, ..Spend::default() },
            client_cost: Some(client_cost),
            ..TaskSpend::default()
        };
        let mut parts = UsageParts::default();
        parts.add_root("a".to_owned(), &spend(1, 2_000_000_000_000));
        parts.add_descendant("a".to_owned(), &spend(1, 1_000_000_000_000));
        parts.add_descendant("b".to_owned(), &spend(9, 1_000_000_000_000));
        let page = parts.page();
        let items: Vec<_> = page
            .items
            .iter()
            .map(|item| (item.key.as_str(), item.usage.provenance.responses, item.usage.client_cost_usd))
            .collect();
        assert_eq!(items, [("b", 1, None), ("a", 2, Some(2.0))]);
    }

    #[test]
    fn copies_count_beside_the_spend_of_their_part() {
        let mut parts = UsageParts::default();
        parts.add("m".to_owned(), Spend { input: 5, responses: 2, ..Spend::default() });
        parts.add_copies("m".to_owned(), 3);
        let usage = parts.page().items.remove(0).usage;
        assert_eq!((usage.tokens.input, usage.provenance.responses, usage.provenance.copies), (5, 2, 3));
    }
}
