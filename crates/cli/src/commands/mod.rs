//! The commands, one file each.

mod agreement;
mod alerts;
mod backup;
mod completions;
mod config;
mod context;
mod demo;
pub(crate) mod doctor;
mod export;
mod guard;
mod import;
mod install;
mod maintenance;
mod manual;
mod migrate;
mod overview;
mod policy;
mod purge;
mod rebuild;
mod recover;
mod reread;
mod retain;
mod run;
mod search;
mod serve;
mod service;
mod ship;
mod show;
mod statusline;
mod tail;
mod tasks;
mod team;
mod token;
mod tools;
mod uninstall;
mod up;
mod upgrade;
mod usage;

use std::process::ExitCode;

use crate::arguments::{Command, Options};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::Output;

/// Runs a command; without one, shows what is here.
pub(crate) fn run(
    command: Option<&Command>,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let Some(command) = command else { return overview::run(options, environment, output) };
    match command {
        Command::Up(arguments) => up::run(arguments, options, environment, output),
        Command::Install(arguments) => install::run(arguments, options, environment, output),
        Command::Uninstall(arguments) => uninstall::run(arguments, options, environment, output),
        Command::Service(arguments) => service::run(arguments, options, environment, output),
        Command::Upgrade(arguments) => upgrade::run(arguments, options, environment, output),
        Command::Run(arguments) => run::run(arguments, options, environment, output),
        Command::Doctor(arguments) => doctor::run(arguments, options, environment, output),
        Command::Serve(arguments) => serve::run(arguments, options, environment, output),
        Command::Import(arguments) => import::run(arguments, options, environment, output),
        Command::Tasks(arguments) => tasks::run(arguments, options, environment, output),
        Command::Show(arguments) => show::run(arguments, options, environment, output),
        Command::Tail(arguments) => tail::run(arguments, options, environment, output),
        Command::Search(arguments) => search::run(arguments, options, environment, output),
        Command::Tools(arguments) => tools::run(arguments, options, environment, output),
        Command::Usage(arguments) => usage::run(arguments, options, environment, output),
        Command::Export(arguments) => export::run(arguments, options, environment, output),
        Command::Policy(arguments) => policy::run(arguments, options, environment, output),
        Command::Guard(arguments) => guard::run(arguments, options, environment, output),
        Command::Config(arguments) => config::run(arguments, options, environment, output),
        Command::Context(arguments) => context::run(arguments, options, environment, output),
        Command::Alerts(arguments) => alerts::run(arguments, options, environment, output),
        Command::Backup(arguments) => backup::run(arguments, options, environment, output),
        Command::Recover(arguments) => recover::run(arguments, options, environment, output),
        Command::Rebuild(arguments) => rebuild::run(arguments, options, environment, output),
        Command::Reread(arguments) => reread::run(arguments, options, environment, output),
        Command::Retain(arguments) => retain::run(arguments, options, environment, output),
        Command::Purge(arguments) => purge::run(arguments, options, environment, output),
        Command::Ship(arguments) => ship::run(arguments, options, environment, output),
        Command::Token(arguments) => token::run(arguments, environment, output),
        Command::Team(arguments) => team::run(arguments, environment, output),
        Command::Migrate(arguments) => migrate::run(arguments, options, environment, output),
        Command::Statusline => statusline::run(options, environment),
        Command::Demo(arguments) => demo::run(arguments, options, environment, output),
        Command::Completions(arguments) => completions::run(arguments, output),
        Command::Manual(arguments) => manual::run(arguments),
    }
}
