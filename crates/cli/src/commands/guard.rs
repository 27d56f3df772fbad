//! `guard`: answers one hook by the rules, without looking at the past.
//!
//! Law: what cannot be decided is said on standard error and ends with 1, which both agents take as a failure that
//! blocks nothing. Standard output is the answer and nothing else, because agents read it.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use agent_tracer_answers::{InForce, in_force, project_root};
use agent_tracer_policy::{Call, NoHistory, Surroundings, answer};

use crate::arguments::{Guard, Options};
use crate::environment::Environment;
use crate::failure::{Failure, plain};
use crate::local_time::LocalTime;
use crate::output::Output;
use crate::reading::agent_of;

/// The longest payload that is read. The largest that was ever seen has a few hundred kilobytes.
const BYTES_MAX: u64 = 64 << 20;

pub(super) fn run(
    arguments: &Guard,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let (home, _) = environment.home(options.home.as_deref())?;
    let mut payload = Vec::new();
    io::stdin()
        .lock()
        .take(BYTES_MAX + 1)
        .read_to_end(&mut payload)
        .map_err(|cause| Failure::new(format!("cannot read the event: {}", plain(&cause))))?;
    if payload.len() as u64 > BYTES_MAX {
        return Err(Failure::new(format!("cannot read the event: it is over {BYTES_MAX} bytes")));
    }
    let agent = agent_of(arguments.agent);
    let read = |around| {
        Call::read(agent, &payload, around)
            .map_err(|cause| Failure::new(format!("cannot read the event: {cause}")))
    };
    // Once to learn where the agent works, once more with the project that is there.
    let Some(first) = read(Surroundings::default())? else { return Ok(ExitCode::SUCCESS) };
    let directory = first
        .cwd
        .as_deref()
        .map_or(environment.directory.clone(), |cwd| environment.absolute(Path::new(cwd)));
    // The variable does not follow `cd`, so an agent does not leave its project's rules by walking away.
    let root = match environment.path_variable("CLAUDE_PROJECT_DIR") {
        Some(root) => project_root(&root),
        None => project_root(&directory),
    };
    let InForce { policy, broken } = in_force(&home, &root)?;
    if let Some(broken) = broken {
        output.failure(&Failure::from(broken));
    }
    let around = Surroundings {
        project: root.to_str().map(str::to_owned),
        home: environment.user_home().ok().and_then(|home| home.to_str().map(str::to_owned)),
        now: LocalTime::of(environment).of_week(environment.now()),
    };
    let Some(call) = read(around)? else { return Ok(ExitCode::SUCCESS) };
    let answer = answer(&call, &policy.decide(&call, &NoHistory));
    output.data(&answer.stdout)?;
    if !answer.stderr.is_empty() {
        io::stderr().lock().write_all(answer.stderr.as_bytes()).map_err(|cause| Failure::output(&cause))?;
    }
    Ok(ExitCode::from(answer.exit))
}
