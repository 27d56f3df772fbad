//! The report of a salvage.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;

use agent_tracer_event::Millis;

use super::super::{AppendError, OpenError};

/// A stretch of time, as far as its ends are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostSpan {
    /// The last event before it that was salvaged.
    pub from: Option<Millis>,
    /// The first event behind it that was.
    pub to: Option<Millis>,
}

/// The result of a salvage: the rows that were saved and those that were not.
#[derive(Clone, Debug, Default)]
pub struct Salvage {
    /// Tasks of the new store that have events.
    pub tasks: u64,
    /// Events of them.
    pub events: u64,
    /// The moment when the newest of them was last active.
    pub newest: Option<Millis>,
    /// Rows that were taken, by table.
    pub rows: BTreeMap<&'static str, u64>,
    /// Pages that should be there and cannot be read.
    pub damaged_pages: u64,
    /// Rows that cannot be read, or that contradict themselves.
    pub damaged_rows: u64,
    /// Tables of which something is missing.
    pub damaged_tables: Vec<&'static str>,
    /// Pages of which one bit was wrong, and which were read as they had been written.
    pub mended_pages: u64,
    /// Pages that are not what was written and were read as they are: which of their bytes are wrong is unknown.
    pub suspect_pages: u64,
    /// Tables of which rows were taken from such pages.
    pub suspect_tables: Vec<&'static str>,
    /// Tasks of which rows were, by their ids.
    pub suspect_tasks: BTreeSet<String>,
    /// Tasks that were there and of which nothing could be salvaged, by their ids.
    pub lost_tasks: Vec<String>,
    /// Tasks of which entries are missing, with how many, as far as an index still names them.
    pub incomplete_tasks: BTreeMap<String, u64>,
    /// Entries that are missing; none if nothing says how many there were.
    pub lost_entries: Option<u64>,
    /// The moment when what is missing was recorded, as far as that is known.
    pub lost_stretches: Vec<LostSpan>,
    /// Posts that were folded from the journal.
    pub posts: u64,
    /// Sources that were there before them.
    pub(super) sources: u64,
    /// Places of the journal that cannot be read.
    pub damaged_posts: u64,
    /// Pages of the log that were used.
    pub log_pages: u64,
    /// Pages of the log that cannot be read.
    pub damaged_log_pages: u64,
    /// Why the log was left out.
    pub foreign_log: Option<String>,
}

impl Salvage {
    /// Returns whether nothing is missing and nothing may be wrong.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.damaged_pages + self.damaged_rows + self.damaged_posts + self.damaged_log_pages == 0
            && self.lost_entries.unwrap_or(0) == 0
            && self.lost_tasks.is_empty()
            && self.foreign_log.is_none()
            && self.suspect_pages == 0
    }

    /// Returns whether the list of tasks that were deleted on purpose is damaged: such a task may come back.
    #[must_use]
    pub fn has_lost_deletions(&self) -> bool {
        self.damaged_tables.contains(&"tombstone")
    }
}

/// Why nothing was salvaged.
#[derive(Debug)]
pub enum SalvageError {
    /// There is something where the new store should be.
    Exists,
    /// A newer version of Agent Tracer wrote it.
    Newer {
        /// Its schema.
        found: i32,
        /// The newest schema that this version knows.
        known: i32,
    },
    /// Some other program wrote it.
    NotOurs,
    /// Nothing of a store is in it; what it is.
    Nothing(String),
    /// The damaged files cannot be read.
    Read(io::Error),
    /// The new store cannot be made.
    Open(OpenError),
    /// The new store cannot be written.
    Write(AppendError),
}

impl fmt::Display for SalvageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exists => f.write_str("there is a file where the new store should be"),
            Self::Newer { found, known } => OpenError::Newer { found: *found, known: *known }.fmt(f),
            Self::NotOurs => OpenError::NotOurs.fmt(f),
            Self::Nothing(what) => write!(f, "nothing can be salvaged: {what}"),
            Self::Read(_) => f.write_str("the damaged files cannot be read"),
            Self::Open(_) => f.write_str("the new store cannot be made"),
            Self::Write(_) => f.write_str("the new store cannot be written"),
        }
    }
}

impl std::error::Error for SalvageError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read(cause) => Some(cause),
            Self::Open(error) => Some(error),
            Self::Write(error) => Some(error),
            Self::Exists | Self::Newer { .. } | Self::NotOurs | Self::Nothing(_) => None,
        }
    }
}

impl From<OpenError> for SalvageError {
    fn from(error: OpenError) -> Self {
        Self::Open(error)
    }
}

impl From<AppendError> for SalvageError {
    fn from(error: AppendError) -> Self {
        Self::Write(error)
    }
}
