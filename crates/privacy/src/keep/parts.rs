//! Members of result bodies and what they mean.

use crate::table::Table;

/// The meaning of a member inside a result body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyMember {
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
static PARTS: Table<(BodyMember, u8), 120> = Table::new([
    (b"agentId", (BodyMember::Id, ROOT)),
    (b"agent_id", (BodyMember::Id, ROOT)),
    (b"backgroundTaskId", (BodyMember::Id, ROOT)),
    (b"taskId", (BodyMember::Id, ROOT)),
    (b"task_id", (BodyMember::Id, ROOT)),
    (b"shellId", (BodyMember::Id, ROOT)),
    (b"shell_id", (BodyMember::Id, ROOT)),
    (b"id", (BodyMember::Id, ROOT | TASK)),
    (b"status", (BodyMember::State, ROOT | TASK)),
    (b"action", (BodyMember::State, ROOT)),
    (b"mode", (BodyMember::State, ROOT)),
    (b"retrieval_status", (BodyMember::State, ROOT)),
    (b"task_type", (BodyMember::State, ROOT)),
    (b"type", (BodyMember::State, ROOT | FILE)),
    (b"from", (BodyMember::State, CHANGE)),
    (b"to", (BodyMember::State, CHANGE)),
    (b"service_tier", (BodyMember::State, USAGE)),
    (b"speed", (BodyMember::State, USAGE)),
    (b"isError", (BodyMember::IsError, ROOT)),
    (b"is_error", (BodyMember::IsError, ROOT)),
    (b"interrupted", (BodyMember::Interrupted, ROOT)),
    (b"success", (BodyMember::Success, ROOT)),
    (b"exitCode", (BodyMember::ExitCode, ROOT)),
    (b"exit_code", (BodyMember::ExitCode, ROOT)),
    (b"returnCode", (BodyMember::ExitCode, ROOT)),
    (b"outputBytes", (BodyMember::OutputBytes, ROOT)),
    (b"errorClass", (BodyMember::ErrorClass, ROOT)),
    (b"isImage", (BodyMember::Flag, ROOT)),
    (b"noOutputExpected", (BodyMember::Flag, ROOT)),
    (b"truncated", (BodyMember::Flag, ROOT)),
    (b"countIsComplete", (BodyMember::Flag, ROOT)),
    (b"isAsync", (BodyMember::Flag, ROOT)),
    (b"canReadOutputFile", (BodyMember::Flag, ROOT)),
    (b"canContinueAgent", (BodyMember::Flag, ROOT)),
    (b"recurring", (BodyMember::Flag, ROOT)),
    (b"durable", (BodyMember::Flag, ROOT)),
    (b"replaceAll", (BodyMember::Flag, ROOT)),
    (b"userModified", (BodyMember::Flag, ROOT)),
    (b"originalCwdMissing", (BodyMember::Flag, ROOT)),
    (b"is_splitpane", (BodyMember::Flag, ROOT)),
    (b"plan_mode_required", (BodyMember::Flag, ROOT)),
    (b"timedOut", (BodyMember::Flag, ROOT)),
    (b"numFiles", (BodyMember::Number, ROOT)),
    (b"totalMatches", (BodyMember::Number, ROOT)),
    (b"numMatches", (BodyMember::Number, ROOT)),
    (b"durationMs", (BodyMember::Number, ROOT)),
    (b"durationSeconds", (BodyMember::Number, ROOT)),
    (b"totalDurationMs", (BodyMember::Number, ROOT)),
    (b"totalToolUseCount", (BodyMember::Number, ROOT)),
    (b"totalTokens", (BodyMember::Number, ROOT)),
    (b"code", (BodyMember::HttpStatus, ROOT)),
    (b"bytes", (BodyMember::Number, ROOT)),
    (b"discardedFiles", (BodyMember::Number, ROOT)),
    (b"discardedCommits", (BodyMember::Number, ROOT)),
    (b"nextFireAt", (BodyMember::Number, ROOT)),
    (b"harnessNoteCount", (BodyMember::Number, ROOT)),
    (b"harnessTailCount", (BodyMember::Number, ROOT)),
    (b"searchCount", (BodyMember::Number, ROOT | STATS)),
    (b"linesAdded", (BodyMember::Number, ROOT | STATS)),
    (b"linesRemoved", (BodyMember::Number, ROOT | STATS)),
    (b"numLines", (BodyMember::Number, ROOT | FILE)),
    (b"totalLines", (BodyMember::Number, ROOT | FILE)),
    (b"startLine", (BodyMember::Number, ROOT | FILE)),
    (b"readCount", (BodyMember::Number, STATS)),
    (b"bashCount", (BodyMember::Number, STATS)),
    (b"editFileCount", (BodyMember::Number, STATS)),
    (b"otherToolCount", (BodyMember::Number, STATS)),
    (b"input_tokens", (BodyMember::Number, USAGE)),
    (b"output_tokens", (BodyMember::Number, USAGE)),
    (b"thinking_tokens", (BodyMember::Number, USAGE)),
    (b"cache_creation_input_tokens", (BodyMember::Number, USAGE)),
    (b"cache_read_input_tokens", (BodyMember::Number, USAGE)),
    (b"ephemeral_1h_input_tokens", (BodyMember::Number, USAGE)),
    (b"ephemeral_5m_input_tokens", (BodyMember::Number, USAGE)),
    (b"web_search_requests", (BodyMember::Number, USAGE)),
    (b"web_fetch_requests", (BodyMember::Number, USAGE)),
    (b"worktreePath", (BodyMember::WorktreePath, ROOT)),
    (b"worktreeBranch", (BodyMember::WorktreeBranch, ROOT)),
    (b"resolvedModel", (BodyMember::Model, ROOT)),
    (b"task", (BodyMember::Object, ROOT)),
    (b"file", (BodyMember::Object, ROOT)),
    (b"usage", (BodyMember::Object, ROOT)),
    (b"toolStats", (BodyMember::Object, ROOT)),
    (b"statusChange", (BodyMember::Object, ROOT)),
    (b"server_tool_use", (BodyMember::Object, USAGE)),
    (b"cache_creation", (BodyMember::Object, USAGE)),
    (b"output_tokens_details", (BodyMember::Object, USAGE)),
    (b"tasks", (BodyMember::List, ROOT)),
    (b"oldTodos", (BodyMember::List, ROOT)),
    (b"newTodos", (BodyMember::List, ROOT)),
    (b"jobs", (BodyMember::List, ROOT)),
    (b"filenames", (BodyMember::List, ROOT)),
    (b"answers", (BodyMember::List, ROOT)),
    (b"toolsUsed", (BodyMember::Names, ROOT)),
    (b"updatedFields", (BodyMember::Names, ROOT)),
    (b"results", (BodyMember::List, ROOT)),
    (b"filePath", (BodyMember::Echo, 0)),
    (b"file_path", (BodyMember::Echo, 0)),
    (b"prompt", (BodyMember::Echo, 0)),
    (b"description", (BodyMember::Echo, 0)),
    (b"oldString", (BodyMember::Echo, 0)),
    (b"newString", (BodyMember::Echo, 0)),
    (b"originalFile", (BodyMember::Echo, 0)),
    (b"structuredPatch", (BodyMember::Echo, 0)),
    (b"query", (BodyMember::Echo, 0)),
    (b"questions", (BodyMember::Echo, 0)),
    (b"command", (BodyMember::Echo, 0)),
    (b"commandName", (BodyMember::Echo, 0)),
    (b"subject", (BodyMember::Echo, 0)),
    (b"originalCwd", (BodyMember::Echo, 0)),
    (b"restoredCwd", (BodyMember::Echo, 0)),
    (b"outputFile", (BodyMember::Echo, 0)),
    // Notes of the client about the call.
    (b"agentType", (BodyMember::Echo, 0)),
    (b"agent_type", (BodyMember::Echo, 0)),
    (b"harnessSectionHash", (BodyMember::Echo, 0)),
    (b"bashEditDiff", (BodyMember::Echo, 0)),
    (b"humanSchedule", (BodyMember::Echo, 0)),
    // Members that an earlier reduction wrote.
    (b"firstLine", (BodyMember::Echo, 0)),
    (b"head", (BodyMember::Echo, 0)),
    (b"tail", (BodyMember::Echo, 0)),
]);

/// Looks up a member of a result body: its meaning, and the places where it is kept.
#[inline]
pub(crate) fn part(name: &[u8]) -> Option<(BodyMember, u8)> {
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
