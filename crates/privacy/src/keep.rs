//! The tables: which member means what, in payloads and inside result bodies, and which shape a kept value must have.
//!
//! A name that is not listed has no meaning, and a listed value of another shape is not kept: an agent that
//! starts to send something new is measured, not recorded.

use crate::table::Table;

/// What a member of a payload means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    /// Nothing special: short strings stay, long ones are reduced.
    Other,
    /// `hook_event_name`
    Event,
    /// `tool_name`
    Tool,
    /// `agent_type`
    AgentType,
    /// The working directory.
    Cwd,
    /// The project's directory.
    ProjectDir,
    /// What a tool was called with.
    ToolInput,
    /// The calls of a batch.
    ToolCalls,
    /// A result body.
    Result,
    /// `error`: a result body, except where it is a short word.
    Error,
    /// `last_assistant_message`: the agent's last words, or a whole compaction summary.
    FinalMessage,
    /// `compact_summary`
    Summary,
    /// `delta` of a message as it is shown.
    Delta,
    /// `content`: of a file, of a form, of a todo.
    Content,
    /// Content of a file under any other name.
    FileText,
    /// A command line or script.
    Command,
    /// Text that a person or an agent wrote as an instruction.
    Prompt,
    /// Any other text that people read: messages, titles, descriptions.
    Message,
    /// The list of todos: `content` in it is the todo's text.
    Todos,
    /// What a person answered.
    Answers,
    /// A name, an id or a state, kept at every level if it is one word.
    Word,
    /// A word of the client or a sentence of somebody: kept at every level if it is one lower-case word.
    State,
    /// A short label, kept at every level.
    Label,
    /// A path, kept at every level.
    Path,
}

/// Members of payloads, at any depth. What is not here is [`Key::Other`].
static KEYS: Table<Key, 151> = Table::new([
    (b"hook_event_name", Key::Event),
    (b"tool_name", Key::Tool),
    (b"agent_type", Key::AgentType),
    (b"cwd", Key::Cwd),
    (b"project_dir", Key::ProjectDir),
    (b"tool_input", Key::ToolInput),
    (b"tool_calls", Key::ToolCalls),
    // Result bodies, in the spellings of both agents, of older versions and of their transcripts.
    (b"tool_response", Key::Result),
    (b"tool_output", Key::Result),
    (b"tool_result", Key::Result),
    (b"toolUseResult", Key::Result),
    (b"tool_use_result", Key::Result),
    (b"toolResponse", Key::Result),
    (b"toolResult", Key::Result),
    (b"toolOutput", Key::Result),
    (b"result", Key::Result),
    (b"results", Key::Result),
    (b"output", Key::Result),
    (b"stdout", Key::Result),
    (b"stderr", Key::Result),
    (b"error", Key::Error),
    (b"errors", Key::Result),
    (b"last_assistant_message", Key::FinalMessage),
    (b"compact_summary", Key::Summary),
    (b"delta", Key::Delta),
    // Contents of files in the arguments of tools that write.
    (b"content", Key::Content),
    (b"contents", Key::FileText),
    (b"file_text", Key::FileText),
    (b"file_content", Key::FileText),
    (b"file_contents", Key::FileText),
    (b"fileContent", Key::FileText),
    (b"fileText", Key::FileText),
    (b"insert_text", Key::FileText),
    (b"old_string", Key::FileText),
    (b"new_string", Key::FileText),
    (b"oldString", Key::FileText),
    (b"newString", Key::FileText),
    (b"old_str", Key::FileText),
    (b"new_str", Key::FileText),
    (b"old_text", Key::FileText),
    (b"new_text", Key::FileText),
    (b"oldText", Key::FileText),
    (b"newText", Key::FileText),
    (b"old_content", Key::FileText),
    (b"new_content", Key::FileText),
    (b"oldContent", Key::FileText),
    (b"newContent", Key::FileText),
    (b"old_source", Key::FileText),
    (b"new_source", Key::FileText),
    (b"cell_source", Key::FileText),
    (b"originalFile", Key::FileText),
    (b"patch", Key::FileText),
    (b"diff", Key::FileText),
    (b"unified_diff", Key::FileText),
    (b"command", Key::Command),
    (b"cmd", Key::Command),
    (b"script", Key::Command),
    (b"prompt", Key::Prompt),
    (b"instructions", Key::Prompt),
    (b"custom_instructions", Key::Prompt),
    (b"message", Key::Message),
    (b"notification_message", Key::Message),
    (b"description", Key::Message),
    (b"title", Key::Message),
    (b"session_title", Key::Message),
    (b"subject", Key::Message),
    (b"task_subject", Key::Message),
    (b"task_description", Key::Message),
    (b"error_details", Key::Message),
    (b"error_message", Key::Message),
    (b"plan", Key::Message),
    (b"question", Key::Message),
    (b"explanation", Key::Message),
    (b"command_args", Key::Message),
    (b"todos", Key::Todos),
    (b"answers", Key::Answers),
    (b"annotations", Key::Answers),
    // Names, ids and states.
    (b"id", Key::Word),
    (b"session_id", Key::Word),
    (b"prompt_id", Key::Word),
    (b"turn_id", Key::Word),
    (b"message_id", Key::Word),
    (b"agent_id", Key::Word),
    (b"agentId", Key::Word),
    (b"tool_use_id", Key::Word),
    (b"task_id", Key::Word),
    (b"taskId", Key::Word),
    (b"call_id", Key::Word),
    (b"request_id", Key::Word),
    (b"elicitation_id", Key::Word),
    (b"thread_id", Key::Word),
    (b"target", Key::Word),
    (b"targets", Key::Word),
    (b"toolName", Key::Word),
    (b"subagent_type", Key::Word),
    (b"task_name", Key::Word),
    (b"nickname", Key::Word),
    (b"teammate_name", Key::Word),
    (b"team_name", Key::Word),
    (b"mcp_server_name", Key::Word),
    (b"command_name", Key::Word),
    (b"command_source", Key::Word),
    (b"skill", Key::Word),
    (b"name", Key::Word),
    (b"program", Key::Word),
    (b"hash", Key::Word),
    (b"errorClass", Key::Word),
    (b"model", Key::Word),
    (b"from_model", Key::Word),
    (b"to_model", Key::Word),
    (b"requested_model", Key::Word),
    (b"version", Key::Word),
    (b"permission_mode", Key::Word),
    (b"level", Key::Word),
    (b"source", Key::Word),
    (b"trigger", Key::Word),
    (b"event", Key::Word),
    (b"status", Key::Word),
    (b"type", Key::Word),
    (b"mode", Key::Word),
    (b"action", Key::Word),
    (b"memory_type", Key::Word),
    (b"load_reason", Key::Word),
    (b"expansion_type", Key::Word),
    (b"notification_type", Key::Word),
    (b"output_mode", Key::Word),
    (b"isolation", Key::Word),
    (b"destination", Key::Word),
    (b"behavior", Key::Word),
    (b"pricing", Key::Word),
    (b"cache_ttl", Key::Word),
    (b"ttl", Key::Word),
    (b"reduced", Key::Word),
    (b"reason", Key::State),
    (b"display_name", Key::Label),
    (b"path", Key::Path),
    (b"file_path", Key::Path),
    (b"filePath", Key::Path),
    (b"notebook_path", Key::Path),
    (b"transcript_path", Key::Path),
    (b"agent_transcript_path", Key::Path),
    (b"parent_file_path", Key::Path),
    (b"trigger_file_path", Key::Path),
    (b"worktree_path", Key::Path),
    (b"directory", Key::Path),
    (b"directories", Key::Path),
    (b"old_cwd", Key::Path),
    (b"new_cwd", Key::Path),
    (b"current_dir", Key::Path),
    (b"added_dirs", Key::Path),
    (b"workdir", Key::Path),
]);

