//! Sums the spending of a task and of all below it, by dimension.

use agent_tracer_event::TaskId;
use rusqlite::{Connection, params};

use super::task;
use super::text::Texts;
use super::usage_sum::{read_spend, spend_columns};
use crate::project::presenters::UsageParts;
use crate::project::spend::Spend;
use crate::store::{Answer, UsageBy};
use crate::view::{Page, UsageBucket};

/// Returns the parts of a task, the dearest first. By time there is only one.
pub(crate) fn of_task(conn: &Connection, id: &TaskId, by: UsageBy) -> Answer<Page<UsageBucket>> {
    let root = task::number(conn, id)?;
    let parts = match by {
        UsageBy::Skill => by_skill(conn, root)?,
        UsageBy::Project | UsageBy::Agent | UsageBy::AgentType | UsageBy::Task => by_member(conn, root, by)?,
        UsageBy::Model | UsageBy::Day | UsageBy::Week | UsageBy::Month => by_model(conn, root)?,
        UsageBy::Owner | UsageBy::Machine => return Err(super::usage::of_one_machine()),
    };
    Ok(parts.page())
}

/// Returns the usage of a task and all its descendants by model.
fn by_model(conn: &Connection, root: i64) -> rusqlite::Result<UsageParts> {
    let mut models = UsageParts::default();
    let mut find = conn.prepare_cached(
        "SELECT w.text, m.input, m.output, m.cache_read, m.cache_write, m.cost, m.n, m.unpriced, m.copied \
         FROM task_model m JOIN word w ON w.id = m.model WHERE m.task = ?1",
    )?;
    for (member, _) in task::family(conn, root)? {
        let mut rows = find.query(params![member])?;
        while let Some(row) = rows.next()? {
            let (model, n): (String, i64) = (row.get(0)?, row.get(6)?);
            if row.get::<_, bool>(8)? {
                models.add_copies(model, n);
                continue;
            }
            let spend = Spend {
                input: row.get(1)?,
                output: row.get(2)?,
                cache_read: row.get(3)?,
                cache_write: row.get(4)?,
                cost: row.get(5)?,
                responses: n,
                unpriced: row.get(7)?,
                ..Spend::default()
            };
            models.add(model, spend);
        }
        if let Some(residual) = task::load(conn, member)?.and_then(|task| task.spent.residual) {
            models.add_residual(&residual);
        }
    }
    Ok(models)
}

/// Returns the usage by skill.
fn by_skill(conn: &Connection, root: i64) -> rusqlite::Result<UsageParts> {
    let mut skills = UsageParts::default();
    let sums = spend_columns("s");
    let mut find = conn.prepare_cached(&format!(
        "SELECT w.text, {sums} FROM task_skill s JOIN word w ON w.id = s.skill WHERE s.task = ?1 AND s.responses > 0"
    ))?;
    for (member, _) in task::family(conn, root)? {
        let mut rows = find.query([member])?;
        while let Some(row) = rows.next()? {
            skills.add(row.get(0)?, read_spend(row, 1)?);
        }
    }
    Ok(skills)
}

/// Returns the usage of the tasks, grouped by a value that they share.
fn by_member(conn: &Connection, root: i64, by: UsageBy) -> rusqlite::Result<UsageParts> {
    let mut parts = UsageParts::default();
    let mut texts = Texts::new(conn);
    for (member, _) in task::family(conn, root)? {
        let Some(row) = task::load(conn, member)? else { continue };
        let key = match by {
            UsageBy::Project => texts.word(row.project)?,
            UsageBy::Agent => row.agent.to_string(),
            UsageBy::AgentType => {
                let agent_type = texts.word(row.agent_type)?;
                if agent_type.is_empty() { super::row::MAIN.to_owned() } else { agent_type }
            }
            _ => row.uid.clone(),
        };
        if member == root {
            parts.add_root(key, &row.spent);
        } else {
            parts.add_descendant(key, &row.spent);
        }
    }
    Ok(parts)
}
