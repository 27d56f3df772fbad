//! The lists of one task: its timeline, and the pages that show a part of it in their own words.

use std::rc::Rc;

use agent_tracer_event::{CallState, Millis, TaskId};
use rusqlite::Connection;
use serde_json::Value;

use super::row::{About, RowBuilder};
use super::stream::{self, Source};
use super::task;
use crate::project::row::channels_of;
use crate::project::{FactRow, List};
use crate::sqlite::facts::Stored;
use crate::store::{Answer, RowFilter};
use crate::view::{CommandRun, Exploration, Page, Permission, Question, Row, ToolCall, WebLookup};

/// The lists that tool calls stand in.
const CALLS: [List; 6] =
    [List::Question, List::Todo, List::Command, List::Exploration, List::Web, List::Call];

/// The streams of these lists (none: the whole timeline) of a task, and of all its subagents if they are wanted.
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

/// A page of rows out of some lists, each made into what the page shows. What the lists hold beside that is left out.
fn page<T>(
    conn: &Connection,
    id: &TaskId,
    lists: &[List],
    filter: &RowFilter,
    mut show: impl FnMut(&Stored, &About) -> Option<T>,
) -> Answer<Page<T>> {
    let page = stream::page(conn, &sources(conn, id, lists, filter.tree)?, filter)?;
    let mut builder = RowBuilder::new(conn);
    let mut items = Vec::with_capacity(page.items.len());
    for stored in &page.items {
        let about: Rc<About> = builder.about(stored.task)?;
        items.extend(show(stored, &about));
    }
    Ok(Page { items, next_cursor: page.next_cursor })
}

/// A whole number of the metadata that cannot be negative.
pub(crate) fn number(row: &FactRow, key: &str) -> Option<u64> {
    row.meta(key)?.as_u64()
}

fn owned(row: &FactRow, key: &str) -> Option<String> {
    row.text(key).map(str::to_owned)
}

/// How long a call took.
pub(crate) fn duration(row: &FactRow) -> Option<u64> {
    row.duration.and_then(|duration| u64::try_from(duration).ok())
}

/// The timeline.
pub(crate) fn timeline(conn: &Connection, id: &TaskId, filter: &RowFilter) -> Answer<Page<Row>> {
    let page = stream::page(conn, &sources(conn, id, &[], filter.tree)?, filter)?;
    let mut builder = RowBuilder::new(conn);
    let mut items = Vec::with_capacity(page.items.len());
    for stored in &page.items {
        items.push(builder.row(&stored.row, stored.task, stored.changed)?);
    }
    Ok(Page { items, next_cursor: page.next_cursor })
}

/// Tool calls.
pub(crate) fn tool_calls(conn: &Connection, id: &TaskId, filter: &RowFilter) -> Answer<Page<ToolCall>> {
    page(conn, id, &CALLS, filter, |stored, about| {
        let row = &stored.row;
        Some(ToolCall {
            id: about.row_id(row.fact),
            tool_use_id: row.data.tool_use_id.clone(),
            task_id: about.uid.to_string(),
            agent_id: row.data.agent_id.clone(),
            turn_id: row.turn.map(|turn| about.turn_id(turn)),
            tool_name: row.tool.clone()?,
            state: row.state?,
            started_at: Millis(row.occurred),
            ended_at: row.ended.map(Millis),
            duration_ms: duration(row),
            duration_source: owned(row, "durationSource"),
            permission_wait_ms: number(row, "permissionWaitMs"),
            exit_code: row.meta("exitCode").and_then(Value::as_i64),
            error_class: row.error.map(|class| class.to_string()).or_else(|| owned(row, "errorClass")),
            title: row.data.title.clone(),
            channels: channels_of(row.channels),
        })
    })
}

/// Shell commands.
pub(crate) fn commands(conn: &Connection, id: &TaskId, filter: &RowFilter) -> Answer<Page<CommandRun>> {
    page(conn, id, &[List::Command], filter, |stored, about| {
        let row = &stored.row;
        let analysis = |key: &str| row.meta("commandAnalysis").and_then(|analysis| analysis.get(key));
        let command = owned(row, "command").or_else(|| analysis("raw")?.as_str().map(str::to_owned));
        Some(CommandRun {
            id: about.row_id(row.fact),
            task_id: about.uid.to_string(),
            title: row.data.title.clone(),
            command: command.unwrap_or_default(),
            effect: analysis("overallEffect").and_then(Value::as_str).unwrap_or("unknown").to_owned(),
            failure_masked: analysis("failureMasked").and_then(Value::as_bool).unwrap_or(false),
            state: row.state.unwrap_or(CallState::Running),
            exit_code: row.meta("exitCode").and_then(Value::as_i64),
            error_class: row.error.map(|class| class.to_string()).or_else(|| owned(row, "errorClass")),
            occurred_at: Millis(row.occurred),
            duration_ms: duration(row),
        })
    })
}

