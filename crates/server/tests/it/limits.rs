//! Everything has an end: bodies, headers, waits, connections.

use std::io::{BufReader, Read, Write};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

use crate::client::{connect, read};
use crate::store::Gate;
use crate::world::{TOKEN, World, config};

#[test]
fn a_body_over_its_limit_is_refused_before_and_after_decompression() {
    let mut small = config();
    small.limits.body_bytes = 1000;
    let world = World::with(small).unwrap();
    let post = || world.ask("POST", "/hooks/claude").bearer(TOKEN);
    let long = vec![b' '; 1001];
    assert_eq!(post().body("application/json", long.clone()).send().status, 413);
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&vec![b' '; 5_000_000]).unwrap();
    let packed = encoder.finish().unwrap();
    // The packed body is over the limit too unless it is cut to what fits.
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&vec![b' '; 100_000]).unwrap();
    let bomb = encoder.finish().unwrap();
    assert!(bomb.len() < 1000 && packed.len() > 1000);
    for body in [packed, bomb] {
        let answer = post().header("Content-Encoding", "gzip").body("application/json", body).send();
        assert_eq!(answer.status, 413);
        answer.wrong();
    }
    // Without a length it is counted as it comes.
    let mut stream = connect(world.server.address());
    let head = format!(
        "POST /hooks/claude HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n\
         Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
        world.server.address()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(b"3e9\r\n").unwrap();
    stream.write_all(&long).unwrap();
    stream.write_all(b"\r\n0\r\n\r\n").unwrap();
    assert_eq!(read(&mut BufReader::new(stream), "POST").status, 413);
    assert!(world.memory.brought.lock().unwrap().is_empty());
}

#[test]
fn only_what_can_be_read_is_read() {
    let world = World::new();
    let post = || world.ask("POST", "/ingest/v1/events").bearer(TOKEN);
    for kind in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""] {
        let answer = post().body(kind, "{}").send();
        assert_eq!(answer.status, 415, "{kind}");
        answer.wrong();
    }
    assert_eq!(post().header("Content-Encoding", "br").json(&json!({})).send().status, 415);
    assert_eq!(
        post().header("Content-Encoding", "gzip").json(&json!({})).send().status,
        400,
        "not gzip at all"
    );
    assert_eq!(post().body("application/json; charset=utf-8", "{").send().status, 400);
}

#[test]
fn headers_that_never_end_do_not_hold_a_connection() {
    let mut hasty = config();
    hasty.limits.header_time = Duration::from_millis(100);
    let world = World::with(hasty).unwrap();
    let mut stream = connect(world.server.address());
    stream.write_all(b"GET / HTTP/1.1\r\nHost: loc").unwrap();
    let mut rest = Vec::new();
    // The read ends because the server hangs up; with a client's patience of twenty seconds it would fail.
    stream.read_to_end(&mut rest).expect("the server hangs up");
    assert!(!rest.starts_with(b"HTTP/1.1 200"));
}

#[test]
fn headers_that_are_too_large_are_refused() {
    let world = World::new();
    let answer = world.ask("GET", "/").header("X-Long", &"x".repeat(100_000)).send();
    assert_eq!(answer.status, 431);
}

#[test]
fn headers_are_limited_to_what_the_limit_says() {
    let world = World::new();
    let most = config().limits.header_bytes;
    let ask = |bytes: usize| world.ask("GET", "/health").header("X-Long", &"x".repeat(bytes));
    let rest = ask(0).bytes(true).len();
    for (bytes, status) in [(most - rest, 200), (most - rest + 1, 431), (40_000 - rest, 431), (60_000, 431)] {
        assert_eq!(ask(bytes).send().status, status, "{bytes}");
    }
    let long = format!("/health?{}", "x".repeat(most));
    assert!(matches!(world.get(&long).status, 414 | 431));
}

#[test]
fn a_body_that_does_not_arrive_is_not_waited_for() {
    let mut hasty = config();
    hasty.limits.request_time = Duration::from_millis(150);
    let world = World::with(hasty).unwrap();
    let mut stream = connect(world.server.address());
    let head = format!(
        "POST /hooks/claude HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n\
         Content-Length: 10\r\n\r\n{{",
        world.server.address()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let answer = read(&mut BufReader::new(stream), "POST");
    assert_eq!(answer.status, 408);
    answer.wrong();
}

#[test]
fn an_answer_that_takes_too_long_is_given_up() {
    let mut hasty = config();
    hasty.limits.request_time = Duration::from_millis(100);
    let world = World::with(hasty).unwrap();
    let (gate, _came) = Gate::closed();
    *world.memory.gate.lock().unwrap() = Some(gate.clone());
    let answer = world.get("/api/v1/tools");
    gate.open();
    assert_eq!(answer.status, 504);
    answer.wrong();
}

#[test]
fn a_connection_without_a_place_waits_until_one_ends() {
    let mut narrow = config();
    narrow.limits.connections = 1;
    let world = World::with(narrow).unwrap();
    let first = connect(world.server.address());
    let mut second = connect(world.server.address());
    second.write_all(&world.ask("GET", "/health").bytes(true)).unwrap();
    second.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    let mut byte = [0];
    assert!(second.read_exact(&mut byte).is_err(), "no answer while the first is there");
    drop(first);
    second.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    second.read_exact(&mut byte).expect("then an answer comes");
}

#[test]
fn a_stopping_server_finishes_what_is_under_way() {
    let world = World::new();
    let address = world.server.address();
    let mut follower = world.ask("GET", "/api/v1/stream").follow();
    follower.block();
    let (gate, came) = Gate::closed();
    *world.memory.gate.lock().unwrap() = Some(gate.clone());
    let mut stream = connect(address);
    stream.write_all(&world.ask("GET", "/api/v1/tools").bytes(true)).unwrap();
    came.recv().expect("the question is under way");
    let server = world.server;
    let stopping = std::thread::spawn(move || server.stop());
    // Streams end when the server begins to stop.
    while follower.block().is_some() {}
    gate.open();
    assert_eq!(read(&mut BufReader::new(stream), "GET").status, 200);
    stopping.join().unwrap();
    assert!(std::net::TcpStream::connect(address).is_err(), "the listener is gone");
}
