//! Every question against a made-up history, compared with what reading every row says.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use agent_tracer_event::{Agent, CallState, FactId, Kind, Lane, Millis, TaskId, Tokens};
use agent_tracer_ledger::view::{Page, Row, Task, TaskKind, TaskStatus, WaitingReason};
use agent_tracer_ledger::{
    Paging, QueryError, Range, RowFilter, SearchFilter, Store, TaskFilter, UsageBy, Utc,
};

use crate::query_world::{BEGIN, Dice, HOUR_MS, HistoryBuilder};
use crate::world::World;

/// The predicate that a filter stands for.
pub(crate) type Check<T> = Box<dyn Fn(&T) -> bool>;

/// A recorded history and all rows of its timelines.
pub(crate) struct RecordedHistory {
    pub(crate) world: World,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) tasks: Vec<Task>,
    pub(crate) rows: Vec<Row>,
    pub(crate) now: Millis,
}

pub(crate) fn reported() -> &'static RecordedHistory {
    static HISTORY: OnceLock<RecordedHistory> = OnceLock::new();
    HISTORY.get_or_init(|| {
        let mut story = HistoryBuilder::with_sessions(7, 100, 8);
        let end = BEGIN + 100 * 5 * HOUR_MS;
        story.asks("asks-late", end - HOUR_MS);
        story.asks("asks-early", end - 3 * HOUR_MS);
        let world = World::with(&story.observed, 900);
        world.ledger.finish_search().unwrap();
        let store = world.ledger.store();
        let now = Millis(end);
        let tasks = every(|paging| store.tasks(now, &TaskFilter { paging, ..TaskFilter::default() }));
        let mut rows = Vec::new();
        for task in &tasks {
            let id = id(task);
            rows.extend(every(|paging| store.timeline(&id, &RowFilter { paging, ..RowFilter::default() })));
        }
        assert!(rows.len() > 10_000, "{}", rows.len());
        RecordedHistory { world, store, tasks, rows, now }
    })
}

pub(crate) fn id(task: &Task) -> TaskId {
    TaskId::parse(&task.id).unwrap()
}

/// Returns all parts of a list.
pub(crate) fn every<T>(mut ask: impl FnMut(Paging) -> Result<Page<T>, QueryError>) -> Vec<T> {
    every_of(137, &mut ask)
}

pub(crate) fn every_of<T>(limit: u32, ask: &mut impl FnMut(Paging) -> Result<Page<T>, QueryError>) -> Vec<T> {
    let mut all = Vec::new();
    let mut cursor = None;
    loop {
        let page = ask(Paging { cursor, limit }).unwrap();
        assert!(page.items.len() <= limit as usize);
        all.extend(page.items);
        cursor = page.next_cursor;
        if cursor.is_none() {
            return all;
        }
    }
}

impl RecordedHistory {
    pub(crate) fn task_of(&self) -> HashMap<&str, &Task> {
        self.tasks.iter().map(|task| (task.id.as_str(), task)).collect()
    }

    pub(crate) fn biggest(&self) -> &Task {
        self.tasks.iter().max_by_key(|task| task.event_count).unwrap()
    }

    /// Returns the task with the largest family.
    pub(crate) fn root(&self) -> &Task {
        let families = self.tasks.iter().map(|task| (self.descendants(&task.id).len(), task));
        let (members, root) = families.max_by_key(|(members, task)| (*members, task.id.clone())).unwrap();
        assert!(members > 2);
        root
    }

    pub(crate) fn descendants(&self, root: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::from([root.to_owned()]);
        loop {
            let more: Vec<String> = self
                .tasks
                .iter()
                .filter(|task| task.parent_task_id.as_ref().is_some_and(|parent| found.contains(parent)))
                .map(|task| task.id.clone())
                .filter(|id| !found.contains(id))
                .collect();
            if more.is_empty() {
                return found;
            }
            found.extend(more);
        }
    }

