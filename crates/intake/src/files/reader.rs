//! The reader of one file, and the names of its lines.

use std::path::Path;

use agent_tracer_agents::files::Line;
use agent_tracer_agents::sessions::{self, Form, LineOutcome, LineReader, SessionFile};
use agent_tracer_event::{Millis, Reading};
use agent_tracer_ledger::Verdict;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::privacy::Privacy;

/// Reads the lines of one file in their order.
#[derive(Clone, Debug)]
pub(super) struct Reader(Box<dyn LineReader>);

impl Reader {
    /// Starts at the beginning of a file; `None` for a file without lines.
    pub(super) fn start(file: &SessionFile, path: &Path) -> Option<Self> {
        Self::make(file, path, None)
    }

    /// Goes on from the state of another reader of the same file; `None` if that cannot be decoded.
    pub(super) fn resume(file: &SessionFile, path: &Path, state: &[u8]) -> Option<Self> {
        Self::make(file, path, Some(state))
    }

    fn make(file: &SessionFile, path: &Path, state: Option<&[u8]>) -> Option<Self> {
        match file.form {
            Form::Lines | Form::CompressedLines => {
                sessions::of(file.agent)?.reader(path, file, state).map(Self)
            }
            Form::Description => None,
        }
    }

    /// Resumes after the user has changed the exclusions: the decision about the file's directory is taken anew.
    pub(super) fn reconsider(self, file: &SessionFile, path: &Path, privacy: &Privacy) -> Option<Self> {
        Self::resume(file, path, &self.0.reconsidered(&privacy.rules())?)
    }

    /// Returns the state from which another reader can go on.
    pub(super) fn state(&self) -> Vec<u8> {
        self.0.state()
    }

    /// Returns `true` if nothing of the file may be recorded; `None` until it names a directory.
    pub(super) fn is_excluded(&self) -> Option<bool> {
        self.0.is_excluded()
    }

    /// Reads a line. `written` is used only where nothing in the file has a time. `None` if the line has no
    /// observation.
    pub(super) fn read(&mut self, privacy: &Privacy, line: &Line<'_>, written: Millis) -> Option<Verdict> {
        match self.0.read(&privacy.rules(), line, written) {
            LineOutcome::Read(reading) => Some(Verdict::Read(reading)),
            LineOutcome::Malformed => Some(Verdict::Malformed("not a JSON object".to_owned())),
            LineOutcome::Silent => None,
        }
    }

    /// Returns the observation of a finished file. It changes the state, so both must be stored together.
    pub(super) fn settle(&mut self, privacy: &Privacy) -> Option<Reading> {
        self.0.settle(&privacy.rules())
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
        self.0.place(offset)
    }
}
