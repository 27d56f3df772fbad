//! The tasks that wait for a person: those that are blocked first, then those that are done.

use agent_tracer_event::{FactId, Millis};
use rusqlite::Connection;

use super::row::{MAIN, agent_at, task_id};
use super::staleness::OVER_MS;
use super::task::reason_at;
use super::text::Texts;
use crate::sqlite::facts;
use crate::store::{Answer, MAX_LIMIT};
use crate::view::{Attention, Page, TaskStatus, WaitingReason};

/// Returns all tasks that wait for a person: those whose work is held up first, each group the longest wait first.
pub(crate) fn attention(conn: &Connection, now: Millis) -> Answer<Page<Attention>> {
    let mut find = conn.prepare_cached(
        "SELECT id, uid, title, agent, agent_type, project, waiting, waiting_since, waiting_fact, last \
         FROM task INDEXED BY task_status WHERE events > 0 AND status = ?1 AND last > ?2",
    )?;
    let mut texts = Texts::new(conn);
    let mut waiting = Vec::new();
    let mut rows = find.query([TaskStatus::Waiting as i64, now.0.saturating_sub(OVER_MS)])?;
    while let Some(row) = rows.next()? {
        let reason: Option<i64> = row.get(6)?;
        let reason = reason.and_then(reason_at).unwrap_or(WaitingReason::Idle);
        let (since, last): (Option<i64>, i64) = (row.get(7)?, row.get(9)?);
        let agent_type = texts.word(row.get(4)?)?;
        let attention = Attention {
            task_id: row.get(1)?,
            title: row.get(2)?,
            agent: agent_at(row.get(3)?),
            agent_type: if agent_type.is_empty() { MAIN.to_owned() } else { agent_type },
            owner: None,
            project: texts.word(row.get(5)?)?,
            reason,
            since: Millis(since.unwrap_or(last)),
            row_id: None,
            text: None,
        };
        let (task, fact): (i64, Option<i64>) = (row.get(0)?, row.get(8)?);
        waiting.push((task, fact, attention));
    }
    waiting.sort_by(|(_, _, one), (_, _, two)| {
        let key = |item: &Attention| (item.reason == WaitingReason::Idle, item.since);
        key(one).cmp(&key(two)).then_with(|| one.task_id.cmp(&two.task_id))
    });
    waiting.truncate(MAX_LIMIT as usize);
    let mut items = Vec::with_capacity(waiting.len());
    for (task, fact, mut item) in waiting {
        if let Some(asking) = fact.map(|fact| facts::load(conn, task, fact)).transpose()?.flatten() {
            item.row_id = Some(
                FactId::from_number(&task_id(&item.task_id), asking.row.fact.cast_unsigned()).to_string(),
            );
            let data = asking.row.data;
            item.text = Some(data.title).filter(|title| !title.is_empty()).or(data.body);
        }
        items.push(item);
    }
    Ok(Page::whole(items))
}
