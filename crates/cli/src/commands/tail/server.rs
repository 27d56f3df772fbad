//! Follows the stream of a running server. No token is sent: on the loopback every process of this user may read.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::time::Duration;

use agent_tracer_ledger::view::Row;

use super::filter::TailFilter;
use crate::failure::Failure;
use crate::http;

/// Time limit for a server to accept.
const PATIENCE: Duration = Duration::from_secs(1);
/// The server says something at least every few seconds; after this it is gone.
const SILENCE: Duration = Duration::from_secs(90);
/// The longest line that is read: a row has a few kilobytes.
const LINE_BYTES: u64 = 32 << 20;

/// Why a stream ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum StreamEnd {
    /// There is no such stream.
    Unreachable,
    /// It was followed and ended: the server stopped.
    Stopped,
    /// It went on without some rows; they are in the ledger.
    Missed,
}

/// Follows a server from behind `after`, which is moved on with every row.
pub(super) fn follow(
    address: SocketAddr,
    filter: &TailFilter,
    after: &mut u64,
    show: &mut dyn FnMut(&Row) -> Result<(), Failure>,
) -> Result<StreamEnd, Failure> {
    let Some(stream) = connect(address, &query(filter, *after)) else { return Ok(StreamEnd::Unreachable) };
    read(BufReader::new(stream), after, show)
}

fn connect(address: SocketAddr, query: &str) -> Option<impl Read + use<>> {
    let request =
        http::local_client(PATIENCE, SILENCE).get(format!("http://{address}/api/v1/stream?{query}"));
    let answer = request.header("accept", "text/event-stream").call().ok()?;
    (answer.status() == 200).then(|| answer.into_body().into_reader())
}

fn query(filter: &TailFilter, after: u64) -> String {
    let mut query = format!("after={after}");
    if let Some(task) = &filter.task {
        query.push_str(&format!("&task={task}&tree=true"));
    }
    for lane in &filter.lanes {
        query.push_str(&format!("&lane={lane}"));
    }
    for kind in &filter.kinds {
        query.push_str(&format!("&kind={kind}"));
    }
    query
}

/// Reads the stream and shows its rows.
fn read(
    mut stream: impl BufRead,
    after: &mut u64,
    show: &mut dyn FnMut(&Row) -> Result<(), Failure>,
) -> Result<StreamEnd, Failure> {
    while let Some(line) = line(&mut stream) {
        // Rows were dropped for a slow reader. The ledger has them, so the caller reads on there.
        if line == "event: missed" {
            return Ok(StreamEnd::Missed);
        }
        let Some(data) = line.strip_prefix("data: ") else { continue };
        // A newer server may send rows of other shapes.
        let Ok(row) = serde_json::from_str::<Row>(data) else { continue };
        show(&row)?;
        *after = (*after).max(row.seq);
    }
    Ok(StreamEnd::Stopped)
}

/// Returns the next line; none at the end, after too long a silence, or if it is no text.
fn line(stream: &mut impl BufRead) -> Option<String> {
    let mut bytes = Vec::new();
    stream.by_ref().take(LINE_BYTES).read_until(b'\n', &mut bytes).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    Some(text.strip_suffix('\n')?.trim_end_matches('\r').to_owned())
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;

    use agent_tracer_event::{Certainty, Kind, Lane, Millis};

    use super::*;

    fn row(seq: u64) -> Row {
        Row {
            id: format!("e{seq}"),
            seq,
            task_id: "t".to_owned(),
            owner: None,
            session_id: "s".to_owned(),
            turn_id: None,
            kind: Kind::UserMessage,
            lane: Lane::User,
            title: "hello".to_owned(),
            body: None,
            occurred_at: Millis(0),
            ended_at: None,
            state: None,
            tool_name: None,
            tool_use_id: None,
            agent_id: None,
            agent_type: "main".to_owned(),
            is_subagent: false,
            runtime_session_id: "5a13".to_owned(),
            hook_event_name: None,
            file_paths: Vec::new(),
            metadata: agent_tracer_event::Metadata::default(),
            channels: Vec::new(),
            certainty: Certainty::Measured,
        }
    }

    /// Follows a server that sends these bytes and closes the connection.
    fn follow_text(answer: &str) -> (StreamEnd, Vec<u64>, u64) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let answer = answer.to_owned();
        let answering = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a caller");
            let mut lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
            let first = lines.next().expect("a request").expect("a line");
            assert_eq!(first, "GET /api/v1/stream?after=0 HTTP/1.1");
            while lines.next().is_some_and(|line| !line.expect("a line").is_empty()) {}
            stream.write_all(answer.as_bytes()).expect("an answer");
        });
        let (mut after, mut seen) = (0, Vec::new());
        let ended = follow(address, &TailFilter::default(), &mut after, &mut |row| {
            seen.push(row.seq);
            Ok(())
        });
        answering.join().expect("it was asked");
        (ended.expect("the receiver never fails"), seen, after)
    }

    #[test]
    fn rows_are_shown_and_the_place_moves_on() {
        let data = |seq| format!("id: {seq}\ndata: {}\n\n", serde_json::to_string(&row(seq)).expect("JSON"));
        let answer = format!(
            "HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\nretry: 2000\n: hi\n\n{}data: no row\n\n{}",
            data(4),
            data(7)
        );
        assert_eq!(follow_text(&answer), (StreamEnd::Stopped, vec![4, 7], 7));
        let cut = answer.get(..answer.len() - 5).expect("a part");
        assert_eq!(follow_text(cut), (StreamEnd::Stopped, vec![4], 4), "half a row is no row");
    }

    #[test]
    fn a_stream_in_chunks_is_one_stream() {
        let text = format!("data: {}\n\n", serde_json::to_string(&row(4)).expect("JSON"));
        let (head, tail) = text.split_at(20);
        let chunk = |text: &str| format!("{:x}\r\n{text}\r\n", text.len());
        let answer =
            format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{}{}", chunk(head), chunk(tail));
        assert_eq!(follow_text(&answer), (StreamEnd::Stopped, vec![4], 4));
    }

    #[test]
    fn a_gap_is_reported() {
        let answer = "HTTP/1.0 200 OK\r\n\r\nevent: missed\nid: 9\ndata: {\"from\":1,\"to\":9}\n\n";
        assert_eq!(follow_text(answer), (StreamEnd::Missed, Vec::new(), 0));
    }

    #[test]
    fn anything_else_is_no_stream() {
        for answer in
            ["", "HTTP/1.0 401 Unauthorized\r\n\r\n", "HTTP/1.0 200 OK\r\n", "SSH-2.0-x\r\n", "\u{0}"]
        {
            assert_eq!(follow_text(answer), (StreamEnd::Unreachable, Vec::new(), 0), "{answer:?}");
        }
    }

    #[test]
    fn what_is_wanted_is_asked_for() {
        let (lanes, kinds) = (vec![Lane::User, Lane::Rule], vec![Kind::UserMessage]);
        let filter = TailFilter { lanes, kinds, ..TailFilter::default() };
        assert_eq!(query(&filter, 7), "after=7&lane=user&lane=rule&kind=user.message");
    }
}
