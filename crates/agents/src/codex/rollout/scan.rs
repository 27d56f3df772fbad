//! Scans rollouts for the cost of responses, and nothing else.
//!
//! Most of a rollout is what was said and what tools gave back. A row is looked at by its beginning, and only those that
//! tokens follow from are read: who the thread is, which model a turn asks for, records and counts. They go through the
//! same reader as always, so what counts here is what counts there.

use agent_tracer_event::{Kind, Millis, Subject, Tokens, attributes};
use agent_tracer_privacy::Config;
use serde_json::Value;

use super::head;
use super::reader::{RolloutReader, Row};
use crate::files::{Line, LineSplitter, Rules};

/// The longest line that is held: rows of tokens and settings are a few kilobytes.
const LONGEST_LINE: usize = 1024 * 1024;

/// A response as a rollout tells of it.
#[derive(Clone, Debug, PartialEq)]
pub struct RolloutResponse {
    /// The thread that asked.
    pub thread: String,
    /// The root of its tree.
    pub root: String,
    /// The type of the agent.
    pub agent_type: String,
    /// The working directory.
    pub cwd: String,
    /// Holds what names it within its thread.
    pub key: String,
    /// The model that answered.
    pub model: String,
    /// Holds the time.
    pub at: Millis,
    /// Holds what it cost in tokens.
    pub usage: Tokens,
    /// The service that was paid for, unless it is the ordinary one.
    pub service_tier: Option<String>,
}

/// Reads one file in chunks.
#[derive(Debug)]
pub struct RolloutScan {
    lines: LineSplitter,
    reader: RolloutReader,
    config: Config,
}

impl RolloutScan {
    /// Starts at the beginning of a file, which is known by its path or name.
    #[must_use]
    pub fn new(path: &str) -> Self {
        Self {
            lines: LineSplitter::with_limit(0, LONGEST_LINE),
            reader: RolloutReader::new(path),
            config: Config::default(),
        }
    }

    /// Takes the next bytes of the file, and calls back for every response.
    pub fn push(&mut self, chunk: &[u8], each: &mut dyn FnMut(RolloutResponse)) {
        let Self { lines, reader, config } = self;
        lines.push(chunk, |line| {
            if let Line::Complete { bytes, offset } = line {
                row(reader, config, bytes, offset, each);
            }
        });
    }

    /// Ends the file: a last line without an ending counts if it is whole.
    pub fn finish(mut self, each: &mut dyn FnMut(RolloutResponse)) {
        let rest = self.lines.rest().map(|(rest, offset)| (rest.to_vec(), offset));
        if let Some((rest, offset)) = rest {
            row(&mut self.reader, &self.config, &rest, offset, each);
        }
    }
}

/// Returns whether tokens follow from rows that begin like this.
fn matters(bytes: &[u8]) -> bool {
    // A row that begins in no usual way is read.
    let Some(head) = head::head(bytes) else { return true };
    match head.row {
        "session_meta" | "turn_context" | "token_usage_record" => true,
        "event_msg" => matches!(
            head.payload,
            None | Some("token_count" | "task_started" | "task_complete" | "thread_settings_applied")
        ),
        _ => false,
    }
}

fn row(
    reader: &mut RolloutReader,
    config: &Config,
    bytes: &[u8],
    offset: u64,
    each: &mut dyn FnMut(RolloutResponse),
) {
    if !matters(bytes) {
        return;
    }
    let rules = Rules { config, hash_key: [0; 16], home_dir: None };
    let Row::Read(reading) = reader.read(&rules, bytes, offset, Millis(0)) else { return };
    for entry in reading.entries {
        if entry.subject != Subject::Event(Kind::TokenUsage) {
            continue;
        }
        let Some(usage) = Tokens::read(&entry.metadata) else { continue };
        let state = reader.state();
        let text = |key: &str| entry.metadata.get(key).and_then(Value::as_str).map(str::to_owned);
        let thread = state.thread_id.clone().unwrap_or_default();
        each(RolloutResponse {
            root: state.root_session.clone().unwrap_or_else(|| thread.clone()),
            thread,
            agent_type: state.agent_type.clone().unwrap_or_default(),
            cwd: state.cwd.clone().unwrap_or_default(),
            model: text("model").unwrap_or_default(),
            service_tier: text(attributes::SERVICE_TIER),
            at: entry.occurred_at,
            key: entry.key,
            usage,
        });
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use super::*;

    fn scan(name: &str, content: &[u8], size: usize) -> Vec<RolloutResponse> {
        let mut scan = RolloutScan::new(name);
        let mut all = Vec::new();
        for chunk in content.chunks(size) {
            scan.push(chunk, &mut |response| all.push(response));
        }
        scan.finish(&mut |response| all.push(response));
        all
    }

    #[test]
    fn the_scan_and_the_reader_agree_on_every_captured_rollout() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/codex");
        let (mut files, mut responses, mut served) = (0, 0, 0);
        let versions = ["0.166.0/rollouts", "0.169.0/rollouts"];
        for file in versions.iter().flat_map(|version| std::fs::read_dir(folder.join(version)).unwrap()) {
            let path = file.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            let content = std::fs::read(&path).unwrap();
            let config = Config::default();
            let rules = Rules { config: &config, hash_key: [0; 16], home_dir: None };
            let mut reader = RolloutReader::new(name);
            let mut expected: BTreeMap<String, Tokens> = BTreeMap::new();
            LineSplitter::new(0).push(&content, |line| {
                let Line::Complete { bytes, offset } = line else { panic!("no captured line is too long") };
                let Row::Read(reading) = reader.read(&rules, bytes, offset, Millis(0)) else { return };
                for entry in reading.entries {
                    if entry.subject == Subject::Event(Kind::TokenUsage)
                        && let Some(usage) = Tokens::read(&entry.metadata)
                    {
                        expected.insert(entry.key, usage);
                    }
                }
            });
            for size in [usize::MAX, 97] {
                let found = scan(name, &content, size);
                served += found.iter().filter(|response| response.service_tier.is_some()).count();
                let found: BTreeMap<String, Tokens> =
                    found.into_iter().map(|response| (response.key, response.usage)).collect();
                assert_eq!(found, expected, "{name} in chunks of {size}");
            }
            files += 1;
            responses += expected.len();
        }
        assert!(files > 50 && responses > 100 && served > 0, "{files} {responses} {served}");
    }
}
