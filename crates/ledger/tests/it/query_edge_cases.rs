//! Questions when something is odd: rows that cannot be read, and writes between two pages.

use std::collections::BTreeSet;

use agent_tracer_event::{Agent, FactId, Millis};
use agent_tracer_ledger::view::{TaskStatus, WaitingReason};
use agent_tracer_ledger::{Paging, Range, RowFilter, SearchFilter, TaskFilter, UsageBy, Utc};

use crate::query_world::{BEGIN, HOUR_MS, HistoryBuilder};
use crate::world::World;

#[test]
fn a_row_whose_text_cannot_be_read_still_shows_what_the_columns_know() {
    let history = HistoryBuilder::with_sessions(21, 2, 3);
    let world = World::with(&history.observed, 500);
    world.ledger.finish_search().unwrap();
    let store = world.ledger.store();
    let now = Millis(BEGIN + 20 * HOUR_MS);
    let before = store.tasks(now, &TaskFilter::default()).unwrap().items;
    let conn = world.connection();
    conn.execute("UPDATE fact SET data = x'07ffff', derived = 'no JSON', kind = CASE id % 9 WHEN 0 THEN 999 ELSE kind END", [])
        .unwrap();
    conn.execute("UPDATE entry SET data = x'01ff'", []).unwrap();
    conn.execute("UPDATE task SET told = x'', residual = '{', status = 77, waiting = -4, agent = 50", [])
        .unwrap();
    let after = store.tasks(now, &TaskFilter::default()).unwrap().items;
    assert_eq!(before.len(), after.len());
    for task in &after {
        let id = agent_tracer_event::TaskId::parse(&task.id).unwrap();
        let filter =
            RowFilter { tree: true, paging: Paging { cursor: None, limit: 500 }, ..RowFilter::default() };
        let rows = store.timeline(&id, &filter).unwrap().items;
        assert!(
            !rows.is_empty() && rows.iter().all(|row| row.title.is_empty() && row.occurred_at.0 >= BEGIN)
        );
        assert!(store.event(&FactId::parse(&rows[0].id).unwrap()).unwrap().entries.is_empty());
        store.tree(now, &id).unwrap();
        store.summary(now, &id).unwrap();
        store.turns(&id, &Paging::default()).unwrap();
        store.lanes(&id, None, None, 100).unwrap();
        store.todos(&id).unwrap();
        store.context(&id, &Paging::default()).unwrap();
        assert!(!store.tool_calls(&id, &filter).unwrap().items.is_empty());
        assert!(store.task_commands(&id, &filter).unwrap().items.iter().all(|run| run.effect == "unknown"));
    }
    store.search(&SearchFilter { q: "parser".to_owned(), ..SearchFilter::default() }).unwrap();
    store.loops(&Range::default()).unwrap();
    store.usage(&Range::default(), UsageBy::Task, &Utc).unwrap();
    store.changes(0, 100).unwrap();
}

#[test]
fn what_is_written_between_two_pages_neither_repeats_nor_hides_a_row() {
    let mut history = HistoryBuilder::with_sessions(22, 6, 4);
    let world = World::with(&history.observed, 500);
    let store = world.ledger.store();
    let now = Millis(BEGIN + 40 * HOUR_MS);
    let biggest = |tasks: Vec<agent_tracer_ledger::view::Task>| {
        tasks.into_iter().max_by_key(|task| task.event_count).unwrap()
    };
    let task = biggest(store.tasks(now, &TaskFilter::default()).unwrap().items);
    let id = agent_tracer_event::TaskId::parse(&task.id).unwrap();
    let known: BTreeSet<String> = {
        let filter = RowFilter { paging: Paging { cursor: None, limit: 500 }, ..RowFilter::default() };
        store.timeline(&id, &filter).unwrap().items.into_iter().map(|row| row.id).collect()
    };
    let tasks: BTreeSet<String> =
        store.tasks(now, &TaskFilter::default()).unwrap().items.into_iter().map(|task| task.id).collect();
    let (mut rows, mut listed) = (Vec::new(), Vec::new());
    // Where each list goes on; none at its end.
    let (mut timeline, mut list) = (Some(None), Some(None));
    let mut part = 0;
    while timeline.is_some() || list.is_some() {
        if let Some(cursor) = timeline.take() {
            let paging = Paging { cursor, limit: 20 };
            let page = store
                .timeline(&id, &RowFilter { paging, newest_first: true, ..RowFilter::default() })
                .unwrap();
            rows.extend(page.items.into_iter().map(|row| row.id));
            timeline = page.next_cursor.map(Some);
        }
        if let Some(cursor) = list.take() {
            let paging = Paging { cursor, limit: 2 };
            let page = store.tasks(now, &TaskFilter { paging, ..TaskFilter::default() }).unwrap();
            listed.extend(page.items.into_iter().map(|task| task.id));
            list = page.next_cursor.map(Some);
        }
        part += 1;
        // Something new of this task and of another, newer than all that was listed.
        history.observed.clear();
        let at = BEGIN + (60 + part) * HOUR_MS;
        let mut session = history.session(task.agent, &task.runtime_session_id, at, "/srv/web");
        history.turn(&mut session, 1_000 + part as u64);
        let mut other = history.session(Agent::CODEX, &format!("other-{part}"), at, "/srv/web");
        history.turn(&mut other, 1);
        world.bring(&history.observed, 500);
    }
    assert!(part > 3);
    assert_eq!(rows.iter().collect::<BTreeSet<_>>().len(), rows.len(), "no row twice");
    assert!(known.iter().all(|row| rows.contains(row)), "no row hidden");
    assert_eq!(listed.iter().collect::<BTreeSet<_>>().len(), listed.len(), "no task twice");
    // The task that was written to went to the top of the list, which had been read already.
    assert!(tasks.iter().all(|other| *other == task.id || listed.contains(other)), "no task hidden");
}

