//! A team's server: rights that end, names that stay, and shipments within bounds.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent_tracer_ledger::shipment::Shipment;
use agent_tracer_ledger::view::Page;
use agent_tracer_server::{Capabilities, Config, Holder, Proxy, Scope, Team};
use serde_json::{Value, json};

use crate::client::Ask;
use crate::world::{NOW, TOKEN, World, config};

const SECRET: &str = "the proxy and the server know this";

/// The state of a fake team store.
#[derive(Clone, Default)]
struct TeamState {
    shipments: Arc<Mutex<Vec<Shipment>>>,
    readers: Arc<Mutex<Vec<Option<String>>>>,
    /// Until when the tokens of Ann hold.
    until: Arc<AtomicI64>,
}

fn start(config: Config) -> (World, TeamState) {
    let kept = TeamState::default();
    kept.until.store(i64::MAX, Ordering::SeqCst);
    // Set once the world has a clock.
    let clock: Arc<Mutex<Option<Arc<AtomicI64>>>> = Arc::default();
    let team = Team {
        holder: {
            let (until, clock) = (kept.until.clone(), clock.clone());
            Arc::new(move |secret| {
                let now = clock.lock().unwrap().as_ref().map_or(NOW, |clock| clock.load(Ordering::SeqCst));
                let scope = match secret {
                    "ann-reads" => Scope::Read,
                    "ann-ships" => Scope::Ingest,
                    "ann-rules" => Scope::Owner,
                    _ => return None,
                };
                (now < until.load(Ordering::SeqCst)).then(|| Holder { scope, owner: Arc::from("ann") })
            })
        },
        take: {
            let shipments = kept.shipments.clone();
            Arc::new(move |_, shipment| {
                shipments.lock().unwrap().push(shipment.clone());
                Ok(())
            })
        },
        record_access: {
            let readers = kept.readers.clone();
            Arc::new(move |look| {
                readers.lock().unwrap().push(look.reader.map(str::to_owned));
                Ok(())
            })
        },
        list_access: Arc::new(|_| Ok(Page::whole(Vec::new()))),
    };
    let world = World::made(config, Some(team), Capabilities::default()).unwrap();
    *clock.lock().unwrap() = Some(world.clock.clone());
    (world, kept)
}

fn hasty() -> Config {
    let mut hasty = config();
    hasty.limits.recheck = Duration::from_millis(20);
    hasty
}

fn ends(ask: Ask, end: impl FnOnce()) {
    let mut events = ask.follow();
    events.block();
    end();
    // With a client's patience of twenty seconds it fails if the stream goes on.
    while events.block().is_some() {}
}

#[test]
fn a_revoked_token_ends_its_open_stream() {
    let (world, kept) = start(hasty());
    let stream = || world.ask("GET", "/api/v1/stream").bearer("ann-reads");
    ends(stream(), || kept.until.store(0, Ordering::SeqCst));
    assert_eq!(stream().send().status, 401);
}

#[test]
fn a_token_that_ends_ends_its_open_stream() {
    let (world, kept) = start(hasty());
    kept.until.store(NOW + 1_000, Ordering::SeqCst);
    let stream = world.ask("GET", "/api/v1/stream").bearer("ann-reads");
    ends(stream, || world.clock.store(NOW + 1_000, Ordering::SeqCst));
}

#[test]
fn a_cookie_that_ends_ends_its_open_stream() {
    let mut named = hasty();
    named.names = vec!["tracer.lan".to_owned()];
    let world = World::with(named).unwrap();
    let path = world.post("/api/v1/login-codes", &json!({})).json()["path"].as_str().unwrap().to_owned();
    let cookie = world.get(&path).header("set-cookie").split(';').next().unwrap().to_owned();
    let stream = world.ask("GET", "/api/v1/stream").header("Host", "tracer.lan").header("Cookie", &cookie);
    ends(stream, || world.clock.store(NOW + 31 * 86_400_000, Ordering::SeqCst));
}

#[test]
fn an_open_stream_goes_on_while_its_token_holds() {
    let (world, _kept) = start(hasty());
    let mut events = world.ask("GET", "/api/v1/stream?after=0").bearer("ann-reads").follow();
    events.block();
    for seq in 1..=3 {
        let row = world.memory.row(
            &crate::world::task("s"),
            &seq.to_string(),
            agent_tracer_event::Kind::UserMessage,
            seq,
        );
        world.live.publish(&[row]);
        assert_eq!(events.seqs(1), [seq]);
    }
}

