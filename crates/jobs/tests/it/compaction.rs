//! Captured files with compactions in them, and some that were made up.

#![expect(clippy::unwrap_used, reason = "a test's helpers fail by panicking")]

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use agent_tracer_event::Agent;
use agent_tracer_jobs::compaction::scan::hash_of_first;
use agent_tracer_jobs::compaction::{FileSnapshot, ScanRequest, ScanResult, Side, scan};
use agent_tracer_privacy::Level;
use serde_json::json;

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|ending| ending == "jsonl") && !path.ends_with("hooks.jsonl") {
            out.push(path);
        }
    }
}

fn captured() -> Vec<(Agent, PathBuf)> {
    let root = agent_tracer_testkit::fixtures();
    let (mut claude, mut codex) = (Vec::new(), Vec::new());
    files(&root.join("claude-code"), &mut claude);
    files(&root.join("codex"), &mut codex);
    codex.retain(|path| path.to_str().unwrap().contains("/rollouts/"));
    let claude = claude.into_iter().map(|path| (Agent::CLAUDE_CODE, path));
    claude.chain(codex.into_iter().map(|path| (Agent::CODEX, path))).collect()
}

fn ask(agent: Agent) -> ScanRequest<'static> {
    ScanRequest { agent, level: Level::Actions, seen: &[], items: None }
}

fn read(agent: Agent, bytes: &[u8]) -> ScanResult {
    scan(bytes, &ask(agent)).unwrap()
}

fn fixture(name: &str) -> (Agent, Vec<u8>) {
    let (agent, path) =
        captured().into_iter().find(|(_, path)| path.to_str().unwrap().contains(name)).unwrap();
    (agent, fs::read(path).unwrap())
}

#[test]
fn every_mark_of_every_captured_file_is_a_compaction_with_what_went_in_and_what_came_out() {
    let mut found = 0;
    for (agent, path) in captured() {
        let text = fs::read_to_string(&path).unwrap();
        let needle = match agent {
            Agent::CLAUDE_CODE => "\"subtype\":\"compact_boundary\"",
            _ => "\"type\":\"compacted\"",
        };
        let marks: Vec<u64> = text
            .split_inclusive('\n')
            .scan(0, |at, line| {
                let offset = *at;
                *at += line.len() as u64;
                Some((offset, line.contains(needle)))
            })
            .filter_map(|(offset, is_mark)| is_mark.then_some(offset))
            .collect();
        let scanned = read(agent, text.as_bytes());
        let offsets: Vec<u64> = scanned.compactions.iter().map(|it| it.offset).collect();
        assert_eq!(offsets, marks, "{}", path.display());
        for compaction in &scanned.compactions {
            found += 1;
            let name = path.display();
            assert!(compaction.before.pieces.values().sum::<u64>() > 0, "{name}: {compaction:?}");
            assert!(compaction.after.pieces.values().sum::<u64>() > 0, "{name}: {compaction:?}");
            assert!(compaction.at.is_some() && compaction.unchanged.is_none(), "{name}");
        }
    }
    assert!(found >= 8, "{found}");
}

#[test]
fn an_automatic_compaction_of_claude_has_counts_and_texts() {
    let (agent, bytes) = fixture("2.1.325/compact_auto/");
    let one = &read(agent, &bytes).compactions[0];
    assert_eq!((one.number, one.trigger.as_deref()), (1, Some("auto")));
    assert_eq!((one.pre_tokens, one.post_tokens), (Some(995_354), Some(2595)));
    assert_eq!(serde_json::to_value(&one.before.pieces).unwrap(), json!({"prompt": 2, "answer": 1}));
    assert_eq!(serde_json::to_value(&one.after.pieces).unwrap(), json!({"prompt": 1, "summary": 1}));
    assert!(one.summary.as_deref().unwrap().contains("Scripted work was done."));
}

#[test]
fn a_compaction_of_codex_has_the_history_that_replaced_it() {
    let (agent, bytes) = fixture("rollouts/autocompact.jsonl");
    let one = &read(agent, &bytes).compactions[0];
    assert_eq!(one.before.pieces.get("answer"), Some(&1), "the summary is no answer: {one:?}");
    assert_eq!((one.before.pieces.get("prompt"), one.after.pieces.get("summary")), (Some(&1), Some(&1)));
    assert!(one.summary.is_some());
}

