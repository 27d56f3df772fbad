//! Live: from an envelope in the spool and the doorbell to the row in the stream.

use std::collections::HashMap;
use std::io::BufRead;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use agent_tracer_spool::{Spool, doorbell};
use serde_json::json;

use crate::http::Connection;
use crate::machine;
use crate::report::Report;
use crate::sample::Sample;
use crate::server::Server;
use crate::spool;
use agent_tracer_testkit::history::Dice;

/// Sessions that work at the same time.
const SESSIONS: usize = 20;

/// Calls of each.
const CALLS: usize = 50;

/// The most that a row may take, in milliseconds.
const BAR_MS: f64 = 100.0;

/// Measures against a server that runs.
pub(crate) fn measure(server: &Server, report: &mut Report) -> Result<(), String> {
    let mut stream = Connection::open(server)?.follow()?;
    let (seen, arrivals) = channel::<(String, Instant)>();
    let reader = std::thread::spawn(move || {
        let mut found = 0;
        let mut line = String::new();
        while found < SESSIONS * CALLS {
            line.clear();
            match stream.read_line(&mut line) {
                Ok(0) | Err(_) => break,
                Ok(_) => {}
            }
            // The description of a call is its title, and ours says which one it is.
            if let Some(name) = line.split("live-call-").nth(1) {
                let name: String = name
                    .chars()
                    .take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_')
                    .collect();
                if seen.send((name, Instant::now())).is_err() {
                    break;
                }
                found += 1;
            }
        }
    });
    let root = server.home.spool();
    let writers: Vec<_> = (0..SESSIONS)
        .map(|session| {
            let (spool, home) = (Spool::at(&root), server.home.clone());
            std::thread::spawn(move || -> Result<Vec<(String, Instant)>, String> {
                let mut dice = Dice::new(session as u64);
                let mut left = Vec::new();
                // Calls that a kept store knows from an earlier run would not be news.
                let run = std::process::id();
                for call in 0..CALLS {
                    pause(Duration::from_millis(dice.within(20, 180)));
                    let name = format!("{run}_{session}_{call}");
                    spool::leave(
                        &spool,
                        &format!("live-{run}-{session}"),
                        &format!("toolu_live_{name}"),
                        &format!("live-call-{name}"),
                    )?;
                    let at = Instant::now();
                    doorbell::ring(&home);
                    left.push((name, at));
                }
                Ok(left)
            })
        })
        .collect();
    let mut left = HashMap::new();
    for writer in writers {
        left.extend(writer.join().map_err(|_| "a session died".to_owned())??);
    }
    let mut times = Sample::default();
    while times.len() < SESSIONS * CALLS {
        let Ok((name, at)) = arrivals.recv_timeout(Duration::from_secs(5)) else { break };
        if let Some(left) = left.remove(&name) {
            times.push(at.saturating_duration_since(left));
        }
    }
    // Its connection ends with the server.
    drop(reader);
    report.title(&format!("live, {SESSIONS} sessions at once (load {:.1})", machine::load()));
    report.line(&format!(
        "  envelope and doorbell to row in the stream: p50 {:.1} ms, p95 {:.1} ms, max {:.1} ms of {} rows",
        times.p50(),
        times.p95(),
        times.max(),
        times.len()
    ));
    report.keep("live", json!({ "times": times.json(), "missing": left.len(), "load": machine::load() }));
    report.judge("L1", &format!("p95 {:.1} ms (below {BAR_MS})", times.p95()), times.p95() < BAR_MS);
    report.judge("L1", &format!("{} rows never came", left.len()), left.is_empty());
    Ok(())
}

/// Lets a session work for a while.
pub(crate) fn pause(lasting: Duration) {
    std::thread::park_timeout(lasting);
}
