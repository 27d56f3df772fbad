//! The length of the agent's transcript when a compaction begins: the bytes up to there are what gets compacted.
//!
//! One `stat` of the file, at this one event. The server reads its bytes.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use agent_tracer_agent::Agent;

use crate::lookup;

/// The name of the header line.
const NAME: &str = "transcript-bytes";

/// Returns the header line with the length, if there is such a file.
pub(crate) fn seen(payload: &[u8], caller: Agent) -> Option<(Cow<'static, str>, Cow<'static, [u8]>)> {
    let (mut path, mut agent, mut own) = (Cow::default(), Cow::default(), Cow::default());
    lookup::members(payload, &mut |key, place| {
        let text = || payload.get(place.clone()).and_then(lookup::text).unwrap_or_default();
        match key {
            b"transcript_path" => path = text(),
            b"agent_id" => agent = text(),
            b"agent_transcript_path" => own = text(),
            _ => {}
        }
    })?;
    let named = |text: &[u8]| Path::new(OsStr::from_bytes(text)).to_owned();
    let file =
        if own.is_empty() { file(&named(&path), &agent, caller)? } else { file(&named(&own), b"", caller)? };
    let facts = std::fs::metadata(file).ok().filter(std::fs::Metadata::is_file)?;
    Some((Cow::Borrowed(NAME), Cow::Owned(facts.len().to_string().into_bytes())))
}

/// Returns the file of the agent that compacts, if the payload does not name it (`agent_transcript_path`). Where
/// subagents have files of their own, the payload names the session's file, and the subagent's lies beside it.
fn file(path: &Path, agent: &[u8], caller: Agent) -> Option<PathBuf> {
    if !path.is_absolute() {
        return None;
    }
    if agent.is_empty() || !caller.spec().has_subagent_files {
        return Some(path.to_owned());
    }
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    let agent =
        std::str::from_utf8(agent).ok().filter(|id| id.len() <= 64 && id.as_bytes().iter().all(is_plain))?;
    Some(path.with_extension("").join(format!("subagents/agent-{agent}.jsonl")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subagent_has_a_file_of_its_own() {
        let path = Path::new("/p/5a13.jsonl");
        let of = |agent: &[u8], caller| file(path, agent, caller);
        assert_eq!(of(b"", Agent::CLAUDE_CODE), Some(path.to_owned()));
        assert_eq!(of(b"a1f", Agent::CLAUDE_CODE), Some("/p/5a13/subagents/agent-a1f.jsonl".into()));
        assert_eq!(of(b"a1f", Agent::CODEX), Some(path.to_owned()));
        for odd in [&b"../x"[..], b"a b", &[b'a'; 65], b"\xff"] {
            assert_eq!(of(odd, Agent::CLAUDE_CODE), None);
        }
        assert_eq!(file(Path::new("relative.jsonl"), b"", Agent::CLAUDE_CODE), None);
    }
}
