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

/// Holds the inputs of the checks.
struct DoctorContext<'a> {
    environment: &'a Environment,
    home: Home,
    /// The home is the default one.
    default_home: bool,
    /// Foreign programs (`claude --version`) may be started.
    ask_clients: bool,
    /// The agents are started for a moment to prove that they call the hook.
    verify: bool,
}

pub(super) fn run(
    arguments: &Doctor,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let (home, named) = environment.home(options.home.as_deref())?;
    let context = DoctorContext {
        environment,
        home,
        default_home: named.is_none(),
        ask_clients: !arguments.brief,
        verify: arguments.verify,
    };
    let (claude, claude_connected) = claude::checks(&context)?;
    let (codex, codex_connected) = codex::checks(&context)?;
    let mut checks = program::checks(&context);
    if !claude_connected && !codex_connected {
        let unconnected = "no agent is connected, so nothing is recorded";
        checks.push(
            Check::new(Group::Program, "connected", State::Warn, unconnected)
                .fix("agent-tracer install claude\nagent-tracer install codex"),
        );
    }
    checks.extend(home::checks(&context));
    if context.home.data().is_dir() {
        checks.extend(store::checks(&context.home, arguments.brief, environment.now()));
    }
    checks.extend(claude);
    checks.extend(codex);
    checks.extend(server::checks(&context.home));
    let text = if arguments.json {
        report::json(&checks, &context.home)
    } else if arguments.brief {
        report::brief(&checks, output)
    } else {
        report::full(&checks, output)
    };
    output.data(&text)?;
    let failed = checks.iter().any(|check| check.state == State::Fail);
    Ok(if failed { ExitCode::from(1) } else { ExitCode::SUCCESS })
}
