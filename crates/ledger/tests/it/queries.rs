//! Every question against a made-up history, compared with what reading every row says.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use agent_tracer_event::{Agent, CallState, FactId, Kind, Lane, Millis, TaskId, Usage};
use agent_tracer_ledger::view::{Page, Row, Task, TaskKind, TaskStatus, WaitingReason};
use agent_tracer_ledger::{
    Paging, QueryError, Range, RowFilter, SearchFilter, Store, TaskFilter, UsageBy, Utc, Zone,
};

use crate::queries_world::{BEGIN, Dice, HOUR_MS, Story};
use crate::world::World;

/// A history and every row of it, as the timelines tell it.
struct Told {
    world: World,
    store: Arc<dyn Store>,
    tasks: Vec<Task>,
    rows: Vec<Row>,
    now: Millis,
}

fn told() -> &'static Told {
    static TOLD: OnceLock<Told> = OnceLock::new();
    TOLD.get_or_init(|| {
        let mut story = Story::of(7, 100, 8);
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
        Told { world, store, tasks, rows, now }
    })
}

fn id(task: &Task) -> TaskId {
    TaskId::parse(&task.id).unwrap()
}

/// All parts of a list.
fn every<T>(mut ask: impl FnMut(Paging) -> Result<Page<T>, QueryError>) -> Vec<T> {
    every_of(137, &mut ask)
}

