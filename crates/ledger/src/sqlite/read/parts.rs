//! Sums the spending of a task and of all below it, by dimension.

use std::collections::BTreeMap;

use agent_tracer_event::TaskId;
use rusqlite::{Connection, params};

use super::task;
use super::text::Texts;
use super::usage_sum::{UsageSum, read_spend, spend_columns};
use crate::project::spend::Spend;
use crate::store::{Answer, UsageBy};
use crate::view::{Page, UsageBucket};

/// The parts of a task, the dearest first. By time there is only one.
pub(crate) fn of_task(conn: &Connection, id: &TaskId, by: UsageBy) -> Answer<Page<UsageBucket>> {
    let root = task::number(conn, id)?;
    let parts = match by {
        UsageBy::Skill => by_skill(conn, root)?,
        UsageBy::Project | UsageBy::Agent | UsageBy::AgentType | UsageBy::Task => by_member(conn, root, by)?,
        UsageBy::Model | UsageBy::Day | UsageBy::Week | UsageBy::Month => by_model(conn, root)?,
        UsageBy::Owner | UsageBy::Machine => return Err(super::usage::of_one_machine()),
    };
    let mut items: Vec<UsageBucket> = parts
        .into_iter()
        .map(|(key, spent)| UsageBucket { key, label: None, owner: None, usage: spent.view() })
        .collect();
    items.sort_by(|one, two| {
        two.usage.cost_usd.total_cmp(&one.usage.cost_usd).then_with(|| one.key.cmp(&two.key))
    });
    Ok(Page::whole(items))
}

/// Returns the usage of a task and all its descendants by model.
fn by_model(conn: &Connection, root: i64) -> rusqlite::Result<BTreeMap<String, UsageSum>> {
    let mut models: BTreeMap<String, UsageSum> = BTreeMap::new();
    let mut find = conn.prepare_cached(
        "SELECT w.text, m.input, m.output, m.cache_read, m.cache_write, m.cost, m.n, m.unpriced, m.copied \
         FROM task_model m JOIN word w ON w.id = m.model WHERE m.task = ?1",
    )?;
    for (member, _) in task::family(conn, root)? {
        let mut rows = find.query(params![member])?;
        while let Some(row) = rows.next()? {
            let sum = models.entry(row.get(0)?).or_default();
            let n: i64 = row.get(6)?;
            if row.get::<_, bool>(8)? {
                sum.copies += n;
                continue;
            }
            sum.spend += Spend {
                input: row.get(1)?,
                output: row.get(2)?,
                cache_read: row.get(3)?,
                cache_write: row.get(4)?,
                cost: row.get(5)?,
                responses: n,
                unpriced: row.get(7)?,
                ..Spend::default()
            };
        }
        let left = task::load(conn, member)?.and_then(|task| task.spent.residual).unwrap_or_default();
        for line in left.models {
            *models.entry(line.model.clone()).or_default() +=
                &UsageSum { residual: Some(line.into()), ..UsageSum::default() };
        }
    }
    Ok(models)
}

/// Returns the usage by skill.
fn by_skill(conn: &Connection, root: i64) -> rusqlite::Result<BTreeMap<String, UsageSum>> {
    let mut skills: BTreeMap<String, UsageSum> = BTreeMap::new();
    let sums = spend_columns("s");
    let mut find = conn.prepare_cached(&format!(
        "SELECT w.text, {sums} FROM task_skill s JOIN word w ON w.id = s.skill WHERE s.task = ?1 AND s.responses > 0"
    ))?;
    for (member, _) in task::family(conn, root)? {
        let mut rows = find.query([member])?;
        while let Some(row) = rows.next()? {
            skills.entry(row.get(0)?).or_default().spend += read_spend(row, 1)?;
        }
    }
    Ok(skills)
}

/// Returns the usage of the tasks, grouped by a value that they share.
fn by_member(conn: &Connection, root: i64, by: UsageBy) -> rusqlite::Result<BTreeMap<String, UsageSum>> {
    let mut parts: BTreeMap<String, UsageSum> = BTreeMap::new();
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
        let sum = parts.entry(key).or_default();
        *sum += &row.spent;
        if member == root {
            sum.client_cost = row.spent.client_cost;
        }
    }
    Ok(parts)
}
