//! Rows that say something of the session once and again: titles, modes, links. They have no time and no place in the
//! conversation, and are written anew whenever the client feels like it; they are told when they change.

use agent_tracer_event::{Certainty, Phase, Subject};
use agent_tracer_privacy::Level;
use serde_json::{Map, Value};

use super::telling::{Telling, put};
use crate::text::title;

/// A type of row, the member that it is about, our name for that, and what it is.
struct Mark {
    kind: &'static str,
    members: &'static [(&'static str, &'static str, Shape)],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// A name, path or state, which stays at every level.
    Word,
    /// A title of the session, and who gave it.
    Title(&'static str),
    /// A number or a text of digits.
    Number,
}

const MARKS: &[Mark] = &[
    Mark { kind: "custom-title", members: &[("customTitle", "customTitle", Shape::Title("custom"))] },
    Mark {
        kind: "ai-title",
        members: &[("aiTitle", "aiTitle", Shape::Title("ai")), ("title", "aiTitle", Shape::Title("ai"))],
    },
    Mark { kind: "agent-name", members: &[("agentName", "sessionName", Shape::Title("agent_name"))] },
    Mark { kind: "summary", members: &[("summary", "summaryTitle", Shape::Title("summary"))] },
    Mark { kind: "permission-mode", members: &[("permissionMode", "permissionMode", Shape::Word)] },
    Mark { kind: "agent-setting", members: &[("agentSetting", "mainAgentType", Shape::Word)] },
    Mark { kind: "tag", members: &[("tag", "tag", Shape::Word)] },
    Mark {
        kind: "pr-link",
        members: &[
            ("prUrl", "pullRequestUrl", Shape::Word),
            ("prRepository", "pullRequestRepository", Shape::Word),
            ("prNumber", "pullRequestNumber", Shape::Number),
        ],
    },
    Mark {
        kind: "worktree-state",
        members: &[
            ("worktreePath", "worktreePath", Shape::Word),
            ("worktreeName", "worktreeName", Shape::Word),
            ("worktreeBranch", "worktreeBranch", Shape::Word),
            ("originalCwd", "originalCwd", Shape::Word),
            ("originalBranch", "originalBranch", Shape::Word),
        ],
    },
];

/// Whether rows of this type are read here.
pub(super) fn is_mark(kind: &str) -> bool {
    MARKS.iter().any(|mark| mark.kind == kind)
}

/// Reads such a row.
pub(super) fn mark(told: &mut Telling<'_, '_>) {
    let kind = told.row.kind.head(40);
    let Some(mark) = MARKS.iter().find(|mark| mark.kind == kind) else { return };
    let Some(Ok(Value::Object(mut row))) = told.line.map(serde_json::from_slice::<Value>) else { return };
    if let Some(Value::Object(inner)) = row.remove("worktreeSession") {
        row = inner;
    }
    let mut metadata = Map::new();
    let mut guessed = false;
    for (from, to, shape) in mark.members {
        match (shape, row.get(*from)) {
            (Shape::Word, Some(Value::String(text))) => put(&mut metadata, to, told.rules.word(text)),
            (Shape::Number, Some(number @ Value::Number(_))) => put(&mut metadata, to, number.clone()),
            (Shape::Number, Some(Value::String(digits))) => {
                put(&mut metadata, to, digits.parse::<u64>().ok())
            }
            // A title is a text of its session like a prompt, so its length is all that is left of it at `metadata`.
            (Shape::Title(_), Some(Value::String(text))) if told.rules.level() == Level::Metadata => {
                put(&mut metadata, "titleBytes", text.len());
            }
            (Shape::Title(source), Some(Value::String(text))) => {
                let text = title(&agent_tracer_privacy::mask(text));
                put(&mut metadata, to, text.as_str());
                // Summaries stand in files of other sessions than the one that they are of.
                guessed = *source == "summary";
                put(&mut metadata, "title", text);
                put(&mut metadata, "titleSource", *source);
            }
            _ => {}
        }
    }
    if metadata.is_empty()
        || !told.state.changed(&kind, Value::Object(metadata.clone()).to_string().as_bytes())
    {
        return;
    }
    let mut entry = told.entry(Subject::Task, Phase::Update, "task");
    if guessed {
        entry.evidence.certainty = Certainty::Guessed;
    }
    entry.metadata = metadata;
    told.push(entry);
}