    /// Returns rows in a range, with the task of each.
    pub(crate) fn rows_in<'a>(&'a self, range: &Range) -> Vec<(&'a Row, &'a Task)> {
        let tasks = self.task_of();
        self.rows
            .iter()
            .map(|row| (row, tasks[row.task_id.as_str()]))
            .filter(|(row, _)| range.since.is_none_or(|since| row.occurred_at >= since))
            .filter(|(row, _)| range.until.is_none_or(|until| row.occurred_at < until))
            .filter(|(_, task)| range.project.as_ref().is_none_or(|project| task.project == *project))
            .filter(|(_, task)| range.agent.is_none_or(|agent| task.agent == agent))
            .filter(|(_, task)| range.agent_type.as_ref().is_none_or(|wanted| task.agent_type == *wanted))
            .collect()
    }
}

/// Ranges whose ends are whole days, so that rounding changes nothing.
pub(crate) fn ranges() -> Vec<Range> {
    let day = |days: i64| Some(Millis((BEGIN / (24 * HOUR_MS) + days) * 24 * HOUR_MS));
    let project = Some("/srv/api".to_owned());
    vec![
        Range::default(),
        Range { since: day(3), until: day(20), ..Range::default() },
        Range { since: day(-400), until: day(400), ..Range::default() },
        Range { project: project.clone(), ..Range::default() },
        Range { since: day(5), project, agent: Some(Agent::CLAUDE_CODE), ..Range::default() },
        Range { agent: Some(Agent::CODEX), ..Range::default() },
        Range { agent_type: Some("Explore".to_owned()), until: day(25), ..Range::default() },
        Range { project: Some("/nowhere".to_owned()), ..Range::default() },
        Range { since: day(900), ..Range::default() },
    ]
}

pub(crate) fn is_call(row: &Row) -> bool {
    row.tool_name.is_some() && row.state.is_some()
}

pub(crate) fn is_failure(row: &Row) -> bool {
    is_call(row) && matches!(row.state, Some(CallState::Failed | CallState::Denied))
}

pub(crate) fn text<'a>(row: &'a Row, key: &str) -> Option<&'a str> {
    row.metadata.get(key)?.as_str()
}

pub(crate) fn took(row: &Row) -> Option<u64> {
    row.metadata.get("durationMs")?.as_u64()
}

#[test]
fn tasks_are_listed_newest_first_and_every_filter_is_the_filter_of_the_list() {
    let reported = reported();
    let key = |task: &Task| (task.last_event_at, task.id.clone());
    assert!(reported.tasks.windows(2).all(|pair| pair[0].last_event_at >= pair[1].last_event_at));
    assert_eq!(reported.tasks.iter().map(key).collect::<BTreeSet<_>>().len(), reported.tasks.len());
    let middle = Millis(BEGIN + 200 * HOUR_MS);
    let filters: Vec<(TaskFilter, Check<Task>)> = vec![
        (
            TaskFilter { agent: Some(Agent::CODEX), ..TaskFilter::default() },
            Box::new(|task| task.agent == Agent::CODEX),
        ),
        (
            TaskFilter { kind: Some(TaskKind::Primary), ..TaskFilter::default() },
            Box::new(|task| task.kind == TaskKind::Primary),
        ),
        (
            TaskFilter {
                agent_type: Some("main".to_owned()),
                project: Some("/srv/web".to_owned()),
                ..TaskFilter::default()
            },
            Box::new(|task| task.agent_type == "main" && task.project == "/srv/web"),
        ),
        (
            TaskFilter { model: Some("model-new".to_owned()), ..TaskFilter::default() },
            Box::new(|task| task.model.as_deref() == Some("model-new")),
        ),
        (TaskFilter { model: Some("unheard-of".to_owned()), ..TaskFilter::default() }, Box::new(|_| false)),
        (
            TaskFilter { failed_calls: true, ..TaskFilter::default() },
            Box::new(|task| task.tree_failure_count > 0),
        ),
        (
            TaskFilter {
                failed_calls: true,
                kind: Some(TaskKind::Primary),
                project: Some("/srv/web".to_owned()),
                until: Some(middle),
                ..TaskFilter::default()
            },
            Box::new(move |task| {
                task.tree_failure_count > 0
                    && task.kind == TaskKind::Primary
                    && task.project == "/srv/web"
                    && task.started_at < middle
            }),
        ),
        (
            TaskFilter {
                since: Some(middle),
                until: Some(Millis(middle.0 + 50 * HOUR_MS)),
                ..TaskFilter::default()
            },
            Box::new(move |task| task.last_event_at >= middle && task.started_at.0 < middle.0 + 50 * HOUR_MS),
        ),
    ];
    for (filter, is_wanted) in filters {
        let found = every_of(23, &mut |paging| {
            reported.store.tasks(reported.now, &TaskFilter { paging, ..filter.clone() })
        });
        let expected: Vec<&Task> = reported.tasks.iter().filter(|task| is_wanted(task)).collect();
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{filter:?}");
    }
    let fails_below = |task: &&Task| task.failure_count == 0 && task.tree_failure_count > 0;
    assert!(
        reported.tasks.iter().any(|task| fails_below(&task)),
        "the history has a task whose subagents alone failed"
    );
    let statuses = [
        TaskStatus::Running,
        TaskStatus::Waiting,
        TaskStatus::Completed,
        TaskStatus::Failed,
        TaskStatus::Abandoned,
    ];
    for set in 1..32_u32 {
        let status: Vec<TaskStatus> =
            (0..5).filter(|bit| set >> bit & 1 == 1).map(|bit| statuses[bit as usize]).collect();
        for project in [None, Some("/srv/web".to_owned())] {
            for agent in [None, Some(Agent::CLAUDE_CODE)] {
                let filter = TaskFilter {
                    status: status.clone(),
                    project: project.clone(),
                    agent,
                    ..TaskFilter::default()
                };
                let found = every(|paging| {
                    reported.store.tasks(reported.now, &TaskFilter { paging, ..filter.clone() })
                });
                let expected: Vec<&Task> = reported
                    .tasks
                    .iter()
                    .filter(|task| status.contains(&task.status))
                    .filter(|task| project.as_ref().is_none_or(|project| task.project == *project))
                    .filter(|task| agent.is_none_or(|agent| task.agent == agent))
                    .collect();
                assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{filter:?}");
            }
        }
    }
    for status in [TaskStatus::Waiting, TaskStatus::Completed, TaskStatus::Abandoned] {
        assert!(reported.tasks.iter().any(|task| task.status == status), "the history has no {status:?}");
    }
}

