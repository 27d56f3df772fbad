//! The plan of every statement that any question runs: none may read a table that grows with the history from end to
//! end, and none may sort more than a page.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use agent_tracer_event::{
    Agent, Certainty, Channel, Entry, Evidence, FactId, Kind, Lane, Millis, Phase, Subject, TaskId, TaskKey,
};
use rusqlite::Connection;
use rusqlite::trace::{TraceEvent, TraceEventCodes};

use super::{Follower, PendingOverlay};
use crate::store::{DecisionFilter, Paging, Range, RowFilter, SearchFilter, Store, TaskFilter, UsageBy, Utc};
use crate::view::{TaskKind, TaskStatus};
use crate::{Batch, Ledger, Options};

#[path = "../../../tests/it/query_world.rs"]
mod query_world;

use query_world::{BEGIN, HOUR_MS, HistoryBuilder};

/// Every statement that a connection of a pool has run in these tests.
static STATEMENTS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Remembers every statement that a connection runs.
pub(super) fn watch(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.trace_v2(
        TraceEventCodes::SQLITE_TRACE_STMT,
        Some(|event: TraceEvent<'_>| {
            if let TraceEvent::Stmt(_, sql) = event {
                STATEMENTS.lock().unwrap_or_else(PoisonError::into_inner).insert(sql.to_owned());
            }
        }),
    )
}

/// Returns a ledger with a short history, and the folder that it is in.
fn ledger() -> (Ledger, tempfile::TempDir, i64) {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(&folder.path().join("ledger.db"), Options::default()).unwrap();
    let mut story = HistoryBuilder::with_sessions(3, 8, 3);
    let now = BEGIN + 8 * 5 * HOUR_MS;
    let mut session = story.asks("asks", now - HOUR_MS);
    story.at_once(&mut session, 3);
    story.rests(&mut session);
    story.decides(&mut session, "rule-1", "enforced", "deny");
    ledger.append(Batch { observed: story.observed, ..Batch::default() }).unwrap();
    ledger.finish_search().unwrap();
    (ledger, folder, now)
}

/// Returns every page of a list.
fn every<T>(mut ask: impl FnMut(Paging) -> crate::Answer<crate::view::Page<T>>) -> Vec<T> {
    let mut all = Vec::new();
    let mut cursor = None;
    loop {
        let page = ask(Paging { cursor, limit: 3 }).unwrap();
        all.extend(page.items);
        cursor = page.next_cursor;
        if cursor.is_none() || all.len() > 12 {
            return all;
        }
    }
}

fn ask_of_tasks(store: &dyn Store, now: Millis) -> Vec<TaskId> {
    use TaskStatus::{Abandoned, Completed, Failed, Running, Waiting};
    let tasks = every(|paging| store.tasks(now, &TaskFilter { paging, ..TaskFilter::default() }));
    let ids: Vec<TaskId> = tasks.iter().map(|task| TaskId::parse(&task.id).unwrap()).collect();
    let statuses: [&[TaskStatus]; 6] =
        [&[], &[Running], &[Running, Waiting], &[Completed], &[Abandoned, Failed], &[Waiting, Completed]];
    for status in statuses {
        for kind in [None, Some(TaskKind::Primary)] {
            for project in [None, Some("/srv/api".to_owned())] {
                for since in [None, Some(Millis(BEGIN))] {
                    let filter = TaskFilter {
                        status: status.to_vec(),
                        kind,
                        project: project.clone(),
                        since,
                        ..TaskFilter::default()
                    };
                    every(|paging| store.tasks(now, &TaskFilter { paging, ..filter.clone() }));
                }
            }
        }
        for filter in [
            TaskFilter {
                agent: Some(Agent::CODEX),
                agent_type: Some("main".to_owned()),
                failed_calls: true,
                ..TaskFilter::default()
            },
            TaskFilter { model: Some("model-new".to_owned()), until: Some(now), ..TaskFilter::default() },
            TaskFilter { parent: ids.first().cloned(), ..TaskFilter::default() },
            TaskFilter { q: Some("look at par".to_owned()), ..TaskFilter::default() },
        ] {
            every(|paging| {
                store.tasks(now, &TaskFilter { paging, status: status.to_vec(), ..filter.clone() })
            });
        }
    }
    store.attention(now).unwrap();
    ids
}

