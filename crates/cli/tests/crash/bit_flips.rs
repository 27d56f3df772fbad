//! Single bits that a disk changes, in every file that holds what was accepted: wrong or missing rows are never silent.
//!
//! A home is made once, as a server leaves it that was killed in a burst: with pages in the file, commits in the log, posts
//! in the journal and envelopes in the spool. Of each flip, in a copy of it, a server must either show everything as if
//! nothing had happened, or refuse to start with a way out, or say in health, to `doctor` and in `/metrics` what is wrong.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use agent_tracer_spool::envelope::Agent;
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use crate::dice::{Dice, pass, rounds, seed};
use crate::feed::{Call, Request, now_nanos, spool_at};
use crate::fixtures;
use crate::http::Door;
use crate::ledger_dump::LedgerDump;
use crate::server::Server;
use crate::world::{Tracer, World};

/// Default number of flips.
const FLIPS: usize = 12;

/// Asks until every page was compared with its sum and nothing waits any more.
pub(crate) fn checked(door: &Door) -> Value {
    for _ in 0..1_200 {
        let (status, body) = door.get("/api/v1/health").expect("it answers");
        assert_eq!(status, 200, "{body}");
        let health: Value = serde_json::from_str(&body).expect("JSON");
        let is_checked = health["faults"]["check"]["rounds"].as_u64() > Some(0);
        if is_checked && health["spool"]["waiting"] == 0 && health["store"]["searchLag"] == 0 {
            return health;
        }
        pass(Duration::from_millis(50));
    }
    panic!("the pages were never all checked");
}

/// Lists the files in which a bit is flipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Store,
    Log,
    Journal,
    Envelope,
}

/// A home as a killed server leaves it.
struct Base {
    world: World,
    tracer: Tracer,
    /// Range of the journal that holds posts not yet folded.
    journal: (u64, u64),
}

impl Base {
    fn new() -> Base {
        for _ in 0..20 {
            let world = World::new();
            let tracer = world.tracer("base");
            let (server, door) = Server::start(&tracer);
            for round in 0..40 {
                assert!(Request::events(round, 0).send(&door) && Request::hook(round, 0).send(&door));
            }
            // Most of it into the file.
            server.end();
            let (server, door) = Server::start(&tracer);
            for round in 40..60 {
                assert!(Request::events(round, 0).send(&door) && Request::hook(round, 0).send(&door));
            }
            thread::scope(|scope| {
                for poster in 0..8 {
                    let door = &door;
                    scope.spawn(move || {
                        for part in 0..12 {
                            assert!(Request::events(100 + poster, part).send(door));
                        }
                    });
                }
            });
            server.kill();
            let journal = waiting(&tracer);
            if journal.1 > journal.0 {
                for number in 0..6 {
                    let mut payload = fixtures::payload("PostToolUse.bash");
                    payload["session_id"] = "spooled".into();
                    payload["tool_use_id"] = format!("toolu_{number}").into();
                    let call = Call::new(format!("spooled-{number}"), Agent::CLAUDE_CODE, payload);
                    spool_at(&tracer, &call, now_nanos());
                }
                return Base { world, tracer, journal };
            }
        }
        panic!("the writer always folds everything before it dies");
    }

    /// The same home again.
    fn copy(&self, name: &str) -> Tracer {
        let copy = self.world.tracer(name);
        let status =
            std::process::Command::new("cp").arg("-a").arg(self.tracer.path("")).arg(copy.path("")).status();
        assert!(status.expect("cp runs").success());
        copy
    }

    fn draw(&self, target: Target, tracer: &Tracer, dice: &mut Dice) -> (PathBuf, u64) {
        let whole = |path: PathBuf, dice: &mut Dice| {
            let bits = fs::metadata(&path).expect("facts").len() * 8;
            (path, dice.below(bits))
        };
        match target {
            Target::Store => whole(tracer.ledger(), dice),
            Target::Log => whole(tracer.path("ledger.db-wal"), dice),
            Target::Journal => {
                let (from, to) = self.journal;
                (tracer.path("ledger.db-journal-of-posts"), from * 8 + dice.below((to - from) * 8))
            }
            Target::Envelope => {
                let mut names = tracer.spooled("new");
                names.sort();
                let name = &names[usize::try_from(dice.below(names.len() as u64)).expect("few")];
                whole(tracer.home().spool().join("new").join(name), dice)
            }
        }
    }
}

