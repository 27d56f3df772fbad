//! Files that are no envelopes of ours: put aside with a reason, never followed, never blocking others.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::net::UnixListener;

use agent_tracer_spool::drain::{Disposition, Drain, DrainError, Refusal};
use agent_tracer_spool::envelope::EnvelopeError;
use agent_tracer_spool::{Limits, Reason};

use crate::world::{T0, World, bodies, envelope, list, name, write};

/// Delivers the one good envelope beside the bad file, and returns the refusal of the bad one.
fn refused(world: &World) -> (Refusal, String) {
    world.accept(T0 + 50, b"good").unwrap();
    let mut drain = world.open();
    let batch = drain.next_batch(10, u64::MAX).unwrap();
    assert_eq!(bodies(&batch), [b"good"]);
    assert_eq!(batch.refused.len(), 1, "{:?}", batch.refused);
    drain.ack(batch.receipt).unwrap();
    assert!(world.list("new").is_empty());
    assert_eq!(world.spool.stats().unwrap().quarantined, 1);
    let file = batch.refused.into_iter().next().unwrap();
    let Disposition::Quarantined(place) = file.disposition else { panic!("{:?}", file.disposition) };
    let reason = fs::read_to_string(world.path("quarantine").join(format!("{place}.reason"))).unwrap();
    assert_eq!(reason, format!("cannot read envelope `{}`: {}\n", file.name, file.refusal));
    (file.refusal, place)
}

#[test]
fn a_torn_file_is_put_aside_under_its_own_name() {
    let world = World::prepared();
    let whole = envelope(b"body");
    world.put(&format!("new/{}", name(T0, 0)), &whole[..whole.len() - 1], 0o600);
    let (refusal, place) = refused(&world);
    assert_eq!(refusal, Refusal::Envelope(EnvelopeError::Torn { bytes: whole.len() - 1 }));
    assert_eq!(place, name(T0, 0));
    assert_eq!(fs::read(world.path("quarantine").join(place)).unwrap(), whole[..whole.len() - 1]);
}

#[test]
fn an_empty_file_as_a_power_cut_leaves_it_is_put_aside() {
    let world = World::prepared();
    world.put(&format!("new/{}", name(T0, 0)), b"", 0o600);
    assert_eq!(refused(&world).0, Refusal::Envelope(EnvelopeError::Torn { bytes: 0 }));
}

#[test]
fn a_rotten_file_is_put_aside() {
    let world = World::prepared();
    let mut bytes = envelope(b"body");
    let position = bytes.len() / 2;
    bytes[position] ^= 1;
    world.put(&format!("new/{}", name(T0, 0)), &bytes, 0o600);
    assert!(matches!(refused(&world).0, Refusal::Envelope(EnvelopeError::ChecksumMismatch { .. })));
}

#[test]
fn a_link_is_moved_and_never_followed() {
    let world = World::prepared();
    let secret = world.outside("secret");
    write(&secret, &envelope(b"not for the spool"));
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    symlink(&secret, world.path("new").join(name(T0, 0))).unwrap();
    let (refusal, place) = refused(&world);
    assert_eq!(refusal, Refusal::NotAFile);
    assert!(fs::symlink_metadata(world.path("quarantine").join(place)).unwrap().is_symlink());
    assert!(secret.exists());
}

#[test]
fn a_dangling_link_is_moved() {
    let world = World::prepared();
    symlink("/nowhere", world.path("new").join(name(T0, 0))).unwrap();
    assert_eq!(refused(&world).0, Refusal::NotAFile);
}

#[test]
fn a_folder_and_a_socket_are_moved() {
    let world = World::prepared();
    fs::create_dir(world.path("new").join(name(T0, 0))).unwrap();
    assert_eq!(refused(&world).0, Refusal::NotAFile);

    let world = World::prepared();
    let _listener = UnixListener::bind(world.path("new").join(name(T0, 0))).unwrap();
    assert_eq!(refused(&world).0, Refusal::NotAFile);
}

#[test]
fn a_file_that_others_may_touch_is_moved_unread() {
    for mode in [0o644, 0o620, 0o606, 0o601, 0o777] {
        let world = World::prepared();
        world.put(&format!("new/{}", name(T0, 0)), &envelope(b"x"), mode);
        assert_eq!(refused(&world).0, Refusal::Exposed { mode });
    }
}

