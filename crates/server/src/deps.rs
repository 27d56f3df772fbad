//! Dependencies of the server: a store to query, a ledger to append to, a clock, and the settings of privacy.
//!
//! The server opens no file, reads no clock and knows no home. The program that starts it injects these.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use agent_tracer_event::{Millis, TaskId};
use agent_tracer_intake::Privacy;
use agent_tracer_jobs::alerts::Counts;
use agent_tracer_jobs::compaction::{FileSnapshot, ScanResult, Side};
use agent_tracer_ledger::shipment::Shipment;
use agent_tracer_ledger::view::{
    ImportHealth, Page, RetentionHealth, ShipHealth, SpoolHealth, StoreFaults, Task,
};
use agent_tracer_ledger::{Answer, AppendError, Batch, FaultCause, OwnerFilter, Paging, Receipt, Store};
use agent_tracer_policy::daemon::ActiveRules;
use agent_tracer_policy::{Decision, Mode, OnOutage, Origin, Severity};
use agent_tracer_spool::Home;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::config::Scope;
use crate::live::Live;

/// Called on the writer's thread when a batch is on disk, or could not be written.
pub type WriteCallback = Box<dyn FnOnce(Result<Receipt, AppendError>) + Send>;

/// Takes observations.
pub trait Append: Send + Sync {
    /// Queues a batch; `done` is called once it is on disk. A full queue gives the batch back.
    fn submit(&self, batch: Batch, done: WriteCallback) -> Result<(), Box<Batch>>;

    /// Queues observations that each stand for themselves: they may be written down first and folded soon after.
    /// `done` is called once they are on disk.
    fn post(&self, batch: Batch, done: WriteCallback) -> Result<(), Box<Batch>> {
        self.submit(batch, done)
    }

    /// Returns a check for data that was acknowledged and is soon folded; `None` if nothing waits.
    fn soon(&self) -> Option<Box<dyn Fn() -> bool + Send + Sync>> {
        None
    }
}

/// The state of the spool, and problems around the server.
#[derive(Clone, Debug, Default)]
pub struct SpoolView {
    /// The spool.
    pub health: SpoolHealth,
    /// The age of the oldest envelope that waits.
    pub lag_ms: u64,
    /// Bytes of what was posted, is on disk and waits to be folded.
    pub posted_bytes: u64,
    /// Counts of alerts since the server began; none where no alerts are sent.
    pub alerts: Option<Counts>,
    /// Progress of reading the history of the agents.
    pub import: Option<ImportHealth>,
    /// The retention of events.
    pub retention: RetentionHealth,
    /// Progress of shipping to a team's server.
    pub ship: Option<ShipHealth>,
    /// Times that the file that names this process was removed.
    pub lock_removals: u64,
    /// Faults of the store; none where this server does not write it.
    pub faults: Option<StoreFaults>,
    /// Problems with their hints.
    pub problems: Vec<String>,
}

impl SpoolView {
    /// Describes a spool with these losses, by reason.
    #[must_use]
    pub fn with_lost(lost: BTreeMap<String, u64>) -> Self {
        Self { health: SpoolHealth { lost, ..SpoolHealth::default() }, ..Self::default() }
    }
}

/// Sessions of which nothing may be recorded, as far as they were known before the server started.
#[derive(Clone)]
pub struct ExcludedSessions {
    /// Their tasks, the oldest first.
    pub tasks: Vec<TaskId>,
    /// Keeps one more. Called where waiting is allowed.
    pub keep: Arc<dyn Fn(&TaskId) + Send + Sync>,
}

impl Default for ExcludedSessions {
    /// Returns an empty list that keeps nothing.
    fn default() -> Self {
        Self { tasks: Vec::new(), keep: Arc::new(|_| {}) }
    }
}

/// A file of the dashboard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asset {
    /// Its media type.
    pub content_type: &'static str,
    /// Its bytes.
    pub plain: &'static [u8],
    /// Its bytes, compressed with gzip, if that is smaller.
    pub gzip: Option<&'static [u8]>,
    /// Its bytes, compressed with Brotli, if that is smaller.
    pub brotli: Option<&'static [u8]>,
}

