//! The command line: `agent-tracer-hook AGENT [EVENT]|statusline [--home DIR]`, where `AGENT` is a word of the table of
//! agents, and `EVENT` follows where the payloads of that agent do not name their events.
//!
//! Read by hand: an argument parser would cost more than the rest of the program.

use std::ffi::{CStr, OsStr, OsString, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
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
    /// The event, where the agent's payloads do not name it.
    pub(crate) event: Option<OsString>,
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

/// Returns the words after the program's name that the C library passes to `main`.
///
/// # Safety
///
/// `words` points to `count` pointers to texts that end with a zero byte, all of them valid for the whole process. It may
/// be null if `count` is 0: a caller of `execve` is free to give no word at all.
#[expect(unsafe_code, reason = "the C library passes words as pointers")]
pub(crate) unsafe fn words(count: c_int, words: *const *const c_char) -> impl Iterator<Item = OsString> {
    let count = if words.is_null() { 0 } else { usize::try_from(count).unwrap_or(0) };
    (1..count).map(move |place| {
        // SAFETY: `place` is below `count`, and the caller vouches for as many pointers and for the text behind each.
        let word = unsafe { CStr::from_ptr(*words.add(place)) };
        OsStr::from_bytes(word.to_bytes()).to_owned()
    })
}

/// Reads the words after the program's name.
pub(crate) fn parse(words: impl Iterator<Item = OsString>) -> Request {
    let mut caller: Option<(Agent, Channel)> = None;
    let mut event = None;
    let mut home = None;
    let mut words = words;
    while let Some(word) = words.next() {
        match word.as_encoded_bytes() {
            b"--home" => home = words.next().map(PathBuf::from),
            b"--version" | b"-V" => return Request::Version,
            b"--help" | b"-h" => return Request::Help,
            // A newer `install` may add words that this binary does not know. Recording matters more.
            other => match caller {
                Some((agent, Channel::Hook)) if event.is_none() && !agent.spec().names_events => {
                    event = Some(word);
                }
                _ => caller = known(other).or(caller),
            },
        }
    }
    let record = |(agent, channel)| Request::Record(Arguments { agent, channel, event, home });
    caller.map_or(Request::Unknown, record)
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
            assert_eq!(
                parsed(&[word]),
                Request::Record(Arguments { agent, channel, event: None, home: None })
            );
        }
    }

    #[test]
    fn home_may_stand_before_or_behind_the_caller() {
        let expected = || {
            let home = Some(PathBuf::from("/data/tracer"));
            Request::Record(Arguments { agent: Agent::CODEX, channel: Channel::Hook, event: None, home })
        };
        assert_eq!(parsed(&["codex", "--home", "/data/tracer"]), expected());
        assert_eq!(parsed(&["--home", "/data/tracer", "codex"]), expected());
    }

    #[test]
    fn words_of_a_newer_install_do_not_stop_recording() {
        assert_eq!(
            parsed(&["claude", "--deadline", "50"]),
            Request::Record(Arguments {
                agent: Agent::CLAUDE_CODE,
                channel: Channel::Hook,
                event: None,
                home: None
            })
        );
    }

    #[test]
    fn an_event_is_a_word_only_where_payloads_do_not_name_it() {
        let Some(example) = Agent::parse("example") else { return };
        let record = |event: Option<&str>| {
            let event = event.map(OsString::from);
            Request::Record(Arguments { agent: example, channel: Channel::Hook, event, home: None })
        };
        assert_eq!(parsed(&["example", "preToolUse"]), record(Some("preToolUse")));
        assert_eq!(
            parsed(&["example", "codex"]),
            record(Some("codex")),
            "an event may be called like an agent"
        );
        assert_eq!(parsed(&["example", "stop", "later"]), record(Some("stop")));
        assert_eq!(parsed(&["example"]), record(None));
    }

    /// Returns the words that `main` would see if it were called with these.
    fn passed(texts: &[&CStr], count: usize) -> Vec<OsString> {
        let pointers: Vec<*const c_char> = texts.iter().map(|text| text.as_ptr()).collect();
        // SAFETY: no more pointers are counted than there are, and the texts outlive the call.
        #[expect(unsafe_code, reason = "the same call as that of `main`")]
        unsafe { words(c_int::try_from(count).expect("a small number"), pointers.as_ptr()) }.collect()
    }

    #[test]
    fn words_are_those_that_the_c_library_passes_to_main() {
        let texts = [c"/opt/agent-tracer-hook", c"claude", c"--home", c"/data/\xff tracer"];
        let expected = || {
            ["claude".as_bytes(), b"--home", b"/data/\xff tracer"]
                .map(|word| OsStr::from_bytes(word).to_owned())
        };
        assert_eq!(passed(&texts, 4), expected());
        assert_eq!(passed(&texts, 2), expected()[..1]);
    }

    #[test]
    fn a_call_without_any_word_has_none() {
        assert_eq!(passed(&[c"/opt/agent-tracer-hook"], 1), Vec::<OsString>::new());
        assert_eq!(passed(&[], 0), Vec::<OsString>::new());
        #[expect(unsafe_code, reason = "the same call as that of `main`")]
        // SAFETY: no pointer is counted, so none is read.
        let none = unsafe { words(0, std::ptr::null()) }.count();
        assert_eq!(none, 0);
    }

    #[test]
    fn a_missing_agent_is_no_request_for_the_version() {
        assert_eq!(parsed(&[]), Request::Unknown);
        assert_eq!(parsed(&["--version"]), Request::Version);
        assert_eq!(parsed(&["--help"]), Request::Help);
    }
}
