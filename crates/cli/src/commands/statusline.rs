//! `agent-tracer statusline`: the hook binary does it; this only finds and becomes it.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use crate::arguments::Options;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::target;

pub(super) fn run(options: &Options, environment: &Environment) -> Result<ExitCode, Failure> {
    let hook = target::hook(environment)?;
    let (_, named) = environment.home(options.home.as_deref())?;
    let mut command = Command::new(&hook);
    command.arg("statusline");
    if let Some(home) = named {
        command.arg("--home").arg(home);
    }
    // Returns only if it failed: otherwise this process is the hook now.
    Err(Failure::file("run", &hook, &command.exec()))
}
