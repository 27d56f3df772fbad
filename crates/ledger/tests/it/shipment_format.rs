//! The format of shipments, byte for byte: a store of another version reads what this one sends.

use agent_tracer_ledger::project::row::Signature;
use agent_tracer_ledger::shipment::{Shipment, ShippedFact};
use agent_tracer_ledger::{Batch, Ledger, Options, Outbox};
use agent_tracer_prices::Prices;
use agent_tracer_testkit::scenario;
use serde_json::json;

fn shipment(name: &str) -> Shipment {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    let ledger = Ledger::open(&path, Options::default()).unwrap();
    let observed = scenario(name).observed(None);
    ledger.append(Batch { observed, ..Batch::default() }).unwrap();
    Outbox::open(&path, std::sync::Arc::new(Prices::embedded())).unwrap().after(0, 10_000).unwrap()
}

/// Returns a record as format 1 has it: every member by its name, in the order of the first release.
fn expected(record: &ShippedFact) -> String {
    let row = &record.row;
    let members = json!({
        "task": record.task, "fact": row.fact, "version": record.version, "kind": row.kind, "list": row.list.code(),
        "lane": row.lane, "occurred": row.occurred, "order": row.order, "ended": row.ended, "state": row.state,
        "open": row.open, "tool": row.tool, "turn": row.turn, "duration": row.duration, "error": row.error,
        "signature": row.signature.map(Signature::number), "certainty": row.certainty, "channels": row.channels, "data": row.data,
        "derived": row.derived, "cost": record.cost, "parts": record.parts,
    });
    members.to_string()
}

#[test]
fn records_of_real_facts_have_the_bytes_of_the_first_format() {
    let shipment = shipment("2.1.325/agent_nested");
    assert!(shipment.facts.len() > 20);
    assert!(shipment.facts.iter().any(|record| record.row.kind.is_none()), "a turn");
    assert!(shipment.facts.iter().any(|record| record.cost.is_some()), "a response with a price");
    for record in &shipment.facts {
        let text = serde_json::to_string(record).unwrap();
        assert_eq!(text, expected(record));
        assert_eq!(serde_json::from_str::<ShippedFact>(&text).unwrap(), *record);
    }
}

#[test]
fn record_written_by_the_first_release_is_read() {
    let text = r#"{"task":"t","fact":-5,"version":9,"kind":null,"list":20,"lane":"telemetry","occurred":1,"order":2,"ended":3,"state":null,"open":false,"tool":null,"turn":null,"duration":null,"error":null,"signature":null,"certainty":"measured","channels":5,"data":{"k":"turn:1"},"derived":{},"cost":7,"parts":[1]}"#;
    let record: ShippedFact = serde_json::from_str(text).unwrap();
    assert_eq!((record.row.fact, record.row.channels, record.row.data.key.as_str()), (-5, 5, "turn:1"));
    assert_eq!(serde_json::to_string(&record).unwrap(), text);
}
