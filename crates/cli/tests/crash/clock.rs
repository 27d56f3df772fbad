//! Tests clocks that jump: arrivals are kept in their order, and followers go on.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use agent_tracer_spool::envelope::Agent;

use crate::feed::{Call, now_nanos, spool_at};
use crate::fixtures;
use crate::http::Door;
use crate::ledger_dump;
use crate::server::Server;
use crate::world::{Tracer, World};

const HOUR: i64 = 3_600_000_000_000;

/// Records a call with a tool use of this name that arrived `offset` from now.
fn tell(tracer: &Tracer, name: &str, offset: i64) -> i64 {
    let mut payload = fixtures::payload("PostToolUse.bash");
    payload["session_id"] = "clock".into();
    payload["tool_use_id"] = format!("toolu_{name}").into();
    // The agent's own measure would move the beginning of the call away from its arrival.
    payload.as_object_mut().expect("an object").remove("duration_ms");
    let arrived = now_nanos().checked_add_signed(offset).expect("a time");
    spool_at(tracer, &Call::new(name.to_owned(), Agent::CLAUDE_CODE, payload), arrived);
    i64::try_from(arrived / 1_000_000).expect("a time")
}

/// Reads the stream until a line holds this. Heartbeats keep it going for ever, so there is an end to patience.
#[track_caller]
pub(crate) fn until(stream: &mut BufReader<TcpStream>, part: &str) {
    let end = Instant::now() + Duration::from_secs(60);
    let mut line = String::new();
    while !line.contains(part) {
        line.clear();
        assert!(stream.read_line(&mut line).expect("in time") > 0, "the stream ended before `{part}`");
        assert!(Instant::now() < end, "`{part}` never came");
    }
}

/// Follows the stream until a row of this tool use.
#[track_caller]
fn follow(stream: &mut BufReader<TcpStream>, name: &str) {
    until(stream, &format!("toolu_{name}"));
}

pub(crate) fn stream(door: &Door) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(&door.address).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a limit");
    let Door { address, token } = door;
    let request = format!(
        "GET /api/v1/stream?after=0 HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).expect("sent");
    BufReader::new(stream)
}

#[test]
fn what_arrived_an_hour_ago_or_ahead_is_kept_and_ordered_by_it_and_the_stream_goes_on() {
    let world = World::new();
    let tracer = world.tracer("tracer");
    tracer.spool().prepare().expect("a spool");
    // Some wait in the spool already, some come while it runs; the clock jumps ahead, back, and is right again.
    let mut arrived = vec![("waiting", tell(&tracer, "waiting", 0)), ("early", tell(&tracer, "early", HOUR))];
    let (server, door) = Server::start(&tracer);
    let mut stream = stream(&door);
    follow(&mut stream, "early");
    for (name, offset) in
        [("behind", -HOUR), ("ahead", 2 * HOUR), ("right", 0), ("past", -2 * HOUR), ("last", 0)]
    {
        arrived.push((name, tell(&tracer, name, offset)));
        follow(&mut stream, name);
    }
    server.end();
    assert_eq!(tracer.spooled("new"), Vec::<String>::new());
    assert_eq!(tracer.spooled("quarantine"), Vec::<String>::new());
    arrived.sort_by_key(|(_, at)| *at);
    let expected: Vec<String> = arrived.iter().map(|(name, at)| format!("toolu_{name} {at}")).collect();
    assert_eq!(ledger_dump::timeline(&tracer, "clock"), expected);
    assert_eq!(ledger_dump::balance(&tracer), arrived.len() as u64);
}
