//! What a person who runs the server may want to know. Never a payload, a prompt or a secret.

use std::fmt;
use std::sync::Arc;

/// Something worth a line in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// It goes on as it should.
    Info(String),
    /// It goes on, but somebody should look.
    Warning(String),
}

impl Note {
    /// Says that it goes on as it should.
    pub fn info(text: impl Into<String>) -> Self {
        Self::Info(text.into())
    }

    /// Says that somebody should look.
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

/// Where notes go.
pub type Notes = Arc<dyn Fn(Note) + Send + Sync>;
