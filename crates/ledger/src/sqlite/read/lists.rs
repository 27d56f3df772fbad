//! The lists of one task: its timeline, and the pages that show a part of it in their own words.

use std::rc::Rc;

use agent_tracer_event::TaskId;
use rusqlite::Connection;

use super::row::RowBuilder;
use super::stream::{self, Source};
use super::task;
use crate::project::presenters::{self, About};
use crate::project::{FactRow, List};
use crate::store::{Answer, RowFilter};
use crate::view::{CommandRun, Exploration, Page, Permission, Question, Row, ToolCall, WebLookup};

/// Returns the streams of these lists (none: the whole timeline) of a task, and of all its subagents if they are
/// wanted.
fn sources(conn: &Connection, id: &TaskId, lists: &[List], with_subagents: bool) -> Answer<Vec<Source>> {
    let root = task::number(conn, id)?;
    let family = if with_subagents { task::family(conn, root)? } else { vec![(root, 0)] };
    let mut sources = Vec::with_capacity(family.len() * lists.len().max(1));
    for (task, _) in family {
        match lists {
            [] => sources.push(Source { task, list: None }),
            lists => sources.extend(lists.iter().map(|list| Source { task, list: Some(*list) })),
        }
    }
    Ok(sources)
}

/// Returns a page of rows out of some lists, each made into what the page shows. What the lists hold beside that is
/// left out.
fn page<T>(
    conn: &Connection,
    id: &TaskId,
    lists: &[List],
    filter: &RowFilter,
    mut show: impl FnMut(&About, &FactRow) -> Option<T>,
) -> Answer<Page<T>> {
    let page = stream::page(conn, &sources(conn, id, lists, filter.tree)?, filter)?;
    let mut builder = RowBuilder::new(conn);
    let mut items = Vec::with_capacity(page.items.len());
    for stored in &page.items {
        let about: Rc<About> = builder.about(stored.task)?;
        items.extend(show(&about, &stored.row));
    }
    Ok(Page { items, next_cursor: page.next_cursor })
}

/// Returns the timeline.
pub(crate) fn timeline(conn: &Connection, id: &TaskId, filter: &RowFilter) -> Answer<Page<Row>> {
    let page = stream::page(conn, &sources(conn, id, &[], filter.tree)?, filter)?;
    let mut builder = RowBuilder::new(conn);
    let mut items = Vec::with_capacity(page.items.len());
    for stored in &page.items {
        items.push(builder.row(&stored.row, stored.task, stored.changed)?);
    }
    Ok(Page { items, next_cursor: page.next_cursor })
}

/// Returns tool calls.
pub(crate) fn tool_calls(conn: &Connection, id: &TaskId, filter: &RowFilter) -> Answer<Page<ToolCall>> {
    page(conn, id, &presenters::CALLS, filter, presenters::tool_call)
}

/// Returns shell commands.
pub(crate) fn commands(conn: &Connection, id: &TaskId, filter: &RowFilter) -> Answer<Page<CommandRun>> {
    page(conn, id, &[List::Command], filter, |about, row| Some(presenters::command_run(about, row)))
}

/// Reads, searches and look-ups, those in the web included.
pub(crate) fn exploration(conn: &Connection, id: &TaskId, filter: &RowFilter) -> Answer<Page<Exploration>> {
    page(conn, id, &[List::Exploration, List::Web], filter, |about, row| {
        Some(presenters::exploration(about, row))
    })
}

/// Returns look-ups in the web.
pub(crate) fn web(conn: &Connection, id: &TaskId, filter: &RowFilter) -> Answer<Page<WebLookup>> {
    page(conn, id, &[List::Web], filter, |about, row| Some(presenters::web_lookup(about, row)))
}

/// Permissions that were asked for.
pub(crate) fn permissions(conn: &Connection, id: &TaskId, filter: &RowFilter) -> Answer<Page<Permission>> {
    page(conn, id, &[List::Permission], filter, |about, row| Some(presenters::permission(about, row)))
}

/// Questions to people.
pub(crate) fn questions(conn: &Connection, id: &TaskId, filter: &RowFilter) -> Answer<Page<Question>> {
    page(conn, id, &[List::Question], filter, presenters::question)
}
