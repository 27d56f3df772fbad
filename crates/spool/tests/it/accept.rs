//! Writing: where envelopes go, who may read them, and when they are refused.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use agent_tracer_spool::envelope::{ENVELOPE_BYTES_MAX, parse};
use agent_tracer_spool::{EnvelopeName, Limits, Reason, Spool, lost};

use crate::world::{T0, World, envelope, header, mode};

#[test]
fn an_accepted_envelope_is_one_private_file_in_new() {
    let world = World::prepared();
    let accepted = world.accept(T0, b"{}").unwrap();
    assert_eq!(world.list("new"), [accepted.name.as_str()]);
    assert!(world.list("tmp").is_empty());
    let path = world.path("new").join(accepted.name.as_str());
    assert_eq!(mode(&path), 0o600);
    let bytes = fs::read(path).unwrap();
    assert_eq!(bytes.len() as u64, accepted.bytes);
    let read = parse(&bytes).unwrap();
    assert_eq!((read.header, read.body), (header(), &b"{}"[..]));
}

#[test]
fn names_come_from_time_pid_and_counter_alone() {
    let world = World::prepared();
    let (one, two) = (world.accept(T0, b"../../x").unwrap().name, world.accept(T0, b"../../x").unwrap().name);
    for name in [one, two] {
        assert!(name.as_str().starts_with("01731600000000000000-812-"), "{name}");
        assert_eq!(EnvelopeName::parse(name.as_str().as_bytes()), Some(name));
    }
    assert_ne!(one, two);
}

#[test]
fn everything_is_made_where_nothing_is() {
    let world = World::bare();
    world.accept(T0, b"{}").unwrap();
    assert_eq!(world.list("new").len(), 1);
    for folder in ["", "tmp", "new"] {
        assert_eq!(mode(&world.path(folder)), 0o700, "{folder:?}");
    }
    assert_eq!(mode(&world.path("used")), 0o600);
    assert_eq!(mode(&world.outside("home")), 0o700);
}

#[test]
fn any_one_missing_folder_is_made_again() {
    for folder in ["tmp", "new", "lost", "quarantine"] {
        let world = World::prepared();
        fs::remove_dir_all(world.path(folder)).unwrap();
        world.accept(T0, b"{}").unwrap();
        assert_eq!(world.list("new").len(), 1, "without `{folder}`");
    }
    let world = World::prepared();
    fs::remove_file(world.path("used")).unwrap();
    world.accept(T0, b"{}").unwrap();
    assert_eq!(world.used(), 1);
}

#[test]
fn preparing_makes_everything_private_and_counts_nothing() {
    let world = World::prepared();
    for folder in ["", "tmp", "new", "lost", "quarantine"] {
        assert_eq!(mode(&world.path(folder)), 0o700, "{folder:?}");
    }
    for reason in Reason::ALL {
        let path = world.path("lost").join(reason.as_str());
        assert_eq!((fs::read(&path).unwrap().len(), mode(&path)), (1, 0o600), "{reason:?}");
    }
    assert_eq!(world.list("lost").len(), Reason::ALL.len());
    assert_eq!(world.used(), 0);
    assert_eq!(world.spool.stats().unwrap().lost_total(), 0);
}

#[test]
fn preparing_again_changes_nothing_but_doors_left_open() {
    let world = World::prepared();
    world.accept(T0, b"{}").unwrap();
    assert!(world.spool.count_loss(Reason::Panic));
    fs::set_permissions(world.path("new"), fs::Permissions::from_mode(0o755)).unwrap();
    let before = world.spool.stats().unwrap();
    world.spool.prepare().unwrap();
    assert_eq!(world.spool.stats().unwrap(), before);
    assert_eq!(mode(&world.path("new")), 0o700);
    assert_eq!(world.used(), 1);
}

