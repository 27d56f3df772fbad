//! The homes of an agent: the one that this environment names, those of other accounts beside it, and those that `install`
//! connected elsewhere.
//!
//! Law: a home beside it, or connected, counts only if it holds what the agent's own home holds. Files in other places are
//! read once a hook names them, and never by a search.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use agent_tracer_agents::sessions::{self, SessionFiles};
use agent_tracer_agents::setup::{self, Places, Scope};
use agent_tracer_event::Agent;
use agent_tracer_spool::Home;

use crate::environment::Environment;
use crate::failure::Failure;
use crate::record::{Installation, Record};
use crate::target::home_of;

/// The most homes of one agent.
const HOMES_MAX: usize = 32;

/// Returns the homes of an agent, the one of this environment first. `tracer` is our own home, which knows the connected ones.
pub(crate) fn of(agent: Agent, tracer: &Home, environment: &Environment) -> Result<Vec<PathBuf>, Failure> {
    let own = home_of(agent, environment)?;
    // Without a user's home there is no place to look at.
    let user = environment.user_home().ok();
    let beside = user.map(|user| beside(agent, &user)).unwrap_or_default();
    let mut known = BTreeSet::from([real(&own)]);
    let mut homes = vec![own];
    // A server that starts at login knows no variable of a shell: it finds a moved home by its connection.
    let others = beside.into_iter().chain(connected(agent, &Record::load(tracer).0));
    homes.extend(others.filter(|home| known.insert(real(home))));
    homes.truncate(HOMES_MAX);
    Ok(homes)
}

/// Returns the agent's folder in the user's home, and those whose names go on behind the same name: `.name-work`, `.name2`.
fn beside(agent: Agent, user: &Path) -> Vec<PathBuf> {
    let usual = agent.spec().home(None, user);
    let (Some(door), Some(folder)) = (sessions::of(agent), usual.parent()) else { return Vec::new() };
    let Some(name) = usual.file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    let is_account = |other: &str| {
        other
            .strip_prefix(name)
            .is_some_and(|rest| rest.chars().next().is_some_and(|next| !next.is_alphabetic()))
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_account));
    let mut homes: Vec<PathBuf> = named.map(|entry| entry.path()).collect();
    homes.sort_unstable();
    homes.insert(0, usual.clone());
    homes.retain(|home| has_sessions(door, home));
    homes
}

/// Returns the homes whose settings `install` has changed and `uninstall` has not restored.
fn connected(agent: Agent, record: &Record) -> Vec<PathBuf> {
    let (Some(door), Some(setup)) = (sessions::of(agent), setup::of(agent)) else { return Vec::new() };
    let home = |installation: &Installation| {
        let home = installation.file.parent()?;
        let places = Places { home, directory: Path::new(""), repository: Path::new("") };
        // A project's file may have the name of a user's: which it is depends on the folder.
        let is_users = !installation.shared
            && installation.agent == agent.spec().word
            && setup.settings(Scope::User, &places).is_some_and(|file| file == installation.file);
        // Settings that are a link into a folder of dotfiles are recorded with that folder, which is no home.
        (is_users && has_sessions(door, home)).then(|| home.to_owned())
    };
    record.installations().iter().filter_map(home).collect()
}

fn has_sessions(door: &dyn SessionFiles, home: &Path) -> bool {
    door.folders(home).first().is_some_and(|folder| folder.is_dir())
}

fn real(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_found_beside_the_usual_home_and_nothing_else() {
        let user = tempfile::tempdir().expect("a folder");
        for agent in Agent::ALL {
            let spec = agent.spec();
            let door = sessions::of(*agent).expect("files");
            let home = |name: &str| user.path().join(format!("{}{name}", spec.home_folder));
            for name in ["", "-work", "2", "backup"] {
                fs::create_dir_all(door.folders(&home(name)).first().expect("a folder")).expect("made");
            }
            fs::create_dir_all(home("-empty")).expect("made");
            assert_eq!(beside(*agent, user.path()), [home(""), home("-work"), home("2")]);
        }
    }
}
