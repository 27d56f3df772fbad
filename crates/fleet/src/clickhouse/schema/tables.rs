//! The tables: which columns, in which order, and why.

use agent_tracer_ledger::measure_columns;

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub kind: &'static str,
    /// Codec of the column; empty means the server's default.
    pub codec: &'static str,
    /// Description of the content.
    pub about: &'static str,
}

/// An index over granules: its name, its expression, its type.
pub type Index = (&'static str, &'static str, &'static str);

/// A table of versioned rows.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Description of the content.
    pub about: &'static str,
    /// Its columns.
    pub columns: &'static [Column],
    /// Columns that order and identify its rows.
    pub key: &'static [&'static str],
    /// Indexes over granules.
    pub indexes: &'static [Index],
    /// Rows of a granule, the smallest unit that is read.
    pub granule: u32,
}

/// Default of the engine.
pub(super) const USUAL_GRANULE: u32 = 8_192;

/// Facts of some ten tasks: a question about tasks of one day, which lie anywhere, reads little else.
const FACT_GRANULE: u32 = 1_024;

/// Rows of tasks are read whole for a page of them, which lie anywhere too.
const TASK_GRANULE: u32 = 256;

/// Letters of every term that the prefix index holds. Shorter prefixes are in nearly every granule.
pub(crate) const BEGINNING: usize = 5;

/// The beginnings of terms, as that index has them.
pub(crate) const BEGINNINGS: &str = "arrayMap(term -> substring(term, 1, 5), terms)";

const fn column(name: &'static str, kind: &'static str, codec: &'static str, about: &'static str) -> Column {
    Column { name, kind, codec, about }
}

// Neighbours are of one task, so that moments are close and counts are small: differences pack best.
const MOMENT: &str = "Delta, ZSTD(1)";
const COUNT: &str = "T64, ZSTD(1)";
const TEXT: &str = "ZSTD(3)";

/// Words of small sets.
// Words and not an `Enum` of the engine: a new one needs no change of the table, and old servers store it as it
// comes.
const WORD: &str = "LowCardinality(String)";

/// Holds tasks: one row each, small, read whole for lists and joined to facts for queries by project or agent.
const TASK: Table = Table {
    name: "task",
    about: "tasks, as derived by the machines that ran them",
    columns: &[
        column("owner", "String", TEXT, "owner: the name in the sender's token"),
        column("task", "String", TEXT, "the id of the task"),
        column(
            "version",
            "UInt64",
            COUNT,
            "place of the last change in the sending ledger's order of delivery",
        ),
        column("gone", "UInt8", "", "1: deleted"),
        column("agent", WORD, "", "the product"),
        column("session", "String", TEXT, "the agent's own id of the session"),
        column("background", "UInt8", "", "1: a subagent"),
        column("parent", "String", TEXT, "the task that started it; empty: none"),
        column("parent_certainty", WORD, "", "certainty of the parent; empty: not reported"),
        column("parent_tool_use_id", "String", TEXT, "the call that started it; empty: unknown"),
        column(
            "continues",
            "String",
            TEXT,
            "the task whose context was cleared to begin this one; empty: none",
        ),
        column("forked", "String", TEXT, "the task whose history this one began with; empty: none"),
        column("title", "String", TEXT, "display title"),
        column("terms", "Array(String)", TEXT, "search terms of title and session"),
        column("agent_type", WORD, "", "the type of its agent, `main` for the main one"),
        column("agent_id", "String", TEXT, "the agent's own id of the subagent; empty: none"),
        column("cwd", "String", TEXT, "working directory"),
        column("project", WORD, "", "the project"),
        column("model", WORD, "", "the model that answered last; empty: unknown"),
        column("machine", WORD, "", "the machine it ran on"),
        column("git_branch", "String", TEXT, "branch; empty: unknown"),
        column("client_version", WORD, "", "the version of the client; empty: unknown"),
        column("started", "Int64", MOMENT, "time of the first event, in milliseconds since 1970"),
        column("last", "Int64", MOMENT, "time of the last event"),
        column("ended", "Nullable(Int64)", MOMENT, "end time"),
        column("status", WORD, "", "status, as reported; presented statuses also depend on the clock"),
        column("waiting", WORD, "", "reason of the wait; empty: none"),
        column("waiting_since", "Nullable(Int64)", MOMENT, "start of the wait"),
        column("waiting_fact", "Nullable(Int64)", "ZSTD(1)", "the number of the fact that asks"),
        column("current", "Nullable(String)", TEXT, "title of the newest open call, or of the newest row"),
        column("context_pct", "Nullable(Float64)", "ZSTD(1)", "used part of the context window, in percent"),
        column("events", "Int64", COUNT, "rows of its timeline"),
        column("calls", "Int64", COUNT, "tool calls"),
        column("failures", "Int64", COUNT, "tool calls that failed"),
        column("turns", "Int64", COUNT, "turns"),
        column("wait_ms", "Int64", COUNT, "time spent waiting for people, in milliseconds"),
        column("input", "Int64", COUNT, "input tokens"),
        column("output", "Int64", COUNT, "output tokens"),
        column("cache_read", "Int64", COUNT, "tokens read from caches"),
        column("cache_write", "Int64", COUNT, "tokens written to caches"),
        column("reasoning", "Int64", COUNT, "reasoning tokens, included in the output tokens"),
        column("cost", "Int64", COUNT, "cost in pico-dollars"),
        column("responses", "Int64", COUNT, "responses of providers"),
        column("unpriced", "Int64", COUNT, "responses without a price"),
        column("copies", "Int64", COUNT, "responses that count elsewhere"),
        column("client_cost", "Nullable(Int64)", COUNT, "cost as the client reports it, in pico-dollars"),
        column(
            "residual",
            "String",
            TEXT,
            "part that only the client's cumulative account knows, as JSON; empty: none",
        ),
    ],
    key: &["owner", "task"],
    indexes: &[
        ("by_task", "task", "bloom_filter(0.001)"),
        ("by_last", "last", "minmax"),
        // For the parents of a whole page at once: each adds its share of granules that are read in vain.
        ("by_parent", "parent", "bloom_filter(0.0001)"),
        ("by_terms", "terms", "bloom_filter(0.01)"),
    ],
    granule: TASK_GRANULE,
};

