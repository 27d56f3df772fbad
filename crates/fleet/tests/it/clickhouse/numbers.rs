//! The questions about many tasks, about what changed and about pictures, asked of both engines.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use agent_tracer_event::{Agent, FactId, Kind, Millis, TaskId};
use agent_tracer_ledger::view::{Limit, Task};
use agent_tracer_ledger::{
    Answer, DecisionFilter, Decisions, Insights, Paging, Range, RowFilter, Search, SearchFilter, Store,
    Usage, UsageBy, Utc, Zone,
};
use agent_tracer_testkit::history::{MANY, SINGLE};
use serde::Serialize;
use serde_json::{Value, json};

use crate::clickhouse::contract::{Both, evened, every, same, to_json};

/// A quarter-hour that no zone of whole hours begins a day with.
struct Kathmandu;

impl Zone for Kathmandu {
    fn offset_seconds(&self, _: Millis) -> i32 {
        20_700
    }
}

/// Ranges: everything, a part of the time, a project, an agent, a type of agent, and what has nothing in it.
fn ranges(tasks: &[Task]) -> Vec<Range> {
    let first = tasks.iter().map(|task| task.started_at.0).min().unwrap();
    let last = tasks.iter().map(|task| task.last_event_at.0).max().unwrap();
    let middle = Some(Millis(i64::midpoint(first, last)));
    let background = tasks.iter().find(|task| task.parent_task_id.is_some()).unwrap_or(&tasks[0]);
    vec![
        Range::default(),
        Range { since: middle, ..Range::default() },
        Range { until: middle, agent: Some(Agent::CLAUDE_CODE), ..Range::default() },
        Range { project: Some(tasks[0].project.clone()), ..Range::default() },
        Range { agent: Some(Agent::CODEX), since: Some(Millis(first)), ..Range::default() },
        Range { agent_type: Some(background.agent_type.clone()), ..Range::default() },
        Range { project: Some("/nowhere".to_owned()), ..Range::default() },
        Range { since: Some(Millis(last + 400 * 86_400_000)), ..Range::default() },
        Range { since: Some(Millis(last)), until: Some(Millis(first)), ..Range::default() },
    ]
}

/// Returns all items, whatever their order.
fn any_order<T: Serialize>(answer: Answer<Vec<T>>) -> Answer<Vec<Value>> {
    evened(answer, |_| Value::Null)
}

/// Numbers over many tasks, limits, changes and words.
pub(crate) fn ask(both: &Both, now: Millis, tasks: &[Task]) {
    ask_of_sums(both, now, tasks);
    // Only a reader of several owners gets the owner; `limits` tests that.
    same!(both, "limits", now, |store| store
        .limits(now)
        .map(|page| page.map(|limit| Limit { owner: None, ..limit })));
    ask_what_changed(both);
    ask_words(both, tasks);
}

