//! One contract for two engines: the same events, the same questions, the same answers.
//!
//! Every captured scenario is brought to an embedded ledger in parts; after each part the changes are shipped, and
//! every other shipment is shipped twice. Then both are queried. [`COMPARED`] names the queries; a query that is not
//! there is not claimed. Permitted differences are documented where they are evened out: cursors (each engine has its
//! own form for the same place, so pages are followed to the end), the owner of a task, the order among tasks, loops,
//! hits and files of a task that the list's order calls equal, and the order of changes.
//!
//! An engine needs some milliseconds to plan any statement, however little it reads: tasks are asked about side by side.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent_tracer_event::{Agent, Kind, Lane, Millis, TaskId};
use agent_tracer_fleet::clickhouse::{Fleet, Reader, RollupDelays};
use agent_tracer_ledger::shipment::Shipment;
use agent_tracer_ledger::view::{Page, TaskKind, TaskStatus};
use agent_tracer_ledger::{
    Answer, MAX_LIMIT, Observed, Paging, QueryError, RowFilter, Store, TaskDetails, TaskFilter, Tasks,
    Timeline,
};
use agent_tracer_testkit::scenarios;
use serde::Serialize;
use serde_json::{Value, json};

use crate::clickhouse::numbers;
use crate::clickhouse::world::World;
use crate::engine;

/// The questions that are compared.
pub(crate) const COMPARED: [&str; 41] = [
    "activity",
    "agents",
    "attention",
    "blocks",
    "changes",
    "commands",
    "context",
    "decisions",
    "durations",
    "event",
    "exploration",
    "failures",
    "files",
    "health",
    "lanes",
    "limits",
    "loops",
    "mcp",
    "permissions",
    "questions",
    "rules",
    "search",
    "skills",
    "summary",
    "task",
    "task_commands",
    "task_files",
    "task_usage",
    "tasks",
    "timeline",
    "todos",
    "tool_calls",
    "tools",
    "tree",
    "turns",
    "unknown_task",
    "usage by day",
    "usage by name",
    "usage by task",
    "usage in another zone",
    "web",
];

/// Closes days at their end, without the grace period for marks.
pub(crate) const AT_ONCE_CLOSED: RollupDelays = RollupDelays { closes_ms: 0, grace_ms: 0 };

/// As many tasks are asked about at once.
const AT_ONCE: usize = 4;

/// Ships what changed after a place; gives the next place. Of a long history the shipments become larger and larger, as
/// those of a machine that was offline for weeks may be.
pub(crate) fn ship(world: &World, owner: &str, fleet: &Fleet, mut after: u64) -> u64 {
    let mut limit = 1_000;
    for round in 0.. {
        let shipment = world.outbox.after(after, limit).unwrap();
        if round >= 8 {
            limit = (limit * 2).min(16_000);
        }
        if shipment.until == after {
            break;
        }
        // As it is sent: what is not in the text is not there.
        let text = serde_json::to_string(&shipment).unwrap();
        let shipment: Shipment = serde_json::from_str(&text).unwrap();
        fleet.write(owner, &shipment).unwrap();
        if round % 2 == 0 {
            fleet.write(owner, &shipment).unwrap();
        }
        after = shipment.until;
    }
    after
}

/// Both engines, and what was compared.
pub(crate) struct Both {
    name: String,
    pub(crate) sqlite: Arc<dyn Store>,
    pub(crate) reader: Reader,
    /// Every query is made in every way. Of a long history only some are: short pages cost many statements.
    pub(crate) is_asked_whole: bool,
    compared: Mutex<BTreeSet<&'static str>>,
    differences: Mutex<Vec<String>>,
}

pub(crate) fn to_json<T: Serialize>(answer: Answer<T>) -> Value {
    match answer {
        Ok(value) => serde_json::to_value(value).unwrap(),
        Err(QueryError::Bad(what)) => json!({ "bad": what }),
        Err(QueryError::NotFound) => json!("not found"),
        Err(QueryError::Damaged(what) | QueryError::Store(what)) => {
            panic!("the store could not answer: {what}")
        }
    }
}

/// Removes the owners from an answer: a machine's own store has none.
fn without_owners(answer: &mut Value) {
    match answer {
        Value::Object(fields) => {
            fields.remove("owner");
            fields.values_mut().for_each(without_owners);
        }
        Value::Array(items) => items.iter_mut().for_each(without_owners),
        _ => {}
    }
}

