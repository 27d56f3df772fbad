//! Holds how large a JSON text becomes in memory: counted in one pass over its bytes, before a tree is built of it.
//!
//! A tree takes far more room than its text: two bytes of an array of small numbers become 72 and, while it grows, twice
//! that. A body of a few kilobytes, compressed, could so take a gigabyte. What comes from outside is therefore counted
//! first, and built only if it is within [`Bounds`].

use serde::de::DeserializeOwned;

/// Values and containers of a JSON text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Values, whatever they are.
    pub values: usize,
    /// Arrays and objects among them: even with one member each has a buffer of its own.
    pub containers: usize,
}

/// The most that is built of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Values.
    pub values: usize,
    /// Arrays and objects.
    pub containers: usize,
}

impl Bounds {
    /// Bounds of what is posted: about 40 MB of tree at the worst. Telemetry in the usual batches of 512 records with 25
    /// attributes each has half of these.
    pub const POSTED: Self = Self { values: 100_000, containers: 40_000 };

    /// The most values that texts of telemetry may hold together, where those are JSON themselves.
    pub const WITHIN_TEXTS: usize = 200_000;

    /// Bounds of a text within what is posted: the arguments of one call.
    pub const ARGUMENTS: Self = Self { values: 10_000, containers: 4_000 };

    /// Returns whether so much may be built.
    #[must_use]
    pub const fn hold(self, extent: Extent) -> bool {
        extent.values <= self.values && extent.containers <= self.containers
    }

    /// Parses a text that is within these bounds. `None` if it is not, or is no such value.
    pub fn parse<T: DeserializeOwned>(self, json: &str) -> Option<T> {
        self.hold(measure(json.as_bytes())).then(|| serde_json::from_str(json).ok())?
    }
}

/// Counts the values of a JSON text.
#[must_use]
pub fn measure(json: &[u8]) -> Extent {
    let mut meter = Meter::default();
    meter.feed(json);
    meter.extent()
}

/// Counts the values of a JSON text that comes in pieces. Of bytes that are no JSON the count is at least that of what a
/// parser builds before it stops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Meter {
    extent: Extent,
    /// Commas and beginnings of containers within texts: a text may hold JSON itself.
    within_texts: usize,
    state: State,
}

/// Describes where in a JSON text a piece ends.
#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    Outside,
    Text,
    /// Behind a backslash: the next byte does not end the text.
    Escape,
}

impl Meter {
    /// Counts the next piece.
    pub fn feed(&mut self, piece: &[u8]) {
        for byte in piece {
            self.state = match (self.state, byte) {
                (State::Outside, b'"') => State::Text,
                (State::Outside, b',') => {
                    self.extent.values += 1;
                    State::Outside
                }
                (State::Outside, b'[' | b'{') => {
                    self.extent.values += 1;
                    self.extent.containers += 1;
                    State::Outside
                }
                (State::Outside, _) | (State::Text, b'"') => State::Outside,
                (State::Text, b'\\') => State::Escape,
                // Not parsed yet: telemetry has JSON inside of texts, and that is built later, each text for itself.
                (State::Text, b',' | b'[' | b'{') => {
                    self.within_texts += 1;
                    State::Text
                }
                (State::Text | State::Escape, _) => State::Text,
            };
        }
    }

    /// Returns what was counted so far.
    #[must_use]
    pub const fn extent(&self) -> Extent {
        // Every value but the outermost follows a comma or an opening. An empty container counts double.
        Extent { values: self.extent.values + 1, ..self.extent }
    }

    /// Returns how many values texts may hold that are JSON themselves.
    #[must_use]
    pub const fn within_texts(&self) -> usize {
        self.within_texts
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn nodes(value: &Value) -> (usize, usize) {
        let inner = match value {
            Value::Array(items) => items.iter().map(nodes).collect::<Vec<_>>(),
            Value::Object(members) => members.values().map(nodes).collect(),
            _ => return (1, 0),
        };
        inner.into_iter().fold((1, 1), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::from),
            ".*".prop_map(Value::from),
            Just(json!("\\\",[{")),
        ];
        leaf.prop_recursive(6, 60, 8, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
                prop::collection::vec((".*", inner), 0..8)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_tree_has_more_nodes_than_were_counted(value in any_json()) {
            let (values, containers) = nodes(&value);
            let counted = measure(value.to_string().as_bytes());
            prop_assert_eq!(counted.containers, containers);
            prop_assert!(counted.values >= values && counted.values <= values + containers + 1, "{counted:?}");
        }

        #[test]
        fn pieces_count_like_the_whole(value in any_json(), cut in 0..200_usize) {
            let text = value.to_string();
            let (first, second) = text.as_bytes().split_at(cut.min(text.len()));
            let mut meter = Meter::default();
            meter.feed(first);
            meter.feed(second);
            prop_assert_eq!(meter.extent(), measure(text.as_bytes()));
        }

        #[test]
        fn any_bytes_are_counted(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(measure(&bytes).values <= bytes.len() + 1);
        }
    }

    #[test]
    fn what_is_over_the_bounds_is_not_built() {
        let bounds = Bounds { values: 5, containers: 2 };
        assert_eq!(bounds.parse::<Value>("[1,2,3]"), Some(json!([1, 2, 3])));
        assert_eq!(bounds.parse::<Value>("[1,2,3,4,5,6]"), None);
        assert_eq!(bounds.parse::<Value>("[[[]]]"), None);
        assert_eq!(bounds.parse::<Value>("\"[[[[[[,,,,,\""), Some(json!("[[[[[[,,,,,")));
        assert_eq!(bounds.parse::<Value>("[1,"), None);
    }
}
