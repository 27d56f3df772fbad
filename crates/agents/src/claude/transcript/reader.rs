//! The reader of a transcript: one line in, what it says out.

use agent_tracer_event::{Agent, Millis, Reading, TaskKey, Unrecognised};

use super::file::{TranscriptFile, is_compaction_helper};
use super::row::{Depth, Row, remains, row};
use super::state::{Counts, ReaderState};
use super::text::Text;
use super::writer::{RowWriter, Scratch, word};
use super::{
    account, attachments, calls, copies, marks, messages, progress, prompts, requests, responses, system,
    task,
};
use crate::files::Rules;

/// Holds the result of reading a row.
#[derive(Clone, Debug, PartialEq)]
pub enum RowReading {
    /// It is of a known type and says nothing new: it does not count as received.
    Skipped,
    /// It is a copy of a row of the session that this one was forked from. That session's own file tells it; the
    /// reading holds at most the account of what was copied.
    Copied(Reading),
    /// Nothing may be recorded of what happens in its working directory.
    Excluded,
    /// It is not a JSON object.
    Malformed,
    /// It says this.
    Read(Reading),
}

/// Reads the lines of one transcript in their order.
#[derive(Clone, Debug)]
pub struct TranscriptReader {
    file: TranscriptFile,
    state: ReaderState,
    scratch: Scratch,
}

/// Types of rows that say nothing which is not said elsewhere, or nothing that may be kept.
const SILENT: &[&str] = &[
    "agent-color",
    "api-request-blob",
    "api_request",
    "atis-latch",
    "attribution-snapshot",
    "bridge-session",
    "checkpoint",
    "content-replacement",
    "context-collapse-commit",
    "context-collapse-snapshot",
    "file-history-delta",
    "file-history-snapshot",
    "frame-link",
    "last-prompt",
    "marble-origami-commit",
    "marble-origami-snapshot",
    "mode",
    "relocated",
    "speculation-accept",
    "task-summary",
    // Older documents have a row for each of these, without an id: nothing of it can be tied to a call.
    "tool_result",
    "tool_use",
    "tools-used",
];

/// A line at least this long is looked at by its beginning before it is read.
const LONG_LINE: usize = 4096;

impl TranscriptReader {
    /// Starts at the beginning of a file.
    #[must_use]
    pub fn new(file: TranscriptFile) -> Self {
        Self::resume(file, ReaderState::default())
    }

    /// Goes on where another reader of the same file stopped.
    #[must_use]
    pub fn resume(file: TranscriptFile, state: ReaderState) -> Self {
        Self { file, state, scratch: Scratch::default() }
    }

    /// Returns what to store beside the offset.
    #[must_use]
    pub fn state(&self) -> &ReaderState {
        &self.state
    }

