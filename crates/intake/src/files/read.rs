//! Reads files into the sink, each from where it stopped.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use agent_tracer_agents::files::{Change, FileIdentity, FileSight, LineSplitter};
use agent_tracer_agents::sessions::{self, Form, SessionFile, recognise};
use agent_tracer_event::{Agent, Channel, Millis, Unrecognised};
use agent_tracer_ledger::{AppendError, Batch, Cursor, Observed, Verdict};
use xxhash_rust::xxh3::xxh3_64;

use super::bytes::{Bytes, read_at};
use super::find::{Facts, FoundFile, is_gone, read_facts};
use super::lines::{Pass, PassEnd};
use super::mark::{BEFORE_BYTES, Mark, before};
use super::plain;
use super::reader::Reader;
use super::registry::{Counts, FilePosition, Registry, Tally};
use crate::Clock;
use crate::privacy::{Privacy, PrivacyFile};
use crate::project::{ProjectClaims, Projects};
use crate::sink::Sink;
use crate::stop::Stop;
use crate::tail::NamedFiles;

/// The number of bytes that are read at once.
const CHUNK_BYTES: usize = 64 * 1024;
/// The time without changes after which a file counts as finished.
const QUIET: Duration = Duration::from_secs(600);
/// The time for which a small file may be half written.
const HALF_WRITTEN: Duration = Duration::from_secs(10);
/// The age up to which a new server follows a file of an unknown folder again.
const RECENT: Duration = Duration::from_secs(24 * 3600);
/// The longest description of a subagent that is read.
const META_BYTES: u64 = 1 << 20;

/// The reason why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The sink did not take the batch, which will be read again.
    #[error("cannot store the events of `{}`", path.display())]
    Sink {
        /// The file.
        path: PathBuf,
        /// The error of the sink.
        source: AppendError,
    },
    /// The sink takes others, but not this file. It is tried again later, and nothing waits for it.
    #[error("cannot store the events of `{}`; retrying in {} s", path.display(), pause.as_secs())]
    Parked {
        /// The file.
        path: PathBuf,
        /// The time until the next attempt.
        pause: Duration,
        /// The error of the sink.
        source: AppendError,
    },
    /// The file could not be read.
    #[error("cannot read `{}`", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

/// The result of reading a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOutcome {
    /// The file has nothing new.
    Nothing,
    /// The file is missing, or is no regular file.
    Gone,
    /// Another thread is reading the file, and will read on before it gives the file back.
    Busy,
    /// The file cannot be read yet: it is half written, or not known to be allowed.
    Later,
    /// The file was read.
    Read,
    /// The file was read in part, because a stop was requested.
    Stopped,
}

/// Reads files into a sink.
pub struct Files {
    sink: Arc<dyn Sink>,
    privacy: Arc<PrivacyFile>,
    projects: Arc<Projects>,
    clock: Clock,
    registry: Registry,
    tally: Tally,
}

impl Files {
    /// Creates a reader without positions; see [`Files::load`].
    pub fn new(
        sink: Arc<dyn Sink>,
        privacy: Arc<PrivacyFile>,
        projects: Arc<Projects>,
        clock: Clock,
    ) -> Self {
        Self { sink, privacy, projects, clock, registry: Registry::default(), tally: Tally::default() }
    }

    /// Loads the positions of all files from the sink.
    pub fn load(&self) -> Result<(), AppendError> {
        for agent in Agent::ALL {
            for cursor in self.sink.cursors(*agent)? {
                // Only the mark: the readers' states would be tens of megabytes for a long history.
                if let Some((mark, _)) = Mark::decode(&cursor.state) {
                    let known = FilePosition { mark, offset: cursor.offset, reader: None };
                    self.registry.put(PathBuf::from(cursor.source), known);
                }
            }
        }
        Ok(())
    }