#[test]
fn a_task_counts_its_rows_and_its_tree_what_its_descendants_spent() {
    let reported = reported();
    let mut rows: HashMap<&str, Vec<&Row>> = HashMap::new();
    for row in &reported.rows {
        rows.entry(row.task_id.as_str()).or_default().push(row);
    }
    for task in &reported.tasks {
        let rows = &rows[task.id.as_str()];
        assert_eq!(task.event_count, rows.len() as u64);
        assert_eq!(task.tool_call_count, rows.iter().filter(|row| is_call(row)).count() as u64);
        assert_eq!(task.failure_count, rows.iter().filter(|row| is_failure(row)).count() as u64);
        let output: u64 =
            rows.iter().filter_map(|row| Tokens::read(&row.metadata)).map(|usage| usage.output).sum();
        assert_eq!(task.usage.tokens.output, output);
        let children =
            reported.tasks.iter().filter(|other| other.parent_task_id.as_deref() == Some(&task.id)).count();
        assert_eq!(task.child_count, children as u64);
        assert_eq!(reported.store.task(reported.now, &id(task)).unwrap(), *task);
    }
    let root = reported.root();
    let family = reported.descendants(&root.id);
    assert!(family.len() > 2);
    let spent = |task: &Task| task.usage.tokens.input;
    let expected: u64 = reported.tasks.iter().filter(|task| family.contains(&task.id)).map(spent).sum();
    assert_eq!(root.tree_usage.tokens.input, expected);
    let sum = |of: fn(&Task) -> u64| {
        reported.tasks.iter().filter(|task| family.contains(&task.id)).map(of).sum::<u64>()
    };
    assert_eq!(root.tree_tool_call_count, sum(|task| task.tool_call_count));
    assert_eq!(root.tree_failure_count, sum(|task| task.failure_count));
    assert!(root.tree_tool_call_count > root.tool_call_count, "subagents called too");
    let tree = reported.store.tree(reported.now, &id(root)).unwrap().items;
    assert_eq!(tree.iter().map(|node| node.task.id.clone()).collect::<BTreeSet<_>>(), family);
    let mut depths: HashMap<&str, u32> = HashMap::new();
    for node in &tree {
        let expected = match (&node.task.parent_task_id, node.task.id == root.id) {
            (Some(parent), false) => depths[parent.as_str()] + 1,
            _ => 0,
        };
        assert_eq!(node.depth, expected, "parents come before children");
        depths.insert(&node.task.id, node.depth);
        assert_eq!(node.task, *reported.tasks.iter().find(|task| task.id == node.task.id).unwrap());
    }
}

