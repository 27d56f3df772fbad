//! Reads tasks: the list, one, a tree of them, and those that need a person.

use std::collections::{HashMap, HashSet};

use agent_tracer_event::{Agent, Certainty, Millis, TaskId};
use agent_tracer_ledger::engine::cursor::{self, List};
use agent_tracer_ledger::engine::staleness::{self, StatusWindow};
use agent_tracer_ledger::engine::usage_sum::UsageSum;
use agent_tracer_ledger::project::presenters::{TaskSurroundings, TreeSums, task_id};
use agent_tracer_ledger::project::residual::Residual;
use agent_tracer_ledger::search::Ask;
use agent_tracer_ledger::shipment::{DerivedTask, TaskSpend};
use agent_tracer_ledger::view::{Attention, Page, Task, TaskKind, TaskStatus, TreeNode, WaitingReason};
use agent_tracer_ledger::{Answer, MAX_LIMIT, QueryError, TaskFilter, Tasks};
use serde_json::Value;

use super::family::{Member, TaskColumns};
use super::{Reader, TaskKey, TaskRef, columns, keys_in};
use crate::clickhouse::fleet::literal;
use crate::clickhouse::schema::{BEGINNING, BEGINNINGS};
use crate::clickhouse::spend_row::SpendRow;
use crate::clickhouse::write::{TaskLine, word};

/// A question longer than this is cut.
const LONGEST_QUESTION: usize = 1_000;

/// SQL expression that orders tasks with the same last event.
pub(crate) const PLACE: &str = "reinterpretAsInt64(cityHash64(owner, task))";

/// Reads the words of a question.
pub(crate) fn parse_question(question: &str) -> Ask {
    Ask::parse(question.get(..question.floor_char_boundary(LONGEST_QUESTION)).unwrap_or_default())
}

/// Builds the condition that `terms` hold all words of a question.
pub(crate) fn terms_filter(ask: &Ask) -> String {
    let needs = ask.needs.iter().map(|need| {
        let ways: Vec<String> = need
            .ways
            .iter()
            .map(|way| {
                let (whole, beginning) = need.asked_by(way);
                let mut parts: Vec<String> =
                    whole.iter().map(|term| format!("has(terms, {})", literal(term))).collect();
                parts.extend(beginning.map(prefix_filter));
                format!("({})", parts.join(" AND "))
            })
            .collect();
        format!("({})", ways.join(" OR "))
    });
    needs.collect::<Vec<_>>().join(" AND ")
}

/// Builds the condition that one of the terms begins like this. Where it is long enough an index narrows it down.
fn prefix_filter(beginning: &str) -> String {
    let begins = format!("arrayExists(term -> startsWith(term, {}), terms)", literal(beginning));
    match beginning.get(..BEGINNING) {
        // The index is a bloom filter: it can exclude an exact beginning, but not answer "starts with".
        Some(known) => format!("has({BEGINNINGS}, {}) AND {begins}", literal(known)),
        None => begins,
    }
}

/// Parses a word of a closed set.
pub(crate) fn parse_word<T: serde::de::DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_value(Value::from(text)).ok()
}

