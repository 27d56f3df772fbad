//! The command line: `agent-tracer-hook AGENT|statusline [--home DIR]`, where `AGENT` is a word of the table of agents.
//!
//! Read by hand: an argument parser would cost more than the rest of the program.

use std::ffi::OsString;
use std::path::PathBuf;

use agent_tracer_agent::Agent;
use agent_tracer_spool::envelope::Channel;

/// The words of a call that records something.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Arguments {
    /// The agent that calls.
    pub(crate) agent: Agent,
    /// Its hook or its status line.
    pub(crate) channel: Channel,
    /// The data folder, unless it is the default one.
    pub(crate) home: Option<PathBuf>,
}

/// The action that the command line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// Record what is on standard input.
    Record(Arguments),
    /// Print the version: asked by a person or by `doctor`.
    Version,
    /// Print how to call it: asked by a person.
    Help,
    /// The words make no sense: a person typed them, since `install` writes no others.
    Unknown,
}

/// Reads the words after the program's name.
pub(crate) fn parse(words: impl Iterator<Item = OsString>) -> Request {
    let mut caller = None;
    let mut home = None;
    let mut words = words;
    while let Some(word) = words.next() {
        match word.as_encoded_bytes() {
            b"--home" => home = words.next().map(PathBuf::from),
            b"--version" | b"-V" => return Request::Version,
            b"--help" | b"-h" => return Request::Help,
            // A newer `install` may add words that this binary does not know. Recording matters more.
            word => caller = known(word).or(caller),
        }
    }
    caller.map_or(Request::Unknown, |(agent, channel)| Request::Record(Arguments { agent, channel, home }))
}

fn known(word: &[u8]) -> Option<(Agent, Channel)> {
    match Agent::from_hook_word(word) {
        Some(agent) => Some((agent, Channel::Hook)),
        None => Agent::from_statusline_word(word).map(|agent| (agent, Channel::Statusline)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Request {
        parse(words.iter().map(OsString::from))
    }

    #[test]
    fn each_caller_has_its_word() {
        for (word, agent, channel) in [
            ("claude", Agent::CLAUDE_CODE, Channel::Hook),
            ("codex", Agent::CODEX, Channel::Hook),
            ("statusline", Agent::CLAUDE_CODE, Channel::Statusline),
        ] {
            assert_eq!(parsed(&[word]), Request::Record(Arguments { agent, channel, home: None }));
        }
    }

    #[test]
    fn home_may_stand_before_or_behind_the_caller() {
        let expected = || {
            let home = Some(PathBuf::from("/data/tracer"));
            Request::Record(Arguments { agent: Agent::CODEX, channel: Channel::Hook, home })
        };
        assert_eq!(parsed(&["codex", "--home", "/data/tracer"]), expected());
        assert_eq!(parsed(&["--home", "/data/tracer", "codex"]), expected());
    }

    #[test]
    fn words_of_a_newer_install_do_not_stop_recording() {
        assert_eq!(
            parsed(&["claude", "--deadline", "50"]),
            Request::Record(Arguments { agent: Agent::CLAUDE_CODE, channel: Channel::Hook, home: None })
        );
    }

    #[test]
    fn a_missing_agent_is_no_request_for_the_version() {
        assert_eq!(parsed(&[]), Request::Unknown);
        assert_eq!(parsed(&["--version"]), Request::Version);
        assert_eq!(parsed(&["--help"]), Request::Help);
    }
}