macro_rules! fact_table {
    ($([$name:ident, $place:literal, $array:ident, $path:literal, $of_fact:literal, $of_sum:literal, $measure:expr])*) => {
        /// Holds facts: most queries are about one task and its rows are neighbours; sums over time read few columns of many.
        const FACT: Table = Table {
            name: "fact",
            about: "events and turns, as derived by the machines that recorded them",
            columns: &[
                column("owner", "String", TEXT, "owner: the name in the sender's token"),
                column("task", "String", TEXT, "the id of its task"),
                column("fact", "Int64", "ZSTD(1)", "number within the task"),
                column("version", "UInt64", COUNT, "place of the last change in the sending ledger's order of delivery"),
                column("gone", "UInt8", "", "1: deleted, or part of another fact"),
                column(
                    "arrived",
                    "Int64 DEFAULT toUnixTimestamp64Milli(now64(3))",
                    MOMENT,
                    "time of arrival at this store: the order of the stream, because every sender counts its own versions",
                ),
                column("kind", WORD, "", "kind; empty: a turn"),
                column("list", "UInt8", "", "list of the fact, as a code"),
                column("lane", WORD, "", "lane"),
                column("occurred", "Int64", MOMENT, "start time, in milliseconds since 1970"),
                column("ord", "Int64", COUNT, "breaks ties between equal times"),
                column("ended", "Nullable(Int64)", MOMENT, "end time"),
                column("state", WORD, "", "state of a call; empty: no call"),
                column("open", "UInt8", "", "1: the end of this call was not reported"),
                column("tool", "LowCardinality(Nullable(String))", "", "the tool"),
                column("turn", "Nullable(Int64)", "ZSTD(1)", "the number of the turn's fact"),
                column("duration", "Nullable(Int64)", COUNT, "duration in milliseconds"),
                column("bucket", "Nullable(Int16)", COUNT, "logarithmic bucket of a call's duration"),
                column("error_class", WORD, "", "the class of its error; empty: none"),
                column("signature", "Nullable(Int64)", "ZSTD(1)", "of a call or permission: hash of its input; of a response: 1 if the provider's account reported it; of a decision: rule, status and outcome"),
                column("certainty", WORD, "", "certainty"),
                column("channels", "UInt8", "", "channels that reported it, as bits"),
                column(
                    "agent_type",
                    "LowCardinality(Nullable(String))",
                    "",
                    "the type of the agent that acted, if it is not the task's",
                ),
                column("model", WORD, "", "the model of a response; empty: no response, or one that counts nowhere"),
                column("copied", "UInt8", "", "1: a response that counts elsewhere"),
                column("is_call", "UInt8", "", "1: a tool call"),
                column("failed", "UInt8", "", "1: a tool call that failed or was denied"),
                column("input", "Int64", COUNT, "input tokens of a response that counts here"),
                column("output", "Int64", COUNT, "output tokens"),
                column("cache_read", "Int64", COUNT, "tokens read from caches"),
                column("cache_write", "Int64", COUNT, "tokens written to caches"),
                column("reasoning", "Int64", COUNT, "reasoning tokens"),
                column("cost", "Int64", COUNT, "cost in pico-dollars"),
                column("responses", "Int64", COUNT, "1: a response that counts here"),
                column("unpriced", "Int64", COUNT, "1: a response without a price"),
                column(
                    "sums.dim",
                    "Array(UInt8)",
                    "ZSTD(1)",
                    "dimension: tools, models, failures, files, …",
                ),
                column("sums.key", "Array(String)", TEXT, "the key there: the tool, the model, the path, …"),
                $(column($path, "Array(Int64)", COUNT, $of_fact),)*
                column("sums.spends", "Array(UInt8)", "ZSTD(1)", "1: its tokens and cost count there"),
                column("terms", "Array(String)", TEXT, "search terms, and a mark of the tool"),
                column("data", "String", TEXT, "fields without a column, as JSON"),
                column("derived", "String", TEXT, "values derived from other facts, as JSON; empty: none"),
            ],
            key: &["owner", "task", "fact"],
            indexes: &[
                ("by_occurred", "occurred", "minmax"),
                ("by_arrived", "arrived", "minmax"),
                ("by_terms", "terms", "bloom_filter(0.01)"),
                ("by_list", "list", "set(32)"),
                ("by_beginnings", BEGINNINGS, "bloom_filter(0.01)"),
            ],
            granule: FACT_GRANULE,
        };
    };
}
measure_columns!(fact_table);