    /// Returns what was seen so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.state.counts
    }

    /// Reads the next line. `arrived` is used only where the row has no time of its own and none came before it.
    pub fn read(&mut self, rules: &Rules<'_>, line: &[u8], offset: u64, arrived: Millis) -> RowReading {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        let reading = if is_long_and_silent(line) {
            RowReading::Skipped
        } else {
            match row(line, Depth::Content) {
                Ok(row) => self.row(rules, &row, Some(line), offset, arrived),
                Err(_) => RowReading::Malformed,
            }
        };
        self.count(&reading);
        reading
    }

    /// Reads what is left of a line that was too long to be held: its beginning and its end.
    pub fn read_remains(
        &mut self,
        rules: &Rules<'_>,
        head: &[u8],
        tail: &[u8],
        length: u64,
        offset: u64,
        arrived: Millis,
    ) -> RowReading {
        // Long rows are results and images. Their ends hold ids and states, which close a call that would stay open
        // otherwise.
        self.state.counts.too_long += 1;
        let row = remains(head, tail);
        let mut reading = match self.row(rules, &row, None, offset, arrived) {
            RowReading::Read(reading) => reading,
            RowReading::Skipped | RowReading::Malformed => Reading::default(),
            other => {
                self.count(&other);
                return other;
            }
        };
        if row.kind.is("user")
            && let Some(mut writer) = self.writer(rules, &row, None, offset, arrived)
        {
            calls::cut_result(&mut writer, head, tail, length);
            reading.entries.append(&mut writer.reading.entries);
        }
        reading.unrecognised.push(Unrecognised::Line("too long".to_owned()));
        let reading = RowReading::Read(reading);
        self.count(&reading);
        reading
    }

    /// Says what only the end of the file settles: whether the last words of an old client were its final ones.
    pub fn finish(&mut self, rules: &Rules<'_>) -> Reading {
        let agents: Vec<String> = self.state.lanes.iter().map(|lane| lane.agent.clone()).collect();
        let mut reading = Reading::default();
        for agent in agents {
            let row = Row { kind: Text::new(b"assistant"), ..Row::default() };
            let Some(mut writer) = self.writer(rules, &row, None, 0, Millis(0)) else { continue };
            writer.agent = agent;
            messages::settle(&mut writer);
            reading.entries.append(&mut writer.reading.entries);
        }
        reading
    }

    fn count(&mut self, reading: &RowReading) {
        let counts = &mut self.state.counts;
        match reading {
            RowReading::Skipped => counts.skipped += 1,
            RowReading::Copied(_) => counts.copied += 1,
            RowReading::Excluded => counts.excluded += 1,
            RowReading::Malformed => counts.malformed += 1,
            RowReading::Read(_) => counts.read += 1,
        }
    }

    fn row(
        &mut self,
        rules: &Rules<'_>,
        row: &Row<'_>,
        line: Option<&[u8]>,
        offset: u64,
        arrived: Millis,
    ) -> RowReading {
        if row.kind.is("progress") {
            return match progress::carried(row, Depth::Content) {
                Some((inner, _)) => self.row(rules, &inner, None, offset, arrived),
                None => RowReading::Skipped,
            };
        }
        if self.is_excluded(rules, row) {
            return RowReading::Excluded;
        }
        let at_first = self.state.last_at.is_none();
        let helper = helper_of(&self.file, row);
        let Some(mut writer) = self.writer(rules, row, line, offset, arrived) else {
            return RowReading::Skipped;
        };
        if at_first && row.kind.is("queue-operation") {
            // The queue is written before any copied row, so its time is when this file began.
            writer.state.began = Some(writer.at);
        }
        if writer.state.is_excluded().is_none() && !rules.config.excludes.is_empty() {
            // Where the session works is not known yet, so nothing is said that might be excluded. What stands before
            // the first row with a directory (titles, the queue) is written again later.
            return RowReading::Skipped;
        }
        if let Some(reason) = copies::copied(&mut writer) {
            // What a forked agent was given is in its parent's file, and the account is the session's.
            if writer.agent.is_empty() {
                copies::account(&mut writer, reason);
            }
            return RowReading::Copied(writer.reading);
        }
        if helper {
            responses::compaction(&mut writer);
        } else {
            dispatch(&mut writer);
        }
        let Reading { entries, unrecognised, .. } = &writer.reading;
        if entries.is_empty() && unrecognised.is_empty() {
            return RowReading::Skipped;
        }
        let mut reading = writer.reading;
        if !row.version.is_empty() {
            reading.client_version = Some(word(rules, row.version));
        }
        RowReading::Read(reading)
    }

    fn is_excluded(&mut self, rules: &Rules<'_>, row: &Row<'_>) -> bool {
        if !row.cwd.is_empty() {
            let cwd = row.cwd.decode();
            if self.state.directory.as_ref().is_none_or(|(known, _)| *known != cwd) {
                let excluded = rules.excludes(&cwd);
                // What is excluded is not remembered either.
                let kept = if excluded { String::new() } else { rules.word(&cwd) };
                self.state.directory = Some((kept, excluded));
                return excluded;
            }
        }
        self.state.is_excluded() == Some(true)
    }

    /// Works out who a row speaks of. `None` if it belongs to no session at all.
    fn writer<'r, 'a>(
        &'r mut self,
        rules: &'r Rules<'r>,
        row: &'r Row<'a>,
        line: Option<&'a [u8]>,
        offset: u64,
        arrived: Millis,
    ) -> Option<RowWriter<'r, 'a>> {
        let session = if row.session.is_empty() {
            self.file.session.clone().or_else(|| self.state.session.clone())
        } else {
            Some(word(rules, row.session))
        };
        let mut agent = if row.agent.is_empty() {
            self.file.agent_id.clone().unwrap_or_default()
        } else {
            word(rules, row.agent)
        };
        // Its request is paid by the session and it belongs to no agent, so it gets no task.
        if is_compaction_helper(&agent) {
            agent.clear();
        }
        // An agent's file that was moved away from its session still tells of the agent.
        let session = session.or_else(|| (!agent.is_empty()).then(|| "unknown".to_owned()))?;
        if self.state.session.is_none() {
            self.state.session = Some(session.clone());
        }
        let written = std::str::from_utf8(row.timestamp.raw()).ok().and_then(Millis::parse);
        // Rows of the session's state have no time: they happened after the row before them.
        let at = written.or(self.state.last_at).unwrap_or(arrived);
        if written.is_some() {
            self.state.last_at = Some(at);
        }
        // The id of a row survives a move and a copy of the file, an offset does not.
        let name = if row.uuid.is_empty() { format!("{session}@{offset}") } else { word(rules, row.uuid) };
        Some(RowWriter {
            rules,
            began: self.file.began.or(self.state.began),
            state: &mut self.state,
            row,
            line,
            session,
            agent,
            is_agent_file: self.file.agent_id.is_some(),
            at,
            offset,
            name,
            scratch: &mut self.scratch,
            reading: Reading::default(),
        })
    }
}

