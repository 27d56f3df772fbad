//! Transcripts as session files: where they lie, what belongs to one, and its reader behind the common door.

use std::path::{Path, PathBuf};

use agent_tracer_event::{Agent, Millis, Reading};

use super::paths;
use super::transcript::{Place, RowReading, TranscriptFile, TranscriptReader, read_meta};
use crate::files::{Line, Rules};
use crate::sessions::{Beside, Form, LineOutcome, LineReader, SessionFile, SessionFiles};

/// The door to the transcripts.
pub(super) struct ClaudeSessions;

impl SessionFiles for ClaudeSessions {
    fn folders(&self, home: &Path) -> Vec<PathBuf> {
        vec![paths::transcripts(home)]
    }

    fn recognise(&self, path: &Path) -> Option<SessionFile> {
        let (form, file) = match Place::of(path.to_str()?) {
            Place::Rows(file) => (Form::Lines, file),
            Place::Meta(file) => (Form::Description, file),
            Place::Other => return None,
        };
        Some(SessionFile { agent: Agent::CLAUDE_CODE, form, session: file.session, agent_id: file.agent_id })
    }

    // A subagent's file has its description beside it, a session's file a folder of subagents.
    fn beside(&self, path: &Path, file: &SessionFile) -> Beside {
        match (file.form, &file.agent_id) {
            (Form::Lines, Some(_)) => {
                Beside { files: vec![path.with_extension("meta.json")], ..Beside::default() }
            }
            (Form::Lines, None) => Beside { folders: vec![path.with_extension("")], ..Beside::default() },
            (Form::CompressedLines | Form::Description, _) => Beside::default(),
        }
    }

    fn reader(&self, _path: &Path, file: &SessionFile, state: Option<&[u8]>) -> Option<Box<dyn LineReader>> {
        let file = TranscriptFile::from(file);
        let stem = stem(&file);
        let reader = match state {
            Some(state) => TranscriptReader::resume(file, serde_json::from_slice(state).ok()?),
            None => TranscriptReader::new(file),
        };
        Some(Box::new(TranscriptLines { stem, reader }))
    }

    fn described(&self, path: &Path, file: &SessionFile) -> Vec<PathBuf> {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let rows = path.with_file_name(format!("{}.jsonl", name.trim_end_matches(".meta.json")));
        let session = file.session.as_deref().and_then(|session| {
            let folder = path.ancestors().find(|folder| folder.ends_with(session))?;
            Some(folder.with_extension("jsonl")).filter(|_| !session.contains('.'))
        });
        [Some(rows), session].into_iter().flatten().collect()
    }

    fn read_description(
        &self,
        rules: &Rules<'_>,
        file: &SessionFile,
        content: &[u8],
        written: Millis,
    ) -> (String, Reading) {
        let file = TranscriptFile::from(file);
        (format!("{}.meta", stem(&file)), read_meta(rules, &file, content, written))
    }
}

impl From<&SessionFile> for TranscriptFile {
    fn from(file: &SessionFile) -> Self {
        Self { session: file.session.clone(), agent_id: file.agent_id.clone(), began: None }
    }
}

/// Returns the name of a transcript, which is the same wherever it lies.
fn stem(file: &TranscriptFile) -> String {
    let session = file.session.as_deref().unwrap_or("unknown");
    match &file.agent_id {
        Some(agent) => format!("{session}/agent-{agent}"),
        None => session.to_owned(),
    }
}

#[derive(Clone, Debug)]
struct TranscriptLines {
    stem: String,
    reader: TranscriptReader,
}

impl LineReader for TranscriptLines {
    fn read(&mut self, rules: &Rules<'_>, line: &Line<'_>, written: Millis) -> LineOutcome {
        let reader = &mut self.reader;
        let row = match *line {
            Line::Complete { bytes, offset } => reader.read(rules, bytes, offset, written),
            Line::TooLong { offset, length, head, tail } => {
                reader.read_remains(rules, head, tail, length, offset, written)
            }
        };
        match row {
            RowReading::Read(reading) => LineOutcome::Read(reading),
            RowReading::Copied(reading) if !reading.entries.is_empty() => LineOutcome::Read(reading),
            RowReading::Malformed if reader.state().is_excluded() != Some(true) => LineOutcome::Malformed,
            RowReading::Copied(_) | RowReading::Malformed | RowReading::Skipped | RowReading::Excluded => {
                LineOutcome::Silent
            }
        }
    }

    fn settle(&mut self, rules: &Rules<'_>) -> Option<Reading> {
        let reading = self.reader.finish(rules);
        (!reading.entries.is_empty()).then_some(reading)
    }

    fn state(&self) -> Vec<u8> {
        serde_json::to_vec(self.reader.state()).unwrap_or_default()
    }

    fn is_excluded(&self) -> Option<bool> {
        self.reader.state().is_excluded()
    }

    // Nothing is recorded until a row names the directory again.
    fn reconsidered(&self, _rules: &Rules<'_>) -> Option<Vec<u8>> {
        let mut state = serde_json::to_value(self.reader.state()).ok()?;
        drop(state.as_object_mut()?.remove("directory"));
        serde_json::to_vec(&state).ok()
    }

    fn place(&self, offset: u64) -> String {
        format!("{}@{offset}", self.stem)
    }

    fn duplicate(&self) -> Box<dyn LineReader> {
        Box::new(self.clone())
    }
}