fn non_empty(text: &str) -> Option<String> {
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

impl TaskLine {
    pub(crate) fn parent_key(&self) -> Option<TaskKey> {
        non_empty(&self.parent).map(|task| TaskKey { owner: self.owner.clone(), task })
    }

    pub(crate) fn agent(&self) -> Agent {
        parse_word(&self.agent).unwrap_or_default()
    }

    fn status(&self) -> TaskStatus {
        parse_word(&self.status).unwrap_or(TaskStatus::Completed)
    }

    fn waiting(&self) -> Option<WaitingReason> {
        parse_word(&self.waiting)
    }

    pub(crate) fn reported_state(&self, has_open_call: bool) -> staleness::ReportedState {
        staleness::ReportedState {
            status: self.status(),
            waiting: self.waiting(),
            last: self.last,
            has_open_call,
        }
    }

    /// Returns the tokens and cost in the columns.
    pub(crate) fn task_spend(&self) -> TaskSpend {
        TaskSpend {
            spend: self.spend(),
            copies: self.copies,
            client_cost: self.client_cost,
            residual: Residual::parse(&self.residual),
        }
    }

    /// Returns what the task alone spent.
    pub(crate) fn own_usage(&self) -> UsageSum {
        self.task_spend().usage()
    }

    /// Returns the task that the row was made of.
    fn derived_task(&self) -> DerivedTask {
        DerivedTask {
            task: self.task.clone(),
            version: self.version,
            agent: self.agent(),
            session: self.session.clone(),
            background: self.background == 1,
            parent: non_empty(&self.parent),
            parent_certainty: Certainty::parse(&self.parent_certainty),
            parent_tool_use_id: non_empty(&self.parent_tool_use_id),
            continues: non_empty(&self.continues),
            forked: non_empty(&self.forked),
            title: self.title.clone(),
            agent_type: self.agent_type.clone(),
            agent_id: non_empty(&self.agent_id),
            cwd: self.cwd.clone(),
            project: self.project.clone(),
            model: non_empty(&self.model),
            machine: self.machine.clone(),
            git_branch: non_empty(&self.git_branch),
            client_version: non_empty(&self.client_version),
            started: self.started,
            last: self.last,
            ended: self.ended,
            status: self.status(),
            waiting: self.waiting(),
            waiting_since: self.waiting_since,
            waiting_fact: self.waiting_fact,
            current: self.current.clone(),
            context_pct: self.context_pct,
            events: self.events,
            calls: self.calls,
            failures: self.failures,
            turns: self.turns,
            wait_ms: self.wait_ms,
            spent: self.task_spend(),
        }
    }
}

/// Builds the conditions of a list of tasks, beside status and words.
pub(crate) fn tasks_filter(filter: &TaskFilter) -> Vec<String> {
    let mut all = vec!["events > 0".to_owned()];
    all.extend(filter.since.map(|since| format!("last >= {}", since.0)));
    all.extend(filter.until.map(|until| format!("started < {}", until.0)));
    all.extend(filter.agent.map(|agent| format!("agent = {}", literal(&word(agent)))));
    all.extend(filter.kind.map(|kind| format!("background = {}", u8::from(kind == TaskKind::Background))));
    if filter.failed_calls {
        // Those that may have a failure in their tree: with one of their own, or with a child that had one or has children.
        let has_children = "(owner, task) IN (SELECT owner, parent FROM task WHERE parent != '')";
        all.push(format!(
            "(failures > 0 OR (owner, task) IN (SELECT owner, parent FROM task WHERE parent != '' AND \
             (failures > 0 OR {has_children})))"
        ));
    }
    for (column, wanted) in
        [("agent_type", &filter.agent_type), ("project", &filter.project), ("model", &filter.model)]
    {
        all.extend(wanted.as_ref().map(|wanted| format!("{column} = {}", literal(wanted))));
    }
    all
}

/// Builds the condition that a task is in one of the stretches.
fn status_filter(stretches: &[StatusWindow]) -> String {
    let ways: Vec<String> = stretches
        .iter()
        .map(|stretch| {
            let mut all = vec![format!("status = {}", literal(&word(stretch.status)))];
            all.push(format!("last >= {} AND last < {}", stretch.from, stretch.to));
            if let Some(idle) = stretch.idle {
                let is_idle = format!("waiting IN ('', {})", literal(&word(WaitingReason::Idle)));
                all.push(if idle { is_idle } else { format!("NOT {is_idle}") });
            }
            format!("({})", all.join(" AND "))
        })
        .collect();
    format!("({})", ways.join(" OR "))
}

impl Reader {
    /// Returns those of the tasks that have an unfinished call, as far as that matters now.
    fn with_open_calls(&self, now: Millis, lines: &[TaskLine]) -> Answer<HashSet<TaskKey>> {
        let may_be_stale: Vec<TaskKey> = lines
            .iter()
            .filter(|line| staleness::may_be_stale(line.status(), line.last, now.0))
            .map(TaskLine::key)
            .collect();
        if may_be_stale.is_empty() {
            return Ok(HashSet::new());
        }
        // Few tasks have any version with an open call, and only theirs are deduplicated.
        let any = self.with_an_open("fact", &may_be_stale)?;
        if any.is_empty() { Ok(any) } else { self.with_an_open("fact FINAL", &any) }
    }

    /// Returns those of the tasks that have an open call in some version of the facts.
    fn with_an_open<'key>(
        &self,
        versions: &str,
        tasks: impl IntoIterator<Item = &'key TaskKey>,
    ) -> Answer<HashSet<TaskKey>> {
        let open = self.rows::<TaskRef>(&format!(
            "SELECT DISTINCT owner, task FROM {versions} WHERE (owner, task) IN {} AND open = 1",
            keys_in(tasks)
        ))?;
        Ok(open.into_iter().map(TaskKey::from).collect())
    }

    /// Presents tasks as they are at a moment, in the same order.
    fn present(&self, now: Millis, lines: Vec<TaskLine>) -> Answer<Vec<Task>> {
        let shown = lines.len();
        let open = self.with_open_calls(now, &lines)?;
        let all = self.families(lines)?;
        let mut below: HashMap<TaskKey, Vec<usize>> = HashMap::new();
        for (place, line) in all.iter().enumerate() {
            if let Some(parent) = line.parent_key() {
                below.entry(parent).or_default().push(place);
            }
        }
        let tree = |root: &TaskLine| {
            let (mut sum, mut calls, mut failures) = (UsageSum::default(), 0, 0);
            let mut seen = HashSet::new();
            let mut next = vec![root];
            while let Some(line) = next.pop() {
                if !seen.insert(line.key()) {
                    continue;
                }
                sum += &line.own_usage();
                calls += line.calls;
                failures += line.failures;
                let children = below.get(&line.key()).into_iter().flatten();
                next.extend(children.filter_map(|place| all.get(*place)));
            }
            // The client's own account of a session includes its subagents: adding theirs would count them twice.
            sum.client_cost = root.client_cost;
            TreeSums { usage: sum.view(), calls, failures }
        };
        let tasks = all.iter().take(shown).map(|line| {
            let children = below.get(&line.key()).into_iter().flatten();
            let children = children.filter(|place| all.get(**place).is_some_and(|child| child.events > 0));
            line.derived_task().present(TaskSurroundings {
                now,
                has_open_call: open.contains(&line.key()),
                children: children.count() as u64,
                tree: tree(line),
                owner: Some(line.owner.clone()),
            })
        });
        Ok(tasks.collect())
    }
}

