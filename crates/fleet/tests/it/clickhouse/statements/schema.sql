-- create
CREATE DATABASE IF NOT EXISTS `team`;
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
    `owner` String COMMENT 'owner: the name in the sender\'s token' CODEC(ZSTD(3)),
    `task` String COMMENT 'the id of the task' CODEC(ZSTD(3)),
    `version` UInt64 COMMENT 'place of the last change in the sending ledger\'s order of delivery' CODEC(T64, ZSTD(1)),
    `gone` UInt8 COMMENT '1: deleted',
    `agent` LowCardinality(String) COMMENT 'the product',
    `session` String COMMENT 'the agent\'s own id of the session' CODEC(ZSTD(3)),
    `background` UInt8 COMMENT '1: a subagent',
    `parent` String COMMENT 'the task that started it; empty: none' CODEC(ZSTD(3)),
    `parent_certainty` LowCardinality(String) COMMENT 'certainty of the parent; empty: not reported',
    `parent_tool_use_id` String COMMENT 'the call that started it; empty: unknown' CODEC(ZSTD(3)),
    `continues` String COMMENT 'the task whose context was cleared to begin this one; empty: none' CODEC(ZSTD(3)),
    `forked` String COMMENT 'the task whose history this one began with; empty: none' CODEC(ZSTD(3)),
    `title` String COMMENT 'display title' CODEC(ZSTD(3)),
    `terms` Array(String) COMMENT 'search terms of title and session' CODEC(ZSTD(3)),
    `agent_type` LowCardinality(String) COMMENT 'the type of its agent, `main` for the main one',
    `agent_id` String COMMENT 'the agent\'s own id of the subagent; empty: none' CODEC(ZSTD(3)),
    `cwd` String COMMENT 'working directory' CODEC(ZSTD(3)),
    `project` LowCardinality(String) COMMENT 'the project',
    `model` LowCardinality(String) COMMENT 'the model that answered last; empty: unknown',
    `machine` LowCardinality(String) COMMENT 'the machine it ran on',
    `git_branch` String COMMENT 'branch; empty: unknown' CODEC(ZSTD(3)),
    `client_version` LowCardinality(String) COMMENT 'the version of the client; empty: unknown',
    `started` Int64 COMMENT 'time of the first event, in milliseconds since 1970' CODEC(Delta, ZSTD(1)),
    `last` Int64 COMMENT 'time of the last event' CODEC(Delta, ZSTD(1)),
    `ended` Nullable(Int64) COMMENT 'end time' CODEC(Delta, ZSTD(1)),
    `status` LowCardinality(String) COMMENT 'status, as reported; presented statuses also depend on the clock',
    `waiting` LowCardinality(String) COMMENT 'reason of the wait; empty: none',
    `waiting_since` Nullable(Int64) COMMENT 'start of the wait' CODEC(Delta, ZSTD(1)),
    `waiting_fact` Nullable(Int64) COMMENT 'the number of the fact that asks' CODEC(ZSTD(1)),
    `current` Nullable(String) COMMENT 'title of the newest open call, or of the newest row' CODEC(ZSTD(3)),
    `context_pct` Nullable(Float64) COMMENT 'used part of the context window, in percent' CODEC(ZSTD(1)),
    `events` Int64 COMMENT 'rows of its timeline' CODEC(T64, ZSTD(1)),
    `calls` Int64 COMMENT 'tool calls' CODEC(T64, ZSTD(1)),
    `failures` Int64 COMMENT 'tool calls that failed' CODEC(T64, ZSTD(1)),
    `turns` Int64 COMMENT 'turns' CODEC(T64, ZSTD(1)),
    `wait_ms` Int64 COMMENT 'time spent waiting for people, in milliseconds' CODEC(T64, ZSTD(1)),
    `input` Int64 COMMENT 'input tokens' CODEC(T64, ZSTD(1)),
    `output` Int64 COMMENT 'output tokens' CODEC(T64, ZSTD(1)),
    `cache_read` Int64 COMMENT 'tokens read from caches' CODEC(T64, ZSTD(1)),
    `cache_write` Int64 COMMENT 'tokens written to caches' CODEC(T64, ZSTD(1)),
    `reasoning` Int64 COMMENT 'reasoning tokens, included in the output tokens' CODEC(T64, ZSTD(1)),
    `cost` Int64 COMMENT 'cost in pico-dollars' CODEC(T64, ZSTD(1)),
    `responses` Int64 COMMENT 'responses of providers' CODEC(T64, ZSTD(1)),
    `unpriced` Int64 COMMENT 'responses without a price' CODEC(T64, ZSTD(1)),
    `copies` Int64 COMMENT 'responses that count elsewhere' CODEC(T64, ZSTD(1)),
    `client_cost` Nullable(Int64) COMMENT 'cost as the client reports it, in pico-dollars' CODEC(T64, ZSTD(1)),
    `residual` String COMMENT 'part that only the client\'s cumulative account knows, as JSON; empty: none' CODEC(ZSTD(3)),
    INDEX by_task task TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX by_last last TYPE minmax GRANULARITY 1,
    INDEX by_parent parent TYPE bloom_filter(0.0001) GRANULARITY 1,
    INDEX by_terms terms TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version, gone)
