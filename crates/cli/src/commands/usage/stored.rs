//! The answer of the ledger.

use agent_tracer_event::{Millis, TaskId};
use agent_tracer_ledger::view::{TaskKind, UsageBucket};
use agent_tracer_ledger::{Range, TaskFilter, UsageBy};

use super::{Item, Question, UsagePart, Window};
use crate::arguments::{ByName, PeriodName};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::reading::{Reading, agent_of};

pub(super) fn items(
    question: &Question<'_>,
    reading: &Reading,
    environment: &Environment,
) -> Result<Vec<Item>, Failure> {
    let arguments = question.arguments;
    let range = Range {
        since: question.since,
        until: question.until,
        project: reading.project(arguments.project.as_deref(), environment)?,
        agent: arguments.agent.map(agent_of),
        ..Range::default()
    };
    match arguments.period {
        PeriodName::Daily => by_time(question, reading, &range, UsageBy::Day),
        PeriodName::Weekly => by_time(question, reading, &range, UsageBy::Week),
        PeriodName::Monthly => by_time(question, reading, &range, UsageBy::Month),
        PeriodName::Session => sessions(question, reading, &range),
        PeriodName::Blocks => blocks(question, reading, &range),
    }
}

fn list(
    question: &Question<'_>,
    reading: &Reading,
    range: &Range,
    by: UsageBy,
) -> Result<Vec<UsageBucket>, Failure> {
    let page = reading.list(None, None, |store, paging| {
        store.usage(&Range { paging, ..range.clone() }, by, question.zone)
    })?;
    Ok(page.items)
}

fn by_of(by: ByName) -> UsageBy {
    match by {
        ByName::Model => UsageBy::Model,
        ByName::Project => UsageBy::Project,
        ByName::Agent => UsageBy::Agent,
        ByName::Skill => UsageBy::Skill,
    }
}

/// Returns the usage between two times, in the requested groups.
fn parts(
    question: &Question<'_>,
    reading: &Reading,
    range: &Range,
    (from, to): (Millis, Millis),
) -> Result<Vec<UsagePart>, Failure> {
    let Some(by) = question.arguments.by.map(by_of) else { return Ok(Vec::new()) };
    // The range cuts the first and the last part too, or parts would add up to more than their line.
    let since = Some(range.since.map_or(from, |since| since.max(from)));
    let until = Some(range.until.map_or(to, |until| until.min(to)));
    let part = Range { since, until, ..range.clone() };
    let buckets = list(question, reading, &part, by)?;
    Ok(buckets.into_iter().map(|bucket| UsagePart { key: bucket.key, usage: bucket.usage }).collect())
}

fn by_time(
    question: &Question<'_>,
    reading: &Reading,
    range: &Range,
    by: UsageBy,
) -> Result<Vec<Item>, Failure> {
    let mut items = Vec::new();
    for bucket in list(question, reading, range, by)? {
        let span = question.zone.stretch(&bucket.key, question.arguments.period);
        let parts = match span.filter(|_| question.arguments.by.is_some()) {
            Some(span) => parts(question, reading, range, span)?,
            None => Vec::new(),
        };
        items.push(Item {
            key: bucket.key,
            label: None,
            usage: bucket.usage,
            parts,
            agents: Vec::new(),
            block: None,
        });
    }
    Ok(items)
}

fn blocks(question: &Question<'_>, reading: &Reading, range: &Range) -> Result<Vec<Item>, Failure> {
    let page = reading
        .list(None, None, |store, paging| store.blocks(question.now, &Range { paging, ..range.clone() }))?;
    let mut items = Vec::new();
    for block in page.items.into_iter().rev() {
        items.push(Item {
            key: block.started_at.to_string(),
            label: None,
            parts: parts(question, reading, range, (block.started_at, block.ends_at))?,
            usage: block.usage,
            agents: Vec::new(),
            block: Some(Window {
                ends_at: block.ends_at,
                is_active: block.is_active,
                forecast: block.forecast,
            }),
        });
    }
    Ok(items)
}

fn sessions(question: &Question<'_>, reading: &Reading, range: &Range) -> Result<Vec<Item>, Failure> {
    let filter = TaskFilter {
        since: range.since,
        until: range.until,
        project: range.project.clone(),
        agent: range.agent,
        // Subagents are in the numbers of their session.
        kind: Some(TaskKind::Primary),
        ..TaskFilter::default()
    };
    let page = reading.list(None, None, |store, paging| {
        store.tasks(question.now, &TaskFilter { paging, ..filter.clone() })
    })?;
    let mut items = Vec::new();
    for task in page.items.into_iter().rev() {
        let mut parts = Vec::new();
        let mut agents = Vec::new();
        if let (Some(store), Some(id)) = (reading.store(), TaskId::parse(&task.id)) {
            if let Some(by) = question.arguments.by {
                let buckets = store.task_usage(&id, by_of(by)).map_err(crate::reading::refused)?;
                parts = buckets
                    .items
                    .into_iter()
                    .map(|bucket| UsagePart { key: bucket.key, usage: bucket.usage })
                    .collect();
            }
            if question.arguments.json {
                let tree = store.tree(question.now, &id).map_err(crate::reading::refused)?;
                agents = tree
                    .items
                    .into_iter()
                    .filter(|node| node.depth > 0)
                    .map(|node| UsagePart { key: node.task.runtime_session_id, usage: node.task.usage })
                    .collect();
            }
        }
        items.push(Item {
            key: task.runtime_session_id,
            label: Some(task.title).filter(|title| !title.is_empty()),
            usage: task.tree_usage,
            parts,
            agents,
            block: None,
        });
    }
    items.retain(|item| item.usage != agent_tracer_ledger::view::UsageView::default());
    Ok(items)
}
