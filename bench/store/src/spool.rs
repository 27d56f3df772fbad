//! The spool: how fast waiting envelopes become rows, in this process.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use agent_tracer_intake::spool::SpoolIntake;
use agent_tracer_intake::{Projects, Sink};
use agent_tracer_ledger::{Ledger, Options};
use agent_tracer_spool::envelope::{Agent, Channel, Header};
use agent_tracer_spool::{Home, Spool};
use serde_json::json;

use crate::machine;
use crate::report::Report;

/// Envelopes that wait.
const ENVELOPES: u64 = 20_000;

/// A hook's payload after privacy: the end of a call.
pub(crate) fn payload(session: &str, call: &str, title: &str) -> String {
    format!(
        r#"{{"session_id":"{session}","transcript_path":"/home/dev/.claude/projects/-home-dev-project/{session}.jsonl","cwd":"/home/dev/project","prompt_id":"{session}","permission_mode":"default","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{{"command":"echo {title}","description":"{title}"}},"tool_response":{{"stdout":{{"omitted":true,"bytes":1200,"lines":20}},"stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false}},"tool_use_id":"{call}","duration_ms":24}}"#
    )
}

/// Leaves an envelope in the spool, as the hook does.
pub(crate) fn leave(spool: &Spool, session: &str, call: &str, title: &str) -> Result<(), String> {
    let nanos = u64::try_from(machine::now().as_nanos()).unwrap_or(u64::MAX);
    let header = Header::new(Agent::CLAUDE_CODE, Channel::Hook, nanos);
    let body = payload(session, call, title);
    let accepted = spool.accept(&header, body.as_bytes(), nanos, std::process::id());
    accepted.map(|_| ()).map_err(|refused| format!("the spool refused: {:?}", refused.reason))
}

/// Fills a spool, then drains it into a new ledger.
pub(crate) fn measure(folder: &Path, report: &mut Report) -> Result<(), String> {
    let home = Home::in_folder(folder);
    let spool = Spool::at(&home.spool());
    spool.prepare().map_err(|error| error.to_string())?;
    for number in 0..ENVELOPES {
        leave(
            &spool,
            &format!("spool-{}", number % 20),
            &format!("toolu_{number}"),
            &format!("step {number}"),
        )?;
    }
    let ledger =
        Ledger::open(&folder.join("ledger.db"), Options::default()).map_err(|error| error.to_string())?;
    let ledger = Arc::new(ledger);
    let sink: Arc<dyn Sink> = Arc::<Ledger>::clone(&ledger);
    let mut intake =
        SpoolIntake::open(&spool, sink, Arc::new(Projects::new())).map_err(|error| error.to_string())?;
    let begun = Instant::now();
    let mut drained = 0;
    loop {
        let step = intake.step().map_err(|error| error.to_string())?;
        drained += step.envelopes;
        if step.is_empty {
            break;
        }
    }
    let took = begun.elapsed().as_secs_f64();
    report.title(&format!("spool (load {:.1})", machine::load()));
    report.line(&format!(
        "  {drained} envelopes drained at {:.0} a second, each acknowledged after its commit",
        drained as f64 / took
    ));
    report.keep(
        "spool",
        json!({ "envelopes": drained, "perSecond": drained as f64 / took, "load": machine::load() }),
    );
    Ok(())
}