#[test]
fn the_pieces_of_a_side_come_in_parts_and_results_have_no_text() {
    let (agent, bytes) = fixture("2.1.325/compact/");
    let whole = ScanRequest { items: Some((1, Side::Before, 0, 1000)), ..ask(agent) };
    let all = scan(bytes.as_slice(), &whole).unwrap();
    let sum: u64 = all.compactions[0].before.pieces.values().sum();
    assert_eq!((all.items.len() as u64, all.more), (sum, false));
    let mut paged = Vec::new();
    loop {
        let part = ScanRequest { items: Some((1, Side::Before, paged.len() as u64, 2)), ..ask(agent) };
        let part = scan(bytes.as_slice(), &part).unwrap();
        paged.extend(part.items);
        if !part.more {
            break;
        }
    }
    assert_eq!(paged, all.items);
    assert!(all.items.iter().any(|item| item.part == "prompt" && item.text.is_some()), "{:?}", all.items);
    for item in &all.items {
        assert!(item.part != "result" || (item.text.is_none() && item.bytes > 0), "{item:?}");
    }
    let none = ScanRequest { items: Some((7, Side::After, 0, 9)), ..ask(agent) };
    assert_eq!(scan(bytes.as_slice(), &none).unwrap().items, []);
}

#[test]
fn what_privacy_does_not_let_through_is_not_shown() {
    // Spelled in two parts, so that no scanner takes this file for one that holds a key.
    let secret = format!("sk-ant-{}", "api03-Zk3Qw9Xr7Lm2Vb8Nc4Tj6Hy1Pd5Sf0Ga-Ue9Wi3Ox7Qz1Lr5Kv8Bn2Mt6");
    let row = |kind: &str, more: serde_json::Value| {
        let mut row = json!({"type": kind, "uuid": kind, "timestamp": "2026-11-15T10:00:00.000Z"});
        row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        row.to_string() + "\n"
    };
    let result = json!([{"type": "tool_result", "content": "CANARY of a result"}, {"type": "text", "text": format!("use {secret} now")}]);
    let text = row("user", json!({"message": {"content": result}}))
        + &row("system", json!({"subtype": "compact_boundary", "compactMetadata": {"trigger": "auto"}}))
        + &row(
            "user",
            json!({"isCompactSummary": true, "message": {"content": format!("they used {secret}")}}),
        );
    for level in [Level::Metadata, Level::Actions, Level::Full] {
        for side in [Side::Before, Side::After] {
            let items = Some((1, side, 0, 100));
            let said =
                scan(text.as_bytes(), &ScanRequest { level, items, ..ask(Agent::CLAUDE_CODE) }).unwrap();
            let text = format!("{said:?}");
            assert!(!text.contains(&secret) && !text.contains("CANARY"), "{text}");
            assert_eq!(text.contains("they used"), level != Level::Metadata, "{text}");
        }
    }
}

#[test]
fn what_the_hook_saw_is_held_against_the_file() {
    let (agent, bytes) = fixture("2.1.325/compact_auto/");
    let mark = read(agent, &bytes).compactions[0].offset;
    let hash = hash_of_first(bytes.as_slice(), mark).unwrap();
    let seen = |hash: Option<String>| [FileSnapshot { bytes: mark, sha256: hash }];
    let of = |bytes: &[u8], seen: &[FileSnapshot]| {
        let one = scan(bytes, &ScanRequest { seen, ..ask(agent) }).unwrap().compactions.remove(0);
        (one.seen_bytes, one.unchanged)
    };
    assert_eq!(of(&bytes, &seen(hash.clone())), (Some(mark), Some(true)));
    assert_eq!(of(&bytes, &seen(None)), (Some(mark), None));
    let mut changed = bytes.clone();
    let at = changed.iter().position(|byte| *byte == b'2').unwrap();
    changed[at] = b'3';
    assert_eq!(of(&changed, &seen(hash)), (Some(mark), Some(false)));
    let later = [FileSnapshot { bytes: bytes.len() as u64 + 5, sha256: Some("0".repeat(64)) }];
    assert_eq!(of(&bytes, &later), (None, None), "there is no mark behind that place");
    assert_eq!(hash_of_first(bytes.as_slice(), bytes.len() as u64 + 1).unwrap(), None);
}

