//! Defines the input of a reader: bytes as they arrived, and their origin.
//!
//! An observation is already through privacy. Nothing in it is trusted: the body may be any bytes, and every field
//! of the context may be missing. Readers add nothing of their own; they have no clock, no file and no environment.

use agent_tracer_event::{Agent, Channel, Millis, attributes};

/// Describes which of an agent's doors the bytes came through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// An event of the agent's hook system.
    Hook,
    /// A refresh of the status line.
    StatusLine,
    /// Holds what rules of the user's decided on an event of the agent: our own record.
    Decision,
}

/// Describes what is known of the process that sent an observation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// The working directory of the hook.
    pub cwd: Option<String>,
    /// The named environment variables that were recorded.
    pub env: Vec<(String, String)>,
    /// The agent's process.
    pub pid: Option<u32>,
    /// Holds the time at which that process started, in the kernel's own unit: only good for comparing.
    pub pid_start: Option<u64>,
    /// The pid namespace that the ids belong to.
    pub pid_namespace: Option<u64>,
    /// The hook's parent: the agent, or a shell between the two.
    pub parent_pid: Option<u32>,
    /// The agent's own file when a compaction began.
    pub transcript: Option<TranscriptSeen>,
}

/// An agent's own file as it was when something happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TranscriptSeen {
    /// Measures its length.
    pub bytes: u64,
    /// The SHA-256 of it up to there, in hexadecimal, if known.
    pub sha256: Option<String>,
}

impl TranscriptSeen {
    /// Writes what an event tells of it.
    pub(crate) fn write(&self, metadata: &mut agent_tracer_event::Metadata) {
        metadata.insert(attributes::TRANSCRIPT_BYTES.to_owned(), self.bytes.into());
        if let Some(hash) = &self.sha256 {
            metadata.insert(attributes::TRANSCRIPT_SHA256.to_owned(), hash.as_str().into());
        }
    }
}

impl Context {
    /// Returns a recorded environment variable that is not empty.
    #[must_use]
    pub fn env(&self, name: &str) -> Option<&str> {
        let (_, value) = self.env.iter().find(|(key, _)| key == name)?;
        Some(value.as_str()).filter(|value| !value.is_empty())
    }
}

/// Bytes as they arrived, plus provenance.
#[derive(Clone, Copy, Debug)]
pub struct Observation<'a> {
    /// Names who acted.
    pub agent: Agent,
    /// Holds how it reached us.
    pub channel: Channel,
    /// A stable identity: the envelope's name, or a file's identity and an offset. Keys of events that have no id of
    /// their own are made of it, so the same observation read twice gives the same facts.
    pub name: &'a str,
    /// Holds the time at which it arrived.
    pub arrived: Millis,
    /// Through which door.
    pub source: Source,
    /// The agent's own JSON, after privacy.
    pub body: &'a [u8],
    /// Holds what is known of the sender.
    pub context: &'a Context,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_counts_as_absent() {
        let context = Context {
            env: vec![("A".into(), String::new()), ("B".into(), "x".into())],
            ..Context::default()
        };
        assert_eq!(context.env("A"), None);
        assert_eq!(context.env("B"), Some("x"));
        assert_eq!(context.env("C"), None);
    }
}