#[test]
fn silence_changes_what_is_shown_and_what_is_found() {
    let mut history = HistoryBuilder::new(23);
    let now = BEGIN + 100 * HOUR_MS;
    history.asks("asks", now);
    let mut running = history.session(Agent::CLAUDE_CODE, "runs", now, "/srv/web");
    history.works(&mut running);
    let mut idle = history.session(Agent::CLAUDE_CODE, "idle", now, "/srv/web");
    history.rests(&mut idle);
    let world = World::with(&history.observed, 100);
    let store = world.ledger.store();
    let shown = |hours: i64| {
        let mut shown: Vec<_> = store
            .tasks(Millis(now + hours * HOUR_MS), &TaskFilter::default())
            .unwrap()
            .items
            .into_iter()
            .map(|task| (task.runtime_session_id, task.status, task.stale, task.waiting_reason))
            .collect();
        shown.sort();
        shown
    };
    use TaskStatus::{Abandoned, Completed, Running, Waiting};
    let rows = |rows: [(TaskStatus, bool, Option<WaitingReason>); 3]| {
        ["asks", "idle", "runs"]
            .iter()
            .zip(rows)
            .map(|(name, (status, stale, reason))| ((*name).to_owned(), status, stale, reason))
            .collect::<Vec<_>>()
    };
    let (asks, idle) = (Some(WaitingReason::Permission), Some(WaitingReason::Idle));
    assert_eq!(shown(0), rows([(Waiting, false, asks), (Waiting, false, idle), (Running, false, None)]));
    assert_eq!(shown(1), rows([(Waiting, false, asks), (Waiting, false, idle), (Running, true, None)]));
    assert_eq!(shown(7), rows([(Waiting, true, asks), (Waiting, true, idle), (Running, true, None)]));
    assert_eq!(
        shown(25),
        rows([(Abandoned, false, None), (Completed, false, None), (Abandoned, false, None)])
    );
    for (status, hours, expected) in
        [(Waiting, 1, 2), (Waiting, 25, 0), (Abandoned, 25, 2), (Completed, 25, 1), (Running, 7, 1)]
    {
        let filter = TaskFilter { status: vec![status], ..TaskFilter::default() };
        let found = store.tasks(Millis(now + hours * HOUR_MS), &filter).unwrap().items;
        assert_eq!(found.len(), expected, "{status:?} after {hours} hours");
        assert!(found.iter().all(|task| task.status == status));
    }
}

#[test]
fn no_row_is_without_a_title_even_if_nothing_else_was_ever_seen() {
    let folder = agent_tracer_testkit::fixtures().join("claude-code/2.1.325-payloads");
    let (mut payloads, mut rows) = (0, 0);
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let payload = std::fs::read(&path).unwrap();
        let observed = agent_tracer_testkit::hook(
            Agent::CLAUDE_CODE,
            "alone",
            Millis(1_790_000_000_000),
            false,
            &payload,
        );
        let world = World::with(&[observed], 1);
        for row in world.ledger.store().changes(0, 100).unwrap() {
            assert!(!row.title.trim().is_empty(), "{}: {row:?}", path.display());
            let why = row.metadata.get("evidenceReason").and_then(|why| why.as_str()).unwrap_or_default();
            assert!(why.starts_with("hook "), "{}: {why:?} in {row:?}", path.display());
            rows += 1;
        }
        payloads += 1;
    }
    assert!(payloads > 30 && rows > payloads, "{payloads} payloads, {rows} rows");
}

#[test]
fn unrecognised_names_are_counted_with_the_version_of_their_task() {
    let say = |name: &str, is_status_line: bool, payload: &str| {
        let at = Millis(BEGIN);
        agent_tracer_testkit::hook(Agent::CLAUDE_CODE, name, at, is_status_line, payload.as_bytes())
    };
    let unknown = r#"{"session_id":"5a133364","hook_event_name":"Teleported","cwd":"/nowhere"}"#;
    let line = r#"{"session_id":"5a133364","version":"2.1.999","cwd":"/nowhere","model":{"id":"m"},
        "context_window":{"used_percentage":3},"cost":{"total_cost_usd":0.1}}"#;
    let world = World::with(&[say("a", true, line), say("b", false, unknown)], 1);
    let counted = world.ledger.store().unrecognised().unwrap();
    let named: Vec<_> = counted.iter().map(|it| (it.client_version.as_str(), it.name.as_str())).collect();
    assert_eq!(named, [("2.1.999", "Teleported")]);
}

#[test]
fn what_codex_was_reported_and_said_last_is_named_as_with_every_agent() {
    let say = |name: &str, payload: &str| {
        agent_tracer_testkit::hook(Agent::CODEX, name, Millis(BEGIN), false, payload.as_bytes())
    };
    let base = r#""session_id":"01a1e271-efbf","turn_id":"t1","cwd":"/nowhere","model":"gpt-5""#;
    let prompt = format!(r#"{{{base},"hook_event_name":"UserPromptSubmit","prompt":"List the files"}}"#);
    let stop = format!(
        r#"{{{base},"hook_event_name":"Stop","stop_hook_active":false,"last_assistant_message":"There are two"}}"#
    );
    let world = World::with(&[say("a", &prompt), say("b", &stop)], 1);
    let rows = world.ledger.store().changes(0, 100).unwrap();
    let said = |key: &str| rows.iter().find_map(|row| row.metadata.get(key)?.as_str());
    assert_eq!(said("prompt"), Some("List the files"));
    assert_eq!(said("lastAssistantMessage"), Some("There are two"));
}
