//! Members of result bodies and what they mean.

use crate::table::Table;

/// The meaning of a member inside a result body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// An id: `[0-9a-z-]{1,64}`.
    Id,
    /// A state: `[a-z_]{1,32}`.
    State,
    /// A number.
    Number,
    /// The status of an answer over HTTP: three digits.
    HttpStatus,
    /// True or false.
    Flag,
    /// `isError`, `is_error`: the tool's own statement.
    IsError,
    /// `interrupted`
    Interrupted,
    /// `success`
    Success,
    /// The exit code of a process.
    ExitCode,
    /// `outputBytes` of a body that has been reduced before.
    OutputBytes,
    /// `errorClass` of a body that has been reduced before.
    ErrorClass,
    /// The path of a worktree.
    WorktreePath,
    /// The branch of a worktree.
    WorktreeBranch,
    /// The name of a model.
    Model,
    /// An object whose named members are kept.
    Object,
    /// A list or map of which only the count is kept.
    List,
    /// A list of the client's own words, of which only the count is kept; they are no output.
    Names,
    /// A repetition of the call's own arguments: neither kept nor counted.
    Echo,
}

/// The body itself.
pub(crate) const ROOT: u8 = 1;
/// `task`
const TASK: u8 = 2;
/// `file`
const FILE: u8 = 4;
/// `usage` and the objects in it.
const USAGE: u8 = 8;
/// `toolStats`
const STATS: u8 = 16;
/// `statusChange`
const CHANGE: u8 = 32;