/// The cause of a failed dependency, as a text for people with its hint.
// Boxed: the parts behind it fail in their own ways, and the server only passes the text on.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Returns a value that may change from call to call.
pub type Provider<T> = Arc<dyn Fn() -> T + Send + Sync>;

/// Finds a file of the dashboard.
pub type FindAsset = Arc<dyn Fn(&str) -> Option<Asset> + Send + Sync>;

/// The holder of a team token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its scope.
    pub scope: Scope,
    /// The person or machine.
    pub owner: Arc<str>,
}

/// A reason why a shipment was not stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShipmentError {
    /// It cannot be taken as it is.
    #[error(transparent)]
    Bad(FaultCause),
    /// It cannot be taken now.
    #[error(transparent)]
    Later(FaultCause),
}

/// Finds the holder of a token.
pub type FindHolder = Arc<dyn Fn(&str) -> Option<Holder> + Send + Sync>;

/// Stores a shipment under its owner.
pub type StoreShipment = Arc<dyn Fn(&str, &Shipment) -> Result<(), ShipmentError> + Send + Sync>;

/// An access to sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessEvent<'request> {
    /// The name of the token or of the proxy's user; none is the owner of the server itself.
    pub reader: Option<&'request str>,
    /// The query, as the reference names its path; usage by task is `/usage?by=task`.
    pub path: &'request str,
    /// The task or event of the query; empty: none.
    pub id: &'request str,
    /// The owner and the machine it is narrowed to.
    pub owners: &'request OwnerFilter,
}

/// Records an access to sessions.
pub type RecordAccess = Arc<dyn Fn(AccessEvent<'_>) -> Result<(), Cause> + Send + Sync>;

/// A recorded access to sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// The time.
    #[schema(value_type = String, format = DateTime)]
    pub at: Millis,
    /// The reader: the name from their token or their proxy.
    pub reader: String,
    /// The owner of the sessions; `*` is a list of all owners.
    pub owner: String,
    /// The task that was shown; absent for a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The query, as its path names it.
    pub question: String,
}

/// Filters accesses. Newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// To this person's sessions.
    pub owner: Option<String>,
    /// By this person.
    pub reader: Option<String>,
    /// At or after this.
    pub since: Option<Millis>,
    /// Before this.
    pub until: Option<Millis>,
    /// The page.
    pub paging: Paging,
}

/// Lists accesses to sessions.
pub type ListAccess = Arc<dyn Fn(&AuditFilter) -> Answer<Page<AuditEntry>> + Send + Sync>;

/// The team side of a server: tokens of people and machines, shipments, the audit.
#[derive(Clone)]
pub struct Team {
    /// Finds the holder of a token. Never waits.
    pub holder: FindHolder,
    /// Stores a shipment. Called where waiting is allowed; when it returns, it is stored.
    pub take: StoreShipment,
    /// Records an access before it is answered. Called where waiting is allowed.
    pub record_access: RecordAccess,
    /// Lists accesses. Called where waiting is allowed.
    pub list_access: ListAccess,
}

/// A file of rules, as the server lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyFile {
    /// The file.
    pub path: String,
    /// The root of the project, if it is a project's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Its origin. Rules of a project that is not trusted may only deny, ask and warn.
    #[schema(value_type = Origin)]
    pub origin: String,
    /// The SHA-256 of the rules in force, which is what `policy trust` remembers; absent if none are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The number of its rules in force.
    pub rules: u64,
    /// The reason why the rules in force differ from the file as it is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// A rule in force, as the server lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActiveRule {
    /// Its name.
    pub name: String,
    /// The file it stands in.
    pub source: String,
    /// The line in the file, counted from one.
    pub line: u64,
    /// Its origin.
    #[schema(value_type = Origin)]
    pub origin: String,
    /// The root of the project, if it is a project's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Its description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The events at which it speaks.
    pub events: Vec<String>,
    /// Its decision.
    #[schema(value_type = Decision)]
    pub decision: String,
    /// Its conditions, each a line for people; none means every such event.
    pub matches: Vec<String>,
    /// The text for the model.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Its mode: it acts, or its decisions are only recorded.
    #[schema(value_type = Mode)]
    pub mode: String,
    /// Its severity.
    #[schema(value_type = Severity)]
    pub severity: String,
    /// The decision when its conditions cannot be evaluated.
    #[schema(value_type = OnOutage)]
    pub on_outage: String,
    /// True if it acts: not if it only rehearses, or is a project's that may not.
    pub enabled: bool,
}

