//! Waiting until an envelope is in the ledger: somebody who answers by the past has to know the past up to now.

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use agent_tracer_spool::{EnvelopeName, Home};

/// Tells when envelopes have left the spool. Clones tell of the same one.
#[derive(Clone, Debug)]
pub struct Drained {
    new: PathBuf,
    inner: Arc<(Mutex<u64>, Condvar)>,
}

impl Drained {
    /// Of the spool of this home.
    #[must_use]
    pub fn of(home: &Home) -> Self {
        Self { new: home.spool().join("new"), inner: Arc::default() }
    }

    /// A batch was acknowledged.
    pub(crate) fn tell(&self) {
        let (count, told) = &*self.inner;
        *count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        told.notify_all();
    }

    /// Waits until an envelope is no longer in the spool, because it is in the ledger; says whether it is not.
    ///
    /// Envelopes are brought oldest first, so those that the same agent wrote before are in the ledger too.
    pub fn wait(&self, name: &EnvelopeName, most: Duration) -> bool {
        let path = self.new.join(name.as_str());
        let until = Instant::now() + most;
        let (count, told) = &*self.inner;
        // Looked at with the lock held: whoever takes the file away tells only afterwards, and needs the lock for it.
        let mut seen = count.lock().unwrap_or_else(PoisonError::into_inner);
        while path.exists() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            seen = told.wait_timeout(seen, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;

    #[test]
    fn somebody_who_waits_is_told_once_the_envelope_is_gone_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::in_folder(folder.path());
        let drained = Drained::of(&home);
        let name = EnvelopeName::new(1, 2, 3);
        assert!(drained.wait(&name, Duration::ZERO), "what is not there need not be waited for");
        fs::create_dir_all(home.spool().join("new")).unwrap();
        let path = home.spool().join("new").join(name.as_str());
        File::create(&path).unwrap();
        assert!(!drained.wait(&name, Duration::from_millis(1)));
        let waits = {
            let drained = drained.clone();
            std::thread::spawn(move || drained.wait(&name, Duration::from_secs(60)))
        };
        // Other batches do not count.
        drained.tell();
        fs::remove_file(&path).unwrap();
        drained.tell();
        assert!(waits.join().unwrap());
    }
}
