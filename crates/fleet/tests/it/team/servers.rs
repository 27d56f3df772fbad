//! Tests that one server answers and streams what another takes, and refuses a wrong or missing token.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use agent_tracer_event::{Agent, Millis, TaskKey};
use agent_tracer_fleet::clickhouse::{Fleet, TokenScope};
use agent_tracer_fleet::ship::{Cursor, Http, Policy, ShipError, Shipper, Step, Target};
use agent_tracer_fleet::team::{Team, token};
use agent_tracer_ledger::{Batch, Ledger, Options, Outbox};
use agent_tracer_prices::Prices;
use agent_tracer_server::{Config, Provider, Server, draw_token, serve};
use agent_tracer_testkit::scenario;

use crate::engine;

/// The longest that anything is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

fn now() -> i64 {
    i64::try_from(SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap()
}

/// A server and what runs beside it, as one process has them.
struct Process {
    server: Server,
    _team: Team,
}

impl Process {
    fn start(fleet: &Arc<Fleet>) -> Self {
        let clock: Provider<Millis> = Arc::new(|| Millis(now()));
        let team = Team::start(Arc::clone(fleet), clock).unwrap();
        let mut config = Config::new(draw_token().unwrap());
        config.listen = "127.0.0.1:0".parse().unwrap();
        let server = serve(config, team.deps(Arc::new(|_| None))).unwrap();
        Self { server, _team: team }
    }

    fn address(&self) -> SocketAddr {
        self.server.address()
    }
}

fn make(
    fleet: &Fleet,
    owner: &str,
    scope: TokenScope,
    expires: Option<i64>,
) -> (agent_tracer_fleet::clickhouse::Token, String) {
    let (token, secret) = token::make(owner, scope, &draw_token().unwrap(), now(), expires);
    fleet.put_token(&token, now()).unwrap();
    (token, secret)
}

fn open(address: SocketAddr, path: &str, token: Option<&str>) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let token = token.map_or_else(String::new, |token| format!("Authorization: Bearer {token}\r\n"));
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n{token}Connection: close\r\n\r\n").unwrap();
    stream
}

/// Returns the status of an answer, and its text.
fn get(address: SocketAddr, path: &str, token: Option<&str>) -> (u16, String) {
    let mut text = String::new();
    open(address, path, token).read_to_string(&mut text).unwrap();
    (text.split(' ').nth(1).unwrap().parse().unwrap(), text)
}

/// Waits until it holds.
fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::yield_now();
    }
}

/// Returns a machine with a history.
fn machine(folder: &Path) -> Ledger {
    named_machine(folder, &Options::default().machine_id)
}

/// Returns the same with a name of its own.
fn named_machine(folder: &Path, name: &str) -> Ledger {
    let options = Options { machine_id: name.to_owned(), ..Options::default() };
    let ledger = Ledger::open(&folder.join("ledger.db"), options).unwrap();
    let observed = scenario("2.1.325/agent_fg").observed(None);
    ledger.append(Batch { observed, ..Batch::default() }).unwrap();
    ledger
}

/// Ships all of a machine's history.
fn ship(folder: &Path, to: SocketAddr, token: &str) -> Result<u64, ShipError> {
    let outbox = Outbox::open(&folder.join("ledger.db"), Arc::new(Prices::embedded())).unwrap();
    let target = Target::new(&format!("http://{to}"), token).unwrap();
    let cursor = Cursor::open(&folder.join("ship.json"), target.url()).unwrap();
    let mut shipper = Shipper::new(
        outbox,
        Policy::default(),
        cursor,
        Box::new(Http::new(target, ureq::tls::RootCerts::WebPki)),
    );
    let mut facts = 0;
    while let Step::Sent(sent) = shipper.step()? {
        facts += sent.facts;
    }
    Ok(facts)
}

