//! The ledger of a home, to be asked.
//!
//! Law: a query never writes and needs no lock, so it works beside a running server. A home without records is no
//! failure: it has no tasks, and the output names the next step.

mod find;
mod project;

use std::sync::Arc;

use agent_tracer_event::{Agent, Millis};
use agent_tracer_ledger::view::{Page, TaskKind, TaskStatus};
use agent_tracer_ledger::{
    Answer, MAX_LIMIT, Paging, QueryError, Store, TaskFilter, error_text, has_store, open_read_only,
};
use agent_tracer_spool::Home;
use serde::Serialize;

use crate::arguments::{Options, StatusName, TaskKindName, TaskWords};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::local_time::LocalTime;
use crate::output::Output;
use crate::sources;

/// A ledger, and when it is asked.
pub(crate) struct Reading {
    pub(crate) home: Home,
    pub(crate) now: Millis,
    /// None if nothing was recorded in this home yet.
    store: Option<Arc<dyn Store>>,
}

impl Reading {
    /// Opens the ledger of the home that is meant.
    pub(crate) fn open(options: &Options, environment: &Environment) -> Result<Reading, Failure> {
        let (home, _) = environment.home(options.home.as_deref())?;
        let path = home.data().join("ledger.db");
        let open = || open_read_only(&path).map_err(|error| sources::unopened(&path, &error));
        let store = has_store(&path).then(open).transpose()?;
        Ok(Reading { home, now: environment.now(), store })
    }

    /// The same over a ledger that is open already.
    pub(crate) fn over(store: Arc<dyn Store>, home: Home, now: Millis) -> Reading {
        Reading { home, now, store: Some(store) }
    }

    /// The store, if anything was ever recorded.
    pub(crate) fn store(&self) -> Option<&Arc<dyn Store>> {
        self.store.as_ref()
    }

    /// Asks for a list, part by part, until so many items are there or it ends.
    pub(crate) fn list<T>(
        &self,
        limit: Option<u32>,
        cursor: Option<String>,
        mut ask: impl FnMut(&dyn Store, Paging) -> Answer<Page<T>>,
    ) -> Result<Page<T>, Failure> {
        let mut whole = Page { items: Vec::new(), next_cursor: cursor };
        let Some(store) = &self.store else { return Ok(Page::whole(Vec::new())) };
        loop {
            let so_far = u32::try_from(whole.items.len()).unwrap_or(u32::MAX);
            let left = limit.map_or(MAX_LIMIT, |limit| limit.saturating_sub(so_far).min(MAX_LIMIT));
            // With the cursor of the last part, so that the caller knows that there is more.
            if left == 0 {
                return Ok(whole);
            }
            let paging = Paging { cursor: whole.next_cursor.take(), limit: left };
            let part = ask(store.as_ref(), paging).map_err(refused)?;
            whole.items.extend(part.items);
            whole.next_cursor = part.next_cursor;
            if whole.next_cursor.is_none() {
                return Ok(whole);
            }
        }
    }

    /// Reads the words that say which tasks are meant.
    pub(crate) fn filter(&self, words: &TaskWords, environment: &Environment) -> Result<TaskFilter, Failure> {
        let zone = LocalTime::of(environment);
        let (since, until) = zone.range(words.since.as_deref(), words.until.as_deref(), self.now)?;
        Ok(TaskFilter {
            status: words.status.iter().map(|status| status_of(*status)).collect(),
            agent: words.agent.map(agent_of),
            project: self.project(words.project.as_deref(), environment)?,
            q: words.q.clone(),
            since,
            until,
            kind: words.kind.map(kind_of),
            failed_calls: words.failed_calls,
            ..TaskFilter::default()
        })
    }

    /// Says that there is nothing to show, why, and what to do.
    pub(crate) fn say_empty(
        &self,
        output: &mut Output,
        environment: &Environment,
        is_narrowed: bool,
    ) -> Result<(), Failure> {
        let any = match &self.store {
            None => false,
            Some(store) => {
                let one = Paging { limit: 1, ..Paging::default() };
                let first = store.tasks(self.now, &TaskFilter { paging: one, ..TaskFilter::default() });
                !first.map_err(refused)?.items.is_empty()
            }
        };
        if any && is_narrowed {
            return output.say("no matches\nhint: remove some of the filters");
        }
        if any {
            return output.say("no matching events in the recorded tasks yet");
        }
        let program = environment.program();
        output.say(&format!("nothing is recorded in `{}` yet", self.home.data().display()))?;
        output.say(&format!("hint: run `{program} import` to read the agents' history"))?;
        let installs = Agent::ALL.iter().map(|agent| agent.spec()).filter(|spec| spec.listed_when_absent);
        let installs: Vec<String> = installs.map(|spec| format!("`install {}`", spec.word)).collect();
        let installs = installs.join(" or ").replacen('`', &format!("`{program} "), 1);
        output.say(&format!("hint: run {installs}, then `{program} serve`, to record new sessions"))
    }
}

/// Why there is no answer.
pub(crate) fn refused(error: QueryError) -> Failure {
    match error {
        QueryError::Bad(what) => Failure::usage(what),
        QueryError::NotFound => Failure::new("not found"),
        QueryError::Damaged(what) => Failure::new(format!("cannot read the ledger: {}", error_text(&what)))
            .hint("stop the server and run `agent-tracer recover`, which salvages the readable part")
            .hint("run `agent-tracer doctor` for details, and `agent-tracer backup list` for backups to restore"),
        QueryError::Store(what) => {
            Failure::new(format!("cannot read the ledger: {}", error_text(&what))).hint("run `agent-tracer doctor` for details")
        }
    }
}

/// Writes an answer as JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(value)
        .map(|text| text + "\n")
        .map_err(|error| Failure::new(format!("cannot write the answer as JSON: {error}")))
}

pub(crate) fn agent_of(name: Agent) -> Agent {
    name
}

fn kind_of(name: TaskKindName) -> TaskKind {
    match name {
        TaskKindName::Primary => TaskKind::Primary,
        TaskKindName::Background => TaskKind::Background,
    }
}

fn status_of(name: StatusName) -> TaskStatus {
    match name {
        StatusName::Running => TaskStatus::Running,
        StatusName::Waiting => TaskStatus::Waiting,
        StatusName::Completed => TaskStatus::Completed,
        StatusName::Failed => TaskStatus::Failed,
        StatusName::Abandoned => TaskStatus::Abandoned,
    }
}
