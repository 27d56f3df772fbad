//! Messages for the person who runs the server. Never a payload, a prompt or a secret.

use std::fmt;
use std::sync::Arc;

/// A message for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// Normal operation.
    Info(String),
    /// A problem that needs attention; the server goes on.
    Warning(String),
}

impl Note {
    /// Creates a message about normal operation.
    pub fn info(text: impl Into<String>) -> Self {
        Self::Info(text.into())
    }

    /// Creates a message about a problem.
    pub fn warning(text: impl Into<String>) -> Self {
        Self::Warning(text.into())
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Info(text) => write!(f, "info: {text}"),
            Self::Warning(text) => write!(f, "warning: {text}"),
        }
    }
}

/// The receiver of messages.
pub type Notes = Arc<dyn Fn(Note) + Send + Sync>;
