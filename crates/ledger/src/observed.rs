//! What is brought to the ledger: observations that somebody has read.
//!
//! An observation has a name that stays the same however often it is brought, so that bringing it twice changes
//! nothing. Sources that are read in parts (transcripts, rollouts) bring their new position in the same batch as the
//! rows before it: both are written, or neither.

use agent_tracer_event::{Agent, Channel, Millis, Outcome, Reading, TaskId};

/// What a reader made of an observation.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It was understood, at least in part.
    Read(Reading),
    /// It was not well-formed; why.
    Malformed(String),
    /// It was not allowed in; why.
    Refused(String),
}

/// One observation and what it says.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// Its name: the envelope's, or of a row the file and the offset. Never the same for two different observations.
    pub name: String,
    /// The source that it is a part of, if that can be read again as a whole: a file's name in [`Cursor::source`].
    pub source: Option<String>,
    /// The agent.
    pub agent: Agent,
    /// How it reached us.
    pub channel: Channel,
    /// When it reached us.
    pub arrived: Millis,
    /// What it says.
    pub verdict: Verdict,
    /// A hash of its bytes, where the same bytes within five seconds in one session are one event told twice
    /// (Claude Code's hooks). Codex sends equal bytes for distinct calls, so its hooks have none.
    pub payload: Option<u64>,
    /// Its bytes after privacy, and what else reading it again would need. Kept for a while, compressed.
    pub kept: Option<Vec<u8>>,
}

/// How far a source has been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The source's name: for a file its path and what tells it from another file at the same path.
    pub source: String,
    /// The agent.
    pub agent: Agent,
    /// How many bytes have been read and said.
    pub offset: u64,
    /// What the reader needs to go on, opaque to the ledger.
    pub state: Vec<u8>,
}

/// What is written together or not at all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// Observations, in the order of their source.
    pub observed: Vec<Observed>,
    /// New positions of sources.
    pub cursors: Vec<Cursor>,
    /// Rows of known types that say nothing: not received, only counted.
    pub skipped: u64,
    /// The observations were brought before and are read anew: what they say now replaces what they said then.
    pub reread: bool,
}

/// What became of a batch. It is on disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    /// What became of each observation, in the batch's order.
    pub outcomes: Vec<Outcome>,
    /// Tasks that were seen for the first time.
    pub created: Vec<TaskId>,
    /// The newest place in the order of delivery.
    pub seq: u64,
}