impl Both {
    /// Returns a ledger, and what it shipped under this name.
    pub(crate) fn of(world: &World, fleet: &Arc<Fleet>, name: &str, is_asked_whole: bool) -> Self {
        Self {
            name: name.to_owned(),
            sqlite: world.ledger.store(),
            reader: Reader::new(Arc::clone(fleet), vec![name.to_owned()]),
            is_asked_whole,
            compared: Mutex::default(),
            differences: Mutex::default(),
        }
    }

    /// Returns whether the task or range of this turn is queried in every way.
    pub(crate) fn asks_whole(&self, turn: usize) -> bool {
        self.is_asked_whole || turn.is_multiple_of(4)
    }

    /// Returns the number of items on a page, so short that there are several pages wherever every query is made.
    pub(crate) fn page(&self, turn: usize, short: u32) -> u32 {
        if self.asks_whole(turn) { short } else { 500 }
    }

    pub(crate) fn compare(&self, question: &'static str, about: &str, sqlite: &Value, clickhouse: &Value) {
        self.compared.lock().unwrap_or_else(PoisonError::into_inner).insert(question);
        let mut clickhouse = clickhouse.clone();
        without_owners(&mut clickhouse);
        if *sqlite == clickhouse {
            return;
        }
        let text = |value: &Value| serde_json::to_string_pretty(value).unwrap();
        let (sqlite, clickhouse) = (text(sqlite), text(&clickhouse));
        let diff =
            similar::TextDiff::configure().timeout(Duration::from_secs(5)).diff_lines(&sqlite, &clickhouse);
        let diff = diff.unified_diff().context_radius(6).header("sqlite", "clickhouse").to_string();
        let diff: String = diff.chars().take(1_500).collect();
        let diff = format!("`{question}` differs in `{}` ({about}):\n{diff}", self.name);
        self.differences.lock().unwrap_or_else(PoisonError::into_inner).push(diff);
    }

    /// Nothing differed so far.
    pub(crate) fn assert_same(&self) {
        let differences = self.differences.lock().unwrap_or_else(PoisonError::into_inner);
        let first: Vec<&str> = differences.iter().take(8).map(String::as_str).collect();
        assert!(first.is_empty(), "{} differences, the first:\n{}", differences.len(), first.join("\n\n"));
    }
}

/// Asks both engines the same and compares.
macro_rules! same {
    ($both:expr, $question:literal, $about:expr, |$store:ident| $ask:expr) => {{
        let sqlite = {
            let $store = $both.sqlite.as_ref();
            to_json($ask)
        };
        let clickhouse = {
            let $store = &$both.reader;
            to_json($ask)
        };
        $both.compare($question, &format!("{:?}", $about), &sqlite, &clickhouse);
    }};
}

pub(crate) use same;

