//! What rows of an agent's file mean for a compaction: what the model had before it, where it happened, what was left.
//!
//! Reading is pure and total: a line that is nothing of this is no item. Texts are the agent's own; whoever shows them
//! passes them through privacy first.

use agent_tracer_event::{Agent, Millis};

/// What a piece of a conversation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// What the human said.
    Prompt,
    /// What the model said.
    Answer,
    /// What it thought.
    Thought,
    /// A call of a tool.
    Call,
    /// What came of one. Its text is nobody's business.
    Result,
    /// The summary of an earlier compaction.
    Summary,
    /// What the client itself put in.
    Harness,
}

impl Part {
    /// Every part.
    pub const ALL: &[Self] =
        &[Self::Prompt, Self::Answer, Self::Thought, Self::Call, Self::Result, Self::Summary, Self::Harness];

    /// Its name in answers.
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
    /// What it is.
    pub part: Part,
    /// How long its text is, in bytes.
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
    /// What took the place of the history, where the mark itself says so; else it follows in rows.
    pub replaced_by: Option<Vec<Piece>>,
}

/// What a line of a file is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineRead {
    /// The row's own id.
    pub id: Option<String>,
    /// When it was written.
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
    match agent {
        Agent::CLAUDE_CODE => crate::claude::compactions::read(&row),
        Agent::CODEX => crate::codex::compactions::read(&row),
        _ => LineRead::default(),
    }
}
