//! Search, compared with looking at every row.

use std::collections::BTreeSet;

use agent_tracer_event::{Agent, CallState, Kind, Millis};
use agent_tracer_ledger::view::{Row, Task};
use agent_tracer_ledger::{QueryError, Range, SearchFilter, TaskFilter};

use crate::queries::{Check, every, every_of, id, reported, text, took};
use crate::query_world::{BEGIN, HOUR_MS};

#[test]
fn tasks_are_found_by_words_of_their_title_and_by_their_session() {
    let reported = reported();
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
        let found = every_of(11, &mut |paging| {
            reported.store.tasks(reported.now, &TaskFilter { paging, ..filter.clone() })
        });
        let found: Vec<&str> = found.iter().map(|task| task.id.as_str()).collect();
        let expected: Vec<&str> =
            reported.tasks.iter().filter(|task| is_wanted(task)).map(|task| task.id.as_str()).collect();
        assert_eq!(found, expected, "{question}");
        assert!(question.starts_with("nothing") || !found.is_empty(), "{question}");
    }
}

#[test]
fn search_finds_every_row_with_the_words_and_nothing_else() {
    let reported = reported();
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
            reported
                .store
                .search(&SearchFilter { range: Range { paging, ..Range::default() }, ..filter.clone() })
        });
        let found: BTreeSet<&str> = hits.iter().map(|hit| hit.row.id.as_str()).collect();
        let expected: BTreeSet<&str> = reported
            .rows
            .iter()
            .filter(|row| is_searched(row) && words.iter().all(|word| holds(row, word)))
            .map(|row| row.id.as_str())
            .collect();
        assert_eq!(found, expected, "{question}");
        assert_eq!(found.len(), hits.len(), "no hit twice");
        assert!(
            hits.is_sorted_by(|one, next| one.row.occurred_at >= next.row.occurred_at),
            "{question}: newest first"
        );
        assert!(hits.iter().all(|hit| hit.snippet.contains('⟦') && !hit.task_title.is_empty()), "{question}");
    }
}

#[test]
fn search_is_narrowed_by_tool_state_kind_length_task_and_range() {
    let reported = reported();
    let task = reported.biggest();
    let day = (BEGIN / (24 * HOUR_MS) + 4) * 24 * HOUR_MS;
    let filters: Vec<(SearchFilter, Check<Row>)> = vec![
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
                    agent: Some(Agent::CODEX),
                    agent_type: Some("main".to_owned()),
                    ..Range::default()
                },
                ..SearchFilter::default()
            },
            Box::new(|row| {
                let reported = self::reported();
                let task = reported.tasks.iter().find(|task| task.id == row.task_id).unwrap();
                row.title.contains("retry")
                    && task.project == "/opt/tools"
                    && task.agent == Agent::CODEX
                    && row.agent_type == "main"
            }),
        ),
        (SearchFilter::default(), Box::new(|_| false)),
        (SearchFilter { q: "  ?! ".to_owned(), ..SearchFilter::default() }, Box::new(|_| false)),
    ];
    for (filter, is_wanted) in filters {
        let hits = every_of(17, &mut |paging| {
            let range = Range { paging, ..filter.range.clone() };
            reported.store.search(&SearchFilter { range, ..filter.clone() })
        });
        let found: BTreeSet<&str> = hits.iter().map(|hit| hit.row.id.as_str()).collect();
        let expected: BTreeSet<&str> =
            reported.rows.iter().filter(|row| is_wanted(row)).map(|row| row.id.as_str()).collect();
        assert_eq!(found, expected, "{filter:?}");
    }
    let odd = SearchFilter { state: Some("gone".to_owned()), ..SearchFilter::default() };
    assert!(matches!(reported.store.search(&odd), Err(QueryError::Bad(_))));
    for question in
        ["\"", "a\" OR \"b", "* NEAR(", "-x", "col:word", "AND OR NOT", "'; DROP TABLE fact; --", "\u{0}"]
    {
        reported.store.search(&SearchFilter { q: question.to_owned(), ..SearchFilter::default() }).unwrap();
        reported
            .store
            .tasks(reported.now, &TaskFilter { q: Some(question.to_owned()), ..TaskFilter::default() })
            .unwrap();
    }
}
