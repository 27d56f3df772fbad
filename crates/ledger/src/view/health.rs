//! Health of the tracer itself.

use agent_tracer_event::schema::AgentId;
use agent_tracer_event::{Channel, Millis, Outcome, words};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

words! {
    /// The condition of the tracer.
    HealthStatus {
        /// No problem is known.
        Ok = "ok",
        /// Something needs a look: `problems` says what.
        Degraded = "degraded",
    }
}

words! {
    /// The kind of a store.
    StoreKind {
        /// The embedded store of one machine.
        Sqlite = "sqlite",
        /// The store of a team.
        Clickhouse = "clickhouse",
    }
}

/// State of the server, its store and its sources.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// The condition: `degraded` comes with problems below.
    #[schema(value_type = HealthStatus)]
    pub status: String,
    /// The version of the server.
    pub version: String,
    /// The store. Absent while the store cannot answer, as is every field that is read from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<StoreHealth>,
    /// Newest `seq`: the last place in the order of delivery.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The spool.
    pub spool: SpoolHealth,
    /// Ingestion outcomes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcomes: Option<OutcomeCounts>,
    /// Reasons of malformed and refused observations, most frequent first; at most fifty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasons: Option<Vec<OutcomeReason>>,
    /// Age of the oldest envelope that waits, in milliseconds.
    pub lag_ms: u64,
    /// Sources of observations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sources: Option<Vec<SourceHealth>>,
    /// Unrecognised names, most frequent first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unrecognised: Option<Vec<UnrecognisedName>>,
    /// Progress of importing the agents' history. Absent where none is imported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub import: Option<ImportHealth>,
    /// Retention of events.
    pub retention: RetentionHealth,
    /// Shipping to a team's server. Absent where nothing is shipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ship: Option<ShipHealth>,
    /// Faults of the store since the server started. Absent where another server owns the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults: Option<StoreFaults>,
    /// Problems, each with what to do about it.
    pub problems: Vec<String>,
}

/// Faults of the store since the server started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoreFaults {
    /// True while the store accepts writes. Otherwise observations wait in the spool and posts are refused.
    pub recording: bool,
    /// Writes that failed, by reason.
    #[schema(value_type = Object)]
    pub write_failures: std::collections::BTreeMap<String, u64>,
    /// Queries that failed because of damage.
    pub read_failures: u64,
    /// Damaged places in the journal of posts.
    pub damaged_posts: u64,
    /// Damaged commits in the store's write-ahead log.
    pub damaged_commits: u64,
    /// Pages of the store that differ from what was written.
    pub damaged_pages: u64,
    /// Pages that another program changed while no server used the store.
    pub changed_pages: u64,
    /// Progress of comparing the store's pages with their checksums.
    pub check: PageCheck,
    /// Posted events that could not be written and were set aside.
    pub set_aside: u64,
    /// Agents' files that could not be recorded and are retried later.
    pub parked_files: u64,
    /// Faults that need a person now. Also listed in `problems` of the whole.
    pub problems: Vec<String>,
}

/// Progress of comparing the store's pages with their checksums, round after round while the server runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PageCheck {
    /// Pages in the store's file.
    pub pages: u64,
    /// Pages compared in this round.
    pub checked: u64,
    /// Rounds completed since the server started.
    pub rounds: u64,
    /// Age of the last completed round, in milliseconds. Absent before the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_round_age_ms: Option<u64>,
    /// Number of times the checksums were rebuilt because they were missing or unusable.
    pub sums_remade: u64,
    /// Reason of the last rebuild.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remade_because: Option<String>,
}

/// Shipping to a team's server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShipHealth {
    /// Address of the team's server.
    pub to: String,
    /// Changes that wait to be shipped.
    pub behind: u64,
    /// Reason why nothing is shipped at the moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Progress of importing the agents' history, once at each start of the server. Numbers grow until it is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportHealth {
    /// True while the import runs.
    pub running: bool,
    /// Files read so far.
    pub files: u64,
    /// Files to read.
    pub files_total: u64,
    /// Bytes read so far.
    pub bytes: u64,
    /// Bytes to read, as known at the start.
    pub bytes_total: u64,
    /// Rows that the import added.
    pub rows: u64,
}

/// Retention of events, and what the server dropped since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RetentionHealth {
    /// Days without activity after which a task's events are dropped; absent if they are kept for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub days: Option<u32>,
    /// Time of the last run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_at: Option<Millis>,
    /// Tasks whose events were dropped.
    pub tasks: u64,
    /// Events dropped.
    pub events: u64,
}

/// The store.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoreHealth {
    /// The kind of store.
    #[schema(value_type = StoreKind)]
    pub kind: String,
    /// Size on disk in bytes.
    pub bytes: u64,
    /// Entries.
    pub entries: u64,
    /// Rows of timelines.
    pub events: u64,
    /// Tasks.
    pub tasks: u64,
    /// Rows that search does not index yet.
    pub search_lag: u64,
    /// Version of the schema.
    pub schema: u32,
}

/// The spool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SpoolHealth {
    /// Envelopes that wait.
    pub waiting: u64,
    /// Envelopes that could not be read and were set aside.
    pub quarantined: u64,
    /// Observations that the hook lost, by reason.
    #[schema(value_type = Object)]
    pub lost: std::collections::BTreeMap<String, u64>,
}

/// Ingestion outcomes. `received` is the sum of the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutcomeCounts {
    /// Observations that arrived.
    pub received: u64,
    /// Observations that changed something.
    pub recorded: u64,
    /// Observations that were known already.
    pub duplicate: u64,
    /// Well-formed observations that no reader knows.
    pub unrecognised: u64,
    /// Observations that could not be parsed.
    pub malformed: u64,
    /// Observations that were not allowed.
    pub refused: u64,
}

/// One reason for which observations were not recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutcomeReason {
    /// The outcome: `malformed` or `refused`.
    #[schema(value_type = Outcome)]
    pub outcome: String,
    /// Channel of the observations.
    #[schema(value_type = Channel)]
    pub channel: String,
    /// The reason.
    pub reason: String,
    /// Number of observations.
    pub count: u64,
    /// Arrival of the latest one.
    #[schema(value_type = String, format = DateTime)]
    pub last_at: Millis,
}

/// One source of observations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceHealth {
    /// The channel, or a folder of transcripts.
    pub name: String,
    /// Time of its latest observation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_at: Option<Millis>,
    /// Number of observations.
    pub observations: u64,
    /// Files known, for folders.
    pub files: u64,
    /// Bytes read, for folders.
    pub bytes: u64,
    /// Problem of this source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// A name that no reader recognises.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnrecognisedName {
    /// The agent.
    #[schema(value_type = AgentId)]
    pub agent: String,
    /// The version of the client.
    pub client_version: String,
    /// `event`, `tool`, `field`, `value`, `row` or `line`.
    pub what: String,
    /// The name.
    pub name: String,
    /// Number of occurrences.
    pub count: u64,
}
