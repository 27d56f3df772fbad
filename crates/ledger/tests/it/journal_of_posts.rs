//! Tests posts while the writer is busy: acknowledged when it is on disk, there soon after, and once.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent_tracer_event::Outcome;
use agent_tracer_ledger::{Batch, Ledger, Observed, Options, Receipt};
use agent_tracer_testkit::scenario;

use crate::world::World;

/// A writer that does not come back from its next commit until it is let go.
struct Held {
    _go: Sender<()>,
}

/// Brings one observation and keeps the writer at it.
fn hold(world: &World, first: &Observed) -> Held {
    let (go, gone) = channel::<()>();
    let (came, comes) = channel();
    let gone = Mutex::new(gone);
    world.ledger.on_commit(move |_| {
        came.send(()).ok();
        // A caller that holds the other end lets go by dropping it.
        gone.lock().unwrap().recv().ok();
    });
    let batch = Batch { observed: vec![first.clone()], ..Batch::default() };
    world.ledger.submit(batch, |_| {}).unwrap();
    comes.recv_timeout(Duration::from_secs(60)).unwrap();
    Held { _go: go }
}

fn post(ledger: &Ledger, observed: &[Observed]) -> Receiver<Receipt> {
    let (tell, reported) = channel();
    let batch = Batch { observed: observed.to_vec(), ..Batch::default() };
    ledger.post(batch, move |answer| drop(tell.send(answer.unwrap()))).unwrap();
    reported
}

fn outcomes(reported: &Receiver<Receipt>) -> Vec<Outcome> {
    reported.recv_timeout(Duration::from_secs(60)).unwrap().outcomes
}

/// Waits until what is acknowledged can be asked for.
fn settle(ledger: &Ledger) {
    let token = ledger.flush_token();
    let (tell, reported) = channel();
    let tell = Arc::new(Mutex::new(tell));
    ledger.on_commit(move |_| {
        tell.lock().unwrap().send(()).ok();
    });
    while !ledger.is_flushed(token) {
        reported.recv_timeout(Duration::from_millis(50)).ok();
    }
}