#[test]
fn an_administrator_of_a_team_keeps_a_name() {
    let mut proxied = config();
    proxied.proxy = Some(Proxy {
        header: "X-Forwarded-User".to_owned(),
        secret: SECRET.to_owned(),
        from: Vec::new(),
        admins: vec!["root".to_owned()],
    });
    let (world, kept) = start(proxied);
    let named = |method: &str, path: &str, name: &str| {
        let ask = world.ask(method, path).header("X-Forwarded-User", name);
        ask.header("X-Agent-Tracer-Proxy-Secret", SECRET)
    };
    assert_eq!(named("GET", "/api/v1/tasks", "root").send().status, 200);
    assert_eq!(kept.readers.lock().unwrap().pop(), Some(Some("root".to_owned())));
    for ask in [
        named("POST", "/api/v1/login-codes", "root"),
        world.ask("POST", "/api/v1/login-codes").bearer("ann-rules"),
        world.ask("POST", "/api/v1/login-codes").bearer(TOKEN),
    ] {
        let answer = ask.send();
        assert_eq!(answer.status, 404);
        answer.wrong();
    }
    // A cookie that the owner's token once made opens nothing.
    let alone = World::new();
    let path = alone.post("/api/v1/login-codes", &json!({})).json()["path"].as_str().unwrap().to_owned();
    let cookie = alone.get(&path).header("set-cookie").split(';').next().unwrap().to_owned();
    let (_, value) = cookie.split_once('=').unwrap();
    let cookie = format!("agent_tracer_{}={value}", world.server.address().port());
    assert_eq!(world.ask("GET", "/api/v1/tasks").header("Cookie", &cookie).send().status, 401);
    assert_eq!(world.get(&path).status, 403);
}

fn fact(changed: &Value) -> Value {
    let mut fact = json!({"task": "t", "fact": 1, "version": 1, "kind": "user.message", "list": 0, "lane": "user",
        "occurred": NOW, "order": 0, "ended": null, "state": null, "open": false, "tool": null, "turn": null,
        "duration": null, "error": null, "signature": null, "certainty": "measured", "channels": 1,
        "data": {"k": "k", "t": "a title"}, "derived": {}, "cost": null, "parts": []});
    for (name, value) in changed.as_object().unwrap() {
        fact[name] = value.clone();
    }
    fact
}

fn ship(world: &World, facts: &[Value], until: u64) -> (u16, Value) {
    let shipment = json!({"format": 1, "tasks": [], "facts": facts, "until": until});
    let answer = world.ask("POST", "/ingest/v1/shipments").bearer("ann-ships").json(&shipment).send();
    (answer.status, answer.json())
}

#[test]
fn a_shipment_is_taken_as_it_is() {
    let (world, kept) = start(config());
    assert_eq!(ship(&world, &[fact(&json!({}))], 1), (202, json!({})));
    let shipments = kept.shipments.lock().unwrap();
    assert_eq!((shipments[0].facts.len(), shipments[0].until), (1, 1));
    assert_eq!(shipments[0].facts[0].row.occurred, NOW);
}

#[test]
fn a_version_that_no_ledger_reaches_is_refused() {
    let (world, kept) = start(config());
    for version in [1_u64 << 53, u64::MAX] {
        assert_eq!(ship(&world, &[fact(&json!({ "version": version }))], 1).0, 422);
        assert_eq!(ship(&world, &[], version).0, 422);
        let removed = json!({"format": 1, "tasks": [], "facts": [], "until": 1, "removed": {"version": version, "tasks": ["t"]}});
        let answer = world.ask("POST", "/ingest/v1/shipments").bearer("ann-ships").json(&removed).send();
        assert_eq!(answer.status, 422);
    }
    assert!(kept.shipments.lock().unwrap().is_empty());
    assert_eq!(ship(&world, &[fact(&json!({"version": (1_u64 << 53) - 1}))], 1).0, 202);
}

#[test]
fn an_impossible_time_is_moved_and_counted() {
    let (world, kept) = start(config());
    let facts = [
        fact(&json!({"occurred": i64::MIN})),
        fact(&json!({"occurred": 9_000_000_000_000_000_i64, "ended": i64::MAX})),
        fact(&json!({})),
    ];
    assert_eq!(ship(&world, &facts, 1), (202, json!({"clamped": 2})));
    let taken = kept.shipments.lock().unwrap()[0].facts.clone();
    assert_eq!(taken.iter().map(|fact| fact.row.occurred).collect::<Vec<_>>(), [0, 4_102_444_800_000, NOW]);
    assert_eq!(taken[1].row.ended, Some(4_102_444_800_000));
    let metrics = world.ask("GET", "/metrics").bearer("ann-reads").send().text();
    assert!(metrics.contains("\nagent_tracer_shipped_times_clamped_total 2\n"), "{metrics}");
}

#[test]
fn a_record_that_is_too_large_is_refused() {
    let (world, kept) = start(config());
    let long = fact(&json!({"data": {"k": "k", "b": "x".repeat(1 << 20)}}));
    let wide = fact(&json!({"data": {"k": "k", "m": {"list": vec![0; 20_000]}}}));
    let parts = fact(&json!({"parts": (0..9_000).collect::<Vec<_>>()}));
    for facts in [vec![long], vec![wide], vec![parts.clone(), parts]] {
        let (status, problem) = ship(&world, &facts, 1);
        assert_eq!(status, 422, "{problem}");
    }
    assert!(kept.shipments.lock().unwrap().is_empty());
}
