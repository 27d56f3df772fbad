//! `agent-tracer uninstall`: everything comes back.

use serde_json::json;

use crate::world::World;

const SETTINGS: &str = "home/.claude/settings.json";
const DATA: &str = "home/.local/share/agent-tracer";

#[test]
fn what_was_there_comes_back_to_the_byte() {
    let cases = [
        "{}",
        "{ }\n",
        "{\n}\n",
        "",
        " \n",
        "{\"a\":1}",
        "{\r\n\t\"statusLine\": {\"type\": \"command\", \"command\": \"x\"}\r\n}\r\n",
        "\u{feff}{\n  \"hooks\": {\"Stop\": [ ]}, // c\n}\n",
    ];
    for text in cases {
        let world = World::new();
        world.write(SETTINGS, text);
        world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
        let answer = world.run(&["uninstall", "claude"]).ended_with(0);
        assert!(
            answer.stderr.starts_with("Claude Code is disconnected: `[W]/home/.claude/settings.json`\n"),
            "{}",
            answer.stderr
        );
        assert_eq!(world.read(SETTINGS), text);
        assert!(!world.exists("home/.config/agent-tracer/statusline.conf"));
        assert_eq!(world.json(&format!("{DATA}/install.json"))["installations"], json!([]));
    }
}

#[test]
fn a_file_and_a_folder_that_install_made_go() {
    let world = World::new();
    world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    world.run(&["install", "codex"]).ended_with(0);
    world.run(&["uninstall", "claude"]).ended_with(0);
    world.run(&["uninstall", "codex"]).ended_with(0);
    assert_eq!(world.names("home"), [".config", ".local"]);
}

#[test]
fn a_folder_in_use_stays() {
    let world = World::new();
    world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    world.write("home/.claude/history.jsonl", "{}");
    world.run(&["uninstall", "claude"]).ended_with(0);
    assert_eq!(world.names("home/.claude"), ["history.jsonl"]);
}

#[test]
fn what_was_changed_since_stays() {
    let world = World::new();
    world.write(SETTINGS, "{\n  \"model\": \"opus\"\n}\n");
    world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    let text = world.read(SETTINGS).replace("\"opus\"", "\"sonnet\"");
    world.write(SETTINGS, &text);
    world.run(&["uninstall", "claude"]).ended_with(0);
    assert_eq!(world.read(SETTINGS), "{\n  \"model\": \"sonnet\"\n}\n");
}

#[test]
fn an_upgrade_in_between_changes_nothing_about_that() {
    let world = World::new();
    world.write(SETTINGS, "{ \"statusLine\": { \"type\": \"command\", \"command\": \"mine\" } }");
    world.run(&["install", "claude", "--client-version", "2.1.326", "--events", "Stop"]).ended_with(0);
    let text = world.read(SETTINGS).replacen('{', "{ \"new\": true,", 1);
    world.write(SETTINGS, &text);
    world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    world.run(&["install", "claude", "--client-version", "2.1.326", "--tools", "Bash"]).ended_with(0);
    world.run(&["uninstall", "claude"]).ended_with(0);
    assert_eq!(
        world.read(SETTINGS),
        "{ \"new\": true, \"statusLine\": { \"type\": \"command\", \"command\": \"mine\" } }"
    );
}

#[test]
fn without_the_record_our_entries_still_go_and_the_status_line_comes_back() {
    for record in [None, Some("{\"version\": 99, \"installations\": []}"), Some("torn")] {
        let world = World::new();
        world.write(
            SETTINGS,
            "{\n  \"statusLine\": {\n    \"type\": \"command\",\n    \"command\": \"mine\"\n  }\n}\n",
        );
        let before = world.read(SETTINGS);
        world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
        let path = format!("{DATA}/install.json");
        match record {
            None => std::fs::remove_file(world.path(&path)).expect("removed"),
            Some(text) => world.write(&path, text),
        }
        let answer = world.run(&["uninstall", "claude"]).ended_with(0);
        assert_eq!(answer.stderr.contains("warning: "), record.is_some(), "{}", answer.stderr);
        assert_eq!(world.read(SETTINGS), before);
    }
}

#[test]
fn the_home_that_the_entries_name_is_the_one_that_is_asked() {
    let world = World::new();
    world.write(SETTINGS, "{ \"statusLine\": {\"command\": \"mine\"} }");
    world.run(&["install", "claude", "--client-version", "2.1.326", "--home", "[W]/tracer"]).ended_with(0);
    world.run(&["uninstall", "claude"]).ended_with(0);
    assert_eq!(world.read(SETTINGS), "{ \"statusLine\": {\"command\": \"mine\"} }");
    assert_eq!(world.json("tracer/install.json")["installations"], json!([]));
}

#[test]
fn a_dry_run_shows_the_change_and_touches_nothing() {
    let world = World::new();
    world.write(SETTINGS, "{}\n");
    world.run(&["install", "claude", "--client-version", "2.1.326", "--events", "Stop"]).ended_with(0);
    let installed = world.read(SETTINGS);
    let answer = world.run(&["uninstall", "claude", "--dry-run"]).ended_with(0);
    assert!(answer.stdout.contains("\n-  \"hooks\": {\n"), "{}", answer.stdout);
    assert!(answer.stdout.ends_with("+{}\n"), "{}", answer.stdout);
    assert_eq!(
        answer.stderr,
        "nothing was written; our entries would be removed from `[W]/home/.claude/settings.json`\n"
    );
    assert_eq!(world.read(SETTINGS), installed);
}

#[test]
fn nothing_of_ours_is_no_failure_and_no_change() {
    let world = World::without_hook();
    let answer = world.run(&["uninstall", "claude"]).ended_with(0);
    assert_eq!(answer.stderr, "not installed in `[W]/home/.claude/settings.json`\n");
    world.write(SETTINGS, "{ \"hooks\": {} }");
    world.run(&["uninstall", "claude"]).ended_with(0);
    assert_eq!(world.read(SETTINGS), "{ \"hooks\": {} }");
}

#[test]
fn what_is_removed_is_kept_in_the_backups() {
    let world = World::new();
    world.write(SETTINGS, "{}");
    world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    let installed = world.read(SETTINGS);
    world.run(&["uninstall", "claude"]).ended_with(0);
    let backups = world.names(&format!("{DATA}/backups"));
    assert_eq!(backups.len(), 2, "{backups:?}");
    let texts: Vec<String> =
        backups.iter().map(|name| world.read(&format!("{DATA}/backups/{name}"))).collect();
    assert_eq!(texts, ["{}".to_owned(), installed]);
    for name in &backups {
        assert_eq!(world.mode(&format!("{DATA}/backups/{name}")), 0o600, "settings may hold secrets");
    }
}

#[test]
fn a_stale_record_does_not_touch_a_new_file_of_the_same_name() {
    let world = World::new();
    world.write(SETTINGS, "{\"statusLine\": {\"command\": \"old\"}}");
    world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    world.write(SETTINGS, "{\"fresh\": 1}");
    world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    assert_eq!(
        world.read("home/.config/agent-tracer/statusline.conf"),
        "",
        "the old line is not run any more"
    );
    world.run(&["uninstall", "claude"]).ended_with(0);
    assert_eq!(world.read(SETTINGS), "{\"fresh\": 1}");
}
