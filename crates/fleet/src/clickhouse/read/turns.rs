//! Turns, to-dos, the context chart, files and the numbers of one task.

use std::collections::{BTreeMap, HashMap, HashSet};

use agent_tracer_event::{Millis, TaskId};
use agent_tracer_ledger::engine::cursor::{self, List as Listing};
use agent_tracer_ledger::engine::staleness;
use agent_tracer_ledger::engine::usage_sum::{UsageSum, count};
use agent_tracer_ledger::project::List;
use agent_tracer_ledger::project::context::{is_measure, mark_switches, point};
use agent_tracer_ledger::project::measures::{FILE_CHANGES, FILE_READS};
use agent_tracer_ledger::project::presenters::{self, About, TimeSpan, TimeSplit, TurnActivity, TurnEdges};
use agent_tracer_ledger::project::spend::Spend;
use agent_tracer_ledger::project::tally::Dim;
use agent_tracer_ledger::view::{
    ContextPoint, FileUse, FileUser, Page, SessionView, TaskStatus, TaskSummary, Todo, Turn, UsageBucket,
};
use agent_tracer_ledger::{Answer, Paging, QueryError, TaskDetails, UsageBy};
use clickhouse::Row;
use serde::Deserialize;

use super::fact::StoredFact;
use super::family::{Member, TaskColumns};
use super::{Reader, TaskKey, keys_in};
use crate::clickhouse::spend_row::{SpendRow, spend_row};
use crate::clickhouse::write::TaskLine;

spend_row! {
    /// Sums the usage of one turn.
    #[derive(Row, Deserialize)]
    struct TurnSums {
        own {
            turn: i64,
            calls: i64,
            failures: i64,
        }
        spend { all }
    }
}

impl TurnSums {
    fn calls_and_usage(&self) -> TurnActivity {
        let usage = UsageSum::from(self.spend()).view();
        TurnActivity { calls: count(self.calls), failures: count(self.failures), usage }
    }
}

/// Sums the use of a file by a task.
#[derive(Row, Deserialize)]
struct TaskFileUse {
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

impl Reader {
    fn list_of(&self, key: &TaskKey, list: List, rest: &str) -> Answer<Vec<StoredFact>> {
        self.facts(&format!("WHERE (owner, task) IN {} AND list = {} {rest}", keys_in([key]), list.code()))
    }

    /// Returns the use of each file by each of these tasks.
    fn file_uses<T: TaskColumns>(&self, family: &[T]) -> Answer<Vec<TaskFileUse>> {
        let keys: Vec<TaskKey> = family.iter().map(TaskColumns::key).collect();
        self.rows::<TaskFileUse>(&format!(
            "SELECT owner, task, path, sum(reads) AS reads, sum(changes) AS changes, \
             toInt64(sum(failed)) AS failures, min(occurred) AS first, max(occurred) AS last \
             FROM (SELECT owner, task, occurred, failed, dim, path, reads, changes FROM fact FINAL \
                   ARRAY JOIN sums.dim AS dim, sums.key AS path, sums.{FILE_READS} AS reads, sums.{FILE_CHANGES} AS changes \
                   WHERE (owner, task) IN {} AND dim = {}) GROUP BY owner, task, path",
            keys_in(&keys),
            Dim::File.code()
        ))
    }

    /// Returns the start and end of the turns and further runs of the task.
    fn turn_spans(&self, own: &TaskLine) -> Answer<Vec<(i64, Option<i64>)>> {
        let key = own.key();
        let turns = self.list_of(&key, List::Turn, IN_ORDER)?;
        let mut turns: Vec<(i64, Option<i64>)> =
            turns.iter().map(|turn| (turn.row.occurred, turn.row.ended)).collect();
        if own.background != 0 {
            // A subagent that is continued has runs and no turns of its own.
            let (starts, ends) = (
                self.moments_of(&key, &presenters::RUN_STARTS)?,
                self.moments_of(&key, &presenters::RUN_ENDS)?,
            );
            turns.extend(presenters::runs(&starts, &ends));
        }
        Ok(turns)
    }

    /// Returns the times of the facts in these lists, in their order.
    fn moments_of(&self, key: &TaskKey, lists: &[List]) -> Answer<Vec<i64>> {
        let mut all = Vec::new();
        let rest = format!("{IN_ORDER} LIMIT {}", presenters::MOST_SESSIONS);
        for list in lists {
            all.extend(self.list_of(key, *list, &rest)?.iter().map(|stored| stored.row.occurred));
        }
        all.sort_unstable();
        Ok(all)
    }

