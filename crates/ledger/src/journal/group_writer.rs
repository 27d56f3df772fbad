//! The thread that writes the journal: it gathers what waits, writes it, waits for the disk once, and acknowledges.
//!
//! What was folded before is asked for once for all that is gathered, because beginning to ask costs more than the
//! asking.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender};

use agent_tracer_event::Outcome;

use super::file::{self, JournalFile};
use super::{FoldedLookup, Job, JournalChecks, Names, PostReply, Settle, Shared, hash, record};
use crate::AppendError;
use crate::observation::{Observed, Receipt, Verdict};
use crate::sqlite::prepared::Prepared;

/// Bytes of one write.
const GROUP_BYTES: usize = 4 << 20;

/// The thread that writes the journal.
pub(super) struct GroupWriter {
    file: JournalFile,
    shared: Arc<Shared>,
    known: FoldedLookup,
    settle: Settle,
    checks: JournalChecks,
    ring: Box<dyn Fn() + Send>,
}

/// The batches that are written together.
#[derive(Default)]
struct Group {
    batches: Vec<(Prepared, PostReply)>,
    /// Of each batch, what becomes of its observations as far as they themselves say.
    outcomes: Vec<Vec<Outcome>>,
    /// Of each observation, where its record ends; none of those that cannot be written.
    ends: Vec<Option<usize>>,
    bytes: Vec<u8>,
}

impl Group {
    /// Adds a batch to what will be written.
    fn add(&mut self, batch: Prepared, done: PostReply, number: u64) {
        let outcomes = batch.observations().map(|(observed, ready)| {
            let is_written = record::write(observed, ready, number, &mut self.bytes);
            self.ends.push(is_written.then_some(self.bytes.len()));
            match observed.verdict {
                // A record that is too long for the format would be found damaged later. It is refused now, while
                // a caller can be answered.
                _ if !is_written => Outcome::Malformed,
                Verdict::Malformed(_) => Outcome::Malformed,
                Verdict::Refused(_) => Outcome::Refused,
                Verdict::Read(_) => Outcome::Recorded,
            }
        });
        self.outcomes.push(outcomes.collect());
        self.batches.push((batch, done));
    }

    /// Returns every observation, with what becomes of it.
    fn outcomes_mut(&mut self) -> impl Iterator<Item = (&Observed, &mut Outcome)> {
        let observed = self.batches.iter().flat_map(|(prepared, _)| &prepared.batch.observed);
        observed.zip(self.outcomes.iter_mut().flatten())
    }
}

impl GroupWriter {
    pub(super) fn new(
        file: JournalFile,
        shared: Arc<Shared>,
        known: FoldedLookup,
        settle: Settle,
        checks: JournalChecks,
        ring: Box<dyn Fn() + Send>,
    ) -> Self {
        Self { file, shared, known, settle, checks, ring }
    }

    pub(super) fn run(mut self, jobs: &Receiver<Job>) {
        let mut bytes = Vec::new();
        while let Ok(job) = jobs.recv() {
            // The room of the last write is used again: a burst would otherwise allocate and free megabytes for each
            // group.
            let mut group = Group { bytes, ..Group::default() };
            let mut rest = Some(job);
            while let Some(Job::Take(batch, done)) = rest {
                group.add(batch, done, self.file.number);
                rest = if group.bytes.len() < GROUP_BYTES { jobs.try_recv().ok() } else { None };
            }
            bytes = self.write(group);
            match rest {
                Some(Job::UseAnew { leave_nothing, done }) => self.use_anew(leave_nothing, done),
                Some(Job::Close) => break,
                Some(Job::Take(..)) | None => {}
            }
        }
    }

    /// Marks the observations that are known already, and returns the names of the others. Known ones are written too:
    /// the fold counts them.
    fn mark_repeats(&mut self, group: &mut Group) -> Names {
        let mut fresh = Names::default();
        let mut asked = Vec::new();
        let waiting = self.shared.names();
        for (observed, outcome) in group.outcomes_mut().filter(|(_, outcome)| **outcome == Outcome::Recorded)
        {
            let name = hash(&observed.name);
            if waiting.contains(&name) || !fresh.insert(name) {
                *outcome = Outcome::Duplicate;
            } else {
                asked.push((observed.name.as_str(), name, outcome));
            }
        }
        // First what waits, then what is folded: it leaves the one only after it is in the other.
        drop(waiting);
        let names: Vec<&str> = asked.iter().map(|(name, ..)| *name).collect();
        let known = if names.is_empty() { Vec::new() } else { (self.known)(&names) };
        for ((_, name, outcome), is_known) in asked.into_iter().zip(known) {
            if is_known {
                *outcome = Outcome::Duplicate;
                fresh.remove(&name);
            }
        }
        fresh
    }