#[test]
fn odd_files_are_read_to_their_end() {
    let (agent, bytes) = fixture("2.1.325/compact_auto/");
    for end in (0..bytes.len()).step_by(997) {
        let cut = read(agent, &bytes[..end]);
        assert!(cut.compactions.len() <= 1);
    }
    let marks = "{\"type\":\"system\",\"subtype\":\"compact_boundary\"}\n".repeat(3000);
    assert_eq!(read(Agent::CLAUDE_CODE, marks.as_bytes()).compactions.len(), 1000);
    for odd in [&b"null\n[]\n{}\n\xff\xfe\n{\"type\":3}\n"[..], b"", b"\n\n\n", b"{\"type\":\"compacted\"}\n"]
    {
        for agent in Agent::ALL {
            assert!(read(*agent, odd).compactions.len() <= 1);
        }
    }
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::PermissionDenied.into())
        }
    }
    assert!(scan(Broken, &ask(Agent::CODEX)).is_err());
}

#[test]
fn copies_are_whole_named_by_who_compacted_and_kept_within_age_and_room() {
    use agent_tracer_event::{Millis, TaskKey};
    use agent_tracer_jobs::compaction::backup;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("backup");
    let task = |key: &TaskKey, kind: &str, agent_type: &str| {
        serde_json::from_value::<agent_tracer_ledger::view::Task>(json!({
            "id": key.task_id().to_string(), "title": "x", "kind": kind, "status": "running", "stale": false,
            "agent": "claude_code", "agentType": agent_type, "agentId": "a1f", "runtimeSessionId": "s",
            "workspacePath": "/", "startedAt": "2026-11-15T10:00:00.000Z", "lastEventAt": "2026-11-15T10:00:00.000Z",
            "eventCount": 0, "toolCallCount": 0, "failureCount": 0, "turnCount": 0, "childCount": 0,
            "usage": usage(), "treeUsage": usage(), "treeToolCallCount": 0, "treeFailureCount": 0, "machineId": "m", "project": "/",
        }))
        .unwrap()
    };
    let main = task(&TaskKey::new(Agent::CLAUDE_CODE, "s"), "primary", "main");
    let child = task(&TaskKey::subagent(Agent::CLAUDE_CODE, "a1f"), "background", "../Evil type");
    let text = "{\"type\":\"user\"}\n".repeat(400_000);
    let keep = |task, at, bytes| backup::keep(&folder, task, Millis(at), text.as_bytes(), bytes).unwrap();
    let day = 86_400_000;
    assert!(keep(&main, 10 * day, 6_000_000).is_some());
    assert!(keep(&main, 10 * day, 6_000_000).is_none(), "it is there already");
    assert!(keep(&main, 11 * day, text.len() as u64 + 1).is_none(), "the file is shorter than it was");
    assert!(keep(&child, 12 * day, 100).is_some());
    let list = backup::list(&folder).unwrap();
    let names: Vec<&str> = list.iter().map(|it| it.name.split_once("Z-").unwrap().1).collect();
    assert_eq!(names, ["main.jsonl.zst", "subagent-Eviltype-a1f.jsonl.zst"]);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "nothing half is left");
    let mut back = String::new();
    backup::restore(&folder, &list[0].name).unwrap().read_to_string(&mut back).unwrap();
    assert_eq!(Some(back.as_str()), text.get(..6_000_000));
    assert!(list[0].bytes < 1_000_000, "{}", list[0].bytes);
    assert_eq!(backup::retain(&folder, Millis(11 * day), u64::MAX).unwrap(), 1, "one was too old");
    assert!(keep(&main, 13 * day, 100).is_some());
    let newest = backup::list(&folder).unwrap().last().unwrap().bytes;
    assert_eq!(backup::retain(&folder, Millis(0), newest).unwrap(), 1, "the newest finds room");
    assert_eq!(backup::list(&folder).unwrap().len(), 1);
    assert_eq!(backup::remove(&folder, |it| it.task == main.id).unwrap(), 1);
    assert!(backup::restore(&folder, "../x-1Z-main.jsonl.zst").is_err());
}

fn usage() -> serde_json::Value {
    json!({"inputTokens": 0, "outputTokens": 0, "cacheReadTokens": 0, "cacheCreationTokens": 0, "costUsd": 0.0,
        "provenance": {"responses": 0, "unpriced": 0, "copies": 0}})
}
