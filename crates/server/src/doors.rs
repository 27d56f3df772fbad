//! What the server is given: a store to ask, a ledger to bring things to, a clock, and what it may keep.
//!
//! The server opens no file, reads no clock and knows no home. Whoever starts it hands these in.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use agent_tracer_event::{Millis, TaskId};
use agent_tracer_intake::Privacy;
use agent_tracer_jobs::alerts::Counts;
use agent_tracer_jobs::compaction::{Scanned, Seen, Side};
use agent_tracer_ledger::record::Shipment;
use agent_tracer_ledger::view::{
    ImportHealth, Page, RetentionHealth, ShipHealth, SpoolHealth, StoreFaults, Task,
};
use agent_tracer_ledger::{Answer, AppendError, Batch, OwnerFilter, Paging, Receipt, Store};
use agent_tracer_policy::Mode;
use agent_tracer_policy::daemon::Book;
use agent_tracer_spool::Home;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::config::Scope;
use crate::live::Live;

/// What is called when a batch is on disk, or could not be written. Called on the writer's thread.
pub type Done = Box<dyn FnOnce(Result<Receipt, AppendError>) + Send>;

/// Where observations are brought.
pub trait Append: Send + Sync {
    /// Queues a batch; `done` is called once it is on disk. A full queue gives the batch back.
    fn submit(&self, batch: Batch, done: Done) -> Result<(), Box<Batch>>;

    /// The same for observations that each stand for themselves: they may be written down first and folded soon after.
    /// `done` is called once they are on disk.
    fn post(&self, batch: Batch, done: Done) -> Result<(), Box<Batch>> {
        self.submit(batch, done)
    }

    /// If something that was acknowledged cannot be asked for yet, but soon: tells, whenever it is asked, whether it can.
    fn soon(&self) -> Option<Box<dyn Fn() -> bool + Send + Sync>> {
        None
    }
}

/// What the spool looks like, and what else is wrong around the server.
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
    /// How far the history of the agents is read.
    pub import: Option<ImportHealth>,
    /// How long events are kept.
    pub retention: RetentionHealth,
    /// How far the way to a team's server is gone.
    pub ship: Option<ShipHealth>,
    /// How often the file that names this process was taken away.
    pub lock_removals: u64,
    /// What went wrong with the store; none where this server does not write it.
    pub faults: Option<StoreFaults>,
    /// What is wrong, and what to do about it.
    pub problems: Vec<String>,
}

impl SpoolView {
    /// A spool of which these were lost, by reason.
    #[must_use]
    pub fn with_lost(lost: BTreeMap<String, u64>) -> Self {
        Self { health: SpoolHealth { lost, ..SpoolHealth::default() }, ..Self::default() }
    }
}

/// Sessions of which nothing may be recorded, as far as they were known before the server started.
#[derive(Clone)]
pub struct Remembered {
    /// Their tasks, the oldest first.
    pub tasks: Vec<TaskId>,
    /// Keeps one more. Called where waiting is allowed.
    pub keep: Arc<dyn Fn(&TaskId) + Send + Sync>,
}

impl Default for Remembered {
    /// None, and no place to keep any.
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

/// Why an injected function failed, as a text for people with its hint.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Something that is asked whenever it is needed, because it may have changed.
pub type Ask<T> = Arc<dyn Fn() -> T + Send + Sync>;

/// Finds a file of the dashboard.
pub type FindAsset = Arc<dyn Fn(&str) -> Option<Asset> + Send + Sync>;

/// Whose a token of a team is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// What it allows.
    pub scope: Scope,
    /// The person or machine.
    pub owner: Arc<str>,
}

/// Why a shipment was not stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShipmentError {
    /// It cannot be taken as it is.
    #[error("{0}")]
    Bad(String),
    /// It cannot be taken now.
    #[error("{0}")]
    Later(String),
}

/// Finds whose a token is.
pub type FindHolder = Arc<dyn Fn(&str) -> Option<Holder> + Send + Sync>;

/// Stores a shipment under its owner.
pub type TakeShipment = Arc<dyn Fn(&str, &Shipment) -> Result<(), ShipmentError> + Send + Sync>;

/// Somebody looks at sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look<'asked> {
    /// Whose token or name was shown; none is the owner of the server itself.
    pub reader: Option<&'asked str>,
    /// The question, as the reference names its path; what was spent by task is `/usage?by=task`.
    pub path: &'asked str,
    /// The task or event that is asked about; empty: none.
    pub id: &'asked str,
    /// Whom and which machine it is narrowed to.
    pub owners: &'asked OwnerFilter,
}

/// Keeps that somebody looks at sessions.
pub type NoteLook = Arc<dyn Fn(Look<'_>) -> Result<(), Cause> + Send + Sync>;

/// Somebody looked at somebody's sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub at: Millis,
    /// Who looked: the name that their token or their proxy gave.
    pub reader: String,
    /// Whose sessions were shown; `*` is a list of everybody's.
    pub owner: String,
    /// The task that was shown; absent for a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The question, as its path names it.
    pub question: String,
}

/// Which looks are asked for. Newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// At this person's sessions.
    pub owner: Option<String>,
    /// By this person.
    pub reader: Option<String>,
    /// At or after this.
    pub since: Option<Millis>,
    /// Before this.
    pub until: Option<Millis>,
    /// Which part.
    pub paging: Paging,
}

/// Tells who looked at what.
pub type ListLooks = Arc<dyn Fn(&AuditFilter) -> Answer<Page<AuditEntry>> + Send + Sync>;

