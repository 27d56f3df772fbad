//! The file that an agent keeps of a task.

use std::path::Path;

use agent_tracer_intake::files::{FoundFile, Root, find, find_named};
use agent_tracer_ledger::view::{Task, TaskKind};

/// Finds the file of a task: the one that its hooks name, wherever that is, else among the folders of its agent. Of several (a
/// thread that went on in a new file) the one that changed last.
#[must_use]
pub fn of_task(roots: &[Root], task: &Task) -> Option<FoundFile> {
    let named = task.transcript_path.as_deref().and_then(|path| find_named(task.agent, Path::new(path)));
    let mut best = named.filter(|found| is_of(found, task));
    for root in roots.iter().filter(|root| root.agent.is_none_or(|agent| agent == task.agent)) {
        // A folder that cannot be looked into holds nothing that could be shown.
        find(root, &mut |found| {
            let is_newer = best.as_ref().is_none_or(|best| found.facts.changed_ns > best.facts.changed_ns);
            if is_newer && is_of(&found, task) {
                best = Some(found);
            }
        });
    }
    best
}

fn is_of(found: &FoundFile, task: &Task) -> bool {
    let is_child = task.kind == TaskKind::Background;
    let own = task.agent_id.as_deref().filter(|_| is_child);
    found.file.agent == task.agent && found.file.is_of(&task.runtime_session_id, own)
}
