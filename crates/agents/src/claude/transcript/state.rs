//! Holds the state of a reader between two rows. It is small, holds nothing that privacy did not let through, and
//! can be stored beside the offset of the file.

use std::collections::{BTreeMap, VecDeque};

use agent_tracer_event::semantics::SubtypeKey;
use agent_tracer_event::{Kind, Millis, Tokens};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use super::tokens::billed_bytes;
use crate::usage::BilledTokens;

/// Limits how many of its own requests a reader remembers. A response follows its request within a few rows.
const REQUESTS: usize = 128;
/// Limits how many requests without a response, and responses without a request, a reader remembers.
const UNMATCHED: usize = 16;
/// Limits how many shapes of requests wait for the first response to one of them.
const SHAPES: usize = 4;
/// Limits how many responses a reader remembers: rows of one message follow each other, those of parallel agents mix.
const RESPONSES: usize = 32;
/// Limits how many calls without an end are remembered.
const CALLS: usize = 128;
/// The most bytes of a call's input that are remembered.
const INPUT_BYTES: usize = 64 * 1024;
/// Limits how many values of the session are remembered: a few per agent.
const SAID: usize = 256;
/// Limits how many prompts that wait are remembered.
pub(super) const QUEUED: usize = 32;
/// Limits the agents of one file that are distinguished. Only old files have more than one.
const LANES: usize = 64;

/// The memory of a reader.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReaderState {
    /// Holds the time at which the session of this file began, as far as the file tells: rows that are older were copied into it.
    pub(super) began: Option<Millis>,
    /// The time of the newest row.
    pub(super) last_at: Option<Millis>,
    /// The session that rows without one belong to.
    pub(super) session: Option<String>,
    /// Hashes of the requests that this session made, newest last.
    pub(super) requests: VecDeque<u64>,
    /// Requests whose response is still to come, newest last.
    pub(super) forms: VecDeque<RequestForm>,
    /// Responses whose request is still to come, newest last.
    pub(super) answered: VecDeque<AnsweredRequest>,
    /// Shapes of requests that no response was given to yet, newest last.
    pub(super) shapes: VecDeque<RequestShape>,
    /// Responses that were recorded, by the hash of their id, newest last.
    pub(super) responses: VecDeque<(u64, u64)>,
    /// Calls that have not ended, oldest first.
    pub(super) calls: VecDeque<OpenCall>,
    /// Each agent whose rows the file holds.
    pub(super) lanes: Vec<Lane>,
    /// The working directory that was last asked about, and whether it is excluded.
    pub(super) directory: Option<(String, bool)>,
    /// Holds what was last said of the session beside its rows: titles, modes and the like, as hashes by name.
    pub(super) said: Vec<(String, u64)>,
    /// The file began with `/clear`: which session it goes on from is still to come.
    pub(super) cleared: bool,
    /// Holds what the responses cost that were copied into the file.
    pub(super) copied: Tokens,
    /// The same by model.
    pub(super) copied_models: BTreeMap<String, Tokens>,
    /// Holds how many those were.
    pub(super) copied_responses: u64,
    /// Holds what was seen.
    pub counts: Counts,
}

/// Holds how many rows of each kind a reader saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Counts {
    /// Rows that said something.
    pub read: u64,
    /// Rows of a known type that say nothing new.
    pub skipped: u64,
    /// Rows that were copied from another session.
    pub copied: u64,
    /// Rows of an excluded directory.
    pub excluded: u64,
    /// Lines that are no JSON object.
    pub malformed: u64,
    /// Lines that were too long to be read whole.
    pub too_long: u64,
    /// Rows of an unknown type.
    pub unrecognised: u64,
    /// Responses whose numbers could not be read.
    pub unreadable_usage: u64,
}

