//! Models, requests to providers, tokens and cost.

use super::declare;

declare! { MODEL_ATTRIBUTES
    /// Names the model.
    MODEL = "model": String, Metadata, [EVENTS, TASK, TURN];
    /// Names the reasoning effort.
    EFFORT = "effort": Open, Metadata, [EVENTS, TASK, TURN];
    /// Names the speed tier of the response.
    SPEED = "speed": String, Metadata, [TOKEN_USAGE, MODEL_REQUEST];
    /// Names the service tier of the provider.
    SERVICE_TIER = "serviceTier": String, Metadata, [TOKEN_USAGE];
    /// Names the region that served the response.
    INFERENCE_GEO = "inferenceGeo": String, Metadata, [TOKEN_USAGE];
    /// Names the provider of the model.
    MODEL_PROVIDER = "modelProvider": String, Metadata, [TASK];
    /// Names the model by its id.
    MODEL_ID = "modelId": String, Metadata, [CONTEXT_SNAPSHOT, SESSION_STARTED, CONTEXT_SAVED];
    /// Names the model for people.
    MODEL_DISPLAY_NAME = "modelDisplayName": String, Metadata, [CONTEXT_SNAPSHOT];
    /// Names the model before the change.
    FROM_MODEL = "fromModel": String, Metadata, [MODEL_SWITCHED];
    /// Names the model after the change.
    TO_MODEL = "toModel": String, Metadata, [MODEL_SWITCHED];
    /// Names the model that was asked for.
    REQUESTED_MODEL = "requestedModel": String, Metadata, [MODEL_SWITCHED, TOKEN_USAGE, TASK];
    /// Names the cause of the change of model.
    SOURCE = "source": String, Metadata, [MODEL_SWITCHED];
    /// Marks a change of model that took place.
    SWITCHED = "switched": Boolean, Metadata, [MODEL_SWITCHED];
    /// Names the purpose of the request: compaction.
    PURPOSE = "purpose": String, Metadata, [CONTEXT_SAVED, TOKEN_USAGE];
    /// Names the kind of row that shows the change of model.
    SEEN_IN = "seenIn": String, Metadata, [MODEL_SWITCHED];
    /// Names the reason of the fallback to another model.
    FALLBACK_TRIGGER = "fallbackTrigger": String, Metadata, [MODEL_SWITCHED];
    /// Marks a prompt cache that is still warm.
    PROMPT_CACHE_WARM = "promptCacheWarm": Boolean, Metadata, [MODEL_SWITCHED];
    /// Holds the lifetime of the prompt cache.
    CACHE_TTL = "cacheTtl": String, Metadata, [MODEL_SWITCHED];
    /// Estimates the cost of writing the cache again.
    ESTIMATED_CACHE_WRITE_USD = "estimatedCacheWriteUsd": Number(UsDollars), Metadata,
        [MODEL_SWITCHED, SESSION_STARTED, CONTEXT_SAVED];
    /// Holds the prices of the models as the agent names them.
    PRICING = "pricing": Open, Metadata, [MODEL_SWITCHED];
    /// Holds the tokens of the response: inputTokens, outputTokens, cacheReadTokens, cacheCreationTokens and reasoningTokens.
    USAGE = "usage": Object, Metadata, [TOKEN_USAGE, MODEL_REQUEST, ACCOUNT];
    /// Names the source of the tokens: otlp, hook, record, response or difference.
    USAGE_SOURCE = "usageSource": String, Metadata, [TOKEN_USAGE, MODEL_REQUEST];
    /// Holds the tokens of the request as the Codex hook reports them.
    TOKEN_USAGE = "tokenUsage": Object, Metadata, [MODEL_REQUEST];
    /// Holds the tokens of a response that was cut off.
    PARTIAL_USAGE = "partialUsage": Object, Metadata, [TOKEN_USAGE];
    /// Marks a response that was cut off.
    PARTIAL = "partial": Boolean, Metadata, [TOKEN_USAGE];
    /// Counts the tokens written to the cache for five minutes.
    CACHE_CREATION_5M_TOKENS = "cacheCreation5mTokens": Integer(Tokens), Metadata, [TOKEN_USAGE];
    /// Counts the tokens written to the cache for one hour.
    CACHE_CREATION_1H_TOKENS = "cacheCreation1hTokens": Integer(Tokens), Metadata, [TOKEN_USAGE];
    /// Counts the searches that the provider ran for the response.
    WEB_SEARCH_REQUESTS = "webSearchRequests": Integer(Items), Metadata, [TOKEN_USAGE];
    /// Counts the pages that the provider fetched for the response.
    WEB_FETCH_REQUESTS = "webFetchRequests": Integer(Items), Metadata, [TOKEN_USAGE];
    /// Holds the cost by the agent's own account.
    CLIENT_COST_USD = "clientCostUsd": Number(UsDollars), Metadata, [TOKEN_USAGE, ACCOUNT];
    /// Names the session whose account the response is charged to.
    ACCOUNT_SESSION = "accountSession": String, Metadata, [TOKEN_USAGE];
    /// Marks a response to the file's own request; a copy of another session's has false.
    OWN_REQUEST = "ownRequest": Boolean, Metadata, [TOKEN_USAGE];
    /// Names the reason that the row is left out of sums: copy or record; set by the ledger.
    NOT_COUNTED = "notCounted": String, Metadata, [TOKEN_USAGE, MODEL_REQUEST];
    /// Names the row that the response is a copy of; set by the ledger.
    COPY_OF = "copyOf": String, Metadata, [TOKEN_USAGE];
    /// Marks a response that sums include; set by the ledger.
    COUNTED = "counted": Boolean, Metadata, [TOKEN_USAGE];
    /// Names the request to the provider.
    REQUEST_ID = "requestId": String, Metadata,
        [CALLS, MODEL_REQUEST, TOKEN_USAGE, ASSISTANT_RESPONSE, ASSISTANT_COMMENTARY, THOUGHT_LOGGED];
    /// Holds the phase of the request: before or after.
    REQUEST_PHASE = "requestPhase": String, Metadata, [MODEL_REQUEST];
    /// Names the response as Codex does.
    RESPONSE_ID = "responseId": String, Metadata, [TOKEN_USAGE, CONTEXT_SAVED];
    /// Names the response as Claude Code does.
    MESSAGE_ID = "messageId": String, Metadata,
        [TOKEN_USAGE, ASSISTANT_RESPONSE, ASSISTANT_COMMENTARY, THOUGHT_LOGGED];
    /// Holds the beginning of a hash of the request's system prompt and tools.
    REQUEST_PREFIX_HASH = "requestPrefixHash": String, Metadata, [TOKEN_USAGE];
    /// Counts the messages of the request.
    MESSAGE_COUNT = "messageCount": Integer(Items), Metadata, [TOKEN_USAGE];
    /// Counts the messages that the request repeats of the one before it, from the first on.
    REPEATED_MESSAGE_COUNT = "repeatedMessageCount": Integer(Items), Metadata, [TOKEN_USAGE];
    /// Holds the time at which the client sent the request.
    REQUESTED_AT = "requestedAt": Integer(EpochMilliseconds), Metadata, [TOKEN_USAGE];
    /// Holds the time at which the response's first block, a thinking block, was complete.
    THOUGHT_UNTIL = "thoughtUntil": Integer(EpochMilliseconds), Metadata, [TOKEN_USAGE];
    /// Names the part of the client that sent the request.
    QUERY_SOURCE = "querySource": String, Metadata, [TOKEN_USAGE, MODEL_REQUEST, ASSISTANT_RESPONSE];
    /// Measures the time to the first token.
    TTFT_MS = "ttftMs": Number(Milliseconds), Metadata, [MODEL_REQUEST, TOKEN_USAGE];
    /// Measures the time to the turn's first token.
    TIME_TO_FIRST_TOKEN_MS = "timeToFirstTokenMs": Integer(Milliseconds), Metadata, [TURN];
    /// Numbers the attempt; telemetry may send it as a string.
    ATTEMPT = "attempt": Open, Metadata, [MODEL_REQUEST];
    /// Numbers the attempt that follows.
    RETRY_ATTEMPT = "retryAttempt": Integer, Metadata, [MODEL_REQUEST];
    /// Measures the wait before the next attempt.
    RETRY_IN_MS = "retryInMs": Number(Milliseconds), Metadata, [MODEL_REQUEST];
    /// Limits the attempts.
    MAX_RETRIES = "maxRetries": Integer, Metadata, [MODEL_REQUEST];
    /// Holds the code of the connection's error.
    CONNECTION_ERROR = "connectionError": String, Metadata, [MODEL_REQUEST];
    /// Names the endpoint of the provider.
    ENDPOINT = "endpoint": String, Metadata, [MODEL_REQUEST];
    /// Names the skill that the response is charged to.
    ATTRIBUTION_SKILL = "attributionSkill": String, Metadata, [TOKEN_USAGE, MODEL_REQUEST];
    /// Names the reasoning behind the skill: turn; set by the ledger.
    ATTRIBUTION_RULE = "attributionRule": String, Metadata, [TOKEN_USAGE];
    /// Names the agent that the response is charged to.
    ATTRIBUTION_AGENT = "attributionAgent": String, Metadata, [TOKEN_USAGE, MODEL_REQUEST];
    /// Names the plugin that the response is charged to.
    ATTRIBUTION_PLUGIN = "attributionPlugin": String, Metadata, [TOKEN_USAGE];
    /// Names the MCP server that the response is charged to.
    ATTRIBUTION_MCP_SERVER = "attributionMcpServer": String, Metadata, [TOKEN_USAGE, MODEL_REQUEST];
    /// Names the MCP tool that the response is charged to.
    ATTRIBUTION_MCP_TOOL = "attributionMcpTool": String, Metadata, [TOKEN_USAGE, MODEL_REQUEST];
    /// Marks a response beside the main conversation.
    SIDECHAIN = "sidechain": Boolean, Metadata, [TOKEN_USAGE];
    /// Holds tokens and cost per model.
    MODELS = "models": Object, Metadata, [ACCOUNT];
    /// Measures the time spent in requests.
    API_DURATION_MS = "apiDurationMs": Number(Milliseconds), Metadata, [ACCOUNT];
    /// Measures the time spent in requests without repeated attempts.
    API_DURATION_WITHOUT_RETRIES_MS = "apiDurationWithoutRetriesMs": Number(Milliseconds), Metadata,
        [ACCOUNT];
    /// Measures the time spent in tools.
    TOOL_DURATION_MS = "toolDurationMs": Number(Milliseconds), Metadata, [ACCOUNT];
    /// Marks an account that contains a model without a known price.
    HAS_UNKNOWN_MODEL_COST = "hasUnknownModelCost": Boolean, Metadata, [ACCOUNT];
    /// Holds the time at which the account began.
    STARTED_AT = "startedAt": String(Rfc3339), Metadata, [ACCOUNT];
    /// Marks the account of the responses that a file copied from another session.
    COPIED = "copied": Boolean, Metadata, [ACCOUNT];
    /// Counts the copied responses.
    RESPONSES = "responses": Integer(Items), Metadata, [ACCOUNT];
    /// Names the last copied response.
    LAST_RESPONSE = "lastResponse": String, Metadata, [ACCOUNT];
    /// Holds the time of the last copied response.
    LAST_AT = "lastAt": Integer(EpochMilliseconds), Metadata, [ACCOUNT];
}
