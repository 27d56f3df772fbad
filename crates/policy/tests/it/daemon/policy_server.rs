//! The socket: its answers, and that no client can block it.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use agent_tracer_agents::{Context, Observation, Source, read};
use agent_tracer_event::{Agent, Channel, Millis, Reading};
use agent_tracer_ledger::{Batch, Ledger, Observed, Options, Verdict};
use agent_tracer_policy::daemon::{ActiveRules, Arrivals, CurrentTime, PolicyServer, Setup};
use agent_tracer_policy_abi::wire::{ANSWER_HEAD, AnswerHead, QuestionHead};
use agent_tracer_spool::EnvelopeName;

use crate::daemon::world::{World, rule, write};

struct Office {
    world: World,
    desk: Option<PolicyServer>,
    setup: Setup,
    ledger: Ledger,
    /// Counts waits for the ledger.
    waited: Arc<AtomicU32>,
}

/// Envelopes on their way, as a test wants them; counts waits.
struct OnTheWay {
    reading: Option<Reading>,
    has_earlier: bool,
    own: Arc<AtomicU32>,
}

impl Arrivals for OnTheWay {
    fn wait_for_earlier(&self, _: &EnvelopeName, session: Option<&str>, _: Duration) -> bool {
        assert_eq!(session, Some("s"));
        !self.has_earlier
    }

    fn wait_for(&self, _: &EnvelopeName, _: Duration) -> bool {
        self.own.fetch_add(1, Ordering::SeqCst);
        false
    }

    fn peek(&self, _: &EnvelopeName) -> Option<Reading> {
        self.reading.clone()
    }
}

/// Nothing ever comes to the ledger.
struct Never(Arc<AtomicU32>);

impl Arrivals for Never {
    fn wait_for_earlier(&self, _: &EnvelopeName, _: Option<&str>, _: Duration) -> bool {
        self.0.fetch_add(1, Ordering::SeqCst);
        false
    }

    fn wait_for(&self, _: &EnvelopeName, _: Duration) -> bool {
        false
    }

    fn peek(&self, _: &EnvelopeName) -> Option<Reading> {
        None
    }
}

impl Office {
    fn open(rules: &str) -> Self {
        let world = World::new();
        world.user(rules);
        let ledger = Ledger::open(&world.path("ledger.db"), Options::default()).expect("a ledger");
        let rules = Arc::new(ActiveRules::new(world.home.clone(), PathBuf::from("/opt/agent-tracer")));
        rules.reload(&[]);
        let waited: Arc<AtomicU32> = Arc::default();
        let setup = Setup {
            home: world.home.clone(),
            rules,
            history: ledger.history(),
            store: ledger.store(),
            arrivals: Arc::new(Never(Arc::clone(&waited))),
            now: Arc::new(|| CurrentTime { nanos: 7_000_000, local: None, midnight: Millis(0) }),
            user_home: None,
        };
        let desk = Some(PolicyServer::open(&setup).expect("a desk"));
        Self { world, desk, setup, ledger, waited }
    }

    fn reach(&self) -> UnixStream {
        UnixStream::connect(self.world.home.answers()).expect("a listener")
    }

    /// Asks and returns exit code and standard output.
    fn ask(&self, envelope: &str, payload: &str) -> (u8, String) {
        let mut stream = self.reach();
        stream.write_all(&question(envelope, payload)).expect("sent");
        let mut head = [0; ANSWER_HEAD];
        stream.read_exact(&mut head).expect("an answer");
        let head = AnswerHead::read(&head).expect("an answer");
        let mut rest = String::new();
        stream.read_to_string(&mut rest).expect("text");
        (head.exit, rest)
    }

    /// Asks what gets no answer, and returns all that came.
    fn ask_in_vain(&self, envelope: &str, payload: &str) -> Vec<u8> {
        let mut stream = self.reach();
        stream.write_all(&question(envelope, payload)).expect("sent");
        let mut all = Vec::new();
        stream.read_to_end(&mut all).expect("closed");
        all
    }