/// Numbers over many tasks.
pub(crate) fn ask_of_sums(both: &Both, now: Millis, tasks: &[Task]) {
    for (turn, range) in ranges(tasks).into_iter().enumerate() {
        let short = |short: u32| both.page(turn, short);
        let of = |paging| Range { paging, ..range.clone() };
        same!(both, "tools", range, |store| every(short(4), |paging| store.tools(&of(paging))));
        let durations = |store: &dyn Store| -> Answer<Value> {
            let tools = store.durations(&range, &[0, 5, 100, 1_000, 60_000])?.into_iter();
            let rows = tools.map(|tool| json!([tool.tool, tool.count, tool.total_ms, tool.at_most]));
            Ok(Value::from(rows.collect::<Vec<_>>()))
        };
        same!(both, "durations", range, |store| durations(store));
        same!(both, "failures", range, |store| every(short(2), |paging| store.failures(&of(paging))));
        same!(both, "commands", range, |store| every(short(9), |paging| store.commands(&of(paging))));
        same!(both, "mcp", range, |store| every(short(2), |paging| store.mcp(&of(paging))));
        same!(both, "skills", range, |store| every(short(2), |paging| store.skills(&of(paging))));
        same!(both, "agents", range, |store| every(short(2), |paging| store.agents(&of(paging))));
        same!(both, "loops", range, |store| evened(
            every(short(2), |paging| store.loops(&of(paging))),
            |item| item["count"].clone()
        ));
        same!(both, "files", range, |store| every(short(20), |paging| store.files(&of(paging))));
        for buckets in [1, 60] {
            same!(both, "activity", (&range, buckets), |store| store.activity(&range, buckets));
        }
        for by in [UsageBy::Day, UsageBy::Week, UsageBy::Month] {
            same!(both, "usage by day", (&range, by), |store| every(short(3), |paging| store.usage(
                &of(paging),
                by,
                &Utc
            )));
        }
        same!(both, "usage in another zone", range, |store| every(short(3), |paging| store.usage(
            &of(paging),
            UsageBy::Day,
            &Kathmandu
        )));
        for by in [UsageBy::Model, UsageBy::Skill, UsageBy::Project, UsageBy::Agent, UsageBy::AgentType] {
            same!(both, "usage by name", (&range, by), |store| every(short(3), |paging| store.usage(
                &of(paging),
                by,
                &Utc
            )));
        }
        same!(both, "usage by task", range, |store| any_order(every(short(50), |paging| store.usage(
            &of(paging),
            UsageBy::Task,
            &Utc
        ))));
        same!(both, "blocks", range, |store| every(short(3), |paging| store.blocks(now, &of(paging))));
    }
}

/// Compares the decisions of rules: all, of one rule, with some outcomes, of a task, in a range.
pub(crate) fn ask_of_decisions(both: &Both, tasks: &[Task]) {
    let first = tasks.iter().map(|task| task.started_at.0).min().unwrap();
    let last = tasks.iter().map(|task| task.last_event_at.0).max().unwrap();
    let middle = Some(Millis(i64::midpoint(first, last)));
    let some = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
    let mut filters = vec![
        DecisionFilter::default(),
        DecisionFilter { rule: Some("rule-1".to_owned()), ..DecisionFilter::default() },
        DecisionFilter { rule: Some("no such rule".to_owned()), ..DecisionFilter::default() },
        DecisionFilter { outcomes: some(&["deny", "block_stop"]), ..DecisionFilter::default() },
        DecisionFilter { statuses: some(&["dry_run"]), ..DecisionFilter::default() },
        DecisionFilter {
            rule: Some("rule-2".to_owned()),
            statuses: some(&["enforced", "let_go"]),
            outcomes: some(&["warn", "ask"]),
            since: middle,
            ..DecisionFilter::default()
        },
        DecisionFilter { until: middle, ..DecisionFilter::default() },
    ];
    for task in tasks.iter().take(12) {
        let task = TaskId::parse(&task.id);
        filters.push(DecisionFilter { task: task.clone(), ..DecisionFilter::default() });
        filters.push(DecisionFilter { task, rule: Some("rule-0".to_owned()), ..DecisionFilter::default() });
    }
    for filter in filters {
        // Short pages cost many statements: a task's have them.
        let limit = if filter.task.is_some() { 7 } else { 100 };
        same!(both, "decisions", filter, |store| every(limit, |paging| store
            .decisions(&DecisionFilter { paging, ..filter.clone() })));
    }
    let all =
        every(500, |paging| both.sqlite.decisions(&DecisionFilter { paging, ..DecisionFilter::default() }));
    assert!(!all.unwrap().is_empty(), "there is something to compare");
    for range in ranges(tasks) {
        let of = |paging| Range { paging, ..range.clone() };
        same!(both, "rules", range, |store| every(2, |paging| store.rules(&of(paging))));
    }
}

