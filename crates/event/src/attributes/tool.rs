//! Every tool call, whatever the tool: its meaning, its input, its result and its times.

use super::declare;
use crate::semantics::{EntityType, Importance, SubtypeGroup, SubtypeKey, ToolFamily};
use crate::words::ErrorClass;

declare! { TOOL_ATTRIBUTES
    /// Names the action of the call, one of the subtypes below.
    SUBTYPE_KEY = "subtypeKey": String<SubtypeKey>, Metadata, [CALLS];
    /// Names the action of the call for people.
    SUBTYPE_LABEL = "subtypeLabel": String, Metadata, [CALLS];
    /// Names the group of the subtype.
    SUBTYPE_GROUP = "subtypeGroup": String<SubtypeGroup>, Metadata, [CALLS];
    /// Names the family of the tool.
    TOOL_FAMILY = "toolFamily": String<ToolFamily>, Metadata, [CALLS];
    /// Names the verb of the call: read, search, modify, delete, execute, delegate and others.
    OPERATION = "operation": String, Metadata, [CALLS];
    /// Names the type of the thing that the call is about.
    ENTITY_TYPE = "entityType": String<EntityType>, Metadata, [CALLS];
    /// Names the thing that the call is about.
    ENTITY_NAME = "entityName": String, Metadata, [CALLS];
    /// Names the tool as the agent spells it.
    SOURCE_TOOL = "sourceTool": String, Metadata, [CALLS];
    /// Rates the event: critical, normal or minor.
    IMPORTANCE = "importance": String<Importance>, Metadata, [CALLS, RULE_LOGGED, PERMISSION_REQUEST];
    /// Holds the input of the call: names, paths and sizes, from level actions on also its texts, masked.
    TOOL_INPUT = "toolInput": Open, Metadata, [CALLS, RULE_LOGGED];
    /// Names the tool that the event is about where the event is not the call itself.
    TOOL_NAME = "toolName": String, Metadata, [EVENTS];
    /// Names the call that the event belongs to, by the agent's id.
    TOOL_USE_ID = "toolUseId": String, Metadata, [EVENTS];
    /// Lists the ids of the calls of one batch.
    TOOL_USE_IDS = "toolUseIds": List, Metadata, [CONTEXT_SAVED];
    /// Names the batch of calls, by the id of its first call.
    BATCH_ID = "batchId": String, Metadata, [CALLS];
    /// Holds a hash of tool and input by which repeated calls are recognised.
    CALL_SIGNATURE = "callSignature": String, Metadata, [CALLS, PERMISSION_REQUEST, RULE_LOGGED];
    /// Names the row of the call that a permission was asked for; set by the ledger.
    CALL_ID = "callId": String, Metadata, [PERMISSION_REQUEST, RULE_LOGGED];
    /// Holds the description that the model gave of the call or of the work item.
    DESCRIPTION = "description": Text, Actions, [CALLS];
    /// Limits the time that the call may take or wait.
    TIMEOUT_MS = "timeoutMs": Integer(Milliseconds), Metadata, [CALLS];
    /// Measures how long it ran, by the agent's own account where it gives one.
    DURATION_MS = "durationMs": Number(Milliseconds), Metadata,
        [CALLS, SESSION_ENDED, CONTEXT_SAVED, MODEL_REQUEST, TOKEN_USAGE, ACTION_LOGGED, RULE_LOGGED,
         ASSISTANT_RESPONSE, UNRECOGNISED, TURN, TASK, ACCOUNT];
    /// Names the source of the duration: agent or tracer.
    DURATION_SOURCE = "durationSource": String, Metadata, [CALLS, MODEL_REQUEST, TURN];
    /// Measures how long the call waited for a permission or an answer.
    PERMISSION_WAIT_MS = "permissionWaitMs": Integer(Milliseconds), Metadata, [CALLS];
    /// Measures how long the tool itself ran, by the agent's telemetry.
    EXECUTION_MS = "executionMs": Number(Milliseconds), Metadata, [CALLS];
    /// Measures the whole span of the call, by the agent's telemetry.
    SPAN_MS = "spanMs": Number(Milliseconds), Metadata, [CALLS];
    /// Names the event that ended a call or turn for which no end arrived; set by the ledger.
    CLOSED_BY = "closedBy": String, Metadata, [CALLS, TURN];
    /// Holds the state that the tool, the work item or the request reports.
    STATUS = "status": String, Metadata, [CALLS, MODEL_REQUEST];
    /// Marks a result that reports its own success.
    SUCCESS = "success": Boolean, Metadata, [CALLS];
    /// Holds the time at which the model had written the call.
    WRITTEN_AT = "writtenAt": Integer(EpochMilliseconds), Metadata, [CALLS];
    /// Marks a call that returned before its work was done.
    IS_ASYNC = "isAsync": Boolean, Metadata, [CALLS];
    /// Marks a result that is an error.
    IS_ERROR = "isError": Boolean, Metadata, [CALLS];
    /// Marks a failure that is an interruption by the user.
    IS_INTERRUPT = "isInterrupt": Boolean, Metadata, [CALLS];
    /// Marks a result that says it was interrupted.
    INTERRUPTED = "interrupted": Boolean, Metadata, [CALLS];
    /// Marks a wait that ran into its limit.
    TIMED_OUT = "timedOut": Boolean, Metadata, [CALLS];
    /// Holds the exit code of the command.
    EXIT_CODE = "exitCode": Integer, Metadata, [CALLS, RULE_LOGGED, CONTEXT_SAVED];
    /// Names the class of the failure.
    ERROR_CLASS = "errorClass": String<ErrorClass>, Metadata,
        [CALLS, ACTION_LOGGED, ASSISTANT_RESPONSE, RULE_LOGGED, PERMISSION_REQUEST];
    /// Holds the kind of error of a response, or the masked first line of a failed tool's message.
    ERROR = "error": Open, Metadata, [EVENTS, TURN];
    /// Names the error as the agent's telemetry does.
    ERROR_TYPE = "errorType": String, Metadata, [CALLS, MODEL_REQUEST];
    /// Holds the code of an error of an MCP server's connection.
    ERROR_CODE = "errorCode": String, Metadata, [CONTEXT_SAVED];
    /// Holds the HTTP status of a fetched page or of a request; telemetry may send it as a string.
    HTTP_STATUS = "httpStatus": Open, Metadata, [CALLS, MODEL_REQUEST, ASSISTANT_RESPONSE, TOKEN_USAGE];
    /// Measures the input of the call.
    INPUT_BYTES = "inputBytes": Integer(Bytes), Metadata, [CALLS];
    /// Measures the text of the result.
    OUTPUT_BYTES = "outputBytes": Integer(Bytes), Metadata, [CALLS];
    /// Holds the first 2 KB of the result, masked.
    OUTPUT_HEAD = "outputHead": String, Full, [CALLS];
    /// Holds the last 2 KB of the result, masked.
    OUTPUT_TAIL = "outputTail": String, Full, [CALLS];
    /// Measures a row of the transcript that was too long to be read.
    ROW_BYTES = "rowBytes": Integer(Bytes), Metadata, [CALLS];
    /// Marks a result that the tool cut off.
    RESULT_TRUNCATED = "resultTruncated": Boolean, Metadata, [CALLS];
    /// Names the thing that the result created.
    RESULT_ID = "resultId": String, Metadata, [CALLS];
    /// Names the background task or work item that the result created.
    RESULT_TASK_ID = "resultTaskId": String, Metadata, [CALLS];
    /// Counts the files in the result.
    RESULT_FILES = "resultFiles": Integer(Items), Metadata, [CALLS];
    /// Counts the matches in the result.
    RESULT_MATCHES = "resultMatches": Integer(Items), Metadata, [CALLS];
    /// Counts the lines in the result.
    RESULT_LINES = "resultLines": Integer(Lines), Metadata, [CALLS];
    /// Numbers the first line of the result.
    RESULT_START_LINE = "resultStartLine": Integer(LineNumber), Metadata, [CALLS];
    /// Marks a tool that its server declares to change nothing.
    READ_ONLY_HINT = "readOnlyHint": Boolean, Metadata, [CALLS];
    /// Lists the tools that a program of the model calls.
    CALLED_TOOLS = "calledTools": List, Metadata, [CALLS];
    /// Names the process of the command as Codex does.
    PROCESS_ID = "processId": String, Metadata, [CALLS];
    /// Names the action on an artifact.
    ARTIFACT_ACTION = "artifactAction": String, Metadata, [CALLS];
    /// Holds the title of an artifact.
    ARTIFACT_TITLE = "artifactTitle": Text, Actions, [CALLS];
    /// Names the method called on a project.
    PROJECT_METHOD = "projectMethod": String, Metadata, [CALLS];
    /// Names the operation on a design.
    DESIGN_OPERATION = "designOperation": String, Metadata, [CALLS];
    /// Names the type of the feedback.
    FEEDBACK_TYPE = "feedbackType": String, Metadata, [CALLS];
    /// Holds the payload of an event that no reader knows.
    PAYLOAD = "payload": Open, Metadata, [UNRECOGNISED];
    /// Names the source and the key under which equal reports of one event are merged.
    CROSS_CHECK = "crossCheck": Object, Metadata, [EVENTS];
    /// Names a posted event whose kind is not known.
    EVENT_NAME = "eventName": String, Metadata, [UNRECOGNISED];
}