#[test]
fn what_one_server_takes_another_answers_and_streams() {
    let (fleet, _) = engine::database();
    let (_, ingest) = make(&fleet, "ann", TokenScope::Ingest, None);
    let (_, read) = make(&fleet, "bob", TokenScope::Read, None);
    let (one, two) = (Process::start(&fleet), Process::start(&fleet));
    let folder = tempfile::tempdir().unwrap();
    let ledger = machine(folder.path());
    // Followed before anything is shipped.
    let mut stream = BufReader::new(open(two.address(), "/api/v1/stream", Some(&read)));
    let mut line = String::new();
    while !line.contains("agent-tracer") {
        line.clear();
        assert!(stream.read_line(&mut line).unwrap() > 0, "the stream ended");
    }
    let shipped = ship(folder.path(), one.address(), &ingest).unwrap();
    assert!(shipped > 10, "{shipped}");
    let rows = ledger.store().health().unwrap().events;
    let mut seen = std::collections::BTreeSet::new();
    while (seen.len() as u64) < rows {
        line.clear();
        assert!(stream.read_line(&mut line).unwrap() > 0, "the stream ended");
        if let Some(data) = line.strip_prefix("data: ") {
            let row: serde_json::Value = serde_json::from_str(data).unwrap();
            assert!(seen.insert(row["id"].as_str().unwrap().to_owned()), "sent twice: {row}");
        }
    }
    let (status, text) = get(two.address(), "/api/v1/tasks", Some(&read));
    assert_eq!(status, 200);
    for task in ledger.store().tasks(Millis(0), &agent_tracer_ledger::TaskFilter::default()).unwrap().items {
        assert!(text.contains(&task.id), "{}", task.id);
    }
}

#[test]
fn expired_wrong_and_revoked_tokens_are_refused_by_every_process() {
    let (fleet, _) = engine::database();
    let (_, ingest) = make(&fleet, "ann", TokenScope::Ingest, None);
    let (revoked, read) = make(&fleet, "bob", TokenScope::Read, None);
    let (_, expired) = make(&fleet, "cat", TokenScope::Ingest, Some(now() - 1));
    let (one, two) = (Process::start(&fleet), Process::start(&fleet));
    let folder = tempfile::tempdir().unwrap();
    machine(folder.path()).close();
    let refused = |token: &str| match ship(folder.path(), one.address(), token).unwrap_err() {
        ShipError::Refused { status, .. } => status,
        other => panic!("{other}"),
    };
    assert_eq!(refused(&read), 403);
    assert_eq!(refused(&expired), 401);
    assert_eq!(refused("atr_00000000_guess"), 401);
    for process in [&one, &two] {
        let status = |token| get(process.address(), "/api/v1/tasks", token).0;
        assert_eq!((status(None), status(Some(&ingest)), status(Some(&read))), (401, 403, 200));
    }
    let (_, text) = get(two.address(), "/api/v1/tasks", Some(&read));
    assert!(text.contains("\"items\":[]"), "nothing of what was refused is there: {text}");
    fleet.revoke_token(&revoked, now() + 1).unwrap();
    for process in [&one, &two] {
        wait_for("the revoked token to be refused", || {
            get(process.address(), "/api/v1/tasks", Some(&read)).0 == 401
        });
    }
}

/// Returns the body of an answer.
fn body(text: &str) -> serde_json::Value {
    serde_json::from_str(text.split_once("\r\n\r\n").unwrap().1).unwrap()
}

