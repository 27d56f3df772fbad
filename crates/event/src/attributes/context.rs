//! The context window, rate limits, compaction and what the context is loaded with.

use super::declare;

declare! { CONTEXT_ATTRIBUTES
    /// Holds the used share of the context window.
    CONTEXT_WINDOW_USED_PCT = "contextWindowUsedPct": Number(Percent), Metadata, [CONTEXT_SNAPSHOT];
    /// Holds the free share of the context window.
    CONTEXT_WINDOW_REMAINING_PCT = "contextWindowRemainingPct": Number(Percent), Metadata, [CONTEXT_SNAPSHOT];
    /// Counts the tokens in the context window.
    CONTEXT_WINDOW_TOTAL_TOKENS = "contextWindowTotalTokens": Integer(Tokens), Metadata, [CONTEXT_SNAPSHOT];
    /// Holds the size of the context window.
    CONTEXT_WINDOW_SIZE = "contextWindowSize": Integer(Tokens), Metadata, [CONTEXT_SNAPSHOT, TURN];
    /// Counts the latest request's input tokens.
    CONTEXT_WINDOW_INPUT_TOKENS = "contextWindowInputTokens": Integer(Tokens), Metadata, [CONTEXT_SNAPSHOT];
    /// Counts the latest request's output tokens.
    CONTEXT_WINDOW_OUTPUT_TOKENS = "contextWindowOutputTokens": Integer(Tokens), Metadata, [CONTEXT_SNAPSHOT];
    /// Counts the latest request's tokens written to the cache.
    CONTEXT_WINDOW_CACHE_CREATION_TOKENS = "contextWindowCacheCreationTokens": Integer(Tokens), Metadata,
        [CONTEXT_SNAPSHOT];
    /// Counts the latest request's tokens read from the cache.
    CONTEXT_WINDOW_CACHE_READ_TOKENS = "contextWindowCacheReadTokens": Integer(Tokens), Metadata,
        [CONTEXT_SNAPSHOT];
    /// Holds the used share of the five-hour limit.
    RATE_LIMIT_FIVE_HOUR_USED_PCT = "rateLimitFiveHourUsedPct": Number(Percent), Metadata, [CONTEXT_SNAPSHOT];
    /// Holds the time at which the five-hour limit is reset.
    RATE_LIMIT_FIVE_HOUR_RESETS_AT = "rateLimitFiveHourResetsAt": String(Rfc3339), Metadata,
        [CONTEXT_SNAPSHOT];
    /// Holds the used share of the seven-day limit.
    RATE_LIMIT_SEVEN_DAY_USED_PCT = "rateLimitSevenDayUsedPct": Number(Percent), Metadata, [CONTEXT_SNAPSHOT];
    /// Holds the time at which the seven-day limit is reset.
    RATE_LIMIT_SEVEN_DAY_RESETS_AT = "rateLimitSevenDayResetsAt": String(Rfc3339), Metadata,
        [CONTEXT_SNAPSHOT];
    /// Lists the limits with other windows: windowMinutes, usedPct, resetsAt.
    OTHER_RATE_LIMITS = "otherRateLimits": List, Metadata, [CONTEXT_SNAPSHOT];
    /// Names the limit that is used up.
    RATE_LIMIT_REACHED = "rateLimitReached": String, Metadata, [CONTEXT_SNAPSHOT];
    /// Names the plan of the account.
    PLAN_TYPE = "planType": String, Metadata, [CONTEXT_SNAPSHOT];
    /// Holds the cost of the session by the agent's own account.
    COST_TOTAL_USD = "costTotalUsd": Number(UsDollars), Metadata, [CONTEXT_SNAPSHOT];
    /// Holds the version of the client.
    SESSION_VERSION = "sessionVersion": String, Metadata, [CONTEXT_SNAPSHOT];
    /// Names what changed the context: the source of a session, a notification, a compaction and others.
    TRIGGER = "trigger": String, Metadata, [CALLS, SETUP_TRIGGERED, USER_MESSAGE];
    /// Holds the phase of the compaction: before or after.
    COMPACT_PHASE = "compactPhase": String, Metadata, [CONTEXT_SAVED];
    /// Measures the summary that the compaction made.
    COMPACT_SUMMARY_BYTES = "compactSummaryBytes": Integer(Bytes), Metadata, [CONTEXT_SAVED];
    /// Holds the user's instructions for the compaction.
    CUSTOM_INSTRUCTIONS = "customInstructions": Text, Actions, [CONTEXT_SAVED];
    /// Counts the tokens before the compaction.
    PRE_TOKENS = "preTokens": Integer(Tokens), Metadata, [CONTEXT_SAVED];
    /// Counts the tokens after the compaction.
    POST_TOKENS = "postTokens": Integer(Tokens), Metadata, [CONTEXT_SAVED];
    /// Counts the tokens that compactions have removed so far.
    CUMULATIVE_DROPPED_TOKENS = "cumulativeDroppedTokens": Integer(Tokens), Metadata, [CONTEXT_SAVED];
    /// Numbers the context window of the thread.
    WINDOW_NUMBER = "windowNumber": Integer, Metadata, [CONTEXT_SAVED];
    /// Measures the transcript at the beginning of the compaction.
    TRANSCRIPT_BYTES = "transcriptBytes": Integer(Bytes), Metadata, [CONTEXT_SAVED];
    /// Holds the SHA-256 of that transcript.
    TRANSCRIPT_SHA256 = "transcriptSha256": String, Metadata, [CONTEXT_SAVED];
    /// Measures the text whose content is not kept.
    BYTES = "bytes": Integer(Bytes), Metadata, [CONTEXT_SAVED];
    /// Numbers the row that the thread was taken back to.
    BASE_ORDINAL = "baseOrdinal": Integer, Metadata, [CONTEXT_SAVED];
    /// Measures the system prompt, on the first response to it.
    SYSTEM_BYTES = "systemBytes": Integer(Bytes), Metadata, [TOKEN_USAGE];
    /// Lists the tools that the model is offered, on the first response to them: server, tools and bytes.
    TOOL_DEFINITIONS = "toolDefinitions": List, Metadata, [TOKEN_USAGE];
    /// Lists what the client put into the context before the response: source, name or path, and bytes.
    CONTEXT_ADDITIONS = "contextAdditions": List, Metadata, [TOKEN_USAGE];
    /// Names the type of the instruction file.
    MEMORY_TYPE = "memoryType": String, Metadata, [INSTRUCTIONS_LOADED];
    /// Names the reason that the file was loaded.
    LOAD_REASON = "loadReason": String, Metadata, [INSTRUCTIONS_LOADED];
    /// Holds the patterns of paths that the instruction applies to.
    GLOBS = "globs": Open, Metadata, [INSTRUCTIONS_LOADED];
    /// Holds the path of the file that caused the load.
    TRIGGER_FILE_PATH = "triggerFilePath": String, Metadata, [INSTRUCTIONS_LOADED];
    /// Holds the path of the file that includes this one.
    PARENT_FILE_PATH = "parentFilePath": String, Metadata, [INSTRUCTIONS_LOADED];
    /// Names the settings that changed.
    CONFIG_SOURCE = "configSource": String, Metadata, [CONTEXT_SAVED];
    /// Holds the working directory before the change.
    OLD_CWD = "oldCwd": String, Metadata, [CONTEXT_SAVED];
    /// Holds the working directory after the change.
    NEW_CWD = "newCwd": String, Metadata, [CONTEXT_SAVED];
    /// Holds the directory that was added.
    DIRECTORY = "directory": String, Metadata, [CONTEXT_SAVED];
    /// Names the source of the added directory.
    DIRECTORY_SOURCE = "directorySource": String, Metadata, [CONTEXT_SAVED];
    /// Measures the time since the resumed session's last response.
    SECONDS_SINCE_LAST_RESPONSE = "secondsSinceLastResponse": Number(Seconds), Metadata,
        [SESSION_STARTED, CONTEXT_SAVED];
    /// Counts the tokens that the context holds.
    CONTEXT_TOKENS = "contextTokens": Integer(Tokens), Metadata,
        [MODEL_SWITCHED, SESSION_STARTED, CONTEXT_SAVED];
    /// Marks a prompt cache that has probably expired.
    PROMPT_CACHE_LIKELY_EXPIRED = "promptCacheLikelyExpired": Boolean, Metadata,
        [SESSION_STARTED, CONTEXT_SAVED];
}
