//! How the tracer itself is.

use agent_tracer_event::Millis;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The state of the whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// `ok`, or `degraded` with problems below.
    pub status: String,
    /// The version of the server.
    pub version: String,
    /// The store; absent, as everything below that only the store knows, while it cannot answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<StoreHealth>,
    /// The newest place in the order of delivery.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The spool.
    pub spool: SpoolHealth,
    /// What became of everything that arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcomes: Option<OutcomeCounts>,
    /// Why observations were malformed or refused, most frequent first; at most fifty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasons: Option<Vec<OutcomeReason>>,
    /// The age of the oldest envelope that waits.
    pub lag_ms: u64,
    /// Where facts come from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sources: Option<Vec<SourceHealth>>,
    /// What was not understood, most frequent first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unrecognised: Option<Vec<UnrecognisedName>>,
    /// How far the history of the agents is read. Absent where nobody reads it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub import: Option<ImportHealth>,
    /// How long events are kept.
    pub retention: RetentionHealth,
    /// How far the way to a team's server is gone. Absent where nothing is shipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ship: Option<ShipHealth>,
    /// What went wrong with the store since the server started. Absent where another server keeps it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults: Option<StoreFaults>,
    /// What is wrong, and what to do about it.
    pub problems: Vec<String>,
}

/// What went wrong with the store since the server started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoreFaults {
    /// Whether the store takes anything now. While it does not, hooks wait in the spool and posts are refused.
    pub recording: bool,
    /// Writes that failed, by reason.
    #[schema(value_type = Object)]
    pub write_failures: std::collections::BTreeMap<String, u64>,
    /// Questions that had no answer because of damage.
    pub read_failures: u64,
    /// Places in the journal of posts that could not be read.
    pub damaged_posts: u64,
    /// Commits in the store's log that could not be read.
    pub damaged_commits: u64,
    /// Pages of the store that are not what was written.
    pub damaged_pages: u64,
    /// Pages of the store that another program changed while no server used it.
    pub changed_pages: u64,
    /// How far the store's pages are compared with their sums.
    pub check: PageCheck,
    /// Posted events that could not be written and are set aside now.
    pub set_aside: u64,
    /// Files of agents that could not be kept and are tried again later.
    pub parked_files: u64,
    /// What of it needs a person now. They are among the problems of the whole, too.
    pub problems: Vec<String>,
}

/// How far the store's pages are compared with their sums. It goes round and round while the server runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PageCheck {
    /// Pages of the store's file.
    pub pages: u64,
    /// Pages that this round has compared.
    pub checked: u64,
    /// Rounds that were completed since the server started.
    pub rounds: u64,
    /// How long ago the last round was completed. Absent before the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_round_age_ms: Option<u64>,
    /// How often sums were made anew because there were none, or they could not be used.
    pub sums_remade: u64,
    /// Why they last were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remade_because: Option<String>,
}

/// How far the way to a team's server is gone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShipHealth {
    /// The server.
    pub to: String,
    /// Changes that wait to be shipped.
    pub behind: u64,
    /// Why nothing is shipped at the moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// How far the history of the agents is read: once, when the server starts. Numbers grow until it is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportHealth {
    /// Whether it is still being read.
    pub running: bool,
    /// Files that are read.
    pub files: u64,
    /// Files that were to be read.
    pub files_total: u64,
    /// Bytes that are read.
    pub bytes: u64,
    /// Bytes that were to be read, by what was known at the beginning.
    pub bytes_total: u64,
    /// Rows that they brought.
    pub rows: u64,
}

/// How long events are kept, and what the server dropped since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RetentionHealth {
    /// Events of tasks that were not heard of for so many days are dropped; absent if they are kept for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub days: Option<u32>,
    /// When it was last looked for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_at: Option<Millis>,
    /// Tasks whose events were dropped.
    pub tasks: u64,
    /// Their events.
    pub events: u64,
}

/// The store.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoreHealth {
    /// `sqlite` or `clickhouse`.
    pub kind: String,
    /// Its size on disk.
    pub bytes: u64,
    /// Entries.
    pub entries: u64,
    /// Rows of timelines.
    pub events: u64,
    /// Tasks.
    pub tasks: u64,
    /// Rows that search does not know yet.
    pub search_lag: u64,
    /// The version of its schema.
    pub schema: u32,
}

/// The spool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SpoolHealth {
    /// Envelopes that wait.
    pub waiting: u64,
    /// Envelopes that could not be read.
    pub quarantined: u64,
    /// What the hook could not keep, by reason.
    #[schema(value_type = Object)]
    pub lost: std::collections::BTreeMap<String, u64>,
}

/// What became of everything that arrived. `received` is the sum of the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutcomeCounts {
    /// Everything that arrived.
    pub received: u64,
    /// It changed something.
    pub recorded: u64,
    /// It changed nothing.
    pub duplicate: u64,
    /// Nobody knows what it is.
    pub unrecognised: u64,
    /// It could not be read.
    pub malformed: u64,
    /// It was not allowed.
    pub refused: u64,
}

/// Why observations were not recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutcomeReason {
    /// `malformed` or `refused`.
    pub outcome: String,
    /// The channel they came on.
    pub channel: String,
    /// What was wrong with them.
    pub reason: String,
    /// How many.
    pub count: u64,
    /// When the last of them arrived.
    #[schema(value_type = String, format = DateTime)]
    pub last_at: Millis,
}

/// One place that facts come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceHealth {
    /// The channel, or a folder of transcripts.
    pub name: String,
    /// When it last told something.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_at: Option<Millis>,
    /// How much it told.
    pub observations: u64,
    /// Files known and bytes read, for folders.
    pub files: u64,
    /// Bytes read.
    pub bytes: u64,
    /// What is wrong with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// A name that no reader knows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnrecognisedName {
    /// The agent.
    pub agent: String,
    /// The version of the client.
    pub client_version: String,
    /// `event`, `tool`, `field`, `value`, `row` or `line`.
    pub what: String,
    /// The name.
    pub name: String,
    /// How often.
    pub count: u64,
}
