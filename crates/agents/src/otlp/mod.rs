//! OpenTelemetry: what both agents export, as OTLP/JSON, or as protobuf that is turned into it first.
//!
//! A body is one export request: `{"resourceLogs": […]}`, `{"resourceMetrics": […]}` or `{"resourceSpans": […]}`. It is
//! taken apart into records, each is given to the agent that its resource or its name belongs to, and each ends as one
//! [`Record`]. What an agent's events mean is in that agent's folder.
//!
//! The laws of this room:
//!
//! - A fact has the key that the other channels give it. Where a record names nothing that they know, its key is made of
//!   its own time, place and content, so that an export which is sent again says nothing new.
//! - Only a record that names its response may say what the response cost. Metrics, spans and stream events repeat those
//!   numbers; they are counted as skipped and never become usage.
//! - Attributes are an open set, and some hold prompts, arguments and outputs. Nothing is said unless it was asked for by
//!   name; those bodies only at level `full`, masked, and a user's address never.
//! - Everything here was said by the agent, not seen: hooks and files are believed before it.

mod attributes;
mod export;
pub mod protobuf;
mod writer;

use agent_tracer_event::{Agent, Millis, Reading};
use serde_json::Value;

pub(crate) use attributes::Attributes;
pub(crate) use writer::RecordWriter;

use crate::files::Rules;

/// Describes which of the three kinds of telemetry an export holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Signal {
    /// Events, posted to `/v1/logs`.
    Logs,
    /// Counters and gauges, posted to `/v1/metrics`.
    Metrics,
    /// Spans, posted to `/v1/traces`.
    Traces,
}

/// Holds the result of reading a record.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// It is of a known name and says nothing that may count or that another event does not report better.
    Skipped,
    /// It comes from a program that is none of ours.
    Foreign,
    /// It is not a record at all.
    Malformed,
    /// It says this.
    Read {
        /// Names who acted.
        agent: Agent,
        /// Holds what identifies the record: the same when it is sent again.
        name: String,
        /// Holds the entries.
        reading: Reading,
    },
}

/// Reads one export. `arrived` is used only for records that have no time of their own.
///
/// Pure and total, on any JSON. A body that is no export at all gives one malformed record.
#[must_use]
pub fn read(rules: &Rules<'_>, signal: Signal, export: &Value, arrived: Millis) -> Vec<Record> {
    export::read(rules, signal, export, arrived)
}

/// Returns whether a body is an export of this signal. An empty one is; anything else without its list of resources is not.
#[must_use]
pub fn is_export(signal: Signal, body: &Value) -> bool {
    export::is_export(signal, body)
}
