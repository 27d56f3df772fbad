//! How often each rule has put off an end, so that none is put off for ever.
//!
//! Law: an end that the client says was put off before, and of which nothing is known here (the server was started in
//! between), is not put off again.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::{Basis, Call, Decision, Event, Verdict};

/// More ends than this are not remembered: all are forgotten, and those in question are let go.
const REMEMBERED: usize = 10_000;

/// Whose end, which, and by which rule.
type Key = (Option<String>, Option<String>, Event, String);

/// What is remembered of ends.
#[derive(Debug, Default)]
pub struct PutOff {
    times: Mutex<HashMap<Key, u64>>,
}

fn key(call: &Call, rule: &str) -> Key {
    (call.session.clone(), call.agent_id.clone(), call.event, rule.to_owned())
}

/// Whether the client tells a first attempt to end from a second.
fn tells(event: Event) -> bool {
    matches!(event, Event::Stop | Event::SubagentStop)
}

impl PutOff {
    /// How often a rule has put off this end; `None` if nobody knows.
    #[must_use]
    pub fn times(&self, call: &Call, rule: &str) -> Option<u64> {
        if tells(call.event) && !call.again {
            return Some(0);
        }
        let known = self.times.lock().unwrap_or_else(PoisonError::into_inner).get(&key(call, rule)).copied();
        known.or((!tells(call.event)).then_some(0))
    }

    /// Remembers what was decided.
    pub fn remember(&self, call: &Call, verdict: &Verdict) {
        if !call.event.is_an_end() {
            return;
        }
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
                (Basis::LetGo, _) => {
                    times.remove(&key(call, &fired.rule));
                }
                _ => {}
            }
        }
    }
}