ORDER BY (owner, task)
SETTINGS index_granularity = 256
COMMENT 'tasks, as derived by the machines that ran them';
CREATE TABLE IF NOT EXISTS `fact`
(
    `owner` String COMMENT 'owner: the name in the sender\'s token' CODEC(ZSTD(3)),
    `task` String COMMENT 'the id of its task' CODEC(ZSTD(3)),
    `fact` Int64 COMMENT 'number within the task' CODEC(ZSTD(1)),
    `version` UInt64 COMMENT 'place of the last change in the sending ledger\'s order of delivery' CODEC(T64, ZSTD(1)),
    `gone` UInt8 COMMENT '1: deleted, or part of another fact',
    `arrived` Int64 DEFAULT toUnixTimestamp64Milli(now64(3)) COMMENT 'time of arrival at this store: the order of the stream, because every sender counts its own versions' CODEC(Delta, ZSTD(1)),
    `kind` LowCardinality(String) COMMENT 'kind; empty: a turn',
    `list` UInt8 COMMENT 'list of the fact, as a code',
    `lane` LowCardinality(String) COMMENT 'lane',
    `occurred` Int64 COMMENT 'start time, in milliseconds since 1970' CODEC(Delta, ZSTD(1)),
    `ord` Int64 COMMENT 'breaks ties between equal times' CODEC(T64, ZSTD(1)),
    `ended` Nullable(Int64) COMMENT 'end time' CODEC(Delta, ZSTD(1)),
    `state` LowCardinality(String) COMMENT 'state of a call; empty: no call',
    `open` UInt8 COMMENT '1: the end of this call was not reported',
    `tool` LowCardinality(Nullable(String)) COMMENT 'the tool',
    `turn` Nullable(Int64) COMMENT 'the number of the turn\'s fact' CODEC(ZSTD(1)),
    `duration` Nullable(Int64) COMMENT 'duration in milliseconds' CODEC(T64, ZSTD(1)),
    `bucket` Nullable(Int16) COMMENT 'logarithmic bucket of a call\'s duration' CODEC(T64, ZSTD(1)),
    `error_class` LowCardinality(String) COMMENT 'the class of its error; empty: none',
    `signature` Nullable(Int64) COMMENT 'of a call or permission: hash of its input; of a response: 1 if the provider\'s account reported it; of a decision: rule, status and outcome' CODEC(ZSTD(1)),
    `certainty` LowCardinality(String) COMMENT 'certainty',
    `channels` UInt8 COMMENT 'channels that reported it, as bits',
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
    `cost` Int64 COMMENT 'cost in pico-dollars' CODEC(T64, ZSTD(1)),
    `responses` Int64 COMMENT '1: a response that counts here' CODEC(T64, ZSTD(1)),
    `unpriced` Int64 COMMENT '1: a response without a price' CODEC(T64, ZSTD(1)),
    `sums.dim` Array(UInt8) COMMENT 'dimension: tools, models, failures, files, …' CODEC(ZSTD(1)),
    `sums.key` Array(String) COMMENT 'the key there: the tool, the model, the path, …' CODEC(ZSTD(3)),
    `sums.n` Array(Int64) COMMENT 'count; for models: responses; for files: reads' CODEC(T64, ZSTD(1)),
    `sums.failures` Array(Int64) COMMENT 'failures; for files: changes' CODEC(T64, ZSTD(1)),
    `sums.ms` Array(Int64) COMMENT 'time in tool calls in milliseconds; for skills: responses; for rules: time of decisions in microseconds' CODEC(T64, ZSTD(1)),
    `sums.wait_ms` Array(Int64) COMMENT 'time spent waiting for people, in milliseconds' CODEC(T64, ZSTD(1)),
    `sums.spends` Array(UInt8) COMMENT '1: its tokens and cost count there' CODEC(ZSTD(1)),
    `terms` Array(String) COMMENT 'search terms, and a mark of the tool' CODEC(ZSTD(3)),
    `data` String COMMENT 'fields without a column, as JSON' CODEC(ZSTD(3)),
    `derived` String COMMENT 'values derived from other facts, as JSON; empty: none' CODEC(ZSTD(3)),
    INDEX by_occurred occurred TYPE minmax GRANULARITY 1,
    INDEX by_arrived arrived TYPE minmax GRANULARITY 1,
    INDEX by_terms terms TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_list list TYPE set(32) GRANULARITY 1,
    INDEX by_beginnings arrayMap(term -> substring(term, 1, 5), terms) TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version, gone)