/// Tokens: few, read whole by every server every few seconds.
const TOKEN: Table = Table {
    name: "token",
    about: "tokens of people and machines; the secrets themselves are nowhere",
    columns: &[
        column("owner", "String", TEXT, "owner: shipments with this token are stored under this name"),
        column("id", "String", TEXT, "the part of the token that may be shown"),
        column("version", "UInt64", COUNT, "time of the last change, in milliseconds since 1970"),
        column("gone", "UInt8", "", "1: revoked"),
        column("scope", WORD, "", "scope: ingest, read or admin"),
        column("hash", "String", TEXT, "the SHA-256 of the secret, as hexadecimal digits"),
        column("created", "Int64", MOMENT, "time of creation, in milliseconds since 1970"),
        column("expires", "Nullable(Int64)", MOMENT, "time of expiry; null: never"),
    ],
    key: &["owner", "id"],
    indexes: &[],
    granule: USUAL_GRANULE,
};

/// Holds the access log: written when a reader opens sessions of another person, read by administrators.
const VISIT: Table = Table {
    name: "visit",
    about: "access log: readers and the owners of the sessions they read",
    columns: &[
        column("owner", "String", TEXT, "owner of the sessions; `*`: a list of all owners"),
        column("at", "Int64", MOMENT, "time, in milliseconds since 1970"),
        column("reader", "String", TEXT, "name of the reader, from the token or the proxy"),
        column("task", "String", TEXT, "the id of the task; empty: a list"),
        column("what", WORD, "", "the query, as its path names it"),
        column("version", "UInt64", COUNT, "time of writing, in milliseconds since 1970"),
        column("gone", "UInt8 DEFAULT 0", "", "1: deleted"),
    ],
    key: &["owner", "at", "reader", "task", "what"],
    indexes: &[("by_reader", "reader", "bloom_filter(0.01)")],
    granule: USUAL_GRANULE,
};

