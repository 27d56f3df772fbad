//! Homes that cannot be used: the program says which file, why and what to do, ends with a failure, and breaks nothing.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;

use agent_tracer_spool::envelope::Agent;

use crate::feed::{Call, now_nanos, spool_at};
use crate::fixtures;
use crate::ledger_dump;
use crate::server::Server;
use crate::world::{Tracer, World};

const SERVE: &[&str] = &["serve", "--listen", "127.0.0.1:0"];

/// The id of a user who owns no file here.
const UNPRIVILEGED_UID: u32 = 65_534;

/// A way to break a ledger, and what it is called.
type Damage<'a> = (&'a str, &'a dyn Fn(&Tracer));

fn call(name: &str) -> Call {
    let mut payload = fixtures::payload("PostToolUse.bash");
    payload["session_id"] = "unusable".into();
    payload["tool_use_id"] = name.into();
    Call::new(name.to_owned(), Agent::CLAUDE_CODE, payload)
}

/// A home with a ledger that holds one call, and one more in the spool.
fn used(world: &World) -> Tracer {
    let tracer = world.tracer("tracer");
    let (server, _) = Server::start(&tracer);
    spool_at(&tracer, &call("kept"), now_nanos());
    server.end();
    spool_at(&tracer, &call("waits"), now_nanos());
    tracer
}

#[track_caller]
fn refuses(tracer: &Tracer, parts: &[&str]) {
    let (code, said) = tracer.run(SERVE);
    assert_eq!(code, 1, "{said}");
    for part in parts.iter().chain(&["hint: "]) {
        assert!(said.contains(part), "it does not say `{part}`:\n{said}");
    }
    assert_eq!(tracer.spooled("new").len(), 1, "the spool is left alone");
}

#[test]
fn a_damaged_ledger_is_named_and_once_it_is_moved_aside_the_spool_is_read() {
    let damages: [Damage<'_>; 3] = [
        ("garbage", &|tracer| {
            let mut file = OpenOptions::new().write(true).truncate(true).open(tracer.ledger()).expect("it");
            file.write_all(&[0x5a; 20_000]).expect("written");
        }),
        ("a hole in the middle", &|tracer| {
            let mut file = OpenOptions::new().write(true).open(tracer.ledger()).expect("it");
            let length = file.metadata().expect("facts").len();
            file.seek(SeekFrom::Start(8192)).expect("a place");
            file.write_all(&vec![0x5a; usize::try_from(length / 2).expect("small")]).expect("written");
        }),
        ("cut off", &|tracer| {
            let file = OpenOptions::new().write(true).open(tracer.ledger()).expect("it");
            let length = file.metadata().expect("facts").len();
            file.set_len(length / 2).expect("cut");
        }),
    ];
    for (name, damage) in damages {
        println!("{name}");
        let world = World::new();
        let tracer = used(&world);
        damage(&tracer);
        refuses(&tracer, &["ledger.db", "damaged"]);
        refuses(&tracer, &["ledger.db", "damaged"]);
        fs::rename(tracer.ledger(), tracer.path("aside.db")).expect("moved");
        let (server, _) = Server::start(&tracer);
        server.end();
        assert_eq!(tracer.spooled("new"), Vec::<String>::new());
        assert_eq!(ledger_dump::envelopes(&tracer).len(), 1);
    }
}

#[test]
fn a_home_that_cannot_be_written_is_named() {
    let world = World::new();
    let tracer = used(&world);
    let check_failure = |(code, said): (i32, String), file: &str| {
        assert_eq!(code, 1, "{said}");
        assert!(said.contains(file) && said.contains("hint: "), "{said}");
        assert!(!said.contains("panicked"), "{said}");
    };
    let home = tracer.path("");
    // Who made this is who we are.
    if fs::metadata(&home).expect("facts").uid() != 0 {
        fs::set_permissions(&home, Permissions::from_mode(0o500)).expect("a mode");
        fs::set_permissions(tracer.ledger(), Permissions::from_mode(0o400)).expect("a mode");
        let answer = tracer.run(SERVE);
        fs::set_permissions(&home, Permissions::from_mode(0o700)).expect("a mode");
        fs::set_permissions(tracer.ledger(), Permissions::from_mode(0o600)).expect("a mode");
        check_failure(answer, "ledger.db");
    } else {
        // The superuser may write everywhere, so another user starts it, who may look into the home and no more.
        world.open_to_others();
        let program = world.program_for_others();
        let mut command = tracer.program(program);
        command.args(SERVE).uid(UNPRIVILEGED_UID).gid(UNPRIVILEGED_UID);
        let output = command.output().expect("the program starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        check_failure((output.status.code().expect("no signal"), said), "tracer");
    }
    assert_eq!(tracer.spooled("new").len(), 1, "the spool is left alone");
    let (server, _) = Server::start(&tracer);
    server.end();
    assert_eq!(ledger_dump::envelopes(&tracer).len(), 2);
}
