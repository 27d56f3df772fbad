//! Records who opens the sessions of another person, before the answer is given.
//!
//! One's own sessions are one's own. A dashboard asks the same again and again: of one reader, question and task one row
//! is kept in a minute.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use crate::clickhouse::{AccessEntry, Fleet, Reader};
use agent_tracer_event::{FactId, TaskId};
use agent_tracer_ledger::{OwnerFilter, QueryError};
use agent_tracer_server::{AccessEvent, Cause};

/// Lists that show sessions, or what was said in them. Other lists are of numbers.
const LISTS: [&str; 9] = [
    "/tasks",
    "/search",
    "/attention",
    "/files",
    "/commands",
    "/loops",
    "/policies/decisions",
    "/usage?by=task",
    "/stream",
];

/// Name of the reader that uses the token of the server itself.
const SERVER: &str = "(the server's own token)";

const MINUTE_MS: i64 = 60_000;

/// Limit of remembered accesses; beyond it some are recorded twice.
const MOST: usize = 10_000;

/// Reader, path and task of an access, with its owner filter.
type AccessKey = (String, String, String, OwnerFilter);

/// The minute, and what was kept in it.
#[derive(Debug, Default)]
pub(crate) struct Audit(Mutex<(i64, HashSet<AccessKey>)>);

impl Audit {
    /// Keeps a look, unless it is at one's own, or was kept in this minute.
    pub(crate) fn note(
        &self,
        fleet: &Fleet,
        reader: &Reader,
        look: AccessEvent<'_>,
        now: i64,
    ) -> Result<(), Cause> {
        let about = TaskId::parse(look.id).or_else(|| FactId::parse(look.id).map(|fact| fact.task()));
        if about.is_none() && !LISTS.contains(&look.path) {
            return Ok(());
        }
        let who = look.reader.unwrap_or(SERVER);
        let task = about.as_ref().map_or_else(String::new, ToString::to_string);
        let of = look.owners.owner.as_deref().unwrap_or(AccessEntry::ALL_OWNERS);
        let key = (who.to_owned(), look.path.to_owned(), task.clone(), look.owners.clone());
        if self.has(&key, now) {
            return Ok(());
        }
        let owner = match &about {
            None => Some(of.to_owned()),
            // Asked as the question itself asks: what is shown is what is kept.
            Some(task) => match reader.filtered(look.owners).owner_of(task) {
                Ok(owner) => Some(owner),
                // The answer shows nothing: the task does not exist, or several owners have it and none is named.
                Err(QueryError::NotFound | QueryError::Bad(_)) => None,
                Err(error @ (QueryError::Damaged(_) | QueryError::Store(_))) => return Err(error.into()),
            },
        };
        // Not remembered: in a moment there may be something to be shown.
        let Some(owner) = owner else { return Ok(()) };
        if owner != who {
            let visit = AccessEntry {
                owner,
                at: now,
                reader: who.to_owned(),
                task,
                what: look.path.to_owned(),
                version: u64::try_from(now).unwrap_or(0),
            };
            fleet.record_access(&visit)?;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // After the write: a look whose record failed is refused, and has to be recorded when it is tried again.
        kept.1.insert(key);
        Ok(())
    }

    fn has(&self, key: &AccessKey, now: i64) -> bool {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let minute = now.div_euclid(MINUTE_MS);
        if kept.0 != minute || kept.1.len() >= MOST {
            *kept = (minute, HashSet::new());
        }
        kept.1.contains(key)
    }
}