#[test]
fn people_and_machines_are_kept_apart() {
    let (fleet, _) = engine::database();
    let (_, read) = make(&fleet, "bob", TokenScope::Read, None);
    let tokens = ["ann", "bob"].map(|owner| make(&fleet, owner, TokenScope::Ingest, None).1);
    let process = Process::start(&fleet);
    let address = process.address();
    for token in &tokens {
        let folder = tempfile::tempdir().unwrap();
        machine(folder.path());
        ship(folder.path(), address, token).unwrap();
    }
    let ask = |path: &str| {
        let (status, text) = get(address, &format!("/api/v1/{path}"), Some(&read));
        assert_eq!(status, 200, "{path}: {text}");
        body(&text)["items"].as_array().unwrap().clone()
    };
    let owners = |tasks: &[serde_json::Value]| -> std::collections::BTreeSet<String> {
        tasks.iter().map(|task| task["owner"].as_str().unwrap().to_owned()).collect()
    };
    let (all, of_ann) = (ask("tasks"), ask("tasks?owner=ann"));
    assert_eq!(owners(&all).len(), 2);
    assert_eq!((owners(&of_ann), of_ann.len() * 2), (["ann".to_owned()].into(), all.len()));
    assert_eq!(ask("tasks?machine=local").len(), all.len());
    for unknown in ["owner=eve", "machine=eve", "owner=ann&machine=eve"] {
        for path in
            ["tasks?", "tools?", "search?q=a&", "usage?by=model&", "attention?", "files?", "activity?"]
        {
            assert_eq!(ask(&format!("{path}{unknown}")), Vec::<serde_json::Value>::new(), "{path}{unknown}");
        }
    }
    let keys = |by: &str| -> Vec<String> {
        let mut keys: Vec<String> = ask(&format!("usage?by={by}"))
            .iter()
            .map(|row| row["key"].as_str().unwrap().to_owned())
            .collect();
        keys.sort();
        keys
    };
    assert_eq!(
        (keys("owner"), keys("machine")),
        (vec!["ann".to_owned(), "bob".to_owned()], vec!["local".to_owned()])
    );
    // Both have the same sessions: no owner's answer shows the other's.
    let id = of_ann[0]["id"].as_str().unwrap();
    for path in [format!("tasks/{id}"), format!("tasks/{id}/timeline")] {
        let (status, text) = get(address, &format!("/api/v1/{path}"), Some(&read));
        assert_eq!(status, 400, "{path}: {text}");
        assert!(text.contains("`ann` or `bob`"), "{text}");
    }
    for owner in ["ann", "bob"] {
        let rows = ask(&format!("tasks/{id}/timeline?owner={owner}"));
        assert!(!rows.is_empty() && rows.iter().all(|row| row["owner"] == owner), "{owner}");
    }
    // A list for one person is an access to their sessions; reading one's own is not recorded.
    ask("tasks?owner=bob");
    let (_, admin) = make(&fleet, "root", TokenScope::Admin, None);
    wait_for("the new token", || get(address, "/api/v1/audit", Some(&admin)).0 == 200);
    let looks = audit(address, "&of=ann&by=bob", &admin);
    let questions: std::collections::BTreeSet<&str> =
        looks.iter().map(|look| look["question"].as_str().unwrap()).collect();
    assert_eq!(
        questions,
        ["/attention", "/files", "/search", "/tasks", "/tasks/{id}/timeline"].into(),
        "numbers are not looks"
    );
    assert_eq!(audit(address, "&of=bob", &admin), Vec::<serde_json::Value>::new());
}

#[test]
fn every_way_to_read_a_session_is_recorded_for_its_owner() {
    let (fleet, _) = engine::database();
    let (_, read) = make(&fleet, "eve", TokenScope::Read, None);
    let (_, admin) = make(&fleet, "root", TokenScope::Admin, None);
    let tokens = ["ann", "bob"].map(|owner| make(&fleet, owner, TokenScope::Ingest, None).1);
    let process = Process::start(&fleet);
    let address = process.address();
    for (token, name) in tokens.iter().zip(["desk", "tower"]) {
        let folder = tempfile::tempdir().unwrap();
        named_machine(folder.path(), name);
        ship(folder.path(), address, token).unwrap();
    }
    let ask = |path: &str| get(address, &format!("/api/v1/{path}"), Some(&read));
    let tasks = body(&ask("tasks?owner=ann").1);
    let id = tasks["items"][0]["id"].as_str().unwrap();
    // Both have it: without an owner nothing is shown, and nothing is recorded.
    for path in [format!("tasks/{id}/turns"), format!("search?task={id}"), format!("stream?task={id}")] {
        let (status, text) = ask(&path);
        assert_eq!(status, 400, "{path}: {text}");
    }
    let unknown_task = TaskKey::new(Agent::CODEX, "unknown session").task_id();
    assert_eq!(ask(&format!("stream?task={unknown_task}")).0, 404);
    for path in [
        format!("tasks/{id}/files?owner=ann"),
        // The machine alone identifies the owner, too.
        format!("tasks/{id}/timeline?machine=desk"),
        format!("search?task={id}&owner=ann"),
        format!("policies/decisions?task={id}&owner=ann"),
        "usage?by=task&owner=ann".to_owned(),
        "usage?by=model&owner=ann".to_owned(),
    ] {
        let (status, text) = ask(&path);
        assert_eq!(status, 200, "{path}: {text}");
    }
    let mut stream = open(address, &format!("/api/v1/stream?task={id}&owner=ann"), Some(&read));
    assert!(stream.read(&mut [0; 16]).unwrap() > 0);
    let kept: std::collections::BTreeSet<(String, bool)> = audit(address, "&of=ann&by=eve", &admin)
        .iter()
        .map(|look| (look["question"].as_str().unwrap().to_owned(), look["taskId"] == id))
        .collect();
    let expected = [
        ("/policies/decisions", true),
        ("/search", true),
        ("/stream", true),
        ("/tasks", false),
        ("/tasks/{id}/files", true),
        ("/tasks/{id}/timeline", true),
        ("/usage?by=task", false),
    ];
    assert_eq!(kept, expected.map(|(question, about)| (question.to_owned(), about)).into());
    assert_eq!(audit(address, "&of=bob", &admin), Vec::<serde_json::Value>::new());
}

