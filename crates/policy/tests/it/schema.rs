//! The schema for editors knows the keys of the reader, and takes every file that the reader takes.

use agent_tracer_policy::read::{
    COMMAND_KEYS, EXAMPLE_KEYS, FILE_KEYS, MATCH_KEYS, REQUIRE_KEYS, REWRITE_KEYS, RULE_KEYS, TIME_KEYS,
    WHEN_KEYS,
};
use agent_tracer_policy::schema::{SchemaPart, schema};
use agent_tracer_policy::{EXAMPLES, read};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::laws::file;

/// Explains why a value does not fit, as far as our schema uses the language of schemas. A word that it should not use
/// is a failure of the test, so that nothing is passed over.
fn misfit(whole: &Value, schema: &Value, value: &Value, at: &str) -> Option<String> {
    let wrong = |what: &str| Some(format!("{at}: {what}: {value}"));
    for (word, said) in schema.as_object().expect("a schema") {
        let found = match word.as_str() {
            "$schema" | "title" | "description" | "definitions" => None,
            "$ref" => {
                let name =
                    said.as_str().and_then(|name| name.strip_prefix("#/definitions/")).expect("a definition");
                misfit(whole, &whole["definitions"][name], value, at)
            }
            "allOf" => said.as_array().unwrap().iter().find_map(|one| misfit(whole, one, value, at)),
            "anyOf" => {
                let fits = |one: &Value| misfit(whole, one, value, at).is_none();
                if said.as_array().unwrap().iter().any(fits) { None } else { wrong("fits no form") }
            }
            "enum" => {
                if said.as_array().unwrap().contains(value) {
                    None
                } else {
                    wrong("no such word")
                }
            }
            "type" => {
                let fits = match said.as_str().unwrap() {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "boolean" => value.is_boolean(),
                    "integer" => value.is_i64() || value.is_u64(),
                    "number" => value.is_number(),
                    other => panic!("the type `{other}`"),
                };
                if fits { None } else { wrong("another type") }
            }
            "minLength" => {
                if value.as_str() == Some("") {
                    wrong("empty")
                } else {
                    None
                }
            }
            "minItems" => {
                if value == &json!([]) {
                    wrong("empty")
                } else {
                    None
                }
            }
            // Held to its words by a test of its own: there are two.
            "pattern" => None,
            "minimum" => {
                if value.as_f64() < said.as_f64() {
                    wrong("too small")
                } else {
                    None
                }
            }
            "maximum" => {
                if value.as_f64() > said.as_f64() {
                    wrong("too large")
                } else {
                    None
                }
            }
            "items" => value.as_array().into_iter().flatten().find_map(|item| misfit(whole, said, item, at)),
            "properties" => value.as_object().into_iter().flatten().find_map(|(key, value)| {
                said.get(key).and_then(|schema| misfit(whole, schema, value, &format!("{at}.{key}")))
            }),
            "required" => said
                .as_array()
                .unwrap()
                .iter()
                .filter_map(Value::as_str)
                .find(|key| value.get(key).is_none())
                .and_then(|key| wrong(&format!("no `{key}`"))),
            "additionalProperties" => value
                .as_object()
                .into_iter()
                .flatten()
                .find(|(key, _)| schema["properties"].get(key.as_str()).is_none())
                .and_then(|(key, _)| wrong(&format!("no key `{key}`"))),
            other => panic!("the word `{other}` of schemas"),
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

fn misfit_of(text: &str) -> Option<String> {
    let value: toml::Value = toml::from_str(text).expect("TOML");
    let schema = schema();
    misfit(&schema, &schema, &serde_json::to_value(value).expect("JSON"), "file")
}

#[test]
fn the_keys_are_those_of_the_reader() {
    for (part, keys) in [
        (SchemaPart::File, FILE_KEYS),
        (SchemaPart::Rule, RULE_KEYS),
        (SchemaPart::Match, MATCH_KEYS),
        (SchemaPart::Command, COMMAND_KEYS),
        (SchemaPart::Time, TIME_KEYS),
        (SchemaPart::When, WHEN_KEYS),
        (SchemaPart::Require, REQUIRE_KEYS),
        (SchemaPart::Rewrite, REWRITE_KEYS),
        (SchemaPart::Example, EXAMPLE_KEYS),
    ] {
        assert_eq!(part.described().map(|(key, _)| key).collect::<Vec<_>>(), keys, "{part:?}");
    }
}

#[test]
fn every_example_fits() {
    for (name, text) in EXAMPLES {
        assert_eq!(misfit_of(&format!("version = 1\n{text}")), None, "{name}");
    }
}

#[test]
fn what_an_editor_can_see_is_seen() {
    let rule = "version = 1\n[[rule]]\nname = \"a\"\non = \"Stop\"\ndecision = \"deny\"\nreason = \"x\"\n";
    assert_eq!(misfit_of(rule), None);
    for (line, reason) in [
        ("desision = \"deny\"", "no key `desision`"),
        ("severity = \"huge\"", "no such word"),
        ("at_most = 21", "too large"),
        ("match.tool = []", "fits no form"),
        ("match.command = { effekt = \"delete\" }", "no key `effekt`"),
        ("when.tokens = { per = \"turn\" }", "no `over`"),
        ("suppress_output = 1", "another type"),
    ] {
        let found = misfit_of(&format!("{rule}{line}\n")).unwrap_or_default();
        assert!(found.contains(reason), "{line}: {found}");
        assert!(read(&format!("{rule}{line}\n")).is_err(), "{line}");
    }
}

#[test]
fn names_and_times_fit_as_they_are_read() {
    let schema = schema();
    let name = &schema["definitions"]["rule"]["properties"]["name"]["pattern"];
    assert_eq!(name, "^[A-Za-z0-9._-]{1,64}$");
    let from = &schema["definitions"]["time"]["properties"]["from"]["pattern"];
    assert_eq!(from, "^([01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$");
}

proptest! {
    #[test]
    fn whatever_is_read_fits(rules in file()) {
        let text = format!("version = 1\n{rules}");
        prop_assert!(read(&text).is_ok());
        prop_assert_eq!(misfit_of(&text), None);
    }
}
