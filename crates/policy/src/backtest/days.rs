//! The cost of a day up to a moment of it, to the quarter-hour.

use std::cell::RefCell;
use std::collections::HashMap;

use agent_tracer_event::Millis;
use agent_tracer_ledger::{Range, Store, UsageBy, Utc};

use crate::backtest::task_history::Sum;
use crate::backtest::walk::Setting;

/// Sums of days are kept by the quarter-hour.
const QUARTER_MS: i64 = 15 * 60 * 1000;
/// So many sums of days are remembered.
const SUMS_MAX: usize = 10_000;

/// Cost of days up to a quarter-hour of them.
pub(crate) struct Days<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) setting: &'a Setting,
    pub(crate) sums: RefCell<HashMap<(i64, i64), Option<Sum>>>,
}

impl Days<'_> {
    /// Returns the cost of the day at the beginning of the quarter-hour of a moment.
    pub(crate) fn until(&self, at: Millis) -> Option<Sum> {
        let midnight = (self.setting.local)(at).midnight;
        let quarter = at.0.div_euclid(QUARTER_MS) * QUARTER_MS;
        let key = (midnight.0, quarter);
        if let Some(known) = self.sums.borrow().get(&key) {
            return *known;
        }
        let sum =
            if quarter <= midnight.0 { Some(Sum::default()) } else { self.ask(midnight, Millis(quarter)) };
        let mut sums = self.sums.borrow_mut();
        if sums.len() >= SUMS_MAX {
            sums.clear();
        }
        sums.insert(key, sum);
        sum
    }

    fn ask(&self, since: Millis, until: Millis) -> Option<Sum> {
        let range = Range { since: Some(since), until: Some(until), ..Range::default() };
        let page = self.store.usage(&range, UsageBy::Agent, &Utc).ok()?;
        let mut sum = Sum::default();
        for bucket in &page.items {
            let usage = &bucket.usage;
            sum.add(Sum {
                tokens: usage.tokens.total(),
                micros: (usage.cost_usd.max(0.0) * 1e6).round() as u64,
            });
        }
        Some(sum)
    }
}
