//! The door to an agent's session files: where they lie, how one is recognised, and who reads its lines.
//!
//! An implementation stands in the agent's folder. It sees paths and bytes and never a disk: looking, opening,
//! decompressing and remembering a position are the caller's, in one way for all agents.

use std::fmt;
use std::path::{Path, PathBuf};

use agent_tracer_event::{Agent, Millis, Reading};

use crate::adapter;
use crate::files::{Line, Rules};

/// The form of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// One observation per line.
    Lines,
    /// The same, compressed with zstd.
    CompressedLines,
    /// One document that describes another file, such as what a subagent is.
    Description,
}

/// A file of an agent, as far as its path tells.
///
/// A path is a hint: what a row says of its session beats it, because people move, rename and copy files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionFile {
    /// The agent that writes it.
    pub agent: Agent,
    /// The form.
    pub form: Form,
    /// The session, if the path names one.
    pub session: Option<String>,
    /// The subagent whose rows the file holds; none for a session's own file, and for agents whose subagents are sessions.
    pub agent_id: Option<String>,
}

impl SessionFile {
    /// Returns `true` if the file belongs to a session, or to the subagent of it that is named.
    #[must_use]
    pub fn is_of(&self, session: &str, subagent: Option<&str>) -> bool {
        if self.form == Form::Description {
            return false;
        }
        match subagent {
            Some(id) if self.agent.spec().has_subagent_sessions => self.session.as_deref() == Some(id),
            Some(id) => self.agent_id.as_deref() == Some(id),
            None => self.agent_id.is_none() && self.session.as_deref() == Some(session),
        }
    }
}

/// Files and folders that belong to a file which was named alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    /// Single files.
    pub files: Vec<PathBuf>,
    /// Folders of which every file belongs to it.
    pub folders: Vec<PathBuf>,
}

/// The outcome of a line.
#[derive(Clone, Debug, PartialEq)]
pub enum LineOutcome {
    /// It says this.
    Read(Reading),
    /// It is not what a line of this file must be.
    Malformed,
    /// It says nothing new, or nothing that may be recorded.
    Silent,
}

/// Reads the lines of one file in their order.
pub trait LineReader: fmt::Debug + Send + Sync {
    /// Reads the next line. `written` is used only where nothing in the file has a time.
    fn read(&mut self, rules: &Rules<'_>, line: &Line<'_>, written: Millis) -> LineOutcome;

    /// Returns what is left to say of a file that will not grow. It changes the state, so both are stored together.
    fn settle(&mut self, _rules: &Rules<'_>) -> Option<Reading> {
        None
    }

    /// Returns the state from which another reader of the same file goes on.
    fn state(&self) -> Vec<u8>;

    /// Returns `true` if nothing of the file may be recorded; `None` until it names a directory.
    fn is_excluded(&self) -> Option<bool>;

    /// Returns the state for going on after the user has changed the exclusions.
    fn reconsidered(&self, rules: &Rules<'_>) -> Option<Vec<u8>>;

    /// Returns the name of a place in the file, which is the same wherever the file lies.
    fn place(&self, offset: u64) -> String;

    /// Returns a reader with the same state.
    fn duplicate(&self) -> Box<dyn LineReader>;
}

impl Clone for Box<dyn LineReader> {
    fn clone(&self) -> Self {
        self.duplicate()
    }
}

/// The session files of one agent.
pub trait SessionFiles: Sync {
    /// Returns the folders of the agent's home that hold session files. The first is the one by which a home is recognised.
    fn folders(&self, home: &Path) -> Vec<PathBuf>;

    /// Returns what a file in a folder of the agent is.
    fn recognise(&self, path: &Path) -> Option<SessionFile>;

    /// Returns `true` if no other agent would give a file this path, so that it is recognised in any folder.
    fn is_unmistakable(&self, _path: &Path) -> bool {
        false
    }

    /// Returns `true` if a file of the agent may begin with this line, of which the end may be missing. A file that a hook names
    /// is read only then: its name alone is no proof.
    fn begins_with(&self, line: &[u8], is_whole: bool) -> bool {
        begins_with_type(line, is_whole)
    }

    /// Returns what belongs to a file that a hook names in a folder that is not followed.
    fn beside(&self, _path: &Path, _file: &SessionFile) -> Beside {
        Beside::default()
    }

    /// Returns a reader for the lines of a file. It goes on from the state of an earlier one, if there is any; `None` if that
    /// state cannot be decoded.
    fn reader(&self, path: &Path, file: &SessionFile, state: Option<&[u8]>) -> Option<Box<dyn LineReader>>;