fn copy(from: &Path, to: &Path) {
    for file in std::fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

#[test]
fn what_is_posted_while_the_writer_is_busy_is_acknowledged_before_it_is_folded() {
    let all = scenario("2.1.325/agent_nested").observed(None);
    let (first, rest) = all.split_first().unwrap();
    let world = World::new();
    let held = hold(&world, first);
    let before = world.ledger.store().seq().unwrap();
    for part in rest.chunks(7) {
        let said = outcomes(&post(&world.ledger, part));
        assert!(said.iter().all(|outcome| *outcome == Outcome::Recorded), "{said:?}");
    }
    assert_eq!(world.ledger.store().seq().unwrap(), before, "nothing of it is folded yet");
    assert!(world.ledger.waiting_bytes() > 0);
    drop(held);
    settle(&world.ledger);
    assert_eq!(world.ledger.waiting_bytes(), 0);
    assert_eq!(world.rows(), World::with(&all, usize::MAX).rows());
}

/// Returns a world in which everything but the first of these was acknowledged while the writer was busy, and the files
/// as a process that was gone at that moment left them.
fn left_behind(all: &[Observed]) -> (World, tempfile::TempDir) {
    let (first, rest) = all.split_first().unwrap();
    let world = World::new();
    let held = hold(&world, first);
    outcomes(&post(&world.ledger, rest));
    let left = tempfile::tempdir().unwrap();
    copy(world.path().parent().unwrap(), left.path());
    drop(held);
    (world, left)
}

#[test]
fn what_was_acknowledged_is_there_after_the_process_is_gone_and_there_once() {
    let all = scenario("2.1.325/agent_nested").observed(None);
    let (_world, left) = left_behind(&all);
    let path = left.path().join("ledger.db");
    let expected = World::with(&all, usize::MAX).rows();
    for _ in 0..3 {
        let ledger = Ledger::open(&path, Options::default()).unwrap();
        settle(&ledger);
        drop(ledger);
        assert_eq!(World::rows_of(&path), expected);
    }
}

#[test]
fn what_is_posted_again_is_reported_to_be_known_wherever_it_is() {
    let mut all = scenario("2.1.325/agent_nested").observed(None);
    all.retain(|observed| observed.source.is_none());
    let (first, rest) = all.split_first().unwrap();
    let world = World::new();
    let held = hold(&world, first);
    let known = outcomes(&post(&world.ledger, std::slice::from_ref(first)));
    assert_eq!(known, [Outcome::Duplicate], "it is folded");
    let twice = [rest[0].clone(), rest[0].clone()];
    assert_eq!(outcomes(&post(&world.ledger, &twice)), [Outcome::Recorded, Outcome::Duplicate]);
    assert_eq!(outcomes(&post(&world.ledger, &twice[..1])), [Outcome::Duplicate], "it waits");
    drop(held);
    settle(&world.ledger);
    assert_eq!(world.rows(), World::with(&all[..2], usize::MAX).rows());
}

#[test]
fn a_writer_that_rests_folds_at_once() {
    let all = scenario("2.1.325/agent_nested").observed(None);
    let world = World::new();
    for part in all.chunks(3) {
        outcomes(&post(&world.ledger, part));
        assert_eq!(world.ledger.waiting_bytes(), 0);
    }
    assert_eq!(world.rows(), World::with(&all, usize::MAX).rows());
}

#[test]
fn nothing_of_what_is_deleted_stays_in_the_journal() {
    let all = scenario("2.1.325/agent_nested").observed(None);
    let (first, rest) = all.split_first().unwrap();
    let world = World::new();
    let held = hold(&world, first);
    outcomes(&post(&world.ledger, rest));
    drop(held);
    settle(&world.ledger);
    let journal = world.path().with_file_name("ledger.db-journal-of-posts");
    let size = || std::fs::metadata(&journal).unwrap().len();
    assert!(size() > 1_000);
    world.ledger.purge(Vec::new(), agent_tracer_event::Millis(1)).unwrap();
    assert!(size() < 100, "{}", size());
}

/// Returns how many of them were folded as they were handed over, and how many were read from the file.
fn ways(path: &Path) -> (i64, i64) {
    let conn = rusqlite::Connection::open(path).unwrap();
    let count = |key: &str| {
        conn.query_row("SELECT coalesce(sum(value), 0) FROM meta WHERE key = ?1", [key], |row| row.get(0))
            .unwrap()
    };
    (count("posted_by_hand"), count("posted_by_file"))
}

#[test]
fn what_waits_is_folded_as_it_was_handed_over_and_from_the_file_after_a_restart() {
    let all = scenario("2.1.325/agent_nested").observed(None);
    let (world, left) = left_behind(&all);
    let posted = all.len() as i64 - 1;
    settle(&world.ledger);
    assert_eq!(ways(&world.path()), (posted, 0));
    let path = left.path().join("ledger.db");
    let again = Ledger::open(&path, Options::default()).unwrap();
    settle(&again);
    drop(again);
    assert_eq!(ways(&path), (0, posted));
    assert_eq!(World::rows_of(&path), world.rows());
}

#[test]
fn what_is_too_much_to_be_handed_over_is_read_from_the_file_in_its_order() {
    let all = scenario("2.1.325/agent_nested").observed(None);
    let (first, rest) = all.split_first().unwrap();
    let mut large: Vec<Observed> = rest.to_vec();
    for observed in &mut large {
        observed.kept = Some(vec![b'x'; 300_000]);
    }
    let world = World::new();
    let held = hold(&world, first);
    for part in large.chunks(5) {
        outcomes(&post(&world.ledger, part));
    }
    drop(held);
    settle(&world.ledger);
    let (by_hand, by_file) = ways(&world.path());
    assert_eq!(by_hand + by_file, large.len() as i64, "each once");
    assert!(by_hand > 0 && by_file > 0, "{by_hand} and {by_file}");
    assert_eq!(world.rows(), World::with(&all, usize::MAX).rows());
}

#[test]
fn a_journal_that_cannot_be_opened_is_named_with_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("ledger.db");
    Ledger::open(&store, Options::default()).unwrap().close();
    let journal = folder.path().join("ledger.db-journal-of-posts");
    std::fs::remove_file(&journal).unwrap();
    // No file can be made or read in the place of a folder, by any user.
    std::fs::create_dir(&journal).unwrap();
    let error = Ledger::open(&store, Options::default()).err().unwrap();
    assert!(matches!(error, agent_tracer_ledger::OpenError::Journal(_)), "{error:?}");
    let said = agent_tracer_ledger::error_text(&error);
    assert!(said.contains("the journal of posts cannot be opened: `"), "{said}");
    assert!(said.contains("ledger.db-journal-of-posts`: ") && said.contains("\nhint: "), "{said}");
    std::fs::remove_dir(&journal).unwrap();
    Ledger::open(&store, Options::default()).unwrap().close();
}
