//! The sweep of files that dead hooks left in `tmp/`.

use std::fs;

use agent_tracer_spool::Reason;
use agent_tracer_spool::drain::{Disposition, Refusal};

use crate::world::{HOUR, T0, World, bodies, envelope, mode, name};

#[test]
fn a_whole_envelope_is_delivered_after_an_hour() {
    let world = World::prepared();
    world.put(&format!("tmp/{}", name(T0, 0)), &envelope(b"whole"), 0o600);
    let mut drain = world.open();
    let swept = drain.sweep(T0 + HOUR).unwrap();
    assert_eq!((swept.recovered, swept.torn, swept.kept), (0, 0, 1), "an hour is not more than an hour");
    let swept = drain.sweep(T0 + HOUR + 1).unwrap();
    assert_eq!((swept.recovered, swept.torn, swept.kept), (1, 0, 0));
    let batch = drain.next_batch(10, u64::MAX).unwrap();
    assert_eq!(bodies(&batch), [b"whole"]);
    assert_eq!(batch.envelopes[0].name.as_str(), name(T0, 0));
    assert_eq!(mode(&world.path("new").join(name(T0, 0))), 0o600);
}

#[test]
fn half_an_envelope_is_removed_and_counted() {
    let whole = envelope(b"body");
    for cut in [0, 1, 10, 30, whole.len() - 1] {
        let world = World::prepared();
        world.put(&format!("tmp/{}", name(T0, 0)), &whole[..cut], 0o600);
        let swept = world.open().sweep(T0 + 2 * HOUR).unwrap();
        assert_eq!((swept.recovered, swept.torn, swept.kept), (0, 1, 0));
        assert!(matches!(swept.refused[..], [ref file] if matches!(file.disposition, Disposition::Removed)));
        assert_eq!((world.lost(Reason::Torn), world.list("tmp").len()), (1, 0));
        assert_eq!(world.spool.stats().unwrap().quarantined, 0);
    }
}

#[test]
fn a_name_from_the_far_future_is_old_too() {
    let world = World::prepared();
    world.put(&format!("tmp/{}", name(T0 + 5 * HOUR, 0)), &envelope(b"x"), 0o600);
    world.put(&format!("tmp/{}", name(T0 + HOUR / 2, 0)), b"being written", 0o600);
    let swept = world.open().sweep(T0).unwrap();
    assert_eq!((swept.recovered, swept.torn, swept.kept), (1, 0, 1));
}

#[test]
fn an_envelope_in_new_is_never_overwritten() {
    let world = World::prepared();
    world.put(&format!("new/{}", name(T0, 0)), &envelope(b"in new"), 0o600);
    world.put(&format!("tmp/{}", name(T0, 0)), &envelope(b"in tmp"), 0o600);
    let mut drain = world.open();
    let swept = drain.sweep(T0 + 2 * HOUR).unwrap();
    assert_eq!((swept.recovered, swept.kept), (0, 1));
    let batch = drain.next_batch(10, u64::MAX).unwrap();
    assert_eq!(bodies(&batch), [b"in new"]);
    drain.ack(batch.receipt).unwrap();
    assert_eq!(drain.sweep(T0 + 2 * HOUR).unwrap().recovered, 1);
    assert_eq!(bodies(&drain.next_batch(10, u64::MAX).unwrap()), [b"in tmp"]);
}

#[test]
fn files_that_are_no_envelopes_go_to_quarantine() {
    let world = World::prepared();
    world.put("tmp/editor.swp", b"x", 0o600);
    world.put(&format!("tmp/{}", name(T0, 1)), &envelope(b"x"), 0o644);
    world.put(&format!("tmp/{}", name(T0, 2)), b"not an envelope at all", 0o600);
    let mut drain = world.open();
    let swept = drain.sweep(T0 + 2 * HOUR).unwrap();
    let mut refusals: Vec<String> = swept.refused.iter().map(|file| file.refusal.to_string()).collect();
    refusals.sort();
    let mut expected = [
        Refusal::Stranger.to_string(),
        Refusal::Exposed { mode: 0o644 }.to_string(),
        "the file does not begin as an envelope does".to_owned(),
    ];
    expected.sort();
    assert_eq!(refusals, expected);
    assert_eq!((world.list("tmp").len(), world.spool.stats().unwrap().quarantined), (0, 3));
}

#[test]
fn a_loss_that_cannot_be_counted_is_not_removed() {
    let world = World::prepared();
    world.put(&format!("tmp/{}", name(T0, 0)), b"", 0o600);
    let mut drain = world.open();
    fs::remove_dir_all(world.path("lost")).unwrap();
    crate::world::write(&world.path("lost"), b"");
    let error = drain.sweep(T0 + 2 * HOUR).unwrap_err();
    assert_eq!(error.to_string(), format!("cannot count a loss in `{}`", world.path("lost").display()));
    assert_eq!(world.list("tmp").len(), 1);
}
