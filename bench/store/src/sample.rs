//! Samples and what is said of them.

use std::time::Duration;

use serde_json::{Value, json};

/// Times of the same thing, in milliseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sample(Vec<f64>);

impl Sample {
    pub(crate) fn push(&mut self, took: Duration) {
        self.0.push(took.as_secs_f64() * 1e3);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The value below which so many in a hundred lie.
    pub(crate) fn at(&self, percent: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let place = (percent / 100.0 * sorted.len() as f64).ceil() as usize;
        sorted.get(place.saturating_sub(1).min(sorted.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
    }

    pub(crate) fn p50(&self) -> f64 {
        self.at(50.0)
    }

    pub(crate) fn p95(&self) -> f64 {
        self.at(95.0)
    }

    pub(crate) fn p99(&self) -> f64 {
        self.at(99.0)
    }

    pub(crate) fn max(&self) -> f64 {
        self.at(100.0)
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "calls": self.len(), "p50Ms": self.p50(), "p95Ms": self.p95(), "p99Ms": self.p99(), "maxMs": self.max(),
        })
    }
}
