CREATE TABLE IF NOT EXISTS schema_step
(
    `version` UInt32 COMMENT 'the version that the step led to',
    `at` DateTime DEFAULT now() COMMENT 'when'
)
ENGINE = MergeTree
ORDER BY version;

CREATE TABLE IF NOT EXISTS closed_day
(
    `until` Int64 COMMENT 'days before this one are closed; in milliseconds since 1970',
    `at` DateTime DEFAULT now() COMMENT 'when'
)
ENGINE = MergeTree
ORDER BY until;

CREATE TABLE IF NOT EXISTS `task`
(
    `owner` String COMMENT 'whose it is: the name that the sender\'s token has' CODEC(ZSTD(3)),
    `task` String COMMENT 'the id of the task' CODEC(ZSTD(3)),
    `version` UInt64 COMMENT 'where in its ledger\'s order of delivery it last changed' CODEC(T64, ZSTD(1)),
    `gone` UInt8 COMMENT '1: deleted',
    `agent` LowCardinality(String) COMMENT 'the product',
    `session` String COMMENT 'the agent\'s id of the session' CODEC(ZSTD(3)),
    `background` UInt8 COMMENT '1: a subagent',
    `parent` String COMMENT 'the task that started it; empty: none' CODEC(ZSTD(3)),
    `parent_certainty` LowCardinality(String) COMMENT 'how sure the parent is; empty: nobody said',
    `parent_tool_use_id` String COMMENT 'the call that started it; empty: unknown' CODEC(ZSTD(3)),
    `continues` String COMMENT 'the task whose context was cleared to begin this one; empty: none' CODEC(ZSTD(3)),
    `forked` String COMMENT 'the task whose history this one began with; empty: none' CODEC(ZSTD(3)),
    `title` String COMMENT 'what a person reads' CODEC(ZSTD(3)),
    `terms` Array(String) COMMENT 'search terms of title and session' CODEC(ZSTD(3)),
    `agent_type` LowCardinality(String) COMMENT 'the type of its agent, `main` for the main one',
    `agent_id` String COMMENT 'the agent\'s id of the subagent; empty: none' CODEC(ZSTD(3)),
    `cwd` String COMMENT 'where it works' CODEC(ZSTD(3)),
    `project` LowCardinality(String) COMMENT 'the project',
    `model` LowCardinality(String) COMMENT 'the model that answered last; empty: unknown',
    `machine` LowCardinality(String) COMMENT 'the machine it ran on',
    `git_branch` String COMMENT 'the branch it works on; empty: unknown' CODEC(ZSTD(3)),
    `client_version` LowCardinality(String) COMMENT 'the version of the client; empty: unknown',
    `started` Int64 COMMENT 'when it was first seen, in milliseconds since 1970' CODEC(Delta, ZSTD(1)),
    `last` Int64 COMMENT 'when it was last heard of' CODEC(Delta, ZSTD(1)),
    `ended` Nullable(Int64) COMMENT 'when it ended' CODEC(Delta, ZSTD(1)),
    `status` LowCardinality(String) COMMENT 'where it stands by what was told',
    `waiting` LowCardinality(String) COMMENT 'what it waits for; empty: nothing',
    `waiting_since` Nullable(Int64) COMMENT 'since when' CODEC(Delta, ZSTD(1)),
    `waiting_fact` Nullable(Int64) COMMENT 'the number of the fact that asks' CODEC(ZSTD(1)),
    `current` Nullable(String) COMMENT 'what it did last' CODEC(ZSTD(3)),
    `context_pct` Nullable(Float64) COMMENT 'how full its context is, in percent' CODEC(ZSTD(1)),
    `events` Int64 COMMENT 'rows of its timeline' CODEC(T64, ZSTD(1)),
    `calls` Int64 COMMENT 'tool calls' CODEC(T64, ZSTD(1)),
    `failures` Int64 COMMENT 'tool calls that failed' CODEC(T64, ZSTD(1)),
    `turns` Int64 COMMENT 'turns' CODEC(T64, ZSTD(1)),
    `wait_ms` Int64 COMMENT 'time in which people were waited for' CODEC(T64, ZSTD(1)),
    `input` Int64 COMMENT 'input tokens' CODEC(T64, ZSTD(1)),
    `output` Int64 COMMENT 'output tokens' CODEC(T64, ZSTD(1)),
    `cache_read` Int64 COMMENT 'tokens read from caches' CODEC(T64, ZSTD(1)),
    `cache_write` Int64 COMMENT 'tokens written to caches' CODEC(T64, ZSTD(1)),
    `reasoning` Int64 COMMENT 'reasoning tokens, inside the output tokens' CODEC(T64, ZSTD(1)),
    `cost` Int64 COMMENT 'pico-dollars' CODEC(T64, ZSTD(1)),
    `responses` Int64 COMMENT 'responses of providers' CODEC(T64, ZSTD(1)),
    `unpriced` Int64 COMMENT 'responses without a price' CODEC(T64, ZSTD(1)),
    `copies` Int64 COMMENT 'responses that count elsewhere' CODEC(T64, ZSTD(1)),
    `client_cost` Nullable(Int64) COMMENT 'what the client says that it cost, in pico-dollars' CODEC(T64, ZSTD(1)),
    `residual` String COMMENT 'what only the client\'s account knows, as JSON; empty: nothing' CODEC(ZSTD(3)),
    INDEX by_task task TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX by_last last TYPE minmax GRANULARITY 1,
    INDEX by_parent parent TYPE bloom_filter(0.0001) GRANULARITY 1,
    INDEX by_terms terms TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version, gone)