    /// Names the files that were read before and changed within the last day: an agent may have written on while no
    /// server ran, and its hooks may never name the file again. Files in followed folders are left out.
    pub(crate) fn name_recent(&self, named: &NamedFiles) {
        let now = (self.clock)();
        for path in self.registry.paths() {
            let Some(file) = recognise(None, &path) else { continue };
            if !named.is_followed(&path)
                && read_facts(&path).ok().flatten().is_some_and(|facts| !has_rested(&facts, RECENT, now))
            {
                named.add(file.agent, &path);
            }
        }
    }

    /// Returns the work so far.
    pub fn counts(&self) -> Counts {
        Counts { parked: self.registry.parked((self.clock)()).0, ..self.tally.counts() }
    }

    /// Returns the files that the sink did not take and whose next attempt is due.
    pub fn due(&self) -> Vec<PathBuf> {
        self.registry.parked((self.clock)()).1
    }

    /// Returns `true` if a file may have something new, by its metadata alone.
    pub fn is_news(&self, found: &FoundFile) -> bool {
        let now = (self.clock)();
        if self.registry.has_failed(&found.path, &found.facts) || self.registry.waits(&found.path, now) {
            return false;
        }
        let known = self.registry.with_mark(&found.path, |mark| {
            mark.is_current(&found.facts) && !(mark.unsettled && is_quiet(&found.facts, now))
        });
        match known {
            Some(is_known) => !is_known,
            None => found.facts.length > 0,
        }
    }

    /// Returns the number of bytes of a file that were not seen yet.
    pub fn unseen(&self, found: &FoundFile) -> u64 {
        let seen = self.registry.seen(&found.path).unwrap_or(0);
        // A shorter file is another one, to be read from its beginning.
        found.facts.length.checked_sub(seen).unwrap_or(found.facts.length)
    }

    /// Reads a file on from its position, and brings the new rows.
    pub fn read(&self, path: &Path, file: &SessionFile, stop: &Stop) -> Result<ReadOutcome, ReadError> {
        if self.registry.waits(path, (self.clock)()) {
            return Ok(ReadOutcome::Nothing);
        }
        let mut sum = ReadOutcome::Nothing;
        loop {
            let Some(known) = self.registry.claim(path) else { return Ok(ReadOutcome::Busy) };
            let mut after = known;
            let mut failed = None;
            let result = self.read_claimed(path, file, &mut after, &mut failed, stop);
            let again = self.registry.release(path, after, failed);
            let result = result.map_err(|error| match error {
                ReadError::Sink { path, source: source @ AppendError::Item(_) } => {
                    let pause = self.registry.park(&path, (self.clock)());
                    ReadError::Parked { path, pause, source }
                }
                other => other,
            });
            if result.is_err() {
                self.tally.failed.fetch_add(1, Ordering::Relaxed);
            } else {
                self.registry.unpark(path);
            }
            let work = result?;
            if matches!(sum, ReadOutcome::Nothing) || !matches!(work, ReadOutcome::Nothing) {
                sum = work;
            }
            if !again || matches!(sum, ReadOutcome::Stopped | ReadOutcome::Gone) {
                return Ok(sum);
            }
        }
    }

    /// Reads a file that was claimed. Afterwards `known` is the state on disk.
    fn read_claimed(
        &self,
        path: &Path,
        file: &SessionFile,
        known: &mut Option<FilePosition>,
        failed: &mut Option<Facts>,
        stop: &Stop,
    ) -> Result<ReadOutcome, ReadError> {
        let on_file = |source| ReadError::File { path: path.to_owned(), source };
        // Without settings it is not known what may be recorded, so the file waits. The health page shows the reason.
        let Ok(privacy) = self.privacy.current() else { return Ok(ReadOutcome::Later) };
        if self.privacy.keeps_out(path) {
            return Ok(ReadOutcome::Nothing);
        }
        let Some(facts) = read_facts(path).map_err(on_file)? else {
            *known = None;
            return Ok(ReadOutcome::Gone);
        };
        // The registry holds what this process read; the store holds what any process read before.
        if known.is_none() {
            *known = self.stored(path)?;
        }
        let now = (self.clock)();
        let settles = |mark: &Mark| mark.unsettled && is_quiet(&facts, now);
        match known {
            Some(known) if known.mark.is_current(&facts) && !settles(&known.mark) => {
                return Ok(ReadOutcome::Nothing);
            }
            // A new file gets its name before its first row: nothing is stored for it until then.
            None if facts.length == 0 => return Ok(ReadOutcome::Nothing),
            _ => {}
        }
        let read = match file.form {
            Form::Description => self.read_description(path, file, &facts, &privacy, known),
            Form::Lines | Form::CompressedLines => self.read_rows(path, file, &privacy, known, stop),
        };
        read.or_else(|fault| match fault {
            Fault::Sink(source) => Err(ReadError::Sink { path: path.to_owned(), source }),
            Fault::File(error) if is_gone(&error) => {
                *known = None;
                Ok(ReadOutcome::Gone)
            }
            Fault::File(error) => {
                *failed = Some(facts);
                Err(on_file(error))
            }
        })
    }

