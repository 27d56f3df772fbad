//! The lists of one task: its timeline, and the pages that show a part of it in their own words.

use agent_tracer_event::{CallState, Kind, Lane, Millis, TaskId};
use agent_tracer_ledger::engine::cursor::{self, List as Listing};
use agent_tracer_ledger::project::row::channels_of;
use agent_tracer_ledger::project::{FactRow, List};
use agent_tracer_ledger::view::{
    CommandRun, Exploration, Page, Permission, Question, Row, ToolCall, WebLookup,
};
use agent_tracer_ledger::{Answer, RowFilter};
use serde_json::Value;

use super::fact::{About, Stored};
use super::task::PLACE;
use super::{Key, Reader, keys_in, texts_in};
use crate::write::TaskLine;

/// The lists that tool calls stand in.
const CALLS: [List; 6] =
    [List::Question, List::Todo, List::Command, List::Exploration, List::Web, List::Call];

fn listing(filter: &RowFilter) -> Listing {
    if filter.newest_first { Listing::RowsNewestFirst } else { Listing::Rows }
}

/// The numbers of lists behind `IN`.
fn numbers(lists: &[List]) -> String {
    let numbers: Vec<String> = lists.iter().map(|list| list.code().to_string()).collect();
    format!("({})", numbers.join(", "))
}

fn number(row: &FactRow, key: &str) -> Option<u64> {
    row.meta(key)?.as_u64()
}

fn owned(row: &FactRow, key: &str) -> Option<String> {
    row.text(key).map(str::to_owned)
}

fn duration(row: &FactRow) -> Option<u64> {
    row.duration.and_then(|duration| u64::try_from(duration).ok())
}

fn error_class(row: &FactRow) -> Option<String> {
    row.error.map(|class| class.to_string()).or_else(|| owned(row, "errorClass"))
}

impl Reader {
    /// A page of rows out of some lists (none: the whole timeline), in the order that people see.
    fn page_of(
        &self,
        id: &TaskId,
        lists: &[List],
        filter: &RowFilter,
    ) -> Answer<(Vec<TaskLine>, Page<Stored>)> {
        let family = self.family(id, filter.tree)?;
        let after = cursor::place::<4>(listing(filter), &filter.paging)?;
        let limit = cursor::limit(&filter.paging);
        let keys: Vec<Key> = family.iter().map(TaskLine::key).collect();
        let mut all = vec![format!("(owner, task) IN {}", keys_in(&keys))];
        all.push(match lists {
            [] => "kind <> ''".to_owned(),
            lists => format!("list IN {}", numbers(lists)),
        });
        all.extend(filter.since.map(|since| format!("occurred >= {}", since.0)));
        all.extend(filter.until.map(|until| format!("occurred < {}", until.0)));
        if !filter.lanes.is_empty() {
            let lanes: Vec<&str> = filter.lanes.iter().map(|lane: &Lane| lane.as_str()).collect();
            all.push(format!("lane IN {}", texts_in(&lanes)));
        }
        if !filter.kinds.is_empty() {
            let kinds: Vec<&str> = filter.kinds.iter().map(|kind: &Kind| kind.as_str()).collect();
            all.push(format!("kind IN {}", texts_in(&kinds)));
        }
        let (sign, way) = if filter.newest_first { ("<", "DESC") } else { (">", "ASC") };
        if let Some([occurred, order, fact, task]) = after {
            all.push(format!("(occurred, ord, fact, {PLACE}) {sign} ({occurred}, {order}, {fact}, {task})"));
        }
        let found = self.facts(&format!(
            "WHERE {} ORDER BY occurred {way}, ord {way}, fact {way}, {PLACE} {way} LIMIT {}",
            all.join(" AND "),
            limit + 1
        ))?;
        let page = cursor::cut(listing(filter), limit, found, |stored| {
            [stored.row.occurred, stored.row.order, stored.row.fact, stored.place]
        });
        Ok((family, page))
    }

    /// A page, each row made into what the page shows. What the lists hold beside that is left out.
    fn page<T>(
        &self,
        id: &TaskId,
        lists: &[List],
        filter: &RowFilter,
        mut show: impl FnMut(&Stored, &About) -> Option<T>,
    ) -> Answer<Page<T>> {
        let (family, page) = self.page_of(id, lists, filter)?;
        let abouts = self.abouts(&family)?;
        let items = page
            .items
            .iter()
            .filter_map(|stored| abouts.get(&stored.key).and_then(|about| show(stored, about)))
            .collect();
        Ok(Page { items, next_cursor: page.next_cursor })
    }

    /// The timeline.
    ///
    /// # Errors
    /// If there is no such task, the cursor is none of this list, or the database cannot answer.
    pub fn timeline(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<Row>> {
        self.page(id, &[], filter, |stored, about| Some(about.row(stored)))
    }

    /// Tool calls.
    ///
    /// # Errors
    /// As [`Reader::timeline`].
    pub fn tool_calls(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<ToolCall>> {
        self.page(id, &CALLS, filter, |stored, about| {
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
                error_class: error_class(row),
                title: row.data.title.clone(),
                channels: channels_of(row.channels),
            })
        })
    }

    /// Shell commands.
    ///
    /// # Errors
    /// As [`Reader::timeline`].
    pub fn task_commands(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<CommandRun>> {
        self.page(id, &[List::Command], filter, |stored, about| {
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
                error_class: error_class(row),
                occurred_at: Millis(row.occurred),
                duration_ms: duration(row),
            })
        })
    }

    /// Reads, searches and look-ups, those in the web included.
    ///
    /// # Errors
    /// As [`Reader::timeline`].
    pub fn exploration(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<Exploration>> {
        self.page(id, &[List::Exploration, List::Web], filter, |stored, about| {
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
    ///
    /// # Errors
    /// As [`Reader::timeline`].
    pub fn web(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<WebLookup>> {
        self.page(id, &[List::Web], filter, |stored, about| {
            let row = &stored.row;
            let urls: Vec<String> = match row.meta("webUrls") {
                Some(Value::Array(urls)) => {
                    urls.iter().filter_map(Value::as_str).map(str::to_owned).collect()
                }
                _ => Vec::new(),
            };
            let mut domains: Vec<String> =
                urls.iter().filter_map(|url| host(url)).map(str::to_owned).collect();
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

    /// Permissions that were asked for.
    ///
    /// # Errors
    /// As [`Reader::timeline`].
    pub fn permissions(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<Permission>> {
        self.page(id, &[List::Permission], filter, |stored, about| {
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
    ///
    /// # Errors
    /// As [`Reader::timeline`].
    pub fn questions(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<Question>> {
        self.page(id, &[List::Question], filter, |stored, about| {
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