    /// Returns the files of lines that a description is about: it may be recorded if they may. The nearest comes first.
    fn described(&self, _path: &Path, _file: &SessionFile) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Reads a description, and returns it with its name, which is the same wherever the file lies. `written` is the time of
    /// its last change.
    fn read_description(
        &self,
        _rules: &Rules<'_>,
        _file: &SessionFile,
        _content: &[u8],
        _written: Millis,
    ) -> (String, Reading) {
        (String::new(), Reading::default())
    }
}

/// Returns `true` if a line is a JSON object whose member `type` is a text, or the beginning of one.
fn begins_with_type(line: &[u8], is_whole: bool) -> bool {
    match serde_json::from_slice::<serde_json::Value>(line) {
        Ok(row) => row.get("type").is_some_and(serde_json::Value::is_string),
        // Only the beginning of a file is read to decide this, and a first row can be longer.
        Err(error) => !is_whole && error.is_eof() && line.trim_ascii_start().starts_with(b"{\""),
    }
}

/// Returns the door to an agent's session files; `None` if it is known by its hooks alone.
#[must_use]
pub fn of(agent: Agent) -> Option<&'static dyn SessionFiles> {
    adapter::of(agent).session_files()
}

/// Returns what a file is, in a folder of an agent or in one whose agent is not known.
#[must_use]
pub fn recognise(agent: Option<Agent>, path: &Path) -> Option<SessionFile> {
    if let Some(agent) = agent {
        return of(agent)?.recognise(path);
    }
    let doors = || Agent::rows().filter_map(of);
    let certain = doors().find(|door| door.is_unmistakable(path));
    // An unmistakable name first, because the rule of another agent may fit any file of lines.
    certain.map_or_else(|| doors().find_map(|door| door.recognise(path)), |door| door.recognise(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREAD: &str = "01a1e0b3-0708-7a91-bca0-aa31b76b9484";

    #[test]
    fn a_name_that_only_one_agent_gives_is_known_in_any_folder() {
        let rollout = format!("x/rollout-2026-11-15T19-33-11-{THREAD}.jsonl.zst");
        let file = recognise(None, Path::new(&rollout)).expect("a rollout");
        assert_eq!((file.agent, file.form), (Agent::CODEX, Form::CompressedLines));
        assert_eq!(file.session.as_deref(), Some(THREAD));
        let file = recognise(None, Path::new("x/rollout-of-something.jsonl")).expect("rows");
        assert_eq!(file.agent, Agent::CLAUDE_CODE, "the name alone does not say more");
        assert_eq!(recognise(None, Path::new("x/notes.txt")), None);
    }

    #[test]
    fn every_recorded_agent_with_files_has_a_folder_for_them() {
        for door in Agent::rows().filter_map(of) {
            let folders = door.folders(Path::new("/home/dev/own"));
            assert!(!folders.is_empty() && folders.iter().all(|folder| folder.starts_with("/home/dev/own")));
        }
    }

    #[test]
    fn a_file_begins_with_a_row_that_has_a_type() {
        for (line, is_whole, fits) in [
            (r#"{"type":"user","uuid":"u1"}"#, true, true),
            (r#"{"type":"user","uuid":"u1"}"#, false, true),
            (r#"{"timestamp":"2026","type":"session_meta","payload":{"id"#, false, true),
            (r#"{"timestamp":"2026","type":"session_meta","payload":{"id"#, true, false),
            (r#"{"name":"Ada"}"#, true, false),
            (r#"{"type":3}"#, true, false),
            ("root:x:0:0:root:/root:/bin/bash", true, false),
            ("[]", true, false),
            ("{", false, false),
            ("", true, false),
        ] {
            assert_eq!(begins_with_type(line.as_bytes(), is_whole), fits, "{line}");
        }
    }

    #[test]
    fn a_subagent_is_found_by_its_own_id() {
        let file = |agent, session: &str, agent_id: Option<&str>| SessionFile {
            agent,
            form: Form::Lines,
            session: Some(session.to_owned()),
            agent_id: agent_id.map(str::to_owned),
        };
        let own = file(Agent::CLAUDE_CODE, "s1", None);
        assert!(own.is_of("s1", None) && !own.is_of("s2", None) && !own.is_of("s1", Some("a1")));
        let helper = file(Agent::CLAUDE_CODE, "s1", Some("a1"));
        assert!(helper.is_of("s1", Some("a1")) && !helper.is_of("s1", None));
        let thread = file(Agent::CODEX, "t2", None);
        assert!(thread.is_of("t1", Some("t2")) && thread.is_of("t2", None) && !thread.is_of("t1", None));
        let described = SessionFile { form: Form::Description, ..helper };
        assert!(!described.is_of("s1", Some("a1")));
    }
}