ORDER BY (owner, task)
SETTINGS index_granularity = 256
COMMENT 'tasks as the machines that ran them derived them';

CREATE TABLE IF NOT EXISTS `fact`
(
    `owner` String COMMENT 'whose it is: the name that the sender\'s token has' CODEC(ZSTD(3)),
    `task` String COMMENT 'the id of its task' CODEC(ZSTD(3)),
    `fact` Int64 COMMENT 'its number within the task' CODEC(ZSTD(1)),
    `version` UInt64 COMMENT 'where in its ledger\'s order of delivery it last changed' CODEC(T64, ZSTD(1)),
    `gone` UInt8 COMMENT '1: deleted, or part of another fact',
    `arrived` Int64 DEFAULT toUnixTimestamp64Milli(now64(3)) COMMENT 'when it arrived here: what the stream goes by, because every sender counts its own versions' CODEC(Delta, ZSTD(1)),
    `kind` LowCardinality(String) COMMENT 'what it is; empty: a turn',
    `list` UInt8 COMMENT 'the list it stands in',
    `lane` LowCardinality(String) COMMENT 'where it is shown',
    `occurred` Int64 COMMENT 'when it began, in milliseconds since 1970' CODEC(Delta, ZSTD(1)),
    `ord` Int64 COMMENT 'breaks ties between equal times' CODEC(T64, ZSTD(1)),
    `ended` Nullable(Int64) COMMENT 'when it ended' CODEC(Delta, ZSTD(1)),
    `state` LowCardinality(String) COMMENT 'where a call stands; empty: no call',
    `open` UInt8 COMMENT '1: nobody said how this call ended',
    `tool` LowCardinality(Nullable(String)) COMMENT 'the tool',
    `turn` Nullable(Int64) COMMENT 'the number of the turn\'s fact' CODEC(ZSTD(1)),
    `duration` Nullable(Int64) COMMENT 'how long it took, in milliseconds' CODEC(T64, ZSTD(1)),
    `bucket` Nullable(Int16) COMMENT 'the logarithmic bucket of a call\'s duration' CODEC(T64, ZSTD(1)),
    `error_class` LowCardinality(String) COMMENT 'the class of its error; empty: none',
    `signature` Nullable(Int64) COMMENT 'the same for calls with the same input' CODEC(ZSTD(1)),
    `certainty` LowCardinality(String) COMMENT 'how sure it is',
    `channels` UInt8 COMMENT 'every channel that told of it, as bits',
    `agent_type` LowCardinality(Nullable(String)) COMMENT 'the type of the agent that acted, if it is not the task\'s',
    `model` LowCardinality(String) COMMENT 'the model of a response; empty: no response, or one that counts nowhere',
    `copied` UInt8 COMMENT '1: a response that counts elsewhere',
    `is_call` UInt8 COMMENT '1: a tool call',
    `failed` UInt8 COMMENT '1: a tool call that failed or was denied',
    `input` Int64 COMMENT 'input tokens of a response that counts here' CODEC(T64, ZSTD(1)),
    `output` Int64 COMMENT 'output tokens' CODEC(T64, ZSTD(1)),
    `cache_read` Int64 COMMENT 'tokens read from caches' CODEC(T64, ZSTD(1)),
    `cache_write` Int64 COMMENT 'tokens written to caches' CODEC(T64, ZSTD(1)),
    `reasoning` Int64 COMMENT 'reasoning tokens' CODEC(T64, ZSTD(1)),
    `cost` Int64 COMMENT 'pico-dollars' CODEC(T64, ZSTD(1)),
    `responses` Int64 COMMENT '1: a response that counts here' CODEC(T64, ZSTD(1)),
    `unpriced` Int64 COMMENT '1: a response without a price' CODEC(T64, ZSTD(1)),
    `sums.dim` Array(UInt8) COMMENT 'what it counts into: tools, models, failures, files, …' CODEC(ZSTD(1)),
    `sums.key` Array(String) COMMENT 'the key there: the tool, the model, the path, …' CODEC(ZSTD(3)),
    `sums.n` Array(Int64) COMMENT 'how many it adds there' CODEC(T64, ZSTD(1)),
    `sums.failures` Array(Int64) COMMENT 'how many failures; for files: changes' CODEC(T64, ZSTD(1)),
    `sums.ms` Array(Int64) COMMENT 'time in tools' CODEC(T64, ZSTD(1)),
    `sums.wait_ms` Array(Int64) COMMENT 'time in which people were waited for' CODEC(T64, ZSTD(1)),
    `sums.spends` Array(UInt8) COMMENT '1: its tokens and cost count there' CODEC(ZSTD(1)),
    `terms` Array(String) COMMENT 'search terms, and a mark of the tool' CODEC(ZSTD(3)),
    `data` String COMMENT 'what is only shown, as JSON' CODEC(ZSTD(3)),
    `derived` String COMMENT 'what follows from other facts, as JSON; empty: nothing' CODEC(ZSTD(3)),
    INDEX by_occurred occurred TYPE minmax GRANULARITY 1,
    INDEX by_arrived arrived TYPE minmax GRANULARITY 1,
    INDEX by_terms terms TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_list list TYPE set(32) GRANULARITY 1,
    INDEX by_beginnings arrayMap(term -> substring(term, 1, 5), terms) TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version, gone)