    fn decisions(&self) -> usize {
        fs::read_dir(self.world.home.spool().join("new")).map_or(0, Iterator::count)
    }
}

fn question(envelope: &str, payload: &str) -> Vec<u8> {
    let head =
        QuestionHead { agent: Agent::CLAUDE_CODE, name: envelope.len(), folder: 0, payload: payload.len() };
    [&head.bytes().expect("short")[..], envelope.as_bytes(), payload.as_bytes()].concat()
}

const CALL: &str = r#"{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","cwd":"/x","tool_input":{"command":"ls"}}"#;

fn envelope() -> String {
    EnvelopeName::new(1, 2, 3).to_string()
}

#[test]
fn a_question_is_answered_and_the_decision_written_down_if_the_event_is() {
    let mut office = Office::open(&rule("mine", "deny", "Bash"));
    assert_eq!(fs::metadata(office.world.home.answers()).unwrap().permissions().mode() & 0o777, 0o600);
    for (name, many) in [(String::new(), 0), ("../../etc/passwd".to_owned(), 0), (envelope(), 1)] {
        let (exit, said) = office.ask(&name, CALL);
        assert!(exit == 0 && said.contains("\"permissionDecision\":\"deny\""), "{said}");
        if many == 1 {
            // Written after the answer: the desk closes when that is done.
            drop(office.desk.take());
        }
        assert_eq!(office.decisions(), many, "{name}");
    }
    assert!(!office.world.home.answers().exists());
    assert_eq!(office.waited.load(Ordering::SeqCst), 0, "no rule asked about the past");
}

