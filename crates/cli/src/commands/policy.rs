//! `policy`: reads, tries, lists and trusts rules.

mod apply;
mod backtest;
mod check;
mod init;
mod list;
mod test;
mod trust;
mod verifiers;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use agent_tracer_policy::daemon::{PROJECT_FILE, Rules, project_root};
use agent_tracer_policy::schema::schema;
use agent_tracer_spool::Home;

use crate::arguments::{Options, Policy, PolicyCommand};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::Output;
use crate::policy_files;

pub(super) fn run(
    arguments: &Policy,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let (home, _) = environment.home(options.home.as_deref())?;
    match &arguments.command {
        PolicyCommand::Apply => apply::run(&home, environment, output),
        PolicyCommand::Backtest(arguments) => backtest::run(arguments, options, environment, output),
        PolicyCommand::Check(arguments) => check::run(arguments, &home, environment, output),
        PolicyCommand::Test(arguments) => test::run(arguments, &home, environment, output),
        PolicyCommand::List(arguments) => list::run(arguments, &home, environment, output),
        PolicyCommand::Trust(arguments) => trust::run(arguments, &home, environment, output),
        PolicyCommand::Init(arguments) => init::run(arguments, &home, environment, output),
        PolicyCommand::Schema => {
            output.data(&format!("{:#}\n", schema()))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Returns the file that was named, or the user's and the project's, as far as they exist.
fn meant(path: Option<&Path>, home: &Home, environment: &Environment) -> Result<Vec<Rules>, Failure> {
    if let Some(path) = path {
        let path = policy_files::named(path, environment);
        return Ok(vec![existing(&path)?]);
    }
    let paths = [home.policy_file(), root(environment).join(PROJECT_FILE)];
    let mut found = Vec::new();
    for path in &paths {
        found.extend(Rules::find(path)?);
    }
    if found.is_empty() {
        let names: Vec<String> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
        return Err(Failure::new(format!("no rules: neither {}", names.join(" nor ")))
            .hint("run `agent-tracer policy init`"));
    }
    Ok(found)
}

fn existing(path: &Path) -> Result<Rules, Failure> {
    Rules::find(path)?.ok_or_else(|| {
        Failure::new(format!("no file `{}`", path.display()))
            .hint("name a policy file, or the folder of a project that has one")
    })
}

fn root(environment: &Environment) -> PathBuf {
    project_root(&environment.directory)
}
