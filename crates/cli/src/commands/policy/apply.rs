//! `policy apply`: puts the rules in force, where no server does it.

use std::process::ExitCode;

use agent_tracer_policy::daemon::{load_effective, table};
use agent_tracer_spool::Home;

use super::check::counted;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::Output;
use crate::policy_files;

pub(super) fn run(home: &Home, environment: &Environment, output: &mut Output) -> Result<ExitCode, Failure> {
    let root = super::root(environment);
    let in_force = load_effective(home, &root)?;
    policy_files::put_in_force(home, environment, root, output)?;
    super::verifiers::apply(home, environment, output)?;
    if let Some(broken) = in_force.broken {
        return Err(broken.into());
    }
    let (here, others) = (in_force.policy.rules().count(), table::known_projects(home).len());
    output.say(&format!(
        "in force: {} here; rules of {} in all",
        counted(here, "rule"),
        counted(others, "project")
    ))?;
    Ok(ExitCode::SUCCESS)
}
