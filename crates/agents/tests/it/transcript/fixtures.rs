//! Laws that hold for every transcript that was ever captured, at every level.

use std::collections::{BTreeMap, BTreeSet};

use agent_tracer_event::{Certainty, Phase};

use super::*;

const LEVELS: [Level; 3] = [Level::Metadata, Level::Actions, Level::Full];

#[test]
fn everything_that_was_captured_is_recognised() {
    let all = everything();
    assert!(all.iter().filter(|captured| captured.rows().is_some()).count() > 120, "{}", all.len());
    for level in LEVELS {
        for captured in &all {
            let actual = read(captured, level);
            let place = captured.path.display();
            assert_eq!(actual.unrecognised(), [], "{place} at {level:?}");
            let counts = actual.counts();
            let odd = [counts.malformed, counts.unrecognised, counts.unreadable_usage, counts.too_long];
            assert_eq!(odd, [0; 4], "{place} at {level:?}");
            assert!(!actual.entries().is_empty(), "{place} at {level:?}");
        }
    }
}

#[test]
fn every_row_ends_as_exactly_one_thing() {
    for captured in everything().iter().filter(|captured| captured.rows().is_some()) {
        let actual = read(captured, Level::Actions);
        let counts = actual.counts();
        let lines = captured.content.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
        assert_eq!(counts.read + counts.skipped + counts.copied, lines as u64, "{}", captured.path.display());
    }
}

#[test]
fn every_event_has_a_title_that_fits_on_one_line() {
    for level in LEVELS {
        for captured in everything() {
            for entry in read(&captured, level).entries() {
                let Subject::Event(kind) = entry.subject else { continue };
                // A row that only adds to a fact leaves its title alone.
                let adds = entry.phase == Phase::Update
                    || entry.key.starts_with("tool:") && entry.phase == Phase::Close;
                if adds || entry.evidence.certainty == Certainty::Inferred {
                    continue;
                }
                let title = entry.title.clone().unwrap_or_default();
                let is_elsewhere = entry.metadata.contains_key("notificationTaskId")
                    || (kind == Kind::ActionLogged && entry.title.is_none());
                assert!(!title.is_empty() || is_elsewhere, "{}: {entry:#?}", captured.path.display());
                assert!(title.chars().count() <= 120 && !title.contains(char::is_control), "{title:?}");
            }
        }
    }
}

#[test]
fn reading_a_file_twice_says_the_same() {
    for captured in everything() {
        let (one, two) = (read(&captured, Level::Full), read(&captured, Level::Full));
        assert_eq!(one.rows, two.rows, "{}", captured.path.display());
        assert_eq!(one.state, two.state);
    }
}

#[test]
fn a_row_only_reports_and_never_claims_to_have_seen() {
    for captured in everything() {
        for entry in read(&captured, Level::Actions).entries() {
            assert!(entry.evidence.certainty <= Certainty::Reported, "{entry:#?}");
            assert_eq!(entry.hook_event_name, None, "{entry:#?}");
            assert!(!entry.evidence.reason.contains("hook"), "{entry:#?}");
        }
    }
}

#[test]
fn a_call_has_one_owner_and_one_name_from_attempt_to_end() {
    let mut calls: BTreeMap<String, BTreeSet<(String, Option<String>)>> = BTreeMap::new();
    let mut ended = BTreeSet::new();
    for captured in everything() {
        for entry in read(&captured, Level::Actions).entries() {
            let Some(id) = entry.key.strip_prefix("tool:") else { continue };
            let named = entry.tool_name.is_some();
            if named {
                let who = (entry.task.runtime_session.clone(), entry.tool_name.clone());
                calls.entry(id.to_owned()).or_default().insert(who);
            }
            if entry.phase == Phase::Close {
                assert!(entry.state.is_some() && entry.ended_at.is_some(), "{entry:#?}");
                ended.insert(id.to_owned());
            }
        }
    }
    assert!(calls.len() > 150, "{}", calls.len());
    for (id, who) in &calls {
        assert_eq!(who.len(), 1, "{id}: {who:?}");
    }
    // Killed and deferred calls have no end in any row.
    assert!(ended.len() + 12 > calls.len(), "{} of {}", ended.len(), calls.len());
}

#[test]
fn texts_are_kept_by_level() {
    let texts = |level: Level| -> Vec<Entry> {
        entries("2.1.325/ctl_pre_defer", level).into_iter().chain(entries("2.1.325/slash", level)).collect()
    };
    let metadata = serde_json::to_string(&texts(Level::Metadata)).unwrap();
    for text in ["Go [[", "loud words", "Hello from", "Listing the files", "Shout this", "echo out"] {
        assert!(!metadata.contains(text), "{text} at metadata");
    }
    let actions = serde_json::to_string(&texts(Level::Actions)).unwrap();
    for text in ["Go [[bash_ok]]", "/shout loud words", "Hello from", "echo out"] {
        assert!(actions.contains(text), "{text} at actions");
    }
    for text in ["Listing the files", "Shout this"] {
        assert!(!actions.contains(text), "{text} at actions");
    }
    let full = serde_json::to_string(&texts(Level::Full)).unwrap();
    assert!(full.contains("Listing the files") && full.contains("Shout this: loud words"));
    assert_eq!(of_kind(&texts(Level::Actions), Kind::AssistantCommentary).len(), 0);
    assert_eq!(of_kind(&texts(Level::Full), Kind::AssistantCommentary).len(), 1);
}
