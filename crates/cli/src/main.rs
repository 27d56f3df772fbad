//! `agent-tracer`: the commands that people type.
//!
//! The law of this binary: standard output is data, standard error is talk. A command returns what went wrong as a
//! [`failure::Failure`] with a way out; only this file turns it into words and an exit code (0 done, 1 failed, 2 for
//! words that make no sense).

mod agent_homes;
mod agent_process;
mod agents;
mod alert_job;
mod arguments;
mod backup_job;
mod browser;
mod client_drift;
mod clients;
mod commands;
mod config;
mod connection;
mod context_job;
mod dashboard;
mod demo;
mod environment;
mod failure;
mod figures;
mod files;
mod home;
mod http;
mod instance;
mod local_server;
mod local_time;
mod log;
mod origin;
mod output;
mod periodic;
mod policy_files;
mod proof;
mod reading;
mod record;
#[cfg(test)]
mod reference;
mod replay;
mod retention;
mod service;
mod ship_job;
mod signals;
mod sources;
mod statusline_conf;
mod store_backups;
mod table;
mod target;
mod trial;
mod upgrade_progress;
#[cfg(test)]
mod variables;

use std::process::ExitCode;

use clap::Parser;

use arguments::Arguments;
use environment::Environment;
use output::Output;

/// An event is a hundred small texts that live for a millisecond: the allocator of the C library spent a quarter of the
/// writer's time on them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Refuses huge pages: the allocator reserves much and touches little, and each touch is two megabytes of a server that
/// does nothing. Where the kernel does not know the wish, it is only larger.
fn refuse_huge_pages() {
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_thp_disable(true).ok();
}

fn main() -> ExitCode {
    refuse_huge_pages();
    let arguments = Arguments::parse();
    let mut output = Output::of_process();
    let outcome = Environment::of_process().and_then(|environment| {
        commands::run(arguments.command.as_ref(), &arguments.options, &environment, &mut output)
    });
    match outcome {
        Ok(code) => code,
        Err(failure) => {
            output.failure(&failure);
            failure.exit_code()
        }
    }
}
