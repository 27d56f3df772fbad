//! Recognises the files of Claude Code by their paths.
//!
//! A path is a hint: what a row says of its session and agent beats it, because people move, rename and copy files.

use agent_tracer_event::Millis;

/// A file of rows, as far as its path tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TranscriptFile {
    /// The session it belongs to.
    pub session: Option<String>,
    /// The subagent whose rows it holds; none for a session's own file.
    pub agent_id: Option<String>,
    /// The time at which the session began, if known (from its `SessionStart` hook). Rows that are older were copied from the
    /// session that it was forked from.
    pub began: Option<Millis>,
}

/// Describes what a path in the transcripts' folder is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Rows: `<session>.jsonl`, `agent-<id>.jsonl`.
    Rows(TranscriptFile),
    /// Holds what a subagent is: `agent-<id>.meta.json`.
    Meta(TranscriptFile),
    /// Anything else, such as the journal of a workflow, an index or a spilled result.
    Other,
}

impl Place {
    /// Says what a path is, by its letters alone.
    #[must_use]
    pub fn of(path: &str) -> Self {
        let mut parts = path.rsplit(['/', '\\']);
        let name = parts.next().unwrap_or_default();
        let agent = |stem: &str| stem.strip_prefix("agent-").filter(|id| !id.is_empty()).map(str::to_owned);
        // Subagents of a workflow lie deeper: `<session>/subagents/workflows/<run>/agent-<id>.jsonl`.
        let parent = || {
            let above: Vec<&str> = parts.clone().take(5).collect();
            let folder = above.iter().position(|part| *part == "subagents")?;
            above.get(folder + 1).filter(|part| !part.is_empty()).map(|part| (*part).to_owned())
        };
        if let Some(stem) = name.strip_suffix(".meta.json") {
            return match agent(stem) {
                Some(id) => Self::Meta(TranscriptFile { session: parent(), agent_id: Some(id), began: None }),
                None => Self::Other,
            };
        }
        match name.strip_suffix(".jsonl") {
            None | Some("" | "journal" | "history") => Self::Other,
            Some(stem) => match agent(stem) {
                Some(id) => Self::Rows(TranscriptFile { session: parent(), agent_id: Some(id), began: None }),
                None => {
                    Self::Rows(TranscriptFile { session: Some(stem.to_owned()), agent_id: None, began: None })
                }
            },
        }
    }
}

/// Returns whether a subagent's id is that of the helper which writes the summary of a compaction. It is no agent of the session:
/// what it cost belongs to the session.
pub(super) fn is_compaction_helper(agent_id: &str) -> bool {
    agent_id.starts_with("acompact-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(session: Option<&str>, agent: Option<&str>) -> Place {
        Place::Rows(file(session, agent))
    }

    fn file(session: Option<&str>, agent: Option<&str>) -> TranscriptFile {
        TranscriptFile {
            session: session.map(str::to_owned),
            agent_id: agent.map(str::to_owned),
            began: None,
        }
    }

    #[test]
    fn every_place_a_client_writes_to_is_known() {
        let home = "/home/dev/.claude/projects/-home-dev-project";
        for (path, place) in [
            (format!("{home}/5a13.jsonl"), rows(Some("5a13"), None)),
            (format!("{home}/5a13/subagents/agent-a1f.jsonl"), rows(Some("5a13"), Some("a1f"))),
            (
                format!("{home}/5a13/subagents/agent-a1f.meta.json"),
                Place::Meta(file(Some("5a13"), Some("a1f"))),
            ),
            (
                format!("{home}/5a13/subagents/workflows/wf_1/agent-aview-0.jsonl"),
                rows(Some("5a13"), Some("aview-0")),
            ),
            (format!("{home}/agent-7hex.jsonl"), rows(None, Some("7hex"))),
            (r"C:\Users\dev\.claude\projects\C--x\5a13.jsonl".to_owned(), rows(Some("5a13"), None)),
            (format!("{home}/5a13/subagents/workflows/wf_1/journal.jsonl"), Place::Other),
            (format!("{home}/5a13/tool-results/b1.txt"), Place::Other),
            (format!("{home}/sessions-index.json"), Place::Other),
            (format!("{home}/other.meta.json"), Place::Other),
            ("agent-.jsonl".to_owned(), rows(Some("agent-"), None)),
            ("subagents/agent-a.jsonl".to_owned(), rows(None, Some("a"))),
            (".jsonl".to_owned(), Place::Other),
            (String::new(), Place::Other),
        ] {
            assert_eq!(Place::of(&path), place, "{path}");
        }
    }
}
