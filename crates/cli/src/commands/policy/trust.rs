//! `policy trust`: lets a project's rules, as they are now, also allow, rewrite and stop.

use std::process::ExitCode;

use agent_tracer_policy::daemon::{TrustList, project_root};
use agent_tracer_policy::{Origin, Trust};
use agent_tracer_spool::Home;

use super::check::counted;
use crate::arguments::PolicyTrust;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::Output;
use crate::policy_files;

pub(super) fn run(
    arguments: &PolicyTrust,
    home: &Home,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let path = policy_files::named(&arguments.path, environment);
    let mut trusted = TrustList::load(home)?;
    if arguments.undo {
        if !trusted.remove(&path) {
            return Err(Failure::new(format!("`{}` is not trusted", path.display())));
        }
        trusted.save(home)?;
        policy_files::put_in_force(home, environment, project_root(&path), output)?;
        output.say(&format!("`{}` is no longer trusted", path.display()))?;
        return Ok(ExitCode::SUCCESS);
    }
    if path == home.policy_file() {
        return Err(Failure::usage(format!("`{}` is your own file, which needs no trust", path.display())));
    }
    let rules = super::existing(&path)?;
    let hash = rules.hash.clone();
    let file = rules.into_rule_file()?;
    if trusted.trust(&path, &hash) == Trust::Trusted {
        output.say(&format!("`{}` is trusted already", path.display()))?;
        return Ok(ExitCode::SUCCESS);
    }
    trusted.add(&path, &hash);
    trusted.save(home)?;
    policy_files::put_in_force(home, environment, project_root(&path), output)?;
    output.say(&format!(
        "trusted `{}` as it is now ({}, sha256 {})",
        path.display(),
        counted(file.rules.len(), "rule"),
        hash.get(..12).unwrap_or(&hash)
    ))?;
    for rule in file.rules.iter().filter(|rule| !Origin::Project.may(rule.decision)) {
        output.say(&format!("now in force: `{}` may {}", rule.name, rule.decision))?;
    }
    Ok(ExitCode::SUCCESS)
}
