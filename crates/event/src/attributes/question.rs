//! Questions to the user, forms of MCP servers and notifications.

use super::declare;

declare! { QUESTION_ATTRIBUTES
    /// Lists the questions with headers and options.
    QUESTIONS = "questions": List, Metadata, [QUESTION_LOGGED];
    /// Counts the questions.
    QUESTION_COUNT = "questionCount": Integer(Items), Metadata, [QUESTION_LOGGED];
    /// Counts the answers.
    ANSWER_COUNT = "answerCount": Integer(Items), Metadata, [QUESTION_LOGGED];
    /// Lists the options where there is one question.
    OPTIONS = "options": List, Metadata, [QUESTION_LOGGED];
    /// Holds the phase: asked, answered, declined or cancelled.
    QUESTION_PHASE = "questionPhase": String, Metadata, [QUESTION_LOGGED];
    /// Names the MCP server that asks.
    MCP_SERVER_NAME = "mcpServerName": String, Metadata, [QUESTION_LOGGED];
    /// Names the form of the MCP server.
    ELICITATION_ID = "elicitationId": String, Metadata, [QUESTION_LOGGED];
    /// Marks the event that brings the answer to a form.
    ELICITATION_RESULT = "elicitationResult": Boolean, Metadata, [QUESTION_LOGGED];
    /// Lists the names of the form's fields.
    REQUESTED_FIELDS = "requestedFields": List, Metadata, [QUESTION_LOGGED];
    /// Names the mode of the form: form or url.
    MODE = "mode": String, Metadata, [QUESTION_LOGGED];
    /// Holds the user's action: accept, decline or cancel.
    ACTION = "action": String, Metadata, [QUESTION_LOGGED];
    /// Holds the address that the user is sent to.
    URL = "url": Text, Actions, [QUESTION_LOGGED];
    /// Holds the text of a form or notification.
    MESSAGE = "message": Text, Actions, [EVENTS];
    /// Names the type of the notification.
    NOTIFICATION_TYPE = "notificationType": String, Metadata, [CONTEXT_SAVED];
    /// Names the background task that a notification prompt reports.
    NOTIFICATION_TASK_ID = "notificationTaskId": String, Metadata, [USER_MESSAGE];
    /// Names the call that started the background task.
    NOTIFICATION_TOOL_USE_ID = "notificationToolUseId": String, Metadata, [USER_MESSAGE];
    /// Holds the state that the notification prompt reports.
    NOTIFICATION_STATUS = "notificationStatus": String, Metadata, [USER_MESSAGE];
    /// Holds the summary that the notification prompt reports.
    NOTIFICATION_SUMMARY = "notificationSummary": String, Actions, [USER_MESSAGE];
    /// Measures the duration that the notification prompt reports.
    NOTIFICATION_DURATION_MS = "notificationDurationMs": Number(Milliseconds), Metadata, [USER_MESSAGE];
    /// Counts the tool calls that the notification prompt reports.
    NOTIFICATION_TOOL_USES = "notificationToolUses": Integer(Items), Metadata, [USER_MESSAGE];
}