ORDER BY (owner, task, fact)
SETTINGS index_granularity = 1024
COMMENT 'events and turns, as derived by the machines that recorded them';
CREATE TABLE IF NOT EXISTS `task_day`
(
    `owner` String COMMENT 'owner' CODEC(ZSTD(3)),
    `day` Int64 COMMENT 'start of the UTC day, in milliseconds since 1970' CODEC(Delta, ZSTD(1)),
    `task` String COMMENT 'the id of the task' CODEC(ZSTD(3)),
    `version` UInt64 COMMENT 'always 1: rows are never replaced' CODEC(T64, ZSTD(1)),
    `gone` UInt8 COMMENT 'always 0'
)
ENGINE = ReplacingMergeTree(version, gone)
ORDER BY (owner, day, task)
COMMENT 'the tasks that have facts in a day, in any of their versions';
CREATE TABLE IF NOT EXISTS `day_sum`
(
    `owner` String COMMENT 'owner' CODEC(ZSTD(3)),
    `day` Int64 COMMENT 'start of the UTC day, in milliseconds since 1970' CODEC(Delta, ZSTD(1)),
    `dim` UInt8 COMMENT 'dimension: tools, models, failures, files, …; 100: durations of calls',
    `level` UInt8 COMMENT '0: a quarter of an hour, 1: the day',
    `at` Int64 COMMENT 'start of the quarter-hour or the day' CODEC(Delta, ZSTD(1)),
    `project` LowCardinality(String) COMMENT 'the project of the tasks',
    `agent` LowCardinality(String) COMMENT 'their product',
    `agent_type` LowCardinality(String) COMMENT 'the type of their agents',
    `key` String COMMENT 'the key: the tool, the model, the path, …' CODEC(ZSTD(3)),
    `machine` LowCardinality(String) COMMENT 'the machine they ran on',
    `version` UInt64 COMMENT 'time of creation, in milliseconds since 1970' CODEC(T64, ZSTD(1)),
    `gone` UInt8 COMMENT '1: the sum is empty',
    `n` Int64 COMMENT 'count; for models: responses; for files: reads' CODEC(T64, ZSTD(1)),
    `failures` Int64 COMMENT 'failures; for files: changes' CODEC(T64, ZSTD(1)),
    `ms` Int64 COMMENT 'time in tool calls in milliseconds; for skills: responses; for rules: time of decisions in microseconds' CODEC(T64, ZSTD(1)),
    `wait_ms` Int64 COMMENT 'time spent waiting for people, in milliseconds' CODEC(T64, ZSTD(1)),
    `input` Int64 COMMENT 'input tokens' CODEC(T64, ZSTD(1)),
    `output` Int64 COMMENT 'output tokens' CODEC(T64, ZSTD(1)),
    `cache_read` Int64 COMMENT 'tokens read from caches' CODEC(T64, ZSTD(1)),
    `cache_write` Int64 COMMENT 'tokens written to caches' CODEC(T64, ZSTD(1)),
    `reasoning` Int64 COMMENT 'reasoning tokens' CODEC(T64, ZSTD(1)),
    `cost` Int64 COMMENT 'cost in pico-dollars' CODEC(T64, ZSTD(1)),
    `unpriced` Int64 COMMENT 'responses without a price' CODEC(T64, ZSTD(1)),
    `last` Int64 COMMENT 'start time of the latest fact' CODEC(Delta, ZSTD(1)),
    `buckets` Array(Int64) COMMENT 'durations: the buckets that have calls' CODEC(T64, ZSTD(1)),
    `calls` Array(UInt64) COMMENT 'durations: number of calls in each bucket' CODEC(T64, ZSTD(1))
)
ENGINE = ReplacingMergeTree(version, gone)
ORDER BY (owner, dim, level, day, at, project, agent, agent_type, key, machine)
COMMENT 'sums of closed days, over the newest version of every fact';
CREATE TABLE IF NOT EXISTS `day_mark`
(
    `owner` String COMMENT 'owner' CODEC(ZSTD(3)),
    `day` Int64 COMMENT 'start of the UTC day, in milliseconds since 1970' CODEC(Delta, ZSTD(1)),
    `version` UInt64 COMMENT 'time of the mark, in half milliseconds since 1970' CODEC(T64, ZSTD(1)),
    `gone` UInt8 COMMENT '1: the sums were remade'
)
ENGINE = ReplacingMergeTree(version, gone)
ORDER BY (owner, day)
COMMENT 'days with outdated sums';
CREATE TABLE IF NOT EXISTS `token`
(
    `owner` String COMMENT 'owner: shipments with this token are stored under this name' CODEC(ZSTD(3)),
    `id` String COMMENT 'the part of the token that may be shown' CODEC(ZSTD(3)),
    `version` UInt64 COMMENT 'time of the last change, in milliseconds since 1970' CODEC(T64, ZSTD(1)),
    `gone` UInt8 COMMENT '1: revoked',
    `scope` LowCardinality(String) COMMENT 'scope: ingest, read or admin',
    `hash` String COMMENT 'the SHA-256 of the secret, as hexadecimal digits' CODEC(ZSTD(3)),
    `created` Int64 COMMENT 'time of creation, in milliseconds since 1970' CODEC(Delta, ZSTD(1)),
    `expires` Nullable(Int64) COMMENT 'time of expiry; null: never' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(version, gone)
ORDER BY (owner, id)
COMMENT 'tokens of people and machines; the secrets themselves are nowhere';
CREATE TABLE IF NOT EXISTS `visit`
(
    `owner` String COMMENT 'owner of the sessions; `*`: a list of all owners' CODEC(ZSTD(3)),
    `at` Int64 COMMENT 'time, in milliseconds since 1970' CODEC(Delta, ZSTD(1)),
    `reader` String COMMENT 'name of the reader, from the token or the proxy' CODEC(ZSTD(3)),
    `task` String COMMENT 'the id of the task; empty: a list' CODEC(ZSTD(3)),
    `what` LowCardinality(String) COMMENT 'the query, as its path names it',
    `version` UInt64 COMMENT 'time of writing, in milliseconds since 1970' CODEC(T64, ZSTD(1)),
    `gone` UInt8 DEFAULT 0 COMMENT '1: deleted',
    INDEX by_reader reader TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version, gone)
ORDER BY (owner, at, reader, task, what)
COMMENT 'access log: readers and the owners of the sessions they read';
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
