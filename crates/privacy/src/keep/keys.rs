//! Members of payloads and what they mean.

use crate::table::Table;

/// The meaning of a member of a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    /// Nothing special: short strings stay, long ones are reduced.
    Other,
    /// `hook_event_name`
    Event,
    /// `tool_name`
    Tool,
    /// `agent_type`, in the spellings of older versions too
    AgentType,
    /// The working directory.
    Cwd,
    /// The project's directory.
    ProjectDir,
    /// The arguments of a tool.
    ToolInput,
    /// The calls of a batch.
    ToolCalls,
    /// A result body.
    Result,
    /// Named like a result body, but not listed: a number or a flag stays, everything else counts as a body.
    ResultLike,
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
    /// `message`: an instruction to an agent, or any other text that people read.
    Spoken,
    /// The list of todos: `content` in it is the todo's text.
    Todos,
    /// The answers of a person.
    Answers,
    /// A name, an id or a state, kept at every level if it is one word.
    Word,
    /// A word of the client or a sentence of a person: kept at every level if it is one lower-case word.
    State,
    /// A short label, kept at every level.
    Label,
    /// A path, kept at every level.
    Path,
}

/// Members of payloads, at any depth. Any other member is [`Key::Other`].
static KEYS: Table<Key, 154> = Table::new([
    (b"hook_event_name", Key::Event),
    (b"tool_name", Key::Tool),
    (b"agent_type", Key::AgentType),
    (b"agentType", Key::AgentType),
    (b"subagent_type", Key::AgentType),
    (b"subagentType", Key::AgentType),
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
    (b"message", Key::Spoken),
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
    // Our own: the origin of a prompt, which level `metadata` keeps without its text.
    (b"promptOrigin", Key::State),
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
    (b"new_cwd", Key::Cwd),
    (b"current_dir", Key::ProjectDir),
    (b"added_dirs", Key::Path),
    (b"workdir", Key::Path),
]);

/// Looks up a member of a payload.
#[inline]
pub(crate) fn key(name: &[u8]) -> Option<Key> {
    KEYS.get(name).or_else(|| is_result(name).then_some(Key::Result)).or_else(|| {
        // Dotted names are those of events and attributes.
        let result = name.len() >= 4 && !name.contains(&b'.') && is_result_like(name);
        result.then_some(Key::ResultLike)
    })
}

/// Words in the names of results.
const RESULT_WORDS: [&[u8]; 14] = [
    b"output",
    b"outputs",
    b"result",
    b"results",
    b"response",
    b"responses",
    b"stdout",
    b"stderr",
    b"body",
    b"reply",
    b"completion",
    b"dump",
    b"html",
    b"logs",
];

/// Last words of names whose values describe a result and are none.
const ABOUT_RESULTS: [&[u8]; 29] = [
    b"seq",
    b"id",
    b"ids",
    b"count",
    b"tokens",
    b"bytes",
    b"ms",
    b"mode",
    b"style",
    b"format",
    b"type",
    b"status",
    b"code",
    b"path",
    b"file",
    b"name",
    b"url",
    b"duration",
    b"limit",
    b"size",
    b"model",
    b"schema",
    b"kind",
    b"state",
    b"at",
    b"length",
    b"lines",
    b"hash",
    b"class",
];

/// Returns `true` if a name contains a word of a result. Such a member counts as a result even if it is not listed.
fn is_result_like(name: &[u8]) -> bool {
    let mut result = false;
    let mut last: &[u8] = b"";
    let mut from = 0;
    for at in 1..=name.len() {
        let (before, next) =
            (name.get(at - 1).copied().unwrap_or(b'_'), name.get(at).copied().unwrap_or(b'_'));
        let hump = next.is_ascii_uppercase() && before.is_ascii_lowercase();
        if !hump && next.is_ascii_alphanumeric() {
            continue;
        }
        let word = name.get(from..at).unwrap_or_default();
        result |= RESULT_WORDS.iter().any(|known| word.eq_ignore_ascii_case(known));
        last = if word.is_empty() { last } else { word };
        from = if hump { at } else { at + 1 };
    }
    result && !ABOUT_RESULTS.iter().any(|known| last.eq_ignore_ascii_case(known))
}

/// Names of result bodies, in lower case and without the signs between words.
const RESULTS: [&[u8]; 14] = [
    b"toolresponse",
    b"toolresponses",
    b"toolresult",
    b"toolresults",
    b"tooloutput",
    b"tooluseresult",
    b"result",
    b"results",
    b"response",
    b"output",
    b"stdout",
    b"stderr",
    b"structuredcontent",
    b"aggregatedoutput",
];

/// Returns `true` if a name is an unlisted spelling of a listed result body.
fn is_result(name: &[u8]) -> bool {
    if !(6..=20).contains(&name.len()) || !name.first().is_some_and(|first| b"trosaTROSA".contains(first)) {
        return false;
    }
    RESULTS.iter().any(|known| {
        let letters = name.iter().filter(|byte| !matches!(byte, b'_' | b'-'));
        letters.map(u8::to_ascii_lowercase).eq(known.iter().copied())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_like_a_result_are_results_and_names_about_one_are_not() {
        for name in [
            "response_body",
            "tool_output_text",
            "toolOutputText",
            "raw-output",
            "result_text",
            "httpBody",
            "pageHtml",
        ] {
            assert_eq!(key(name.as_bytes()), Some(Key::ResultLike), "{name}");
        }
        for name in
            ["output_tokens", "response_id", "outputFormat", "result_count", "embody", "outputs2x", "cells"]
        {
            assert_eq!(key(name.as_bytes()), None, "{name}");
        }
        assert_eq!(key(b"output_mode"), Some(Key::Word));
    }

    #[test]
    fn no_name_is_listed_twice() {
        crate::keep::assert_each_once(KEYS.names());
    }
}
