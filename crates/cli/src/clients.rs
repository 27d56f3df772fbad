//! Finds the installed versions of an agent.
//!
//! Law: only `--version` is asked, without a shell, for a few seconds and a few bytes. Where several are installed, the
//! oldest decides, because what suits it suits the others; one that gives no version makes the whole answer unknown.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agent_tracer_agents::{ClientVersion, setup};

use crate::environment::{Environment, distinct};
use crate::trial::{Trial, Variables};
use agent_tracer_event::Agent;

/// Time limit for a client to print its version. Some are programs for Node, on a machine that may be busy.
const LIMIT: Duration = Duration::from_secs(15);
/// The most programs of one name that are asked.
const PROGRAMS_MAX: usize = 6;
/// The most bytes of what a client says that are shown.
const WORDS_BYTES_MAX: usize = 80;

/// A client that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InstalledClient {
    /// The program, links not resolved.
    pub(crate) program: PathBuf,
    /// The first line of its answer, if it gave one that can be shown.
    pub(crate) words: Option<String>,
    /// The version in it.
    pub(crate) version: Option<ClientVersion>,
}

/// Returns the clients of an agent: on the `PATH`, and where its own installer puts it. None of them is started.
pub(crate) fn find(agent: Agent, environment: &Environment) -> Vec<InstalledClient> {
    let mut programs = environment.all_on_path(agent.spec().word);
    if let (Some(setup), Ok(home)) = (setup::of(agent), environment.user_home()) {
        // Installers use places that the path of this shell need not have.
        programs.extend(setup.program_places().iter().map(|place| home.join(place)));
    }
    let programs = distinct(programs.into_iter()).into_iter().take(PROGRAMS_MAX);
    programs.map(|program| InstalledClient { program, words: None, version: None }).collect()
}

/// Returns the clients of an agent, each with what it says about its version.
pub(crate) fn ask(agent: Agent, environment: &Environment) -> Vec<InstalledClient> {
    let mut clients = find(agent, environment);
    for client in &mut clients {
        client.ask(environment);
    }
    clients
}

impl InstalledClient {
    /// Asks the client for its version.
    pub(crate) fn ask(&mut self, environment: &Environment) {
        self.words = words(&self.program, &environment.directory);
        self.version = self.words.as_deref().and_then(ClientVersion::parse);
    }
}

fn words(program: &Path, directory: &Path) -> Option<String> {
    let answer = Trial {
        program,
        arguments: vec![OsStr::new("--version")],
        input: b"",
        variables: Variables::Without(&[]),
        directory: directory.to_owned(),
        limit: LIMIT,
    }
    .run();
    let answer = answer.ok().filter(|answer| answer.success)?;
    let first = answer.text.lines().next()?.trim();
    let plain = first.chars().all(|character| !character.is_control());
    (!first.is_empty() && first.len() <= WORDS_BYTES_MAX && plain).then(|| first.to_owned())
}

/// Returns the version that settings have to suit: the oldest; none if one of them is not known, or there is none.
pub(crate) fn oldest(clients: &[InstalledClient]) -> Option<ClientVersion> {
    clients.iter().map(|client| client.version).min().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(version: Option<&str>) -> InstalledClient {
        let version = version.and_then(ClientVersion::parse);
        InstalledClient { program: PathBuf::from("/usr/bin/claude"), words: None, version }
    }

    #[test]
    fn the_oldest_of_several_decides_and_an_unknown_one_makes_the_answer_unknown() {
        let version = |text| ClientVersion::parse(text);
        assert_eq!(oldest(&[]), None);
        assert_eq!(oldest(&[client(Some("2.1.326")), client(Some("2.1.100"))]), version("2.1.100"));
        assert_eq!(oldest(&[client(Some("2.1.326")), client(None)]), None);
    }
}