/// Looks up a member of a payload.
#[inline]
pub(crate) fn key(name: &[u8]) -> Option<Key> {
    KEYS.get(name)
}

/// What a member inside a result body means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// An id: `[0-9a-z-]{1,64}`.
    Id,
    /// A state: `[a-z_]{1,32}`.
    State,
    /// A number.
    Number,
    /// True or false.
    Flag,
    /// `isError`, `is_error`: the tool says so itself.
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
    /// What the call itself said, told again: neither kept nor counted.
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

/// Members of result bodies, and the places where they are kept. What is not here is only measured.
static PARTS: Table<(Part, u8), 114> = Table::new([
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
    (b"code", (Part::Number, ROOT)),
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
    (b"toolsUsed", (Part::List, ROOT)),
    (b"updatedFields", (Part::List, ROOT)),
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
    (b"firstLine", (Part::Echo, 0)),
    (b"head", (Part::Echo, 0)),
    (b"tail", (Part::Echo, 0)),
]);

/// Looks up a member of a result body: its meaning, and the places where it is kept.
#[inline]
pub(crate) fn part(name: &[u8]) -> Option<(Part, u8)> {
    PARTS.get(name)
}

/// The place that the object of that name opens.
pub(crate) fn place(name: &[u8]) -> u8 {
    match name {
        b"task" => TASK,
        b"file" => FILE,
        b"toolStats" => STATS,
        b"statusChange" => CHANGE,
        _ => USAGE,
    }
}

/// Whether `value` is an id: `[0-9a-z-]{1,64}`.
pub(crate) fn is_id(value: &[u8]) -> bool {
    (1..=64).contains(&value.len())
        && value.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b'-'))
}

