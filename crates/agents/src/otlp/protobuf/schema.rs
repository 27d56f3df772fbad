//! The messages of the protocol, as far as anybody reads them: numbers, names and types of fields.
//!
//! Tables instead of generated code: three requests share most of their messages, and what is not listed is passed over.
//! Names are those of the JSON mapping, which is what the agents' room reads.

use super::super::Signal;

/// Names the type of a field.
pub(super) enum Holds {
    /// A text.
    Text,
    /// Bytes, written in hexadecimal: the ids of traces and spans.
    Id,
    /// Bytes, written in base 64.
    Bytes,
    /// A whole number that may be negative. As a number and not as the text that the mapping allows as well: so the agents
    /// write it in JSON, and a record must not have another name in each form.
    Integer,
    /// A small whole number.
    Small,
    /// Yes or no.
    Flag,
    /// Eight bytes that are a whole number: times, written as a text.
    Fixed,
    /// Eight bytes that are a real number.
    Real,
    /// One message.
    One(&'static &'static [Field]),
    /// Any number of messages.
    Many(&'static &'static [Field]),
}

/// A field of a message.
pub(super) struct Field {
    pub(super) number: u64,
    pub(super) name: &'static str,
    pub(super) holds: Holds,
}

const fn field(number: u64, name: &'static str, holds: Holds) -> Field {
    Field { number, name, holds }
}

/// Returns the message of an export.
pub(super) fn of(signal: Signal) -> &'static [Field] {
    match signal {
        Signal::Logs => LOGS,
        Signal::Metrics => METRICS,
        Signal::Traces => TRACES,
    }
}

static LOGS: &[Field] = &[field(1, "resourceLogs", Holds::Many(&RESOURCE_LOGS))];
static RESOURCE_LOGS: &[Field] =
    &[field(1, "resource", Holds::One(&RESOURCE)), field(2, "scopeLogs", Holds::Many(&SCOPE_LOGS))];
static SCOPE_LOGS: &[Field] =
    &[field(1, "scope", Holds::One(&SCOPE)), field(2, "logRecords", Holds::Many(&LOG_RECORD))];
static LOG_RECORD: &[Field] = &[
    field(1, "timeUnixNano", Holds::Fixed),
    field(2, "severityNumber", Holds::Small),
    field(3, "severityText", Holds::Text),
    field(5, "body", Holds::One(&ANY)),
    field(6, "attributes", Holds::Many(&KEY_VALUE)),
    field(9, "traceId", Holds::Id),
    field(10, "spanId", Holds::Id),
    field(11, "observedTimeUnixNano", Holds::Fixed),
    field(12, "eventName", Holds::Text),
];

static TRACES: &[Field] = &[field(1, "resourceSpans", Holds::Many(&RESOURCE_SPANS))];
static RESOURCE_SPANS: &[Field] =
    &[field(1, "resource", Holds::One(&RESOURCE)), field(2, "scopeSpans", Holds::Many(&SCOPE_SPANS))];
static SCOPE_SPANS: &[Field] =
    &[field(1, "scope", Holds::One(&SCOPE)), field(2, "spans", Holds::Many(&SPAN))];
static SPAN: &[Field] = &[
    field(1, "traceId", Holds::Id),
    field(2, "spanId", Holds::Id),
    field(4, "parentSpanId", Holds::Id),
    field(5, "name", Holds::Text),
    field(6, "kind", Holds::Small),
    field(7, "startTimeUnixNano", Holds::Fixed),
    field(8, "endTimeUnixNano", Holds::Fixed),
    field(9, "attributes", Holds::Many(&KEY_VALUE)),
    field(11, "events", Holds::Many(&SPAN_EVENT)),
    field(15, "status", Holds::One(&STATUS)),
];
static SPAN_EVENT: &[Field] = &[
    field(1, "timeUnixNano", Holds::Fixed),
    field(2, "name", Holds::Text),
    field(3, "attributes", Holds::Many(&KEY_VALUE)),
];
static STATUS: &[Field] = &[field(2, "message", Holds::Text), field(3, "code", Holds::Small)];

// Metrics repeat what events say; only whose they are and what they are called is looked at.
static METRICS: &[Field] = &[field(1, "resourceMetrics", Holds::Many(&RESOURCE_METRICS))];
static RESOURCE_METRICS: &[Field] =
    &[field(1, "resource", Holds::One(&RESOURCE)), field(2, "scopeMetrics", Holds::Many(&SCOPE_METRICS))];
static SCOPE_METRICS: &[Field] =
    &[field(1, "scope", Holds::One(&SCOPE)), field(2, "metrics", Holds::Many(&METRIC))];
static METRIC: &[Field] = &[field(1, "name", Holds::Text), field(3, "unit", Holds::Text)];

static RESOURCE: &[Field] = &[field(1, "attributes", Holds::Many(&KEY_VALUE))];
static SCOPE: &[Field] = &[field(1, "name", Holds::Text), field(2, "version", Holds::Text)];
static KEY_VALUE: &[Field] = &[field(1, "key", Holds::Text), field(2, "value", Holds::One(&ANY))];
static ANY: &[Field] = &[
    field(1, "stringValue", Holds::Text),
    field(2, "boolValue", Holds::Flag),
    field(3, "intValue", Holds::Integer),
    field(4, "doubleValue", Holds::Real),
    field(5, "arrayValue", Holds::One(&ARRAY)),
    field(6, "kvlistValue", Holds::One(&LIST)),
    field(7, "bytesValue", Holds::Bytes),
];
static ARRAY: &[Field] = &[field(1, "values", Holds::Many(&ANY))];
static LIST: &[Field] = &[field(1, "values", Holds::Many(&KEY_VALUE))];