    /// Returns whether a hook saw one of these tasks.
    fn is_hooked(&self, keys: &[TaskKey]) -> Answer<bool> {
        let lists: Vec<String> =
            presenters::HOOKED_LISTS.iter().map(|list| list.code().to_string()).collect();
        let found: Vec<u64> = self.rows(&format!(
            "SELECT count() FROM fact FINAL WHERE (owner, task) IN {} AND list IN ({}) AND bitAnd(channels, {}) <> 0",
            keys_in(keys),
            lists.join(", "),
            presenters::PERMISSION_CHANNELS
        ))?;
        Ok(found.first().is_some_and(|found| *found > 0))
    }

    /// Returns the times during which some tasks waited for people.
    fn waits(&self, keys: &[TaskKey]) -> Answer<Vec<TimeSpan>> {
        let lists: Vec<String> =
            presenters::WAITING_LISTS.iter().map(|list| list.code().to_string()).collect();
        let rest = format!("WHERE (owner, task) IN {} AND list IN ({})", keys_in(keys), lists.join(", "));
        Ok(self.facts(&rest)?.iter().filter_map(|stored| presenters::wait(&stored.row)).collect())
    }

    /// Returns the number of compactions of the context.
    fn compactions(&self, key: &TaskKey) -> Answer<u64> {
        let compactions = self.list_of(key, List::Context, "")?;
        Ok(presenters::compactions(compactions.iter().map(|stored| &stored.row)))
    }

    /// Returns the stays of the process.
    fn sessions(&self, key: &TaskKey, about: &About, started: i64) -> Answer<Vec<SessionView>> {
        let most = presenters::MOST_SESSIONS;
        let select = |list| self.list_of(key, list, &format!("{IN_ORDER} LIMIT {most}"));
        let (starts, ends) = (select(List::SessionStart)?, select(List::SessionEnd)?);
        let ends = ends.iter().map(|stored| &stored.row);
        Ok(presenters::sessions(about, started, starts.iter().map(|stored| &stored.row), ends))
    }
}

impl TaskDetails for Reader {
    /// Returns the numbers of a task with its subagents.
    fn summary(&self, now: Millis, id: &TaskId) -> Answer<TaskSummary> {
        let family: Vec<TaskLine> = self.family(id, true)?;
        let Some(own) = family.first() else { return Err(QueryError::NotFound) };
        let key = own.key();
        let mut spent = UsageSum { client_cost: own.client_cost, ..UsageSum::default() };
        let (mut last, mut calls, mut failures) = (own.last, 0, 0);
        for member in &family {
            spent += &member.own_usage();
            last = last.max(member.last);
            calls += member.calls;
            failures += member.failures;
        }
        let keys: Vec<TaskKey> = family.iter().map(TaskColumns::key).collect();
        let permissions: Vec<u64> = self.rows(&format!(
            "SELECT count() FROM fact FINAL WHERE (owner, task) IN {} AND list = {}",
            keys_in(&keys),
            List::Permission.code()
        ))?;
        let permissions = permissions.first().copied().unwrap_or(0);
        let used = self.file_uses(&family)?;
        let distinct = |times: fn(&TaskFileUse) -> i64| {
            used.iter().filter(|used| times(used) > 0).map(|used| &used.path).collect::<HashSet<_>>().len()
        };
        let is_running = staleness::present(own.reported_state(false), now.0).0 == TaskStatus::Running;
        let about = self.about(&Member::from(own))?;
        let turns = self.turn_spans(own)?;
        // A turn may end later than anything that happened in it: at its limit, or when its process was found gone.
        last = turns.iter().filter_map(|(_, ended)| *ended).fold(last, i64::max);
        let open_until = if is_running { last } else { i64::MIN };
        let time = TimeSplit::new((own.started, last), turns, self.waits(&keys)?, open_until);
        Ok(TaskSummary {
            task_id: own.task.clone(),
            duration_ms: count(last.saturating_sub(own.started)),
            active_ms: time.active_ms,
            waiting_ms: time.waiting_ms,
            turns: count(own.turns),
            tool_calls: count(calls),
            failures: count(failures),
            files_read: distinct(|used| used.reads) as u64,
            files_changed: distinct(|used| used.changes) as u64,
            permissions,
            permissions_recorded: permissions > 0 || self.is_hooked(&keys)?,
            compactions: self.compactions(&key)?,
            agents: family.len().saturating_sub(1) as u64,
            usage: spent.view(),
            sessions: self.sessions(&key, &about, own.started)?,
        })
    }

