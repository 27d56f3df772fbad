//! Shell commands, monitors and background tasks.

use super::declare;

declare! { SHELL_ATTRIBUTES
    /// Holds the command line.
    COMMAND = "command": Text, Actions, [CALLS];
    /// Measures a command whose text is not kept.
    COMMAND_BYTES = "commandBytes": Integer(Bytes), Metadata, [CALLS];
    /// Names the program of a command whose text is not kept.
    PROGRAM = "program": String, Metadata, [CALLS, RULE_LOGGED, CONTEXT_SAVED];
    /// Holds the analysis of the command: structure, steps, effects and confidence.
    COMMAND_ANALYSIS = "commandAnalysis": Object, Actions, [CALLS];
    /// Names what a command that only looks around looks at, so that repeated probes are recognised.
    PROBE_KEY = "probeKey": String, Metadata, [CALLS];
    /// Lists the hashes of the commits that the command made, as git prints them.
    COMMIT_HASHES = "commitHashes": List, Metadata, [CALLS];
    /// Holds the folder that the command runs in.
    WORKDIR = "workdir": String, Metadata, [CALLS];
    /// Names the sandbox permissions that the command asks for.
    SANDBOX_PERMISSIONS = "sandboxPermissions": String, Metadata, [CALLS];
    /// Marks a command that asks to run outside the sandbox.
    SANDBOX_DISABLED = "sandboxDisabled": Boolean, Metadata, [CALLS];
    /// Marks a command that runs beside the turn.
    RUN_IN_BACKGROUND = "runInBackground": Boolean, Metadata, [CALLS];
    /// Names the background task of a command.
    BACKGROUND_TASK_ID = "backgroundTaskId": String, Metadata, [CALLS];
    /// Holds the last state of the background task.
    BACKGROUND_STATUS = "backgroundStatus": String, Metadata, [CALLS];
    /// Holds the time at which the background task ended.
    BACKGROUND_ENDED_AT = "backgroundEndedAt": String(Rfc3339), Metadata, [CALLS];
    /// Measures how long the background task ran.
    BACKGROUND_DURATION_MS = "backgroundDurationMs": Number(Milliseconds), Metadata, [CALLS];
    /// Names the type of the background task that was stopped.
    STOPPED_TASK_TYPE = "stoppedTaskType": String, Metadata, [CALLS];
    /// Holds the filter on the output of a background task.
    OUTPUT_FILTER = "outputFilter": Text, Actions, [CALLS];
    /// Marks a call that waits until the background task has ended.
    WAITS_FOR_END = "waitsForEnd": Boolean, Metadata, [CALLS];
    /// Marks a command that the user typed.
    USER_SHELL = "userShell": Boolean, Metadata, [CALLS];
    /// Holds the script of a monitor.
    MONITOR_SCRIPT = "monitorScript": Text, Actions, [CALLS];
    /// Holds the description of a monitor.
    MONITOR_DESCRIPTION = "monitorDescription": Text, Actions, [CALLS];
    /// Holds the filter of a monitor.
    MONITOR_FILTER = "monitorFilter": Text, Actions, [CALLS];
    /// Holds the address that a monitor watches.
    MONITOR_URL = "monitorUrl": String, Metadata, [CALLS];
}
