//! Questions about compactions, answered by a made-up reader.

use std::sync::{Arc, Mutex};

use agent_tracer_jobs::compaction::{Compaction, CompactionItem, CompactionSide, FileSnapshot, ScanResult};
use agent_tracer_server::Capabilities;
use serde_json::json;

use crate::ledger::Real;

fn compaction(number: u64) -> Compaction {
    Compaction {
        number,
        at: None,
        trigger: Some("auto".to_owned()),
        offset: 7,
        pre_tokens: Some(9),
        post_tokens: None,
        before: CompactionSide { pieces: [("prompt".to_owned(), 5)].into(), bytes: 3 },
        after: CompactionSide::default(),
        summary: None,
        seen_bytes: None,
        seen_sha256: None,
        unchanged: None,
    }
}

fn items(from: u64, most: usize) -> Vec<CompactionItem> {
    let item = |place| CompactionItem {
        place,
        part: "prompt".to_owned(),
        at: None,
        offset: place,
        bytes: 1,
        tool: None,
        text: None,
    };
    (from..5).take(most).map(item).collect()
}

/// Records a task and returns its id.
fn task(real: &Real) -> String {
    let payload = json!({"hook_event_name": "PreCompact", "session_id": "s", "cwd": "/code", "trigger": "auto",
        "custom_instructions": null, "transcript_path": "/t/s.jsonl"});
    real.post("/hooks/claude", &payload);
    real.get("/api/v1/tasks")["items"][0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn compactions_and_their_pieces_are_read_on_request() {
    let asked = Arc::new(Mutex::new(Vec::<(String, Vec<FileSnapshot>)>::new()));
    let calls = Arc::clone(&asked);
    let real = Real::with(Capabilities {
        backtest: None,
        compactions: Some(Arc::new(move |task, seen, wanted| {
            calls.lock().unwrap().push((task.runtime_session_id.clone(), seen.to_vec()));
            let items = wanted.map(|(_, _, from, most)| (items(from, most), from + (most as u64) < 5));
            let (items, more) = items.unwrap_or_default();
            Ok(Some(ScanResult { compactions: vec![compaction(1)], items, more }))
        })),
    });
    let id = task(&real);
    let list = real.get(&format!("/api/v1/tasks/{id}/compactions"));
    assert_eq!(list["items"][0]["before"]["pieces"], json!({"prompt": 5}));
    assert_eq!(asked.lock().unwrap()[0], ("s".to_owned(), Vec::new()), "over HTTP no hook saw the file");
    let path = format!("/api/v1/tasks/{id}/compaction-items");
    let first = real.get(&format!("{path}?limit=3&side=after"));
    assert_eq!((first["items"].as_array().unwrap().len(), &first["nextCursor"]), (3, &json!("3")));
    let rest = real.get(&format!("{path}?limit=3&cursor=3"));
    assert_eq!((rest["items"][0]["place"].as_u64(), rest.get("nextCursor")), (Some(3), None));
    for (query, status) in [("?number=2", 404), ("?number=0", 400), ("?side=left", 400), ("?cursor=x", 400)] {
        let answer = real.ask("GET", &format!("{path}{query}")).send();
        assert_eq!(answer.status, status, "{query} {}", answer.text());
    }
}

#[test]
fn a_missing_or_unreadable_file_is_reported() {
    let gone = Real::with(Capabilities { backtest: None, compactions: Some(Arc::new(|_, _, _| Ok(None))) });
    let broken =
        Real::with(Capabilities { backtest: None, compactions: Some(Arc::new(|_, _, _| Err("no".into()))) });
    let none = Real::with(Capabilities::default());
    for (real, status) in [(gone, 404), (broken, 503), (none, 404)] {
        let id = task(&real);
        let answer = real.ask("GET", &format!("/api/v1/tasks/{id}/compactions")).send();
        assert_eq!(answer.status, status, "{}", answer.text());
        answer.wrong();
        let answer = real.ask("GET", "/api/v1/tasks/t00000000000000000000/compactions").send();
        assert_eq!(answer.status, 404);
    }
}
