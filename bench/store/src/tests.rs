//! The bench itself: its history is the same every time, has the shape that it claims, and every question finds
//! something in it.

use std::collections::{BTreeMap, BTreeSet};

use agent_tracer_event::Channel;
use agent_tracer_ledger::{Ledger, Observed, Options, Verdict};

use crate::queries;
use crate::report::Report;
use agent_tracer_testkit::history::History;

fn all(events: u64, seed: u64) -> Vec<Observed> {
    let mut history = History::new(events, seed);
    let mut all = Vec::new();
    loop {
        let part = history.batch(500);
        if part.is_empty() {
            return all;
        }
        all.extend(part);
    }
}

#[test]
fn a_seed_gives_the_same_history_and_another_one_another() {
    let first = all(1_500, 7);
    assert_eq!(all(1_500, 7), first);
    assert_ne!(all(1_500, 8), first);
    let names: BTreeSet<&str> = first.iter().map(|observed| observed.name.as_str()).collect();
    assert_eq!(names.len(), first.len(), "no two observations have the same name");
}

#[test]
fn a_history_has_its_shape() {
    let events = 10_000;
    let all = all(events, 1);
    assert!((events..events + 200).contains(&(all.len() as u64)), "{}", all.len());
    let mut tasks: BTreeMap<String, u64> = BTreeMap::new();
    let mut projects = BTreeSet::new();
    for observed in &all {
        let Verdict::Read(reading) = &observed.verdict else { panic!("{observed:?}") };
        assert!(reading.unrecognised.is_empty(), "{:?}", reading.unrecognised);
        let entry = reading.entries.first().unwrap();
        *tasks.entry(entry.task.task_id().to_string()).or_default() += 1;
        let named = reading.entries.iter().filter_map(|entry| entry.metadata.get("project"));
        projects.extend(named.map(ToString::to_string));
    }
    let longest = tasks.values().max().copied().unwrap_or(0);
    assert!((800..3_000).contains(&longest), "{longest}");
    assert!((40..300).contains(&tasks.len()), "{}", tasks.len());
    assert!(projects.len() > 20, "{}", projects.len());
    let hooks = all.iter().filter(|observed| observed.channel == Channel::Hook).count();
    assert!(hooks > all.len() / 8 && hooks < all.len() * 3 / 4, "{hooks}");
}

#[test]
fn every_question_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let mut report = Report::default();
    let loaded = crate::load::load(&folder.path().join("ledger.db"), 6_000, 1, &mut report).unwrap();
    let rows = queries::ask(&loaded.ledger.store(), loaded.events, 1, 8).unwrap();
    // So short a history has few of these, and no context, no question and nothing unknown at all.
    let may_be_silent =
        ["tasks that run", "context", "permissions", "questions", "loops", "attention", "unrecognised"];
    let silent: Vec<_> =
        queries::silent(&rows).into_iter().filter(|name| !may_be_silent.contains(name)).collect();
    assert_eq!(silent, Vec::<&str>::new(), "these found nothing");
}

#[test]
fn an_empty_ledger_is_an_error_and_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(&folder.path().join("ledger.db"), Options::default()).unwrap();
    assert!(queries::ask(&ledger.store(), 0, 1, 1).is_err());
}
