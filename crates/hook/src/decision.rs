//! Writes down a decision that nobody else will: what held because nobody answered.
//!
//! The record goes the way of every event, through the spool. What it says of the event is taken from what privacy left
//! of the payload; the rest are our own words.

use std::io::Write as _;
use std::time::Duration;

use agent_tracer_spool::envelope::{Agent, Channel, Header};
use agent_tracer_spool::{Home, Spool, doorbell};

use crate::lookup;
use crate::record::{Recorded, now_nanos};

/// What held.
pub(crate) struct Decision<'d> {
    /// The rule behind it, as `<origin>/<name>`.
    pub(crate) rule: &'d [u8],
    /// The root of its project; empty if it is the user's.
    pub(crate) project: &'d [u8],
    /// What came of it.
    pub(crate) outcome: &'static str,
    /// How long it took.
    pub(crate) took: Duration,
}

/// Members of a payload that say whose event it was.
const WHOSE: &[&[u8]] = &[
    b"session_id",
    b"transcript_path",
    b"cwd",
    b"hook_event_name",
    b"prompt_id",
    b"turn_id",
    b"agent_id",
    b"agent_type",
    b"tool_name",
    b"tool_use_id",
];

/// Puts the decision into the spool; nothing where the event itself is not recorded.
pub(crate) fn write_down(decision: &Decision<'_>, agent: Agent, home: &Home, recorded: &Recorded) {
    if recorded.name.is_none() {
        return;
    }
    let mut body = b"{".to_vec();
    let told = lookup::members(&recorded.body, &mut |key, place| {
        if WHOSE.contains(&key)
            && let Some(value) = recorded.body.get(place)
        {
            body.push(b'"');
            body.extend_from_slice(key);
            body.extend_from_slice(b"\":");
            body.extend_from_slice(value);
            body.push(b',');
        }
    });
    if told.is_none() {
        return;
    }
    let (origin, rule) = std::str::from_utf8(decision.rule)
        .ok()
        .and_then(|rule| rule.split_once('/'))
        .unwrap_or(("user", "unknown"));
    let project =
        std::str::from_utf8(decision.project).ok().filter(|root| !root.is_empty() && is_plain(root));
    let project = project.map(|root| format!(",\"project\":\"{root}\"")).unwrap_or_default();
    // Names of rules are letters, digits and a few signs: nothing of them has to be escaped.
    drop(write!(
        body,
        "\"decision\":{{\"answered_by\":\"outage\",\"outcome\":\"{outcome}\",\"took_us\":{took},\"rules\":[{{\"rule\":\"{rule}\",\"origin\":\"{origin}\",\"decision\":\"{outcome}\",\"basis\":\"outage\",\"mode\":\"enforce\",\"counted\":true{project}}}]}}}}",
        outcome = decision.outcome,
        took = decision.took.as_micros(),
    ));
    let now = now_nanos();
    let mut header = Header::new(agent, Channel::Decision, now);
    header.writer = Some(env!("CARGO_PKG_VERSION").into());
    if Spool::at(&home.spool()).accept(&header, &body, now, std::process::id()).is_ok() {
        doorbell::ring(home);
    }
}

/// Whether a text stands in JSON as it is.
fn is_plain(text: &str) -> bool {
    text.chars().all(|letter| letter >= ' ' && letter != '"' && letter != '\\')
}