    /// Returns a page of turns, oldest first.
    fn turns(&self, id: &TaskId, paging: &Paging) -> Answer<Page<Turn>> {
        let line: Member = self.one(id)?;
        let after = cursor::page_start::<3>(Listing::Turns, paging)?;
        let key = line.key();
        let about = self.about(&line)?;
        let all: Vec<(u64, StoredFact)> = (1..).zip(self.list_of(&key, List::Turn, IN_ORDER)?).collect();
        let place = |stored: &StoredFact| [stored.row.occurred, stored.row.order, stored.row.fact];
        let rest = all.into_iter().filter(|(_, turn)| after.is_none_or(|after| place(turn) > after));
        let page =
            cursor::cut(Listing::Turns, cursor::limit(paging), rest.collect(), |(_, turn)| place(turn));
        let (prompts, ends) =
            (self.list_of(&key, List::Prompt, IN_ORDER)?, self.list_of(&key, List::Stop, IN_ORDER)?);
        let rows = |stored: Vec<StoredFact>| stored.into_iter().map(|stored| stored.row);
        let edges = TurnEdges::new(rows(prompts), rows(ends));
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
            let called = sums.get(&fact).map(TurnSums::calls_and_usage).unwrap_or_default();
            let (prompt, end) = (edges.prompt(&stored.row), edges.end(&stored.row));
            presenters::turn(&about, &stored.row, *number, prompt, end, called)
        });
        Ok(Page { items: items.collect(), next_cursor: page.next_cursor })
    }

    /// Returns a page of the context chart, oldest first; without a cursor and a limit the whole chart.
    fn context(&self, id: &TaskId, paging: &Paging) -> Answer<Page<ContextPoint>> {
        let line: Member = self.one(id)?;
        let after = cursor::page_start::<3>(Listing::Context, paging)?;
        let about = self.about(&line)?;
        let is_whole = paging.limit == 0 && after.is_none();
        let limit = if is_whole { usize::MAX } else { cursor::limit(paging) };
        let place = |stored: &StoredFact| [stored.row.occurred, stored.row.order, stored.row.fact];
        // Thinned as a whole, whatever the page, so that pages together are the chart.
        let mut marks = self.list_of(&line.key(), List::Context, IN_ORDER)?;
        // Where the client never said how full its window was, its responses do.
        if !marks.iter().any(|mark| is_measure(mark.row.kind, mark.row.list)) {
            marks.extend(self.list_of(&line.key(), List::Response, IN_ORDER)?);
            marks.sort_by_key(place);
        }
        let mut marks = presenters::thinned(marks, |mark| is_measure(mark.row.kind, mark.row.list));
        let shown = |stored: &StoredFact| point(about.row_id(stored.row.fact), &stored.row);
        let before = after.and_then(|after| marks.iter().rfind(|mark| place(mark) <= after)).and_then(shown);
        marks.retain(|mark| after.is_none_or(|after| place(mark) > after));
        let page = cursor::cut(Listing::Context, limit, marks, place);
        let items = mark_switches(page.items.iter().filter_map(shown).collect(), before.as_ref());
        Ok(Page { items, next_cursor: page.next_cursor })
    }

    /// Returns the to-dos of a task, in the order in which they first came up.
    fn todos(&self, id: &TaskId) -> Answer<Page<Todo>> {
        let line: Member = self.one(id)?;
        let about = self.about(&line)?;
        let most = presenters::MOST_TODOS;
        let rest = format!("ORDER BY occurred DESC, ord DESC, fact DESC LIMIT {most}");
        let changes = self.list_of(&line.key(), List::Todo, &rest)?;
        Ok(Page::whole(presenters::todos(&about, changes.iter().rev().map(|stored| &stored.row))))
    }

    /// Returns the files of a task, and of its subagents if they are wanted: those used most first.
    fn task_files(&self, id: &TaskId, tree: bool, paging: &Paging) -> Answer<Page<FileUse>> {
        let family: Vec<Member> = self.family(id, tree)?;
        let types: HashMap<TaskKey, &str> =
            family.iter().map(|line| (line.key(), line.agent_type.as_str())).collect();
        let mut files: BTreeMap<String, FileUse> = BTreeMap::new();
        for used in self.file_uses(&family)? {
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
            let key = TaskKey { owner: used.owner, task: used.task };
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
            [-i64::try_from(file.reads + file.changes).unwrap_or(i64::MAX), cursor::stable(&file.path)]
        })
    }

    fn task_usage(&self, id: &TaskId, by: UsageBy) -> Answer<Page<UsageBucket>> {
        Self::task_usage(self, id, by)
    }
}
