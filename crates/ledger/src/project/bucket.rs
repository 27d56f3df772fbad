//! A sum of responses, and in it the part that only the client's account knows.
//!
//! In the sums over time that part has keys of its own, so that it can be distinguished and is still counted once.

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
    /// Counts how many of them failed; of files: changes.
    pub failures: i64,
    /// Time they took.
    pub ms: i64,
    /// Time in which people were waited for.
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
    /// Calls among all rows, where a sum is of all rows.
    pub calls: i64,
}

impl Sums {
    /// Adds other sums, or takes them away.
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

    /// All tokens.
    #[must_use]
    pub fn tokens(&self) -> i64 {
        [self.output, self.cache_read, self.cache_write]
            .iter()
            .fold(self.input, |sum, part| sum.saturating_add(*part))
    }

    /// Returns what they spent; `responses` are known only where a row counts them.
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

/// The model of a key, and the reason if it is what an account knows alone.
#[must_use]
pub fn model_of(key: &str) -> (&str, Option<&str>) {
    key.split_once(SEPARATOR).map_or((key, None), |(model, reason)| (model, Some(reason)))
}

/// Holds what was spent by, in or on something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bucket {
    /// Everything.
    pub sums: Sums,
    /// That part of it which only accounts know, by reason.
    left: BTreeMap<String, Sums>,
}

impl Bucket {
    /// Adds sums of a key, or takes them away.
    pub fn add(&mut self, sums: &Sums, reason: Option<&str>, sign: i64) {
        self.sums.add(sums, sign);
        if let Some(reason) = reason {
            match self.left.get_mut(reason) {
                Some(left) => left.add(sums, sign),
                None => self.left.entry(reason.to_owned()).or_default().add(sums, sign),
            }
        }
    }

    /// Adds another.
    pub fn add_all(&mut self, other: &Self, sign: i64) {
        self.sums.add(&other.sums, sign);
        for (reason, sums) in &other.left {
            self.left.entry(reason.clone()).or_default().add(sums, sign);
        }
    }

    /// Returns whether nothing is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sums == Sums::default()
    }

    /// As sums that can be shown.
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
        // Whether a price is missing is said of the whole.
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