/// Reads, searches and look-ups, those in the web included.
pub(crate) fn exploration(conn: &Connection, id: &TaskId, filter: &RowFilter) -> Answer<Page<Exploration>> {
    page(conn, id, &[List::Exploration, List::Web], filter, |stored, about| {
        let row = &stored.row;
        Some(Exploration {
            id: about.row_id(row.fact),
            task_id: about.uid.to_string(),
            what: owned(row, "subtypeKey").unwrap_or_else(|| "uncategorized".to_owned()),
            title: row.data.title.clone(),
            tool_name: row.tool.clone(),
            file_paths: row.data.file_paths.clone(),
            offset: number(row, "readOffset"),
            limit: number(row, "readLimit"),
            pattern: owned(row, "searchPattern").or_else(|| owned(row, "webQuery")),
            scope: owned(row, "searchPath").or_else(|| owned(row, "searchGlob")),
            mode: owned(row, "grepOutputMode"),
            occurred_at: Millis(row.occurred),
            duration_ms: duration(row),
            state: row.state,
        })
    })
}

/// Look-ups in the web.
pub(crate) fn web(conn: &Connection, id: &TaskId, filter: &RowFilter) -> Answer<Page<WebLookup>> {
    page(conn, id, &[List::Web], filter, |stored, about| {
        let row = &stored.row;
        let urls: Vec<String> = match row.meta("webUrls") {
            Some(Value::Array(urls)) => urls.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        let mut domains: Vec<String> = urls.iter().filter_map(|url| host(url)).map(str::to_owned).collect();
        domains.sort();
        domains.dedup();
        Some(WebLookup {
            id: about.row_id(row.fact),
            task_id: about.uid.to_string(),
            what: owned(row, "subtypeKey").unwrap_or_default(),
            title: row.data.title.clone(),
            query: owned(row, "webQuery"),
            prompt: owned(row, "webPrompt"),
            urls,
            domains,
            occurred_at: Millis(row.occurred),
            duration_ms: duration(row),
            state: row.state,
        })
    })
}

/// The host of an address.
fn host(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.strip_prefix('[') {
        Some(inside) => inside.split(']').next()?,
        None => host.split(':').next()?,
    };
    Some(host).filter(|host| !host.is_empty())
}

/// Permissions that were asked for.
pub(crate) fn permissions(conn: &Connection, id: &TaskId, filter: &RowFilter) -> Answer<Page<Permission>> {
    page(conn, id, &[List::Permission], filter, |stored, about| {
        let row = &stored.row;
        Some(Permission {
            id: about.row_id(row.fact),
            task_id: about.uid.to_string(),
            tool_name: row.tool.clone().or_else(|| owned(row, "toolName")),
            tool_use_id: row.data.tool_use_id.clone().or_else(|| owned(row, "toolUseId")),
            call_id: owned(row, "callId"),
            title: row.data.title.clone(),
            decision: owned(row, "decision"),
            occurred_at: Millis(row.occurred),
            wait_ms: number(row, "waitMs"),
        })
    })
}

/// Questions to people.
pub(crate) fn questions(conn: &Connection, id: &TaskId, filter: &RowFilter) -> Answer<Page<Question>> {
    page(conn, id, &[List::Question], filter, |stored, about| {
        let row = &stored.row;
        let questions = match row.meta("questions") {
            Some(Value::Array(questions)) => questions.clone(),
            _ => Vec::new(),
        };
        Some(Question {
            id: about.row_id(row.fact),
            task_id: about.uid.to_string(),
            title: row.data.title.clone(),
            questions,
            phase: owned(row, "questionPhase").unwrap_or_else(|| "asked".to_owned()),
            answer_count: number(row, "answerCount"),
            occurred_at: Millis(row.occurred),
            wait_ms: number(row, "waitMs").or_else(|| duration(row)),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::host;

    #[test]
    fn the_host_of_an_address_is_found() {
        for (url, expected) in [
            ("https://docs.rs/rusqlite/latest?x#y", Some("docs.rs")),
            ("http://user:word@host.example:8080/", Some("host.example")),
            ("http://[::1]:4747/health", Some("::1")),
            ("https://example.com", Some("example.com")),
            ("https:///nothing", None),
            ("no address", None),
        ] {
            assert_eq!(host(url), expected, "{url}");
        }
    }
}
