//! The reader of Claude Code's transcripts, over every captured file and over bad ones.

mod canaries;
mod chunks;
mod facts;
mod fixtures;
mod forks;
mod hostile;
mod joins;
mod older;
mod requests;
mod tokens;

use std::path::{Path, PathBuf};

use agent_tracer_agents::claude::transcript::{
    Counts, Place, ReaderState, RowReading, TranscriptFile, TranscriptReader, read_meta,
};
use agent_tracer_agents::files::{Line, LineSplitter, Rules};
use agent_tracer_event::{Entry, Kind, Millis, Reading, Subject, Unrecognised};
use agent_tracer_privacy::{Config, Level};

/// Holds when everything in these tests arrives that has no time of its own.
pub(crate) const ARRIVED: Millis = Millis(1_790_000_000_000);

pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/claude-code")
}

/// A captured file of rows, or the file beside it.
pub(crate) struct Captured {
    /// `<version>/<scenario>`.
    pub(crate) scenario: String,
    pub(crate) path: PathBuf,
    pub(crate) content: Vec<u8>,
}

impl Captured {
    pub(crate) fn place(&self) -> Place {
        Place::of(self.path.to_str().unwrap())
    }

    /// The file of rows that it is; `None` for the file beside one.
    pub(crate) fn rows(&self) -> Option<TranscriptFile> {
        match self.place() {
            Place::Rows(file) => Some(file),
            Place::Meta(_) | Place::Other => None,
        }
    }
}

/// Every transcript that was captured, with what lies beside it.
pub(crate) fn everything() -> Vec<Captured> {
    let mut all = Vec::new();
    for version in ["2.1.150", "2.1.197", "2.1.325", "2.1.326"] {
        for scenario in std::fs::read_dir(fixtures().join(version)).unwrap() {
            let folder = scenario.unwrap().path();
            let name = format!("{version}/{}", folder.file_name().unwrap().to_str().unwrap());
            collect(&folder, &name, &mut all);
        }
    }
    all.sort_by(|one, two| one.path.cmp(&two.path));
    all
}

pub(crate) fn scenario(name: &str) -> Vec<Captured> {
    let mut all = Vec::new();
    collect(&fixtures().join(name), name, &mut all);
    all.sort_by(|one, two| one.path.cmp(&two.path));
    assert!(!all.is_empty(), "{name} has no transcript");
    all
}

fn collect(folder: &Path, scenario: &str, all: &mut Vec<Captured>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, scenario, all);
            continue;
        }
        let name = path.file_name().unwrap().to_str().unwrap();
        let is_ours = name.ends_with(".meta.json") || (name.ends_with(".jsonl") && name != "hooks.jsonl");
        if is_ours {
            let content = std::fs::read(&path).unwrap();
            all.push(Captured { scenario: scenario.to_owned(), path, content });
        }
    }
}

pub(crate) fn config(level: Level) -> Config {
    Config::parse(format!("level {}", level.name()).as_bytes()).0
}

pub(crate) fn rules(config: &Config) -> Rules<'_> {
    Rules { config, hash_key: [7; 16], home_dir: None }
}

/// Describes what a file says, row by row.
pub(crate) struct TranscriptReadings {
    pub(crate) rows: Vec<RowReading>,
    pub(crate) state: ReaderState,
}

impl TranscriptReadings {
    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.readings().flat_map(|reading| reading.entries.clone()).collect()
    }

    pub(crate) fn unrecognised(&self) -> Vec<Unrecognised> {
        self.readings().flat_map(|reading| reading.unrecognised.clone()).collect()
    }

    pub(crate) fn counts(&self) -> Counts {
        self.state.counts
    }

    fn readings(&self) -> impl Iterator<Item = &Reading> {
        self.rows.iter().filter_map(|row| match row {
            RowReading::Read(reading) | RowReading::Copied(reading) => Some(reading),
            RowReading::Skipped | RowReading::Excluded | RowReading::Malformed => None,
        })
    }
}

/// Reads a file in chunks with the given ends.
pub(crate) fn read_in_chunks(
    file: &TranscriptFile,
    content: &[u8],
    level: Level,
    cuts: &[usize],
) -> TranscriptReadings {
    let config = config(level);
    let rules = rules(&config);
    let mut reader = TranscriptReader::new(file.clone());
    let mut lines = LineSplitter::new(0);
    let mut rows = Vec::new();
    let mut from = 0;
    for cut in cuts.iter().copied().chain([content.len()]) {
        let cut = cut.clamp(from, content.len());
        lines.push(&content[from..cut], |line| {
            rows.push(match line {
                Line::Complete { bytes, offset } => reader.read(&rules, bytes, offset, ARRIVED),
                Line::TooLong { offset, length, head, tail } => {
                    reader.read_remains(&rules, head, tail, length, offset, ARRIVED)
                }
            });
        });
        // A follower of a file stores the state and goes on from it.
        let stored = serde_json::to_string(reader.state()).unwrap();
        reader = TranscriptReader::resume(file.clone(), serde_json::from_str(&stored).unwrap());
        from = cut;
    }
    TranscriptReadings { rows, state: reader.state().clone() }
}

pub(crate) fn read(captured: &Captured, level: Level) -> TranscriptReadings {
    match captured.place() {
        Place::Rows(file) => read_in_chunks(&file, &captured.content, level, &[]),
        Place::Meta(file) => {
            let config = config(level);
            let reading = read_meta(&rules(&config), &file, &captured.content, ARRIVED);
            TranscriptReadings { rows: vec![RowReading::Read(reading)], state: ReaderState::default() }
        }
        Place::Other => panic!("{} is nothing of ours", captured.path.display()),
    }
}

/// Reads lines as the file of the session `s`.
pub(crate) fn read_lines(lines: &[&str], level: Level) -> TranscriptReadings {
    let file = TranscriptFile { session: Some("s".to_owned()), ..TranscriptFile::default() };
    read_in_chunks(&file, (lines.join("\n") + "\n").as_bytes(), level, &[])
}

/// Every entry of a scenario.
pub(crate) fn entries(name: &str, level: Level) -> Vec<Entry> {
    scenario(name).iter().flat_map(|captured| read(captured, level).entries()).collect()
}

pub(crate) fn of_kind(entries: &[Entry], kind: Kind) -> Vec<&Entry> {
    entries.iter().filter(|entry| entry.subject == Subject::Event(kind)).collect()
}
