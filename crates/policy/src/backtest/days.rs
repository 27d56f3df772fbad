//! The cost of a day up to a moment of it, to the quarter-hour.

use std::cell::RefCell;
use std::collections::HashMap;

use agent_tracer_event::Millis;
use agent_tracer_ledger::{PastSpending, Store};

use crate::backtest::walk::Setting;
use crate::evidence::spending_between;

/// Sums of days are kept by the quarter-hour.
const QUARTER_MS: i64 = 15 * 60 * 1000;
/// So many sums of days are remembered.
const SUMS_MAX: usize = 10_000;

/// Cost of days up to a quarter-hour of them.
pub(crate) struct DayCosts<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) setting: &'a Setting,
    pub(crate) sums: RefCell<HashMap<(i64, i64), Option<PastSpending>>>,
}

impl DayCosts<'_> {
    /// Returns the cost of the day at the beginning of the quarter-hour of a moment.
    pub(crate) fn spending_until(&self, at: Millis) -> Option<PastSpending> {
        let midnight = (self.setting.local)(at).midnight;
        let quarter = at.0.div_euclid(QUARTER_MS) * QUARTER_MS;
        let key = (midnight.0, quarter);
        if let Some(known) = self.sums.borrow().get(&key) {
            return *known;
        }
        let sum = match quarter <= midnight.0 {
            true => Some(PastSpending::default()),
            false => spending_between(self.store, midnight, Some(Millis(quarter))),
        };
        let mut sums = self.sums.borrow_mut();
        // Emptied as a whole: rows come in the order of time within a tree, so nearly all hits are on recent entries,
        // and an order of use would cost more than the few sums that are read twice.
        if sums.len() >= SUMS_MAX {
            sums.clear();
        }
        sums.insert(key, sum);
        sum
    }
}