#[test]
fn timelines_are_in_order_whatever_the_page_the_direction_and_the_filter() {
    let reported = reported();
    for task in [reported.biggest(), reported.root()] {
        for tree in [false, true] {
            let family =
                if tree { reported.descendants(&task.id) } else { BTreeSet::from([task.id.clone()]) };
            let filter = RowFilter { tree, ..RowFilter::default() };
            let ask = |filter: &RowFilter, limit: u32| {
                every_of(limit, &mut |paging| {
                    reported.store.timeline(&id(task), &RowFilter { paging, ..filter.clone() })
                })
            };
            let all = ask(&filter, 500);
            let expected: BTreeSet<&str> = reported
                .rows
                .iter()
                .filter(|row| family.contains(&row.task_id))
                .map(|row| row.id.as_str())
                .collect();
            assert_eq!(all.iter().map(|row| row.id.as_str()).collect::<BTreeSet<_>>(), expected);
            assert_eq!(all.len(), expected.len(), "no row twice");
            assert!(all.windows(2).all(|pair| pair[0].occurred_at <= pair[1].occurred_at));
            for limit in [1, 7, 64] {
                assert_eq!(ask(&filter, limit), all, "tree {tree}, limit {limit}");
            }
            let mut backwards = ask(&RowFilter { newest_first: true, ..filter.clone() }, 13);
            backwards.reverse();
            assert_eq!(backwards, all);
            let (since, until) = (all[all.len() / 4].occurred_at, all[all.len() / 2].occurred_at);
            for newest_first in [false, true] {
                let narrow = RowFilter {
                    lanes: vec![Lane::Exploration, Lane::User, Lane::Telemetry],
                    kinds: vec![Kind::ToolUsed, Kind::UserMessage],
                    since: Some(since),
                    until: Some(until),
                    newest_first,
                    ..filter.clone()
                };
                let mut found = ask(&narrow, 5);
                if newest_first {
                    found.reverse();
                }
                let expected: Vec<&Row> = all
                    .iter()
                    .filter(|row| narrow.lanes.contains(&row.lane) && narrow.kinds.contains(&row.kind))
                    .filter(|row| row.occurred_at >= since && row.occurred_at < until)
                    .collect();
                assert_eq!(found.iter().collect::<Vec<_>>(), expected);
            }
        }
    }
}

#[test]
fn rows_know_the_stay_they_happened_in() {
    let reported = reported();
    let mut several = 0;
    for task in &reported.tasks {
        let rows: Vec<&Row> = reported.rows.iter().filter(|row| row.task_id == task.id).collect();
        let stays: BTreeSet<&str> = rows.iter().map(|row| row.session_id.as_str()).collect();
        let resumes: BTreeSet<Millis> = rows
            .iter()
            .filter(|row| row.kind == Kind::SessionStarted && text(row, "sessionSource") == Some("resume"))
            .map(|row| row.occurred_at)
            .collect();
        assert_eq!(stays.len(), resumes.len() + 1, "{}", task.runtime_session_id);
        several += usize::from(stays.len() > 2);
        let summary = reported.store.summary(reported.now, &id(task)).unwrap();
        assert_eq!(
            summary.sessions.iter().map(|session| session.id.as_str()).collect::<BTreeSet<_>>(),
            stays
        );
        assert!(rows.iter().all(|row| row.is_subagent == (task.kind == TaskKind::Background)));
        assert!(rows.iter().all(|row| row.agent_type == task.agent_type));
    }
    assert!(several > 0);
}