#[test]
fn a_link_in_place_of_a_folder_is_not_prepared() {
    let world = World::prepared();
    let elsewhere = world.outside("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::remove_dir(world.path("quarantine")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, world.path("quarantine")).unwrap();
    let error = world.spool.prepare().unwrap_err();
    assert_eq!(error.to_string(), format!("cannot use `{}`", world.path("quarantine").display()));
}

#[test]
fn a_spool_behind_a_link_is_fine() {
    let world = World::bare();
    let real = world.outside("real");
    fs::create_dir(&real).unwrap();
    let link = world.outside("link");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let spool = Spool::at(&link);
    spool.prepare().unwrap();
    spool.accept(&header(), b"{}", T0, 1).unwrap();
    assert_eq!(spool.stats().unwrap().waiting, 1);
}

#[test]
fn used_grows_by_one_byte_per_started_four_kibibytes() {
    let world = World::prepared();
    let overhead = envelope(b"").len();
    let mut expected = 0;
    for (envelope_bytes, units) in [(overhead, 1), (4096, 1), (4097, 2), (8192, 2), (40_000, 10)] {
        // The length in the header takes a few bytes more than in an empty envelope.
        let mut body = vec![b'x'; envelope_bytes - overhead];
        while envelope(&body).len() > envelope_bytes.max(overhead) {
            body.pop();
        }
        let accepted = world.accept(T0, &body).unwrap();
        assert_eq!(accepted.bytes as usize, envelope_bytes);
        expected += units;
        assert_eq!(world.used(), expected, "after {envelope_bytes} bytes");
    }
}

#[test]
fn a_full_spool_refuses_and_counts_until_it_is_drained() {
    let world = World::prepared().with_limits(Limits { spool_files: 3, ..Limits::default() });
    for count in 0..3 {
        world.accept(T0 + count, b"{}").unwrap();
    }
    for losses in 1..4 {
        let refused = world.accept(T0 + 9, b"{}").unwrap_err();
        assert_eq!((refused.reason, refused.counted), (Reason::Full, true));
        assert!(refused.cause.is_none());
        assert_eq!(world.lost(Reason::Full), losses);
    }
    assert_eq!((world.list("new").len(), world.list("tmp").len(), world.used()), (3, 0, 3));

    let mut drain = world.open();
    let batch = drain.next_batch(2, u64::MAX).unwrap();
    assert!(world.accept(T0 + 9, b"{}").is_err(), "delivered is not yet drained");
    drain.ack(batch.receipt).unwrap();
    assert_eq!(world.used(), 1);
    world.accept(T0 + 9, b"{}").unwrap();
    world.accept(T0 + 9, b"{}").unwrap();
    assert_eq!(world.accept(T0 + 9, b"{}").unwrap_err().reason, Reason::Full);
}

#[test]
fn bytes_are_limited_as_well_as_files() {
    let world = World::prepared().with_limits(Limits { spool_bytes: 5 * 4096, ..Limits::default() });
    world.accept(T0, &[b'x'; 3 * 4096]).unwrap();
    assert_eq!(world.used(), 4);
    assert_eq!(world.accept(T0, &[b'x'; 4096]).unwrap_err().reason, Reason::Full);
    world.accept(T0, b"small").unwrap();
    assert_eq!(world.accept(T0, b"small").unwrap_err().reason, Reason::Full);
}

#[test]
fn the_default_limits_are_those_that_are_documented() {
    let limits = Limits::default();
    assert_eq!((limits.envelope_bytes, limits.spool_bytes, limits.spool_files), (8 << 20, 1 << 30, 262_144));
}

#[test]
fn an_envelope_over_eight_mebibytes_is_refused_and_the_largest_comes_back() {
    let world = World::prepared();
    let mut body = vec![b'x'; ENVELOPE_BYTES_MAX - envelope(b"").len()];
    let refused = world.accept(T0, &body).unwrap_err();
    assert_eq!((refused.reason, refused.counted), (Reason::TooLarge, true));
    assert_eq!((world.lost(Reason::TooLarge), world.used()), (1, 0));
    while envelope(&body).len() > ENVELOPE_BYTES_MAX {
        body.pop();
    }
    assert_eq!(world.accept(T0, &body).unwrap().bytes, ENVELOPE_BYTES_MAX as u64);
    assert_eq!(world.used(), 2048);
    assert_eq!(world.everything().envelopes[0].body, body);
}

#[test]
fn a_limit_above_the_formats_own_does_not_raise_it() {
    let world = World::prepared().with_limits(Limits { envelope_bytes: u64::MAX, ..Limits::default() });
    assert_eq!(world.accept(T0, &vec![0; ENVELOPE_BYTES_MAX]).unwrap_err().reason, Reason::TooLarge);
    let world = World::prepared().with_limits(Limits { envelope_bytes: 1000, ..Limits::default() });
    assert_eq!(world.accept(T0, &[0; 1000]).unwrap_err().reason, Reason::TooLarge);
    world.accept(T0, &[0; 500]).unwrap();
}

#[test]
fn a_spool_that_cannot_be_written_is_a_loss_and_no_panic() {
    let world = World::bare();
    // A file stands where the home should be: nothing below it can be made, not even the counters.
    crate::world::write(&world.outside("home"), b"");
    let refused = world.accept(T0, b"{}").unwrap_err();
    assert_eq!((refused.reason, refused.counted), (Reason::Io, false));
    assert!(refused.cause.is_some());
    assert!(!world.spool.count_loss(Reason::Panic));
}

#[test]
fn losses_are_counted_by_reason_with_and_without_preparation() {
    for world in [World::bare(), World::prepared()] {
        for (index, reason) in Reason::ALL.into_iter().enumerate() {
            for _ in 0..=index {
                assert!(world.spool.count_loss(reason));
            }
        }
        let expected: Vec<_> = Reason::ALL.into_iter().zip(1..).collect();
        assert_eq!(lost::counts(&world.path("lost")).unwrap(), expected);
        world.spool.prepare().unwrap();
        assert_eq!(lost::counts(&world.path("lost")).unwrap(), expected);
    }
}

#[test]
fn a_missing_spool_has_no_losses_and_an_unreadable_one_is_an_error() {
    let world = World::bare();
    assert!(lost::counts(&world.path("lost")).unwrap().iter().all(|(_, count)| *count == 0));
    crate::world::write(&world.outside("home"), b"");
    assert!(lost::counts(&world.path("lost")).is_err());
    assert!(world.spool.stats().is_err());
}

#[test]
fn a_counter_that_an_installer_died_over_counts_from_the_first_loss() {
    let world = World::prepared();
    world.put("lost/io", b"", 0o600);
    assert!(world.spool.count_loss(Reason::Io));
    assert_eq!(world.lost(Reason::Io), 1);
    world.spool.prepare().unwrap();
    assert!(world.spool.count_loss(Reason::Io));
    assert_eq!(world.lost(Reason::Io), 2);
}

#[test]
fn a_counter_that_is_no_file_is_an_error_and_not_zero() {
    let world = World::prepared();
    fs::remove_file(world.path("lost/io")).unwrap();
    fs::create_dir(world.path("lost/io")).unwrap();
    assert!(lost::counts(&world.path("lost")).is_err());
    assert!(!world.spool.count_loss(Reason::Io));
}
