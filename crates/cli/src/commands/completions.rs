//! `agent-tracer completions`: a script for the user's shell, made from the command line itself.

use std::process::ExitCode;

use clap::CommandFactory;

use crate::arguments::{Arguments, Completions};
use crate::failure::Failure;
use crate::output::Output;

pub(super) fn run(arguments: &Completions, output: &mut Output) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "agent-tracer", &mut script);
    output.data(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
