//! Counts the deferrals of each stop by each rule, so that none is deferred for ever.
//!
//! Law: a stop that the client reports as deferred before, and that is unknown here (the server was started in
//! between), is not deferred again.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::{Basis, Call, Decision, Event, Verdict};

/// The most stops remembered. Beyond, all are forgotten, and a repeated stop is not deferred.
const REMEMBERED: usize = 10_000;

/// The session, the stop, and the rule.
type DeferralKey = (Option<String>, Option<String>, Event, String);

/// The deferrals of stops.
#[derive(Debug, Default)]
pub struct StopDeferrals {
    times: Mutex<HashMap<DeferralKey, u64>>,
}

fn key(call: &Call, rule: &str) -> DeferralKey {
    (call.session.clone(), call.agent_id.clone(), call.event, rule.to_owned())
}

/// Returns whether the client distinguishes a first attempt to stop from a second.
fn reports_repetition(event: Event) -> bool {
    matches!(event, Event::Stop | Event::SubagentStop)
}

impl StopDeferrals {
    /// Returns how often a rule has deferred this stop; `None` if it is unknown.
    #[must_use]
    pub fn times(&self, call: &Call, rule: &str) -> Option<u64> {
        if reports_repetition(call.event) && !call.again {
            return Some(0);
        }
        let known = self.times.lock().unwrap_or_else(PoisonError::into_inner).get(&key(call, rule)).copied();
        known.or((!reports_repetition(call.event)).then_some(0))
    }

    /// Records a decision.
    pub fn remember(&self, call: &Call, verdict: &Verdict) {
        if !call.event.is_an_end() {
            return;
        }
        // A rehearsal defers nothing, so it must not use up the count either.
        for fired in verdict.fired.iter().filter(|fired| fired.counted) {
            let before = self.times(call, &fired.rule).unwrap_or(0);
            let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
            if times.len() >= REMEMBERED {
                times.clear();
            }
            match (fired.basis, fired.decision) {
                (Basis::Applies, Decision::Deny) => {
                    times.insert(key(call, &fired.rule), before + 1);
                }
                // Let go: the next end begins anew.
                (Basis::DeferralLimit, _) => {
                    times.remove(&key(call, &fired.rule));
                }
                _ => {}
            }
        }
    }
}
