//! Tools that make and leave worktrees.

use agent_tracer_event::semantics::{EntityType, SubtypeKey};
use agent_tracer_event::{Kind, Lane, attributes};

use super::row::{FILE, Row, flag, text};
use crate::text::line;

const NAME: &[&str] = &["name", "path"];

pub(super) const TABLE: &[Row] = &[
    Row {
        // No hook of ours is called when a worktree is made: a registered one would have to make it in git's place.
        names: &["EnterWorktree"],
        kind: Kind::WorktreeCreate,
        lane: Lane::Background,
        subtype: SubtypeKey::Vcs,
        label: Some("Enter worktree"),
        operation: "create",
        entity: Some((EntityType::Directory, NAME)),
        keep: &[
            text(&["name"], attributes::WORKTREE_NAME, 200),
            text(&["path"], attributes::WORKTREE_PATH, 1024),
        ],
        title: |input| match input.text(NAME) {
            Some(name) => format!("Enter worktree {}", line(input.display_path(name), 90)),
            None => "Enter a worktree".to_owned(),
        },
        ..FILE
    },
    Row {
        // The event of the same name fires only for worktrees that a hook made; git's are known by this call alone.
        names: &["ExitWorktree"],
        kind: Kind::WorktreeRemove,
        lane: Lane::Background,
        subtype: SubtypeKey::Vcs,
        label: Some("Leave worktree"),
        operation: "delete",
        keep: &[
            text(&["action"], attributes::WORKTREE_ACTION, 40),
            flag(&["discard_changes"], attributes::DISCARD_CHANGES),
        ],
        title: |input| match (input.text(&["action"]), input.flag(&["discard_changes"])) {
            (Some("keep"), _) => "Leave the worktree and keep it".to_owned(),
            (Some("remove"), Some(true)) => "Remove the worktree and its changes".to_owned(),
            (Some("remove"), _) => "Remove the worktree".to_owned(),
            _ => "Leave the worktree".to_owned(),
        },
        also: Some(|input, meaning| {
            // One tool leaves a worktree and deletes it; kept, nothing was deleted.
            if input.text(&["action"]) == Some("keep") {
                meaning.semantics.operation = "leave".to_owned();
            }
        }),
        ..FILE
    },
];