/// Returns every page of a list, one after the other: the first three short, the next longer and longer, because a long
/// list in short pages costs thousands of statements.
pub(crate) fn every<T>(mut limit: u32, mut ask: impl FnMut(Paging) -> Answer<Page<T>>) -> Answer<Vec<T>> {
    let mut all = Vec::new();
    let mut cursor = None;
    for turn in 0.. {
        if turn >= 3 {
            limit = limit.saturating_mul(2).min(MAX_LIMIT);
        }
        let page = ask(Paging { cursor, limit })?;
        assert!(page.items.len() <= limit as usize);
        all.extend(page.items);
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    Ok(all)
}

/// Items in the list's order, those that it calls equal by their text.
pub(crate) fn evened<T: Serialize>(
    answer: Answer<Vec<T>>,
    rank: impl Fn(&Value) -> Value,
) -> Answer<Vec<Value>> {
    let items: Vec<Value> = answer?.into_iter().map(|item| serde_json::to_value(item).unwrap()).collect();
    let mut groups: Vec<(Value, Vec<Value>)> = Vec::new();
    for item in items {
        let rank = rank(&item);
        match groups.last_mut() {
            Some((last, group)) if *last == rank => group.push(item),
            _ => groups.push((rank, vec![item])),
        }
    }
    for (_, group) in &mut groups {
        group.sort_by_cached_key(ToString::to_string);
    }
    Ok(groups.into_iter().flat_map(|(_, group)| group).collect())
}

fn last_event(task: &Value) -> Value {
    task["lastEventAt"].clone()
}

fn ask_of_lists(both: &Both, now: Millis, ids: &[TaskId], page: u32) {
    use TaskStatus::{Abandoned, Completed, Failed, Running, Waiting};
    let first = both.sqlite.task(now, &ids[0]).unwrap();
    let mut filters = vec![TaskFilter::default()];
    for status in
        [vec![Running], vec![Waiting], vec![Completed, Failed], vec![Abandoned], vec![Running, Waiting]]
    {
        filters.push(TaskFilter { status, ..TaskFilter::default() });
    }
    let words: String = first.title.chars().take(6).collect();
    filters.extend([
        TaskFilter { agent: Some(Agent::CODEX), ..TaskFilter::default() },
        TaskFilter { kind: Some(TaskKind::Background), ..TaskFilter::default() },
        TaskFilter { failed_calls: true, ..TaskFilter::default() },
        TaskFilter { failed_calls: true, kind: Some(TaskKind::Primary), ..TaskFilter::default() },
        TaskFilter { project: Some(first.project.clone()), ..TaskFilter::default() },
        TaskFilter { project: Some("/nowhere".to_owned()), ..TaskFilter::default() },
        TaskFilter { agent_type: Some(first.agent_type.clone()), ..TaskFilter::default() },
        TaskFilter { model: first.model.clone(), ..TaskFilter::default() },
        TaskFilter { since: Some(first.last_event_at), ..TaskFilter::default() },
        TaskFilter { until: Some(first.started_at), ..TaskFilter::default() },
        TaskFilter { parent: Some(ids[0].clone()), ..TaskFilter::default() },
        TaskFilter { q: Some(words), ..TaskFilter::default() },
        TaskFilter { q: Some(first.runtime_session_id.clone()), ..TaskFilter::default() },
        TaskFilter { q: Some("zzz nothing has this".to_owned()), ..TaskFilter::default() },
        TaskFilter { q: Some("ticke".to_owned()), ..TaskFilter::default() },
        TaskFilter { q: Some("mend ticket1".to_owned()), ..TaskFilter::default() },
    ]);
    for filter in filters {
        same!(both, "tasks", filter, |store| evened(
            every(page, |paging| store.tasks(now, &TaskFilter { paging, ..filter.clone() })),
            last_event
        ));
    }
    same!(both, "attention", now, |store| store.attention(now));
}

fn ask_of_task(both: &Both, now: Millis, id: &TaskId, turn: usize) {
    same!(both, "task", id, |store| store.task(now, id));
    same!(both, "summary", id, |store| store.summary(now, id));
    let short = |short: u32| both.page(turn, short);
    same!(both, "turns", id, |store| every(short(3), |paging| store.turns(id, &paging)));
    same!(both, "todos", id, |store| store.todos(id));
    let task = both.sqlite.task(now, id).unwrap();
    if task.parent_task_id.is_some() {
        // Its rows are compared in the tree that it is part of.
        return;
    }
    same!(both, "tree", id, |store| store.tree(now, id));
    same!(both, "context", id, |store| store.context(id, &Paging::default()));
    if both.asks_whole(turn) {
        same!(both, "context", id, |store| every(3, |paging| store.context(id, &paging)));
    }
    let tree = !turn.is_multiple_of(4);
    same!(both, "task_files", (id, tree), |store| evened(
        every(short(5), |paging| store.task_files(id, tree, &paging)),
        |file| json!(file["reads"].as_u64().unwrap() + file["changes"].as_u64().unwrap())
    ));
    let middle = Some(Millis(i64::midpoint(task.started_at.0, task.last_event_at.0)));
    let all = RowFilter { tree: true, ..RowFilter::default() };
    ask_of_rows(both, id, &all, 500, turn);
    // Every task is asked once more in another way, so that every way is asked of many tasks.
    let ways = [
        (RowFilter { newest_first: true, ..RowFilter::default() }, 7),
        (RowFilter { tree: true, ..RowFilter::default() }, 5),
        (RowFilter { tree: true, newest_first: true, since: middle, ..RowFilter::default() }, 6),
        (RowFilter { until: middle, ..RowFilter::default() }, 9),
        (RowFilter { lanes: vec![Lane::User, Lane::Exploration], ..RowFilter::default() }, 4),
        (RowFilter { kinds: vec![Kind::UserMessage, Kind::TerminalCommand], ..RowFilter::default() }, 3),
    ];
    let (filter, limit) = &ways[turn % ways.len()];
    let of = |paging| RowFilter { paging, ..filter.clone() };
    same!(both, "timeline", (id, filter), |store| every(*limit, |paging| store.timeline(id, &of(paging))));
    same!(both, "tool_calls", (id, filter), |store| every(*limit, |paging| store
        .tool_calls(id, &of(paging))));
}

/// Returns the lists of a task. One that is empty by the first engine is not asked for of the other where not
/// everything is.
fn ask_of_rows(both: &Both, id: &TaskId, filter: &RowFilter, limit: u32, turn: usize) {
    let about = (id, filter);
    let filter = |paging| RowFilter { paging, ..filter.clone() };
    macro_rules! list {
        ($name:literal, $ask:ident) => {
            let first = both.sqlite.$ask(id, &filter(Paging { cursor: None, limit: 1 })).unwrap();
            if both.asks_whole(turn) || !first.items.is_empty() {
                same!(both, $name, about, |store| every(limit, |paging| store.$ask(id, &filter(paging))));
            }
        };
    }
    list!("timeline", timeline);
    list!("tool_calls", tool_calls);
    list!("task_commands", task_commands);
    list!("exploration", exploration);
    list!("web", web);
    list!("permissions", permissions);
    list!("questions", questions);
}

fn ask_what_is_not_there(both: &Both, now: Millis) {
    let unknown = agent_tracer_event::TaskKey::new(Agent::CODEX, "unknown").task_id();
    same!(both, "unknown_task", "task", |store| store.task(now, &unknown));
    same!(both, "unknown_task", "timeline", |store| store.timeline(&unknown, &RowFilter::default()));
    same!(both, "unknown_task", "turns", |store| store.turns(&unknown, &Paging::default()));
    let garbage = Paging { cursor: Some("garbage".to_owned()), limit: 3 };
    same!(both, "tasks", "a cursor that is none", |store| store
        .tasks(now, &TaskFilter { paging: garbage.clone(), ..TaskFilter::default() }));
    same!(both, "turns", "a cursor that is none", |store| store.turns(&unknown, &garbage));
}

/// Makes every query about all tasks, and about the chosen ones. Returns the queries.
pub(crate) fn ask(both: &Both, chosen: impl Fn(usize) -> bool) -> BTreeSet<&'static str> {
    let all = |paging| TaskFilter { paging, ..TaskFilter::default() };
    let tasks = every(500, |paging| both.sqlite.tasks(Millis(0), &all(paging))).unwrap();
    let last = tasks.iter().map(|task| task.last_event_at.0).max().unwrap();
    let ids: Vec<TaskId> = tasks.iter().map(|task| TaskId::parse(&task.id).unwrap()).collect();
    let now = Millis(last + 60_000);
    let asked: Vec<(usize, &TaskId)> = ids.iter().enumerate().filter(|(place, _)| chosen(*place)).collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some((turn, id)) = asked.get(next.fetch_add(1, Ordering::Relaxed)) {
                    ask_of_task(both, now, id, *turn);
                    numbers::ask_of_task(both, id, *turn);
                }
            });
        }
        scope.spawn(|| {
            for (turn, silent) in [60_000, 20 * 60_000, 7 * 3_600_000, 48 * 3_600_000].into_iter().enumerate()
            {
                ask_of_lists(both, Millis(last + silent), &ids, both.page(turn, 20));
            }
            numbers::ask(both, now, &tasks);
            numbers::ask_of_decisions(both, &tasks);
            ask_what_is_not_there(both, now);
        });
    });
    both.assert_same();
    both.compared.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Closes all days that are over, and asks for sums once more.
