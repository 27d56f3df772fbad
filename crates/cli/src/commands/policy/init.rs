//! `policy init`: a file with ready rules, all commented out.

use std::process::ExitCode;

use agent_tracer_policy::daemon::PROJECT_FILE;
use agent_tracer_policy::template;
use agent_tracer_spool::Home;

use crate::arguments::PolicyInit;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::files;
use crate::output::Output;

pub(super) fn run(
    arguments: &PolicyInit,
    home: &Home,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    if arguments.print {
        output.data(&template())?;
        return Ok(ExitCode::SUCCESS);
    }
    let path =
        if arguments.project { super::root(environment).join(PROJECT_FILE) } else { home.policy_file() };
    if arguments.project {
        // A repository may bring a link along, by which it would choose the file that is written.
        files::refuse_links(&path)?;
    }
    let found = files::find(&path)?;
    if found.exists() {
        return Err(Failure::new(format!("`{}` already exists", path.display()))
            .hint("edit it, or print the examples with `agent-tracer policy init --print`"));
    }
    if arguments.project {
        // This looks once more whether the file is still absent: other programs work in a project, too.
        files::replace(&found, template().as_bytes())?;
    } else {
        files::write_private(&path, template().as_bytes())?;
    }
    output.say(&format!("wrote `{}`; no rule in it is in force yet", path.display()))?;
    output.say("remove the `#` before the rules to use, then run `agent-tracer policy apply`")?;
    Ok(ExitCode::SUCCESS)
}
