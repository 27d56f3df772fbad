//! The floors: the least that anybody could do, with the parsers that they are named after.
//!
//! Each reads whole files, which is the fastest way to have the bytes at hand, and does nothing that its name does not
//! say. None of them is the product's code.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use memchr::{memchr_iter, memmem};
use serde::Deserialize;
use sonic_rs::{JsonValueTrait, LazyValue, to_array_iter_unchecked, to_object_iter_unchecked};

use crate::contestants::Answer;
use crate::files::{share, transcripts, whole};

/// Lists every file and asks for its size.
pub(crate) fn walk(home: &Path) -> Result<Answer, String> {
    let files = transcripts(home)?;
    Ok(Answer { bytes: files.iter().map(|(_, size)| size).sum(), ..Answer::default() })
}

/// Holds the intermediate result of a floor, and its buffer.
#[derive(Default)]
struct Found {
    buffer: Vec<u8>,
    answer: Answer,
    responses: HashMap<String, [u64; 4]>,
}

impl Found {
    /// Every response once, over all threads.
    fn sum(all: Vec<Self>) -> Answer {
        let mut responses: HashMap<String, [u64; 4]> = HashMap::new();
        let mut sum = Answer::default();
        for found in all {
            sum = sum.plus(&found.answer);
            responses.extend(found.responses);
        }
        for tokens in responses.values() {
            sum = sum.plus(&Answer { responses: 1, tokens: *tokens, ..Answer::default() });
        }
        sum
    }
}

fn over_lines(
    home: &Path,
    threads: usize,
    line: impl Fn(&mut Answer, &mut HashMap<String, [u64; 4]>, &[u8]) + Sync,
) -> Result<Answer, String> {
    let files = transcripts(home)?;
    let all = share(&files, threads, Found::default, |found, path| {
        let mut buffer = std::mem::take(&mut found.buffer);
        whole(path, &mut buffer)?;
        found.answer.bytes += buffer.len() as u64;
        let mut from = 0;
        for end in memchr_iter(b'\n', &buffer) {
            found.answer.rows += 1;
            line(&mut found.answer, &mut found.responses, buffer.get(from..end).unwrap_or_default());
            from = end + 1;
        }
        found.buffer = buffer;
        Ok(())
    })?;
    Ok(Found::sum(all))
}

/// Finds every line.
pub(crate) fn newline(home: &Path, threads: usize) -> Result<Answer, String> {
    over_lines(home, threads, |_, _, _| {})
}

#[derive(Deserialize)]
struct Assistant<'a> {
    #[serde(borrow)]
    message: Option<Message<'a>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    usage: Option<Usage>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Usage {
    input_tokens: u64,
    output_tokens: u64,
    cache_read_input_tokens: u64,
    cache_creation_input_tokens: u64,
}

impl Usage {
    fn four(&self) -> [u64; 4] {
        [
            self.input_tokens,
            self.output_tokens,
            self.cache_read_input_tokens,
            self.cache_creation_input_tokens,
        ]
    }
}

/// Looks for the name of the usage, and parses the lines that have it.
pub(crate) fn usage_pre(home: &Path, threads: usize) -> Result<Answer, String> {
    let finder = memmem::Finder::new(br#""usage":{"#);
    over_lines(home, threads, |_, responses, line| {
        if finder.find(line).is_none() {
            return;
        }
        let Ok(row) = serde_json::from_slice::<Assistant<'_>>(line) else { return };
        if let Some(Message { id: Some(id), usage: Some(usage) }) = row.message {
            responses.insert(id.into_owned(), usage.four());
        }
    })
}

/// Takes every row apart lazily: type, ids, parent, session, time, model, usage, names and ids of tools.
pub(crate) fn rows_lazy(home: &Path, threads: usize) -> Result<Answer, String> {
    over_lines(home, threads, |answer, responses, line| {
        let mut kept = 0;
        for (name, value) in members(line) {
            match &*name {
                "type" | "uuid" | "parentUuid" | "sessionId" | "timestamp" | "requestId" | "agentId" => {
                    kept += value.as_str().map_or(0, str::len);
                }
                "message" => message(answer, responses, &value),
                _ => {}
            }
        }
        // The optimiser must not find out that the texts are unused.
        std::hint::black_box(kept);
    })
}

/// The members of an object, without checking what is skipped: the fastest that this parser can do.
#[expect(unsafe_code, reason = "a floor is the fastest there is; the checked way costs a quarter more")]
fn members(json: &[u8]) -> impl Iterator<Item = (Cow<'_, str>, LazyValue<'_>)> {
    // SAFETY: the corpus was written by this program and holds nothing but JSON in UTF-8.
    unsafe { to_object_iter_unchecked(json) }.map_while(Result::ok)
}

/// The items of an array, likewise.
#[expect(unsafe_code, reason = "a floor is the fastest there is; the checked way costs a quarter more")]
fn items(json: &str) -> impl Iterator<Item = LazyValue<'_>> {
    // SAFETY: the corpus was written by this program and holds nothing but JSON in UTF-8.
    unsafe { to_array_iter_unchecked(json) }.map_while(Result::ok)
}

fn message(answer: &mut Answer, responses: &mut HashMap<String, [u64; 4]>, message: &LazyValue<'_>) {
    let mut id = None;
    let mut tokens = None;
    for (name, value) in members(message.as_raw_str().as_bytes()) {
        match &*name {
            "id" => id = value.as_str().map(str::to_owned),
            "model" => {
                std::hint::black_box(value.as_str());
            }
            "usage" => {
                tokens = sonic_rs::from_str::<Usage>(value.as_raw_str()).ok().map(|usage| usage.four())
            }
            "content" if value.is_array() => {
                for block in items(value.as_raw_str()) {
                    answer.calls += u64::from(is_call(&block));
                }
            }
            _ => {}
        }
    }
    if let (Some(id), Some(tokens)) = (id, tokens) {
        responses.insert(id, tokens);
    }
}

fn is_call(block: &LazyValue<'_>) -> bool {
    let mut call = false;
    for (name, value) in members(block.as_raw_str().as_bytes()) {
        match &*name {
            "type" => call = value.as_str() == Some("tool_use"),
            "id" | "name" | "tool_use_id" => {
                std::hint::black_box(value.as_str());
            }
            _ => {}
        }
    }
    call
}
