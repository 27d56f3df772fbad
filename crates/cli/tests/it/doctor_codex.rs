//! `agent-tracer doctor` about Codex and its trust, and about files that an agent does not load.

use agent_tracer_agents::codex::trust;
use agent_tracer_agents::hooks::own_hooks;
use agent_tracer_agents::settings::Settings;
use serde_json::json;

use crate::doctor::{SETTINGS, checks, fix, report};
use crate::world::World;

/// Trusts every hook of ours in Codex's file, as its own review would.
pub(crate) fn trust_all(world: &World, extra: &str) {
    let settings = Settings::parse(&world.read("home/.codex/hooks.json")).expect("JSON");
    let source = world.path("home/.codex/hooks.json").display().to_string();
    let states: String = own_hooks(&settings)
        .iter()
        .map(|own| {
            let (key, hash) = (trust::key(own, &source).expect("a key"), trust::hash(own).expect("a hash"));
            format!("[hooks.state.\"{key}\"]\ntrusted_hash = \"{hash}\"\n{extra}\n")
        })
        .collect();
    world.write("home/.codex/config.toml", &states);
}

#[test]
fn hooks_that_are_switched_off_are_a_fault() {
    let world = World::with_real_hook();
    world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    world.write("project/.claude/settings.local.json", "{\"disableAllHooks\": true}");
    let claude = report(&world, &[]);
    assert_eq!(
        checks(&claude, "disabled"),
        ["claude fail `disableAllHooks` is set in `[W]/project/.claude/settings.local.json`: no hook runs"]
    );
    world.write("project/.claude/settings.local.json", "{}");
    world.run(&["install", "codex"]).ended_with(0);
    world.write("home/.codex/config.toml", "[features]\nhooks = false\n");
    let codex = report(&world, &[]);
    assert_eq!(checks(&codex, "disabled"), ["codex fail the feature `hooks` is switched off: no hook runs"]);
}

#[test]
fn trust_is_reported_for_each_event_of_codex() {
    let world = World::with_real_hook();
    world.run(&["install", "codex"]).ended_with(0);
    let untrusted = report(&world, &[]);
    assert_eq!(
        checks(&untrusted, "trust"),
        ["codex fail hooks that you have not trusted yet, so Codex does not run them: all 14"]
    );
    assert!(fix(&untrusted, "trust").contains("Hooks need review"));

    trust_all(&world, "");
    let mut hooks = world.json("home/.codex/hooks.json");
    hooks["hooks"]["Stop"][0]["hooks"][0]["timeout"] = json!(9);
    let groups = hooks["hooks"]["PreToolUse"].as_array_mut().expect("groups");
    groups.insert(0, json!({"hooks": []}));
    world.write("home/.codex/hooks.json", &hooks.to_string());
    let mixed = report(&world, &[]);
    assert_eq!(
        checks(&mixed, "trust"),
        [
            "codex fail hooks that you have not trusted yet, so Codex does not run them: PreToolUse",
            "codex fail hooks that changed since you trusted them, so Codex does not run them: Stop",
        ]
    );
    let details = mixed["checks"].as_array().expect("checks").iter().find(|check| check["name"] == "trust");
    let details = &details.expect("the check")["details"];
    assert_eq!(
        (&details["Stop"], &details["PreToolUse"], &details["SessionEnd"]),
        (&json!("modified"), &json!("untrusted"), &json!("trusted"))
    );

    world.run(&["install", "codex"]).ended_with(0);
    trust_all(&world, "enabled = false");
    assert_eq!(
        checks(&report(&world, &[]), "trust"),
        ["codex warn hooks that are switched off in Codex: all 14"]
    );
}

#[test]
fn files_that_an_agent_cannot_load_are_a_fault() {
    let world = World::with_real_hook();
    world.write(SETTINGS, "{ oops");
    world.write("home/.codex/hooks.json", "{\"hooks\": {}, \"marker\": 1}");
    world.write("home/.codex/config.toml", "a = = 1");
    let report = report(&world, &[]);
    assert_eq!(checks(&report, "settings").len(), 1, "{report:#}");
    assert!(checks(&report, "settings")[0].starts_with(
        "claude fail Claude Code cannot load `[W]/home/.claude/settings.json`: not valid JSON: "
    ));
    assert_eq!(
        checks(&report, "hooks_file"),
        ["codex fail Codex ignores all of `[W]/home/.codex/hooks.json` because of the unknown key `marker`"]
    );
    assert!(
        checks(&report, "configuration")[0]
            .starts_with("codex fail cannot read `[W]/home/.codex/config.toml`: not valid TOML: ")
    );
}

#[test]
fn two_ways_into_codex_count_every_event_twice() {
    let world = World::with_real_hook();
    world.write("home/.codex/config.toml", "[plugins.\"agent-tracer@agent-tracer\"]\nenabled = true\n");
    let plugin = report(&world, &[]);
    assert_eq!(
        checks(&plugin, "plugin"),
        ["codex info connected by the plugin; run `/hooks` in Codex to see whether you trust it"]
    );
    assert_eq!(checks(&plugin, "connected"), [""; 0]);
    world.run(&["install", "codex"]).ended_with(0);
    assert_eq!(
        checks(&report(&world, &[]), "twice"),
        [
            "codex warn connected more than once, so every event counts more than once: the plugin, `[W]/home/.codex/hooks.json`"
        ]
    );
}
