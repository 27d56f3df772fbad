//! Sums of responses, with the residual as a separate part.
//!
//! In the sums over time the residual has keys of its own, so that it can be shown separately and is counted once.

use std::collections::BTreeMap;

use super::residual::join_reasons;
use super::tally::SEPARATOR;
use crate::engine::spent::{Spent, count, dollars};
use crate::view::Residual;

/// Sums of one key, in the units of the ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// The count.
    pub n: i64,
    /// The number of failures; of files, the number of changes.
    pub failures: i64,
    /// Their total time.
    pub ms: i64,
    /// The time spent waiting for people.
    pub wait_ms: i64,
    /// Input tokens.
    pub input: i64,
    /// Output tokens.
    pub output: i64,
    /// Tokens read from caches.
    pub cache_read: i64,
    /// Tokens written to caches.
    pub cache_write: i64,
    /// Reasoning tokens.
    pub reasoning: i64,
    /// Pico-dollars.
    pub cost: i64,
    /// Responses without a price.
    pub unpriced: i64,
    /// The calls among all rows, in sums of all rows.
    pub calls: i64,
}

impl Sums {
    /// Adds other sums, or subtracts them.
    pub fn add(&mut self, other: &Self, sign: i64) {
        for (sum, part) in [
            (&mut self.n, other.n),
            (&mut self.failures, other.failures),
            (&mut self.ms, other.ms),
            (&mut self.wait_ms, other.wait_ms),
            (&mut self.input, other.input),
            (&mut self.output, other.output),
            (&mut self.cache_read, other.cache_read),
            (&mut self.cache_write, other.cache_write),
            (&mut self.reasoning, other.reasoning),
            (&mut self.cost, other.cost),
            (&mut self.unpriced, other.unpriced),
            (&mut self.calls, other.calls),
        ] {
            *sum = sum.saturating_add(part.saturating_mul(sign));
        }
    }

    /// Returns the number of all tokens.
    #[must_use]
    pub fn tokens(&self) -> i64 {
        [self.output, self.cache_read, self.cache_write]
            .iter()
            .fold(self.input, |sum, part| sum.saturating_add(*part))
    }

    /// Returns the usage. `responses` are known only in sums of rows that count them.
    #[must_use]
    pub fn spent(&self, responses: i64) -> Spent {
        Spent {
            input: self.input,
            output: self.output,
            cache_read: self.cache_read,
            cache_write: self.cache_write,
            reasoning: self.reasoning,
            cost: self.cost,
            responses,
            unpriced: self.unpriced,
            ..Spent::default()
        }
    }
}

/// Splits a key into its model and, for a residual, its reason.
#[must_use]
pub fn model_of(key: &str) -> (&str, Option<&str>) {
    key.split_once(SEPARATOR).map_or((key, None), |(model, reason)| (model, Some(reason)))
}

/// The usage of one group, such as a model or a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bucket {
    /// The whole usage.
    pub sums: Sums,
    /// The residuals in it, by reason.
    left: BTreeMap<String, Sums>,
}

impl Bucket {
    /// Adds the sums of a key, or subtracts them.
    pub fn add(&mut self, sums: &Sums, reason: Option<&str>, sign: i64) {
        self.sums.add(sums, sign);
        if let Some(reason) = reason {
            match self.left.get_mut(reason) {
                Some(left) => left.add(sums, sign),
                None => self.left.entry(reason.to_owned()).or_default().add(sums, sign),
            }
        }
    }

    /// Adds another bucket, or subtracts it.
    pub fn add_all(&mut self, other: &Self, sign: i64) {
        self.sums.add(&other.sums, sign);
        for (reason, sums) in &other.left {
            self.left.entry(reason.clone()).or_default().add(sums, sign);
        }
    }

    /// Returns `true` if it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sums == Sums::default()
    }

    /// Returns the usage for the wire.
    #[must_use]
    pub fn spent(&self, responses: i64) -> Spent {
        let left: Vec<(&String, &Sums)> =
            self.left.iter().filter(|(_, sums)| **sums != Sums::default()).collect();
        let mut reported = self.sums;
        let mut part = Sums::default();
        for (_, sums) in &left {
            reported.add(sums, -1);
            part.add(sums, 1);
        }
        // Missing prices are counted for the whole bucket.
        reported.unpriced = self.sums.unpriced;
        let residual = (!left.is_empty()).then(|| Residual {
            input_tokens: count(part.input),
            output_tokens: count(part.output),
            cache_read_tokens: count(part.cache_read),
            cache_creation_tokens: count(part.cache_write),
            cost_usd: dollars(part.cost),
            client_cost_usd: None,
            reason: join_reasons(left.iter().map(|(reason, _)| reason.as_str())),
            models: Vec::new(),
        });
        Spent { residual, ..reported.spent(responses) }
    }
}