macro_rules! day_sum_table {
    ($([$name:ident, $place:literal, $array:ident, $path:literal, $of_fact:literal, $of_sum:literal, $measure:expr])*) => {
        /// Sums of closed days: made of deduplicated facts, replaced when a fact of the day changes. A question about one
        /// dimension reads one range of each owner, and of that the days it asks for.
        const DAY_SUM: Table = Table {
            name: "day_sum",
            about: "sums of closed days, over the newest version of every fact",
            columns: &[
                column("owner", "String", TEXT, "owner"),
                column("day", "Int64", MOMENT, "start of the UTC day, in milliseconds since 1970"),
                column(
                    "dim",
                    "UInt8",
                    "",
                    "dimension: tools, models, failures, files, …; 100: durations of calls",
                ),
                column("level", "UInt8", "", "0: a quarter of an hour, 1: the day"),
                column("at", "Int64", MOMENT, "start of the quarter-hour or the day"),
                column("project", WORD, "", "the project of the tasks"),
                column("agent", WORD, "", "their product"),
                column("agent_type", WORD, "", "the type of their agents"),
                column("key", "String", TEXT, "the key: the tool, the model, the path, …"),
                column("machine", WORD, "", "the machine they ran on"),
                column("version", "UInt64", COUNT, "time of creation, in milliseconds since 1970"),
                column("gone", "UInt8", "", "1: the sum is empty"),
                $(column(stringify!($name), "Int64", COUNT, $of_sum),)*
                column("input", "Int64", COUNT, "input tokens"),
                column("output", "Int64", COUNT, "output tokens"),
                column("cache_read", "Int64", COUNT, "tokens read from caches"),
                column("cache_write", "Int64", COUNT, "tokens written to caches"),
                column("reasoning", "Int64", COUNT, "reasoning tokens"),
                column("cost", "Int64", COUNT, "cost in pico-dollars"),
                column("unpriced", "Int64", COUNT, "responses without a price"),
                column("last", "Int64", MOMENT, "start time of the latest fact"),
                column("buckets", "Array(Int64)", "T64, ZSTD(1)", "durations: the buckets that have calls"),
                column("calls", "Array(UInt64)", "T64, ZSTD(1)", "durations: number of calls in each bucket"),
            ],
            key: &["owner", "dim", "level", "day", "at", "project", "agent", "agent_type", "key", "machine"],
            indexes: &[],
            granule: USUAL_GRANULE,
        };
    };
}
measure_columns!(day_sum_table);

/// Holds the days with outdated sums: read whole before every sum.
const DAY_MARK: Table = Table {
    name: "day_mark",
    about: "days with outdated sums",
    columns: &[
        column("owner", "String", TEXT, "owner"),
        column("day", "Int64", MOMENT, "start of the UTC day, in milliseconds since 1970"),
        column("version", "UInt64", COUNT, "time of the mark, in half milliseconds since 1970"),
        column("gone", "UInt8", "", "1: the sums were remade"),
    ],
    key: &["owner", "day"],
    indexes: &[],
    granule: USUAL_GRANULE,
};

/// Maps days to the tasks with facts in them: tasks are ordered by their ids, which carry no time.
const TASK_DAY: Table = Table {
    name: "task_day",
    about: "the tasks that have facts in a day, in any of their versions",
    columns: &[
        column("owner", "String", TEXT, "owner"),
        column("day", "Int64", MOMENT, "start of the UTC day, in milliseconds since 1970"),
        column("task", "String", TEXT, "the id of the task"),
        column("version", "UInt64", COUNT, "always 1: rows are never replaced"),
        column("gone", "UInt8", "", "always 0"),
    ],
    key: &["owner", "day", "task"],
    indexes: &[],
    granule: USUAL_GRANULE,
};

/// Every table.
pub const TABLES: &[Table] = &[TASK, FACT, TASK_DAY, DAY_SUM, DAY_MARK, TOKEN, VISIT];

/// Tables with retention by age, each with its time column. Tokens carry their own expiry; the sums of a day end with
/// its last moment.
pub const AGING: &[(&str, &str)] = &[
    ("task", "last"),
    ("fact", "occurred"),
    ("task_day", "day + 86400000"),
    ("day_sum", "day + 86400000"),
    ("visit", "at"),
];
