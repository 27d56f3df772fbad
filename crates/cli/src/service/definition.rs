//! Defines what a service starts, and with which variables.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use agent_tracer_event::Agent;

use crate::environment::Environment;
use crate::failure::Failure;
use crate::origin::Origin;
use crate::target;

/// Variables besides those of the agents that move what a server reads and writes.
const FOLDER_VARIABLES: [&str; 2] = ["XDG_DATA_HOME", "XDG_CONFIG_HOME"];

/// The server that a service starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Definition {
    /// The program, by the path that stays across upgrades.
    pub(crate) program: String,
    pub(crate) arguments: Vec<String>,
    /// Variables that the manager does not have by itself.
    pub(crate) variables: Vec<(String, String)>,
    /// The topmost folder that was made for the file.
    pub(crate) made_folder: Option<PathBuf>,
}

impl Definition {
    /// Defines the server of this program and of this shell's homes.
    pub(crate) fn of(
        environment: &Environment,
        home: Option<&Path>,
        listen: SocketAddr,
    ) -> Result<Definition, Failure> {
        let program = environment.main_program();
        let program = match Origin::of(&program, Path::new("/")) {
            // By the folder of links: the path behind it has the version in it and is gone after an upgrade.
            Origin::Homebrew(folder) => folder.join("agent-tracer"),
            // A cache may be emptied at any time, and then the service would not start.
            origin @ Origin::Cache(_) => {
                return Err(Failure::new(format!("this program is in the cache of {}", origin.name()))
                    .hint("install it to stay, for example by `npm install --global` or `pipx install`"));
            }
            Origin::Script
            | Origin::Tarball
            | Origin::Node(_)
            | Origin::NodeProject(_)
            | Origin::Pip(_)
            | Origin::Pipx
            | Origin::UvTool
            | Origin::Debian
            | Origin::Rpm
            | Origin::Cargo
            | Origin::Source(_) => program,
        };
        let mut arguments = vec!["serve".to_owned(), "--listen".to_owned(), listen.to_string()];
        if let Some(home) = home {
            arguments.extend(["--home".to_owned(), text_of("the home", home)?]);
        }
        let mut variables = Vec::new();
        // A manager starts the server without the variables of this shell: it would read the default homes.
        let agents = Agent::rows().map(|agent| agent.spec().home_variable);
        for name in agents.chain(FOLDER_VARIABLES).filter(|name| !name.is_empty()) {
            if let Some(value) = environment.path_variable(name) {
                variables.push((name.to_owned(), text_of(&format!("`${name}`"), &value)?));
            }
        }
        let program = text_of("the path of this program", &program)?;
        Ok(Definition { program, arguments, variables, made_folder: None })
    }
}

/// Returns a path as text that fits on a line of a file.
fn text_of(what: &str, path: &Path) -> Result<String, Failure> {
    let text = target::as_text(what, path)?;
    // A line end in a path would begin a line of its own in the file, and so a directive.
    if text.chars().any(char::is_control) {
        return Err(Failure::new(format!("{what} `{}` holds a control character", text.escape_debug()))
            .hint("move it to a folder with a plain name"));
    }
    Ok(text.to_owned())
}
