//! The record of a decision: which rules spoke, what came of it, who said so and how long it took.
//!
//! It goes through the spool like every event, so it is kept whether a server runs or not. Law: whose event it was stands
//! in it by ids, names and places; nothing of what the agent wanted to do.

use std::path::Path;
use std::time::Duration;

use crate::{Basis, FiredRule, Origin, Verdict};
use agent_tracer_event::Agent;
use agent_tracer_privacy::mask;
use agent_tracer_spool::envelope::{Channel, Header};
use agent_tracer_spool::{Home, Spool, doorbell};
use serde_json::{Map, Value, json};

/// The origin of the decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decider {
    /// The server, with the past.
    Server,
    /// The program that stands in, without.
    Guard,
}

/// Everything that is worth a record.
#[derive(Clone, Copy, Debug)]
pub struct Decision<'d> {
    /// The identity of the event: from [`crate::daemon::Question::identity`].
    pub identity: &'d Map<String, Value>,
    /// The name of the event's envelope: readers take back what the event said where a rule did not let it happen.
    pub event: Option<&'d str>,
    /// The root of the project whose rules were asked.
    pub root: &'d Path,
    /// The decision.
    pub verdict: &'d Verdict,
    /// The origin of the decision.
    pub by: Decider,
    /// The time it took.
    pub took: Duration,
    /// The part spent on the history.
    pub times: LookupTimes,
}

/// Times of lookups in the history; zero if no rule needed one.
#[derive(Clone, Copy, Debug, Default)]
pub struct LookupTimes {
    /// The wait until the earlier events of the session were in the ledger.
    pub waited: Duration,
    /// The lookups themselves.
    pub looked: Duration,
}

/// Writes a decision down. Nothing where no rule spoke. Whether it could be is not the asker's business: what the spool
/// refuses it counts itself.
pub fn record(decision: &Decision<'_>, agent: Agent, home: &Home, now_nanos: u64) {
    let Some(body) = body(decision) else { return };
    let mut header = Header::new(agent, Channel::Decision, now_nanos);
    header.writer = Some(env!("CARGO_PKG_VERSION").into());
    // Through the spool and not to the ledger: server, guard and hook write the same record in the same way, and it
    // survives a kill between the answer and the record.
    if Spool::at(&home.spool()).accept(&header, &body, now_nanos, std::process::id()).is_ok() {
        doorbell::ring(home);
    }
}

/// Returns the bytes of the record; `None` if no rule spoke.
fn body(decision: &Decision<'_>) -> Option<Vec<u8>> {
    if decision.verdict.fired.is_empty() {
        return None;
    }
    let by = match decision.by {
        Decider::Server => "server",
        Decider::Guard => "guard",
    };
    let rules: Vec<Value> =
        decision.verdict.fired.iter().map(|fired| fired_value(fired, decision.root)).collect();
    let outcome = decision.verdict.outcome.decision().map_or("silent", |decision| decision.as_str());
    let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    let (waited, looked) = (micros(decision.times.waited), micros(decision.times.looked));
    let mut record = decision.identity.clone();
    let mut decided = json!({
        "answered_by": by, "outcome": outcome, "took_us": micros(decision.took),
        "waited_us": waited, "looked_us": looked, "rules": rules,
    });
    if let (Some(event), Value::Object(decided)) = (decision.event, &mut decided) {
        decided.insert("event".to_owned(), Value::from(event));
    }
    record.insert("decision".to_owned(), decided);
    serde_json::to_vec(&record).ok()
}

fn fired_value(fired: &FiredRule, root: &Path) -> Value {
    let basis = match fired.basis {
        Basis::Applies => "applies",
        Basis::Outage => "outage",
        Basis::NotPossible => "not_possible",
        Basis::DeferralLimit => "let_go",
    };
    let mut rule = json!({
        "rule": fired.rule, "origin": fired.origin.as_str(), "decision": fired.decision.as_str(), "basis": basis,
        "mode": fired.mode.as_str(), "severity": fired.severity.as_str(), "counted": fired.counted,
    });
    // Rules of two projects may have one name.
    if let (false, Some(root), Value::Object(rule)) = (fired.origin == Origin::User, root.to_str(), &mut rule)
    {
        rule.insert("project".to_owned(), mask(root).into());
    }
    rule
}
