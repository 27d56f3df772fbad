//! Rows that say something of the session once and again: titles, modes, links. They have no time and no place in the
//! conversation, and are written anew whenever the client feels like it; they are recorded when they change.

use agent_tracer_event::{Certainty, Phase, Subject, attributes};
use agent_tracer_privacy::Level;
use serde_json::{Map, Value};

use super::writer::{RowWriter, put};
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
    Mark {
        kind: "custom-title",
        members: &[("customTitle", attributes::CUSTOM_TITLE, Shape::Title("custom"))],
    },
    Mark {
        kind: "ai-title",
        members: &[
            ("aiTitle", attributes::AI_TITLE, Shape::Title("ai")),
            ("title", attributes::AI_TITLE, Shape::Title("ai")),
        ],
    },
    Mark {
        kind: "agent-name",
        members: &[("agentName", attributes::SESSION_NAME, Shape::Title("agent_name"))],
    },
    Mark { kind: "summary", members: &[("summary", attributes::SUMMARY_TITLE, Shape::Title("summary"))] },
    Mark {
        kind: "permission-mode",
        members: &[("permissionMode", attributes::PERMISSION_MODE, Shape::Word)],
    },
    Mark { kind: "agent-setting", members: &[("agentSetting", attributes::MAIN_AGENT_TYPE, Shape::Word)] },
    Mark { kind: "tag", members: &[("tag", attributes::TAG, Shape::Word)] },
    Mark {
        kind: "pr-link",
        members: &[
            ("prUrl", attributes::PULL_REQUEST_URL, Shape::Word),
            ("prRepository", attributes::PULL_REQUEST_REPOSITORY, Shape::Word),
            ("prNumber", attributes::PULL_REQUEST_NUMBER, Shape::Number),
        ],
    },
    Mark {
        kind: "worktree-state",
        members: &[
            ("worktreePath", attributes::WORKTREE_PATH, Shape::Word),
            ("worktreeName", attributes::WORKTREE_NAME, Shape::Word),
            ("worktreeBranch", attributes::WORKTREE_BRANCH, Shape::Word),
            ("originalCwd", attributes::ORIGINAL_CWD, Shape::Word),
            ("originalBranch", attributes::ORIGINAL_BRANCH, Shape::Word),
        ],
    },
];

/// Returns whether rows of this type are read here.
pub(super) fn is_mark(kind: &str) -> bool {
    MARKS.iter().any(|mark| mark.kind == kind)
}

/// Reads such a row.
pub(super) fn mark(writer: &mut RowWriter<'_, '_>) {
    let kind = writer.row.kind.head(40);
    let Some(mark) = MARKS.iter().find(|mark| mark.kind == kind) else { return };
    let Some(Ok(Value::Object(mut row))) = writer.line.map(serde_json::from_slice::<Value>) else { return };
    if let Some(Value::Object(inner)) = row.remove("worktreeSession") {
        row = inner;
    }
    let mut metadata = Map::new();
    let mut guessed = false;
    for (from, to, shape) in mark.members {
        match (shape, row.get(*from)) {
            (Shape::Word, Some(Value::String(text))) => put(&mut metadata, to, writer.rules.word(text)),
            (Shape::Number, Some(number @ Value::Number(_))) => put(&mut metadata, to, number.clone()),
            (Shape::Number, Some(Value::String(digits))) => {
                put(&mut metadata, to, digits.parse::<u64>().ok())
            }
            // A title is a text of its session like a prompt, so its length is all that is left of it at `metadata`.
            (Shape::Title(_), Some(Value::String(text))) if writer.rules.level() == Level::Metadata => {
                put(&mut metadata, attributes::TITLE_BYTES, text.len());
            }
            (Shape::Title(source), Some(Value::String(text))) => {
                let text = title(&agent_tracer_privacy::mask(text));
                put(&mut metadata, to, text.as_str());
                // Summaries stand in files of other sessions than the one that they are of.
                guessed = *source == "summary";
                put(&mut metadata, attributes::TITLE, text);
                put(&mut metadata, attributes::TITLE_SOURCE, *source);
            }
            _ => {}
        }
    }
    if metadata.is_empty()
        || !writer.state.changed(&kind, Value::Object(metadata.clone()).to_string().as_bytes())
    {
        return;
    }
    let mut entry = writer.entry(Subject::Task, Phase::Update, "task");
    if guessed {
        entry.evidence.certainty = Certainty::Guessed;
    }
    entry.metadata = metadata;
    writer.push(entry);
}