/// What makes a server a team's: it knows the tokens of people and machines, and takes what those ship.
#[derive(Clone)]
pub struct Team {
    /// Finds whose a token is. Never waits.
    pub holder: FindHolder,
    /// Stores a shipment. Called where waiting is allowed; when it returns, it is stored.
    pub take: TakeShipment,
    /// Keeps who looks at what, before they are answered. Called where waiting is allowed.
    pub look: NoteLook,
    /// Tells who looked at what. Called where waiting is allowed.
    pub looks: ListLooks,
}

/// A file of rules, as far as the server tells of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyFile {
    /// The file.
    pub path: String,
    /// The root of the project, if it is a project's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Whose it is: `user`, `project` (it may only deny, ask and warn) or `trusted_project`.
    pub origin: String,
    /// The SHA-256 of the rules in force, which is what `policy trust` remembers; absent if none are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// How many rules of it are in force.
    pub rules: u64,
    /// Why the rules in force are not those of the file as it is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// A rule that is in force, as far as the server tells of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleInForce {
    /// Its name.
    pub name: String,
    /// The file it stands in.
    pub source: String,
    /// Where in the file, counted from one.
    pub line: u64,
    /// Whose it is: `user`, `project` or `trusted_project`.
    pub origin: String,
    /// The root of the project, if it is a project's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The events at which it speaks.
    pub events: Vec<String>,
    /// What it wants: `allow`, `rewrite`, `warn`, `ask`, `deny` or `stop`.
    pub decision: String,
    /// What has to be so, each a line that a person reads; none means every such event.
    pub matches: Vec<String>,
    /// What the model is told.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// `enforce` or `dry_run`.
    pub mode: String,
    /// How much a person should care: `info`, `low`, `medium`, `high` or `critical`.
    pub severity: String,
    /// What holds when nobody can tell whether it applies: `allow`, `ask` or `deny`.
    pub on_outage: String,
    /// Whether it acts: not if it only rehearses, or is a project's that may not.
    pub enabled: bool,
}

/// The rules that are in force, and where they stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RulesInForce {
    /// The files, the user's first.
    pub files: Vec<PolicyFile>,
    /// The rules, the user's first.
    pub rules: Vec<RuleInForce>,
    /// How long a hook waits for an answer, in milliseconds.
    pub deadline_ms: u32,
    /// What is wrong with the rules.
    pub problems: Vec<String>,
}

impl RulesInForce {
    /// Describes the rules that a book holds now.
    #[must_use]
    pub fn of(book: &Book) -> Self {
        let text = |path: &Path| path.display().to_string();
        let files = book.files().into_iter().map(|file| PolicyFile {
            path: text(&file.path),
            project: file.project.as_deref().map(text),
            origin: file.origin.as_str().to_owned(),
            sha256: Some(file.sha256).filter(|hash| !hash.is_empty()),
            rules: file.rules as u64,
            problem: file.wrong,
        });
        let rules = book.rules().into_iter().map(|listed| {
            let rule = listed.rule;
            RuleInForce {
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
            deadline_ms: book.deadline_ms(),
            problems: book.problems(),
        }
    }
}

/// Reads the agent's own file of a task: its compactions, with what hooks saw when they began, and the pieces of one side
/// of one of them. `None` if the file is gone. Called where waiting is allowed.
pub type AskCompactions = Arc<
    dyn Fn(&Task, &[Seen], Option<(u64, Side, u64, usize)>) -> Result<Option<Scanned>, Cause> + Send + Sync,
>;

/// What a server can do beyond answering, where whoever starts it lets it. Nothing by default.
#[derive(Clone, Default)]
pub struct Acts {
    /// What replaying rules needs to know of this machine; none where there are no rules.
    pub backtest: Option<agent_tracer_policy::backtest::Setting>,
    /// Reads the agent's own file of a task; none where those files are elsewhere.
    pub compactions: Option<AskCompactions>,
}

/// Everything that the server needs of others.
#[derive(Clone)]
pub struct Doors {
    /// Answers questions.
    pub store: Arc<dyn Store>,
    /// Takes what is posted.
    pub append: Arc<dyn Append>,
    /// Rows as they are committed.
    pub live: Live,
    /// What time it is.
    pub clock: Ask<Millis>,
    /// What the spool looks like. Asked where waiting is allowed.
    pub spool: Ask<SpoolView>,
    /// The home whose spool keeps dead letters; none where there is no spool.
    pub home: Option<Home>,
    /// What may be kept, as it is now: the user may edit it at any time. An error says why that is not known; then nothing
    /// may be. Asked where waiting is allowed.
    pub privacy: Ask<Result<Arc<Privacy>, Cause>>,
    /// The rules that are in force.
    pub rules: Ask<RulesInForce>,
    /// Sessions that were excluded before.
    pub excluded: Remembered,
    /// Whether a session ran while recording was switched off, by the agent's id of it. Asked for every event that is
    /// posted, so it must not take long.
    pub unrecorded: Arc<dyn Fn(&str) -> bool + Send + Sync>,
    /// A file of the dashboard by its path without the first slash; `index.html` is the page itself.
    pub assets: FindAsset,
    /// What it can do beyond answering.
    pub acts: Acts,
    /// What makes it a team's server; none is the server of one machine.
    pub team: Option<Team>,
}

impl fmt::Debug for Doors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Doors").finish_non_exhaustive()
    }
}
