//! Waits until an envelope is in the ledger, for rules that decide by the history up to now.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use agent_tracer_event::Reading;
use agent_tracer_spool::{EnvelopeName, Home, envelope};

use crate::spool;

/// The most envelopes that are read to find their session. Of more, all are waited for.
const READ_MAX: usize = 64;
/// The longest envelope that is read for that.
const READ_BYTES: u64 = 256 << 10;
/// The longest envelope that is read ahead of its turn.
const ENVELOPE_MAX: u64 = 4 << 20;

/// Waits for envelopes to leave the spool. Clones watch the same spool.
#[derive(Clone, Debug)]
pub struct DrainWatcher {
    new: PathBuf,
    inner: Arc<(Mutex<u64>, Condvar)>,
}

impl DrainWatcher {
    /// Creates a watcher of the spool of this home.
    #[must_use]
    pub fn new(home: &Home) -> Self {
        Self { new: home.spool().join("new"), inner: Arc::default() }
    }

    /// Wakes the waiting threads after a batch was acknowledged.
    pub(crate) fn notify(&self) {
        let (count, changed) = &*self.inner;
        *count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        changed.notify_all();
    }

    /// Waits until an envelope is committed. Returns `false` on timeout.
    ///
    /// Envelopes are committed oldest first, so the earlier ones of the same agent are in the ledger too.
    pub fn wait(&self, name: &EnvelopeName, most: Duration) -> bool {
        let path = self.new.join(name.as_str());
        self.wait_while(most, || path.exists())
    }

    /// Waits until every envelope that a session wrote before this one is committed. Returns `false` on timeout.
    /// Without a session, every envelope counts.
    pub fn wait_for_earlier(&self, name: &EnvelopeName, session: Option<&str>, most: Duration) -> bool {
        // Listed once: what arrives later has a later name and need not be waited for.
        let mut earlier = self.earlier(name);
        if earlier.len() <= READ_MAX
            && let Some(session) = session.filter(|session| is_spelled_plainly(session))
        {
            earlier.retain(|path| may_name(path, session.as_bytes()));
        }
        self.wait_while(most, || {
            earlier.retain(|path| path.exists());
            !earlier.is_empty()
        })
    }

    /// Reads an envelope that is still in the spool. `None` if it was committed by now, or cannot be read.
    #[must_use]
    pub fn peek(&self, name: &EnvelopeName) -> Option<Reading> {
        let bytes = contents(&self.new.join(name.as_str()), ENVELOPE_MAX)?;
        let envelope = envelope::parse(&bytes).ok()?;
        let read = spool::read_envelope(name.as_str(), &envelope.header, envelope.body);
        read.ok().filter(|reading| !reading.entries.is_empty())
    }

    /// Returns the envelopes with an earlier name.
    fn earlier(&self, name: &EnvelopeName) -> Vec<PathBuf> {
        let Ok(listed) = fs::read_dir(&self.new) else { return Vec::new() };
        let names = listed.flatten().map(|entry| entry.file_name());
        let before =
            names.filter_map(|file| EnvelopeName::parse(file.as_bytes()).filter(|other| other < name));
        before.map(|other| self.new.join(other.as_str())).collect()
    }