impl Tasks for Reader {
    /// Returns a page of tasks, newest first.
    fn tasks(&self, now: Millis, filter: &TaskFilter) -> Answer<Page<Task>> {
        let limit = cursor::limit(&filter.paging);
        let before = cursor::page_start::<2>(List::Tasks, &filter.paging)?;
        let mut all = vec![self.task_filter()];
        all.extend(tasks_filter(filter));
        if let Some(parent) = &filter.parent {
            let parent: Member = self.one(parent)?;
            all.push(format!("(owner, parent) IN {}", keys_in(&[parent.key()])));
        }
        if !filter.status.is_empty() {
            let stretches = staleness::stretches(&filter.status, now.0);
            all.push(if stretches.is_empty() { "0".to_owned() } else { status_filter(&stretches) });
        }
        if let Some(ask) = filter.q.as_deref().map(parse_question).filter(|ask| !ask.is_empty()) {
            all.push(terms_filter(&ask));
        }
        let listed = if filter.failed_calls {
            self.failing_positions(&all, before, limit + 1)?
        } else {
            self.task_positions(&all, before, limit + 1)?
        };
        let page = cursor::cut(List::Tasks, limit, listed, |listed| [listed.last, listed.place]);
        Ok(Page { items: self.present(now, self.lines_of(&page.items)?)?, next_cursor: page.next_cursor })
    }

    /// Returns one task.
    fn task(&self, now: Millis, id: &TaskId) -> Answer<Task> {
        let line: TaskLine = self.one(id)?;
        self.present(now, vec![line])?.pop().ok_or(QueryError::NotFound)
    }

