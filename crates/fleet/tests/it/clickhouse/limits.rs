//! Tests that limits belong to accounts: each owner sees only their own.

use std::sync::Arc;

use agent_tracer_event::{Agent, Millis};
use agent_tracer_fleet::clickhouse::Reader;
use agent_tracer_ledger::Observed;
use agent_tracer_ledger::view::Limit;
use agent_tracer_testkit::hook;
use serde_json::json;

use crate::clickhouse::world::World;
use crate::engine::{self, Make};

pub(crate) const AT: i64 = 1_794_772_000_000;

/// Returns a session with status lines that report the use of the limits: a little more every minute.
pub(crate) fn sessions(session: &str, at: i64, used: f64, times: i64) -> Vec<Observed> {
    let refresh = |time: i64| {
        let resets = |hours: i64| at / 1_000 + hours * 3_600;
        let payload = json!({
            "session_id": session,
            "transcript_path": format!("/home/dev/.claude/projects/-home-dev-limits/{session}.jsonl"),
            "cwd": "/home/dev/limits", "version": "2.1.325",
            "model": { "id": "claude-opus-5-5", "display_name": "Opus 5.5" },
            "workspace": { "current_dir": "/home/dev/limits", "project_dir": "/home/dev/limits" },
            "rate_limits": {
                "five_hour": { "used_percentage": used + time as f64, "resets_at": resets(3) },
                "seven_day": { "used_percentage": used / 2.0, "resets_at": resets(90) },
            },
        });
        let arrived = Millis(at + time * 60_000);
        hook(Agent::CLAUDE_CODE, &format!("{session}#{time}"), arrived, true, payload.to_string().as_bytes())
    };
    (0..times).map(refresh).collect()
}

fn five_hours(limits: &[Limit]) -> Vec<(Option<&str>, f64)> {
    let of_window = limits.iter().filter(|limit| limit.window == "five_hour");
    of_window.map(|limit| (limit.owner.as_deref(), limit.used_pct)).collect()
}

#[test]
fn limits_of_one_owner_are_not_those_of_another() {
    tells_limits_by_owner(engine::database);
}

pub(crate) fn tells_limits_by_owner(make: Make) {
    let (fleet, _) = make();
    let now = Millis(AT + 3_600_000);
    let mut embedded = Vec::new();
    for (owner, at, used) in [("ann", AT, 10.0), ("bob", AT + 600_000, 70.0)] {
        let world = World::empty();
        world.bring(sessions("7b1c7e36-2d7e-4f6c-9a53-0a1f2e3d4c5b", at, used, 12));
        for shipment in world.shipments(100_000) {
            fleet.write(owner, &shipment).unwrap();
        }
        embedded.push(world.ledger.store().limits(now).unwrap().items);
    }
    assert_eq!(five_hours(&embedded[0]), [(None, 21.0)]);
    assert!(embedded[0].iter().any(|limit| limit.forecast.is_some()), "{embedded:?}");
    let of = |owners: &[&str]| {
        let owners = owners.iter().map(|owner| (*owner).to_owned()).collect();
        Reader::new(Arc::clone(&fleet), owners).limits(now).unwrap().items
    };
    assert_eq!(of(&["ann"]), embedded[0], "as the machine itself answers");
    assert_eq!(of(&["bob"]), embedded[1]);
    let named = |limits: &[Limit], owner: &str| -> Vec<Limit> {
        limits.iter().map(|limit| Limit { owner: Some(owner.to_owned()), ..limit.clone() }).collect()
    };
    let both = [named(&embedded[0], "ann"), named(&embedded[1], "bob")].concat();
    assert_eq!(of(&["ann", "bob"]), both, "not one line through the points of two accounts");
    assert_eq!(Reader::of_all_owners(Arc::clone(&fleet)).limits(now).unwrap().items, both);
    assert_eq!(of(&["unknown"]), []);
}
