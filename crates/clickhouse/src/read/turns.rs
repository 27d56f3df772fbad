//! Turns, to-dos, the context chart, files and the numbers of one task.

use std::collections::{BTreeMap, HashMap, HashSet};

use agent_tracer_event::{CallState, Channel, Kind, Millis, TaskId};
use agent_tracer_ledger::engine::cursor::{self, List as Listing};
use agent_tracer_ledger::engine::silence;
use agent_tracer_ledger::engine::spent::{Spent, count};
use agent_tracer_ledger::project::context::{is_measure, point};
use agent_tracer_ledger::project::row::channels_of;
use agent_tracer_ledger::project::tally::Dim;
use agent_tracer_ledger::project::{FactRow, List};
use agent_tracer_ledger::view::{
    ContextPoint, FileUse, FileUser, Page, SessionView, TaskStatus, TaskSummary, Todo, TodoStep, Turn,
};
use agent_tracer_ledger::{Answer, Paging, QueryError};
use clickhouse::Row;
use serde::Deserialize;

use super::fact::{About, Stored};
use super::{Key, Reader, keys_in};
use crate::write::TaskLine;

/// More changes of to-dos than this are not shown: the newest are.
const MOST_TODOS: u32 = 1_500;

/// More starts and ends of a process than this are not shown.
const MOST_SESSIONS: u32 = 500;

/// A chart has no more points than this.
const MOST_POINTS: usize = 1_500;

/// What one turn spent.
#[derive(Row, Deserialize)]
struct TurnSums {
    turn: i64,
    calls: i64,
    failures: i64,
    input: i64,
    output: i64,
    cache_read: i64,
    cache_write: i64,
    reasoning: i64,
    cost: i64,
    responses: i64,
    unpriced: i64,
}

/// What a task did with a file.
#[derive(Row, Deserialize)]
struct Used {
    owner: String,
    task: String,
    path: String,
    reads: i64,
    changes: i64,
    failures: i64,
    first: i64,
    last: i64,
}

const IN_ORDER: &str = "ORDER BY occurred, ord, fact";

fn said(row: &FactRow) -> Option<String> {
    row.data.body.clone().or_else(|| Some(row.data.title.clone())).filter(|text| !text.is_empty())
}

/// A number for a path that stands in cursors: the same in every process.
fn stable(path: &str) -> i64 {
    let hash = path.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash.cast_signed()
}

impl Reader {
    fn list_of(&self, key: &Key, list: List, rest: &str) -> Answer<Vec<Stored>> {
        self.facts(&format!("WHERE (owner, task) IN {} AND list = {} {rest}", keys_in([key]), list.code()))
    }

    fn about(&self, line: &TaskLine) -> Answer<About> {
        self.abouts(std::slice::from_ref(line))?.remove(&line.key()).ok_or(QueryError::NotFound)
    }

    /// A page of turns, oldest first.
    ///
    /// # Errors
    /// If there is no such task, the cursor is none of this list, or the database cannot answer.
    pub fn turns(&self, id: &TaskId, paging: &Paging) -> Answer<Page<Turn>> {
        let line = self.line(id)?;
        let after = cursor::place::<3>(Listing::Turns, paging)?;
        let key = line.key();
        let about = self.about(&line)?;
        let all: Vec<(u64, Stored)> = (1..).zip(self.list_of(&key, List::Turn, IN_ORDER)?).collect();
        let place = |stored: &Stored| [stored.row.occurred, stored.row.order, stored.row.fact];
        let rest = all.into_iter().filter(|(_, turn)| after.is_none_or(|after| place(turn) > after));
        let page =
            cursor::cut(Listing::Turns, cursor::limit(paging), rest.collect(), |(_, turn)| place(turn));
        let mut prompts: HashMap<i64, FactRow> = HashMap::new();
        for stored in self.list_of(&key, List::Prompt, IN_ORDER)? {
            if let Some(turn) = stored.row.turn {
                prompts.entry(turn).or_insert(stored.row);
            }
        }
        let mut ends: HashMap<i64, FactRow> = HashMap::new();
        for stored in self.list_of(&key, List::Stop, IN_ORDER)? {
            if let Some(turn) = stored.row.turn {
                ends.insert(turn, stored.row);
            }
        }
        let sums = self.rows::<TurnSums>(&format!(
            "SELECT assumeNotNull(turn) AS turn, toInt64(sum(is_call)) AS calls, toInt64(sum(failed)) AS failures, \
             sum(input) AS input, sum(output) AS output, sum(cache_read) AS cache_read, sum(cache_write) AS cache_write, \
             sum(reasoning) AS reasoning, sum(cost) AS cost, sum(responses) AS responses, sum(unpriced) AS unpriced \
             FROM fact FINAL WHERE (owner, task) IN {} AND turn IS NOT NULL AND kind <> '' GROUP BY turn",
            keys_in([&key])
        ))?;
        let sums: HashMap<i64, TurnSums> = sums.into_iter().map(|sums| (sums.turn, sums)).collect();
        let items = page.items.iter().map(|(number, stored)| {
            let fact = stored.row.fact;
            turn(&about, &stored.row, *number, prompts.get(&fact), ends.get(&fact), sums.get(&fact))
        });
        Ok(Page { items: items.collect(), next_cursor: page.next_cursor })
    }

