//! Sums of responses, with the residual as a separate part.
//!
//! In the sums over time the residual has keys of its own, so that it can be shown separately and is counted once.

use std::collections::BTreeMap;

use super::residual::join_reasons;
use super::spend::Spend;
use super::tally::SEPARATOR;
use crate::engine::usage_sum::UsageSum;
use crate::view::Residual;

/// Splits a key into its model and, for a residual, its reason.
#[must_use]
pub fn model_of(key: &str) -> (&str, Option<&str>) {
    key.split_once(SEPARATOR).map_or((key, None), |(model, reason)| (model, Some(reason)))
}

/// The usage of one group, such as a model or a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bucket {
    /// The whole usage.
    pub spend: Spend,
    /// The residuals in it, by reason.
    left: BTreeMap<String, Spend>,
}

impl Bucket {
    /// Adds the spend of a key, or subtracts it.
    pub fn add(&mut self, spend: Spend, reason: Option<&str>, sign: i64) {
        let spend = spend.times(sign);
        self.spend += spend;
        if let Some(reason) = reason {
            match self.left.get_mut(reason) {
                Some(left) => *left += spend,
                None => *self.left.entry(reason.to_owned()).or_default() += spend,
            }
        }
    }

    /// Adds another bucket, or subtracts it.
    pub fn add_all(&mut self, other: &Self, sign: i64) {
        self.spend += other.spend.times(sign);
        for (reason, spend) in &other.left {
            *self.left.entry(reason.clone()).or_default() += spend.times(sign);
        }
    }

    /// Returns `true` if it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spend.is_zero()
    }

    /// Returns the usage for the wire.
    #[must_use]
    pub fn usage(&self) -> UsageSum {
        let left: Vec<(&String, &Spend)> = self.left.iter().filter(|(_, spend)| !spend.is_zero()).collect();
        let mut part = Spend::default();
        for (_, spend) in &left {
            part += **spend;
        }
        let mut reported = self.spend;
        reported += part.times(-1);
        // Responses and missing prices are counted for the whole bucket.
        (reported.responses, reported.unpriced) = (self.spend.responses, self.spend.unpriced);
        let residual = (!left.is_empty()).then(|| Residual {
            reason: join_reasons(left.iter().map(|(reason, _)| reason.as_str())),
            ..Residual::of(&part)
        });
        UsageSum { residual, ..UsageSum::from(reported) }
    }
}
