//! Records the decision of an outage, which no other program would record.
//!
//! The record goes through the spool like every event. Its members that describe the event come from what privacy left
//! of the payload; the rest are constants and checked names.

use std::io::Write as _;
use std::time::Duration;

use agent_tracer_spool::envelope::{Agent, Channel, Header};
use agent_tracer_spool::{Home, Spool, doorbell};

use crate::lookup;
use crate::record::{RecordedEvent, now_nanos};

/// A decision that held in an outage.
pub(crate) struct Decision<'d> {
    /// The rule behind it, as `<origin>/<name>`.
    pub(crate) rule: &'d [u8],
    /// The root of its project; empty for a rule of the user.
    pub(crate) project: &'d [u8],
    /// The answer that the agent got.
    pub(crate) outcome: &'static str,
    /// The time from the question to the answer.
    pub(crate) took: Duration,
}

/// Members of a payload that identify the event.
const IDENTITY: &[&[u8]] = &[
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

/// Puts the decision into the spool, unless the event itself was not recorded.
pub(crate) fn record(decision: &Decision<'_>, agent: Agent, home: &Home, recorded: &RecordedEvent) {
    if recorded.name.is_none() {
        return;
    }
    let mut body = b"{".to_vec();
    let complete = lookup::members(&recorded.body, &mut |key, place| {
        if IDENTITY.contains(&key)
            && let Some(value) = recorded.body.get(place)
        {
            body.push(b'"');
            body.extend_from_slice(key);
            body.extend_from_slice(b"\":");
            body.extend_from_slice(value);
            body.push(b',');
        }
    });
    if complete.is_none() {
        return;
    }
    let (origin, rule) = std::str::from_utf8(decision.rule)
        .ok()
        .and_then(|rule| rule.split_once('/'))
        .unwrap_or(("user", "unknown"));
    let project =
        std::str::from_utf8(decision.project).ok().filter(|root| !root.is_empty() && is_plain(root));
    let project = project.map(|root| format!(",\"project\":\"{root}\"")).unwrap_or_default();
    // Names of rules are letters, digits and a few signs, none of which JSON escapes.
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

/// Returns `true` if a text needs no escapes in JSON.
fn is_plain(text: &str) -> bool {
    text.chars().all(|letter| letter >= ' ' && letter != '"' && letter != '\\')
}