    /// Returns a task and its descendants, each below its parent.
    fn tree(&self, now: Millis, id: &TaskId) -> Answer<Page<TreeNode>> {
        let family: Vec<TaskLine> = self.family(id, true)?;
        let Some(root) = family.first().map(TaskLine::key) else { return Err(QueryError::NotFound) };
        let mut below: HashMap<String, Vec<(i64, String)>> = HashMap::new();
        for line in family.iter().skip(1) {
            below.entry(line.parent.clone()).or_default().push((line.started, line.task.clone()));
        }
        let mut shown: HashMap<String, Task> =
            self.present(now, family)?.into_iter().map(|task| (task.id.clone(), task)).collect();
        let mut next = vec![(0_u32, root.task)];
        let mut nodes = Vec::new();
        while let Some((depth, id)) = next.pop() {
            let mut children = below.remove(&id).unwrap_or_default();
            children.sort_by(|one, two| two.cmp(one));
            next.extend(children.into_iter().map(|(_, child)| (depth + 1, child)));
            nodes.extend(shown.remove(&id).map(|task| TreeNode { depth, task }));
        }
        Ok(Page::whole(nodes))
    }

    /// Returns the tasks that wait for a person, those whose work is held up first, each group the longest wait first.
    fn attention(&self, now: Millis) -> Answer<Page<Attention>> {
        let waits = format!(
            "events > 0 AND status = {} AND last > {}",
            literal(&word(TaskStatus::Waiting)),
            now.0.saturating_sub(staleness::OVER_MS)
        );
        let mut waiting: Vec<TaskLine> =
            self.rows(&format!("SELECT {} FROM {}", columns::<TaskLine>(), self.tasks_that(&waits)))?;
        let reason = |line: &TaskLine| line.waiting().unwrap_or(WaitingReason::Idle);
        let since = |line: &TaskLine| line.waiting_since.unwrap_or(line.last);
        waiting.sort_by(|one, two| {
            let key = |line: &TaskLine| (reason(line) == WaitingReason::Idle, since(line));
            key(one).cmp(&key(two)).then_with(|| one.task.cmp(&two.task))
        });
        waiting.truncate(MAX_LIMIT as usize);
        let asking: Vec<String> = waiting
            .iter()
            .filter_map(|line| {
                let fact = line.waiting_fact?;
                Some(format!("({}, {}, {fact})", literal(&line.owner), literal(&line.task)))
            })
            .collect();
        let mut texts = HashMap::new();
        if !asking.is_empty() {
            let facts = self.facts(&format!("WHERE (owner, task, fact) IN ({})", asking.join(", ")))?;
            for stored in facts {
                let data = stored.row.data;
                let text = Some(data.title).filter(|title| !title.is_empty()).or(data.body);
                texts.insert((stored.key, stored.row.fact), text);
            }
        }
        let items = waiting.iter().map(|line| {
            let asks = line.waiting_fact.and_then(|fact| Some((fact, texts.get(&(line.key(), fact))?)));
            Attention {
                task_id: line.task.clone(),
                title: line.title.clone(),
                agent: line.agent(),
                agent_type: line.agent_type.clone(),
                owner: Some(line.owner.clone()),
                project: line.project.clone(),
                reason: reason(line),
                since: Millis(since(line)),
                row_id: asks.map(|(fact, _)| {
                    agent_tracer_event::FactId::from_number(&task_id(&line.task), fact.cast_unsigned())
                        .to_string()
                }),
                text: asks.and_then(|(_, text)| text.clone()),
            }
        });
        Ok(Page::whole(items.collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_that_is_long_enough_is_looked_up_in_the_index_of_beginnings() {
        assert_eq!(prefix_filter("file"), "arrayExists(term -> startsWith(term, 'file'), terms)");
        assert_eq!(
            prefix_filter("file_4812"),
            "has(arrayMap(term -> substring(term, 1, 5), terms), 'file_') \
             AND arrayExists(term -> startsWith(term, 'file_4812'), terms)"
        );
        assert!(BEGINNINGS.contains(&format!("1, {BEGINNING})")));
    }
}
