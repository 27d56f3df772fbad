//! A hundred deaths of the server while everybody goes on bringing.

use std::collections::VecDeque;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use agent_tracer_ledger::RetainedPayload;

use crate::dice::{Dice, pass, seed};
use crate::feed::{self, Call, Growing, Request, WriterReport};
use crate::fixtures::{self, Script};
use crate::ledger_dump::{self, LedgerDump};
use crate::server::Server;
use crate::world::{Tracer, World, hook};

const ROUNDS: usize = 110;
/// Rounds in which one session writes its files.
const SESSION_ROUNDS: usize = 10;
/// Longer than a server needs to start on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Everything that is brought, and what is known of it.
struct Feed {
    tracer: Tracer,
    world: World,
    scripts: Vec<Script>,
    hooks: WriterReport,
    waiting: VecDeque<Request>,
    answered: Vec<Request>,
    files: Vec<Growing>,
}

/// Holds the input of one round.
struct Portion {
    by_hook: Vec<Call>,
    by_spool: Vec<Call>,
}

impl Feed {
    fn new() -> Feed {
        let world = World::new();
        Feed {
            tracer: world.tracer("crashed"),
            world,
            scripts: fixtures::scripts(),
            hooks: WriterReport::default(),
            waiting: VecDeque::new(),
            answered: Vec::new(),
            files: Vec::new(),
        }
    }

    fn portion(&mut self, round: usize) -> Portion {
        let calls = |writer: &str, script: usize, most: usize| -> Vec<Call> {
            let script = &self.scripts[script % self.scripts.len()];
            let session = format!("{writer}-{round:04}-0000-4000-8000-000000000000");
            let payloads = script.payloads_of(&session).into_iter().take(most).enumerate();
            payloads
                .map(|(number, payload)| {
                    Call::new(format!("{writer}-{round}-{number}"), script.agent, payload)
                })
                .collect()
        };
        let by_hook = calls("aaaaaaaa", round, 7);
        let by_spool = calls("bbbbbbbb", round + 31, 40);
        for part in 0..3 {
            self.waiting.push_back(Request::events(round, part));
            self.waiting.push_back(Request::hook(round, part));
        }
        if round.is_multiple_of(SESSION_ROUNDS) {
            let scenario = if round.is_multiple_of(2 * SESSION_ROUNDS) { "agent_nested" } else { "multi" };
            let session = format!("cccccccc-{round:04}-4000-8000-000000000000");
            let files = fixtures::transcript(scenario, &session).into_iter();
            self.files =
                files.map(|(name, bytes)| Growing::new(self.world.transcripts().join(name), bytes)).collect();
        }
        Portion { by_hook, by_spool }
    }

    /// Starts a server, brings a portion, kills the server in the middle of it, and waits for those who bring.
    fn round(&mut self, round: usize, dice: &mut Dice) {
        let portion = self.portion(round);
        let dies_young = dice.one_in(6);
        let waits_for_it = !dies_young && dice.one_in(2);
        let mut server = Server::spawn(&self.tracer);
        let door = if waits_for_it { server.try_door(PATIENCE) } else { None };
        let (mut dice_hook, mut dice_files) = (dice.split(), dice.split());
        let (tick, ticks) = channel();
        let (door_sender, door_receiver) = channel();
        let Feed { tracer, waiting, files, .. } = self;
        let parts_left = SESSION_ROUNDS - round % SESSION_ROUNDS;
        let (by_hook, by_spool) = (&portion.by_hook, &portion.by_spool);
        let tracer = &*tracer;
        thread::scope(|scope| {
            let ticking = tick.clone();
            let by_hook = scope.spawn(move || feed::run_hooks(tracer, by_hook, 4, &mut dice_hook, &ticking));
            let ticking = tick.clone();
            let by_spool = scope.spawn(move || feed::spool(tracer, by_spool, &ticking));
            let ticking = tick.clone();
            scope.spawn(move || {
                for file in files {
                    file.grow(parts_left, &mut dice_files, &ticking);
                }
            });
            let by_post = scope.spawn(move || match door_receiver.recv() {
                Ok(door) => feed::post(&door, waiting, &tick),
                Err(_) => Vec::new(),
            });
            if dies_young {
                pass(dice.micros(60_000));
            } else {
                let door = door.or_else(|| server.try_door(PATIENCE));
                door_sender.send(door.expect("it listens")).expect("a poster");
                live_for(dice.below(60), &ticks);
                pass(dice.micros(4_000));
            }
            server.kill();
            drop(door_sender);
            self.hooks.add(by_hook.join().expect("hooks"));
            self.hooks.add(by_spool.join().expect("envelopes"));
            self.answered.extend(by_post.join().expect("posts"));
        });
    }

