//! `agent-tracer doctor`: looks at everything, changes nothing, and says what to do.
//!
//! Law: a check is a state, one sentence and, where the user can act, a way to fix it. `fail` means that events are not
//! recorded or not as the user wants; `warn` that they may soon not be; `info` is no judgement. A check that cannot
//! look says so, it never claims that all is well.

mod check;
mod claude;
mod client;
mod codex;
mod home;
mod installed;
mod program;
mod report;
mod server;
mod store;

use std::process::ExitCode;

use agent_tracer_spool::Home;

use crate::arguments::{Doctor, Options};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::Output;
use check::{Check, Group, State};

/// What the checks look at.
struct Patient<'a> {
    environment: &'a Environment,
    home: Home,
    /// Whether the home is where it is by default.
    default_home: bool,
    /// Whether to start other people's programs (`claude --version`).
    ask_clients: bool,
    /// Whether to start them for a moment, to see whether they call the hook.
    verify: bool,
}

pub(super) fn run(
    arguments: &Doctor,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let (home, named) = environment.home(options.home.as_deref())?;
    let patient = Patient {
        environment,
        home,
        default_home: named.is_none(),
        ask_clients: !arguments.brief,
        verify: arguments.verify,
    };
    let (claude, claude_connected) = claude::checks(&patient)?;
    let (codex, codex_connected) = codex::checks(&patient)?;
    let mut checks = program::checks(&patient);
    if !claude_connected && !codex_connected {
        let nobody = "no agent is connected, so nothing is recorded";
        checks.push(
            Check::new(Group::Program, "connected", State::Warn, nobody)
                .fix("agent-tracer install claude\nagent-tracer install codex"),
        );
    }
    checks.extend(home::checks(&patient));
    if patient.home.data().is_dir() {
        checks.extend(store::checks(&patient.home, arguments.brief, environment.now()));
    }
    checks.extend(claude);
    checks.extend(codex);
    checks.extend(server::checks(&patient.home));
    let text = if arguments.json {
        report::json(&checks, &patient.home)
    } else if arguments.brief {
        report::brief(&checks, output)
    } else {
        report::full(&checks, output)
    };
    output.data(&text)?;
    let failed = checks.iter().any(|check| check.state == State::Fail);
    Ok(if failed { ExitCode::from(1) } else { ExitCode::SUCCESS })
}
