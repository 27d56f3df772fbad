//! Identity, origin and process of a session.

use super::declare;
use crate::words::CompletionReason;

declare! { SESSION_ATTRIBUTES
    /// Holds the title; below level actions only one that is made of names.
    TITLE = "title": Text, Metadata, [CONTEXT_SAVED, TASK];
    /// Measures a title whose text is not kept.
    TITLE_BYTES = "titleBytes": Integer(Bytes), Metadata, [TASK];
    /// Holds the title that the user gave the session.
    CUSTOM_TITLE = "customTitle": Text, Actions, [TASK];
    /// Holds the title that the client made.
    AI_TITLE = "aiTitle": Text, Actions, [TASK];
    /// Holds the name of the agent that the session runs as.
    SESSION_NAME = "sessionName": Text, Actions, [TASK];
    /// Holds the title of the client's summary.
    SUMMARY_TITLE = "summaryTitle": Text, Actions, [TASK];
    /// Names the source of the title.
    TITLE_SOURCE = "titleSource": String, Metadata, [TASK];
    /// Holds the title that the client gives the session.
    SESSION_TITLE = "sessionTitle": Text, Actions, [SESSION_STARTED, CONTEXT_SAVED, USER_MESSAGE];
    /// Names the start of the session: startup, resume, clear, compact or fork.
    SESSION_SOURCE = "sessionSource": String, Metadata, [SESSION_STARTED, TASK];
    /// Names the reason of the end.
    COMPLETION_REASON = "completionReason": String<CompletionReason>, Metadata, [SESSION_ENDED];
    /// Marks, with false, an end of the session after which the task goes on.
    COMPLETE_TASK = "completeTask": Boolean, Metadata, [SESSION_ENDED];
    /// Names the session that started this one.
    PARENT_SESSION = "parentSession": String, Metadata, [TASK];
    /// Rates the link to the parent.
    PARENT_CERTAINTY = "parentCertainty": String, Metadata, [TASK];
    /// Names the session of the main agent.
    ROOT_SESSION = "rootSession": String, Metadata, [TASK];
    /// Names the session that this one continues.
    CONTINUES = "continues": String, Metadata, [TASK];
    /// Names the session that this one was forked from.
    FORKED_FROM = "forkedFrom": String, Metadata, [TASK];
    /// Names the event that the sender gives as parent.
    PARENT_EVENT_ID = "parentEventId": String, Metadata, [EVENTS];
    /// Holds the working directory.
    CWD = "cwd": String, Metadata, [EVENTS, TASK, TURN];
    /// Holds the project that the ledger files the session under.
    PROJECT = "project": String, Metadata, [TASK];
    /// Holds the folder of the project.
    PROJECT_DIR = "projectDir": String, Metadata, [TASK];
    /// Names the branch.
    GIT_BRANCH = "gitBranch": String, Metadata, [TASK];
    /// Names the commit.
    GIT_COMMIT = "gitCommit": String, Metadata, [TASK];
    /// Holds the address of the pull request.
    PULL_REQUEST_URL = "pullRequestUrl": String, Metadata, [TASK];
    /// Names the repository of the pull request.
    PULL_REQUEST_REPOSITORY = "pullRequestRepository": String, Metadata, [TASK];
    /// Numbers the pull request.
    PULL_REQUEST_NUMBER = "pullRequestNumber": Integer, Metadata, [TASK];
    /// Holds the user's tag of the session.
    TAG = "tag": String, Metadata, [TASK];
    /// Holds the path of the transcript.
    TRANSCRIPT_PATH = "transcriptPath": String, Metadata, [TASK];
    /// Holds the version of the client.
    CLIENT_VERSION = "clientVersion": String, Metadata, [TASK];
    /// Names the client program of Codex.
    CLIENT_SOURCE = "clientSource": String, Metadata, [TASK];
    /// Names the way in which the client was started.
    ENTRYPOINT = "entrypoint": String, Metadata, [SESSION_STARTED, TASK];
    /// Names the mode in which Codex keeps the history.
    HISTORY_MODE = "historyMode": String, Metadata, [TASK];
    /// Names the origin of the thread.
    THREAD_SOURCE = "threadSource": String, Metadata, [TASK];
    /// Marks a session with a user in front of it.
    ATTENDED = "attended": Boolean, Metadata, [TASK];
    /// Holds the process id of the client.
    PID = "pid": Integer, Metadata, [TASK];
    /// Holds the start time of the process in the kernel's unit.
    PID_START = "pidStart": Integer, Metadata, [TASK];
    /// Holds the namespace of the process id.
    PID_NAMESPACE = "pidNamespace": Integer, Metadata, [TASK];
    /// Holds the time at which the process was found to be gone.
    PROCESS_GONE_AT = "processGoneAt": Integer(EpochMilliseconds), Metadata, [TASK];
    /// Holds the id of the process that is gone.
    GONE_PID = "gonePid": Integer, Metadata, [TASK];
    /// Holds the start time of the process that is gone.
    GONE_PID_START = "gonePidStart": Integer, Metadata, [TASK];
    /// Names the channel and the field that the event was read from.
    EVIDENCE_REASON = "evidenceReason": String, Metadata, [EVENTS];
    /// Holds the length of a posted body whose text is not kept.
    BODY = "body": Object, Metadata, [EVENTS];
}