/// Returns every row that arrived since the beginning, in however many steps, without its place in them.
fn changed(store: &dyn Store, mut seen: impl FnMut(Value)) {
    let mut after = 0;
    loop {
        let changed = store.changes(after, 700).unwrap();
        let Some(last) = changed.last() else { break };
        assert!(last.seq > after && changed.is_sorted_by_key(|row| row.seq));
        after = last.seq;
        for row in changed {
            let mut row = serde_json::to_value(row).unwrap();
            row.as_object_mut().unwrap().shift_remove("seq");
            seen(row);
        }
    }
    let newest = store.seq().unwrap();
    assert!(newest >= after, "nothing is behind the newest place");
}

/// Compares the changes since the beginning: every row once, in its newest state.
///
/// A long history is compared by the hashes of its rows, because there is no room for it twice; what differs is shown.
fn ask_what_changed(both: &Both) {
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    let stores: [&dyn Store; 2] = [both.sqlite.as_ref(), &both.reader];
    let answers = stores.map(|store| {
        let mut rows: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        changed(store, |row| {
            let (times, hash) = rows.entry(row["id"].to_string()).or_default();
            (*times, *hash) = (*times + 1, hasher.hash_one(row.to_string()));
        });
        rows
    });
    let [one, two] = &answers;
    let ids: BTreeSet<&String> =
        one.keys().chain(two.keys()).filter(|id| one.get(*id) != two.get(*id)).collect();
    let ids: BTreeSet<&String> = ids.into_iter().take(20).collect();
    let [one, two] = stores.map(|store| {
        let mut rows = Vec::new();
        if !ids.is_empty() {
            changed(store, |row| rows.extend(ids.contains(&row["id"].to_string()).then_some(row)));
        }
        rows.sort_by_key(|row| row["id"].to_string());
        Value::from(rows)
    });
    both.compare("changes", "all", &one, &two);
    let health = |store: &dyn Store| {
        let health = store.health().unwrap();
        json!([health.events, health.tasks, health.search_lag])
    };
    both.compare("health", "counts", &health(both.sqlite.as_ref()), &health(&both.reader));
}

/// Limit of compared hits. Words in every other row of a long history are searched for in its newest part: all hits are
/// fetched, and the engine reads its table for every page.
const MOST_FOUND: usize = 5_000;

/// Returns whether a search finds more than is compared.
fn finds_many(both: &Both, filter: &SearchFilter) -> bool {
    let (mut found, mut cursor) = (0, None);
    loop {
        let paging = Paging { cursor, limit: 500 };
        let filter = SearchFilter { range: Range { paging, ..filter.range.clone() }, ..filter.clone() };
        let Ok(page) = both.sqlite.search(&filter) else { return false };
        (found, cursor) = (found + page.items.len(), page.next_cursor);
        if found > MOST_FOUND || cursor.is_none() {
            return found > MOST_FOUND;
        }
    }
}

/// Since when about as many rows are there as are compared.
fn since_when(both: &Both, tasks: &[Task]) -> Millis {
    let first = tasks.iter().map(|task| task.started_at.0).min().unwrap();
    let last = tasks.iter().map(|task| task.last_event_at.0).max().unwrap();
    let events = i64::try_from(both.sqlite.health().unwrap().events).unwrap();
    Millis(last - (last - first) / (events / MOST_FOUND as i64).max(1))
}