    /// Writes a group, and says what became of it. Gives the room for the bytes of the next.
    fn write(&mut self, mut group: Group) -> Vec<u8> {
        if group.batches.is_empty() {
            return group.bytes;
        }
        let names = self.mark_repeats(&mut group);
        let from = self.file.end;
        let written = self.append(&mut group.bytes);
        let Group { batches, outcomes, ends, mut bytes } = group;
        let (batches, reported): (Vec<Prepared>, Vec<PostReply>) = batches.into_iter().unzip();
        match written {
            Ok(()) => {
                self.shared.names().extend(names);
                // Before they count as written, so that a query that follows the answer finds them here.
                let ready = batches.into_iter().flat_map(Prepared::into_each);
                let records = ready.zip(ends).filter_map(|(ready, end)| Some((ready, from + end? as u64)));
                self.shared.handoff().put(from, records);
                self.shared.end.store(self.file.end, Ordering::SeqCst);
                self.shared.note_use();
                if !self.shared.is_rung.swap(true, Ordering::SeqCst) {
                    (self.ring)();
                }
                for (done, outcomes) in reported.into_iter().zip(outcomes) {
                    done(Ok(Receipt { outcomes, ..Receipt::default() }));
                }
            }
            Err(error) => {
                self.checks.faults.write_failed(&error);
                for done in reported {
                    done(Err(io::Error::other(error.clone())));
                }
            }
        }
        bytes.clear();
        bytes.shrink_to(GROUP_BYTES);
        bytes
    }

    /// Writes bytes to a file that will be found again.
    fn append(&mut self, bytes: &mut Vec<u8>) -> Result<(), AppendError> {
        if self.shared.is_broken.load(Ordering::SeqCst) {
            return Err(AppendError::Store("the journal cannot be written".into()));
        }
        if self.file.is_cut() {
            // What was in it and waits is folded from memory; the next ones begin a file that is whole.
            self.use_anew(true, None);
            return Err(AppendError::Gone("the journal of posts was cut short".to_owned()));
        }
        let from = self.file.end;
        // Checked again behind the write: a file that lost its name takes writes and syncs without an error, and
        // everything in it is lost.
        self.file.append(bytes)?;
        self.checks.files.check().inspect_err(|_| self.file.take_back(from))
    }

    fn use_anew(&mut self, leave_nothing: bool, done: Option<SyncSender<()>>) {
        // Who cannot be sure of the store leaves the records where they are, and writes behind them.
        if self.shared.waiting() == 0 && (self.settle)().is_ok() {
            self.begin_anew(leave_nothing);
        }
        if let Some(done) = done {
            done.send(()).ok();
        }
    }

