//! The agent's own file at the beginning of a compaction: the hook records its length, the server hashes it up to
//! there.
//!
//! The hash goes into the header that is kept, so that a later reading gets the same. Law: only a regular file with the
//! name of an agent's file is read for this, and only up to a limit.

use std::borrow::Cow;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use agent_tracer_agents::TranscriptSeen;
use agent_tracer_agents::sessions::recognise;
use agent_tracer_event::Agent;
use agent_tracer_spool::envelope::Header;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::files::{plain, read_facts};

/// The names of the header lines.
const BYTES: &str = "transcript-bytes";
const HASH: &str = "transcript-sha256";
/// The longest prefix that is hashed: a longer one would hold up the spool for minutes.
const HASHED_MAX: u64 = 1 << 30;

/// Returns the length and hash in a header.
pub(crate) fn seen(header: &Header<'_>) -> Option<TranscriptSeen> {
    let line = |name: &str| {
        let (_, value) = header.other.iter().find(|(known, _)| known == name)?;
        std::str::from_utf8(value).ok()
    };
    let is_hash = |text: &&str| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    Some(TranscriptSeen {
        bytes: line(BYTES)?.parse().ok()?,
        sha256: line(HASH).filter(is_hash).map(str::to_owned),
    })
}

/// Adds the hash to a header that has just arrived, if it has a length and no hash.
pub(crate) fn hash(header: &mut Header<'_>, agent: Agent, body: &[u8]) {
    let Some(TranscriptSeen { bytes, sha256: None }) = seen(header) else { return };
    let Some(path) = path(agent, body) else { return };
    if let Ok(Some(hash)) = hash_of(&path, bytes) {
        header.other.push((Cow::Borrowed(HASH), Cow::Owned(hash.into_bytes())));
    }
}

/// Returns the file whose length the hook took.
fn path(agent: Agent, body: &[u8]) -> Option<PathBuf> {
    let payload: Value = serde_json::from_slice(body).ok()?;
    let text = |name: &str| payload.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let named = Path::new(text("transcript_path").or(text("agent_transcript_path"))?);
    let path = match (agent, text("agent_id")) {
        _ if text("agent_transcript_path").is_some() => PathBuf::from(text("agent_transcript_path")?),
        (agent, Some(id)) if agent.spec().has_subagent_files => {
            named.with_extension("").join(format!("subagents/agent-{id}.jsonl"))
        }
        _ => named.to_owned(),
    };
    (plain::is_plain(&path) && recognise(Some(agent), &path).is_some()).then_some(path)
}

fn hash_of(path: &Path, bytes: u64) -> io::Result<Option<String>> {
    if bytes > HASHED_MAX {
        return Ok(None);
    }
    // Checked before opening: a missing file is no failure.
    if read_facts(path)?.is_none() {
        return Ok(None);
    }
    let mut file = plain::open(path)?.take(bytes);
    let (mut state, mut hashed, mut buffer) = (Sha256::new(), 0, vec![0; 1 << 18]);
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            read => {
                state.update(buffer.get(..read).unwrap_or_default());
                hashed += read as u64;
            }
        }
    }
    // Shorter than before means that it is another file by now.
    Ok((hashed == bytes).then(|| state.finalize().iter().map(|byte| format!("{byte:02x}")).collect()))
}
