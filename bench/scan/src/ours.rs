//! The product's own readers on the same files, in the way a caller uses them: chunk by chunk.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use agent_tracer_agents::claude::transcript::usage::{ResponseSet, UsageScan};
use agent_tracer_agents::claude::transcript::{Place, RowReading, RowScan, TranscriptFile, TranscriptReader};
use agent_tracer_agents::files::{Change, FileIdentity, FileSight, Line, LineSplitter, Rules};
use agent_tracer_event::{Kind, Millis, Subject};
use agent_tracer_privacy::Config;

use crate::contestants::{Answer, four};
use crate::files::{chunks, share, transcripts};

const USAGE: Subject = Subject::Event(Kind::TokenUsage);

fn file_of(path: &Path) -> Option<TranscriptFile> {
    match Place::of(path.to_str()?) {
        Place::Rows(file) => Some(file),
        Place::Meta(_) | Place::Other => None,
    }
}

/// Looks whether any file changed: what a second run does before it reads anything.
pub(crate) fn unchanged(home: &Path) -> Result<Answer, String> {
    let mut answer = Answer::default();
    let mut head = vec![0; FileIdentity::HEAD_BYTES];
    for (path, size) in transcripts(home)? {
        let fail = |error: std::io::Error| format!("cannot read `{}`: {error}", path.display());
        let mut file = File::open(&path).map_err(fail)?;
        let about = file.metadata().map_err(fail)?;
        let mut read = 0;
        while let Some(rest) = head.get_mut(read..).filter(|rest| !rest.is_empty()) {
            match file.read(rest).map_err(fail)? {
                0 => break,
                more => read += more,
            }
        }
        let head = head.get(..read).unwrap_or_default();
        let sight = FileSight { device: about.dev(), inode: about.ino(), length: about.len(), head };
        let remembered = FileIdentity::of(&sight);
        if remembered.change(&sight) != Change::Same {
            return Err(format!("`{}` changed while it was looked at", path.display()));
        }
        answer.bytes += size;
    }
    Ok(answer)
}

/// Adds up the cost of responses, each once.
pub(crate) fn usage(home: &Path, threads: usize) -> Result<Answer, String> {
    let files = transcripts(home)?;
    let start = || (ResponseSet::default(), Answer::default());
    let sets = share(&files, threads, start, |(set, answer), path| {
        let Some(file) = file_of(path) else { return Ok(()) };
        let mut scan = UsageScan::new(file);
        answer.bytes += chunks(path, |chunk| scan.push(chunk, set))?;
        let counts = scan.finish(set);
        if counts.unreadable + counts.malformed > 0 {
            return Err(format!("`{}` was not understood: {counts:?}", path.display()));
        }
        Ok(())
    })?;
    let mut sets = sets.into_iter();
    let (mut set, mut answer) = sets.next().unwrap_or_default();
    for (other, more) in sets {
        set.merge(&other);
        answer = answer.plus(&more);
    }
    answer.responses = set.len() as u64;
    answer.tokens = four(&set.total().tokens);
    Ok(answer)
}

/// Every row taken apart.
pub(crate) fn rows(home: &Path, threads: usize) -> Result<Answer, String> {
    let files = transcripts(home)?;
    let start = || (ResponseSet::default(), Answer::default());
    let all = share(&files, threads, start, |(set, answer), path| {
        let Some(file) = file_of(path) else { return Ok(()) };
        let mut scan = RowScan::new(file);
        answer.bytes += chunks(path, |chunk| scan.push(chunk, set))?;
        let counts = scan.finish();
        answer.rows += counts.rows;
        answer.calls += counts.calls;
        Ok(())
    })?;
    let mut all = all.into_iter();
    let (mut set, mut answer) = all.next().unwrap_or_default();
    for (other, more) in all {
        set.merge(&other);
        answer = answer.plus(&more);
    }
    answer.responses = set.len() as u64;
    answer.tokens = four(&set.total().tokens);
    Ok(answer)
}

/// Everything that rows say, at the level that most people have.
pub(crate) fn entries(home: &Path, threads: usize) -> Result<Answer, String> {
    let files = transcripts(home)?;
    let config = Config::default();
    let start = || (Answer::default(), HashSet::<String>::new());
    let all = share(&files, threads, start, |(answer, responses), path| {
        let Some(file) = file_of(path) else { return Ok(()) };
        let rules = Rules { config: &config, hash_key: [7; 16], home_dir: None };
        let mut reader = TranscriptReader::new(file);
        let mut lines = LineSplitter::new(0);
        let bytes = chunks(path, |chunk| {
            lines.push(chunk, |line| {
                answer.rows += 1;
                let reading = match line {
                    Line::Complete { bytes, offset } => reader.read(&rules, bytes, offset, Millis(0)),
                    Line::TooLong { offset, length, head, tail } => {
                        reader.read_remains(&rules, head, tail, length, offset, Millis(0))
                    }
                };
                if let RowReading::Read(reading) = reading {
                    answer.entries += reading.entries.len() as u64;
                    // A fork may tell of a response again, under the same key on another task.
                    let usage = reading.entries.into_iter().filter(|entry| entry.subject == USAGE);
                    responses.extend(usage.map(|entry| entry.key));
                }
            });
        })?;
        answer.bytes += bytes;
        Ok(())
    })?;
    let mut sum = Answer::default();
    let mut responses = HashSet::new();
    for (answer, keys) in all {
        sum = sum.plus(&answer);
        responses.extend(keys);
    }
    sum.responses = responses.len() as u64;
    Ok(sum)
}
