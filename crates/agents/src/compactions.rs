//! Describes a compaction by the rows of an agent's file: the items before it, its place, the items after it.
//!
//! Reading is pure and total: a line that is nothing of this is no item. Texts are the agent's own; the caller that shows them
//! passes them through privacy first.

use agent_tracer_event::{Agent, Millis};

/// Describes what a piece of a conversation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// Holds what the human said.
    Prompt,
    /// Holds what the model said.
    Answer,
    /// Holds what it thought.
    Thought,
    /// A call of a tool.
    Call,
    /// The result of one. Its text is not kept.
    Result,
    /// The summary of an earlier compaction.
    Summary,
    /// Holds what the client itself put in.
    Harness,
}

impl Part {
    /// Every part.
    pub const ALL: &[Self] =
        &[Self::Prompt, Self::Answer, Self::Thought, Self::Call, Self::Result, Self::Summary, Self::Harness];

    /// Returns the name in answers.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Answer => "answer",
            Self::Thought => "thought",
            Self::Call => "call",
            Self::Result => "result",
            Self::Summary => "summary",
            Self::Harness => "harness",
        }
    }
}

/// A piece of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Holds what it is.
    pub part: Part,
    /// Holds how long its text is, in bytes.
    pub bytes: u64,
    /// The text; never that of a result.
    pub text: Option<String>,
    /// The tool of a call.
    pub tool: Option<String>,
}

/// A compaction, as the row that marks it tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// `manual` or `auto`.
    pub trigger: Option<String>,
    /// Tokens of the context before.
    pub pre_tokens: Option<u64>,
    /// Tokens of the context after.
    pub post_tokens: Option<u64>,
    /// The rows that were kept as they were, by their ids.
    pub kept: Vec<String>,
    /// Holds what took the place of the history, where the mark itself says so; else it follows in rows.
    pub replaced_by: Option<Vec<Piece>>,
}

/// Describes what a line of a file is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineRead {
    /// The row's own id.
    pub id: Option<String>,
    /// Holds the time at which it was written.
    pub at: Option<Millis>,
    /// The pieces in it.
    pub pieces: Vec<Piece>,
    /// The compaction that it marks.
    pub mark: Option<Mark>,
}

/// Reads one line of an agent's file.
#[must_use]
pub fn read_line(agent: Agent, line: &[u8]) -> LineRead {
    let Ok(row) = serde_json::from_slice(line) else { return LineRead::default() };
    crate::adapter::of(agent).read_compaction(&row)
}
