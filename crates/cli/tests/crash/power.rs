//! Power that goes at any moment: everything that was acknowledged is there afterwards, nothing twice, and no page is
//! accused.
//!
//! A library (`power.c`) in the server notes the bytes that a disk must still have. When the server is killed, the home
//! is put together from those and from a random part of the rest, sector by sector and name by name. A file in a folder
//! that was not synced may be gone with all that is in it: POSIX promises no more.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use crate::bit_flips::checked;
use crate::dice::{Dice, pass, rounds, seed};
use crate::feed::Request;
use crate::http::Door;
use crate::ledger_dump;
use crate::server::Server;
use crate::world::{Tracer, World};

/// Default number of rounds.
const ROUNDS: usize = 3;

/// Number of concurrent posters, so that the journal is in use.
const POSTERS: usize = 6;

/// Events of one post.
const EVENTS: i64 = 6;

/// Unit that a disk writes whole or not at all.
const SECTOR: usize = 512;

/// Builds the library; none without a compiler.
fn library() -> Option<&'static Path> {
    static LIBRARY: OnceLock<Option<PathBuf>> = OnceLock::new();
    let built = LIBRARY.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/crash/power.c");
        let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("power.so");
        let mut compile = Command::new("cc");
        compile
            .args(["-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o"])
            .arg(&library)
            .arg(source);
        let status = match compile.args(["-ldl", "-lpthread"]).status() {
            Ok(status) => status,
            Err(cause) => {
                println!("NOT TESTED: no power is lost here, because there is no C compiler `cc`: {cause}");
                return None;
            }
        };
        assert!(status.success(), "power.c is compiled");
        Some(library)
    });
    built.as_deref()
}

/// The files of the store by name, with their inodes.
fn store_files(tracer: &Tracer) -> BTreeMap<String, u64> {
    let entries = fs::read_dir(tracer.path("")).expect("the home").map(|entry| entry.expect("an entry"));
    let files = entries.filter(|entry| entry.file_type().expect("a type").is_file());
    let named = files.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry));
    let ours = named.filter(|(name, _)| name.starts_with("ledger.db") && !name.ends_with("-shm"));
    ours.map(|(name, entry)| (name, entry.metadata().expect("facts").ino())).collect()
}

/// Holds the bytes that a disk has for certain.
struct Disk {
    folder: PathBuf,
}

impl Disk {
    /// A disk that has everything that stands in the home now.
    fn under(tracer: &Tracer) -> Disk {
        let disk = Disk { folder: tracer.path("").with_extension("disk") };
        drop(fs::remove_dir_all(&disk.folder));
        fs::create_dir_all(&disk.folder).expect("a folder");
        let files = store_files(tracer);
        for (name, inode) in &files {
            fs::copy(tracer.path(name), disk.content(*inode)).expect("copied");
        }
        let lines: String = files.iter().map(|(name, inode)| format!("{inode} {name}\n")).collect();
        write(&disk.folder.join("names"), lines.as_bytes());
        disk
    }

    fn content(&self, inode: u64) -> PathBuf {
        self.folder.join(format!("content-{inode}"))
    }

    fn names(&self) -> BTreeSet<String> {
        let text = fs::read_to_string(self.folder.join("names")).expect("names");
        text.lines().filter_map(|line| Some(line.split_once(' ')?.1.to_owned())).collect()
    }

    /// Makes of the home what is left of it after the power went.
    fn cut(&self, tracer: &Tracer, dice: &mut Dice) {
        let how = dice.below(3);
        let names = self.names();
        drop(fs::remove_file(tracer.path("ledger.db-shm")));
        for (name, inode) in store_files(tracer) {
            let path = tracer.path(&name);
            let is_named = names.contains(&name) || (how > 0 && dice.one_in(2));
            if !is_named {
                fs::remove_file(&path).expect("removed");
                continue;
            }
            let real = fs::read(&path).expect("the file");
            let changed = fs::metadata(&path).and_then(|facts| facts.modified()).expect("a moment");
            let certain = fs::read(self.content(inode)).unwrap_or_default();
            let survives_whole = dice.one_in(2);
            let mut left = certain.clone();
            if how > 0 {
                left.resize(certain.len().max(real.len()), 0);
                for (place, new) in real.chunks(SECTOR).enumerate() {
                    let survives = if how == 1 { dice.one_in(2) } else { survives_whole };
                    if survives {
                        left[place * SECTOR..][..new.len()].copy_from_slice(new);
                    }
                }
            }
            write(&path, &left);
            // Power that goes changes no moment.
            let file = OpenOptions::new().write(true).open(&path).expect("the file");
            file.set_modified(changed).expect("a moment");
        }
    }
}

fn write(path: &Path, bytes: &[u8]) {
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path);
    file.expect("a file").write_all(bytes).expect("written");
}