#[test]
fn the_lists_of_a_task_hold_its_rows_of_that_list() {
    let reported = reported();
    let some = reported.tasks.iter().step_by(9).map(|task| (task, false));
    for (task, is_large) in [(reported.biggest(), true), (reported.root(), true)].into_iter().chain(some) {
        for tree in [false, true] {
            let family =
                if tree { reported.descendants(&task.id) } else { BTreeSet::from([task.id.clone()]) };
            let rows: Vec<&Row> = reported.rows.iter().filter(|row| family.contains(&row.task_id)).collect();
            let ids = |is_wanted: &dyn Fn(&Row) -> bool| -> BTreeSet<String> {
                rows.iter().filter(|row| is_wanted(row)).map(|row| row.id.clone()).collect()
            };
            let task = id(task);
            let filter = |paging| RowFilter { tree, paging, ..RowFilter::default() };
            let calls = every_of(9, &mut |paging| reported.store.tool_calls(&task, &filter(paging)));
            assert_eq!(calls.iter().map(|call| call.id.clone()).collect::<BTreeSet<_>>(), ids(&is_call));
            assert!(calls.windows(2).all(|pair| pair[0].started_at <= pair[1].started_at));
            let runs = every_of(9, &mut |paging| reported.store.task_commands(&task, &filter(paging)));
            assert_eq!(
                runs.iter().map(|run| run.id.clone()).collect::<BTreeSet<_>>(),
                ids(&|row| row.kind == Kind::TerminalCommand)
            );
            assert!(runs.iter().all(|run| run.command.ends_with("--flag") && run.effect == "execute_check"));
            let looks = every_of(9, &mut |paging| reported.store.exploration(&task, &filter(paging)));
            assert_eq!(
                looks.iter().map(|look| look.id.clone()).collect::<BTreeSet<_>>(),
                ids(&|row| row.lane == Lane::Exploration)
            );
            assert!(!is_large || looks.iter().any(|look| look.offset == Some(10) && look.limit == Some(20)));
            let web = every_of(9, &mut |paging| reported.store.web(&task, &filter(paging)));
            assert_eq!(
                web.iter().map(|look| look.id.clone()).collect::<BTreeSet<_>>(),
                ids(&|row| text(row, "subtypeKey") == Some("web_search"))
            );
            assert!(
                web.iter()
                    .all(|look| look.domains == ["docs.rs"] && look.query.as_deref() == Some("rust fts5"))
            );
            let files = every_of(4, &mut |paging| reported.store.task_files(&task, tree, &paging));
            let mut expected: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
            for row in rows.iter().filter(|row| is_call(row)) {
                for path in &row.file_paths {
                    let used = expected.entry(path).or_default();
                    if text(row, "subtypeKey") == Some("read_file") { used.0 += 1 } else { used.1 += 1 }
                }
            }
            let found: BTreeMap<&str, (u64, u64)> =
                files.iter().map(|file| (file.path.as_str(), (file.reads, file.changes))).collect();
            assert_eq!(found, expected);
            assert_eq!(files.len(), expected.len());
            assert!(files.iter().all(|file| file.first_at <= file.last_at));
            assert!(
                files
                    .iter()
                    .all(|file| file.by.iter().map(|user| user.count).sum::<u64>()
                        == file.reads + file.changes)
            );
            let summary = reported.store.summary(reported.now, &task).unwrap();
            if tree {
                assert_eq!(summary.files_read, expected.values().filter(|used| used.0 > 0).count() as u64);
                assert_eq!(summary.files_changed, expected.values().filter(|used| used.1 > 0).count() as u64);
                assert_eq!(summary.agents, family.len() as u64 - 1);
                assert_eq!(summary.tool_calls, calls.len() as u64);
            }
        }
    }
}

#[test]
fn turns_have_their_prompt_their_answer_and_their_sums() {
    let reported = reported();
    let task = reported.biggest();
    let rows: Vec<&Row> = reported.rows.iter().filter(|row| row.task_id == task.id).collect();
    let turns = every_of(3, &mut |paging| reported.store.turns(&id(task), &paging));
    assert_eq!(turns.len() as u64, task.turn_count);
    for (index, turn) in turns.iter().enumerate() {
        assert_eq!(turn.number, index as u64 + 1);
        let of_turn: Vec<&&Row> = rows.iter().filter(|row| row.turn_id.as_ref() == Some(&turn.id)).collect();
        assert_eq!(turn.tool_call_count, of_turn.iter().filter(|row| is_call(row)).count() as u64);
        assert_eq!(turn.failure_count, of_turn.iter().filter(|row| is_failure(row)).count() as u64);
        let prompt = of_turn.iter().find(|row| row.kind == Kind::UserMessage).unwrap();
        assert_eq!(turn.prompt, prompt.body);
        let answer = of_turn.iter().find(|row| row.kind == Kind::AssistantResponse);
        assert_eq!(turn.answer.as_ref(), answer.map(|row| &row.title));
        assert_eq!(turn.stop_reason.as_deref(), answer.map(|_| "end_turn"));
        let output: u64 =
            of_turn.iter().filter_map(|row| Tokens::read(&row.metadata)).map(|usage| usage.output).sum();
        assert_eq!(turn.usage.tokens.output, output);
    }
}

