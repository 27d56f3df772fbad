//! Prompts, commands typed as prompts, responses and the ends of turns.

use super::declare;

declare! { MESSAGE_ATTRIBUTES
    /// Holds the length of the prompt where the text is not kept; the text is the body.
    PROMPT = "prompt": Text, Actions, [USER_MESSAGE];
    /// Measures the prompt.
    PROMPT_BYTES = "promptBytes": Integer(Bytes), Metadata, [USER_MESSAGE];
    /// Counts the characters of the prompt.
    PROMPT_CHARACTERS_COUNT = "promptCharactersCount": Integer(Characters), Metadata, [USER_MESSAGE];
    /// Names the prompt that the event belongs to.
    PROMPT_ID = "promptId": String, Metadata, [EVENTS, TURN, TASK];
    /// Names the origin of the prompt: user, task_notification, steering, delegation and others.
    PROMPT_ORIGIN = "promptOrigin": String, Metadata, [USER_MESSAGE, TURN];
    /// Names the source of the prompt as the client does.
    PROMPT_SOURCE = "promptSource": String, Metadata, [USER_MESSAGE];
    /// Counts the attachments.
    ATTACHMENT_COUNT = "attachmentCount": Integer(Items), Metadata, [USER_MESSAGE];
    /// Counts the images.
    IMAGE_COUNT = "imageCount": Integer(Items), Metadata, [USER_MESSAGE];
    /// Marks a prompt that another agent wrote.
    DELEGATED = "delegated": Boolean, Metadata, [USER_MESSAGE];
    /// Names the slash command.
    COMMAND_NAME = "commandName": String, Metadata, [USER_PROMPT_EXPANSION, USER_MESSAGE, CONTEXT_SAVED];
    /// Holds the arguments of the slash command.
    COMMAND_ARGS = "commandArgs": Text, Actions, [USER_PROMPT_EXPANSION, CONTEXT_SAVED];
    /// Names the source of the command.
    COMMAND_SOURCE = "commandSource": String, Metadata, [CALLS, USER_PROMPT_EXPANSION, USER_MESSAGE];
    /// Names the type of the expansion.
    EXPANSION_TYPE = "expansionType": String, Metadata, [USER_PROMPT_EXPANSION];
    /// Measures the expanded prompt.
    EXPANDED_PROMPT_BYTES = "expandedPromptBytes": Integer(Bytes), Metadata, [CALLS, USER_PROMPT_EXPANSION];
    /// Holds the first 2 KB of the expanded prompt; from transcripts only at level full.
    EXPANDED_PROMPT_SNIPPET = "expandedPromptSnippet": String, Actions, [CALLS, USER_PROMPT_EXPANSION];
    /// Names the message that is shown piece by piece.
    DISPLAY_MESSAGE_ID = "displayMessageId": String, Metadata, [ASSISTANT_COMMENTARY];
    /// Names the turn of that message.
    DISPLAY_TURN_ID = "displayTurnId": String, Metadata, [ASSISTANT_COMMENTARY];
    /// Numbers the piece.
    DISPLAY_INDEX = "displayIndex": Integer, Metadata, [ASSISTANT_COMMENTARY];
    /// Marks the last piece.
    DISPLAY_FINAL = "displayFinal": Boolean, Metadata, [ASSISTANT_COMMENTARY];
    /// Holds the length of the final answer where the text is not kept, else its text.
    LAST_ASSISTANT_MESSAGE = "lastAssistantMessage": Text, Actions, [ASSISTANT_RESPONSE];
    /// Measures the message.
    MESSAGE_BYTES = "messageBytes": Integer(Bytes), Metadata,
        [ASSISTANT_RESPONSE, ASSISTANT_COMMENTARY, AGENT_ACTIVITY_LOGGED];
    /// Measures the text of the block.
    TEXT_BYTES = "textBytes": Integer(Bytes), Metadata,
        [ASSISTANT_RESPONSE, ASSISTANT_COMMENTARY, THOUGHT_LOGGED];
    /// Counts the characters of the response.
    RESPONSE_CHARACTERS_COUNT = "responseCharactersCount": Integer(Characters), Metadata,
        [TOKEN_USAGE, ASSISTANT_RESPONSE];
    /// Names the reason that the response ended; `error:` and the type of the error after a failure.
    STOP_REASON = "stopReason": Text, Metadata, [ASSISTANT_RESPONSE, TOKEN_USAGE, MODEL_REQUEST, TURN];
    /// Marks a turn that goes on because of a stop hook.
    STOP_HOOK_ACTIVE = "stopHookActive": Boolean, Metadata, [ASSISTANT_RESPONSE];
    /// Counts the stop hooks that ran.
    STOP_HOOK_COUNT = "stopHookCount": Integer(Items), Metadata, [TURN];
    /// Measures the time that the stop hooks took.
    STOP_HOOK_DURATION_MS = "stopHookDurationMs": Integer(Milliseconds), Metadata, [TURN];
    /// Counts the stop hooks that failed.
    STOP_HOOK_ERROR_COUNT = "stopHookErrorCount": Integer(Items), Metadata, [TURN];
    /// Marks a turn that a hook ended.
    PREVENTED_CONTINUATION = "preventedContinuation": Boolean, Metadata, [TURN];
    /// Counts the background tasks that still run.
    BACKGROUND_TASK_COUNT = "backgroundTaskCount": Integer(Items), Metadata, [ASSISTANT_RESPONSE, TURN];
    /// Lists the background tasks that still run.
    BACKGROUND_TASKS = "backgroundTasks": List, Metadata, [ASSISTANT_RESPONSE];
    /// Counts the schedules of the session.
    SESSION_CRON_COUNT = "sessionCronCount": Integer(Items), Metadata, [ASSISTANT_RESPONSE];
    /// Marks, with false, a response after which the subagent goes on.
    ENDS_AGENT = "endsAgent": Boolean, Metadata, [ASSISTANT_RESPONSE];
    /// Holds the details of the provider's error.
    ERROR_DETAILS = "errorDetails": Text, Actions, [ASSISTANT_RESPONSE];
    /// Names the phase that was interrupted: tool_use or response.
    INTERRUPTED_DURING = "interruptedDuring": String, Metadata, [TURN_INTERRUPTED];
    /// Names the response that was interrupted.
    INTERRUPTED_MESSAGE_ID = "interruptedMessageId": String, Metadata, [TURN_INTERRUPTED];
    /// Names what started the turn.
    TURN_TRIGGER = "turnTrigger": String, Metadata, [TURN];
    /// Names the turn of the parent thread.
    PARENT_TURN_ID = "parentTurnId": String, Metadata, [TURN];
    /// Names the turn of the root thread.
    ROOT_TURN_ID = "rootTurnId": String, Metadata, [TURN];
    /// Names the agent that started the turn.
    INITIATED_BY = "initiatedBy": String, Metadata, [TURN];
    /// Names the collaboration mode.
    COLLABORATION_MODE = "collaborationMode": String, Metadata, [TURN];
    /// Names the approval policy.
    APPROVAL_POLICY = "approvalPolicy": String, Metadata, [TURN, TASK];
    /// Names the reviewer of approvals.
    APPROVALS_REVIEWER = "approvalsReviewer": String, Metadata, [TURN];
    /// Names the sandbox policy.
    SANDBOX = "sandbox": String, Metadata, [TURN];
    /// Names the sandbox policy at the start of the session.
    SANDBOX_POLICY = "sandboxPolicy": String, Metadata, [TASK];
    /// Names the event by which the ledger ended the subagent; set by the ledger.
    ENDED_BY = "endedBy": String, Metadata, [ACTION_LOGGED];
}
