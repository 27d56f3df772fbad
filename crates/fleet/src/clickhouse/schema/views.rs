//! Views for people who ask the database itself: deduplicated, with the names and units of the query API.

use super::Column;

/// A view.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Its name.
    pub name: &'static str,
    /// Description of the content.
    pub about: &'static str,
    /// Its columns.
    pub columns: &'static [Column],
    /// Table or subquery that yields its rows. `{task}` stands for the name of a table, `{skills}` for the number of that
    /// dimension.
    pub from: &'static str,
}

/// Defines a column of a view: its type column holds the expression.
const fn column(name: &'static str, expression: &'static str, about: &'static str) -> Column {
    Column { name, kind: expression, codec: "", about }
}

/// Counts the calls in each bucket of durations: integers that can be added, and from which a reader computes
/// percentiles.
const LATENCY: &str = "sumMap([toInt64(assumeNotNull(bucket))], [toUInt64(1)])";

/// Every view.
pub const VIEWS: &[View] = &[
    View {
        name: "session_summaries",
        about: "one row for each session of an agent, subagents not included",
        columns: &[
            column("owner", "owner", "owner"),
            column("task", "task", "the id of the task"),
            column("agent", "agent", "the product"),
            column("project", "project", "the project"),
            column("machine", "machine", "the machine"),
            column("model", "model", "the model that answered last"),
            column("title", "title", "display title"),
            column("status", "status", "status, as reported; presented statuses also depend on the clock"),
            column("started_at", "fromUnixTimestamp64Milli(started)", "time of the first event"),
            column("last_event_at", "fromUnixTimestamp64Milli(last)", "time of the last event"),
            column("events", "events", "rows of its timeline"),
            column("tool_calls", "calls", "tool calls"),
            column("failures", "failures", "tool calls that failed"),
            column("turns", "turns", "turns"),
            column("input_tokens", "input", "input tokens, without caches"),
            column("output_tokens", "output", "output tokens"),
            column("cache_read_tokens", "cache_read", "tokens read from caches"),
            column("cache_creation_tokens", "cache_write", "tokens written to caches"),
            column("cost_usd", "cost / 1e12", "cost by the sender's price table, in US dollars"),
        ],
        from: "{task} FINAL WHERE background = 0 AND events > 0",
    },
    View {
        name: "agent_runs",
        about: "one row for each run of a subagent",
        columns: &[
            column("owner", "owner", "owner"),
            column("task", "task", "the id of the run's task"),
            column("parent", "parent", "the task that started it"),
            column("agent", "agent", "the product"),
            column("agent_type", "agent_type", "the type of the agent"),
            column("project", "project", "the project"),
            column("status", "status", "status, as reported; presented statuses also depend on the clock"),
            column("started_at", "fromUnixTimestamp64Milli(started)", "time of the first event"),
            column(
                "duration_ms",
                "greatest(last - started, 0)",
                "time from the first to the last event, in milliseconds",
            ),
            column("tool_calls", "calls", "tool calls"),
            column("failures", "failures", "tool calls that failed"),
            column("output_tokens", "output", "output tokens"),
            column("cost_usd", "cost / 1e12", "cost by the sender's price table, in US dollars"),
        ],
        from: "{task} FINAL WHERE background = 1 AND events > 0",
    },
    View {
        name: "skill_activations",
        about: "one row for each call that activated a skill",
        columns: &[
            column("owner", "owner", "owner"),
            column("task", "task", "the id of the task"),
            column("fact", "fact", "the number of the row within the task"),
            column("skill", "skill", "the skill"),
            column("occurred_at", "fromUnixTimestamp64Milli(occurred)", "time"),
            column("failed", "failed", "1: the call failed or was denied"),
            column("duration_ms", "duration", "duration of the call in milliseconds"),
        ],
        from: "(SELECT *, skill FROM {fact} FINAL ARRAY JOIN sums.dim AS dim, sums.key AS skill \
               WHERE dim = {skills} AND is_call = 1)",
    },
    View {
        name: "tool_latencies",
        about: "one row for each tool of an owner on a UTC day; `sumMap(latency)` adds rows to any longer stretch",
        columns: &[
            column("owner", "owner", "owner"),
            column("day", "toDate(fromUnixTimestamp64Milli(occurred, 'UTC'))", "the day in UTC"),
            column("tool", "ifNull(toString(tool), '')", "the tool"),
            column("calls", "count()", "calls with a known duration"),
            column("total_ms", "sum(assumeNotNull(duration))", "total duration in milliseconds"),
            column(
                "latency",
                LATENCY,
                "buckets of durations and how many calls are in each: bucket 0 is 0 ms, 1 is 1 ms, b > 1 is about \
                 1.02^(b - 1) * 2 / 2.02 ms",
            ),
        ],
        from: "{fact} FINAL WHERE bucket IS NOT NULL GROUP BY owner, day, tool",
    },
];