ORDER BY (owner, task, fact)
SETTINGS index_granularity = 1024
COMMENT 'events and turns as the machines that saw them derived them';

CREATE TABLE IF NOT EXISTS `task_day`
(
    `owner` String COMMENT 'whose it is' CODEC(ZSTD(3)),
    `day` Int64 COMMENT 'the beginning of the UTC day, in milliseconds since 1970' CODEC(Delta, ZSTD(1)),
    `task` String COMMENT 'the id of the task' CODEC(ZSTD(3)),
    `version` UInt64 COMMENT 'always the same: there is nothing to replace' CODEC(T64, ZSTD(1)),
    `gone` UInt8 COMMENT 'always 0'
)
ENGINE = ReplacingMergeTree(version, gone)
ORDER BY (owner, day, task)
COMMENT 'the tasks that have facts in a day, in any of their versions';

CREATE TABLE IF NOT EXISTS `day_sum`
(
    `owner` String COMMENT 'whose it is' CODEC(ZSTD(3)),
    `day` Int64 COMMENT 'the beginning of the UTC day, in milliseconds since 1970' CODEC(Delta, ZSTD(1)),
    `dim` UInt8 COMMENT 'what is counted: tools, models, failures, files, …; 100: durations of calls',
    `level` UInt8 COMMENT '0: a quarter of an hour, 1: the day',
    `at` Int64 COMMENT 'the beginning of the quarter-hour or the day' CODEC(Delta, ZSTD(1)),
    `project` LowCardinality(String) COMMENT 'the project of the tasks',
    `agent` LowCardinality(String) COMMENT 'their product',
    `agent_type` LowCardinality(String) COMMENT 'the type of their agents',
    `key` String COMMENT 'the key: the tool, the model, the path, …' CODEC(ZSTD(3)),
    `machine` LowCardinality(String) COMMENT 'the machine they ran on',
    `version` UInt64 COMMENT 'when it was made, in milliseconds since 1970' CODEC(T64, ZSTD(1)),
    `gone` UInt8 COMMENT '1: nothing is left of it',
    `n` Int64 COMMENT 'how many' CODEC(T64, ZSTD(1)),
    `failures` Int64 COMMENT 'how many failures; for files: changes' CODEC(T64, ZSTD(1)),
    `ms` Int64 COMMENT 'time in tools' CODEC(T64, ZSTD(1)),
    `wait_ms` Int64 COMMENT 'time in which people were waited for' CODEC(T64, ZSTD(1)),
    `input` Int64 COMMENT 'input tokens' CODEC(T64, ZSTD(1)),
    `output` Int64 COMMENT 'output tokens' CODEC(T64, ZSTD(1)),
    `cache_read` Int64 COMMENT 'tokens read from caches' CODEC(T64, ZSTD(1)),
    `cache_write` Int64 COMMENT 'tokens written to caches' CODEC(T64, ZSTD(1)),
    `reasoning` Int64 COMMENT 'reasoning tokens' CODEC(T64, ZSTD(1)),
    `cost` Int64 COMMENT 'pico-dollars' CODEC(T64, ZSTD(1)),
    `unpriced` Int64 COMMENT 'responses without a price' CODEC(T64, ZSTD(1)),
    `last` Int64 COMMENT 'when the last of them began' CODEC(Delta, ZSTD(1)),
    `buckets` Array(Int64) COMMENT 'durations: the buckets that have calls' CODEC(T64, ZSTD(1)),
    `calls` Array(UInt64) COMMENT 'durations: how many calls are in each' CODEC(T64, ZSTD(1))
)
ENGINE = ReplacingMergeTree(version, gone)
ORDER BY (owner, dim, level, day, at, project, agent, agent_type, key, machine)
COMMENT 'sums of days that are closed, made of the newest version of every fact';

