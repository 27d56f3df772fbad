//! Dead letters: the files that the drain refused, for people to list and to put back into the spool.
//!
//! A file is put back only under an envelope's name, and the drain then reads it like any other: if it is still no
//! envelope, it returns to `quarantine/`. Listing takes no lock and opens only the reasons, which the drain wrote.

use std::io::Read;

use crate::drain::{REASON_SUFFIX, UNWRITTEN, each};
use crate::spool::{Folder, Spool, SpoolError};
use crate::{EnvelopeName, disk};

/// The most bytes read of a reason.
const REASON_BYTES_MAX: u64 = 4096;

/// A file in `quarantine/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetter {
    /// The name in `quarantine/`.
    pub name: String,
    /// The reason for the refusal, in words; empty if none was written.
    pub reason: String,
    /// The length of the file.
    pub bytes: u64,
    /// The time of arrival in nanoseconds since the epoch, if the name is an envelope's.
    pub arrived_nanos: Option<u64>,
}

impl Spool {
    /// Returns up to `most` files of the quarantine, the newest names first; a missing folder is an empty one.
    pub fn dead_letters(&self, most: usize) -> Result<Vec<DeadLetter>, SpoolError> {
        let folder = self.folder(Folder::Quarantine);
        let mut found = Vec::new();
        each(&folder, |name, facts| {
            let Ok(name) = std::str::from_utf8(disk::name_bytes(name)) else { return };
            if !name.ends_with(REASON_SUFFIX) {
                found.push((name.to_owned(), facts.bytes));
            }
        })?;
        found.sort_by(|(one, _), (other, _)| other.cmp(one));
        found.truncate(most);
        let letter = |(name, bytes): (String, u64)| DeadLetter {
            reason: self.reason(&name),
            arrived_nanos: envelope_of(&name).map(|envelope| envelope.nanos()),
            name,
            bytes,
        };
        Ok(found.into_iter().map(letter).collect())
    }

    /// Moves a file from the quarantine back to the waiting envelopes.
    ///
    /// Returns `false` if there is no such file, its name is not an envelope's, or an envelope of that name is waiting.
    pub fn requeue(&self, name: &str) -> Result<bool, SpoolError> {
        let Some(envelope) = envelope_of(name) else { return Ok(false) };
        let folder = self.folder(Folder::Quarantine);
        let (from, to) = (folder.join(name), self.path(Folder::New, &envelope));
        let taken = |path| disk::is_taken(path).map_err(SpoolError::at("inspect", path));
        if !taken(&from)? || taken(&to)? {
            return Ok(false);
        }
        disk::rename(&from, &to).map_err(SpoolError::at("put back", &from))?;
        disk::try_remove(&folder.join(format!("{name}{REASON_SUFFIX}")));
        Ok(true)
    }

    /// Puts back every envelope that the ledger did not accept, since the cause may be gone. Returns their number.
    pub fn requeue_unwritten(&self) -> Result<u64, SpoolError> {
        let mut count = 0;
        for letter in self.dead_letters(usize::MAX)? {
            if letter.reason.starts_with(UNWRITTEN) && self.requeue(&letter.name)? {
                count += 1;
            }
        }
        Ok(count)
    }

    fn reason(&self, name: &str) -> String {
        let path = self.folder(Folder::Quarantine).join(format!("{name}{REASON_SUFFIX}"));
        let mut text = String::new();
        // The letter is worth listing without its reason.
        if let Ok(file) = disk::open_read(&path) {
            file.take(REASON_BYTES_MAX).read_to_string(&mut text).ok();
        }
        text.trim_end().to_owned()
    }
}

