//! Describes a failure to the user: one sentence, its causes, and a hint.

use std::fmt;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// Why a command did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    message: String,
    hints: Vec<String>,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The command could not be done.
    Failed,
    /// The words of the command make no sense.
    Usage,
    /// The reader of our output is gone, which is no failure.
    ReaderGone,
}

impl Failure {
    /// Returns a failure with this sentence: lower case, no full stop, names in backticks.
    pub(crate) fn new(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), hints: Vec::new(), kind: Kind::Failed }
    }

    /// Returns a failure about what was typed.
    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure { kind: Kind::Usage, ..Failure::new(message) }
    }

    /// Returns a failure of a file operation: what was attempted, on which file, and what the system said.
    pub(crate) fn file(attempt: &str, path: &Path, cause: &io::Error) -> Failure {
        Failure::new(format!("cannot {attempt} `{}`: {}", path.display(), plain(cause)))
    }

    /// Returns a failure from the text of another crate, with its hints on lines of their own.
    pub(crate) fn from_text(text: &str) -> Failure {
        // `error_text` of the other rooms puts the hints last, each behind this word.
        let mut lines = text.split("\nhint: ");
        let failure = Failure::new(lines.next().unwrap_or_default());
        lines.filter(|hint| !hint.is_empty()).fold(failure, Failure::hint)
    }

    /// Returns the failure of writing to standard output or standard error.
    pub(crate) fn output(cause: &io::Error) -> Failure {
        match cause.kind() {
            // The end of `agent-tracer tasks | head`: the reader has what it wanted.
            io::ErrorKind::BrokenPipe => Failure { kind: Kind::ReaderGone, ..Failure::new("") },
            _ => Failure::new(format!("cannot write the output: {}", plain(cause))),
        }
    }

    /// Returns the failure with a way out.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hints.push(hint.into());
        self
    }

    /// Returns the failure with the attempt that it ended before its sentence.
    pub(crate) fn within(mut self, attempt: &str) -> Failure {
        self.message = format!("{attempt}: {}", self.message);
        self
    }

    /// Returns the sentence alone.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Returns the ways out on one line; `None` without any.
    pub(crate) fn hint_line(&self) -> Option<String> {
        (!self.hints.is_empty()).then(|| self.hints.join("; "))
    }

    /// Returns the sentence and its hints, each on a line, without the word that a terminal puts before them.
    pub(crate) fn text(&self) -> String {
        self.hints.iter().fold(self.message.clone(), |text, hint| format!("{text}\nhint: {hint}"))
    }

    /// Returns the code to end with.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self.kind {
            Kind::Failed => ExitCode::from(1),
            Kind::Usage => ExitCode::from(2),
            Kind::ReaderGone => ExitCode::SUCCESS,
        }
    }

    /// Returns whether there is anybody to tell.
    pub(crate) fn is_shown(&self) -> bool {
        self.kind != Kind::ReaderGone
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        self.hints.iter().try_for_each(|hint| write!(f, "\nhint: {hint}"))
    }
}

/// Returns the system's text without its number: `permission denied`.
pub(crate) fn plain(cause: &io::Error) -> String {
    let text = cause.to_string();
    // The standard library gives text and number together, and has no way to ask for the text alone.
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first.to_lowercase().chain(characters).collect(),
        None => "unknown cause".to_owned(),
    }
}