/// Members of result bodies, and the places where they are kept. Any other member is only measured.
static PARTS: Table<(Part, u8), 120> = Table::new([
    (b"agentId", (Part::Id, ROOT)),
    (b"agent_id", (Part::Id, ROOT)),
    (b"backgroundTaskId", (Part::Id, ROOT)),
    (b"taskId", (Part::Id, ROOT)),
    (b"task_id", (Part::Id, ROOT)),
    (b"shellId", (Part::Id, ROOT)),
    (b"shell_id", (Part::Id, ROOT)),
    (b"id", (Part::Id, ROOT | TASK)),
    (b"status", (Part::State, ROOT | TASK)),
    (b"action", (Part::State, ROOT)),
    (b"mode", (Part::State, ROOT)),
    (b"retrieval_status", (Part::State, ROOT)),
    (b"task_type", (Part::State, ROOT)),
    (b"type", (Part::State, ROOT | FILE)),
    (b"from", (Part::State, CHANGE)),
    (b"to", (Part::State, CHANGE)),
    (b"service_tier", (Part::State, USAGE)),
    (b"speed", (Part::State, USAGE)),
    (b"isError", (Part::IsError, ROOT)),
    (b"is_error", (Part::IsError, ROOT)),
    (b"interrupted", (Part::Interrupted, ROOT)),
    (b"success", (Part::Success, ROOT)),
    (b"exitCode", (Part::ExitCode, ROOT)),
    (b"exit_code", (Part::ExitCode, ROOT)),
    (b"returnCode", (Part::ExitCode, ROOT)),
    (b"outputBytes", (Part::OutputBytes, ROOT)),
    (b"errorClass", (Part::ErrorClass, ROOT)),
    (b"isImage", (Part::Flag, ROOT)),
    (b"noOutputExpected", (Part::Flag, ROOT)),
    (b"truncated", (Part::Flag, ROOT)),
    (b"countIsComplete", (Part::Flag, ROOT)),
    (b"isAsync", (Part::Flag, ROOT)),
    (b"canReadOutputFile", (Part::Flag, ROOT)),
    (b"canContinueAgent", (Part::Flag, ROOT)),
    (b"recurring", (Part::Flag, ROOT)),
    (b"durable", (Part::Flag, ROOT)),
    (b"replaceAll", (Part::Flag, ROOT)),
    (b"userModified", (Part::Flag, ROOT)),
    (b"originalCwdMissing", (Part::Flag, ROOT)),
    (b"is_splitpane", (Part::Flag, ROOT)),
    (b"plan_mode_required", (Part::Flag, ROOT)),
    (b"timedOut", (Part::Flag, ROOT)),
    (b"numFiles", (Part::Number, ROOT)),
    (b"totalMatches", (Part::Number, ROOT)),
    (b"numMatches", (Part::Number, ROOT)),
    (b"durationMs", (Part::Number, ROOT)),
    (b"durationSeconds", (Part::Number, ROOT)),
    (b"totalDurationMs", (Part::Number, ROOT)),
    (b"totalToolUseCount", (Part::Number, ROOT)),
    (b"totalTokens", (Part::Number, ROOT)),
    (b"code", (Part::HttpStatus, ROOT)),
    (b"bytes", (Part::Number, ROOT)),
    (b"discardedFiles", (Part::Number, ROOT)),
    (b"discardedCommits", (Part::Number, ROOT)),
    (b"nextFireAt", (Part::Number, ROOT)),
    (b"harnessNoteCount", (Part::Number, ROOT)),
    (b"harnessTailCount", (Part::Number, ROOT)),
    (b"searchCount", (Part::Number, ROOT | STATS)),
    (b"linesAdded", (Part::Number, ROOT | STATS)),
    (b"linesRemoved", (Part::Number, ROOT | STATS)),
    (b"numLines", (Part::Number, ROOT | FILE)),
    (b"totalLines", (Part::Number, ROOT | FILE)),
    (b"startLine", (Part::Number, ROOT | FILE)),
    (b"readCount", (Part::Number, STATS)),
    (b"bashCount", (Part::Number, STATS)),
    (b"editFileCount", (Part::Number, STATS)),
    (b"otherToolCount", (Part::Number, STATS)),
    (b"input_tokens", (Part::Number, USAGE)),
    (b"output_tokens", (Part::Number, USAGE)),
    (b"thinking_tokens", (Part::Number, USAGE)),
    (b"cache_creation_input_tokens", (Part::Number, USAGE)),
    (b"cache_read_input_tokens", (Part::Number, USAGE)),
    (b"ephemeral_1h_input_tokens", (Part::Number, USAGE)),
    (b"ephemeral_5m_input_tokens", (Part::Number, USAGE)),
    (b"web_search_requests", (Part::Number, USAGE)),
    (b"web_fetch_requests", (Part::Number, USAGE)),
    (b"worktreePath", (Part::WorktreePath, ROOT)),
    (b"worktreeBranch", (Part::WorktreeBranch, ROOT)),
    (b"resolvedModel", (Part::Model, ROOT)),
    (b"task", (Part::Object, ROOT)),
    (b"file", (Part::Object, ROOT)),
    (b"usage", (Part::Object, ROOT)),
    (b"toolStats", (Part::Object, ROOT)),
    (b"statusChange", (Part::Object, ROOT)),
    (b"server_tool_use", (Part::Object, USAGE)),
    (b"cache_creation", (Part::Object, USAGE)),
    (b"output_tokens_details", (Part::Object, USAGE)),
    (b"tasks", (Part::List, ROOT)),
    (b"oldTodos", (Part::List, ROOT)),
    (b"newTodos", (Part::List, ROOT)),
    (b"jobs", (Part::List, ROOT)),
    (b"filenames", (Part::List, ROOT)),
    (b"answers", (Part::List, ROOT)),
    (b"toolsUsed", (Part::Names, ROOT)),
    (b"updatedFields", (Part::Names, ROOT)),
    (b"results", (Part::List, ROOT)),
    (b"filePath", (Part::Echo, 0)),
    (b"file_path", (Part::Echo, 0)),
    (b"prompt", (Part::Echo, 0)),
    (b"description", (Part::Echo, 0)),
    (b"oldString", (Part::Echo, 0)),
    (b"newString", (Part::Echo, 0)),
    (b"originalFile", (Part::Echo, 0)),
    (b"structuredPatch", (Part::Echo, 0)),
    (b"query", (Part::Echo, 0)),
    (b"questions", (Part::Echo, 0)),
    (b"command", (Part::Echo, 0)),
    (b"commandName", (Part::Echo, 0)),
    (b"subject", (Part::Echo, 0)),
    (b"originalCwd", (Part::Echo, 0)),
    (b"restoredCwd", (Part::Echo, 0)),
    (b"outputFile", (Part::Echo, 0)),
    // Notes of the client about the call.
    (b"agentType", (Part::Echo, 0)),
    (b"agent_type", (Part::Echo, 0)),
    (b"harnessSectionHash", (Part::Echo, 0)),
    (b"bashEditDiff", (Part::Echo, 0)),
    (b"humanSchedule", (Part::Echo, 0)),
    // Members that an earlier reduction wrote.
    (b"firstLine", (Part::Echo, 0)),
    (b"head", (Part::Echo, 0)),
    (b"tail", (Part::Echo, 0)),
]);

/// Looks up a member of a result body: its meaning, and the places where it is kept.
#[inline]
pub(crate) fn part(name: &[u8]) -> Option<(Part, u8)> {
    PARTS.get(name)
}

/// Returns the place that the object of that name opens.
pub(crate) fn place(name: &[u8]) -> u8 {
    match name {
        b"task" => TASK,
        b"file" => FILE,
        b"toolStats" => STATS,
        b"statusChange" => CHANGE,
        _ => USAGE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_listed_twice() {
        crate::keep::assert_each_once(PARTS.names());
    }
}
