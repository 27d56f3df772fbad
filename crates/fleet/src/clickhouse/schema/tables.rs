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
const WORD: &str = "LowCardinality(String)";

/// Holds tasks: one row each, small, read whole for lists and joined to facts for queries by project or agent.
const TASK: Table = Table {
    name: "task",
    about: "tasks as the machines that ran them derived them",
    columns: &[
        column("owner", "String", TEXT, "whose it is: the name that the sender's token has"),
        column("task", "String", TEXT, "the id of the task"),
        column("version", "UInt64", COUNT, "where in its ledger's order of delivery it last changed"),
        column("gone", "UInt8", "", "1: deleted"),
        column("agent", WORD, "", "the product"),
        column("session", "String", TEXT, "the agent's id of the session"),
        column("background", "UInt8", "", "1: a subagent"),
        column("parent", "String", TEXT, "the task that started it; empty: none"),
        column("parent_certainty", WORD, "", "how sure the parent is; empty: nobody said"),
        column("parent_tool_use_id", "String", TEXT, "the call that started it; empty: unknown"),
        column(
            "continues",
            "String",
            TEXT,
            "the task whose context was cleared to begin this one; empty: none",
        ),
        column("forked", "String", TEXT, "the task whose history this one began with; empty: none"),
        column("title", "String", TEXT, "what a person reads"),
        column("terms", "Array(String)", TEXT, "search terms of title and session"),
        column("agent_type", WORD, "", "the type of its agent, `main` for the main one"),
        column("agent_id", "String", TEXT, "the agent's id of the subagent; empty: none"),
        column("cwd", "String", TEXT, "where it works"),
        column("project", WORD, "", "the project"),
        column("model", WORD, "", "the model that answered last; empty: unknown"),
        column("machine", WORD, "", "the machine it ran on"),
        column("git_branch", "String", TEXT, "the branch it works on; empty: unknown"),
        column("client_version", WORD, "", "the version of the client; empty: unknown"),
        column("started", "Int64", MOMENT, "when it was first seen, in milliseconds since 1970"),
        column("last", "Int64", MOMENT, "when it was last heard of"),
        column("ended", "Nullable(Int64)", MOMENT, "when it ended"),
        column("status", WORD, "", "where it stands by what was told"),
        column("waiting", WORD, "", "what it waits for; empty: nothing"),
        column("waiting_since", "Nullable(Int64)", MOMENT, "since when"),
        column("waiting_fact", "Nullable(Int64)", "ZSTD(1)", "the number of the fact that asks"),
        column("current", "Nullable(String)", TEXT, "what it did last"),
        column("context_pct", "Nullable(Float64)", "ZSTD(1)", "how full its context is, in percent"),
        column("events", "Int64", COUNT, "rows of its timeline"),
        column("calls", "Int64", COUNT, "tool calls"),
        column("failures", "Int64", COUNT, "tool calls that failed"),
        column("turns", "Int64", COUNT, "turns"),
        column("wait_ms", "Int64", COUNT, "time in which people were waited for"),
        column("input", "Int64", COUNT, "input tokens"),
        column("output", "Int64", COUNT, "output tokens"),
        column("cache_read", "Int64", COUNT, "tokens read from caches"),
        column("cache_write", "Int64", COUNT, "tokens written to caches"),
        column("reasoning", "Int64", COUNT, "reasoning tokens, inside the output tokens"),
        column("cost", "Int64", COUNT, "pico-dollars"),
        column("responses", "Int64", COUNT, "responses of providers"),
        column("unpriced", "Int64", COUNT, "responses without a price"),
        column("copies", "Int64", COUNT, "responses that count elsewhere"),
        column("client_cost", "Nullable(Int64)", COUNT, "what the client says that it cost, in pico-dollars"),
        column("residual", "String", TEXT, "what only the client's account knows, as JSON; empty: nothing"),
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
            about: "events and turns as the machines that saw them derived them",
            columns: &[
                column("owner", "String", TEXT, "whose it is: the name that the sender's token has"),
                column("task", "String", TEXT, "the id of its task"),
                column("fact", "Int64", "ZSTD(1)", "its number within the task"),
                column("version", "UInt64", COUNT, "where in its ledger's order of delivery it last changed"),
                column("gone", "UInt8", "", "1: deleted, or part of another fact"),
                column(
                    "arrived",
                    "Int64 DEFAULT toUnixTimestamp64Milli(now64(3))",
                    MOMENT,
                    "when it arrived here: what the stream goes by, because every sender counts its own versions",
                ),
                column("kind", WORD, "", "what it is; empty: a turn"),
                column("list", "UInt8", "", "the list it stands in"),
                column("lane", WORD, "", "where it is shown"),
                column("occurred", "Int64", MOMENT, "when it began, in milliseconds since 1970"),
                column("ord", "Int64", COUNT, "breaks ties between equal times"),
                column("ended", "Nullable(Int64)", MOMENT, "when it ended"),
                column("state", WORD, "", "where a call stands; empty: no call"),
                column("open", "UInt8", "", "1: nobody said how this call ended"),
                column("tool", "LowCardinality(Nullable(String))", "", "the tool"),
                column("turn", "Nullable(Int64)", "ZSTD(1)", "the number of the turn's fact"),
                column("duration", "Nullable(Int64)", COUNT, "how long it took, in milliseconds"),
                column("bucket", "Nullable(Int16)", COUNT, "the logarithmic bucket of a call's duration"),
                column("error_class", WORD, "", "the class of its error; empty: none"),
                column("signature", "Nullable(Int64)", "ZSTD(1)", "the same for calls with the same input"),
                column("certainty", WORD, "", "how sure it is"),
                column("channels", "UInt8", "", "every channel that told of it, as bits"),
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
                column("cost", "Int64", COUNT, "pico-dollars"),
                column("responses", "Int64", COUNT, "1: a response that counts here"),
                column("unpriced", "Int64", COUNT, "1: a response without a price"),
                column(
                    "sums.dim",
                    "Array(UInt8)",
                    "ZSTD(1)",
                    "what it counts into: tools, models, failures, files, …",
                ),
                column("sums.key", "Array(String)", TEXT, "the key there: the tool, the model, the path, …"),
                $(column($path, "Array(Int64)", COUNT, $of_fact),)*
                column("sums.spends", "Array(UInt8)", "ZSTD(1)", "1: its tokens and cost count there"),
                column("terms", "Array(String)", TEXT, "search terms, and a mark of the tool"),
                column("data", "String", TEXT, "what is only shown, as JSON"),
                column("derived", "String", TEXT, "what follows from other facts, as JSON; empty: nothing"),
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
        column("owner", "String", TEXT, "whose it is: what it ships stands under this name"),
        column("id", "String", TEXT, "the part of the token that may be shown"),
        column("version", "UInt64", COUNT, "when it was last changed, in milliseconds since 1970"),
        column("gone", "UInt8", "", "1: revoked"),
        column("scope", WORD, "", "what it allows: ingest, read or admin"),
        column("hash", "String", TEXT, "the SHA-256 of the secret, as hexadecimal digits"),
        column("created", "Int64", MOMENT, "when it was made, in milliseconds since 1970"),
        column("expires", "Nullable(Int64)", MOMENT, "when it ends; none: never"),
    ],
    key: &["owner", "id"],
    indexes: &[],
    granule: USUAL_GRANULE,
};

/// Holds the access log: written when a reader opens sessions of another person, read by administrators.
const VISIT: Table = Table {
    name: "visit",
    about: "who read whose sessions",
    columns: &[
        column("owner", "String", TEXT, "whose sessions were read; `*`: a list of everybody's"),
        column("at", "Int64", MOMENT, "when, in milliseconds since 1970"),
        column("reader", "String", TEXT, "who read: the name that their token or their proxy gave"),
        column("task", "String", TEXT, "the id of the task; empty: a list"),
        column("what", WORD, "", "the question, as its path names it"),
        column("version", "UInt64", COUNT, "when it was written, in milliseconds since 1970"),
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
            about: "sums of days that are closed, made of the newest version of every fact",
            columns: &[
                column("owner", "String", TEXT, "whose it is"),
                column("day", "Int64", MOMENT, "the beginning of the UTC day, in milliseconds since 1970"),
                column(
                    "dim",
                    "UInt8",
                    "",
                    "what is counted: tools, models, failures, files, …; 100: durations of calls",
                ),
                column("level", "UInt8", "", "0: a quarter of an hour, 1: the day"),
                column("at", "Int64", MOMENT, "the beginning of the quarter-hour or the day"),
                column("project", WORD, "", "the project of the tasks"),
                column("agent", WORD, "", "their product"),
                column("agent_type", WORD, "", "the type of their agents"),
                column("key", "String", TEXT, "the key: the tool, the model, the path, …"),
                column("machine", WORD, "", "the machine they ran on"),
                column("version", "UInt64", COUNT, "when it was made, in milliseconds since 1970"),
                column("gone", "UInt8", "", "1: nothing is left of it"),
                $(column(stringify!($name), "Int64", COUNT, $of_sum),)*
                column("input", "Int64", COUNT, "input tokens"),
                column("output", "Int64", COUNT, "output tokens"),
                column("cache_read", "Int64", COUNT, "tokens read from caches"),
                column("cache_write", "Int64", COUNT, "tokens written to caches"),
                column("reasoning", "Int64", COUNT, "reasoning tokens"),
                column("cost", "Int64", COUNT, "pico-dollars"),
                column("unpriced", "Int64", COUNT, "responses without a price"),
                column("last", "Int64", MOMENT, "when the last of them began"),
                column("buckets", "Array(Int64)", "T64, ZSTD(1)", "durations: the buckets that have calls"),
                column("calls", "Array(UInt64)", "T64, ZSTD(1)", "durations: how many calls are in each"),
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
    about: "days whose sums are to be made anew",
    columns: &[
        column("owner", "String", TEXT, "whose day it is"),
        column("day", "Int64", MOMENT, "the beginning of the UTC day, in milliseconds since 1970"),
        column("version", "UInt64", COUNT, "when it was marked, in half milliseconds since 1970"),
        column("gone", "UInt8", "", "1: its sums were made since"),
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
        column("owner", "String", TEXT, "whose it is"),
        column("day", "Int64", MOMENT, "the beginning of the UTC day, in milliseconds since 1970"),
        column("task", "String", TEXT, "the id of the task"),
        column("version", "UInt64", COUNT, "always the same: there is nothing to replace"),
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
