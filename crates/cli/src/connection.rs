//! Tells whether an agent is connected, as its settings have it. No program is started, so it takes no time.
//!
//! `doctor` judges the same settings in detail; this is the one word of an overview.

use std::path::{Path, PathBuf};

use agent_tracer_agents::command_line::HOOK_PROGRAM;
use agent_tracer_event::Agent;

use crate::environment::Environment;
use crate::files;
use crate::target::{Target, home_of};

/// The connection of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Connection {
    /// The agent calls no hooks; its files are read wherever they are.
    NoHooks,
    /// Nothing of ours is registered.
    Absent,
    /// Hooks are registered in a settings file, and their program is there.
    Hooks(PathBuf),
    /// Hooks are registered in a settings file, and their program is missing.
    Broken {
        /// The settings file.
        file: PathBuf,
        /// The program.
        program: String,
    },
    /// The agent calls us by another way, in words that fit after "by".
    Other(String),
}

impl Connection {
    /// Looks at the settings of every scope.
    pub(crate) fn of(agent: Agent, environment: &Environment) -> Connection {
        let home = home_of(agent, environment).ok();
        Connection::judge(&Target::all_of(agent, environment), home.as_deref(), environment)
    }

    /// Looks at the same for a process of the agent that has this home.
    pub(crate) fn at(agent: Agent, home: &Path, environment: &Environment) -> Connection {
        Connection::judge(&Target::all_at(agent, home, environment), Some(home), environment)
    }

    fn judge(targets: &[Target], home: Option<&Path>, environment: &Environment) -> Connection {
        let mut broken = None;
        for target in targets {
            let text = text_of(&target.path);
            for own in target.setup.own(&text) {
                if is_there(&own.invocation.program, environment) {
                    // One entry that works is enough here; a broken one beside it is for `doctor` to report.
                    return Connection::Hooks(target.path.clone());
                }
                let program = own.invocation.program;
                broken.get_or_insert(Connection::Broken { file: target.path.clone(), program });
            }
        }
        let Some(first) = targets.first() else { return Connection::NoHooks };
        let ways =
            home.map(|home| first.setup.other_ways(home, &|path| Some(text_of(path)))).unwrap_or_default();
        match (broken, ways.into_iter().next()) {
            (Some(broken), _) => broken,
            (None, Some(way)) => Connection::Other(way),
            (None, None) => Connection::Absent,
        }
    }
}

/// Returns the text of a settings file. One that cannot be read has no entries, as for the agent.
fn text_of(path: &Path) -> String {
    files::find(path).and_then(|found| found.text().map(str::to_owned)).unwrap_or_default()
}

fn is_there(program: &str, environment: &Environment) -> bool {
    if program == HOOK_PROGRAM {
        return environment.on_path(program).is_some();
    }
    files::is_executable(Path::new(program))
}