    /// Returns the sink's state of a file that is not in the registry.
    fn stored(&self, path: &Path) -> Result<Option<FilePosition>, ReadError> {
        let on_sink = |source| ReadError::Sink { path: path.to_owned(), source };
        let cursor = self.sink.cursor(&source_of(path)).map_err(on_sink)?;
        Ok(cursor.and_then(|cursor| {
            let (mark, _) = Mark::decode(&cursor.state)?;
            Some(FilePosition { mark, offset: cursor.offset, reader: None })
        }))
    }

    fn read_rows(
        &self,
        path: &Path,
        about: &SessionFile,
        privacy: &Privacy,
        known: &mut Option<FilePosition>,
        stop: &Stop,
    ) -> Result<ReadOutcome, Fault> {
        let file = plain::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Ok(ReadOutcome::Gone);
        }
        let facts = Facts::from_metadata(&metadata);
        let compressed = about.form == Form::CompressedLines;
        // Device and number are not enough: file systems give the number of a removed file to the next one.
        let head = read_at(&file, 0, FileIdentity::HEAD_BYTES as u64)?;
        let sight = FileSight { device: facts.device, inode: facts.inode, length: facts.length, head: &head };
        let begin = self.begin(path, about, &file, privacy, &sight, known.as_ref())?;
        let is_replaced = known.is_some() && begin.known.is_none();
        if is_replaced {
            self.tally.replaced.fetch_add(1, Ordering::Relaxed);
        }
        let mut bytes = Bytes::open(file.try_clone()?, compressed, begin.offset)?;
        let mut pass = Pass {
            privacy,
            projects: &self.projects,
            source: source_of(path),
            agent: about.agent,
            arrived: (self.clock)(),
            written: Millis(facts.changed_ns.div_euclid(1_000_000)),
            identity: FileIdentity::of(&sight),
            plain: (!compressed).then_some(&file),
            reader: begin.reader,
            splitter: LineSplitter::new(begin.offset),
            project: begin.known.and_then(|known| known.mark.project.clone()),
            kept: begin.offset,
            batch: Batch::default(),
            batch_bytes: 0,
            said: ProjectClaims::new(),
        };
        let mut buffer = vec![0; CHUNK_BYTES];
        loop {
            if stop.is_requested() {
                if pass.has_news() {
                    self.bring(&mut pass, PassEnd::Middle, known)?;
                }
                return Ok(ReadOutcome::Stopped);
            }
            let read = match bytes.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) => {
                    // The rows before the damage are sound, so they are brought; only the rest is lost.
                    if pass.has_news() {
                        self.bring(&mut pass, PassEnd::Middle, known)?;
                    }
                    return Err(error.into());
                }
            };
            self.tally.bytes.fetch_add(read as u64, Ordering::Relaxed);
            let mut rest = buffer.get(..read).unwrap_or_default();
            while !rest.is_empty() {
                let fed = pass.feed(rest);
                rest = rest.get(fed..).unwrap_or_default();
                if pass.is_full() {
                    self.bring(&mut pass, PassEnd::Middle, known)?;
                }
            }
        }
        pass.end();
        if is_quiet(&facts, (self.clock)()) {
            pass.settle();
        }
        let length = if compressed { facts.length } else { pass.splitter.expects() };
        let reached = PassEnd::End { length, changed_ns: facts.changed_ns };
        if pass.has_news() || is_replaced {
            self.bring(&mut pass, reached, known)?;
            keep_warm(known, pass.reader);
            return Ok(ReadOutcome::Read);
        }
        // An unfinished line or a touched file changes no row, so the new state is not worth a commit.
        *known = Some(pass.known(reached)?);
        keep_warm(known, pass.reader);
        Ok(ReadOutcome::Nothing)
    }

    /// Returns the place to begin: the old position if it is still the same file, else the beginning.
    fn begin<'k>(
        &self,
        path: &Path,
        about: &SessionFile,
        file: &File,
        privacy: &Privacy,
        sight: &FileSight<'_>,
        known: Option<&'k FilePosition>,
    ) -> Result<PassStart<'k>, Fault> {
        let compressed = about.form == Form::CompressedLines;
        if let Some(known) = known
            && !matches!(known.mark.change(sight), Change::Replaced)
            // A file rewritten in place may keep its beginning, so the bytes before the position are compared too.
            && (compressed || stood_before(file, known)?)
        {
            let reader = match &known.reader {
                Some(reader) => Some(reader.clone()),
                None => {
                    let cursor = self.sink.cursor(&source_of(path)).map_err(Fault::Sink)?;
                    cursor
                        // The state of a reader belongs to one position: elsewhere it would repeat or skip rows.
                        .filter(|cursor| cursor.offset == known.offset)
                        .and_then(|cursor| Reader::resume(about, path, Mark::decode(&cursor.state)?.1))
                }
            };
            let is_same = known.mark.exclusions == privacy.exclusions();
            let reader =
                reader.and_then(
                    |reader| {
                        if is_same { Some(reader) } else { reader.reconsider(about, path, privacy) }
                    },
                );
            if let Some(reader) = reader {
                return Ok(PassStart { offset: known.offset, reader, known: Some(known) });
            }
        }
        let Some(reader) = Reader::start(about, path) else {
            return Err(Fault::File(io::Error::new(io::ErrorKind::InvalidInput, "it has no rows")));
        };
        Ok(PassStart { offset: 0, reader, known: None })
    }

    /// Brings the batch of a pass, and adopts its position once that is on disk.
    fn bring(
        &self,
        pass: &mut Pass<'_>,
        reached: PassEnd,
        known: &mut Option<FilePosition>,
    ) -> Result<(), Fault> {
        let (batch, now_known, said) = pass.take(reached)?;
        self.append(batch, said)?;
        *known = Some(now_known);
        Ok(())
    }

    fn append(&self, batch: Batch, said: ProjectClaims) -> Result<(), Fault> {
        let (rows, skipped) = (batch.observed.len() as u64, batch.skipped);
        self.sink.append(batch).map_err(Fault::Sink)?;
        self.projects.remember(said);
        self.tally.rows.fetch_add(rows, Ordering::Relaxed);
        self.tally.skipped.fetch_add(skipped, Ordering::Relaxed);
        Ok(())
    }

    /// Reads the description of a subagent, if the rows that it is about may be recorded.
    fn read_description(
        &self,
        path: &Path,
        file: &SessionFile,
        facts: &Facts,
        privacy: &Privacy,
        known: &mut Option<FilePosition>,
    ) -> Result<ReadOutcome, Fault> {
        let Some(door) = sessions::of(file.agent) else { return Ok(ReadOutcome::Nothing) };
        match self.is_allowed(&door.described(path, file), privacy)? {
            Some(true) => {}
            Some(false) => return Ok(ReadOutcome::Nothing),
            None => return Ok(ReadOutcome::Later),
        }
        let mut content = Vec::new();
        plain::open(path)?.take(META_BYTES).read_to_end(&mut content)?;
        // It has no time of its own; the time of its last change is the same at every reading.
        let written = Millis(facts.changed_ns.div_euclid(1_000_000));
        let (name, mut reading) = door.read_description(&privacy.rules(), file, &content, written);
        let is_json = !matches!(reading.unrecognised.first(), Some(Unrecognised::Line(_)));
        let age = Millis((self.clock)().0.saturating_sub(written.0));
        if !is_json && age.0 < HALF_WRITTEN.as_millis() as i64 {
            return Ok(ReadOutcome::Later);
        }
        let said = self.projects.add_to(&mut reading, None);
        let verdict = if !is_json {
            Some(Verdict::Malformed("not a JSON object".to_owned()))
        } else {
            (!reading.entries.is_empty()).then_some(Verdict::Read(reading))
        };
        let sight =
            FileSight { device: facts.device, inode: facts.inode, length: facts.length, head: &content };
        let mark = Mark::new(FileIdentity::of(&sight), Some(facts.changed_ns), before(&[]));
        let source = source_of(path);
        let mut batch = Batch::default();
        match verdict {
            None => batch.skipped = 1,
            Some(verdict) => batch.observed.push(Observed {
                // The hash makes a changed description another observation, and the same one a repetition.
                name: format!("{name}~{:016x}", xxh3_64(&content)),
                source: Some(source.clone()),
                agent: file.agent,
                channel: Channel::Transcript,
                arrived: (self.clock)(),
                verdict,
                payload: None,
                kept: None,
            }),
        }
        let state = mark.encode(&[]);
        let bare = state.clone();
        batch.cursors.push(Cursor { source, agent: file.agent, offset: facts.length, state, bare });
        self.tally.bytes.fetch_add(content.len() as u64, Ordering::Relaxed);
        self.append(batch, said)?;
        *known = Some(FilePosition { mark, offset: facts.length, reader: None });
        Ok(ReadOutcome::Read)
    }

    /// Returns whether the description of these files may be recorded; `None` until one of them names a directory.
    fn is_allowed(&self, described: &[PathBuf], privacy: &Privacy) -> Result<Option<bool>, Fault> {
        if privacy.config.excludes.is_empty() {
            return Ok(Some(true));
        }
        for beside in described {
            let excluded = match self.registry.with_mark(beside, |mark| mark.excluded) {
                Some(excluded) => excluded,
                None => {
                    let cursor = self.sink.cursor(&source_of(beside)).map_err(Fault::Sink)?;
                    cursor.and_then(|cursor| Mark::decode(&cursor.state)?.0.excluded)
                }
            };
            if let Some(excluded) = excluded {
                return Ok(Some(!excluded));
            }
        }
        Ok(None)
    }
}

