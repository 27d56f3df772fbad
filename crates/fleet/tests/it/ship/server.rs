//! Over HTTP: what is on the wire, and what answers mean.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::thread;

use agent_tracer_fleet::ship::{Http, ShipError, Step, Target};

use crate::ship::world::{World, unpacked};

/// Takes one request and gives this answer; gives back head and body.
fn once(answer: &'static str) -> (String, thread::JoinHandle<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let taken = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            reader.read_line(&mut head).unwrap();
        }
        let length = head
            .lines()
            .find_map(|line| line.to_lowercase().strip_prefix("content-length: ").map(str::to_owned));
        let mut body = vec![0; length.unwrap().trim().parse().unwrap()];
        reader.read_exact(&mut body).unwrap();
        stream.write_all(answer.as_bytes()).unwrap();
        (head, body)
    });
    (url, taken)
}

fn step(answer: &'static str) -> (Result<Step, ShipError>, String, Vec<u8>) {
    let (url, taken) = once(answer);
    let world = World::of(&["2.1.325/agent_fg"]);
    let target = Target::new(&url, "an-ingest-token").unwrap();
    let result = world.shipper_by("", Box::new(Http::new(target, ureq::tls::RootCerts::WebPki))).step();
    let (head, body) = taken.join().unwrap();
    (result, head, body)
}

#[test]
fn a_part_is_one_packed_post_with_the_token() {
    let (result, head, body) = step("HTTP/1.1 202 Accepted\r\ncontent-length: 2\r\n\r\n{}");
    assert!(matches!(result.unwrap(), Step::Sent(sent) if sent.facts > 0 && sent.bytes == body.len() as u64));
    assert!(head.starts_with("POST /ingest/v1/shipments HTTP/1.1\r\n"), "{head}");
    let head = head.to_lowercase();
    for line in
        ["authorization: bearer an-ingest-token", "content-encoding: gzip", "content-type: application/json"]
    {
        assert!(head.contains(line), "{line} in {head}");
    }
    let text = String::from_utf8(unpacked(&body)).unwrap();
    assert!(text.contains("\"facts\""));
    assert!(body.len() * 2 < text.len());
}

#[test]
fn what_an_answer_means_for_the_next_attempt() {
    for (answer, passing) in [
        ("HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n", true),
        ("HTTP/1.1 429 Too Many Requests\r\ncontent-length: 0\r\n\r\n", true),
        (
            "HTTP/1.1 401 Unauthorized\r\ncontent-length: 33\r\n\r\n{\"detail\":\"the token is expired\"}",
            false,
        ),
        ("HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n", false),
        ("nonsense\r\n\r\n", true),
    ] {
        let (result, _, _) = step(answer);
        let error = result.unwrap_err();
        assert_eq!(error.is_passing(), passing, "{answer}: {error}");
        assert!(!answer.contains("expired") || error.to_string().contains("the token is expired"), "{error}");
    }
}
