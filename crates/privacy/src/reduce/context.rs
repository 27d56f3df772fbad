//! The event and the tool of a payload, on which the treatment of its members depends.
//!
//! A payload may name two of them (a member may be there twice); then the stricter one holds.

use agent_tracer_agent::ErrorText;

use super::Source;
use crate::classify::Tool;
use crate::config::Config;

/// The event, as far as it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// Not named, or not yet.
    Unsaid,
    /// Named twice, differently.
    Disputed,
    /// An event whose `error` is not the result of a call.
    Error(ErrorText),
    /// `ElicitationResult`: `content` is what a person typed into a form.
    ElicitationResult,
    /// Any other.
    Other,
}

impl Event {
    /// Returns the event after it has been named `name`.
    pub(super) fn named(self, name: &[u8], source: Source) -> Self {
        let error = match source {
            Source::Hook(agent) => agent.spec().error_text(name),
            Source::StatusLine => None,
        };
        let event = match error {
            Some(text) => Self::Error(text),
            None if name == b"ElicitationResult" => Self::ElicitationResult,
            None => Self::Other,
        };
        match self {
            Self::Unsaid => event,
            earlier if earlier == event => event,
            _ => Self::Disputed,
        }
    }
}

/// The tool of a call, once it has been named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CalledTool {
    /// Not named (yet).
    Unsaid,
    /// Named once, or always the same.
    As(Tool),
}

impl CalledTool {
    /// Returns the tool after it has been named `name`. Two names make it unnamed, which counts as a shell.
    pub(super) fn named(self, name: &[u8]) -> Self {
        let tool = Tool::of(name);
        match self {
            Self::Unsaid => Self::As(tool),
            Self::As(earlier) if earlier == tool => self,
            Self::As(_) => Self::As(Tool::Unnamed),
        }
    }

    /// Returns the tool, if it was named.
    pub(super) fn tool(self) -> Tool {
        match self {
            Self::Unsaid => Tool::Unnamed,
            Self::As(tool) => tool,
        }
    }
}

/// Notes a directory; of several the one that is excluded is kept, because each of them counts.
pub(super) fn keep_stricter(config: &Config, noted: &mut Option<Vec<u8>>, path: &[u8]) {
    // Without a home a pattern covers more and not less.
    let excluded = noted.as_ref().is_some_and(|earlier| config.excludes(earlier, None));
    if !excluded || config.excludes(path, None) {
        *noted = Some(path.to_vec());
    }
}