struct PassStart<'k> {
    offset: u64,
    reader: Reader,
    /// The state before, if it still holds.
    known: Option<&'k FilePosition>,
}

enum Fault {
    Sink(AppendError),
    File(io::Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::File(error)
    }
}

fn keep_warm(known: &mut Option<FilePosition>, reader: Reader) {
    if let Some(known) = known {
        known.reader = Some(reader);
    }
}

/// Returns `true` if the bytes before the position are the same as before.
fn stood_before(file: &File, known: &FilePosition) -> io::Result<bool> {
    let length = known.offset.min(BEFORE_BYTES);
    Ok(before(&read_at(file, known.offset - length, length)?) == known.mark.before)
}

fn is_quiet(facts: &Facts, now: Millis) -> bool {
    has_rested(facts, QUIET, now)
}

/// Returns `true` if a file has not changed for longer than this.
fn has_rested(facts: &Facts, time: Duration, now: Millis) -> bool {
    let changed_ms = facts.changed_ns.div_euclid(1_000_000);
    now.0.saturating_sub(changed_ms) > time.as_millis() as i64
}

/// Returns the name of a file as a source.
fn source_of(path: &Path) -> String {
    // Two names that are no UTF-8 can have the same text, so a hash tells them apart.
    match path.to_str() {
        Some(text) => text.to_owned(),
        None => format!("{}#{:016x}", path.to_string_lossy(), xxh3_64(path.as_os_str().as_encoded_bytes())),
    }
}
