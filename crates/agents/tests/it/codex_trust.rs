//! The trust that we compute is the trust that Codex reports.
//!
//! `data/codex-0.166.0-hooks-list.json` is what the real Codex 0.166.0 answered to `hooks/list` of its app server for
//! these files: the hash of every handler and whether it would run it.

use agent_tracer_agents::codex::trust::{Trust, TrustStore, hash, key, only_managed_hooks};
use agent_tracer_agents::hooks::own_hooks;
use agent_tracer_agents::settings::Settings;
use serde_json::Value;

const SOURCE: &str = "/home/dev/.codex/hooks.json";

fn cases() -> Vec<Value> {
    serde_json::from_str(include_str!("data/codex-0.166.0-hooks-list.json")).expect("the captured answers")
}

#[test]
fn hashes_and_keys_are_those_of_codex() {
    let mut compared = 0;
    for case in cases() {
        let settings = Settings::parse(&case["hooks_json"].to_string()).expect("JSON");
        let own = own_hooks(&settings);
        for listed in case["listed"].as_array().expect("handlers") {
            let own = own
                .iter()
                .find(|own| key(own, SOURCE).as_deref() == listed["key"].as_str())
                .unwrap_or_else(|| panic!("{}: no handler {}", case["name"], listed["key"]));
            assert_eq!(hash(own).as_deref(), listed["currentHash"].as_str(), "{}: {own:?}", case["name"]);
            compared += 1;
        }
    }
    assert!(compared > 60, "{compared} handlers");
}

#[test]
fn the_verdict_is_that_of_codex() {
    for case in cases() {
        let settings = Settings::parse(&case["hooks_json"].to_string()).expect("JSON");
        let store = TrustStore::parse(case["config_toml"].as_str().expect("text")).expect("TOML");
        assert_eq!(
            store.hooks_disabled,
            case["listed"].as_array().expect("handlers").is_empty(),
            "{}: Codex lists no hook when the feature is off",
            case["name"]
        );
        for own in own_hooks(&settings) {
            let key = key(&own, SOURCE).expect("a known event");
            let listed = case["listed"].as_array().into_iter().flatten().find(|it| it["key"] == key.as_str());
            let Some(listed) = listed else { continue };
            let expected = match (listed["enabled"].as_bool(), listed["trustStatus"].as_str()) {
                (Some(false), _) => Trust::Disabled,
                (_, Some("trusted")) => Trust::Trusted,
                (_, Some("modified")) => Trust::Modified,
                (_, Some("untrusted")) => Trust::Untrusted,
                other => panic!("{other:?}"),
            };
            assert_eq!(store.trust_of(&own, SOURCE), expected, "{}: {key}", case["name"]);
        }
    }
}

#[test]
fn another_file_of_the_same_content_is_not_trusted() {
    let case = cases().into_iter().find(|case| case["name"] == "trusted").expect("the case");
    let settings = Settings::parse(&case["hooks_json"].to_string()).expect("JSON");
    let store = TrustStore::parse(case["config_toml"].as_str().expect("text")).expect("TOML");
    for own in own_hooks(&settings) {
        assert_eq!(store.trust_of(&own, SOURCE), Trust::Trusted);
        assert_eq!(store.trust_of(&own, "/src/shop/.codex/hooks.json"), Trust::Untrusted);
    }
}

#[test]
fn an_enabled_plugin_of_ours_is_seen() {
    let enabled = |text: &str| TrustStore::parse(text).expect("TOML").plugins.len() == 1;
    assert!(enabled("[plugins.\"agent-tracer@agent-tracer\"]\nenabled = true\n"));
    assert!(!enabled("[plugins.\"agent-tracer@agent-tracer\"]\nenabled = false\n"));
    assert!(!enabled("[plugins.\"other@agent-tracer\"]\nenabled = true\n"));
    assert!(!enabled("plugins = 3\n"));
}

#[test]
fn a_configuration_of_foreign_shape_is_no_trust_and_no_crash() {
    for text in ["", "hooks = 3", "[hooks]\nstate = []", "[hooks.state]\nx = 1", "[features]\nhooks = \"no\""]
    {
        let store = TrustStore::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        for own in own_hooks(
            &Settings::parse(r#"{"hooks": {"Stop": [{"hooks": [{"command": "agent-tracer-hook codex"}]}]}}"#)
                .expect("JSON"),
        ) {
            assert_eq!(store.trust_of(&own, SOURCE), Trust::Untrusted, "{text}");
        }
        assert!(!store.hooks_disabled);
    }
    let error = TrustStore::parse("a = ").expect_err("no TOML");
    assert!(error.to_string().starts_with("not valid TOML: "), "{error}");
}

#[test]
fn an_administrator_who_allows_only_their_own_hooks_is_obeyed() {
    assert!(only_managed_hooks("allow_managed_hooks_only = true\n"));
    for text in
        ["", "allow_managed_hooks_only = false", "[features]\nallow_managed_hooks_only = true", "no TOML ["]
    {
        assert!(!only_managed_hooks(text), "{text}");
    }
}
