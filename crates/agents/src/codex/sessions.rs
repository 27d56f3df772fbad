//! Rollouts as session files: where they lie, how one is named, and its reader behind the common door.

use std::path::{Path, PathBuf};

use agent_tracer_event::{Agent, Millis, Reading, Unrecognised};

use super::paths;
use super::rollout::{RolloutName, RolloutReader, Row};
use crate::files::{Line, Rules};
use crate::sessions::{Form, LineOutcome, LineReader, SessionFile, SessionFiles};

/// The door to the rollouts.
pub(super) struct CodexSessions;

impl SessionFiles for CodexSessions {
    fn folders(&self, home: &Path) -> Vec<PathBuf> {
        vec![paths::rollouts(home), paths::archived(home)]
    }

    fn recognise(&self, path: &Path) -> Option<SessionFile> {
        let name = path.file_name()?.to_str().filter(|name| name.starts_with("rollout-"))?;
        let form = if name.ends_with(".jsonl.zst") {
            Form::CompressedLines
        } else if name.ends_with(".jsonl") {
            Form::Lines
        } else {
            return None;
        };
        let session = RolloutName::parse(name).map(|name| name.thread_id.to_owned());
        Some(SessionFile { agent: Agent::CODEX, form, session, agent_id: None })
    }

    fn is_unmistakable(&self, path: &Path) -> bool {
        path.file_name().and_then(|name| name.to_str()).and_then(RolloutName::parse).is_some()
    }

    fn reader(&self, path: &Path, _file: &SessionFile, state: Option<&[u8]>) -> Option<Box<dyn LineReader>> {
        let path = path.to_string_lossy();
        let reader = match state {
            Some(state) => RolloutReader::resume(&path, serde_json::from_slice(state).ok()?),
            None => RolloutReader::new(&path),
        };
        Some(Box::new(RolloutLines(reader)))
    }
}

#[derive(Clone, Debug)]
struct RolloutLines(RolloutReader);

impl LineReader for RolloutLines {
    fn read(&mut self, rules: &Rules<'_>, line: &Line<'_>, written: Millis) -> LineOutcome {
        let row = match *line {
            Line::Complete { bytes, offset } => self.0.read(rules, bytes, offset, written),
            // The cut line has a type at its beginning, but no identity.
            Line::TooLong { .. } => Row::Read(Reading {
                unrecognised: vec![Unrecognised::Line("too long".to_owned())],
                ..Reading::default()
            }),
        };
        match row {
            _ if self.0.state().excluded => LineOutcome::Silent,
            Row::Read(reading) => LineOutcome::Read(reading),
            Row::Malformed => LineOutcome::Malformed,
            Row::Skipped | Row::Copied | Row::Excluded => LineOutcome::Silent,
        }
    }

    fn state(&self) -> Vec<u8> {
        serde_json::to_vec(self.0.state()).unwrap_or_default()
    }

    fn is_excluded(&self) -> Option<bool> {
        self.0.state().named.then_some(self.0.state().excluded)
    }

    fn reconsidered(&self, rules: &Rules<'_>) -> Option<Vec<u8>> {
        let mut state = self.0.state().clone();
        if let Some(cwd) = &state.cwd {
            state.excluded = rules.excludes(cwd);
        }
        serde_json::to_vec(&state).ok()
    }

    fn place(&self, offset: u64) -> String {
        self.0.observation(offset)
    }

    fn duplicate(&self) -> Box<dyn LineReader> {
        Box::new(self.clone())
    }
}