/// Whether `value` is a state: `[a-z_]{1,32}`.
pub(crate) fn is_state(value: &[u8]) -> bool {
    (1..=32).contains(&value.len()) && value.iter().all(|byte| matches!(byte, b'a'..=b'z' | b'_'))
}

/// Whether `value` is the short word that `error` is where it is no body: `[a-z_]{1,64}`.
pub(crate) fn is_error_word(value: &[u8]) -> bool {
    (1..=64).contains(&value.len()) && value.iter().all(|byte| matches!(byte, b'a'..=b'z' | b'_'))
}

/// Whether `value` is the name of a model: `(claude|gpt|o[0-9])[a-z0-9.-]{0,60}`.
pub(crate) fn is_model(value: &[u8]) -> bool {
    let rest = match value {
        [b'c', b'l', b'a', b'u', b'd', b'e', rest @ ..] | [b'g', b'p', b't', rest @ ..] => rest,
        [b'o', b'0'..=b'9', rest @ ..] => rest,
        _ => return false,
    };
    rest.len() <= 60 && rest.iter().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-'))
}

/// Whether `value` is an absolute path of sane length without control characters.
pub(crate) fn is_absolute_path(value: &[u8]) -> bool {
    value.starts_with(b"/") && value.len() <= 1024 && !value.iter().any(u8::is_ascii_control)
}

/// Whether `value` is a branch as the agent itself names it for a worktree.
pub(crate) fn is_worktree_branch(value: &[u8]) -> bool {
    value.starts_with(b"worktree-")
        && value.len() <= 256
        && value
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'/' | b'-' | b'+'))
}

/// Whether `value` is the path-like name of a Codex subagent: `/[a-z0-9_/-]{1,128}`.
pub(crate) fn is_task_name(value: &[u8]) -> bool {
    let Some(rest) = value.strip_prefix(b"/") else { return false };
    (1..=128).contains(&rest.len())
        && rest.iter().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'/' | b'-'))
}

/// Whether `value` is a UUID in lower case.
pub(crate) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        })
}

/// Whether `value` is one word: a name, an id, a version. Kept at level `metadata`.
pub(crate) fn is_word(value: &[u8]) -> bool {
    value.len() <= 128
        && value.iter().all(|byte| {
            byte.is_ascii_alphanumeric()
                || matches!(byte, b'_' | b'-' | b'.' | b':' | b'@' | b'/' | b'+' | b'*')
        })
}

/// Whether `value` is a short label such as the name of a model on the screen. Kept at level `metadata`.
pub(crate) fn is_label(value: &[u8]) -> bool {
    value.len() <= 64
        && value.iter().all(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'_' | b'-' | b'.' | b'(' | b')')
        })
}

/// Whether `value` can be a path. Kept at level `metadata`.
pub(crate) fn is_path(value: &[u8]) -> bool {
    value.len() <= 4096 && !value.iter().any(u8::is_ascii_control)
}

/// Whether `name` is the name of a member rather than a text that somebody used as one. Kept at level `metadata`.
pub(crate) fn is_member_name(name: &[u8]) -> bool {
    name.len() <= 64
        && name
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'$' | b':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_listed_twice() {
        fn once<'a>(names: impl Iterator<Item = &'a [u8]>) {
            let mut names: Vec<&[u8]> = names.collect();
            let all = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), all);
        }
        once(KEYS.names());
        once(PARTS.names());
    }

    #[test]
    fn shapes_take_what_the_clients_send_and_nothing_else() {
        assert!(is_id(b"aff290ceeb7216ead") && is_id(b"1") && is_id(b"aresearcher-6ff197c7c6b8fda5"));
        assert!(!is_id(b"") && !is_id(b"CANARY") && !is_id(b"a b") && !is_id(&[b'a'; 65]));
        assert!(
            is_state(b"async_launched") && !is_state(b"Async") && !is_state(b"in-progress") && !is_state(b"")
        );
        assert!(
            is_model(b"claude-opus-5-5")
                && is_model(b"gpt-5.5")
                && is_model(b"o3-mini")
                && is_model(b"claude")
        );
        assert!(!is_model(b"llama") && !is_model(b"claude Opus") && !is_model(b"o") && !is_model(b"gpt_5"));
        assert!(is_absolute_path(b"/home/dev") && !is_absolute_path(b"home") && !is_absolute_path(b"/a\nb"));
        assert!(is_worktree_branch(b"worktree-wt-one") && !is_worktree_branch(b"main; rm"));
        assert!(
            is_task_name(b"/root/scout")
                && !is_task_name(b"/")
                && !is_task_name(b"/Root")
                && !is_task_name(b"x")
        );
        assert!(
            is_uuid(b"01a1e0be-84a3-7821-97dd-747b90c57e02")
                && !is_uuid(b"01A1E0BE-84a3-7821-97dd-747b90c57e02")
        );
        assert!(is_word(b"mcp__demo__ask") && !is_word(b"two words"));
    }
}
