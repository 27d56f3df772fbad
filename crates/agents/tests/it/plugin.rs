//! The plugin packages register what `install` registers.

use std::fs;
use std::path::{Path, PathBuf};

use agent_tracer_agents::claude::versions::PLUGIN_OLDEST;
use agent_tracer_agents::{claude, codex};
use serde_json::{Value, json};

fn package(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin").join(path)
}

fn read(path: &str) -> Value {
    let text = fs::read_to_string(package(path)).expect("a file of the package");
    serde_json::from_str(&text).expect("strict JSON")
}

/// Holds a file to what it is made from.
fn holds(path: &str, made: &Value) {
    agent_tracer_house::assert_file(&format!("plugin/{path}"), &format!("{made:#}\n"));
}

#[test]
fn the_hooks_of_both_packages_are_made_from_the_lists_of_events() {
    let mut hooks = json!({"description": "Agent Tracer records what Claude Code does, on this machine"});
    hooks["hooks"] = claude::install::template(Some(PLUGIN_OLDEST), None, None)["hooks"].take();
    holds("claude/hooks/hooks.json", &hooks);
    holds("codex/hooks/hooks.json", &codex::install::template(None, None));
}

#[test]
fn the_packages_carry_the_version_of_the_program() {
    for path in ["claude/.claude-plugin/plugin.json", "codex/.codex-plugin/plugin.json"] {
        assert_eq!(read(path)["version"], env!("CARGO_PKG_VERSION"), "{path}");
    }
}

#[test]
fn each_marketplace_offers_the_package_that_is_there() {
    for (marketplace, manifest) in [
        (".claude-plugin/marketplace.json", ".claude-plugin/plugin.json"),
        (".agents/plugins/marketplace.json", ".codex-plugin/plugin.json"),
    ] {
        // A client that is given the repository's address looks at its root alone.
        for top in ["", "../"] {
            let offer = read(&format!("{top}{marketplace}"));
            assert_eq!(offer["name"], "agent-tracer");
            let plugin = &offer["plugins"][0];
            let folder = plugin["source"].as_str().expect("a folder");
            let found = read(&format!("{top}{folder}/{manifest}"));
            assert_eq!(found["name"], plugin["name"], "{top}{marketplace}");
        }
        let text = |top: &str| fs::read_to_string(package(&format!("{top}{marketplace}"))).expect("a file");
        assert_eq!(text("../"), text("").replace("\"./", "\"./plugin/"), "{marketplace}");
    }
}

#[test]
fn the_packages_name_no_status_line_and_no_path() {
    // Some versions of Codex refuse any other key.
    let packages: [(&str, &[&str]); 2] =
        [("claude/hooks/hooks.json", &["description", "hooks"]), ("codex/hooks/hooks.json", &["hooks"])];
    for (path, expected) in packages {
        let hooks = read(path);
        assert_eq!(hooks.get("statusLine"), None, "a plugin's is ignored with a warning");
        let keys: Vec<&String> = hooks.as_object().expect("an object").keys().collect();
        assert_eq!(keys, expected);
        assert!(!hooks.to_string().contains("/agent-tracer-hook"), "{path}");
    }
}