#[test]
fn todos_and_the_context_chart_are_those_of_the_rows() {
    let reported = reported();
    let task = reported.biggest();
    let rows: Vec<&Row> = reported.rows.iter().filter(|row| row.task_id == task.id).collect();
    let mut states: BTreeMap<&str, &str> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.kind == Kind::TodoLogged) {
        states.insert(text(row, "todoId").unwrap(), text(row, "todoState").unwrap());
    }
    let todos = reported.store.todos(&id(task)).unwrap().items;
    assert_eq!(
        todos.iter().map(|todo| (todo.todo_id.as_str(), todo.state.as_str())).collect::<BTreeMap<_, _>>(),
        states
    );
    assert!(todos.iter().all(|todo| todo.history.last().is_some_and(|step| step.state == todo.state)));
    assert!(todos.iter().all(|todo| todo.subject == format!("Item {}", todo.todo_id)));
    let snapshots: Vec<&str> =
        rows.iter().filter(|row| row.kind == Kind::ContextSnapshot).map(|row| row.id.as_str()).collect();
    for limit in [0, 2] {
        let points = match limit {
            0 => reported.store.context(&id(task), &Paging::default()).unwrap().items,
            limit => every_of(limit, &mut |paging| reported.store.context(&id(task), &paging)),
        };
        assert_eq!(points.iter().map(|point| point.id.as_str()).collect::<Vec<_>>(), snapshots);
        assert!(
            points
                .iter()
                .all(|point| point.used_pct.is_some() && point.model.as_deref() == Some("model-large"))
        );
    }
}

#[test]
fn lanes_hold_every_row_of_the_tree_once() {
    let reported = reported();
    for task in [reported.biggest(), reported.root()] {
        let family = reported.descendants(&task.id);
        let rows: Vec<&Row> = reported.rows.iter().filter(|row| family.contains(&row.task_id)).collect();
        for width in [1, 50, 1_000] {
            let drawn = reported.store.lanes(&id(task), None, None, width).unwrap();
            assert_eq!(drawn.strips.first().unwrap().task_id, task.id);
            let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
            for row in &rows {
                *counts.entry((row.task_id.clone(), row.lane.to_string())).or_default() += 1;
            }
            let found: BTreeMap<(String, String), usize> = drawn
                .strips
                .iter()
                .map(|strip| {
                    let count = strip.bins.iter().map(|bin| bin.count as usize).sum();
                    ((strip.task_id.clone(), strip.lane.clone()), count)
                })
                .collect();
            assert_eq!(found, counts, "width {width}");
            assert!(drawn.strips.iter().all(|strip| strip.bins.len() <= width as usize * 8));
            let alone: Vec<&String> =
                drawn.strips.iter().flat_map(|strip| &strip.bins).filter_map(|bin| bin.id.as_ref()).collect();
            assert_eq!(
                alone.iter().collect::<BTreeSet<_>>().len(),
                alone.len(),
                "each row stands alone once"
            );
            for bin in drawn.strips.iter().flat_map(|strip| &strip.bins) {
                assert_eq!(bin.id.is_some(), bin.count == 1);
                let row = bin.id.as_ref().map(|id| rows.iter().find(|row| row.id == *id).unwrap());
                assert!(
                    row.is_none_or(|row| row.occurred_at.0 == bin.start
                        && (row.title.is_empty() || row.title == bin.title))
                );
                assert!(bin.start <= bin.end && bin.failures <= bin.count && !bin.title.is_empty());
            }
        }
        let middle = rows[rows.len() / 2].occurred_at;
        let part =
            reported.store.lanes(&id(task), Some(middle), Some(Millis(middle.0 + 60_000)), 100).unwrap();
        let inside =
            rows.iter().filter(|row| (middle.0..middle.0 + 60_000).contains(&row.occurred_at.0)).count();
        let drawn: usize =
            part.strips.iter().flat_map(|strip| &strip.bins).map(|bin| bin.count as usize).sum();
        let reaching = rows
            .iter()
            .filter(|row| row.occurred_at < middle && row.occurred_at.0 >= middle.0 - 30 * 60_000)
            .filter(|row| {
                let runs = row.ended_at.is_none() && row.state == Some(CallState::Running);
                runs || row.ended_at.is_some_and(|end| end > middle)
            })
            .count();
        assert_eq!(drawn, inside + reaching);
    }
    let error = reported.store.lanes(&id(reported.root()), Some(Millis(5)), Some(Millis(5)), 10);
    assert!(matches!(error, Err(QueryError::Bad(_))));
}