/// Words, beginnings of words with few and many endings, a path, Chinese, a tool in any case, and what a search is narrowed by.
fn ask_words(both: &Both, tasks: &[Task]) {
    let of = |q: &str| SearchFilter { q: q.to_owned(), ..SearchFilter::default() };
    let id = TaskId::parse(&tasks[0].id).unwrap();
    let since = Some(tasks[0].started_at);
    let project = Some(tasks[0].project.clone());
    let first = tasks.iter().map(|task| task.started_at.0).min().unwrap();
    let middle = Some(Millis(i64::midpoint(first, tasks[0].last_event_at.0)));
    let mut filters: Vec<SearchFilter> = [
        "bash echo",
        "fil",
        "README",
        "main.rs",
        "文",
        "検索",
        "数据库",
        "인덱스",
        "needle0",
        "handler",
        "zzz nothing has this",
        "",
        "a",
        // Beginnings of words with hundreds of endings, which share no part.
        MANY,
        "shar",
        SINGLE,
        "probe1",
        "cargo shard",
        "part probe",
        "ticke",
    ]
    .iter()
    .map(|words| of(words))
    .collect();
    filters.extend([
        SearchFilter { tool: Some("bASH".to_owned()), ..of("") },
        SearchFilter { state: Some("failed".to_owned()), ..of("") },
        SearchFilter { state: Some("nonsense".to_owned()), ..of("") },
        SearchFilter { kind: Some(Kind::UserMessage), ..of("") },
        SearchFilter { task: Some(id), ..of("") },
        SearchFilter { tool: Some("Bash".to_owned()), longer_than_ms: Some(20), ..of("") },
        SearchFilter { tool: Some("Bash".to_owned()), state: Some("failed".to_owned()), ..of(MANY) },
        SearchFilter { kind: Some(Kind::TerminalCommand), longer_than_ms: Some(20), ..of(MANY) },
        SearchFilter { range: Range { project: project.clone(), ..Range::default() }, ..of(SINGLE) },
        SearchFilter { range: Range { since: middle, ..Range::default() }, ..of(MANY) },
        SearchFilter { range: Range { until: middle, ..Range::default() }, ..of("grep prob") },
        SearchFilter { range: Range { since, ..Range::default() }, ..of("e") },
        SearchFilter { range: Range { project, ..Range::default() }, ..of("file") },
        SearchFilter { range: Range { agent: Some(Agent::CODEX), ..Range::default() }, ..of("file") },
        SearchFilter {
            range: Range { agent_type: Some("main".to_owned()), ..Range::default() },
            ..of("file")
        },
    ]);
    for mut filter in filters {
        if finds_many(both, &filter) {
            filter.range.since = filter.range.since.max(Some(since_when(both, tasks)));
        }
        let of = |paging| SearchFilter { range: Range { paging, ..filter.range.clone() }, ..filter.clone() };
        same!(both, "search", filter, |store| evened(every(90, |paging| store.search(&of(paging))), |hit| {
            hit["row"]["occurredAt"].clone()
        }));
    }
}

/// Returns all ways, or where not everything is asked, the first and one more.
fn some<T: Copy>(both: &Both, turn: usize, ways: &[T]) -> Vec<T> {
    if both.asks_whole(turn) {
        return ways.to_vec();
    }
    vec![ways[0], ways[1 + turn % (ways.len() - 1)]]
}

/// Compares the queries about one task beside its lists.
pub(crate) fn ask_of_task(both: &Both, id: &TaskId, turn: usize) {
    let ways = [UsageBy::Model, UsageBy::Skill, UsageBy::AgentType, UsageBy::Task];
    for by in some(both, turn, &ways) {
        same!(both, "task_usage", (id, by), |store| store.task_usage(id, by));
    }
    let task = both.sqlite.task(Millis(0), id).unwrap();
    if task.parent_task_id.is_some() {
        return;
    }
    let middle = Some(Millis(i64::midpoint(task.started_at.0, task.last_event_at.0)));
    let ways = [(None, None, 800), (middle, None, 30), (None, middle, 1), (middle, middle, 9)];
    for (from, to, width) in some(both, turn, &ways) {
        same!(both, "lanes", (id, from, to, width), |store| store.lanes(id, from, to, width));
    }
    let rows = both.sqlite.timeline(id, &RowFilter::default()).unwrap().items;
    if let Some(row) = rows.get(turn % rows.len().max(1)) {
        let id = FactId::parse(&row.id).unwrap();
        same!(both, "event", id, |store| store.event(&id).map(|detail| detail.row));
    }
}