    /// The to-dos of a task, in the order in which they first came up.
    ///
    /// # Errors
    /// If there is no such task, or the database cannot answer.
    pub fn todos(&self, id: &TaskId) -> Answer<Page<Todo>> {
        let line = self.line(id)?;
        let about = self.about(&line)?;
        let rest = format!("ORDER BY occurred DESC, ord DESC, fact DESC LIMIT {MOST_TODOS}");
        let mut changes = self.list_of(&line.key(), List::Todo, &rest)?;
        changes.reverse();
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut todos: Vec<Todo> = Vec::new();
        for Stored { row, .. } in &changes {
            let text = |key: &str| row.text(key).filter(|text| !text.is_empty());
            let number = || row.meta("todoId").filter(|id| id.is_number()).map(ToString::to_string);
            let name = text("todoId").map(str::to_owned).or_else(number);
            // Before the agent has named it, a to-do is known by what it says.
            let Some(name) = name.or_else(|| text("subject").map(str::to_owned)) else { continue };
            let place = *places.entry(name.clone()).or_insert_with(|| {
                todos.push(Todo {
                    todo_id: name,
                    task_id: about.uid.to_string(),
                    subject: String::new(),
                    state: "added".to_owned(),
                    history: Vec::new(),
                });
                todos.len() - 1
            });
            let Some(todo) = todos.get_mut(place) else { continue };
            if let Some(subject) = text("subject") {
                subject.clone_into(&mut todo.subject);
            } else if todo.subject.is_empty() {
                todo.subject.clone_from(&row.data.title);
            }
            let state = text("todoState").unwrap_or("added").to_owned();
            if todo.history.last().is_none_or(|last| last.state != state) {
                let id = about.row_id(row.fact);
                todo.history.push(TodoStep { state: state.clone(), at: Millis(row.occurred), id });
            }
            todo.state = state;
        }
        Ok(Page::whole(todos))
    }

    /// A page of the context chart, oldest first; without a cursor and a limit the whole chart.
    ///
    /// # Errors
    /// If there is no such task, the cursor is none of this list, or the database cannot answer.
    pub fn context(&self, id: &TaskId, paging: &Paging) -> Answer<Page<ContextPoint>> {
        let line = self.line(id)?;
        let after = cursor::place::<3>(Listing::Context, paging)?;
        let about = self.about(&line)?;
        let is_whole = paging.limit == 0 && after.is_none();
        let limit = if is_whole { usize::MAX } else { cursor::limit(paging) };
        let place = |stored: &Stored| [stored.row.occurred, stored.row.order, stored.row.fact];
        // Thinned as a whole, whatever the page, so that pages together are the chart.
        let mut marks = self.list_of(&line.key(), List::Context, IN_ORDER)?;
        // Where the client never said how full its window was, its responses do.
        if !marks.iter().any(|mark| is_measure(mark.row.kind, mark.row.list)) {
            marks.extend(self.list_of(&line.key(), List::Response, IN_ORDER)?);
            marks.sort_by_key(place);
        }
        let mut marks = thinned(marks);
        marks.retain(|mark| after.is_none_or(|after| place(mark) > after));
        let page = cursor::cut(Listing::Context, limit, marks, place);
        let items = page
            .items
            .iter()
            .filter_map(|stored| point(about.row_id(stored.row.fact), &stored.row))
            .collect();
        Ok(Page { items, next_cursor: page.next_cursor })
    }

    /// What each of these tasks did with each file.
    fn used(&self, family: &[TaskLine]) -> Answer<Vec<Used>> {
        let keys: Vec<Key> = family.iter().map(TaskLine::key).collect();
        self.rows::<Used>(&format!(
            "SELECT owner, task, path, sum(reads) AS reads, sum(changes) AS changes, \
             toInt64(sum(failed)) AS failures, min(occurred) AS first, max(occurred) AS last \
             FROM (SELECT owner, task, occurred, failed, dim, path, reads, changes FROM fact FINAL \
                   ARRAY JOIN sums.dim AS dim, sums.key AS path, sums.n AS reads, sums.failures AS changes \
                   WHERE (owner, task) IN {} AND dim = {}) GROUP BY owner, task, path",
            keys_in(&keys),
            Dim::File.code()
        ))
    }