    /// Lets one server live until everything was brought.
    fn settle(&mut self) -> String {
        let (server, door) = Server::start(&self.tracer);
        let (tick, _ticks) = channel();
        self.answered.extend(feed::post(&door, &mut self.waiting, &tick));
        assert!(self.waiting.is_empty(), "everything is answered");
        let said = server.end();
        read_files(&self.tracer);
        said
    }
}

/// Waits until so many things were accepted, or nothing more is.
fn live_for(mut things: u64, ticks: &Receiver<()>) {
    while things > 0 && ticks.recv_timeout(Duration::from_millis(300)).is_ok() {
        things -= 1;
    }
}

/// Reads what no server has read of the agents' files.
fn read_files(tracer: &Tracer) {
    let (code, said) = tracer.run(&["import", "--json"]);
    assert_eq!(code, 0, "{said}");
}

/// Runs the same input undisturbed: the very same envelopes, the same requests, the same files.
fn undisturbed(feed: &Feed, envelopes: &[RetainedPayload]) -> Tracer {
    let tracer = feed.world.tracer("undisturbed");
    // Contents are hashed with a home's own key.
    let (server, _) = Server::start(&tracer);
    server.end();
    fs::copy(feed.tracer.home().hash_key(), tracer.home().hash_key()).expect("the key");
    for kept in envelopes {
        let path = tracer.home().spool().join("new").join(&kept.name);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        file.and_then(|mut file| file.write_all(&kept.bytes)).expect("an envelope");
    }
    let (server, door) = Server::start(&tracer);
    for request in &feed.answered {
        assert!(request.send(&door), "it runs undisturbed");
    }
    server.end();
    assert_eq!(tracer.spooled("new"), Vec::<String>::new());
    read_files(&tracer);
    tracer
}

#[test]
fn whatever_was_accepted_is_there_once_however_often_the_server_dies() {
    let mut dice = Dice::new(seed());
    hook();
    let begun = Instant::now();
    let mut feed = Feed::new();
    for round in 0..ROUNDS {
        feed.round(round, &mut dice);
    }
    let journal = fs::metadata(feed.tracer.path("ledger.db-journal-of-posts")).expect("a journal").len();
    assert!(journal > 1_000, "some of it was written down before it was folded: {journal} bytes");
    feed.settle();
    println!("{ROUNDS} rounds in {:.1} s", begun.elapsed().as_secs_f64());

    let tracer = &feed.tracer;
    for folder in ["new", "quarantine"] {
        assert_eq!(tracer.spooled(folder), Vec::<String>::new(), "spool/{folder}");
    }
    assert_eq!(tracer.lost(), 0, "no hook lost anything");

    let envelopes = ledger_dump::envelopes(tracer);
    feed::once(&envelopes, &feed.hooks);
    let events: usize = feed.answered.iter().map(|request| request.holds).sum();
    assert_eq!(events, ROUNDS * 3 * 7, "every request was answered in the end");
    let posted =
        "SELECT count(*) FROM fact f JOIN task t ON t.id = f.task WHERE f.kind >= 0 AND t.session LIKE";
    assert_eq!(ledger_dump::number(tracer, &format!("{posted} 'events-%'")), (ROUNDS * 3 * 6) as i64);
    assert_eq!(
        ledger_dump::number(tracer, &format!("{posted} 'posted-%' AND f.open = 0")),
        (ROUNDS * 3) as i64
    );
    for way in ["posted_by_hand", "posted_by_file"] {
        let folded = ledger_dump::number(
            tracer,
            &format!("SELECT coalesce(sum(value), 0) FROM meta WHERE key = '{way}'"),
        );
        println!("{way}: {folded}");
        assert!(folded > 0, "nothing of what was written down first was folded this way: {way}");
    }

    let received = ledger_dump::balance(tracer);
    let shown = LedgerDump::of(tracer);
    let reference = undisturbed(&feed, &envelopes);
    let expected = ledger_dump::balance(&reference);
    assert!(received >= expected, "{received} arrived, {expected} are expected");
    println!("{} envelopes, {events} posted, {} rows shown", envelopes.len(), shown.len());
    println!("{received} received, of which {} came again after a death", received - expected);
    shown.must_be(&LedgerDump::of(&reference));

    ledger_dump::rebuild(tracer);
    LedgerDump::of(tracer).must_be(&shown);
    assert_eq!(ledger_dump::balance(tracer), received, "folding anew is no arrival");
}