#[test]
fn who_waits_for_an_answer_comes_first_and_the_longest_wait_before_others() {
    let reported = reported();
    let waiting = reported.store.attention(reported.now).unwrap().items;
    let asks: Vec<&str> = waiting
        .iter()
        .filter(|item| item.reason != WaitingReason::Idle)
        .map(|item| reported.task_of()[item.task_id.as_str()].runtime_session_id.as_str())
        .collect();
    assert_eq!(asks, ["asks-early", "asks-late"]);
    assert_eq!(waiting[0].text.as_deref(), Some("Permission asked: rm"));
    let row = FactId::parse(waiting[0].row_id.as_ref().unwrap()).unwrap();
    assert_eq!(reported.store.event(&row).unwrap().row.kind, Kind::PermissionRequest);
    let key = |item: &agent_tracer_ledger::view::Attention| (item.reason == WaitingReason::Idle, item.since);
    assert!(waiting.windows(2).all(|pair| key(&pair[0]) <= key(&pair[1])));
    let expected: BTreeSet<&str> = reported
        .tasks
        .iter()
        .filter(|task| task.status == TaskStatus::Waiting)
        .map(|task| task.id.as_str())
        .collect();
    assert_eq!(waiting.iter().map(|item| item.task_id.as_str()).collect::<BTreeSet<_>>(), expected);
    assert!(reported.store.attention(Millis(reported.now.0 + 25 * HOUR_MS)).unwrap().items.is_empty());
}

#[test]
fn an_event_tells_who_said_what() {
    let reported = reported();
    let mut dice = Dice::new(3);
    for _ in 0..200 {
        let row = &reported.rows[dice.below(reported.rows.len() as u64) as usize];
        let detail = reported.store.event(&FactId::parse(&row.id).unwrap()).unwrap();
        assert_eq!(detail.row, *row);
        assert!(!detail.entries.is_empty());
        assert!(detail.entries.windows(2).all(|pair| pair[0].seq < pair[1].seq));
        for key in row.metadata.keys().filter(|key| !["closedBy", "durationSource"].contains(&key.as_str())) {
            let is_reported = detail.field_channels.contains_key(&format!("metadata.{key}"));
            let is_ours = key == "durationMs"
                || detail.entries.iter().all(|entry| !entry.fields.to_owned().contains_key(key));
            assert!(is_reported || is_ours, "{key}");
        }
    }
}

#[test]
fn changes_from_any_place_are_the_rows_behind_it() {
    let reported = reported();
    let mut all: Vec<&Row> = reported.rows.iter().collect();
    all.sort_by_key(|row| row.seq);
    let mut seen: Vec<Row> = Vec::new();
    let mut after = 0;
    loop {
        let rows = reported.store.changes(after, 700).unwrap();
        let Some(last) = rows.last() else { break };
        assert!(rows.windows(2).all(|pair| pair[0].seq <= pair[1].seq));
        after = last.seq;
        seen.extend(rows);
    }
    let key = |row: &Row| (row.seq, row.id.clone());
    assert_eq!(seen.iter().map(key).collect::<BTreeSet<_>>(), all.iter().map(|row| key(row)).collect());
    assert_eq!(seen.len(), all.len());
    assert!(reported.store.seq().unwrap() >= after);
    assert!(reported.store.changes(u64::MAX, 10).unwrap().is_empty());
}