    /// The files of a task, and of its subagents if they are wanted: those used most first.
    ///
    /// # Errors
    /// If there is no such task, the cursor is none of this list, or the database cannot answer.
    pub fn task_files(&self, id: &TaskId, tree: bool, paging: &Paging) -> Answer<Page<FileUse>> {
        let family = self.family(id, tree)?;
        let types: HashMap<Key, &str> =
            family.iter().map(|line| (line.key(), line.agent_type.as_str())).collect();
        let mut files: BTreeMap<String, FileUse> = BTreeMap::new();
        for used in self.used(&family)? {
            let (first, last) = (Millis(used.first), Millis(used.last));
            let file = files.entry(used.path.clone()).or_insert_with(|| FileUse {
                path: used.path.clone(),
                reads: 0,
                changes: 0,
                failures: 0,
                first_at: first,
                last_at: last,
                by: Vec::new(),
            });
            file.reads += count(used.reads);
            file.changes += count(used.changes);
            file.failures += count(used.failures);
            file.first_at = file.first_at.min(first);
            file.last_at = file.last_at.max(last);
            let key = Key { owner: used.owner, task: used.task };
            file.by.push(FileUser {
                agent_type: types.get(&key).map(|text| (*text).to_owned()).unwrap_or_default(),
                task_id: key.task,
                count: count(used.reads + used.changes),
            });
        }
        let mut files: Vec<FileUse> = files.into_values().collect();
        for file in &mut files {
            file.by.sort_by(|one, two| two.count.cmp(&one.count).then_with(|| one.task_id.cmp(&two.task_id)));
        }
        cursor::page(Listing::TaskFiles, paging, files, |file| {
            [-i64::try_from(file.reads + file.changes).unwrap_or(i64::MAX), stable(&file.path)]
        })
    }

    /// The numbers of a task with its subagents.
    ///
    /// # Errors
    /// If there is no such task, or the database cannot answer.
    pub fn summary(&self, now: Millis, id: &TaskId) -> Answer<TaskSummary> {
        let family = self.family(id, true)?;
        let Some(own) = family.first() else { return Err(QueryError::NotFound) };
        let key = own.key();
        let mut spent = Spent { client_cost: own.client_cost, ..Spent::default() };
        let (mut last, mut waiting, mut calls, mut failures) = (own.last, 0_i64, 0, 0);
        for member in &family {
            spent += &member.spent();
            last = last.max(member.last);
            waiting = waiting.saturating_add(member.wait_ms);
            calls += member.calls;
            failures += member.failures;
        }
        let keys: Vec<Key> = family.iter().map(TaskLine::key).collect();
        let permissions: Vec<u64> = self.rows(&format!(
            "SELECT count() FROM fact FINAL WHERE (owner, task) IN {} AND list = {}",
            keys_in(&keys),
            List::Permission.code()
        ))?;
        let used = self.used(&family)?;
        let distinct = |times: fn(&Used) -> i64| {
            used.iter().filter(|used| times(used) > 0).map(|used| &used.path).collect::<HashSet<_>>().len()
        };
        let is_running = silence::shown(own.kept(false), now.0).0 == TaskStatus::Running;
        let about = self.about(own)?;
        Ok(TaskSummary {
            task_id: own.task.clone(),
            duration_ms: count(last.saturating_sub(own.started)),
            active_ms: self.active(&key, if is_running { last } else { i64::MIN })?,
            waiting_ms: count(waiting),
            turns: count(own.turns),
            tool_calls: count(calls),
            failures: count(failures),
            files_read: distinct(|used| used.reads) as u64,
            files_changed: distinct(|used| used.changes) as u64,
            permissions: permissions.first().copied().unwrap_or(0),
            compactions: self.compactions(&key)?,
            agents: family.len().saturating_sub(1) as u64,
            usage: spent.view(),
            sessions: self.sessions(&key, &about, own.started)?,
        })
    }

    /// How long turns ran. One that has not ended runs until `open_until`; two at once count once.
    fn active(&self, key: &Key, open_until: i64) -> Answer<u64> {
        let (mut sum, mut reached) = (0_i64, i64::MIN);
        for turn in self.list_of(key, List::Turn, IN_ORDER)? {
            let ended = turn.row.ended.unwrap_or(open_until);
            sum = sum.saturating_add(ended.saturating_sub(turn.row.occurred.max(reached)).max(0));
            reached = reached.max(ended);
        }
        Ok(count(sum))
    }