/// Starts a server on a disk that forgets.
fn start(tracer: &Tracer, disk: &Disk, library: &Path, lies: bool) -> (Server, Door) {
    let mut command = tracer.command(&["serve", "--listen", "127.0.0.1:0"]);
    let root = fs::canonicalize(tracer.path("")).expect("the home");
    command.env("LD_PRELOAD", library).env("POWER_ROOT", root).env("POWER_DISK", &disk.folder);
    command.envs(lies.then_some(("POWER_LIES", "1")));
    let mut server = Server::spawn_as(tracer, command);
    let door = server.door();
    (server, door)
}

/// Holds the posts and which of them were acknowledged. Each post is a session of its own.
#[derive(Default)]
struct Posts {
    next: AtomicUsize,
    acknowledged: BTreeSet<usize>,
}

impl Posts {
    /// Posts until the power goes, which is at any moment.
    fn lose_power(&mut self, server: Server, door: &Door, dice: &mut Dice) {
        let (tick, ticks) = channel();
        let (next, wanted, late) = (&self.next, dice.below(60), dice.micros(3_000));
        thread::scope(|scope| {
            let posters: Vec<_> = (0..POSTERS)
                .map(|_| {
                    let tick = tick.clone();
                    scope.spawn(move || {
                        let mut acknowledged = Vec::new();
                        loop {
                            let number = next.fetch_add(1, Ordering::SeqCst);
                            if !Request::events(number, 0).send(door) {
                                return acknowledged;
                            }
                            acknowledged.push(number);
                            tick.send(()).ok();
                        }
                    })
                })
                .collect();
            live_for(wanted, &ticks);
            pass(late);
            server.kill();
            for poster in posters {
                self.acknowledged.extend(poster.join().expect("a poster"));
            }
        });
    }

    /// Returns the acknowledged posts that are not there. None may be there twice.
    fn missing(&self, tracer: &Tracer) -> Vec<usize> {
        let sql = "SELECT t.session, count(*) FROM fact f JOIN task t ON t.id = f.task \
                   WHERE f.kind >= 0 AND t.session LIKE 'events-%' GROUP BY 1";
        let counts = ledger_dump::counts(tracer, sql);
        let count = |number: usize| counts.get(&format!("events-{number}")).copied().unwrap_or(0);
        let posted = self.next.load(Ordering::SeqCst);
        for number in 0..posted {
            assert!(
                count(number) <= EVENTS,
                "post {number} is there more than once: {} events",
                count(number)
            );
        }
        self.acknowledged.iter().copied().filter(|number| count(*number) < EVENTS).collect()
    }
}

/// Waits until so many posts were acknowledged, or nothing more is.
fn live_for(mut posts: u64, ticks: &Receiver<()>) {
    while posts > 0 && ticks.recv_timeout(Duration::from_millis(500)).is_ok() {
        posts -= 1;
    }
}

#[test]
fn what_was_acknowledged_is_there_once_however_often_the_power_goes() {
    let Some(library) = library() else { return };
    let mut dice = Dice::new(seed());
    let mut total = 0;
    for round in 0..rounds(ROUNDS) {
        let (world, mut posts) = (World::new(), Posts::default());
        let tracer = world.tracer("tracer");
        fs::create_dir_all(tracer.path("")).expect("the home");
        // The first start makes all the files; the second finds them.
        for life in 0..3 {
            let disk = Disk::under(&tracer);
            let (server, door) = start(&tracer, &disk, library, false);
            posts.lose_power(server, &door, &mut dice);
            disk.cut(&tracer, &mut dice);
            let (server, door) = Server::start(&tracer);
            let health = checked(&door);
            let faults = &health["faults"];
            assert_eq!(
                (&faults["damagedPages"], &faults["changedPages"]),
                (&0.into(), &0.into()),
                "{health}"
            );
            // Nothing that was acknowledged is missing, so nothing is wrong.
            assert_eq!(faults["problems"], serde_json::json!([]), "round {round}, life {life}: {health}");
            server.end();
            let missing = posts.missing(&tracer);
            let all = posts.acknowledged.len();
            assert!(
                missing.is_empty(),
                "round {round}, life {life}: {} of {all} are lost: {missing:?}",
                missing.len()
            );
        }
        total += posts.acknowledged.len();
    }
    println!("{total} posts were acknowledged, and all of them are there");
}

#[test]
fn a_disk_that_lies_about_what_it_has_loses_something_or_this_suite_sees_nothing() {
    let Some(library) = library() else { return };
    let mut dice = Dice::new(seed());
    let lost = (0..20).any(|_| {
        let (world, mut posts) = (World::new(), Posts::default());
        let tracer = world.tracer("tracer");
        fs::create_dir_all(tracer.path("")).expect("the home");
        // Everything that the first start makes is there.
        Server::start(&tracer).0.end();
        let disk = Disk::under(&tracer);
        let (server, door) = start(&tracer, &disk, library, true);
        posts.lose_power(server, &door, &mut dice);
        disk.cut(&tracer, &mut dice);
        let mut server = Server::spawn(&tracer);
        let Some(_) = server.try_door(Duration::from_secs(20)) else { return true };
        server.end();
        !posts.missing(&tracer).is_empty()
    });
    assert!(lost);
}
