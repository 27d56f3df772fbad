//! The used share of each agent's rate limits, from snapshots of the newest sessions.

use agent_tracer_event::{Kind, Millis};
use rusqlite::Connection;

use super::row::agent_at;
use crate::project::List;
use crate::project::presenters::limits::{self, AHEAD_MS, MOST_SNAPSHOTS, MOST_TASKS};
use crate::sqlite::facts;
use crate::store::Answer;
use crate::view::{Limit, Page};

/// Returns every limit that an agent reported lately.
pub(crate) fn limits(conn: &Connection, now: Millis) -> Answer<Page<Limit>> {
    let mut find = conn.prepare_cached(
        "SELECT id, agent FROM task INDEXED BY task_newest WHERE events > 0 AND last <= ?1 \
         ORDER BY last DESC, id DESC LIMIT ?2",
    )?;
    let tasks: Vec<(i64, i64)> = find
        .query_map([now.0.saturating_add(AHEAD_MS), i64::from(MOST_TASKS)], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    let mut snapshots = Vec::new();
    for (task, agent) in tasks {
        let rows = facts::select(
            conn,
            &format!(
                "WHERE f.task = ?1 AND f.{} AND f.kind = {} ORDER BY f.occurred DESC LIMIT ?2",
                facts::in_list(List::Context),
                Kind::ContextSnapshot as i64
            ),
            [task, i64::from(MOST_SNAPSHOTS)],
        )?;
        snapshots.extend(rows.into_iter().map(|stored| (agent_at(agent), stored.row)));
    }
    let snapshots = snapshots.iter().map(|(agent, row)| (*agent, row));
    Ok(Page::whole(limits::limits(snapshots, now)))
}
