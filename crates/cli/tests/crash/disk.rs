//! Disks without room: the server says so, keeps the spool, and goes on when there is room again.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use agent_tracer_spool::envelope::Agent;

use crate::feed::{self, Call, Request, WriterReport, now_nanos, spool_at};
use crate::fixtures;
use crate::http::Door;
use crate::ledger_dump;
use crate::server::Server;
use crate::world::{Tracer, World};

/// More than any of these disks takes.
const MOST: usize = 20_000;
/// Number of calls between two checks for free space.
const PART: usize = 100;

/// A disk that is full, or as good as.
enum Narrow {
    /// A small file system of its own.
    Disk(PathBuf),
    /// A limit on the size of every file that the server writes.
    Limit,
}

impl Narrow {
    /// A file system of its own, where the test may make one.
    fn disk(folder: &Path) -> Option<Narrow> {
        fs::create_dir_all(folder).expect("a folder");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=4m,mode=700", "agent-tracer-test"]).arg(folder);
        let mounted = mount.output().is_ok_and(|output| output.status.success());
        mounted.then(|| Narrow::Disk(folder.to_owned()))
    }

    fn start(&self, tracer: &Tracer) -> (Server, Door) {
        let serve = ["serve", "--listen", "127.0.0.1:0"];
        let mut server = match self {
            Narrow::Disk(_) => Server::spawn(tracer),
            Narrow::Limit => {
                let mut command = tracer.program("prlimit");
                command.arg("--fsize=1500000:unlimited").arg(env!("CARGO_BIN_EXE_agent-tracer")).args(serve);
                command.env("PATH", std::env::var_os("PATH").expect("a path"));
                Server::spawn_as(tracer, command)
            }
        };
        let door = server.door();
        (server, door)
    }

    /// Takes all the room that is left.
    fn fill(&self) {
        let Narrow::Disk(folder) = self else { return };
        let mut ballast =
            OpenOptions::new().append(true).create(true).open(folder.join("ballast")).expect("a file");
        while ballast.write_all(&[0; 4096]).is_ok() {}
        while ballast.write_all(&[0]).is_ok() {}
    }

    fn make_room(&self, server: &Server) {
        match self {
            Narrow::Disk(folder) => {
                let mut mount = Command::new("mount");
                mount.args(["-o", "remount,size=200m"]).arg(folder);
                assert!(mount.status().expect("mount runs").success());
            }
            Narrow::Limit => {
                let mut prlimit = Command::new("prlimit");
                prlimit.args(["--fsize=unlimited:unlimited", "--pid"]).arg(server.pid().to_string());
                assert!(prlimit.status().expect("prlimit runs").success());
            }
        }
    }

    /// Returns the name that the server gives it.
    fn words(&self) -> &'static str {
        match self {
            Narrow::Disk(_) => "the disk is full",
            Narrow::Limit => "cannot store the envelopes of the spool",
        }
    }

    fn status(&self) -> u16 {
        match self {
            Narrow::Disk(_) => 507,
            Narrow::Limit => 503,
        }
    }
}

impl Drop for Narrow {
    fn drop(&mut self) {
        if let Narrow::Disk(folder) = self {
            drop(Command::new("umount").arg("--lazy").arg(folder).status());
        }
    }
}

fn call(number: usize) -> Call {
    let mut payload = fixtures::payload("PostToolUse.bash");
    payload["session_id"] = "full".into();
    payload["tool_use_id"] = format!("toolu_{number}").into();
    Call::new(number.to_string(), Agent::CLAUDE_CODE, payload)
}

/// The home is on the narrow disk, the spool on another one, so that hooks can go on.
fn goes_on(world: &World, tracer: &Tracer, narrow: &Narrow) {
    let elsewhere = world.user().join("spool");
    fs::create_dir_all(&elsewhere).expect("a folder");
    fs::create_dir_all(tracer.path("")).expect("a folder");
    symlink(&elsewhere, tracer.home().spool()).expect("a link");
    let (mut server, door) = narrow.start(tracer);
    let mut report = WriterReport::default();
    let mut bring = || {
        for _ in 0..PART {
            let number = report.accepted.len();
            spool_at(tracer, &call(number), now_nanos());
            report.accepted.push(number.to_string());
        }
        report.accepted.len()
    };
    bring();
    narrow.fill();
    while server.hear(narrow.words(), Duration::from_millis(200)).is_none() {
        assert!(bring() < MOST, "there is always room");
    }
    bring();
    server.must_say("retrying in");
    let waiting = tracer.spooled("new").len();
    assert!(waiting >= PART, "what cannot be kept stays in the spool: {waiting} wait");
    // What is small may still find a place; nothing does for ever.
    let posted = (0..MOST).take_while(|number| {
        let (status, answer) = Request::hook(1, *number).try_send(&door).expect("it answers");
        assert!(status == 200 || status == narrow.status(), "{status}: {answer}");
        status == 200
    });
    let posted = posted.count();
    assert!(posted < MOST, "there is always room");
    assert_eq!(door.get("/health").expect("it answers").0, 200);

    narrow.make_room(&server);
    let (server, door) = until_drained(server, door, tracer);
    assert!(Request::hook(1, posted).send(&door), "there is room again");
    server.end();
    assert_eq!(tracer.spooled("quarantine"), Vec::<String>::new());
    assert_eq!(tracer.lost(), 0);
    feed::once(&ledger_dump::envelopes(tracer), &report);
    let calls = "SELECT calls FROM task WHERE session = 'full'";
    assert_eq!(ledger_dump::number(tracer, calls), report.accepted.len() as i64);
    assert_eq!(ledger_dump::balance(tracer), (report.accepted.len() + posted + 1) as u64);
}

/// Waits until the server itself has gone on; it says nothing when it does.
fn until_drained(mut server: Server, door: Door, tracer: &Tracer) -> (Server, Door) {
    for _ in 0..600 {
        if tracer.spooled("new").is_empty() {
            return (server, door);
        }
        // Whatever it says meanwhile; the time is what matters.
        server.hear("nothing that it ever says", Duration::from_millis(100));
    }
    panic!("{} still wait:\n{}", tracer.spooled("new").len(), server.end());
}

#[test]
fn a_full_disk_is_reported_and_the_spool_waits_until_there_is_room() {
    let world = World::new();
    let tracer = world.tracer("tracer");
    let narrow = Narrow::disk(&tracer.path("")).unwrap_or_else(|| {
        println!("no file system can be mounted here: a limit on the size of files has to do");
        Narrow::Limit
    });
    goes_on(&world, &tracer, &narrow);
}

#[test]
fn a_limit_on_the_size_of_files_is_reported_and_the_spool_waits_until_it_is_lifted() {
    let world = World::new();
    goes_on(&world, &world.tracer("tracer"), &Narrow::Limit);
}
