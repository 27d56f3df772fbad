//! Whatever bytes are posted as protobuf, reading them ends; what is read holds the laws of an export, and is one unless
//! it is empty.

use agent_tracer_agents::otlp::protobuf::{decode, put_bytes, put_number};
use agent_tracer_agents::otlp::{Signal, is_export};

use super::Target;
use super::otlp::hold;

pub(super) const TARGET: Target = Target {
    name: "otlp_protobuf",
    run,
    seeds,
    dictionary: &[
        b"\x0a\x0aevent.name",
        b"\x12\x0d\x0a\x0bapi_request",
        b"\x0a\x0cservice.name",
        b"\x0a\x0bclaude-code",
        b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        b"\x2a\x02\x0a\x00",
        b"\x09\x00\x00\x00\x00\x00\x00\x00\x80",
    ],
};

fn run(bytes: &[u8]) {
    for signal in [Signal::Logs, Signal::Metrics, Signal::Traces] {
        let Ok(export) = decode(signal, bytes) else { continue };
        assert!(is_export(signal, &export), "unnamed fields are skipped, so nothing else can be left");
        hold([signal], &export);
    }
}

/// A message of these fields.
fn message(fields: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (number, value) in fields {
        put_bytes(&mut out, *number, value);
    }
    out
}

fn attribute(name: &str, value: Vec<u8>) -> Vec<u8> {
    message(&[(1, name.as_bytes().to_vec()), (2, value)])
}

fn text(value: &str) -> Vec<u8> {
    message(&[(1, value.as_bytes().to_vec())])
}

fn integer(value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    put_number(&mut out, 3, value);
    out
}

/// An export of one record with these attributes; `place` is where a record of the signal keeps them.
fn export(place: u64, attributes: Vec<Vec<u8>>) -> Vec<u8> {
    let record = message(&attributes.into_iter().map(|one| (place, one)).collect::<Vec<_>>());
    let resource = message(&[(1, attribute("service.name", text("claude-code")))]);
    message(&[(1, message(&[(1, resource), (2, message(&[(2, record)]))]))])
}

fn seeds() -> Vec<Vec<u8>> {
    let response = vec![
        attribute("event.name", text("api_request")),
        attribute("session.id", text("s")),
        attribute("request_id", text("r")),
        attribute("input_tokens", integer(7)),
        attribute("output_tokens", integer(u64::MAX)),
    ];
    let call = vec![attribute("tool_use_id", text("t")), attribute("duration_ms", integer(5))];
    vec![Vec::new(), export(6, response), export(9, call)]
}