fn ask_with_days_closed(both: &Both, fleet: &Fleet) {
    let made = fleet.make_days(AT_ONCE_CLOSED, &|| true).unwrap();
    assert!(made.closed > 0, "{made:?}");
    let all = |paging| TaskFilter { paging, ..TaskFilter::default() };
    let tasks = every(500, |paging| both.sqlite.tasks(Millis(0), &all(paging))).unwrap();
    let last = tasks.iter().map(|task| task.last_event_at.0).max().unwrap();
    numbers::ask_of_sums(both, Millis(last + 60_000), &tasks);
    numbers::ask_of_decisions(both, &tasks);
    both.assert_same();
}

#[test]
fn both_engines_answer_alike_about_every_captured_scenario() {
    let (fleet, _) = engine::database();
    // `CONTRACT=part of a name` limits the queries, to look into one difference.
    let only = std::env::var("CONTRACT").unwrap_or_default();
    let histories: Vec<Vec<Observed>> = scenarios()
        .iter()
        .filter(|scenario| scenario.name.contains(&only))
        .map(|scenario| [scenario.observed(None), scenario.decided()].concat())
        .collect();
    let world = World::empty();
    let (parts, mut after) = (3, 0);
    for part in 0..parts {
        for history in &histories {
            let length = history.len().div_ceil(parts).max(1);
            world.bring(history.iter().skip(part * length).take(length).cloned().collect());
        }
        after = ship(&world, "captured", &fleet, after);
    }
    world.ledger.finish_search().unwrap();
    let both = Both::of(&world, &fleet, "captured", true);
    let compared = ask(&both, |_| true);
    assert_eq!(compared, BTreeSet::from(COMPARED), "the list of compared questions is what was compared");
    ask_with_days_closed(&both, &fleet);
}
