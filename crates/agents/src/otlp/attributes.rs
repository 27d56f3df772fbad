//! The attributes of a record, looked up by name.
//!
//! OTLP/JSON has `[{"key": "a", "value": {"stringValue": "x"}}]`. Numbers may be written as texts: the format asks for it
//! with 64-bit integers, and both agents do it with others too. Of equal names the last counts.

use serde_json::{Map, Value};

/// The values of one record or resource.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attributes(Map<String, Value>);

/// The most items of a list that are looked at.
const ITEMS: usize = 100;

impl Attributes {
    /// Takes the attributes of a record. Items that are none are passed over.
    pub(crate) fn of(list: Option<&Value>) -> Self {
        let mut members = Map::new();
        match list {
            Some(Value::Array(items)) => {
                for item in items {
                    let name = item.get("key").and_then(Value::as_str);
                    if let (Some(name), Some(value)) = (name, item.get("value").and_then(plain)) {
                        members.insert(name.to_owned(), value);
                    }
                }
            }
            // Some collectors hand on a plain object.
            Some(Value::Object(given)) => members.extend(given.clone()),
            _ => {}
        }
        Self(members)
    }

    /// Returns the first of these names that is there.
    pub(crate) fn get(&self, names: &[&str]) -> Option<&Value> {
        names.iter().find_map(|name| self.0.get(*name).filter(|value| !value.is_null()))
    }

    /// Reads a text with something in it.
    pub(crate) fn text(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.0.get(*name)?.as_str().filter(|text| !text.trim().is_empty()))
    }

    /// Reads a text that the agent did not black out.
    pub(crate) fn display_text(&self, names: &[&str]) -> Option<&str> {
        // Without a switch of the user the client sends this mark in the place of prompts and answers.
        self.text(names).filter(|text| !text.starts_with("<REDACTED"))
    }

    /// Reads a whole number that is not negative, also if it is written as a text or with a fraction.
    pub(crate) fn count(&self, names: &[&str]) -> Option<u64> {
        names.iter().find_map(|name| match self.0.get(*name)? {
            Value::Number(number) => number
                .as_u64()
                .or_else(|| number.as_f64().filter(|real| *real >= 0.0).map(|real| real as u64)),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        })
    }

    /// Reads any finite number.
    pub(crate) fn real(&self, names: &[&str]) -> Option<f64> {
        names.iter().find_map(|name| match self.0.get(*name)? {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().parse().ok().filter(|real: &f64| real.is_finite()),
            _ => None,
        })
    }

    /// Reads a truth value, also if it is written as a text.
    pub(crate) fn flag(&self, names: &[&str]) -> Option<bool> {
        names.iter().find_map(|name| match self.0.get(*name)? {
            Value::Bool(flag) => Some(*flag),
            Value::String(text) => match text.as_str() {
                "true" | "1" => Some(true),
                "false" | "0" => Some(false),
                _ => None,
            },
            _ => None,
        })
    }

    /// Returns names and values in the order in which they were written.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.0.iter()
    }
}

/// Returns a value without the frame that says its type.
fn plain(value: &Value) -> Option<Value> {
    let Value::Object(frame) = value else { return Some(value.clone()) };
    let (kind, inner) = frame.iter().next()?;
    match kind.as_str() {
        "stringValue" | "boolValue" | "intValue" | "doubleValue" | "bytesValue" => Some(inner.clone()),
        "arrayValue" => {
            let items = inner.get("values").and_then(Value::as_array)?;
            // Nested lists say nothing to us; they are not followed, so that depth costs nothing.
            let flat = items.iter().take(ITEMS).filter(|item| item.get("arrayValue").is_none());
            Some(Value::Array(flat.filter_map(|item| item.as_object()?.values().next().cloned()).collect()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_known_by_name_and_type_or_not_at_all() {
        let list = json!([
            {"key": "text", "value": {"stringValue": "x"}},
            {"key": "whole", "value": {"intValue": "7"}},
            {"key": "number", "value": {"intValue": 8}},
            {"key": "real", "value": {"doubleValue": 0.5}},
            {"key": "flag", "value": {"stringValue": "true"}},
            {"key": "list", "value": {"arrayValue": {"values": [{"stringValue": "a"}, {"arrayValue": {}}]}}},
            {"key": "gone", "value": {"stringValue": "<REDACTED>"}},
            {"key": "twice", "value": {"intValue": 1}},
            {"key": "twice", "value": {"intValue": 2}},
            {"key": "empty", "value": {}},
            {"key": 9, "value": {"intValue": 2}},
            "<elided: 3 more>",
            null,
        ]);
        let attributes = Attributes::of(Some(&list));
        assert_eq!(attributes.text(&["nothing", "text"]), Some("x"));
        assert_eq!((attributes.count(&["whole"]), attributes.count(&["number"])), (Some(7), Some(8)));
        assert_eq!((attributes.real(&["real"]), attributes.count(&["real"])), (Some(0.5), Some(0)));
        assert_eq!((attributes.flag(&["flag"]), attributes.flag(&["text"])), (Some(true), None));
        assert_eq!(attributes.get(&["list"]), Some(&json!(["a"])));
        assert_eq!(
            (attributes.text(&["gone"]), attributes.display_text(&["gone"])),
            (Some("<REDACTED>"), None)
        );
        assert_eq!(attributes.count(&["twice"]), Some(2));
        assert_eq!(attributes.get(&["empty"]), None);
        assert_eq!(Attributes::of(Some(&json!({"a": 1}))).count(&["a"]), Some(1));
        assert_eq!(Attributes::of(Some(&json!("a"))).iter().count(), 0);
    }

    #[test]
    fn odd_numbers_are_no_counts() {
        let attributes = Attributes::of(Some(&json!({"a": -1, "b": "x", "c": "-3", "d": "inf", "e": [1]})));
        for name in ["a", "b", "c", "d", "e"] {
            assert_eq!(attributes.count(&[name]), None, "{name}");
        }
        assert_eq!(attributes.real(&["d"]), None);
        assert_eq!(attributes.real(&["a"]), Some(-1.0));
    }
}