    /// How often the context was compacted: the channel that tells of more is believed.
    fn compactions(&self, key: &Key) -> Answer<u64> {
        let mut by_channel: HashMap<Channel, u64> = HashMap::new();
        let told = self.list_of(key, List::Context, "")?;
        let told = told.iter().filter(|stored| stored.row.kind == Some(Kind::ContextSaved));
        for stored in told.filter(|stored| stored.row.text("compactPhase") == Some("after")) {
            for channel in channels_of(stored.row.channels) {
                *by_channel.entry(channel).or_default() += 1;
            }
        }
        Ok(by_channel.into_values().max().unwrap_or(0))
    }

    /// The stays of the process: each begins with the task or with a resume, and ends with the last end before the next.
    fn sessions(&self, key: &Key, about: &About, started: i64) -> Answer<Vec<SessionView>> {
        let select = |list| self.list_of(key, list, &format!("{IN_ORDER} LIMIT {MOST_SESSIONS}"));
        let text = |stored: &Stored, key: &str| stored.row.text(key).map(str::to_owned);
        let view = |id, at, source| SessionView {
            id,
            started_at: Millis(at),
            ended_at: None,
            source,
            completion_reason: None,
        };
        let mut sessions: Vec<SessionView> = Vec::new();
        for start in select(List::SessionStart)? {
            let id = about.stay(start.row.occurred).to_string();
            let source = text(&start, "sessionSource");
            match sessions.iter_mut().find(|session| session.id == id) {
                Some(session) => session.source = session.source.take().or(source),
                None => sessions.push(view(id, start.row.occurred, source)),
            }
        }
        let first = about.stay(started).to_string();
        match sessions.first_mut().filter(|session| session.id == first) {
            Some(session) => session.started_at = Millis(started),
            None => sessions.insert(0, view(first, started, None)),
        }
        for end in select(List::SessionEnd)? {
            let id = about.stay(end.row.occurred).to_string();
            if let Some(session) = sessions.iter_mut().find(|session| session.id == id) {
                session.ended_at = Some(Millis(end.row.occurred));
                session.completion_reason = text(&end, "completionReason");
            }
        }
        Ok(sessions)
    }
}

fn turn(
    about: &About,
    row: &FactRow,
    number: u64,
    prompt: Option<&FactRow>,
    end: Option<&FactRow>,
    sums: Option<&TurnSums>,
) -> Turn {
    let text =
        |key: &str, other: Option<&FactRow>| row.text(key).or_else(|| other?.text(key)).map(str::to_owned);
    let ours = row.ended.and_then(|ended| u64::try_from(ended.saturating_sub(row.occurred)).ok());
    let spent = sums.map_or_else(Spent::default, |sums| Spent {
        input: sums.input,
        output: sums.output,
        cache_read: sums.cache_read,
        cache_write: sums.cache_write,
        reasoning: sums.reasoning,
        cost: sums.cost,
        responses: sums.responses,
        unpriced: sums.unpriced,
        ..Spent::default()
    });
    Turn {
        id: about.turn_id(row.fact),
        task_id: about.uid.to_string(),
        number,
        prompt: prompt.and_then(said),
        prompt_origin: text("promptOrigin", prompt),
        started_at: Millis(row.occurred),
        ended_at: row.ended.map(Millis),
        duration_ms: row.duration.and_then(|duration| u64::try_from(duration).ok()).or(ours),
        state: row.state.unwrap_or(CallState::Running).to_string(),
        stop_reason: end
            .and_then(|end| end.text("stopReason").map(str::to_owned))
            .or_else(|| text("stopReason", None)),
        answer: end.and_then(said),
        tool_call_count: count(sums.map_or(0, |sums| sums.calls)),
        failure_count: count(sums.map_or(0, |sums| sums.failures)),
        usage: spent.view(),
    }
}

/// Leaves out snapshots, evenly, until a chart can show what is left.
fn thinned(mut marks: Vec<Stored>) -> Vec<Stored> {
    let is_snapshot = |mark: &Stored| is_measure(mark.row.kind, mark.row.list);
    let snapshots = marks.iter().filter(|mark| is_snapshot(mark)).count();
    let room = MOST_POINTS.saturating_sub(marks.len() - snapshots).max(MOST_POINTS / 2);
    let every = snapshots.div_ceil(room).max(1);
    let mut seen = 0;
    marks.retain(|mark| {
        if !is_snapshot(mark) {
            return true;
        }
        seen += 1;
        seen == 1 || seen == snapshots || seen % every == 0
    });
    marks
}
