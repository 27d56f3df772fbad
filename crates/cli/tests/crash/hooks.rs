//! Hooks that are killed at any moment, by an agent that has no patience.

use std::sync::mpsc::channel;
use std::thread;

use agent_tracer_spool::Drain;
use serde_json::Value;

use crate::dice::{Dice, seed};
use crate::feed::{self, Call, WriterReport, now_nanos};
use crate::fixtures;
use crate::ledger_dump;
use crate::server::Server;
use crate::world::{World, hook};

/// Agents that work at the same time.
const AGENTS: usize = 3;
/// Sessions of each.
const SESSIONS: usize = 10;

#[test]
fn a_hook_that_is_killed_leaves_all_of_its_envelope_or_nothing() {
    let mut dice = Dice::new(seed());
    hook();
    let world = World::new();
    let tracer = world.tracer("tracer");
    let scripts = fixtures::scripts();
    let (server, _) = Server::start(&tracer);
    let mut report = WriterReport::default();
    let (tick, _ticks) = channel();
    thread::scope(|scope| {
        let mut agents = Vec::new();
        for agent in 0..AGENTS {
            let (mut dice, tick) = (dice.split(), tick.clone());
            let (tracer, scripts) = (&tracer, &scripts);
            agents.push(scope.spawn(move || {
                let mut report = WriterReport::default();
                for session in 0..SESSIONS {
                    let script = &scripts[(agent * SESSIONS + session) % scripts.len()];
                    let name = format!("dddddddd-{agent:04}-{session:04}-8000-000000000000");
                    let payloads = script.payloads_of(&name).into_iter().take(8).enumerate();
                    let calls: Vec<Call> = payloads
                        .map(|(number, mut payload)| {
                            if payload.get("prompt").is_some() {
                                // Longer to write, so that death comes in the middle of it more often.
                                payload["prompt"] = Value::from("all work and no play ".repeat(20_000));
                            }
                            Call::new(format!("{agent}-{session}-{number}"), script.agent, payload)
                        })
                        .collect();
                    report.add(feed::run_hooks(tracer, &calls, 2, &mut dice, &tick));
                }
                report
            }));
        }
        for agent in agents {
            report.add(agent.join().expect("an agent"));
        }
    });
    let (accepted, unknown) = (report.accepted.len(), report.unknown.len());
    assert!(accepted > 20 && unknown > 5, "{accepted} ended, {unknown} were killed");
    server.end();
    assert_eq!(tracer.spooled("new"), Vec::<String>::new());
    assert_eq!(tracer.spooled("quarantine"), Vec::<String>::new(), "nothing torn was delivered");
    feed::once(&ledger_dump::envelopes(&tracer), &report);

    // An hour later: what was whole is delivered after all, what was torn is counted, and both only once.
    let left = tracer.spooled("tmp").len();
    let mut drain = Drain::open(&tracer.spool()).expect("the spool");
    let swept = drain.sweep(now_nanos() + 2 * 3_600_000_000_000).expect("swept");
    drop(drain);
    assert_eq!(usize::try_from(swept.recovered + swept.torn).expect("few"), left);
    let before = ledger_dump::envelopes(&tracer).len();
    let (server, _) = Server::start(&tracer);
    server.end();
    let envelopes = ledger_dump::envelopes(&tracer);
    println!(
        "{accepted} ended, {unknown} were killed: {} left nothing, {left} something in `tmp`, {} of it whole",
        accepted + unknown - before - left,
        swept.recovered
    );
    assert_eq!(envelopes.len() as u64, before as u64 + swept.recovered);
    feed::once(&envelopes, &report);
    assert_eq!(tracer.lost(), swept.torn);
    assert_eq!(ledger_dump::balance(&tracer), envelopes.len() as u64);
}
