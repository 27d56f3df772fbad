//! The command line: `agent-tracer-hook claude|codex|statusline [--home DIR]`.
//!
//! Read by hand: an argument parser would cost more than the rest of the program.

use std::ffi::OsString;
use std::path::PathBuf;

/// Who calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// A hook of Claude Code.
    Claude,
    /// A hook of Codex.
    Codex,
    /// The status line of Claude Code.
    StatusLine,
}

/// What the command line said.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Arguments {
    /// Who calls.
    pub(crate) caller: Caller,
    /// Where data lives if it is not the default place.
    pub(crate) home: Option<PathBuf>,
}

/// What to do.
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
        // The longer names are how other documents call the same agents.
        match word.as_encoded_bytes() {
            b"claude" | b"claude-code" | b"claude_code" => caller = Some(Caller::Claude),
            b"codex" | b"codex-cli" => caller = Some(Caller::Codex),
            b"statusline" => caller = Some(Caller::StatusLine),
            b"--home" => home = words.next().map(PathBuf::from),
            b"--version" | b"-V" => return Request::Version,
            b"--help" | b"-h" => return Request::Help,
            // A newer `install` may add words that this binary does not know. Recording matters more.
            _ => {}
        }
    }
    caller.map_or(Request::Unknown, |caller| Request::Record(Arguments { caller, home }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Request {
        parse(words.iter().map(OsString::from))
    }

    #[test]
    fn each_caller_has_its_word() {
        for (word, caller) in
            [("claude", Caller::Claude), ("codex", Caller::Codex), ("statusline", Caller::StatusLine)]
        {
            assert_eq!(parsed(&[word]), Request::Record(Arguments { caller, home: None }));
        }
    }

    #[test]
    fn home_may_stand_before_or_behind_the_caller() {
        let expected = || {
            Request::Record(Arguments { caller: Caller::Codex, home: Some(PathBuf::from("/data/tracer")) })
        };
        assert_eq!(parsed(&["codex", "--home", "/data/tracer"]), expected());
        assert_eq!(parsed(&["--home", "/data/tracer", "codex"]), expected());
    }

    #[test]
    fn words_of_a_newer_install_do_not_stop_recording() {
        assert_eq!(
            parsed(&["claude", "--deadline", "50"]),
            Request::Record(Arguments { caller: Caller::Claude, home: None })
        );
    }

    #[test]
    fn nothing_to_do_is_told_apart_from_a_version_question() {
        assert_eq!(parsed(&[]), Request::Unknown);
        assert_eq!(parsed(&["--version"]), Request::Version);
        assert_eq!(parsed(&["--help"]), Request::Help);
    }
}
