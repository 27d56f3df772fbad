//! The answer of Codex's tools that start an agent: JSON inside a string, of which only ids are kept.

use crate::scan::Visitor;
use crate::text::Text;

/// Looks for the ids in the answer of `spawn_agent`.
#[derive(Default)]
pub(super) struct SpawnedAgent<'a> {
    next: Option<IdKind>,
    pub(super) agent_id: Option<Text<'a>>,
    pub(super) task_name: Option<Text<'a>>,
}

#[derive(Clone, Copy)]
enum IdKind {
    AgentId,
    TaskName,
}

impl<'a> Visitor<'a> for SpawnedAgent<'a> {
    fn key(&mut self, key: Text<'a>) -> bool {
        self.next = if key.is(b"agent_id") {
            Some(IdKind::AgentId)
        } else if key.is(b"task_name") {
            Some(IdKind::TaskName)
        } else {
            None
        };
        true
    }

    fn text(&mut self, text: Text<'a>) {
        match self.next.take() {
            Some(IdKind::AgentId) => self.agent_id = Some(text),
            Some(IdKind::TaskName) => self.task_name = Some(text),
            None => {}
        }
    }

    fn unnamed(&mut self) {
        // An element of a list has no name, and the one before it does not apply.
        self.next = None;
    }
}
