//! Tasks by what people have at hand: the beginning of an id, an agent's own id of a session, or "the last one".

use agent_tracer_event::{Agent, TaskId, TaskKey};
use agent_tracer_ledger::view::{Task, TaskKind};
use agent_tracer_ledger::{MAX_LIMIT, Paging, QueryError, TaskFilter};

use super::{Reading, refused};
use crate::failure::Failure;
use crate::figures;
use crate::output::one_line;

/// Tasks that are named if a beginning fits more than one.
const NAMED: usize = 5;

impl Reading {
    /// The one task that is meant.
    pub(crate) fn task(&self, text: &str) -> Result<Task, Failure> {
        let text = text.trim();
        let Some(store) = self.store() else { return Err(unknown(text)) };
        let exact = |id: &TaskId| match store.task(self.now, id) {
            Ok(task) => Ok(Some(task)),
            Err(QueryError::NotFound) => Ok(None),
            Err(error) => Err(refused(error)),
        };
        if text == "last" {
            let filter = TaskFilter {
                kind: Some(TaskKind::Primary),
                paging: Paging { limit: 1, ..Paging::default() },
                ..TaskFilter::default()
            };
            let newest = store.tasks(self.now, &filter).map_err(refused)?.items.into_iter().next();
            return newest.ok_or_else(|| unknown(text));
        }
        if text.is_empty() {
            return Err(Failure::usage("the task id is empty"));
        }
        // Ids are made of what they name, so a whole one needs no search.
        let sessions = Agent::ALL.iter().flat_map(|agent| {
            [TaskKey::new(*agent, text).task_id(), TaskKey::subagent(*agent, text).task_id()]
        });
        for id in TaskId::parse(text).into_iter().chain(sessions) {
            if let Some(task) = exact(&id)? {
                return Ok(task);
            }
        }
        self.task_beginning_with(text)
    }

    fn task_beginning_with(&self, text: &str) -> Result<Task, Failure> {
        let Some(store) = self.store() else { return Err(unknown(text)) };
        let mut found: Vec<Task> = Vec::new();
        let mut paging = Paging { limit: MAX_LIMIT, ..Paging::default() };
        loop {
            let filter = TaskFilter { paging, ..TaskFilter::default() };
            let part = store.tasks(self.now, &filter).map_err(refused)?;
            let fits = |task: &Task| {
                task.id.starts_with(text)
                    || task.runtime_session_id.starts_with(text)
                    || task.agent_id.as_deref().is_some_and(|id| id.starts_with(text))
            };
            found.extend(part.items.into_iter().filter(fits));
            if found.len() > NAMED || part.next_cursor.is_none() {
                break;
            }
            paging = Paging { cursor: part.next_cursor, limit: MAX_LIMIT };
        }
        match (found.len(), found.pop()) {
            (1, Some(task)) => Ok(task),
            (0, _) | (_, None) => Err(unknown(text)),
            (_, Some(last)) => {
                found.push(last);
                let named = found.iter().take(NAMED).fold(
                    Failure::usage(format!("`{}` matches more than one task", one_line(text))),
                    |failure, task| {
                        let title = crate::table::cut(&one_line(&task.title), 60);
                        failure.hint(format!("{} ({title})", figures::short_id(&task.id)))
                    },
                );
                Err(named)
            }
        }
    }
}

fn unknown(text: &str) -> Failure {
    Failure::new(format!("no task matches `{}`", one_line(text)))
        .hint("run `agent-tracer tasks` to list the ids")
}
