//! Bytes of an event on disk with everything that is folded from it, beside the same bytes in the plainest table.

use std::path::Path;
use std::time::Duration;

use agent_tracer_ledger::{Ledger, Options};
use serde_json::json;

use crate::floors;
use crate::http::{Connection, event};
use crate::machine;
use crate::report::Report;
use crate::server::Server;
use agent_tracer_testkit::history::Dice;

/// Events that are posted.
const EVENTS: u64 = 50_000;

/// Events of one post.
const AT_ONCE: u64 = 100;

/// Posts events to a server with an empty store and weighs the store when it is closed and search knows everything.
pub(crate) fn measure(
    program: &Path,
    home: &Path,
    floor_folder: &Path,
    report: &mut Report,
) -> Result<(), String> {
    let floor = floors::sqlite(floor_folder, &event(&mut Dice::new(1), 1), 256, Duration::from_secs(2))?;
    let mut sent = 0;
    {
        let server = Server::start(program, home)?;
        let mut connection = Connection::open(&server)?;
        let mut dice = Dice::new(1);
        for first in (0..EVENTS).step_by(AT_ONCE as usize) {
            let events: Vec<String> =
                (first..first + AT_ONCE).map(|number| event(&mut dice, number)).collect();
            sent += events.iter().map(String::len).sum::<usize>();
            let status =
                connection.post("/ingest/v1/events", &format!(r#"{{"events":[{}]}}"#, events.join(",")))?;
            if status != 202 {
                return Err(format!("the server answered {status}"));
            }
        }
    }
    let path = home.join("ledger.db");
    let ledger = Ledger::open(&path, Options::default()).map_err(|error| error.to_string())?;
    ledger.finish_search().map_err(|error| error.to_string())?;
    ledger.close();
    let each = machine::database_size(&path) as f64 / EVENTS as f64;
    let as_sent = sent as f64 / EVENTS as f64;
    let ratio = each / floor.bytes_each;
    report.title(&format!("disk, {EVENTS} posted events (load {:.1})", machine::load()));
    report.line(&format!(
        "  {each:.0} bytes an event with everything folded and search, {as_sent:.0} as sent; the plainest table takes {:.0}",
        floor.bytes_each
    ));
    report.keep("disk", json!({ "bytesEach": each, "asSent": as_sent, "floorBytesEach": floor.bytes_each }));
    report.judge(
        "I4",
        &format!("{ratio:.2} x the plainest table with four indexes (at most 1.0)"),
        ratio <= 1.0,
    );
    Ok(())
}
