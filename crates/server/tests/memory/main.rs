//! The memory that a small compressed body may take: counted by an allocator of this binary's own.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test's helpers fail by panicking, and a missing element fails the test"
)]
#![allow(dead_code, reason = "the helpers of the other tests are shared, and not all of them are needed")]

#[path = "../it/client.rs"]
mod client;
mod counting;
mod shapes;
#[path = "../it/store.rs"]
mod store;
#[path = "../it/world.rs"]
mod world;

use std::io::{BufReader, Write};
use std::sync::Arc;
use std::time::Duration;

use agent_tracer_event::Millis;
use agent_tracer_ledger::view::Page;
use agent_tracer_policy::backtest::{LocalMoment, Setting};
use agent_tracer_server::{Capabilities, Config, Holder, Scope, Team};
use flate2::Compression;
use flate2::write::GzEncoder;

use shapes::Body;
use world::{TOKEN, World, config};

/// The most bytes of a compressed body.
const PACKED: usize = 32 << 10;

/// The settings with a generous time limit: nothing here is about time.
const PATIENCE: Duration = Duration::from_secs(600);

/// A server that waits for as long.
fn untimed_config() -> Config {
    let mut patient = config();
    patient.limits.request_time = PATIENCE;
    patient
}

fn pack(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

/// Posts a body and returns the status of the answer and the most that the process held meanwhile, beyond what it held
/// before.
fn cost(world: &World, token: &str, body: &Body) -> (u16, usize) {
    let packed = pack(&body.plain);
    assert!(packed.len() <= PACKED, "{}: {} bytes", body.name, packed.len());
    let ask = world.ask("POST", body.path).bearer(token).header("Content-Encoding", "gzip");
    let ask = ask.body(body.kind, packed);
    world.memory.brought.lock().unwrap().clear();
    let before = counting::begin();
    let mut stream = client::connect(world.server.address());
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    // A server that refuses early may close before everything is written.
    stream.write_all(&ask.bytes(true)).ok();
    let status = client::read(&mut BufReader::new(stream), "POST").status;
    (status, counting::peak().saturating_sub(before))
}

fn check(world: &World, token: &str, bodies: impl IntoIterator<Item = Body>) {
    let mut dear = Vec::new();
    for body in bodies {
        let (status, cost) = cost(world, token, &body);
        if cost > body.most {
            dear.push(format!("{} ({status}): {} MB", body.name, cost >> 20));
        }
        assert!(status < 500, "{}: {status}", body.name);
    }
    assert!(dear.is_empty(), "{dear:#?}");
}

fn team() -> Team {
    Team {
        holder: Arc::new(|secret| {
            (secret == "ann").then(|| Holder { scope: Scope::Ingest, owner: Arc::from("ann") })
        }),
        take: Arc::new(|_, _| Ok(())),
        record_access: Arc::new(|_| Ok(())),
        list_access: Arc::new(|_| Ok(Page::whole(Vec::new()))),
    }
}

/// One test: the count is of the whole process.
#[test]
fn no_small_body_costs_much_memory() {
    let local = Arc::new(|_: Millis| LocalMoment { local: None, midnight: Millis(0) });
    let setting = Setting { user_home: None, local, cost_pico: Arc::new(|_| None) };
    let acts = Capabilities { compactions: None, backtest: Some(setting) };
    let world = World::made(untimed_config(), None, acts).unwrap();
    check(&world, TOKEN, shapes::posted());
    world.conf("level full\n");
    check(&world, TOKEN, shapes::posted().filter(|body| body.path.starts_with("/v1/")));
    drop(world);
    let world = World::made(untimed_config(), Some(team()), Capabilities::default()).unwrap();
    check(&world, "ann", shapes::shipped());
}