/// One agent of a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Lane {
    /// The subagent; empty for the session itself.
    pub(super) agent: String,
    /// The type of the subagent, where a row names it.
    pub(super) agent_type: Option<String>,
    /// The prompt that is being worked on.
    pub(super) prompt: Option<String>,
    /// The row that this prompt was first seen in.
    pub(super) prompt_row: Option<String>,
    /// The model of the last response.
    pub(super) model: Option<String>,
    /// A slash command whose expansion is still to come: its prompt.
    pub(super) slash: Option<String>,
    /// A command of the client itself was announced.
    pub(super) caveat: bool,
    /// The prompt of the last `/model`.
    pub(super) model_command: Option<String>,
    /// The compaction whose summary is still to come: its row.
    pub(super) compaction: Option<String>,
    /// Calls that the human refused, until it is known whether the whole turn was cut off.
    pub(super) refused: Vec<String>,
    /// A last text of which the row did not say whether it ends the turn.
    pub(super) unsettled: Option<Unsettled>,
    /// A hook sent the model on after an answer to the last prompt.
    pub(super) sent_on: bool,
    /// The last row of the conversation was a copy.
    pub(super) copied: bool,
    /// A row of the conversation was seen.
    pub(super) begun: bool,
    /// The file began with a reference to another conversation, and the order of the forked agent is still to come.
    pub(super) forked: bool,
    /// The session whose account holds what the agent's rows in this file cost, if that may not be the one that started
    /// the agent.
    pub(super) paid_by: Option<String>,
    /// Prompts that wait: what stands for their text in a key, and the prompt that was worked on when they were typed.
    pub(super) queued: Vec<(String, String)>,
    /// Holds how often each text was said under the prompt that is being worked on.
    pub(super) spoken: Vec<TextCount>,
    /// Sizes of what was put into the context since the last response.
    pub(super) additions: Vec<Value>,
}

/// Counts how often the rows of a prompt contain one text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct TextCount {
    /// Holds what stands for the text in a key.
    pub(super) part: String,
    /// In rows of its own.
    rows: u32,
    /// By leaving the queue.
    unqueued: u32,
    /// By being put before the model.
    attached: u32,
}

impl TextCount {
    /// Counts a row of its own. Returns the number of the fact that it tells of, counted from one.
    pub(super) fn row(&mut self) -> u32 {
        self.rows += 1;
        self.rows
    }

    /// Counts one of the two rows that tell of a text which reached the model while it worked.
    pub(super) fn steered(&mut self, is_unqueued: bool) -> u32 {
        let count = if is_unqueued { &mut self.unqueued } else { &mut self.attached };
        *count += 1;
        self.rows + *count
    }
}

impl Lane {
    /// Returns how often a text was said so far.
    pub(super) fn spoken(&mut self, part: Option<&str>) -> &mut TextCount {
        let part = part.unwrap_or_default();
        let index = match self.spoken.iter().position(|spoken| spoken.part == part) {
            Some(index) => index,
            None => {
                if self.spoken.len() >= QUEUED {
                    self.spoken.remove(0);
                }
                self.spoken.push(TextCount { part: part.to_owned(), ..TextCount::default() });
                self.spoken.len() - 1
            }
        };
        #[expect(
            clippy::indexing_slicing,
            reason = "the index is that of an element that was found or just put there"
        )]
        &mut self.spoken[index]
    }
}

/// A text that may be the last of its turn. It is masked already, and only its length at level `metadata`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Unsettled {
    /// The message that it is of.
    pub(super) message: String,
    /// The text, as JSON.
    pub(super) text: Value,
    /// Holds the time at which it was written.
    pub(super) at: Option<Millis>,
}

/// A call that has not ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OpenCall {
    /// The agent's id of it.
    pub(super) id: String,
    /// The subagent that made it; empty for the session itself.
    pub(super) agent: String,
    /// The tool.
    pub(super) tool: String,
    /// Holds what kind of event it is.
    pub(super) kind: Option<Kind>,
    /// Holds what was done.
    pub(super) subtype: Option<SubtypeKey>,
    /// Holds what it was called with, after privacy, if its result says nothing without it.
    pub(super) input: Value,
    /// The turn it was made in.
    pub(super) prompt: Option<String>,
    /// A step of it is `git commit`.
    pub(super) makes_commits: bool,
}

/// The counts of a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct RequestForm {
    /// A hash of its id.
    pub(super) id: u64,
    /// The beginning of the client's hash of system prompt and tools.
    pub(super) prefix: String,
    /// Counts the messages that the last request had too, from the first on.
    pub(super) repeated: u64,
    /// Counts its messages.
    pub(super) messages: u64,
    /// The moment at which it was sent.
    pub(super) at: i64,
}

/// A response whose request is still to come.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct AnsweredRequest {
    /// A hash of the request's id.
    pub(super) id: u64,
    /// The key of the response.
    pub(super) key: String,
    /// The time of the response, in milliseconds since 1970.
    pub(super) at: i64,
    /// The position of the response.
    pub(super) order: u64,
    /// The turn of the response.
    pub(super) turn: Option<String>,
}

/// The sizes of system prompt and tools, by the hash that requests name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct RequestShape {
    /// The beginning of the client's hash.
    pub(super) prefix: String,
    /// Measures the system prompt.
    pub(super) system_bytes: u64,
    /// The tools by MCP server, with count and bytes.
    pub(super) tools: Value,
}

