//! Reads how much of each account's rate limits is used.
//!
//! A limit belongs to an account, and an account to one person: the limits of one owner say nothing of another's, so
//! owners are kept apart. Two machines that ship under one name are one owner, as two sessions of one machine are.

use std::collections::BTreeMap;

use agent_tracer_event::{Agent, Kind, Millis};
use agent_tracer_ledger::Answer;
use agent_tracer_ledger::project::presenters::limits::{self, AHEAD_MS, MOST_SNAPSHOTS, MOST_TASKS};
use agent_tracer_ledger::project::{FactRow, List};
use agent_tracer_ledger::view::{Limit, Page};
use clickhouse::Row;
use serde::Deserialize;

use super::family::TaskColumns;
use super::task::{PLACE, parse_word};
use super::{Reader, TaskKey, keys_in};
use crate::clickhouse::fleet::literal;
use crate::clickhouse::write::word;

/// Limit of owners, those with the latest records first.
const MOST_OWNERS: u32 = 200;

/// A session that may have seen limits.
#[derive(Row, Deserialize)]
struct Session {
    owner: String,
    task: String,
    agent: String,
}

impl TaskColumns for Session {
    fn key(&self) -> TaskKey {
        TaskKey { owner: self.owner.clone(), task: self.task.clone() }
    }
}

impl Reader {
    /// Returns how much of each agent's rate limits is used. A reader of several owners also gets the owner of each.
    ///
    /// # Errors
    /// If the database cannot answer.
    pub fn limits(&self, now: Millis) -> Answer<Page<Limit>> {
        // The newest sessions of each owner only: a limit has one state, and to look for its snapshots in all
        // sessions would read every one of them.
        let newest: Vec<Session> = self.task_rows(&format!(
            "WHERE {} AND events > 0 AND last <= {} ORDER BY last DESC, {PLACE} DESC LIMIT {MOST_TASKS} BY owner LIMIT {}",
            self.task_filter(),
            now.0.saturating_add(AHEAD_MS),
            MOST_TASKS * MOST_OWNERS
        ))?;
        if newest.is_empty() {
            return Ok(Page::whole(Vec::new()));
        }
        let agents: BTreeMap<TaskKey, Agent> = newest
            .iter()
            .map(|session| (session.key(), parse_word(&session.agent).unwrap_or_default()))
            .collect();
        let snapshots = self.facts(&format!(
            "WHERE (owner, task) IN {} AND list = {} AND kind = {} ORDER BY occurred DESC \
             LIMIT {MOST_SNAPSHOTS} BY owner, task",
            keys_in(agents.keys()),
            List::Context.code(),
            literal(&word(Kind::ContextSnapshot))
        ))?;
        let mut owners: BTreeMap<&str, Vec<(Agent, &FactRow)>> = BTreeMap::new();
        for stored in &snapshots {
            if let Some(agent) = agents.get(&stored.key) {
                owners.entry(&stored.key.owner).or_default().push((*agent, &stored.row));
            }
        }
        let is_of_one = self.owners.as_ref().is_some_and(|owners| owners.len() == 1);
        let items = owners.into_iter().flat_map(|(owner, seen)| {
            let of_owner = limits::limits(seen, now).into_iter();
            of_owner.map(move |limit| Limit { owner: (!is_of_one).then(|| owner.to_owned()), ..limit })
        });
        Ok(Page::whole(items.collect()))
    }
}
