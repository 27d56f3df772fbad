//! `toolInput`: the input as it may be shown, bounded in every direction.

use serde_json::{Map, Value};

use crate::text;

/// The most characters of one text.
pub(crate) const TEXT_CHARS: usize = 10_000;
/// Limits how deep values may nest: the input itself is the first level.
const LEVELS: usize = 4;
/// The most members of one object or array.
const MEMBERS: usize = 500;
/// The most values in all: a hostile input must not weigh more than a big honest one.
const VALUES: usize = 5_000;
/// Holds what stands for what was left out.
const DEEPER: &str = "…";

/// Returns a copy with texts of at most 10,000 characters, four levels deep.
///
/// What lies deeper becomes `…`; members past the five-hundredth of a level are counted under the key `…`.
#[must_use]
pub fn sanitise(value: &Value) -> Value {
    level(value, LEVELS, &mut { VALUES })
}

fn level(value: &Value, levels: usize, left: &mut usize) -> Value {
    *left = left.saturating_sub(1);
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        Value::String(text) => Value::from(text::cut(text, TEXT_CHARS).into_owned()),
        // Only containers: a leaf at the last level costs no more than its mark would.
        Value::Array(_) | Value::Object(_) if levels == 0 || *left == 0 => Value::from(DEEPER),
        Value::Array(items) => {
            let mut kept = Vec::new();
            for item in items {
                if kept.len() == MEMBERS || *left == 0 {
                    kept.push(Value::from(format!("{DEEPER} {} more", items.len() - kept.len())));
                    break;
                }
                kept.push(level(item, levels - 1, left));
            }
            Value::Array(kept)
        }
        Value::Object(members) => {
            let mut kept = Map::new();
            for (key, member) in members {
                if kept.len() == MEMBERS || *left == 0 {
                    kept.insert(DEEPER.to_owned(), Value::from(members.len() - kept.len()));
                    break;
                }
                // Names too: a hostile input can carry its megabytes in a key.
                kept.insert(text::cut(key, 200).into_owned(), level(member, levels - 1, left));
            }
            Value::Object(kept)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn four_levels_stay_and_the_fifth_is_a_mark() {
        let deep = json!({"a": {"b": {"c": {"d": {"e": 1}}, "s": [1, 2]}}});
        assert_eq!(sanitise(&deep), json!({"a": {"b": {"c": {"d": "…"}, "s": [1, 2]}}}));
        assert_eq!(sanitise(&json!([[[[[1]]]]])), json!([[[["…"]]]]));
    }

    #[test]
    fn long_texts_are_cut_at_ten_thousand_characters() {
        let cut = sanitise(&json!({"text": "ü".repeat(10_001), "whole": "ü".repeat(10_000)}));
        assert_eq!(cut["text"].as_str().unwrap().chars().count(), 10_000);
        assert!(cut["text"].as_str().unwrap().ends_with("ü…"));
        assert_eq!(cut["whole"], "ü".repeat(10_000));
    }

    #[test]
    fn wide_inputs_end_with_the_count_of_the_rest() {
        let wide = sanitise(&Value::Array(vec![json!(1); 700]));
        assert_eq!(wide.as_array().unwrap().len(), 501);
        assert_eq!(wide[500], "… 200 more");
        let many: Map<String, Value> = (0..600).map(|n| (n.to_string(), json!(n))).collect();
        assert_eq!(sanitise(&Value::Object(many))["…"], 100);
    }

    #[test]
    fn an_input_that_is_wide_at_every_level_stays_bounded() {
        let mut value = json!(1);
        for _ in 0..4 {
            value = Value::Array(vec![value; 40]);
        }
        assert!(sanitise(&value).to_string().len() < 50_000);
    }
}
