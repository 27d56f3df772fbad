//! The commands, one file each.

mod completions;
mod doctor;
mod import;
mod install;
mod serve;
mod statusline;
mod target;
mod uninstall;

use std::process::ExitCode;

use crate::arguments::{Command, Options};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::Output;

/// Does what was asked.
pub(crate) fn run(
    command: &Command,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    match command {
        Command::Install(arguments) => install::run(arguments, options, environment, output),
        Command::Uninstall(arguments) => uninstall::run(arguments, options, environment, output),
        Command::Doctor(arguments) => doctor::run(arguments, options, environment, output),
        Command::Serve(arguments) => serve::run(arguments, options, environment, output),
        Command::Import(arguments) => import::run(arguments, options, environment, output),
        Command::Statusline => statusline::run(options, environment),
        Command::Completions(arguments) => completions::run(arguments, output),
    }
}
