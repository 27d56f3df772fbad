//! The history of one conversation, as the analyses need it: responses, what entered the context, and marks.

use std::collections::BTreeSet;

use agent_tracer_prices::{BilledUsage, Rates};

/// Holds one conversation: the responses of one task in the order of time, and what came between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// Responses by time.
    pub responses: Vec<PricedResponse>,
    /// Additions to the context, by time.
    pub additions: Vec<Addition>,
    /// Moments at which the context was replaced or cut, by time.
    pub marks: Vec<Mark>,
    /// The conversation begins with a copy of another one, as after a fork.
    pub begins_with_copy: bool,
}

/// Holds one counted response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PricedResponse {
    /// The number of its fact.
    pub id: i64,
    /// The moment of its first token, or of its end where only that is known.
    pub at: i64,
    /// The moment at which its request was sent, where a channel tells it.
    pub requested_at: Option<i64>,
    /// The number of its turn's fact.
    pub turn: Option<i64>,
    /// The request belongs to the conversation. Requests beside it (summaries of compactions, searches) have a prefix
    /// of their own.
    pub in_conversation: bool,
    /// The model.
    pub model: String,
    /// The billed usage.
    pub usage: BilledUsage,
    /// Counts those of the written tokens that were reasoning.
    pub reasoning_tokens: u64,
    /// The cost in pico-dollars; `None` without a price.
    pub cost: Option<u64>,
    /// The prices of its tokens, where the table of today knows the model.
    pub rates: Option<Rates>,
    /// The form of its request, where the client records it.
    pub request: Option<RequestForm>,
}

/// Holds the form of a request as the client's own file records it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestForm {
    /// A hash of the system prompt and the tools.
    pub shape: String,
    /// Counts the messages that it has in common with the request before it, from the first on.
    pub kept: u64,
    /// Counts its messages.
    pub messages: u64,
}

/// Holds one thing that was put into the context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addition {
    /// The number of the fact that tells of it.
    pub id: i64,
    /// The moment at which it was there.
    pub at: i64,
    /// The number of the response that asked for it: what a call returns cannot be in the context before the next one.
    pub asked_by: Option<i64>,
    /// The number of the turn's fact.
    pub turn: Option<i64>,
    /// The source.
    pub source: Source,
    /// Its size in bytes, as recorded.
    pub bytes: u64,
}

/// Names the source of a part of the context.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// The system prompt.
    System,
    /// Definitions of tools: those of an MCP server, or the client's own.
    Tools {
        /// The MCP server.
        server: Option<String>,
    },
    /// A file of instructions.
    Instructions {
        /// Its path.
        path: String,
    },
    /// The listing of a skill.
    Skill {
        /// Its name; `None` for the listing as a whole.
        name: Option<String>,
    },
    /// A prompt.
    Prompt,
    /// The copy of another conversation with which this one begins.
    Copy,
    /// The summary of a compaction.
    Summary,
    /// Text and calls that the model wrote.
    Reply,
    /// Reasoning of the model.
    Thinking,
    /// The result of a call.
    Result {
        /// The tool.
        tool: String,
        /// The file that the call was about.
        path: Option<String>,
    },
    /// Something that the client attached.
    Attachment {
        /// The kind of the attachment as the client names it.
        kind: String,
        /// The file that was attached.
        path: Option<String>,
    },
    /// Tokens of a prompt that no recorded size explains.
    Unexplained,
}

/// Names the group of a source, as charts stack them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceGroup {
    /// The system prompt and the definitions of tools.
    System,
    /// Files of instructions.
    Instructions,
    /// Skills that are offered.
    Skills,
    /// Prompts, replies and summaries.
    Conversation,
    /// Reasoning.
    Thinking,
    /// Results of calls.
    Results,
    /// Attachments.
    Attachments,
    /// Tokens that no recorded size explains.
    Unexplained,
}

