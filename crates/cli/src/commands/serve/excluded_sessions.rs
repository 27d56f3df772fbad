//! Remembers excluded sessions over a restart: one task id per line, behind a line that identifies the exclusions in
//! force. Ids are hashes and reveal no folder.
//!
//! Law: once the exclusions are others, nothing of this is believed any more. While it is not known what they are, the
//! file stays as it is and everything in it is believed.

use std::fs::{File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use agent_tracer_event::TaskId;
use agent_tracer_intake::PrivacyFile;
use agent_tracer_privacy::Config;
use agent_tracer_server::ExcludedSessions;
use agent_tracer_spool::Home;

use crate::files;

/// The most bytes that are read: some forty thousand sessions.
const FILE_BYTES: u64 = 1 << 20;
/// Limit of remembered ids; the oldest are dropped first.
const KEPT: usize = 10_000;

/// Returns the path of the file.
pub(super) fn path(home: &Home) -> PathBuf {
    home.data().join("excluded")
}

/// Returns the remembered sessions, and appends new ones to the file.
pub(super) fn load(path: PathBuf, privacy: &PrivacyFile) -> ExcludedSessions {
    match privacy.current() {
        Ok(privacy) => load_known(path, &privacy.config),
        // Nothing is written: a file that is begun anew now would forget what was excluded before.
        Err(_) => ExcludedSessions { tasks: read(&path, None), keep: Arc::new(|_| ()) },
    }
}

fn load_known(path: PathBuf, config: &Config) -> ExcludedSessions {
    let title = title(config);
    let tasks = read(&path, Some(&title));
    // Written anew at every start, so that it stays small. If that fails, it is as if nothing had been kept.
    let mut text = title + "\n";
    tasks.iter().for_each(|task| text.extend([task.as_str(), "\n"]));
    let is_there = !tasks.is_empty() || path.exists();
    let written = !is_there || files::write_private(&path, text.as_bytes()).is_ok();
    let first = Mutex::new((!is_there).then_some(text));
    let keep = move |task: &TaskId| {
        let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
        if written {
            let line = format!("{}{task}\n", first.take().unwrap_or_default());
            let file = OpenOptions::new().append(true).create(true).mode(0o600).open(&path);
            // What could not be kept is still known until the server ends.
            drop(file.and_then(|mut file| file.write_all(line.as_bytes())));
        }
    };
    ExcludedSessions { tasks, keep: Arc::new(keep) }
}

fn title(config: &Config) -> String {
    let mut hasher = DefaultHasher::new();
    // Only a hash is kept: the patterns name folders that are to be kept out.
    format!("{:?}", config.excludes).hash(&mut hasher);
    format!("exclusions {:016x}", hasher.finish())
}

/// Returns the tasks in the file, if it stands under this title; under any, if none is given.
fn read(path: &Path, title: Option<&str>) -> Vec<TaskId> {
    let mut text = Vec::new();
    if File::open(path).and_then(|file| file.take(FILE_BYTES).read_to_end(&mut text)).is_err() {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(&text).into_owned();
    let mut lines = text.lines();
    let found = lines.next();
    if title.is_some() && found != title {
        return Vec::new();
    }
    // A last line without an end was torn; it is no id, or the beginning of one that parses to nothing we know.
    let mut tasks: Vec<TaskId> = lines.filter_map(TaskId::parse).collect();
    tasks.drain(..tasks.len().saturating_sub(KEPT));
    tasks
}

#[cfg(test)]
mod tests {
    use agent_tracer_event::{Agent, TaskKey};

    use super::*;

    fn task(name: &str) -> TaskId {
        TaskKey::new(Agent::CODEX, name).task_id()
    }

    fn config(text: &str) -> Config {
        Config::parse(text.as_bytes()).0
    }

    #[test]
    fn they_are_there_again_until_the_exclusions_are_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("excluded");
        let secret = config("exclude /secret/**\n");
        let first = load_known(path.clone(), &secret);
        assert!(first.tasks.is_empty() && !path.exists(), "nothing is written before there is anything");
        (first.keep)(&task("a"));
        (first.keep)(&task("b"));
        let second = load_known(path.clone(), &secret);
        assert_eq!(second.tasks, [task("a"), task("b")]);
        (second.keep)(&task("c"));
        assert_eq!(load_known(path.clone(), &secret).tasks, [task("a"), task("b"), task("c")]);
        assert_eq!(load_known(path.clone(), &config("")).tasks, []);
        assert_eq!(load_known(path, &secret).tasks, [], "what was forgotten does not come back");
    }

    #[test]
    fn a_damaged_file_is_no_failure() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("excluded");
        let text = format!("{}\n\u{0}\n{}\nhalf", title(&config("")), task("a"));
        files::write_private(&path, text.as_bytes()).expect("written");
        assert_eq!(load_known(path, &config("")).tasks, [task("a")]);
    }
}