CREATE TABLE IF NOT EXISTS `day_mark`
(
    `owner` String COMMENT 'whose day it is' CODEC(ZSTD(3)),
    `day` Int64 COMMENT 'the beginning of the UTC day, in milliseconds since 1970' CODEC(Delta, ZSTD(1)),
    `version` UInt64 COMMENT 'when it was marked, in half milliseconds since 1970' CODEC(T64, ZSTD(1)),
    `gone` UInt8 COMMENT '1: its sums were made since'
)
ENGINE = ReplacingMergeTree(version, gone)
ORDER BY (owner, day)
COMMENT 'days whose sums are to be made anew';

CREATE TABLE IF NOT EXISTS `token`
(
    `owner` String COMMENT 'whose it is: what it ships stands under this name' CODEC(ZSTD(3)),
    `id` String COMMENT 'the part of the token that may be shown' CODEC(ZSTD(3)),
    `version` UInt64 COMMENT 'when it was last changed, in milliseconds since 1970' CODEC(T64, ZSTD(1)),
    `gone` UInt8 COMMENT '1: revoked',
    `scope` LowCardinality(String) COMMENT 'what it allows: ingest, read or admin',
    `hash` String COMMENT 'the SHA-256 of the secret, as hexadecimal digits' CODEC(ZSTD(3)),
    `created` Int64 COMMENT 'when it was made, in milliseconds since 1970' CODEC(Delta, ZSTD(1)),
    `expires` Nullable(Int64) COMMENT 'when it ends; none: never' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(version, gone)
ORDER BY (owner, id)
COMMENT 'tokens of people and machines; the secrets themselves are nowhere';

CREATE TABLE IF NOT EXISTS `visit`
(
    `owner` String COMMENT 'whose sessions were read; `*`: a list of everybody\'s' CODEC(ZSTD(3)),
    `at` Int64 COMMENT 'when, in milliseconds since 1970' CODEC(Delta, ZSTD(1)),
    `reader` String COMMENT 'who read: the name that their token or their proxy gave' CODEC(ZSTD(3)),
    `task` String COMMENT 'the id of the task; empty: a list' CODEC(ZSTD(3)),
    `what` LowCardinality(String) COMMENT 'the question, as its path names it',
    `version` UInt64 COMMENT 'when it was written, in milliseconds since 1970' CODEC(T64, ZSTD(1)),
    `gone` UInt8 DEFAULT 0 COMMENT '1: deleted',
    INDEX by_reader reader TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version, gone)
ORDER BY (owner, at, reader, task, what)
COMMENT 'who read whose sessions';

CREATE OR REPLACE VIEW `session_summaries` AS
SELECT
    owner AS `owner`,
    task AS `task`,
    agent AS `agent`,
    project AS `project`,
    machine AS `machine`,
    model AS `model`,
    title AS `title`,
    status AS `status`,
    fromUnixTimestamp64Milli(started) AS `started_at`,
    fromUnixTimestamp64Milli(last) AS `last_event_at`,
    events AS `events`,
    calls AS `tool_calls`,
    failures AS `failures`,
    turns AS `turns`,
    input AS `input_tokens`,
    output AS `output_tokens`,
    cache_read AS `cache_read_tokens`,
    cache_write AS `cache_creation_tokens`,
    cost / 1e12 AS `cost_usd`
FROM `task` FINAL WHERE background = 0 AND events > 0;

CREATE OR REPLACE VIEW `agent_runs` AS
SELECT
    owner AS `owner`,
    task AS `task`,
    parent AS `parent`,
    agent AS `agent`,
    agent_type AS `agent_type`,
    project AS `project`,
    status AS `status`,
    fromUnixTimestamp64Milli(started) AS `started_at`,
    greatest(last - started, 0) AS `duration_ms`,
    calls AS `tool_calls`,
    failures AS `failures`,
    output AS `output_tokens`,
    cost / 1e12 AS `cost_usd`
FROM `task` FINAL WHERE background = 1 AND events > 0;

CREATE OR REPLACE VIEW `skill_activations` AS
SELECT
    owner AS `owner`,
    task AS `task`,
    fact AS `fact`,
    skill AS `skill`,
    fromUnixTimestamp64Milli(occurred) AS `occurred_at`,
    failed AS `failed`,
    duration AS `duration_ms`
FROM (SELECT *, skill FROM `fact` FINAL ARRAY JOIN sums.dim AS dim, sums.key AS skill WHERE dim = 6 AND is_call = 1);

CREATE OR REPLACE VIEW `tool_latencies` AS
SELECT
    owner AS `owner`,
    toDate(fromUnixTimestamp64Milli(occurred, 'UTC')) AS `day`,
    ifNull(toString(tool), '') AS `tool`,
    count() AS `calls`,
    sum(assumeNotNull(duration)) AS `total_ms`,
    sumMap([toInt64(assumeNotNull(bucket))], [toUInt64(1)]) AS `latency`
FROM `fact` FINAL WHERE bucket IS NOT NULL GROUP BY owner, day, tool;