impl SourceGroup {
    /// All groups, in the order in which they stand in a prompt.
    pub const ALL: [Self; 8] = [
        Self::System,
        Self::Instructions,
        Self::Skills,
        Self::Conversation,
        Self::Thinking,
        Self::Results,
        Self::Attachments,
        Self::Unexplained,
    ];
}

impl Source {
    /// Returns the group.
    #[must_use]
    pub const fn group(&self) -> SourceGroup {
        match self {
            Self::System | Self::Tools { .. } => SourceGroup::System,
            Self::Instructions { .. } => SourceGroup::Instructions,
            Self::Skill { .. } => SourceGroup::Skills,
            Self::Prompt | Self::Copy | Self::Summary | Self::Reply => SourceGroup::Conversation,
            Self::Thinking => SourceGroup::Thinking,
            Self::Result { .. } => SourceGroup::Results,
            Self::Attachment { .. } => SourceGroup::Attachments,
            Self::Unexplained => SourceGroup::Unexplained,
        }
    }

    /// Returns `true` if it stands in the context again after a compaction.
    #[must_use]
    pub const fn outlives_compaction(&self) -> bool {
        matches!(
            self,
            Self::System
                | Self::Tools { .. }
                | Self::Instructions { .. }
                | Self::Skill { .. }
                | Self::Unexplained
        )
    }
}

/// Holds a moment at which the context was replaced or cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The number of its fact.
    pub id: i64,
    /// The moment.
    pub at: i64,
    /// The event.
    pub kind: MarkKind,
}

/// Names an event that changes what the cache holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkKind {
    /// The conversation was replaced by a summary of so many bytes.
    Compaction {
        /// The size of the summary.
        summary_bytes: u64,
    },
    /// The conversation was taken back to an earlier message.
    Rewind,
    /// The process was started again on the same conversation.
    Resume {
        /// The client expected the cache to have expired.
        expired: bool,
    },
}

/// Holds one tool call of a task or of an agent below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallStep {
    /// The number of its fact.
    pub id: i64,
    /// The moment at which it began.
    pub at: i64,
    /// The moment at which it ended.
    pub ended: Option<i64>,
    /// The place of its agent in the list that the caller keeps.
    pub agent: usize,
    /// The tool.
    pub tool: String,
    /// The title that people read.
    pub title: String,
    /// The end of it.
    pub outcome: StepOutcome,
    /// The class of the error.
    pub error: Option<String>,
    /// The things that it tried to do.
    pub intents: Vec<Intent>,
    /// The files that it changed.
    pub edits: Vec<FileEdit>,
    /// The commits that it made.
    pub commits: Vec<CommitMark>,
}

/// Names the end of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StepOutcome {
    /// It did what it should.
    #[default]
    Succeeded,
    /// It failed, or was not allowed.
    Failed,
    /// It was interrupted, or its end is not known.
    Open,
}

/// Names the thing that a step tries to do. Two steps with the same intent are two attempts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Intent {
    /// Runs a program on targets.
    Command {
        /// Program and subcommand.
        program: String,
        /// The things that it is run on; none means all.
        targets: BTreeSet<String>,
        /// A run without targets covers every target, as of tests, builds and linters.
        covers_all: bool,
    },
    /// Reads a file.
    Read(String),
    /// Changes a file.
    Change(String),
    /// Does something else that a text identifies: a page, a query, an MCP tool, an agent.
    Other(String),
}

/// Holds one change of one file by one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEdit {
    /// The file.
    pub path: String,
    /// The kind of change.
    pub operation: EditOperation,
    /// Counts the lines that were added, where that is known.
    pub added: Option<u64>,
    /// Counts the lines that were removed, where that is known.
    pub removed: Option<u64>,
}

/// Names the kind of a change of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditOperation {
    /// The file was written as a whole.
    Write,
    /// The file was not there before.
    Create,
    /// A part of the file was changed.
    Modify,
    /// The file was deleted.
    Delete,
    /// The file was moved.
    Rename {
        /// The new path.
        to: String,
    },
}

/// Holds a commit that a step made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitMark {
    /// The abbreviated or full hash, where the client's file tells it.
    pub hash: Option<String>,
}