fn every_of<T>(limit: u32, ask: &mut impl FnMut(Paging) -> Result<Page<T>, QueryError>) -> Vec<T> {
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

impl Told {
    fn task_of(&self) -> HashMap<&str, &Task> {
        self.tasks.iter().map(|task| (task.id.as_str(), task)).collect()
    }

    fn biggest(&self) -> &Task {
        self.tasks.iter().max_by_key(|task| task.event_count).unwrap()
    }

    /// The task with the largest family.
    fn root(&self) -> &Task {
        let families = self.tasks.iter().map(|task| (self.descendants(&task.id).len(), task));
        let (members, root) = families.max_by_key(|(members, task)| (*members, task.id.clone())).unwrap();
        assert!(members > 2);
        root
    }

    fn descendants(&self, root: &str) -> BTreeSet<String> {
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

    /// Rows in a range, with the task of each.
    fn rows_in<'a>(&'a self, range: &Range) -> Vec<(&'a Row, &'a Task)> {
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
fn ranges() -> Vec<Range> {
    let day = |days: i64| Some(Millis((BEGIN / (24 * HOUR_MS) + days) * 24 * HOUR_MS));
    let project = Some("/srv/api".to_owned());
    vec![
        Range::default(),
        Range { since: day(3), until: day(20), ..Range::default() },
        Range { since: day(-400), until: day(400), ..Range::default() },
        Range { project: project.clone(), ..Range::default() },
        Range { since: day(5), project, agent: Some(Agent::ClaudeCode), ..Range::default() },
        Range { agent: Some(Agent::Codex), ..Range::default() },
        Range { agent_type: Some("Explore".to_owned()), until: day(25), ..Range::default() },
        Range { project: Some("/nowhere".to_owned()), ..Range::default() },
        Range { since: day(900), ..Range::default() },
    ]
}

fn is_call(row: &Row) -> bool {
    row.tool_name.is_some() && row.state.is_some()
}

fn is_failure(row: &Row) -> bool {
    is_call(row) && matches!(row.state, Some(CallState::Failed | CallState::Denied))
}

fn text<'a>(row: &'a Row, key: &str) -> Option<&'a str> {
    row.metadata.get(key)?.as_str()
}

fn took(row: &Row) -> Option<u64> {
    row.metadata.get("durationMs")?.as_u64()
}

#[test]
fn tasks_are_listed_newest_first_and_every_filter_is_the_filter_of_the_list() {
    let told = told();
    let key = |task: &Task| (task.last_event_at, task.id.clone());
    assert!(told.tasks.windows(2).all(|pair| pair[0].last_event_at >= pair[1].last_event_at));
    assert_eq!(told.tasks.iter().map(key).collect::<BTreeSet<_>>().len(), told.tasks.len());
    let middle = Millis(BEGIN + 200 * HOUR_MS);
    let filters: Vec<(TaskFilter, Box<dyn Fn(&Task) -> bool>)> = vec![
        (
            TaskFilter { agent: Some(Agent::Codex), ..TaskFilter::default() },
            Box::new(|task| task.agent == Agent::Codex),
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
        (TaskFilter { failed_calls: true, ..TaskFilter::default() }, Box::new(|task| task.failure_count > 0)),
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
        let found =
            every_of(23, &mut |paging| told.store.tasks(told.now, &TaskFilter { paging, ..filter.clone() }));
        let expected: Vec<&Task> = told.tasks.iter().filter(|task| is_wanted(task)).collect();
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{filter:?}");
    }
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
            for agent in [None, Some(Agent::ClaudeCode)] {
                let filter = TaskFilter {
                    status: status.clone(),
                    project: project.clone(),
                    agent,
                    ..TaskFilter::default()
                };
                let found =
                    every(|paging| told.store.tasks(told.now, &TaskFilter { paging, ..filter.clone() }));
                let expected: Vec<&Task> = told
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
        assert!(told.tasks.iter().any(|task| task.status == status), "the history has no {status:?}");
    }
}

#[test]
fn tasks_are_found_by_words_of_their_title_and_by_their_session() {
    let told = told();
    for (question, is_wanted) in [
        ("parser", Box::new(|task: &Task| task.title.contains("parser")) as Box<dyn Fn(&Task) -> bool>),
        ("look timeo", Box::new(|task| task.title.contains("Look") && task.title.contains("timeout"))),
        ("user", Box::new(|task| task.title.contains("getUserName"))),
        ("検索", Box::new(|task| task.title.contains("検索"))),
        ("größe", Box::new(|task| task.title.contains("Größe"))),
        ("session-0042", Box::new(|task| task.runtime_session_id.contains("session-0042"))),
        ("nothing-like-this", Box::new(|_| false)),
    ] {
        let filter = TaskFilter { q: Some(question.to_owned()), ..TaskFilter::default() };
        let found =
            every_of(11, &mut |paging| told.store.tasks(told.now, &TaskFilter { paging, ..filter.clone() }));
        let found: Vec<&str> = found.iter().map(|task| task.id.as_str()).collect();
        let expected: Vec<&str> =
            told.tasks.iter().filter(|task| is_wanted(task)).map(|task| task.id.as_str()).collect();
        assert_eq!(found, expected, "{question}");
        assert!(question.starts_with("nothing") || !found.is_empty(), "{question}");
    }
}

#[test]
fn a_task_counts_its_rows_and_its_tree_what_its_descendants_spent() {
    let told = told();
    let mut rows: HashMap<&str, Vec<&Row>> = HashMap::new();
    for row in &told.rows {
        rows.entry(row.task_id.as_str()).or_default().push(row);
    }
    for task in &told.tasks {
        let rows = &rows[task.id.as_str()];
        assert_eq!(task.event_count, rows.len() as u64);
        assert_eq!(task.tool_call_count, rows.iter().filter(|row| is_call(row)).count() as u64);
        assert_eq!(task.failure_count, rows.iter().filter(|row| is_failure(row)).count() as u64);
        let output: u64 =
            rows.iter().filter_map(|row| Usage::read(&row.metadata)).map(|usage| usage.output_tokens).sum();
        assert_eq!(task.usage.output_tokens, output);
        let children =
            told.tasks.iter().filter(|other| other.parent_task_id.as_deref() == Some(&task.id)).count();
        assert_eq!(task.child_count, children as u64);
        assert_eq!(told.store.task(told.now, &id(task)).unwrap(), *task);
    }
    let root = told.root();
    let family = told.descendants(&root.id);
    assert!(family.len() > 2);
    let spent = |task: &Task| task.usage.input_tokens;
    let expected: u64 = told.tasks.iter().filter(|task| family.contains(&task.id)).map(spent).sum();
    assert_eq!(root.tree_usage.input_tokens, expected);
    let tree = told.store.tree(told.now, &id(root)).unwrap().items;
    assert_eq!(tree.iter().map(|node| node.task.id.clone()).collect::<BTreeSet<_>>(), family);
    let mut depths: HashMap<&str, u32> = HashMap::new();
    for node in &tree {
        let expected = match (&node.task.parent_task_id, node.task.id == root.id) {
            (Some(parent), false) => depths[parent.as_str()] + 1,
            _ => 0,
        };
        assert_eq!(node.depth, expected, "parents come before children");
        depths.insert(&node.task.id, node.depth);
        assert_eq!(node.task, *told.tasks.iter().find(|task| task.id == node.task.id).unwrap());
    }
}

#[test]
fn timelines_are_in_order_whatever_the_page_the_direction_and_the_filter() {
    let told = told();
    for task in [told.biggest(), told.root()] {
        for tree in [false, true] {
            let family = if tree { told.descendants(&task.id) } else { BTreeSet::from([task.id.clone()]) };
            let filter = RowFilter { tree, ..RowFilter::default() };
            let ask = |filter: &RowFilter, limit: u32| {
                every_of(limit, &mut |paging| {
                    told.store.timeline(&id(task), &RowFilter { paging, ..filter.clone() })
                })
            };
            let all = ask(&filter, 500);
            let expected: BTreeSet<&str> = told
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
    let told = told();
    let mut several = 0;
    for task in &told.tasks {
        let rows: Vec<&Row> = told.rows.iter().filter(|row| row.task_id == task.id).collect();
        let stays: BTreeSet<&str> = rows.iter().map(|row| row.session_id.as_str()).collect();
        let resumes: BTreeSet<Millis> = rows
            .iter()
            .filter(|row| row.kind == Kind::SessionStarted && text(row, "sessionSource") == Some("resume"))
            .map(|row| row.occurred_at)
            .collect();
        assert_eq!(stays.len(), resumes.len() + 1, "{}", task.runtime_session_id);
        several += usize::from(stays.len() > 2);
        let summary = told.store.summary(told.now, &id(task)).unwrap();
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
    let told = told();
    let some = told.tasks.iter().step_by(9).map(|task| (task, false));
    for (task, is_large) in [(told.biggest(), true), (told.root(), true)].into_iter().chain(some) {
        for tree in [false, true] {
            let family = if tree { told.descendants(&task.id) } else { BTreeSet::from([task.id.clone()]) };
            let rows: Vec<&Row> = told.rows.iter().filter(|row| family.contains(&row.task_id)).collect();
            let ids = |is_wanted: &dyn Fn(&Row) -> bool| -> BTreeSet<String> {
                rows.iter().filter(|row| is_wanted(row)).map(|row| row.id.clone()).collect()
            };
            let task = id(task);
            let filter = |paging| RowFilter { tree, paging, ..RowFilter::default() };
            let calls = every_of(9, &mut |paging| told.store.tool_calls(&task, &filter(paging)));
            assert_eq!(calls.iter().map(|call| call.id.clone()).collect::<BTreeSet<_>>(), ids(&is_call));
            assert!(calls.windows(2).all(|pair| pair[0].started_at <= pair[1].started_at));
            let runs = every_of(9, &mut |paging| told.store.task_commands(&task, &filter(paging)));
            assert_eq!(
                runs.iter().map(|run| run.id.clone()).collect::<BTreeSet<_>>(),
                ids(&|row| row.kind == Kind::TerminalCommand)
            );
            assert!(runs.iter().all(|run| run.command.ends_with("--flag") && run.effect == "execute_check"));
            let looks = every_of(9, &mut |paging| told.store.exploration(&task, &filter(paging)));
            assert_eq!(
                looks.iter().map(|look| look.id.clone()).collect::<BTreeSet<_>>(),
                ids(&|row| row.lane == Lane::Exploration)
            );
            assert!(!is_large || looks.iter().any(|look| look.offset == Some(10) && look.limit == Some(20)));
            let web = every_of(9, &mut |paging| told.store.web(&task, &filter(paging)));
            assert_eq!(
                web.iter().map(|look| look.id.clone()).collect::<BTreeSet<_>>(),
                ids(&|row| text(row, "subtypeKey") == Some("web_search"))
            );
            assert!(
                web.iter()
                    .all(|look| look.domains == ["docs.rs"] && look.query.as_deref() == Some("rust fts5"))
            );
            let files = every_of(4, &mut |paging| told.store.task_files(&task, tree, &paging));
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
            let summary = told.store.summary(told.now, &task).unwrap();
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
    let told = told();
    let task = told.biggest();
    let rows: Vec<&Row> = told.rows.iter().filter(|row| row.task_id == task.id).collect();
    let turns = every_of(3, &mut |paging| told.store.turns(&id(task), &paging));
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
        let output: u64 = of_turn
            .iter()
            .filter_map(|row| Usage::read(&row.metadata))
            .map(|usage| usage.output_tokens)
            .sum();
        assert_eq!(turn.usage.output_tokens, output);
    }
}

#[test]
fn todos_and_the_context_chart_are_those_of_the_rows() {
    let told = told();
    let task = told.biggest();
    let rows: Vec<&Row> = told.rows.iter().filter(|row| row.task_id == task.id).collect();
    let mut states: BTreeMap<&str, &str> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.kind == Kind::TodoLogged) {
        states.insert(text(row, "todoId").unwrap(), text(row, "todoState").unwrap());
    }
    let todos = told.store.todos(&id(task)).unwrap().items;
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
            0 => told.store.context(&id(task), &Paging::default()).unwrap().items,
            limit => every_of(limit, &mut |paging| told.store.context(&id(task), &paging)),
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
    let told = told();
    for task in [told.biggest(), told.root()] {
        let family = told.descendants(&task.id);
        let rows: Vec<&Row> = told.rows.iter().filter(|row| family.contains(&row.task_id)).collect();
        for width in [1, 50, 1_000] {
            let drawn = told.store.lanes(&id(task), None, None, width).unwrap();
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
            for bin in drawn.strips.iter().flat_map(|strip| &strip.bins) {
                assert_eq!(bin.id.is_some(), bin.count == 1);
                assert!(bin.start <= bin.end && bin.failures <= bin.count && !bin.title.is_empty());
            }
        }
        let middle = rows[rows.len() / 2].occurred_at;
        let part = told.store.lanes(&id(task), Some(middle), Some(Millis(middle.0 + 60_000)), 100).unwrap();
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
    let error = told.store.lanes(&id(told.root()), Some(Millis(5)), Some(Millis(5)), 10);
    assert!(matches!(error, Err(QueryError::Bad(_))));
}

#[test]
fn tools_and_failures_are_those_of_the_calls_in_the_range() {
    let told = told();
    for range in ranges() {
        let rows = told.rows_in(&range);
        let mut expected: BTreeMap<&str, (u64, u64, u64)> = BTreeMap::new();
        let mut durations: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        let mut classes: BTreeMap<(String, &str), u64> = BTreeMap::new();
        for (row, _) in rows.iter().filter(|(row, _)| is_call(row)) {
            let tool = row.tool_name.as_deref().unwrap();
            let sums = expected.entry(tool).or_default();
            sums.0 += 1;
            sums.1 += u64::from(is_failure(row));
            sums.2 += took(row).unwrap_or(0);
            durations.entry(tool).or_default().extend(took(row));
            if is_failure(row) {
                *classes
                    .entry((text(row, "errorClass").unwrap_or("unknown").to_owned(), tool))
                    .or_default() += 1;
            }
        }
        let tools = every_of(2, &mut |paging| told.store.tools(&Range { paging, ..range.clone() }));
        let found: BTreeMap<&str, (u64, u64, u64)> = tools
            .iter()
            .map(|tool| (tool.tool.as_str(), (tool.count, tool.failures, tool.total_ms)))
            .collect();
        assert_eq!(found, expected, "{range:?}");
        assert!(tools.windows(2).all(|pair| pair[0].count >= pair[1].count));
        if range.agent.is_none() && range.agent_type.is_none() {
            for tool in &tools {
                let all = durations.get_mut(tool.tool.as_str()).unwrap();
                all.sort_unstable();
                for (answer, share) in [(tool.p50_ms, 0.5), (tool.p95_ms, 0.95), (tool.p99_ms, 0.99)] {
                    let rank = ((all.len() as f64 * share).ceil() as usize).max(1);
                    let exact = all[rank - 1] as f64;
                    assert!(
                        (answer.unwrap() - exact).abs() <= exact * 0.01 + 1e-9,
                        "{answer:?} is not {exact}"
                    );
                }
            }
        }
        let failures = every_of(2, &mut |paging| told.store.failures(&Range { paging, ..range.clone() }));
        let found: BTreeMap<(String, &str), u64> = failures
            .iter()
            .map(|failure| ((failure.error_class.clone(), failure.tool.as_str()), failure.count))
            .collect();
        assert_eq!(found, classes, "{range:?}");
        assert!(failures.iter().all(|failure| failure.calls == expected[failure.tool.as_str()].0));
    }
}

#[test]
fn commands_servers_skills_and_files_are_those_of_the_calls_in_the_range() {
    let told = told();
    for range in ranges() {
        let rows = told.rows_in(&range);
        let calls: Vec<&Row> = rows.iter().map(|(row, _)| *row).filter(|row| is_call(row)).collect();
        let mut commands: BTreeMap<String, u64> = BTreeMap::new();
        let mut servers: BTreeMap<String, u64> = BTreeMap::new();
        let mut skills: BTreeMap<String, u64> = BTreeMap::new();
        let mut files: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for row in &calls {
            if let Some(line) = text(row, "command") {
                *commands.entry(line.trim_end_matches("--flag").trim().to_owned()).or_default() += 1;
            }
            if let Some(server) = text(row, "mcpServer") {
                *servers.entry(server.to_owned()).or_default() += 1;
            }
            if let Some(skill) = text(row, "skillName") {
                *skills.entry(skill.to_owned()).or_default() += 1;
            }
            for path in &row.file_paths {
                let used = files.entry(path.clone()).or_default();
                if text(row, "subtypeKey") == Some("read_file") { used.0 += 1 } else { used.1 += 1 }
            }
        }
        let asked = |paging| Range { paging, ..range.clone() };
        let found = every_of(2, &mut |paging| told.store.commands(&asked(paging)));
        assert_eq!(
            found.into_iter().map(|stat| (stat.command, stat.count)).collect::<BTreeMap<_, _>>(),
            commands
        );
        let found = every_of(2, &mut |paging| told.store.mcp(&asked(paging)));
        assert_eq!(
            found.into_iter().map(|stat| (stat.server, stat.count)).collect::<BTreeMap<_, _>>(),
            servers
        );
        let found = every_of(1, &mut |paging| told.store.skills(&asked(paging)));
        let activated: BTreeMap<String, u64> =
            found.into_iter().filter(|stat| stat.count > 0).map(|stat| (stat.skill, stat.count)).collect();
        assert_eq!(activated, skills);
        let found = every_of(7, &mut |paging| told.store.files(&asked(paging)));
        assert_eq!(
            found
                .iter()
                .map(|stat| (stat.path.clone(), (stat.reads, stat.changes)))
                .collect::<BTreeMap<_, _>>(),
            files,
            "{range:?}"
        );
        assert!(
            found.windows(2).all(|pair| pair[0].reads + pair[0].changes >= pair[1].reads + pair[1].changes)
        );
        if range.project.is_none() {
            assert!(found.iter().all(|stat| stat.path.starts_with(&format!("{}/src", stat.project))));
        }
    }
}

/// Somewhere with half an hour.
struct Ahead(i32);

impl Zone for Ahead {
    fn offset_seconds(&self, _: Millis) -> i32 {
        self.0
    }
}

#[test]
fn usage_by_anything_is_that_of_the_responses() {
    let told = told();
    for range in ranges() {
        let rows = told.rows_in(&range);
        let responses: Vec<(&Row, &Task, Usage)> =
            rows.iter().filter_map(|(row, task)| Some((*row, *task, Usage::read(&row.metadata)?))).collect();
        let naive = |key: &dyn Fn(&Row, &Task) -> Option<String>| -> BTreeMap<String, (u64, u64, u64)> {
            let mut sums: BTreeMap<String, (u64, u64, u64)> = BTreeMap::new();
            for (row, task, usage) in &responses {
                if let Some(key) = key(row, task) {
                    let sum = sums.entry(key).or_default();
                    sum.0 += 1;
                    sum.1 += usage.output_tokens;
                    sum.2 += usage.cache_read_tokens;
                }
            }
            sums
        };
        let asked = |by: UsageBy, zone: &dyn Zone| -> BTreeMap<String, (u64, u64, u64)> {
            let found =
                every_of(3, &mut |paging| told.store.usage(&Range { paging, ..range.clone() }, by, zone));
            let count = found.len();
            let sums: BTreeMap<String, (u64, u64, u64)> = found
                .into_iter()
                .map(|bucket| {
                    let usage = bucket.usage;
                    (bucket.key, (usage.provenance.responses, usage.output_tokens, usage.cache_read_tokens))
                })
                .collect();
            assert_eq!(sums.len(), count, "a key twice by {by:?}");
            sums
        };
        assert_eq!(asked(UsageBy::Model, &Utc), naive(&|row, _| text(row, "model").map(str::to_owned)));
        assert_eq!(asked(UsageBy::Project, &Utc), naive(&|_, task| Some(task.project.clone())));
        assert_eq!(asked(UsageBy::Agent, &Utc), naive(&|_, task| Some(task.agent.to_string())));
        assert_eq!(asked(UsageBy::AgentType, &Utc), naive(&|_, task| Some(task.agent_type.clone())));
        let skills: BTreeMap<String, u64> =
            asked(UsageBy::Skill, &Utc).into_iter().map(|(key, sums)| (key, sums.1)).collect();
        let expected = naive(&|row, _| text(row, "attributionSkill").map(str::to_owned));
        assert_eq!(skills, expected.into_iter().map(|(key, sums)| (key, sums.1)).collect());
        for offset in [0, 7_200, -18_000, 20_700, 43_200] {
            let local = |row: &Row| Millis(row.occurred_at.0 + i64::from(offset) * 1_000).to_string();
            let days = naive(&|row, _| Some(local(row).chars().take(10).collect()));
            assert_eq!(asked(UsageBy::Day, &Ahead(offset)), days, "{range:?} {offset}");
            let months = naive(&|row, _| Some(local(row).chars().take(7).collect()));
            assert_eq!(asked(UsageBy::Month, &Ahead(offset)), months, "{range:?} {offset}");
            let weeks = naive(&|row, _| {
                let day = (row.occurred_at.0 + i64::from(offset) * 1_000).div_euclid(24 * HOUR_MS);
                let monday = day - (day + 3).rem_euclid(7);
                Some(Millis(monday * 24 * HOUR_MS).to_string().chars().take(10).collect())
            });
            assert_eq!(asked(UsageBy::Week, &Ahead(offset)), weeks, "{range:?} {offset}");
        }
        let tasks = asked(UsageBy::Task, &Utc);
        let expected: BTreeMap<String, u64> = told
            .tasks
            .iter()
            .filter(|task| range.since.is_none_or(|since| task.last_event_at >= since))
            .filter(|task| range.until.is_none_or(|until| task.started_at < until))
            .filter(|task| range.project.as_ref().is_none_or(|project| task.project == *project))
            .filter(|task| range.agent.is_none_or(|agent| task.agent == agent))
            .filter(|task| range.agent_type.as_ref().is_none_or(|wanted| task.agent_type == *wanted))
            .map(|task| (task.id.clone(), task.usage.output_tokens))
            .collect();
        assert_eq!(tasks.into_iter().map(|(key, sums)| (key, sums.1)).collect::<BTreeMap<_, _>>(), expected);
    }
}

#[test]
fn types_of_agents_count_their_tasks_calls_and_tokens() {
    let told = told();
    for range in ranges() {
        let mut expected: BTreeMap<&str, (u64, u64, u64)> = BTreeMap::new();
        for (row, task) in told.rows_in(&range) {
            let sums = expected.entry(task.agent_type.as_str()).or_default();
            sums.1 += u64::from(is_call(row));
            sums.2 += Usage::read(&row.metadata).map_or(0, |usage| usage.output_tokens);
        }
        for task in &told.tasks {
            let is_in = range.since.is_none_or(|since| task.last_event_at >= since)
                && range.until.is_none_or(|until| task.started_at < until)
                && range.project.as_ref().is_none_or(|project| task.project == *project)
                && range.agent.is_none_or(|agent| task.agent == agent)
                && range.agent_type.as_ref().is_none_or(|wanted| task.agent_type == *wanted);
            if is_in {
                expected.entry(task.agent_type.as_str()).or_default().0 += 1;
            }
        }
        let found = every_of(1, &mut |paging| told.store.agents(&Range { paging, ..range.clone() }));
        let found: BTreeMap<&str, (u64, u64, u64)> = found
            .iter()
            .map(|stat| (stat.agent_type.as_str(), (stat.tasks, stat.tool_calls, stat.usage.output_tokens)))
            .collect();
        assert_eq!(found, expected, "{range:?}");
    }
}

#[test]
fn activity_adds_up_to_the_rows_of_each_column() {
    let told = told();
    for range in ranges() {
        for buckets in [1, 10, 96, 400] {
            let columns = told.store.activity(&range, buckets).unwrap().items;
            assert!(columns.len() <= buckets as usize);
            let rows = told.rows_in(&range);
            let sum: u64 = columns.iter().map(|column| column.events).sum();
            assert_eq!(sum, rows.len() as u64, "{range:?} in {buckets}");
            let calls: u64 = columns.iter().map(|column| column.tool_calls).sum();
            assert_eq!(calls, rows.iter().filter(|(row, _)| is_call(row)).count() as u64);
            for pair in columns.windows(2) {
                let inside = rows
                    .iter()
                    .filter(|(row, _)| (pair[0].at..pair[1].at).contains(&row.occurred_at))
                    .count();
                assert_eq!(pair[0].events, inside as u64);
            }
        }
    }
}

#[test]
fn loops_are_calls_made_three_times_or_more_in_a_task() {
    let told = told();
    let mut repeats: BTreeMap<(String, String), Vec<&Row>> = BTreeMap::new();
    for row in told.rows.iter().filter(|row| is_call(row)) {
        if let Some(signature) = text(row, "callSignature") {
            repeats.entry((row.task_id.clone(), signature.to_owned())).or_default().push(row);
        }
    }
    let mut expected: Vec<(String, u64, u64, Millis, Millis)> = repeats
        .into_iter()
        .filter(|(_, rows)| rows.len() >= 3)
        .map(|((task, _), rows)| {
            let failures = rows.iter().filter(|row| is_failure(row)).count() as u64;
            let times = rows.iter().map(|row| row.occurred_at);
            (task, rows.len() as u64, failures, times.clone().min().unwrap(), times.max().unwrap())
        })
        .collect();
    expected.sort();
    let loops = every_of(6, &mut |paging| told.store.loops(&Range { paging, ..Range::default() }));
    assert!(loops.windows(2).all(|pair| pair[0].count >= pair[1].count));
    let mut found: Vec<(String, u64, u64, Millis, Millis)> = loops
        .iter()
        .map(|item| (item.task_id.clone(), item.count, item.failures, item.first_at, item.last_at))
        .collect();
    found.sort();
    assert_eq!(found, expected);
    assert!(
        loops.iter().all(|item| told
            .rows
            .iter()
            .any(|row| row.id == item.last_id && row.occurred_at == item.last_at))
    );
}

#[test]
fn who_waits_for_an_answer_comes_first_and_the_longest_wait_before_others() {
    let told = told();
    let waiting = told.store.attention(told.now).unwrap().items;
    let asks: Vec<&str> = waiting
        .iter()
        .filter(|item| item.reason != WaitingReason::Idle)
        .map(|item| told.task_of()[item.task_id.as_str()].runtime_session_id.as_str())
        .collect();
    assert_eq!(asks, ["asks-early", "asks-late"]);
    assert_eq!(waiting[0].text.as_deref(), Some("Permission asked: rm"));
    let row = FactId::parse(waiting[0].row_id.as_ref().unwrap()).unwrap();
    assert_eq!(told.store.event(&row).unwrap().row.kind, Kind::PermissionRequest);
    let key = |item: &agent_tracer_ledger::view::Attention| (item.reason == WaitingReason::Idle, item.since);
    assert!(waiting.windows(2).all(|pair| key(&pair[0]) <= key(&pair[1])));
    let expected: BTreeSet<&str> = told
        .tasks
        .iter()
        .filter(|task| task.status == TaskStatus::Waiting)
        .map(|task| task.id.as_str())
        .collect();
    assert_eq!(waiting.iter().map(|item| item.task_id.as_str()).collect::<BTreeSet<_>>(), expected);
    assert!(told.store.attention(Millis(told.now.0 + 25 * HOUR_MS)).unwrap().items.is_empty());
}

#[test]
fn search_finds_every_row_with_the_words_and_nothing_else() {
    let told = told();
    let is_searched = |row: &Row| !matches!(row.kind, Kind::TokenUsage | Kind::ContextSnapshot);
    let holds = |row: &Row, word: &str| {
        let mut texts =
            vec![row.title.to_lowercase(), row.tool_name.clone().unwrap_or_default().to_lowercase()];
        texts.extend(row.body.iter().map(|body| body.to_lowercase()));
        texts.extend(row.file_paths.iter().cloned());
        texts.extend(
            ["command", "webQuery", "skillName", "errorClass", "subject"]
                .iter()
                .filter_map(|key| text(row, key))
                .map(str::to_owned),
        );
        texts.iter().any(|text| text.contains(word))
    };
    for (question, words) in [
        ("parser", vec!["parser"]),
        ("Please timeout", vec!["please", "timeout"]),
        ("file17", vec!["file17"]),
        ("cargo tes", vec!["cargo", "test"]),
        ("検索", vec!["検索"]),
        ("GRÖSSE größe", vec!["grösse", "größe"]),
        ("größe", vec!["größe"]),
        ("timeo", vec!["timeo"]),
        ("fts", vec!["fts"]),
        ("missing_everywhere", vec!["missing_everywhere"]),
    ] {
        let filter = SearchFilter { q: question.to_owned(), ..SearchFilter::default() };
        let hits = every(|paging| {
            told.store.search(&SearchFilter { range: Range { paging, ..Range::default() }, ..filter.clone() })
        });
        let found: BTreeSet<&str> = hits.iter().map(|hit| hit.row.id.as_str()).collect();
        let expected: BTreeSet<&str> = told
            .rows
            .iter()
            .filter(|row| is_searched(row) && words.iter().all(|word| holds(row, word)))
            .map(|row| row.id.as_str())
            .collect();
        assert_eq!(found, expected, "{question}");
        assert_eq!(found.len(), hits.len(), "no hit twice");
        assert!(hits.iter().all(|hit| hit.snippet.contains('⟦') && !hit.task_title.is_empty()), "{question}");
    }
}

#[test]
fn search_is_narrowed_by_tool_state_kind_length_task_and_range() {
    let told = told();
    let task = told.biggest();
    let day = (BEGIN / (24 * HOUR_MS) + 4) * 24 * HOUR_MS;
    let filters: Vec<(SearchFilter, Box<dyn Fn(&Row) -> bool>)> = vec![
        (
            SearchFilter {
                tool: Some("Bash".to_owned()),
                state: Some("failed".to_owned()),
                ..SearchFilter::default()
            },
            Box::new(|row| row.tool_name.as_deref() == Some("Bash") && row.state == Some(CallState::Failed)),
        ),
        (
            SearchFilter { q: "cache".to_owned(), kind: Some(Kind::UserMessage), ..SearchFilter::default() },
            Box::new(|row| row.kind == Kind::UserMessage && row.title.contains("cache")),
        ),
        (
            SearchFilter { q: "parser".to_owned(), longer_than_ms: Some(15_000), ..SearchFilter::default() },
            Box::new(|row| row.title.contains("parser") && took(row).is_some_and(|took| took >= 15_000)),
        ),
        (
            SearchFilter { q: "index".to_owned(), task: Some(id(task)), ..SearchFilter::default() },
            Box::new(move |row| row.task_id == task.id && row.title.contains("index")),
        ),
        (
            SearchFilter {
                q: "deploy".to_owned(),
                range: Range {
                    since: Some(Millis(day + 5)),
                    until: Some(Millis(day + 100 * HOUR_MS)),
                    ..Range::default()
                },
                ..SearchFilter::default()
            },
            Box::new(move |row| {
                row.title.contains("deploy") && (day + 5..day + 100 * HOUR_MS).contains(&row.occurred_at.0)
            }),
        ),
        (
            SearchFilter {
                q: "retry".to_owned(),
                range: Range {
                    project: Some("/opt/tools".to_owned()),
                    agent: Some(Agent::Codex),
                    agent_type: Some("main".to_owned()),
                    ..Range::default()
                },
                ..SearchFilter::default()
            },
            Box::new(|row| {
                let told = self::told();
                let task = told.tasks.iter().find(|task| task.id == row.task_id).unwrap();
                row.title.contains("retry")
                    && task.project == "/opt/tools"
                    && task.agent == Agent::Codex
                    && row.agent_type == "main"
            }),
        ),
        (SearchFilter::default(), Box::new(|_| false)),
        (SearchFilter { q: "  ?! ".to_owned(), ..SearchFilter::default() }, Box::new(|_| false)),
    ];
    for (filter, is_wanted) in filters {
        let hits = every_of(17, &mut |paging| {
            let range = Range { paging, ..filter.range.clone() };
            told.store.search(&SearchFilter { range, ..filter.clone() })
        });
        let found: BTreeSet<&str> = hits.iter().map(|hit| hit.row.id.as_str()).collect();
        let expected: BTreeSet<&str> =
            told.rows.iter().filter(|row| is_wanted(row)).map(|row| row.id.as_str()).collect();
        assert_eq!(found, expected, "{filter:?}");
    }
    let odd = SearchFilter { state: Some("gone".to_owned()), ..SearchFilter::default() };
    assert!(matches!(told.store.search(&odd), Err(QueryError::Bad(_))));
    for question in
        ["\"", "a\" OR \"b", "* NEAR(", "-x", "col:word", "AND OR NOT", "'; DROP TABLE fact; --", "\u{0}"]
    {
        told.store.search(&SearchFilter { q: question.to_owned(), ..SearchFilter::default() }).unwrap();
        told.store
            .tasks(told.now, &TaskFilter { q: Some(question.to_owned()), ..TaskFilter::default() })
            .unwrap();
    }
}

#[test]
fn an_event_tells_who_said_what() {
    let told = told();
    let mut dice = Dice::new(3);
    for _ in 0..200 {
        let row = &told.rows[dice.below(told.rows.len() as u64) as usize];
        let detail = told.store.event(&FactId::parse(&row.id).unwrap()).unwrap();
        assert_eq!(detail.row, *row);
        assert!(!detail.entries.is_empty());
        assert!(detail.entries.windows(2).all(|pair| pair[0].seq < pair[1].seq));
        for key in row.metadata.keys().filter(|key| !["closedBy", "durationSource"].contains(&key.as_str())) {
            let is_told = detail.field_channels.contains_key(&format!("metadata.{key}"));
            let is_ours = key == "durationMs"
                || detail.entries.iter().all(|entry| !entry.fields.to_owned().contains_key(key));
            assert!(is_told || is_ours, "{key}");
        }
    }
}

#[test]
fn changes_from_any_place_are_the_rows_behind_it() {
    let told = told();
    let mut all: Vec<&Row> = told.rows.iter().collect();
    all.sort_by_key(|row| row.seq);
    let mut seen: Vec<Row> = Vec::new();
    let mut after = 0;
    loop {
        let rows = told.store.changes(after, 700).unwrap();
        let Some(last) = rows.last() else { break };
        assert!(rows.windows(2).all(|pair| pair[0].seq <= pair[1].seq));
        after = last.seq;
        seen.extend(rows);
    }
    let key = |row: &Row| (row.seq, row.id.clone());
    assert_eq!(seen.iter().map(key).collect::<BTreeSet<_>>(), all.iter().map(|row| key(row)).collect());
    assert_eq!(seen.len(), all.len());
    assert!(told.store.seq().unwrap() >= after);
    assert!(told.store.changes(u64::MAX, 10).unwrap().is_empty());
}

#[test]
fn the_state_of_the_store_is_counted() {
    let told = told();
    let health = told.store.health().unwrap();
    assert_eq!((health.events, health.tasks), (told.rows.len() as u64, told.tasks.len() as u64));
    assert_eq!(health.search_lag, 0);
    assert!(health.entries >= health.events && health.bytes > 0 && health.schema > 0);
    let outcomes = told.store.outcomes().unwrap();
    assert_eq!(outcomes.received, outcomes.recorded);
    let sources = told.store.sources().unwrap();
    assert_eq!(sources.iter().map(|source| source.observations).sum::<u64>(), outcomes.received);
    assert_eq!(told.store.unrecognised().unwrap(), []);
    assert!(told.world.path().exists());
}

#[test]
fn what_is_not_there_is_not_found_and_a_broken_cursor_is_refused() {
    let told = told();
    let nobody = TaskId::parse("t00000000000000000000").unwrap();
    let nothing = FactId::derive(&nobody, "x");
    assert!(matches!(told.store.task(told.now, &nobody), Err(QueryError::NotFound)));
    assert!(matches!(told.store.timeline(&nobody, &RowFilter::default()), Err(QueryError::NotFound)));
    assert!(matches!(told.store.event(&nothing), Err(QueryError::NotFound)));
    let of_task = FactId::derive(&id(told.biggest()), "no such key");
    assert!(matches!(told.store.event(&of_task), Err(QueryError::NotFound)));
    let paging = Paging { cursor: Some("AAAA".to_owned()), limit: 10 };
    let range = Range { paging: paging.clone(), ..Range::default() };
    let rows = RowFilter { paging: paging.clone(), ..RowFilter::default() };
    let task = id(told.biggest());
    let is_bad =
        |answer: Result<(), QueryError>| assert!(matches!(answer, Err(QueryError::Bad(_))), "{answer:?}");
    is_bad(
        told.store.tasks(told.now, &TaskFilter { paging: paging.clone(), ..TaskFilter::default() }).map(drop),
    );
    is_bad(told.store.timeline(&task, &rows).map(drop));
    is_bad(told.store.turns(&task, &paging).map(drop));
    is_bad(told.store.context(&task, &paging).map(drop));
    is_bad(told.store.task_files(&task, true, &paging).map(drop));
    is_bad(told.store.tools(&range).map(drop));
    is_bad(told.store.loops(&range).map(drop));
    is_bad(told.store.files(&range).map(drop));
    is_bad(
        told.store
            .search(&SearchFilter { q: "x".to_owned(), range: range.clone(), ..SearchFilter::default() })
            .map(drop),
    );
    for by in [UsageBy::Day, UsageBy::Model, UsageBy::Task] {
        is_bad(told.store.usage(&range, by, &Utc).map(drop));
    }
    let backwards = Range { since: Some(Millis(9)), until: Some(Millis(3)), ..Range::default() };
    is_bad(told.store.tools(&backwards).map(drop));
}