#[test]
fn a_giant_is_moved_unread() {
    let world = World::prepared();
    let path = world.put(&format!("new/{}", name(T0, 0)), b"", 0o600);
    fs::OpenOptions::new().write(true).open(path).unwrap().set_len(1 << 40).unwrap();
    assert_eq!(refused(&world).0, Refusal::Oversized { bytes: 1 << 40 });

    let world = World::prepared().with_limits(Limits { envelope_bytes: 300, ..Limits::default() });
    let bytes = envelope(&[b'x'; 300]);
    world.put(&format!("new/{}", name(T0, 0)), &bytes, 0o600);
    assert_eq!(refused(&world).0, Refusal::Oversized { bytes: bytes.len() as u64 });
}

#[test]
fn strangers_are_moved_under_a_name_of_ours() {
    use std::os::unix::ffi::OsStrExt;
    let long = "n".repeat(255);
    for (stranger, shown) in [
        (&b"notes.txt"[..], "notes.txt"),
        (b".hidden", ".hidden"),
        (b"line\nfeed \xff", "line\\nfeed \\xff"),
        (b"01731600000000000000-812-0.reason", "01731600000000000000-812-0.reason"),
        (long.as_bytes(), &long),
    ] {
        let world = World::prepared();
        let path = world.path("new").join(std::ffi::OsStr::from_bytes(stranger));
        write(&path, &envelope(b"even a whole one"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let (refusal, place) = refused(&world);
        assert_eq!(refusal, Refusal::Stranger);
        assert!(place.starts_with("stranger-") && place.len() == 25, "{place}");
        let reason = fs::read_to_string(world.path("quarantine").join(format!("{place}.reason"))).unwrap();
        assert_eq!(reason, format!("cannot read envelope `{shown}`: the name is not that of an envelope\n"));
    }
}

#[test]
fn the_quarantine_keeps_everything_under_names_of_its_own() {
    let world = World::prepared();
    for (count, body) in [b"one", b"two", b"six"].into_iter().enumerate() {
        world.put(&format!("new/{}", name(T0, 0)), body, 0o600);
        assert_eq!(world.everything().refused.len(), 1);
        assert_eq!(world.spool.stats().unwrap().quarantined, count as u64 + 1);
    }
    let first = name(T0, 0);
    for (place, body) in
        [(first.clone(), b"one"), (format!("{first}.1"), b"two"), (format!("{first}.2"), b"six")]
    {
        assert_eq!(fs::read(world.path("quarantine").join(place)).unwrap(), body);
    }
}

#[test]
fn a_name_is_taken_by_a_file_or_by_its_reason() {
    for taken in ["", ".reason"] {
        let world = World::prepared();
        let name = name(T0, 0);
        world.put(&format!("quarantine/{name}{taken}"), b"older", 0o600);
        world.put(&format!("new/{name}"), b"torn", 0o600);
        assert_eq!(world.everything().refused.len(), 1);
        assert_eq!(fs::read(world.path(&format!("quarantine/{name}{taken}"))).unwrap(), b"older");
        assert_eq!(fs::read(world.path(&format!("quarantine/{name}.1"))).unwrap(), b"torn");
        assert!(world.path(&format!("quarantine/{name}.1.reason")).exists());
    }
}

#[test]
fn a_file_that_cannot_be_moved_is_left_counted_and_passed_over() {
    let world = World::prepared();
    let mut drain = world.open();
    // The quarantine is gone and cannot come back: a file stands in its place.
    fs::remove_dir(world.path("quarantine")).unwrap();
    write(&world.path("quarantine"), b"");
    world.put(&format!("new/{}", name(T0, 0)), b"torn", 0o600);
    world.put("new/stranger", b"", 0o600);
    world.accept(T0 + 1, b"good").unwrap();
    let batch = drain.next_batch(10, u64::MAX).unwrap();
    assert_eq!(bodies(&batch), [b"good"]);
    assert_eq!(batch.refused.len(), 2);
    assert!(batch.refused.iter().all(|file| matches!(file.disposition, Disposition::LeftInPlace(_))));
    drain.ack(batch.receipt).unwrap();
    let again = drain.next_batch(10, u64::MAX).unwrap();
    assert!(again.refused.is_empty() && again.nothing_left, "said once, and no endless loop");
    assert_eq!(world.list("new"), [name(T0, 0), "stranger".into()]);
}

#[test]
fn many_bad_files_come_in_bounded_batches() {
    let world = World::prepared();
    for number in 0..25 {
        world.put(&format!("new/{}", name(T0 + number, 0)), b"torn", 0o600);
    }
    let mut drain = world.open();
    let counts: Vec<(usize, bool)> = (0..3)
        .map(|_| {
            drain.next_batch(10, u64::MAX).map(|batch| (batch.refused.len(), batch.nothing_left)).unwrap()
        })
        .collect();
    assert_eq!(counts, [(10, false), (10, false), (5, true)]);
}

/// Needs the right to give files away; a unit test checks the decision about owners without it.
#[test]
fn files_and_spools_of_other_users_are_refused() {
    let world = World::prepared();
    let path = world.put(&format!("new/{}", name(T0, 0)), &envelope(b"x"), 0o600);
    if chown(&path, Some(12_345), None).is_err() {
        // Only root can give files away, and `drain::admit` has a unit test of the judgement.
        assert!(world.everything().refused.is_empty());
        return;
    }
    assert_eq!(refused(&world).0, Refusal::NotOurs { owner: 12_345 });

    chown(world.spool.root(), Some(12_345), None).unwrap();
    let before = list(world.spool.root());
    let error = Drain::open(&world.spool).unwrap_err();
    assert!(matches!(error, DrainError::Foreign(_)));
    assert_eq!(
        error.to_string(),
        format!("the spool `{}` belongs to another user", world.spool.root().display())
    );
    assert_eq!(list(world.spool.root()), before, "nothing of ours is left in a foreign spool");
}

/// A file in the quarantine that was written so many seconds after the epoch.
fn aside(world: &World, name: &str, bytes: usize, second: u64) {
    let path = world.put(&format!("quarantine/{name}"), &vec![b'x'; bytes], 0o600);
    let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(second);
    fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    world.put(&format!("quarantine/{name}.reason"), b"why", 0o600);
}

#[test]
fn beyond_a_thousand_files_the_oldest_are_removed_with_their_reasons_and_counted() {
    let world = World::prepared();
    for number in 0..1005 {
        // The names say nothing of the age.
        aside(&world, &format!("file-{:04}", 2000 - number), 1, 1000 + number);
    }
    world.put("new/stranger", b"x", 0o600);
    let mut drain = world.open();
    drop(drain.next_batch(10, u64::MAX).unwrap());
    let left = world.list("quarantine");
    assert_eq!(world.spool.stats().unwrap().quarantined, 1000);
    assert_eq!(left.len(), 2000, "no reason is left without its file");
    for number in 0..1005u64 {
        let there = left.iter().any(|name| *name == format!("file-{:04}", 2000 - number));
        assert_eq!(there, number >= 6, "{number}");
    }
    assert_eq!(world.lost(Reason::Quarantine), 6);
}

#[test]
fn beyond_sixty_four_megabytes_the_oldest_are_removed_but_never_the_newest() {
    let world = World::prepared();
    for number in 0..5 {
        aside(&world, &format!("file-{number}"), 20 << 20, 1000 + number);
    }
    fs::create_dir(world.path("quarantine/a folder of the user")).unwrap();
    world.put("new/stranger", b"x", 0o600);
    let mut drain = world.open();
    drop(drain.next_batch(10, u64::MAX).unwrap());
    let left = world.list("quarantine");
    assert!(!left.iter().any(|name| name == "file-0" || name == "file-1"), "{left:?}");
    assert!(left.iter().any(|name| name == "file-2") && left.iter().any(|name| name == "file-4"), "{left:?}");
    assert_eq!(world.lost(Reason::Quarantine), 2);
    // One that is longer than all that is kept stays, as long as it is the newest.
    let world = World::prepared();
    let path = world.put("new/stranger", b"x", 0o600);
    fs::File::options().write(true).open(path).unwrap().set_len(100 << 20).unwrap();
    drop(world.open().next_batch(10, u64::MAX).unwrap());
    assert_eq!((world.spool.stats().unwrap().quarantined, world.lost(Reason::Quarantine)), (1, 0));
}
