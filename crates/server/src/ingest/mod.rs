//! Ingest: sessions and events in our vocabulary, hooks in an agent's own, telemetry.
//!
//! The laws: everything passes privacy before anything is written; an answer is given only when it is on disk; what is
//! brought twice is there once; a bad record never sinks its batch.

mod append;
mod body;
mod events;
mod hooks;
mod meaning;
mod passage;
mod sessions;
mod shipment_body;
mod shipments;
mod wire;

pub(crate) use append::{bring, bring_posted, observation_name, settle};
pub(crate) use body::{Body, read as read_body};
pub(crate) use events::post as post_events;
pub(crate) use hooks::{path as hook_path, routes as hook_routes};
pub(crate) use sessions::{END_REASONS, end as end_session, ensure as ensure_session};
pub(crate) use shipments::post as post_shipment;

use agent_tracer_event::Agent;
use utoipa::openapi::HttpMethod;

use crate::openapi::{Call, one};
use shipments::ShipmentAnswer;
use wire::{EndAnswer, EndRequest, EnsureAnswer, EnsureRequest, EventsAnswer, EventsRequest};

const JSON: &[&str] = &["application/json"];
const OTLP: &[&str] = &["application/json", "application/x-protobuf"];
const PROBLEMS: &[&str] = &["400", "401", "403", "409", "413", "415", "422", "429", "503"];

/// A server of one machine takes no shipments.
const SHIPMENT_PROBLEMS: &[&str] = &["400", "401", "403", "404", "409", "413", "415", "422", "429", "503"];

const ENSURE: Call<'static> = Call {
    path: "/ingest/v1/sessions/ensure",
    method: HttpMethod::Post,
    operation: "ensureSession",
    tag: "ingest",
    summary: "Ensures that a runtime session has a task. The same session always has the same ids.",
    params: &[],
    body: Some((JSON, Some(one::<EnsureRequest>))),
    answer: ("200", "The ids.", Some(("application/json", Some(one::<EnsureAnswer>)))),
    problems: PROBLEMS,
};

const END: Call<'static> = Call {
    path: "/ingest/v1/sessions/end",
    method: HttpMethod::Post,
    operation: "endSession",
    tag: "ingest",
    summary: "Ends a runtime session. A repeated call changes nothing.",
    params: &[],
    body: Some((JSON, Some(one::<EndRequest>))),
    answer: ("200", "The status of the task.", Some(("application/json", Some(one::<EndAnswer>)))),
    problems: PROBLEMS,
};

/// Describes the hook of an agent, without its path and name.
pub(crate) const fn hook(agent: Agent) -> Call<'static> {
    Call {
        path: "",
        method: HttpMethod::Post,
        operation: "",
        tag: "ingest",
        summary: if agent.spec().repeats_equal_events {
            "Records a hook's payload as the agent sends it. With the header `Idempotency-Key` (1 to 256 visible \
             characters) one key is one event, however often it is sent and whatever its payload. Without it equal \
             payloads are one event for 20 seconds."
        } else {
            "Records a hook's payload as the agent sends it. With the header `Idempotency-Key` (1 to 256 visible \
             characters) one key is one event, however often it is sent and whatever its payload. Without it every \
             payload is an event, because this agent sends equal bytes for distinct calls."
        },
        params: &[],
        body: Some((JSON, None)),
        answer: ("200", "Stored.", None),
        problems: PROBLEMS,
    }
}

const fn telemetry(path: &'static str, operation: &'static str) -> Call<'static> {
    Call {
        path,
        method: HttpMethod::Post,
        operation,
        tag: "ingest",
        summary: "Records OpenTelemetry over HTTP, as protobuf or JSON, plain or compressed with gzip.",
        params: &[],
        body: Some((OTLP, None)),
        answer: (
            "200",
            "Stored; `partialSuccess` counts what was refused.",
            Some(("application/json", None)),
        ),
        problems: PROBLEMS,
    }
}

/// The ingest paths, for the OpenAPI document.
pub(crate) const CALLS: &[Call<'static>] = &[
    ENSURE,
    Call { path: "/api/runtime-session-ensure", operation: "ensureSessionByItsOldName", ..ENSURE },
    END,
    Call { path: "/api/runtime-session-end", operation: "endSessionByItsOldName", ..END },
    Call {
        path: "/ingest/v1/events",
        method: HttpMethod::Post,
        operation: "postEvents",
        tag: "ingest",
        summary: "Records up to a thousand events. An invalid event does not affect the others.",
        params: &[],
        body: Some((JSON, Some(one::<EventsRequest>))),
        answer: ("202", "The outcome of each.", Some(("application/json", Some(one::<EventsAnswer>)))),
        problems: PROBLEMS,
    },
    Call {
        path: "/ingest/v1/shipments",
        method: HttpMethod::Post,
        operation: "postShipment",
        tag: "ingest",
        summary: "Stores a shipment of a machine, on a team's server. The token names the owner, never the body.",
        params: &[],
        body: Some((JSON, None)),
        answer: ("202", "Stored.", Some(("application/json", Some(one::<ShipmentAnswer>)))),
        problems: SHIPMENT_PROBLEMS,
    },
    telemetry("/v1/logs", "postLogs"),
    telemetry("/v1/metrics", "postMetrics"),
    telemetry("/v1/traces", "postTraces"),
];