/// Returns the envelope's name of a file in the quarantine. Later files of one name end in `.<number>`.
fn envelope_of(name: &str) -> Option<EnvelopeName> {
    let base = match name.rsplit_once('.') {
        Some((base, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            base
        }
        Some(_) => return None,
        None => name,
    };
    EnvelopeName::parse(base.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Drain;
    use crate::envelope::{Agent, Channel, Header};

    fn spool(folder: &std::path::Path) -> Spool {
        let spool = Spool::at(&folder.join("spool"));
        spool.prepare().expect("prepared");
        spool
    }

    /// Accepts an envelope and cuts its end off. Returns its name and its original bytes.
    fn torn(spool: &Spool, nanos: u64) -> (String, Vec<u8>) {
        let header = Header::new(Agent::CODEX, Channel::Hook, nanos);
        spool.accept(&header, b"{\"a\":1}", nanos, 1).expect("accepted");
        let path = spool.path(Folder::New, &EnvelopeName::new(nanos, std::process::id(), 1));
        let path = if path.exists() { path } else { only_file(spool) };
        let whole = std::fs::read(&path).expect("an envelope");
        disk::set_len(&std::fs::File::options().write(true).open(&path).expect("open"), 20).expect("cut");
        (path.file_name().expect("a name").to_string_lossy().into_owned(), whole)
    }

    fn only_file(spool: &Spool) -> std::path::PathBuf {
        let mut files = std::fs::read_dir(spool.folder(Folder::New)).expect("a folder");
        files.next().expect("a file").expect("an entry").path()
    }

    fn drained(spool: &Spool) -> (usize, usize) {
        let mut drain = Drain::open(spool).expect("a drain");
        let batch = drain.next_batch(10, 1 << 20).expect("a batch");
        (batch.envelopes.len(), batch.refused.len())
    }

    #[test]
    fn a_dead_letter_says_why_and_comes_back_when_it_is_whole_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let spool = spool(folder.path());
        assert_eq!(spool.dead_letters(10).expect("none"), []);
        let (name, whole) = torn(&spool, 5_000_000_000);
        assert_eq!(drained(&spool), (0, 1));
        let letters = spool.dead_letters(10).expect("letters");
        assert_eq!((letters.len(), letters[0].name.as_str(), letters[0].bytes), (1, name.as_str(), 20));
        assert_eq!(letters[0].arrived_nanos, Some(5_000_000_000));
        assert!(letters[0].reason.contains("cannot read envelope"), "{:?}", letters[0]);

        assert!(spool.requeue(&name).expect("put back"));
        assert_eq!(drained(&spool), (0, 1), "it is as torn as before");
        disk::write(
            &std::fs::File::options()
                .write(true)
                .open(spool.folder(Folder::Quarantine).join(&name))
                .expect("open"),
            &whole,
        )
        .expect("mended");
        assert!(spool.requeue(&name).expect("put back"));
        assert_eq!(spool.dead_letters(10).expect("none"), []);
        assert_eq!(drained(&spool), (1, 0));
        assert!(!spool.requeue(&name).expect("an answer"), "it is not there any more");
    }

    #[test]
    fn an_envelope_that_the_ledger_refused_is_put_aside_with_the_reason_and_requeued() {
        let folder = tempfile::tempdir().expect("a folder");
        let spool = spool(folder.path());
        for nanos in 1..=3 {
            let header = Header::new(Agent::CODEX, Channel::Hook, nanos);
            spool.accept(&header, b"{\"a\":1}", nanos, 1).expect("accepted");
        }
        let mut drain = Drain::open(&spool).expect("a drain");
        let mut batch = drain.next_batch(10, 1 << 20).expect("a batch");
        let poison = batch.envelopes[1].name;
        let refused =
            drain.put_aside(&mut batch.receipt, &[(poison, "a page is damaged".to_owned())]).expect("aside");
        assert_eq!((refused.len(), drain.in_flight()), (1, 2));
        drain.ack(batch.receipt).expect("acked");
        let letters = spool.dead_letters(10).expect("letters");
        assert_eq!(letters.len(), 1);
        assert_eq!(letters[0].reason, format!("cannot keep envelope `{poison}`: a page is damaged"));
        assert!(drain.next_batch(10, 1 << 20).expect("a batch").envelopes.is_empty());
        assert_eq!(std::fs::metadata(spool.used()).expect("facts").len(), 0, "the room is free again");

        disk::create_new(&spool.folder(Folder::Quarantine).join("stranger-00")).expect("a file");
        assert_eq!(spool.requeue_unwritten().expect("put back"), 1);
        assert_eq!(drain.next_batch(10, 1 << 20).expect("a batch").envelopes[0].name, poison);
        assert_eq!(spool.dead_letters(10).expect("letters").len(), 1, "others stay");
    }

    #[test]
    fn only_files_of_the_quarantine_with_an_envelopes_name_are_requeued() {
        let folder = tempfile::tempdir().expect("a folder");
        let spool = spool(folder.path());
        let quarantine = spool.folder(Folder::Quarantine);
        disk::create_new(&quarantine.join("stranger-00")).expect("a file");
        disk::create_new(&folder.path().join("secret")).expect("a file");
        for name in [
            "stranger-00",
            "../../secret",
            "..",
            "",
            "00000000000000000001-1-1.reason",
            "00000000000000000001-1-1",
        ] {
            assert!(!spool.requeue(name).expect("an answer"), "{name}");
        }
        assert_eq!(spool.dead_letters(10).expect("letters").len(), 1);
        assert_eq!(spool.stats().expect("stats").waiting, 0);
    }

    #[test]
    fn the_newest_dead_letters_are_listed_up_to_the_limit() {
        let folder = tempfile::tempdir().expect("a folder");
        let spool = spool(folder.path());
        for nanos in 1..=5 {
            disk::create_new(&spool.folder(Folder::Quarantine).join(EnvelopeName::new(nanos, 1, 1).as_str()))
                .expect("a file");
        }
        let letters = spool.dead_letters(2).expect("letters");
        assert_eq!(letters.iter().filter_map(|letter| letter.arrived_nanos).collect::<Vec<_>>(), [5, 4]);
    }
}