#[test]
fn the_state_of_the_store_is_counted() {
    let reported = reported();
    let health = reported.store.health().unwrap();
    assert_eq!((health.events, health.tasks), (reported.rows.len() as u64, reported.tasks.len() as u64));
    assert_eq!(health.search_lag, 0);
    assert!(health.entries >= health.events && health.bytes > 0 && health.schema > 0);
    let outcomes = reported.store.outcomes().unwrap();
    assert_eq!(outcomes.received, outcomes.recorded);
    let sources = reported.store.sources().unwrap();
    assert_eq!(sources.iter().map(|source| source.observations).sum::<u64>(), outcomes.received);
    assert_eq!(reported.store.unrecognised().unwrap(), []);
    assert!(reported.world.path().exists());
}

#[test]
fn what_is_not_there_is_not_found_and_a_broken_cursor_is_refused() {
    let reported = reported();
    let no_one = TaskId::parse("t00000000000000000000").unwrap();
    let nothing = FactId::derive(&no_one, "x");
    assert!(matches!(reported.store.task(reported.now, &no_one), Err(QueryError::NotFound)));
    assert!(matches!(reported.store.timeline(&no_one, &RowFilter::default()), Err(QueryError::NotFound)));
    assert!(matches!(reported.store.event(&nothing), Err(QueryError::NotFound)));
    let of_task = FactId::derive(&id(reported.biggest()), "no such key");
    assert!(matches!(reported.store.event(&of_task), Err(QueryError::NotFound)));
    let paging = Paging { cursor: Some("AAAA".to_owned()), limit: 10 };
    let range = Range { paging: paging.clone(), ..Range::default() };
    let rows = RowFilter { paging: paging.clone(), ..RowFilter::default() };
    let task = id(reported.biggest());
    let is_bad =
        |answer: Result<(), QueryError>| assert!(matches!(answer, Err(QueryError::Bad(_))), "{answer:?}");
    is_bad(
        reported
            .store
            .tasks(reported.now, &TaskFilter { paging: paging.clone(), ..TaskFilter::default() })
            .map(drop),
    );
    is_bad(reported.store.timeline(&task, &rows).map(drop));
    is_bad(reported.store.turns(&task, &paging).map(drop));
    is_bad(reported.store.context(&task, &paging).map(drop));
    is_bad(reported.store.task_files(&task, true, &paging).map(drop));
    is_bad(reported.store.tools(&range).map(drop));
    is_bad(reported.store.loops(&range).map(drop));
    is_bad(reported.store.files(&range).map(drop));
    is_bad(
        reported
            .store
            .search(&SearchFilter { q: "x".to_owned(), range: range.clone(), ..SearchFilter::default() })
            .map(drop),
    );
    for by in [UsageBy::Day, UsageBy::Model, UsageBy::Task] {
        is_bad(reported.store.usage(&range, by, &Utc).map(drop));
    }
    let backwards = Range { since: Some(Millis(9)), until: Some(Millis(3)), ..Range::default() };
    is_bad(reported.store.tools(&backwards).map(drop));
}

#[test]
fn calls_made_at_once_are_drawn_beside_each_other_each_with_its_own_row() {
    let mut story = HistoryBuilder::new(11);
    let mut session = story.session(Agent::CLAUDE_CODE, "at-once", BEGIN, "/srv/web");
    story.at_once(&mut session, 4);
    let world = World::with(&story.observed, 100);
    let store = world.ledger.store();
    let task = session.key.task_id();
    let drawn = store.lanes(&task, None, None, 100).unwrap();
    let bins: Vec<_> = drawn
        .strips
        .iter()
        .filter(|strip| strip.lane == "implementation")
        .flat_map(|strip| &strip.bins)
        .collect();
    assert_eq!(bins.iter().map(|bin| bin.track).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(bins.iter().map(|bin| bin.id.clone().unwrap()).collect::<BTreeSet<_>>().len(), 4);
    assert_eq!(bins.iter().map(|bin| bin.title.clone()).collect::<BTreeSet<_>>().len(), 4);
}
