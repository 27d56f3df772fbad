//! Webhooks against receivers on loopback.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::thread::JoinHandle;

use agent_tracer_event::Millis;
use agent_tracer_jobs::alerts::{Alert, Format, Kind, Webhook, webhook};
use serde_json::{Value, json};
use ureq::tls::RootCerts;

/// Takes one request and answers with this status line and headers. Returns the path and the body.
fn receiver(answer: &'static str) -> (String, JoinHandle<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook/secret-part", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let (mut line, mut length) = (String::new(), 0);
        reader.read_line(&mut line).unwrap();
        let path = line.split(' ').nth(1).unwrap().to_owned();
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).unwrap();
            if header == "\r\n" {
                break;
            }
            if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length: ") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        stream
            .write_all(
                format!("HTTP/1.1 {answer}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").as_bytes(),
            )
            .unwrap();
        (path, serde_json::from_slice(&body).unwrap())
    });
    (url, thread)
}

fn alert() -> Alert {
    Alert {
        kind: Kind::Stuck,
        key: "k".to_owned(),
        text: "claude_code is running and has been silent for 20 minutes".to_owned(),
        task_id: Some("t1".to_owned()),
        project: Some("/code".to_owned()),
        at: Millis(1_794_777_000_000),
    }
}

#[test]
fn an_alert_arrives_in_the_shape_that_was_asked_for() {
    let (url, received) = receiver("200 OK");
    webhook::send(&Webhook { url, format: Format::Json }, &alert(), RootCerts::WebPki).unwrap();
    let (path, body) = received.join().unwrap();
    assert_eq!(path, "/hook/secret-part");
    assert_eq!(
        body,
        json!({"source": "agent-tracer", "kind": "stuck", "taskId": "t1", "project": "/code",
            "text": "claude_code is running and has been silent for 20 minutes", "at": "2026-11-15T21:10:00.000Z"})
    );
    let (url, received) = receiver("204 No Content");
    webhook::send(&Webhook { url, format: Format::Slack }, &alert(), RootCerts::WebPki).unwrap();
    let text = received.join().unwrap().1;
    assert_eq!(
        text,
        json!({"text": "Agent Tracer: claude_code is running and has been silent for 20 minutes"})
    );
}

#[test]
fn a_refusal_is_reported_without_the_address() {
    let (url, received) = receiver("500 Oh");
    let error =
        webhook::send(&Webhook { url, format: Format::Json }, &alert(), RootCerts::WebPki).unwrap_err();
    assert_eq!(error.to_string(), "the receiver answered 500");
    received.join().unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{free}/secret-part");
    let error =
        webhook::send(&Webhook { url, format: Format::Json }, &alert(), RootCerts::WebPki).unwrap_err();
    assert!(
        !error.to_string().contains("secret") && error.to_string().contains("could not be reached"),
        "{error}"
    );
}

#[test]
fn a_redirect_leads_nowhere() {
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let location: &'static str = Box::leak(
        format!("307 Elsewhere\r\nLocation: http://{}/", elsewhere.local_addr().unwrap()).into_boxed_str(),
    );
    let (url, received) = receiver(location);
    let error =
        webhook::send(&Webhook { url, format: Format::Json }, &alert(), RootCerts::WebPki).unwrap_err();
    assert_eq!(error.to_string(), "the receiver answered 307");
    received.join().unwrap();
    assert!(elsewhere.accept().is_err(), "no connection came");
}
