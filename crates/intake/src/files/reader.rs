//! One interface for the readers of both agents.

use std::path::Path;

use agent_tracer_agents::claude::transcript::{RowReading, TranscriptFile, TranscriptReader};
use agent_tracer_agents::codex::rollout::{RolloutReader, Row};
use agent_tracer_agents::files::{Line, Rules};
use agent_tracer_event::{Millis, Reading, Unrecognised};
use agent_tracer_ledger::Verdict;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::find::Kind;
use crate::privacy::Privacy;

/// Reads the lines of one file in their order.
#[derive(Clone, Debug)]
pub(super) enum Reader {
    Transcript { stem: String, reader: Box<TranscriptReader> },
    Rollout { reader: Box<RolloutReader> },
}

impl Reader {
    /// Starts at the beginning of a file; `None` for a file without rows.
    pub(super) fn start(kind: &Kind, path: &Path) -> Option<Self> {
        match kind {
            Kind::Transcript(file) => Some(Self::Transcript {
                stem: stem(file),
                reader: Box::new(TranscriptReader::new(file.clone())),
            }),
            Kind::Rollout { .. } => {
                Some(Self::Rollout { reader: Box::new(RolloutReader::new(&path.to_string_lossy())) })
            }
            Kind::Meta(_) => None,
        }
    }

    /// Goes on from the state of another reader of the same file; `None` if that cannot be decoded.
    pub(super) fn resume(kind: &Kind, path: &Path, state: &[u8]) -> Option<Self> {
        match kind {
            Kind::Transcript(file) => Some(Self::Transcript {
                stem: stem(file),
                reader: Box::new(TranscriptReader::resume(file.clone(), serde_json::from_slice(state).ok()?)),
            }),
            Kind::Rollout { .. } => {
                let state = serde_json::from_slice(state).ok()?;
                Some(Self::Rollout {
                    reader: Box::new(RolloutReader::resume(&path.to_string_lossy(), state)),
                })
            }
            Kind::Meta(_) => None,
        }
    }

    /// Resumes after the user has changed the exclusions: the decision about the file's directory is taken anew.
    pub(super) fn reconsider(self, kind: &Kind, path: &Path, privacy: &Privacy) -> Option<Self> {
        let mut state: serde_json::Value = serde_json::from_slice(&self.state()).ok()?;
        let members = state.as_object_mut()?;
        match self {
            // Nothing is recorded until a row names the directory again.
            Self::Transcript { .. } => drop(members.remove("directory")),
            Self::Rollout { reader } => {
                let cwd = reader.state().cwd.as_deref();
                let excludes =
                    |cwd: &str| privacy.config.excludes(cwd.as_bytes(), privacy.home_dir.as_deref());
                members.insert("excluded".to_owned(), cwd.map_or(reader.state().excluded, excludes).into());
            }
        }
        Self::resume(kind, path, &serde_json::to_vec(&state).ok()?)
    }

    /// Returns the state from which another reader can go on.
    pub(super) fn state(&self) -> Vec<u8> {
        match self {
            Self::Transcript { reader, .. } => serde_json::to_vec(reader.state()),
            Self::Rollout { reader } => serde_json::to_vec(reader.state()),
        }
        .unwrap_or_default()
    }

    /// Returns `true` if nothing of the file may be recorded; `None` until it names a directory.
    pub(super) fn is_excluded(&self) -> Option<bool> {
        match self {
            Self::Transcript { reader, .. } => reader.state().is_excluded(),
            Self::Rollout { reader } => reader.state().named.then_some(reader.state().excluded),
        }
    }

    /// Reads a line. `written` is used only where nothing in the file has a time. `None` if the line has no
    /// observation.
    pub(super) fn read(&mut self, rules: &Rules<'_>, line: &Line<'_>, written: Millis) -> Option<Verdict> {
        let malformed = || Verdict::Malformed("not a JSON object".to_owned());
        match self {
            Self::Transcript { reader, .. } => {
                let row = match *line {
                    Line::Complete { bytes, offset } => reader.read(rules, bytes, offset, written),
                    Line::TooLong { offset, length, head, tail } => {
                        reader.read_remains(rules, head, tail, length, offset, written)
                    }
                };
                match row {
                    RowReading::Read(reading) => Some(Verdict::Read(reading)),
                    RowReading::Copied(reading) => {
                        (!reading.entries.is_empty()).then_some(Verdict::Read(reading))
                    }
                    RowReading::Malformed => (reader.state().is_excluded() != Some(true)).then(malformed),
                    RowReading::Skipped | RowReading::Excluded => None,
                }
            }
            Self::Rollout { reader } => {
                let row = match *line {
                    Line::Complete { bytes, offset } => reader.read(rules, bytes, offset, written),
                    // The cut line has a type at its beginning, but no identity.
                    Line::TooLong { .. } => Row::Read(Reading {
                        unrecognised: vec![Unrecognised::Line("too long".to_owned())],
                        ..Reading::default()
                    }),
                };
                match row {
                    _ if reader.state().excluded => None,
                    Row::Read(reading) => Some(Verdict::Read(reading)),
                    Row::Malformed => Some(malformed()),
                    Row::Skipped | Row::Copied | Row::Excluded => None,
                }
            }
        }
    }

    /// Returns the observation of a finished file. It changes the state, so both must be stored together.
    pub(super) fn settle(&mut self, rules: &Rules<'_>) -> Option<Reading> {
        let reading = match self {
            Self::Transcript { reader, .. } => reader.finish(rules),
            Self::Rollout { .. } => return None,
        };
        (!reading.entries.is_empty()).then_some(reading)
    }

    /// Returns the name of a line: its file, its place and a hash of its bytes. It is the same wherever the file lies,
    /// and differs if the file was rewritten with another line at this place.
    pub(super) fn name(&self, line: &Line<'_>) -> String {
        let (offset, hash) = match *line {
            Line::Complete { bytes, offset } => (offset, xxh3_64(bytes.trim_ascii_end())),
            Line::TooLong { offset, length, head, tail } => {
                let mut hasher = Xxh3::new();
                hasher.update(&length.to_le_bytes());
                hasher.update(head);
                hasher.update(tail);
                (offset, hasher.digest())
            }
        };
        format!("{}~{hash:016x}", self.place(offset))
    }

    /// Returns the name of a place in the file.
    pub(super) fn place(&self, offset: u64) -> String {
        match self {
            Self::Transcript { stem, .. } => format!("{stem}@{offset}"),
            Self::Rollout { reader } => reader.observation(offset),
        }
    }
}

/// Returns the name of a transcript, which is the same wherever it lies.
pub(super) fn stem(file: &TranscriptFile) -> String {
    let session = file.session.as_deref().unwrap_or("unknown");
    match &file.agent_id {
        Some(agent) => format!("{session}/agent-{agent}"),
        None => session.to_owned(),
    }
}