fn ask_of_task(store: &dyn Store, now: Millis, id: &TaskId) {
    store.task(now, id).unwrap();
    store.tree(now, id).unwrap();
    store.summary(now, id).unwrap();
    store.todos(id).unwrap();
    store.lanes(id, None, None, 100).unwrap();
    store.lanes(id, Some(Millis(BEGIN)), Some(now), 100).unwrap();
    store.context(id, &Paging::default()).unwrap();
    every(|paging| store.turns(id, &paging));
    for tree in [false, true] {
        every(|paging| store.task_files(id, tree, &paging));
        for newest_first in [false, true] {
            for lanes in [Vec::new(), vec![Lane::User]] {
                let filter = RowFilter {
                    tree,
                    newest_first,
                    kinds: if lanes.is_empty() { Vec::new() } else { vec![Kind::UserMessage] },
                    lanes,
                    ..RowFilter::default()
                };
                let filter = |paging| RowFilter { paging, ..filter.clone() };
                for row in every(|paging| store.timeline(id, &filter(paging))) {
                    store.event(&FactId::parse(&row.id).unwrap()).unwrap();
                }
                every(|paging| store.tool_calls(id, &filter(paging)));
                every(|paging| store.task_commands(id, &filter(paging)));
                every(|paging| store.exploration(id, &filter(paging)));
                every(|paging| store.web(id, &filter(paging)));
                every(|paging| store.permissions(id, &filter(paging)));
                every(|paging| store.questions(id, &filter(paging)));
                for by in [UsageBy::Model, UsageBy::Skill, UsageBy::AgentType] {
                    store.task_usage(id, by).unwrap();
                }
            }
        }
    }
    store.event(&FactId::derive(id, "nothing")).unwrap_err();
}

fn ask_of_the_past(ledger: &Ledger, id: &TaskId) {
    let past = ledger.history();
    past.turn(id, "t").unwrap();
    past.has_opened(id, "/srv/api/src/lib.rs").unwrap();
    past.last_prompt(id).unwrap();
    past.actions(id, Millis(BEGIN), 3).unwrap();
    past.failures_in_a_row(id, 3).unwrap();
    let session = ledger.store().task(Millis(BEGIN), id).unwrap();
    let task = TaskKey::new(session.agent, session.runtime_session_id.clone());
    for row in every(|paging| ledger.store().tool_calls(id, &RowFilter { paging, ..RowFilter::default() })) {
        let key = format!("tool:{}", row.tool_use_id.unwrap_or_default());
        past.repeats(id, &key).unwrap();
        // The same with a call laid over that is about to be kept.
        let (kind, evidence) = (
            Subject::Event(Kind::ToolUsed),
            Evidence { certainty: Certainty::Measured, reason: String::new() },
        );
        let mut entry = Entry::new(kind, Phase::Open, task.clone(), &key, Millis(BEGIN), evidence);
        entry.aliases = vec!["tool:other".to_owned()];
        let past = past.with(PendingOverlay::new(vec![entry], Channel::Hook).unwrap());
        past.repeats(id, &key).unwrap();
        past.actions(id, Millis(BEGIN), 3).unwrap();
    }
}

fn ask_of_ranges(store: &dyn Store, now: Millis) {
    let ranges = [
        Range::default(),
        Range { since: Some(Millis(BEGIN)), until: Some(now), ..Range::default() },
        Range { project: Some("/srv/api".to_owned()), agent: Some(Agent::CODEX), ..Range::default() },
        Range { agent_type: Some("main".to_owned()), ..Range::default() },
    ];
    for range in ranges {
        let part = |paging| Range { paging, ..range.clone() };
        every(|paging| store.tools(&part(paging)));
        every(|paging| store.failures(&part(paging)));
        store.durations(&range, &[10]).unwrap();
        every(|paging| store.files(&part(paging)));
        every(|paging| store.skills(&part(paging)));
        every(|paging| store.mcp(&part(paging)));
        every(|paging| store.agents(&part(paging)));
        every(|paging| store.commands(&part(paging)));
        every(|paging| store.loops(&part(paging)));
        store.activity(&range, 50).unwrap();
        for by in [
            UsageBy::Day,
            UsageBy::Week,
            UsageBy::Month,
            UsageBy::Model,
            UsageBy::Project,
            UsageBy::Task,
            UsageBy::Agent,
            UsageBy::AgentType,
            UsageBy::Skill,
        ] {
            every(|paging| store.usage(&part(paging), by, &Utc));
        }
        let filter =
            SearchFilter { q: "fix par".to_owned(), tool: None, kind: None, ..SearchFilter::default() };
        every(|paging| store.search(&SearchFilter { range: part(paging), ..filter.clone() }));
    }
}

/// Asks for beginnings of words that have many endings: few documents have one of them, or many.
fn ask_of_beginnings(store: &dyn Store, now: Millis, path: &std::path::Path) {
    let writer = Connection::open(path).unwrap();
    for (beginning, n) in [("rare", 1), ("common", 1_000_000), ("par", 1_000_000)] {
        let learn = "INSERT OR REPLACE INTO vocabulary WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n \
                     WHERE n < 100) SELECT ?1 || n, ?2 FROM n";
        writer.execute(learn, rusqlite::params![beginning, n]).unwrap();
        for words in [beginning.to_owned(), format!("fix {beginning}"), format!("look at {beginning}")] {
            let filter = SearchFilter { q: words.clone(), ..SearchFilter::default() };
            every(|paging| {
                store.search(&SearchFilter { range: Range { paging, ..Range::default() }, ..filter.clone() })
            });
            let filter = TaskFilter { q: Some(words), ..TaskFilter::default() };
            every(|paging| store.tasks(now, &TaskFilter { paging, ..filter.clone() }));
        }
    }
}

