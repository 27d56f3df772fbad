//! The server's log: one line per note on standard error, with the time. Never a payload.

use std::io::{self, Write};
use std::sync::Arc;

use agent_tracer_intake::{Clock, Notes};

use crate::output::printable;

/// Writes notes to standard error.
pub(crate) fn to_stderr(clock: Clock) -> Notes {
    Arc::new(move |note| {
        let line = printable(&note.to_string()).replace('\n', " ");
        // A log without a reader must not end the server.
        drop(writeln!(io::stderr().lock(), "{} {line}", clock()));
    })
}