/// Returns the range of the journal that is not folded: from the place that the ledger notes, as far as lengths lead.
fn waiting(tracer: &Tracer) -> (u64, u64) {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let conn = Connection::open_with_flags(tracer.ledger(), flags).expect("the ledger");
    let sql = "SELECT value FROM meta WHERE key = 'journal_at'";
    let from: i64 = conn.query_row(sql, [], |row| row.get(0)).unwrap_or(24);
    let from = u64::try_from(from).expect("a place");
    let file = File::open(tracer.path("ledger.db-journal-of-posts")).expect("the journal");
    let (mut at, length) = (from, file.metadata().expect("facts").len());
    loop {
        let mut head = [0; 4];
        if at + 12 > length || file.read_exact_at(&mut head, at).is_err() {
            return (from, at);
        }
        match u64::from(u32::from_le_bytes(head)) {
            0..4 => return (from, at),
            body if at + 12 + body > length => return (from, at),
            body => at += 12 + body,
        }
    }
}

fn flip(path: &PathBuf, bit: u64) {
    let file = OpenOptions::new().read(true).write(true).open(path).expect("the file");
    let mut byte = [0];
    file.read_exact_at(&mut byte, bit / 8).expect("a byte");
    file.write_all_at(&[byte[0] ^ (1 << (bit % 8))], bit / 8).expect("written");
}

/// Lists the outcomes of a flip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FlipOutcome {
    WithoutEffect,
    Reported,
    Refused,
}

/// Starts a server on a home of which a bit was turned, and fails the test if anything is wrong and nothing says so.
fn outcome(tracer: &Tracer, target: Target, what: &str, expected: &LedgerDump) -> FlipOutcome {
    let mut server = Server::spawn(tracer);
    let Some(door) = server.try_door(Duration::from_secs(30)) else {
        let (code, said) = tracer.run(&["serve", "--listen", "127.0.0.1:0"]);
        assert!(code == 1 && said.contains("hint: "), "{what}: {said}");
        let (code, report) = tracer.run(&["doctor", "--brief"]);
        assert!(code == 1 && report.contains("fix: "), "{what}: {report}");
        return FlipOutcome::Refused;
    };
    let health = checked(&door);
    let problems = health["problems"].as_array().expect("problems").clone();
    if !problems.is_empty() {
        assert_eq!(health["status"], "degraded", "{what}");
        let (_, report) = tracer.run(&["doctor", "--brief"]);
        assert!(report.contains("the server reports: ") && report.contains("fix: "), "{what}: {report}");
        let (_, metrics) = door.get("/metrics").expect("it answers");
        let counts = match target {
            Target::Store => ["agent_tracer_store_damaged_pages", "agent_tracer_store_read_failures_total"],
            Target::Log => ["agent_tracer_log_damaged_commits_total"; 2],
            Target::Journal => ["agent_tracer_journal_damaged_total"; 2],
            Target::Envelope => ["agent_tracer_spool_quarantined"; 2],
        };
        let is_counted = |name: &&str| {
            let line = metrics.lines().find(|line| line.starts_with(&format!("{name} ")));
            line.is_some_and(|line| !line.ends_with(" 0"))
        };
        assert!(counts.iter().any(is_counted), "{what}: {problems:?}\n{metrics}");
    }
    server.end();
    if !problems.is_empty() {
        return FlipOutcome::Reported;
    }
    LedgerDump::of(tracer).must_be(expected);
    FlipOutcome::WithoutEffect
}

#[test]
fn no_flipped_bit_is_silent_in_any_file() {
    let mut dice = Dice::new(seed());
    let base = Base::new();
    let reference = base.copy("reference");
    let (server, door) = Server::start(&reference);
    let health = checked(&door);
    assert_eq!(health["problems"], Value::Array(Vec::new()), "a home of which nothing was changed is well");
    server.end();
    let expected = LedgerDump::of(&reference);
    let all = rounds(FLIPS);
    // Of two hundred: a hundred in the store, forty in its log, thirty in the journal, thirty in envelopes.
    for (target, share) in
        [(Target::Store, 100), (Target::Log, 40), (Target::Journal, 30), (Target::Envelope, 30)]
    {
        let mut outcomes = std::collections::BTreeMap::<FlipOutcome, usize>::new();
        for number in 0..(all * share).div_ceil(200) {
            let tracer = base.copy(&format!("{target:?}-{number}"));
            let (path, bit) = base.draw(target, &tracer, &mut dice);
            flip(&path, bit);
            let what = format!("{target:?} {number}: bit {bit} of `{}`", path.display());
            println!("{what}");
            let outcome = outcome(&tracer, target, &what, &expected);
            *outcomes.entry(outcome).or_default() += 1;
            fs::remove_dir_all(tracer.path("")).expect("removed");
        }
        println!("{target:?}: {outcomes:?}");
        if matches!(target, Target::Log | Target::Journal | Target::Envelope) {
            assert_eq!(outcomes.get(&FlipOutcome::Refused), None, "{target:?}");
        }
    }
}