fn ask_of_decisions(store: &dyn Store, tasks: &[TaskId]) {
    let rule = || Some("rule-1".to_owned());
    let mut filters = vec![
        DecisionFilter::default(),
        DecisionFilter {
            since: Some(Millis(BEGIN)),
            until: Some(Millis(i64::MAX)),
            ..DecisionFilter::default()
        },
        DecisionFilter { rule: rule(), outcomes: vec!["deny".to_owned()], ..DecisionFilter::default() },
    ];
    for task in tasks {
        filters.push(DecisionFilter { task: Some(task.clone()), rule: rule(), ..DecisionFilter::default() });
    }
    for filter in filters {
        every(|paging| store.decisions(&DecisionFilter { paging, ..filter.clone() }));
    }
    assert!(!every(|paging| store.rules(&Range { paging, ..Range::default() })).is_empty());
}

/// Returns the reason for which a line of a plan is not allowed, if there is one.
fn complaint(statement: &str, line: &str) -> Option<&'static str> {
    // Tables whose size has nothing to do with how much happened.
    const SMALL: [&str; 5] =
        ["SCAN outcome", "SCAN unrecognised", "SCAN cursor", "SCAN meta", "SCAN main.search_config"];
    // Lists that one page or one family of tasks fits into.
    const BOUNDED: [&str; 6] = [
        "SCAN candidate",
        "SCAN family",
        "SCAN tree",
        "SCAN json_each",
        "SCAN search VIRTUAL TABLE",
        "SCAN CONSTANT ROW",
    ];
    if line.contains("SCAN") {
        let is_small = SMALL.iter().chain(&BOUNDED).any(|allowed| line.starts_with(allowed));
        // A walk over the index of tasks is as long as the list of tasks and reads no row.
        let is_walk =
            line.contains("COVERING INDEX task_newest") || line.contains("COVERING INDEX task_project");
        // A part of a statement that was limited by an inner query.
        let is_part = line.contains("SCAN (subquery") || line.contains("SCAN SUBQUERY");
        return (!is_small && !is_walk && !is_part).then_some("reads a whole table");
    }
    if line.contains("TEMP B-TREE") {
        // The children of one task; the terms of equal times.
        let is_bounded = statement.contains("INDEXED BY task_parent") || line.contains("LAST");
        return (!is_bounded).then_some("sorts what it found");
    }
    let walks = ["INDEX task_newest", "INDEX task_project", "INDEX task_long"]
        .iter()
        .any(|index| line.contains(index));
    if walks && !line.contains("COVERING") {
        return Some("reads rows of tasks that it does not show");
    }
    let must_cover = line.contains("INDEX fact_time")
        || line.contains("INDEX fact_ruled")
        || line.contains("INDEX rollup_top");
    if must_cover && !line.contains("COVERING") {
        return Some("reads rows that it only counts");
    }
    None
}

#[test]
fn no_statement_reads_what_it_does_not_show() {
    let (ledger, folder, now) = ledger();
    let store = ledger.store();
    let now = Millis(now);
    let ids = ask_of_tasks(store.as_ref(), now);
    for id in &ids {
        ask_of_task(store.as_ref(), now, id);
        ask_of_the_past(&ledger, id);
    }
    ask_of_decisions(store.as_ref(), &ids);
    ask_of_ranges(store.as_ref(), now);
    let path = folder.path().join("ledger.db");
    ask_of_beginnings(store.as_ref(), now, &path);
    assert!(!store.changes(0, 10).unwrap().is_empty());
    store.seq().unwrap();
    store.outcomes().unwrap();
    store.unrecognised().unwrap();
    store.sources().unwrap();
    store.health().unwrap();

    let mut writer = Connection::open(&path).unwrap();
    watch(&mut writer).unwrap();
    writer.execute("UPDATE meta SET value = 0 WHERE key IN ('indexed', 'indexed_tasks')", []).unwrap();
    while Follower::default().catch_up(&writer, 40, || false).unwrap() {}

    let reader = Connection::open(&path).unwrap();
    let statements = STATEMENTS.lock().unwrap().clone();
    let mut complaints = Vec::new();
    let mut seen = 0;
    for statement in statements.iter().filter(|sql| !sql.starts_with("--") && !sql.starts_with("PRAGMA")) {
        if ["BEGIN", "COMMIT", "ROLLBACK", "UPDATE meta"].iter().any(|other| statement.starts_with(other)) {
            continue;
        }
        let Ok(mut plan) = reader.prepare(&format!("EXPLAIN QUERY PLAN {statement}")) else {
            complaints.push(format!("cannot explain {statement}"));
            continue;
        };
        let mut rows = plan.raw_query();
        while let Some(row) = rows.next().unwrap() {
            let line: String = row.get(3).unwrap();
            if let Some(why) = complaint(statement, &line) {
                complaints.push(format!("{why}: {line}\n    {statement}"));
            }
        }
        seen += 1;
    }
    assert!(seen > 80, "only {seen} statements were seen");
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