/// Returns whether a row is of the helper that writes the summary of a compaction.
fn helper_of(file: &TranscriptFile, row: &Row<'_>) -> bool {
    if row.agent.is_empty() {
        file.agent_id.as_deref().is_some_and(is_compaction_helper)
    } else {
        is_compaction_helper(&row.agent.head(16))
    }
}

/// Returns whether a long line begins with a type that says nothing: then it need not be walked over.
fn is_long_and_silent(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(br#"{"type":""#) else { return false };
    line.len() >= LONG_LINE
        && line.trim_ascii_end().ends_with(b"}")
        && SILENT
            .iter()
            .any(|kind| rest.strip_prefix(kind.as_bytes()).is_some_and(|rest| rest.starts_with(b"\"")))
}

fn dispatch(writer: &mut RowWriter<'_, '_>) {
    let kind = writer.row.kind.head(40);
    match &*kind {
        "user" | "assistant" | "system" | "attachment" => task::of(writer),
        _ => {}
    }
    match &*kind {
        "user" => prompts::user(writer),
        "assistant" => messages::assistant(writer),
        "system" => system::system(writer),
        "attachment" => attachments::attachment(writer),
        "api-request" => requests::request(writer),
        "api-request-shape" => requests::shape(writer),
        "api_response" => responses::api_response(writer),
        "cost-state" => account::cost_state(writer),
        "queue-operation" => prompts::queue(writer),
        "fork-context-ref" => writer.lane().forked = true,
        kind if marks::is_mark(kind) => marks::mark(writer),
        kind if SILENT.contains(&kind) => {}
        _ => {
            let kind = writer.word(writer.row.kind);
            writer.state.counts.unrecognised += 1;
            writer.reading.unrecognised.push(Unrecognised::Row(kind));
        }
    }
}

/// Returns the task of a session or of a subagent of it.
#[must_use]
pub fn task_key(session: &str, agent_id: Option<&str>) -> TaskKey {
    match agent_id.filter(|id| !is_compaction_helper(id)) {
        Some(agent) => TaskKey::subagent(Agent::CLAUDE_CODE, agent),
        None => TaskKey::new(Agent::CLAUDE_CODE, session),
    }
}