    fn wait_while(&self, most: Duration, mut is_there: impl FnMut() -> bool) -> bool {
        let until = Instant::now() + most;
        let (count, changed) = &*self.inner;
        // Checked with the lock held: the drain removes the file first and notifies under the lock, so no wake is lost.
        let mut seen = count.lock().unwrap_or_else(PoisonError::into_inner);
        while is_there() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            seen = changed.wait_timeout(seen, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

/// Returns `true` if JSON has only one usual spelling of this id.
fn is_spelled_plainly(session: &str) -> bool {
    !session.is_empty()
        && session.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// Returns `true` if an envelope names a session, or cannot be read.
fn may_name(path: &Path, session: &[u8]) -> bool {
    contents(path, READ_BYTES)
        .is_none_or(|bytes| bytes.windows(session.len()).any(|window| window == session))
}

/// Reads a regular file of at most this length.
fn contents(path: &Path, most: u64) -> Option<Vec<u8>> {
    let facts = fs::symlink_metadata(path).ok()?;
    if !facts.is_file() || facts.len() > most {
        return None;
    }
    let mut bytes = Vec::with_capacity(usize::try_from(facts.len()).ok()?);
    File::open(path).ok()?.take(most).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use agent_tracer_spool::Spool;

    use super::*;

    #[test]
    fn a_waiting_thread_is_woken_once_the_envelope_is_gone_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::in_folder(folder.path());
        let drained = DrainWatcher::new(&home);
        let name = EnvelopeName::new(1, 2, 3);
        assert!(drained.wait(&name, Duration::ZERO), "a missing envelope is not waited for");
        fs::create_dir_all(home.spool().join("new")).unwrap();
        let path = home.spool().join("new").join(name.as_str());
        File::create(&path).unwrap();
        assert!(!drained.wait(&name, Duration::from_millis(1)));
        let waits = {
            let drained = drained.clone();
            std::thread::spawn(move || drained.wait(&name, Duration::from_secs(60)))
        };
        // A batch without this envelope does not end the wait.
        drained.notify();
        fs::remove_file(&path).unwrap();
        drained.notify();
        assert!(waits.join().unwrap());
    }

    /// Leaves an envelope of a session.
    fn leave(home: &Home, nanos: u64, session: &str) -> EnvelopeName {
        let header =
            envelope::Header::new(agent_tracer_event::Agent::CLAUDE_CODE, envelope::Channel::Hook, nanos);
        let body = format!(
            r#"{{"session_id":"{session}","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"t","tool_input":{{"command":"ls"}}}}"#
        );
        Spool::at(&home.spool()).accept(&header, body.as_bytes(), nanos, 7).unwrap().name
    }

    #[test]
    fn only_earlier_envelopes_of_the_same_session_are_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::in_folder(folder.path());
        let drained = DrainWatcher::new(&home);
        let earlier = leave(&home, 10, "s-1");
        let own = leave(&home, 20, "s-1");
        leave(&home, 30, "s-1");
        let waits = |session| drained.wait_for_earlier(&own, session, Duration::from_millis(1));
        assert!(!waits(Some("s-1")));
        assert!(waits(Some("s-2")), "another session's envelopes are not waited for");
        assert!(!waits(None), "without a session, every envelope counts");
        assert!(!waits(Some("s 2")), "a name that has more than one spelling");
        fs::remove_file(home.spool().join("new").join(earlier.as_str())).unwrap();
        assert!(waits(Some("s-1")) && waits(None), "its own envelope and later ones need not be gone");
    }

    #[test]
    fn many_envelopes_are_waited_for_without_reading_them() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::in_folder(folder.path());
        for nanos in 0..=READ_MAX as u64 {
            leave(&home, nanos, "s-1");
        }
        let own = leave(&home, 1000, "s-2");
        assert!(!DrainWatcher::new(&home).wait_for_earlier(&own, Some("s-2"), Duration::from_millis(1)));
    }

    #[test]
    fn an_envelope_is_read_ahead_of_its_turn_while_it_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::in_folder(folder.path());
        let drained = DrainWatcher::new(&home);
        let own = leave(&home, 20, "s-1");
        let reading = drained.peek(&own).unwrap();
        assert!(reading.entries.iter().any(|entry| entry.tool_use_id.as_deref() == Some("t")));
        let path = home.spool().join("new").join(own.as_str());
        File::create(&path).and_then(|mut file| file.write_all(b"torn")).unwrap();
        assert!(drained.peek(&own).is_none(), "it is malformed");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(drained.peek(&own).is_none(), "it is no file");
        fs::remove_dir(&path).unwrap();
        assert!(drained.peek(&own).is_none(), "it is gone");
    }
}