impl ReaderState {
    /// Returns whether the session works in a directory of which nothing may be recorded; `None` until a row names one.
    ///
    /// What lies beside a transcript names no directory. Its reader asks here first.
    #[must_use]
    pub fn is_excluded(&self) -> Option<bool> {
        self.directory.as_ref().map(|(_, excluded)| *excluded)
    }

    pub(super) fn lane(&mut self, agent: &str) -> &mut Lane {
        let index = match self.lanes.iter().position(|lane| lane.agent == agent) {
            Some(index) => index,
            None => {
                // The session itself is never forgotten.
                let oldest = self.lanes.iter().position(|lane| !lane.agent.is_empty());
                if let Some(oldest) = oldest.filter(|_| self.lanes.len() >= LANES) {
                    self.lanes.remove(oldest);
                }
                self.lanes.push(Lane { agent: agent.to_owned(), ..Lane::default() });
                self.lanes.len() - 1
            }
        };
        #[expect(
            clippy::indexing_slicing,
            reason = "the index is that of an element that was found or just put there"
        )]
        &mut self.lanes[index]
    }

    /// Remembers a request of this session.
    pub(super) fn requested(&mut self, id: &[u8]) {
        // A hash, because the state holds no text that has not been through privacy.
        push(&mut self.requests, xxh3_64(id), REQUESTS);
    }

    /// Returns whether this session made the request.
    pub(super) fn has_made(&self, id: &[u8]) -> bool {
        self.requests.contains(&xxh3_64(id))
    }

    pub(super) fn remember_form(&mut self, form: RequestForm) {
        push(&mut self.forms, form, UNMATCHED);
    }

    pub(super) fn take_form(&mut self, id: u64) -> Option<RequestForm> {
        let index = self.forms.iter().position(|form| form.id == id)?;
        self.forms.remove(index)
    }

    pub(super) fn remember_answered(&mut self, answered: AnsweredRequest) {
        // A message has a row per block, and all of them would wait for the same request.
        if !self.answered.iter().any(|known| known.key == answered.key) {
            push(&mut self.answered, answered, UNMATCHED);
        }
    }

    pub(super) fn take_answered(&mut self, id: u64) -> Option<AnsweredRequest> {
        let index = self.answered.iter().position(|answered| answered.id == id)?;
        self.answered.remove(index)
    }

    pub(super) fn remember_shape(&mut self, shape: RequestShape) {
        push(&mut self.shapes, shape, SHAPES);
    }

    pub(super) fn take_shape(&mut self, prefix: &str) -> Option<RequestShape> {
        let index = self.shapes.iter().position(|shape| shape.prefix == prefix)?;
        self.shapes.remove(index)
    }

    /// Remembers the counts of a response. Returns `true` if they are new or have changed.
    pub(super) fn remember_counts(&mut self, id: &[u8], billed: &BilledTokens) -> bool {
        let id = xxh3_64(id);
        let counts = xxh3_64(&billed_bytes(billed));
        match self.responses.iter_mut().find(|(known, _)| *known == id) {
            Some((_, known)) => std::mem::replace(known, counts) != counts,
            None => {
                // A response that was forgotten and comes again has the same key, so it only costs time.
                push(&mut self.responses, (id, counts), RESPONSES);
                true
            }
        }
    }

    /// Returns whether a value of the session is another than the last one.
    pub(super) fn changed(&mut self, name: &str, value: &[u8]) -> bool {
        let value = xxh3_64(value);
        match self.said.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => std::mem::replace(known, value) != value,
            None => {
                if self.said.len() >= SAID {
                    self.said.remove(0);
                }
                self.said.push((name.to_owned(), value));
                true
            }
        }
    }

    pub(super) fn open(&mut self, mut call: OpenCall) {
        if !call.input.is_null() && call.input.to_string().len() > INPUT_BYTES {
            // The state is stored with every position of the file, so it has to stay small; the end of such a call
            // is read without its input.
            call.input = Value::Null;
        }
        push(&mut self.calls, call, CALLS);
    }

    pub(super) fn close(&mut self, id: &str) -> Option<OpenCall> {
        let index = self.calls.iter().position(|call| call.id == id)?;
        self.calls.remove(index)
    }
}

fn push<T>(queue: &mut VecDeque<T>, item: T, most: usize) {
    if queue.len() >= most {
        queue.pop_front();
    }
    queue.push_back(item);
}
