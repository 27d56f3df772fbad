//! `agent-tracer install codex`, from the outside.

use serde_json::json;

use crate::world::World;

const HOOKS: &str = "home/.codex/hooks.json";

#[test]
fn a_first_installation_registers_every_event_and_speaks_of_trust() {
    let world = World::new();
    let answer = world.run(&["install", "codex"]).ended_with(0);
    assert_eq!(
        answer.stderr,
        "Codex is connected: 14 events registered in `[W]/home/.codex/hooks.json`\n\
         next step: start `codex` in a terminal and accept the hooks under \"Hooks need review\"\n\
         until then Codex does not run them, and `codex exec` prints no warning\n\
         run `agent-tracer doctor` to see which are trusted\n"
    );
    let hooks = world.json(HOOKS);
    let command = format!("'{}' codex", world.path("bin/agent-tracer-hook").display());
    assert_eq!(hooks["hooks"].as_object().expect("hooks").len(), 14);
    assert_eq!(hooks["hooks"]["Stop"], json!([{"hooks": [{"type": "command", "command": command}]}]));
    assert_eq!(hooks["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"], 3);
    assert!(!world.exists("home/.codex/config.toml"), "trust is the user's to give");
}

#[test]
fn the_project_is_the_repository_around_the_working_directory() {
    let world = World::new();
    world.write("project/.git/HEAD", "");
    world.write("project/deep/down/here", "");
    world.run_in("project/deep/down", &["install", "codex", "--scope", "project"]).ended_with(0);
    assert!(world.exists("project/.codex/hooks.json"));
    let answer = world.run(&["install", "codex", "--scope", "local"]).ended_with(2);
    assert_eq!(
        answer.stderr,
        "error: Codex has no settings of scope `local`\nhint: use `--scope user` or `--scope project`\n"
    );
}

#[test]
fn a_file_that_codex_discards_is_pointed_out() {
    let cases = [
        ("{\n  // c\n  \"hooks\": {}\n}", "a comment at line 2, column 3"),
        ("{\"hooks\": {},}", "a trailing comma at line 1, column "),
        ("\u{feff}{}", "a byte order mark at its start"),
        ("{\"hooks\": {}, \"mine\": 1}", "the unknown key `mine`"),
        ("{\"hooks\": {}, \"hooks\": {}}", "the name `hooks`, which occurs twice"),
    ];
    for (text, why) in cases {
        let world = World::new();
        world.write(HOOKS, text);
        let answer = world.run(&["install", "codex"]).ended_with(0);
        let expected = format!("warning: Codex ignores all of `[W]/home/.codex/hooks.json` because of {why}");
        assert!(answer.stderr.contains(&expected), "{text}: {}", answer.stderr);
        world.run(&["uninstall", "codex"]).ended_with(0);
        assert_eq!(world.read(HOOKS), text);
    }
}

#[test]
fn foreign_groups_that_get_a_new_number_are_named() {
    let world = World::new();
    world.run(&["install", "codex"]).ended_with(0);
    let mut hooks = world.json(HOOKS);
    let theirs = json!({"hooks": [{"type": "command", "command": "theirs"}]});
    hooks["hooks"]["Stop"].as_array_mut().expect("groups").push(theirs.clone());
    world.write(HOOKS, &hooks.to_string());
    let answer = world.run(&["uninstall", "codex"]).ended_with(0);
    assert!(answer.stderr.contains("so Codex asks you to review them again: Stop\n"), "{}", answer.stderr);
    assert_eq!(world.json(HOOKS), json!({"hooks": {"Stop": [theirs]}}));
}

#[test]
fn the_template_for_a_team_is_strict_json() {
    let world = World::without_hook();
    let answer = world.run(&["install", "codex", "--print", "--events", "Stop"]).ended_with(0);
    let template: serde_json::Value = serde_json::from_str(&answer.stdout).expect("JSON");
    assert_eq!(
        template["hooks"],
        json!({"Stop": [{"hooks": [{"type": "command", "command": "agent-tracer-hook codex"}]}]})
    );
    assert!(answer.stderr.contains("`.codex/hooks.json`"), "{}", answer.stderr);
}

#[test]
fn a_second_way_into_codex_is_pointed_out() {
    let world = World::new();
    world.run(&["install", "codex"]).ended_with(0);
    let answer = world.run(&["install", "codex", "--scope", "project"]).ended_with(0);
    assert!(
        answer.stderr.contains("warning: Codex is connected by `[W]/home/.codex/hooks.json` already, so every event will count twice\nhint: "),
        "{}",
        answer.stderr
    );
    world.write("home/.codex/config.toml", "[plugins.\"agent-tracer@agent-tracer\"]\nenabled = true\n");
    let answer = world.run(&["install", "codex"]).ended_with(0);
    assert!(
        answer.stderr.contains("by `[W]/project/.codex/hooks.json` and the plugin already"),
        "{}",
        answer.stderr
    );
}
