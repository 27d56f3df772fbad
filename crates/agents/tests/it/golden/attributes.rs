//! Every metadata key that a reader writes is declared, with its type, its level and the facts that carry it.

use std::collections::BTreeSet;

use agent_tracer_event::Entry;
use agent_tracer_event::attributes::{self, CaptureLevel, ValueType};
use agent_tracer_privacy::Level;
use serde_json::Value;

use super::scenarios::all_at;

/// Returns the level of the registry that is the same as one of privacy.
fn captures(level: Level) -> CaptureLevel {
    match level {
        Level::Metadata => CaptureLevel::Metadata,
        Level::Actions => CaptureLevel::Actions,
        Level::Full => CaptureLevel::Full,
    }
}

/// Returns what is wrong with one value of an entry; nothing if it keeps its declaration.
fn fault(entry: &Entry, key: &str, value: &Value, level: Level) -> Option<String> {
    let (value_type, carriers) = match (attributes::find(key), attributes::find_prefix(key)) {
        (Some(attribute), _) => {
            let is_kept = attribute.value != ValueType::Text || value.is_string();
            if captures(level) < attribute.level && is_kept {
                let declared = attribute.level;
                return Some(format!("`{key}` is kept at level {level:?}, but declared for {declared}"));
            }
            (attribute.value, attribute.carriers)
        }
        (None, Some(prefix)) => (prefix.value, prefix.carriers),
        (None, None) => return Some(format!("`{key}` is not declared (in {:?})", entry.subject)),
    };
    if !carriers.contains(entry.subject) {
        return Some(format!("`{key}` is not declared for {:?}", entry.subject));
    }
    (!value_type.admits(value)).then(|| format!("`{key}` is declared {value_type}, but is {value}"))
}

#[test]
fn every_attribute_of_every_fixture_is_declared() {
    let mut faults = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for level in [Level::Metadata, Level::Actions, Level::Full] {
        for scenario in all_at(level) {
            for (_, reading) in scenario.parts.iter().flat_map(|part| &part.readings) {
                for entry in &reading.entries {
                    for (key, value) in &entry.metadata {
                        seen.insert(key.clone());
                        faults.extend(fault(entry, key, value, level));
                    }
                }
            }
        }
    }
    let text: Vec<String> = faults.into_iter().collect();
    assert!(text.is_empty(), "{} faults against `event::attributes`\n{}", text.len(), text.join("\n"));
    assert!(seen.len() > 300, "the walk found {} keys", seen.len());
}