#[test]
fn what_no_rule_can_name_is_answered_with_silence_and_what_cannot_be_read_not_at_all() {
    let office = Office::open(&rule("mine", "deny", "*"));
    let unknown = r#"{"hook_event_name":"SomethingNew"}"#;
    assert_eq!(office.ask(&envelope(), unknown), (0, String::new()));
    let deep =
        format!(r#"{{"hook_event_name":"PreToolUse","tool_input":{}{}}}"#, "[".repeat(500), "]".repeat(500));
    for payload in ["", "not json", "[]", "{}", "{\"hook_event_name\":7}", &deep] {
        assert_eq!(
            office.ask_in_vain(&envelope(), payload),
            Vec::<u8>::new(),
            "the hook judges it: {payload}"
        );
    }
    assert_eq!(office.decisions(), 0);
}

#[test]
fn where_the_rules_were_never_sound_nothing_is_answered() {
    let office = Office::open("version = 1\nbroken");
    assert_eq!(office.ask_in_vain(&envelope(), CALL), Vec::<u8>::new());
    office.world.user(&rule("mine", "deny", "Bash"));
    office.setup.rules.reload(&[]);
    assert!(office.ask(&envelope(), CALL).1.contains("deny"));
    office.world.user("version = 1\nbroken again");
    office.setup.rules.reload(&[]);
    assert!(office.ask(&envelope(), CALL).1.contains("deny"), "what was sound stays in force");
}

#[test]
fn a_past_that_is_not_known_up_to_now_is_not_known() {
    let text = rule("mine", "deny", "Bash").replace("match", "when.repeated = 1\non_outage = \"ask\"\nmatch");
    let office = Office::open(&text);
    let (_, said) = office.ask(&envelope(), CALL);
    assert!(said.contains("\"ask\"") && said.contains("could not be looked up"), "{said}");
    assert_eq!(office.waited.load(Ordering::SeqCst), 1, "once, however many rules ask");
    let (_, said) = office.ask("", CALL);
    assert!(said.contains("\"ask\""), "an event that is not recorded has no past: {said}");
    assert_eq!(office.waited.load(Ordering::SeqCst), 1);
}

/// Returns the reading of a call, as of an envelope of its own.
fn reading(name: &str, id: &str) -> Reading {
    let body = CALL.replace("\"tool_name\"", &format!("\"tool_use_id\":\"{id}\",\"tool_name\""));
    read(&Observation {
        agent: Agent::CLAUDE_CODE,
        channel: Channel::Hook,
        name,
        arrived: Millis(5),
        source: Source::Hook,
        body: body.as_bytes(),
        context: &Context::default(),
    })
}

#[test]
fn an_event_need_not_be_in_the_ledger_if_all_before_it_are() {
    let text = rule("mine", "deny", "Bash").replace("match", "when.repeated = 1\non_outage = \"ask\"\nmatch");
    for (is_known, has_earlier, has_reading, expected, own) in [
        (true, false, true, "\"deny\"", 0),
        (true, true, true, "\"ask\"", 0),
        // The lookup has to wait where the changes of the event cannot be computed.
        (true, false, false, "\"ask\"", 1),
        (false, false, true, "\"ask\"", 1),
    ] {
        let mut office = Office::open(&text);
        if is_known {
            let before = Observed {
                name: "before".to_owned(),
                source: None,
                agent: Agent::CLAUDE_CODE,
                channel: Channel::Hook,
                arrived: Millis(4),
                verdict: Verdict::Read(reading("before", "toolu_1")),
                payload: None,
                kept: None,
            };
            office.ledger.append(Batch { observed: vec![before], ..Batch::default() }).expect("kept");
        }
        let waited: Arc<AtomicU32> = Arc::default();
        office.setup.arrivals = Arc::new(OnTheWay {
            reading: has_reading.then(|| reading("own", "toolu_2")),
            has_earlier,
            own: Arc::clone(&waited),
        });
        drop(office.desk.take());
        office.desk = Some(PolicyServer::open(&office.setup).expect("a desk"));
        let call = CALL.replace("\"tool_name\"", "\"tool_use_id\":\"toolu_2\",\"tool_name\"");
        let (_, said) = office.ask(&envelope(), &call);
        assert!(said.contains(expected), "{is_known} {has_earlier} {has_reading}: {said}");
        assert_eq!(waited.load(Ordering::SeqCst), own, "{is_known} {has_earlier} {has_reading}");
    }
}

#[test]
fn clients_that_talk_nonsense_or_nothing_block_no_other() {
    let office = Office::open(&rule("mine", "deny", "Bash"));
    let whole = question("", CALL);
    // Six of the eight threads have a client that sends nothing, or half a question.
    let _idle: Vec<UnixStream> = (0..6)
        .map(|number| {
            let mut stream = office.reach();
            stream.write_all(&whole[..number * 4]).expect("sent");
            stream
        })
        .collect();
    for nonsense in [&b"GET / HTTP/1.1\r\n\r\n"[..], b"ATQ1\xff\xff\xff\xff\xff\xff\xff\xff", &[0; 64]] {
        let mut stream = office.reach();
        drop(stream.write_all(nonsense));
        let mut answer = Vec::new();
        // Hung up, with or without what it had not read.
        drop(stream.read_to_end(&mut answer));
        assert_eq!(answer, b"");
    }
    assert!(office.ask("", CALL).1.contains("\"deny\""));
}

#[test]
fn a_policy_server_stops_even_if_its_socket_was_removed() {
    let mut office = Office::open(&rule("mine", "deny", "Bash"));
    fs::remove_file(office.world.home.answers()).expect("removed");
    drop(office.desk.take());
}

#[test]
fn two_do_not_answer_for_one_home_and_a_dead_socket_is_replaced() {
    let mut office = Office::open(&rule("mine", "deny", "Bash"));
    let error = PolicyServer::open(&office.setup).expect_err("taken");
    assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse);
    assert!(office.ask("", CALL).1.contains("\"deny\""), "the first one is not disturbed");
    drop(office.desk.take());
    drop(std::os::unix::net::UnixListener::bind(office.world.home.answers()).expect("left behind"));
    office.desk = Some(PolicyServer::open(&office.setup).expect("replaced"));
    assert!(office.ask("", CALL).1.contains("\"deny\""));
    drop(office.desk.take());
    write(&office.world.home.answers(), b"another file");
    assert_eq!(
        PolicyServer::open(&office.setup).expect_err("no socket").kind(),
        std::io::ErrorKind::AlreadyExists
    );
}