/// Returns every page of the audit, one look a page.
fn audit(address: SocketAddr, query: &str, token: &str) -> Vec<serde_json::Value> {
    let (mut looks, mut cursor) = (Vec::new(), String::new());
    loop {
        let path = format!("/api/v1/audit?limit=1{query}{cursor}");
        let (status, text) = get(address, &path, Some(token));
        assert_eq!(status, 200, "{text}");
        let body = body(&text);
        looks.extend(body.get("items").unwrap().as_array().unwrap().iter().cloned());
        match body.get("nextCursor").and_then(serde_json::Value::as_str) {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return looks,
        }
    }
}

#[test]
fn only_administrators_read_the_access_log() {
    let (fleet, _) = engine::database();
    let (_, ingest) = make(&fleet, "ann", TokenScope::Ingest, None);
    let (_, read) = make(&fleet, "bob", TokenScope::Read, None);
    let (_, admin) = make(&fleet, "root", TokenScope::Admin, None);
    let process = Process::start(&fleet);
    let address = process.address();
    let folder = tempfile::tempdir().unwrap();
    let ledger = machine(folder.path());
    ship(folder.path(), address, &ingest).unwrap();
    let tasks = ledger.store().tasks(Millis(0), &agent_tracer_ledger::TaskFilter::default()).unwrap().items;
    for task in &tasks {
        assert_eq!(get(address, &format!("/api/v1/tasks/{}", task.id), Some(&read)).0, 200);
    }
    assert_eq!(get(address, "/api/v1/search?q=a", Some(&read)).0, 200);
    assert_eq!(get(address, "/api/v1/tasks", Some(&admin)).0, 200);
    let status = |token| get(address, "/api/v1/audit", token).0;
    assert_eq!((status(None), status(Some(&ingest)), status(Some(&read))), (401, 403, 403));
    let of_ann = audit(address, "&of=ann", &admin);
    let shown: std::collections::BTreeSet<&str> =
        of_ann.iter().map(|look| look["taskId"].as_str().unwrap()).collect();
    assert_eq!(shown, tasks.iter().map(|task| task.id.as_str()).collect());
    assert_eq!(of_ann.len(), tasks.len(), "page by page, none twice: {of_ann:?}");
    assert!(of_ann.iter().all(|look| look["reader"] == "bob" && look["question"] == "/tasks/{id}"));
    let lists = audit(address, "&of=*", &admin);
    let who: Vec<(&str, &str)> = lists
        .iter()
        .map(|look| (look["reader"].as_str().unwrap(), look["question"].as_str().unwrap()))
        .collect();
    assert_eq!(who, [("root", "/tasks"), ("bob", "/search")], "the newest first");
    assert!(lists.iter().all(|look| look.get("taskId").is_none()));
    assert_eq!(audit(address, "&by=bob", &admin).len(), tasks.len() + 1);
    assert_eq!(audit(address, "&until=2020-01-01T00:00:00Z", &admin), Vec::<serde_json::Value>::new());
    assert_eq!(get(address, "/api/v1/audit?cursor=garbage", Some(&admin)).0, 400);
}