    fn begin_anew(&mut self, leave_nothing: bool) {
        let used = if leave_nothing { self.file.clear() } else { self.file.begin_anew() };
        if used.is_err() {
            // It is unknown which number the head has now: what would be written behind it might not be found again.
            self.shared.is_broken.store(true, Ordering::SeqCst);
        } else {
            self.shared.handoff().clear();
            // Nothing waits, whichever of these is seen first.
            self.shared.folded.store(u64::MAX, Ordering::SeqCst);
            self.shared.number.store(self.file.number, Ordering::SeqCst);
            self.shared.end.store(self.file.end, Ordering::SeqCst);
            self.shared.folded.store(file::HEAD, Ordering::SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::path::Path;
    use std::sync::Mutex;
    use std::sync::mpsc::{Sender, channel, sync_channel};

    use super::super::file::JournalPosition;
    use super::super::record::tests::{observed, write_one};
    use super::*;
    use crate::aside_folder::AsideFolder;
    use crate::observation::Batch;
    use crate::sqlite::store_files::{FileRole, StoreFiles};

    type Answer = io::Result<Receipt>;

    /// Returns a writer that knows what is in this list, and notes what it was asked for at once.
    fn writer(path: &Path, known: &'static [&'static str]) -> (GroupWriter, Arc<Mutex<Vec<Vec<String>>>>) {
        let file = JournalFile::open(file::create(path).unwrap(), JournalPosition::default()).unwrap();
        let shared = Arc::new(Shared::new(&file, file::HEAD));
        let asked: Arc<Mutex<Vec<Vec<String>>>> = Arc::default();
        let noted = Arc::clone(&asked);
        let ask = move |names: &[&str]| {
            noted.lock().unwrap().push(names.iter().map(|name| (*name).to_owned()).collect());
            names.iter().map(|name| known.contains(name)).collect()
        };
        let checks = JournalChecks {
            files: Arc::new(StoreFiles::open([(path.to_owned(), FileRole::Other)])),
            faults: Arc::default(),
            aside: AsideFolder::beside(path),
        };
        (GroupWriter::new(file, shared, Box::new(ask), Box::new(|| Ok(())), checks, Box::new(|| {})), asked)
    }

    fn take(names: &[&str], tell: &Sender<Answer>) -> Job {
        let batch = Batch { observed: names.iter().map(|name| observed(name)).collect(), ..Batch::default() };
        let tell = tell.clone();
        Job::Take(Prepared::of(batch), Box::new(move |answer| drop(tell.send(answer))))
    }

    /// Has the writer take all of these, which wait together, and gives its answers.
    fn run(writer: GroupWriter, batches: &[&[&str]]) -> Vec<Answer> {
        let (jobs, waiting) = sync_channel(batches.len() + 1);
        let (tell, reported) = channel();
        for names in batches {
            jobs.send(take(names, &tell)).unwrap();
        }
        jobs.send(Job::Close).unwrap();
        drop(tell);
        writer.run(&waiting);
        reported.iter().collect()
    }

    #[test]
    fn what_is_brought_twice_at_once_is_reported_to_be_known_the_second_time() {
        let folder = tempfile::tempdir().unwrap();
        let (writer, asked) = writer(&folder.path().join("journal"), &["folded"]);
        let shared = Arc::clone(&writer.shared);
        let answers = run(writer, &[&["one", "two", "one"], &["two"], &["folded", "three"]]);
        let outcomes: Vec<Vec<Outcome>> =
            answers.into_iter().map(|answer| answer.unwrap().outcomes).collect();
        let (new, again) = (Outcome::Recorded, Outcome::Duplicate);
        assert_eq!(outcomes, [vec![new, new, again], vec![again], vec![again, new]]);
        assert_eq!(*asked.lock().unwrap(), [["one", "two", "folded", "three"]], "asked once for all");
        let waiting = ["one", "two", "three"].map(hash).into_iter().collect::<Names>();
        assert_eq!(*shared.names(), waiting);
    }

    #[test]
    fn nothing_is_written_over_that_the_store_may_lose() {
        let folder = tempfile::tempdir().unwrap();
        let (mut writer, _) = writer(&folder.path().join("journal"), &[]);
        let numbers = [Err(ErrorKind::Other.into()), Ok(())].map(|settled: io::Result<()>| {
            let mut settled = Some(settled);
            writer.settle = Box::new(move || settled.take().unwrap());
            writer.use_anew(false, None);
            writer.file.number
        });
        assert_eq!(numbers[0] + 1, numbers[1]);
    }

    #[test]
    fn nothing_is_acknowledged_in_a_file_that_was_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let (writer, _) = writer(&path, &[]);
        let (shared, faults) = (Arc::clone(&writer.shared), Arc::clone(&writer.checks.faults));
        std::fs::remove_file(&path).unwrap();
        let answers = run(writer, &[&["one"]]);
        let error = answers.into_iter().next().unwrap().unwrap_err();
        assert!(matches!(AppendError::from(error), AppendError::Gone(_)));
        assert_eq!((shared.waiting(), faults.view(0).recording), (0, false));
    }

    #[test]
    fn nothing_is_acknowledged_in_a_file_that_was_cut_and_the_next_begins_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let (mut writer, _) = writer(&path, &[]);
        let mut append = |length: Option<u64>| {
            if let Some(length) = length {
                let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
                file.set_len(length).unwrap();
            }
            let mut bytes = Vec::new();
            assert!(write_one("one", writer.file.number, &mut bytes));
            writer.append(&mut bytes).is_ok()
        };
        assert_eq!([None, Some(0), None, Some(100), None].map(&mut append), [true, false, true, false, true]);
    }

    #[test]
    fn what_could_not_be_written_is_no_repeat_when_it_comes_again() {
        let folder = tempfile::tempdir().unwrap();
        let (writer, _) = writer(&folder.path().join("journal"), &[]);
        let shared = Arc::clone(&writer.shared);
        shared.is_broken.store(true, Ordering::SeqCst);
        let answers = run(writer, &[&["one"]]);
        assert!(answers.iter().all(Result::is_err) && answers.len() == 1);
        assert!(shared.names().is_empty());
    }
}
