//! `agent-tracer manual`: pages for `man`, made from the command line itself.
//!
//! Hidden from the list of commands: packages call it once, when they are built.

use std::process::ExitCode;

use clap::CommandFactory;

use crate::arguments::{Arguments, Manual};
use crate::failure::Failure;

pub(super) fn run(arguments: &Manual) -> Result<ExitCode, Failure> {
    clap_mangen::generate_to(Arguments::command(), &arguments.folder)
        .map_err(|cause| Failure::file("write manual pages into", &arguments.folder, &cause))?;
    Ok(ExitCode::SUCCESS)
}
