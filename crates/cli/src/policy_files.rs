//! Rules as the commands see them: the file that a person means, and what went wrong in their words.

use std::path::{Path, PathBuf};

use agent_tracer_ledger::error_text;
use agent_tracer_policy::daemon::{PROJECT_FILE, RulesError, table};
use agent_tracer_spool::Home;

use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::Output;

impl From<RulesError> for Failure {
    fn from(error: RulesError) -> Self {
        Self::from_text(&error_text(&error)).hint(error.hint())
    }
}

/// Returns the file that a person means: a file, or the folder of a project.
pub(crate) fn named(path: &Path, environment: &Environment) -> PathBuf {
    let path = environment.absolute(path);
    if path.is_dir() { path.join(PROJECT_FILE) } else { path }
}

/// Writes `policy.tbl` again, with the rules of the project at `root`, and reports projects with broken rules.
pub(crate) fn put_in_force(
    home: &Home,
    environment: &Environment,
    root: PathBuf,
    output: &mut Output,
) -> Result<(), Failure> {
    for error in table::refresh(home, &environment.main_program(), &[root])? {
        // Reported, not returned: the table is written, and a broken project keeps the rules that it had.
        output.failure(&Failure::from(error));
    }
    Ok(())
}