/// The rules that are in force, and where they stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyListing {
    /// The files, the user's first.
    pub files: Vec<PolicyFile>,
    /// The rules, the user's first.
    pub rules: Vec<ActiveRule>,
    /// The time a hook waits for an answer, in milliseconds.
    pub deadline_ms: u32,
    /// Problems of the rules.
    pub problems: Vec<String>,
}

impl PolicyListing {
    /// Describes the rules in force now.
    #[must_use]
    pub fn from_rules(active: &ActiveRules) -> Self {
        let text = |path: &Path| path.display().to_string();
        let files = active.files().into_iter().map(|file| PolicyFile {
            path: text(&file.path),
            project: file.project.as_deref().map(text),
            origin: file.origin.as_str().to_owned(),
            sha256: Some(file.sha256).filter(|hash| !hash.is_empty()),
            rules: file.rules as u64,
            problem: file.problem,
        });
        let rules = active.rules().into_iter().map(|listed| {
            let rule = listed.rule;
            ActiveRule {
                enabled: rule.mode == Mode::Enforce && listed.origin.may(rule.decision),
                source: text(&listed.path),
                line: rule.line as u64,
                origin: listed.origin.as_str().to_owned(),
                project: listed.project.as_deref().map(text),
                events: rule.events.iter().map(|event| event.as_str().to_owned()).collect(),
                decision: rule.decision.as_str().to_owned(),
                matches: rule.in_words(),
                mode: rule.mode.as_str().to_owned(),
                severity: rule.severity.as_str().to_owned(),
                on_outage: rule.on_outage.as_str().to_owned(),
                name: rule.name,
                description: rule.description,
                reason: rule.reason,
            }
        });
        Self {
            files: files.collect(),
            rules: rules.collect(),
            deadline_ms: active.deadline_ms(),
            problems: active.problems(),
        }
    }
}

/// Reads the agent's own file of a task: its compactions, with what hooks saw when they began, and the pieces of one side
/// of one of them. `None` if the file is gone. Called where waiting is allowed.
pub type ReadCompactions = Arc<
    dyn Fn(&Task, &[FileSnapshot], Option<(u64, Side, u64, usize)>) -> Result<Option<ScanResult>, Cause>
        + Send
        + Sync,
>;

/// Optional capabilities of a server. None by default.
#[derive(Clone, Default)]
pub struct Capabilities {
    /// The surroundings for replaying rules; none where there are no rules.
    pub backtest: Option<agent_tracer_policy::backtest::Setting>,
    /// Reads the agent's own file of a task; none where those files are elsewhere.
    pub compactions: Option<ReadCompactions>,
}

/// Everything that is injected into the server.
#[derive(Clone)]
pub struct ServerDeps {
    /// Answers questions.
    pub store: Arc<dyn Store>,
    /// Takes what is posted.
    pub append: Arc<dyn Append>,
    /// Rows as they are committed.
    pub live: Live,
    /// Returns the current time.
    pub clock: Provider<Millis>,
    /// Describes the spool. Called where waiting is allowed.
    pub spool: Provider<SpoolView>,
    /// The home whose spool keeps dead letters; none where there is no spool.
    pub home: Option<Home>,
    /// Returns the current settings of privacy: the user may edit them at any time. On an error nothing is recorded.
    /// Called where waiting is allowed.
    pub privacy: Provider<Result<Arc<Privacy>, Cause>>,
    /// Describes the rules in force.
    pub rules: Provider<PolicyListing>,
    /// Sessions that were excluded before.
    pub excluded: ExcludedSessions,
    /// Returns whether a session ran while recording was off, by the agent's id of it. Called for every event that is
    /// posted, so it must not take long.
    pub unrecorded: Arc<dyn Fn(&str) -> bool + Send + Sync>,
    /// A file of the dashboard by its path without the first slash; `index.html` is the page itself.
    pub assets: FindAsset,
    /// Optional capabilities.
    pub capabilities: Capabilities,
    /// The team side; none is the server of one machine.
    pub team: Option<Team>,
}

impl fmt::Debug for ServerDeps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerDeps").finish_non_exhaustive()
    }
}
