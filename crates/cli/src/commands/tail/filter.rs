//! Filters the rows to follow.

use std::collections::HashMap;
use std::sync::Arc;

use agent_tracer_event::{Kind, Lane, Millis, TaskId};
use agent_tracer_ledger::Store;
use agent_tracer_ledger::view::Row;

use crate::arguments::Tail;
use crate::failure::Failure;
use crate::output::one_line;
use crate::reading::Reading;

/// The most ancestors that are looked at.
const DEPTH: usize = 64;
/// Tasks that are remembered.
const REMEMBERED: usize = 4_096;

/// Holds the filter of `tail`.
#[derive(Debug, Default)]
pub(super) struct TailFilter {
    pub(super) task: Option<TaskId>,
    pub(super) lanes: Vec<Lane>,
    pub(super) kinds: Vec<Kind>,
    pub(super) now: i64,
    /// Decisions by task: `true` for the selected one and those started by it.
    pub(super) known: HashMap<String, bool>,
}

impl TailFilter {
    pub(super) fn of(arguments: &Tail, reading: &Reading) -> Result<TailFilter, Failure> {
        let task = match &arguments.task {
            Some(text) => TaskId::parse(&reading.task(text)?.id),
            None => None,
        };
        Ok(TailFilter {
            task,
            lanes: words(&arguments.lane, "lane", Lane::ALL, Lane::as_str)?,
            kinds: words(&arguments.kind, "kind", Kind::ALL, Kind::as_str)?,
            now: reading.now.0,
            known: HashMap::new(),
        })
    }

    /// Returns whether a row passes the filter.
    pub(super) fn has(&mut self, row: &Row, store: &Arc<dyn Store>) -> bool {
        (self.lanes.is_empty() || self.lanes.contains(&row.lane))
            && (self.kinds.is_empty() || self.kinds.contains(&row.kind))
            && self.has_task(&row.task_id, store)
    }

    fn has_task(&mut self, id: &str, store: &Arc<dyn Store>) -> bool {
        let Some(root) = &self.task else { return true };
        if id == root.as_str() {
            return true;
        }
        if let Some(known) = self.known.get(id) {
            return *known;
        }
        let mut at = id.to_owned();
        let mut found = false;
        for _ in 0..DEPTH {
            let task = TaskId::parse(&at).and_then(|id| store.task(Millis(self.now), &id).ok());
            let Some(parent) = task.and_then(|task| task.parent_task_id) else { break };
            found = parent == root.as_str();
            if found {
                break;
            }
            at = parent;
        }
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        // A parent may become known later, so only what is certain is remembered.
        if found {
            self.known.insert(id.to_owned(), true);
        }
        found
    }
}

/// Reads words of a closed set.
fn words<T: Copy>(
    texts: &[String],
    name: &str,
    all: &[T],
    spell: fn(T) -> &'static str,
) -> Result<Vec<T>, Failure> {
    texts
        .iter()
        .map(|text| {
            all.iter().copied().find(|one| spell(*one) == text).ok_or_else(|| {
                let alike: Vec<T> =
                    all.iter().copied().filter(|one| spell(*one).contains(text.as_str())).collect();
                let shown = if alike.is_empty() { all } else { &alike };
                let known: Vec<String> = shown.iter().map(|one| format!("`{}`", spell(*one))).collect();
                Failure::usage(format!("unknown {name} `{}`", one_line(text)))
                    .hint(format!("known: {}", known.join(", ")))
            })
        })
        .collect()
}
