//! `agent-tracer install claude`, from the outside.

use std::os::unix::fs::symlink;

use serde_json::json;

use crate::world::World;

const SETTINGS: &str = "home/.claude/settings.json";

#[test]
fn a_first_installation_connects_every_event_and_makes_the_home() {
    let world = World::new();
    let answer = world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    assert_eq!(answer.stdout, "");
    assert_eq!(
        answer.stderr,
        "Claude Code is connected: 31 events registered, status line added in `[W]/home/.claude/settings.json`\n\
         settings for Claude Code 2.1.326, as requested\n\
         new sessions are recorded; run `agent-tracer doctor` to check the setup\n"
    );
    let settings = world.json(SETTINGS);
    let hook = world.path("bin/agent-tracer-hook");
    assert_eq!(settings["hooks"].as_object().expect("hooks").len(), 31);
    assert_eq!(
        settings["hooks"]["PreToolUse"],
        json!([{"hooks": [{"type": "command", "command": hook, "args": ["claude"]}]}])
    );
    assert_eq!(settings["statusLine"]["command"], format!("'{}' statusline", hook.display()));

    let data = "home/.local/share/agent-tracer";
    for folder in ["", "/spool", "/spool/new", "/spool/tmp", "/spool/quarantine", "/spool/lost"] {
        assert_eq!(world.mode(&format!("{data}{folder}")), 0o700, "{folder}");
    }
    assert_eq!(world.mode(&format!("{data}/key")), 0o600);
    assert_eq!(world.mode(&format!("{data}/install.json")), 0o600);
    assert_eq!(world.mode("home/.config/agent-tracer"), 0o700);
    assert!(world.read("home/.config/agent-tracer/privacy.conf").lines().all(|line| line.starts_with('#')));
    assert_eq!(
        world.names(&format!("{data}/spool/lost")).len(),
        agent_tracer_spool::Reason::ALL.len(),
        "every counter is there before it is needed"
    );
    assert_eq!(world.names(&format!("{data}/backups")), [""; 0], "there was nothing to keep");
}

#[test]
fn a_second_run_says_so_and_writes_nothing() {
    let world = World::new();
    world.write(SETTINGS, "{\n  \"model\": \"opus\"\n}\n");
    world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    let before = (world.read(SETTINGS), world.read("home/.local/share/agent-tracer/install.json"));
    let modified =
        || std::fs::metadata(world.path(SETTINGS)).and_then(|facts| facts.modified()).expect("facts");
    let written = modified();
    let backups = world.names("home/.local/share/agent-tracer/backups");
    let answer = world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    assert!(
        answer.stderr.starts_with("already installed in `[W]/home/.claude/settings.json`\n"),
        "{}",
        answer.stderr
    );
    assert_eq!((world.read(SETTINGS), world.read("home/.local/share/agent-tracer/install.json")), before);
    assert_eq!(modified(), written);
    assert_eq!(world.names("home/.local/share/agent-tracer/backups"), backups);
}

#[test]
fn a_dry_run_shows_the_change_and_touches_nothing() {
    let world = World::new();
    world.write(SETTINGS, "{\n  \"model\": \"opus\"\n}\n");
    let answer = world
        .run(&[
            "install",
            "claude",
            "--client-version",
            "2.1.326",
            "--dry-run",
            "--events",
            "Stop",
            "--no-statusline",
        ])
        .ended_with(0);
    assert_eq!(
        answer.stdout,
        "--- [W]/home/.claude/settings.json\n\
         +++ [W]/home/.claude/settings.json\n\
         @@ -1,3 +1,16 @@\n \
         {\n\
         -  \"model\": \"opus\"\n\
         +  \"model\": \"opus\",\n\
         +  \"hooks\": {\n\
         +    \"Stop\": [\n\
         +      {\n\
         +        \"hooks\": [\n\
         +          {\n\
         +            \"type\": \"command\",\n\
         +            \"command\": \"[W]/bin/agent-tracer-hook\",\n\
         +            \"args\": [\"claude\"]\n\
         +          }\n\
         +        ]\n\
         +      }\n\
         +    ]\n\
         +  }\n }\n"
    );
    assert_eq!(
        answer.stderr,
        "would change `[W]/home/.claude/settings.json`: 1 event registered; nothing was written\n\
         settings for Claude Code 2.1.326, as requested\n"
    );
    assert_eq!(world.read(SETTINGS), "{\n  \"model\": \"opus\"\n}\n");
    assert_eq!(world.names("home"), [".claude"]);
}

#[test]
fn the_template_for_a_team_names_no_path_of_this_machine() {
    let world = World::without_hook();
    let answer = world.run(&["install", "claude", "--print"]).ended_with(0);
    let template: serde_json::Value = serde_json::from_str(&answer.stdout).expect("JSON");
    assert_eq!(template["hooks"].as_object().expect("hooks").len(), 9, "what every version accepts");
    assert_eq!(
        template["hooks"]["Stop"][0]["hooks"],
        json!([{"type": "command", "command": "agent-tracer-hook claude"}])
    );
    assert!(!answer.stdout.contains('/') || !answer.stdout.contains("[W]"), "{}", answer.stdout);
    assert!(answer.stderr.contains("`.claude/settings.json`"), "{}", answer.stderr);
    assert_eq!(world.names("home"), [""; 0]);
}

#[test]
fn each_scope_goes_to_its_file_and_a_shared_one_gets_no_status_line() {
    let world = World::new();
    world.run(&["install", "claude", "--client-version", "2.1.326", "--scope", "project"]).ended_with(0);
    assert_eq!(world.json("project/.claude/settings.json").get("statusLine"), None);
    world.run(&["install", "claude", "--client-version", "2.1.326", "--scope", "local"]).ended_with(0);
    assert!(world.json("project/.claude/settings.local.json").get("statusLine").is_some());
    assert!(!world.exists(SETTINGS));
}

#[test]
fn the_agents_home_can_be_elsewhere() {
    let mut world = World::new();
    world.set("CLAUDE_CONFIG_DIR", "[W]/elsewhere");
    world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    assert!(world.exists("elsewhere/settings.json"));
    assert!(!world.exists("home/.claude"));
}

#[test]
fn a_home_that_is_not_the_default_one_is_named_in_every_entry() {
    for by_variable in [true, false] {
        let mut world = World::new();
        let mut arguments = vec!["install", "claude", "--client-version", "2.1.326"];
        if by_variable {
            world.set("AGENT_TRACER_HOME", "[W]/my tracer");
        } else {
            arguments.extend(["--home", "../my tracer/./"]);
        }
        world.run(&arguments).ended_with(0);
        let settings = world.json(SETTINGS);
        let home = settings["hooks"]["Stop"][0]["hooks"][0]["args"][2].as_str().expect("a home").to_owned();
        assert_eq!(settings["hooks"]["Stop"][0]["hooks"][0]["args"], json!(["claude", "--home", home]));
        assert!(
            settings["statusLine"]["command"]
                .as_str()
                .expect("a command")
                .ends_with(&format!("statusline --home '{home}'"))
        );
        assert_eq!(std::path::Path::new(&home).canonicalize().expect("a folder"), world.path("my tracer"));
        for name in ["spool", "key", "privacy.conf", "install.json"] {
            assert!(world.exists(&format!("my tracer/{name}")), "{name}");
        }
        assert!(!world.exists("home/.local"));
    }
}

#[test]
fn two_different_homes_are_a_contradiction() {
    let mut world = World::new();
    world.set("AGENT_TRACER_HOME", "[W]/one");
    let answer =
        world.run(&["install", "claude", "--client-version", "2.1.326", "--home", "[W]/two"]).ended_with(2);
    assert_eq!(
        answer.stderr,
        "error: `--home` is `[W]/two` but `$AGENT_TRACER_HOME` is `[W]/one`, which counts for hooks\n\
         hint: unset `AGENT_TRACER_HOME`, or remove `--home`\n"
    );
    world.run(&["install", "claude", "--client-version", "2.1.326", "--home", "[W]/one"]).ended_with(0);
}

#[test]
fn the_users_status_line_is_kept_for_the_chain() {
    let world = World::new();
    world.write(
        SETTINGS,
        r#"{"statusLine": {"type": "command", "command": "echo 'a\\nb'\nx", "padding": 1}}"#,
    );
    world.write("home/.config/agent-tracer/statusline.conf", "prefix me\n");
    let answer = world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    assert!(answer.stderr.contains("your status line stays: ours runs `echo"), "{}", answer.stderr);
    assert_eq!(
        world.read("home/.config/agent-tracer/statusline.conf"),
        "prefix me\nchain echo 'a\\\\nb'\\nx\n"
    );
    assert_eq!(world.json(SETTINGS)["statusLine"]["padding"], 1);
}

#[test]
fn a_local_status_line_chains_the_one_that_was_in_effect() {
    let world = World::new();
    world.write(SETTINGS, r#"{"statusLine": {"type": "command", "command": "mine"}}"#);
    world.run(&["install", "claude", "--client-version", "2.1.326", "--scope", "local"]).ended_with(0);
    assert_eq!(world.read("home/.config/agent-tracer/statusline.conf"), "chain mine\n");
    world.run(&["uninstall", "claude", "--scope", "local"]).ended_with(0);
    assert!(!world.exists("home/.config/agent-tracer/statusline.conf"));
    assert!(!world.exists("project/.claude"), "what install made is gone");
}

#[test]
fn a_second_status_line_does_not_push_the_first_out_of_the_chain() {
    let world = World::new();
    world.write(SETTINGS, r#"{"statusLine": {"type": "command", "command": "mine"}}"#);
    world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    let local = r#"{"statusLine": {"type": "command", "command": "other"}}"#;
    world.write("project/.claude/settings.local.json", local);
    let answer =
        world.run(&["install", "claude", "--client-version", "2.1.326", "--scope", "local"]).ended_with(0);
    assert!(answer.stderr.contains("your status line is unchanged"), "{}", answer.stderr);
    assert_eq!(world.read("home/.config/agent-tracer/statusline.conf"), "chain mine\n");
    assert_eq!(world.json("project/.claude/settings.local.json")["statusLine"]["command"], "other");
}

#[test]
fn a_local_installation_needs_no_second_status_line_where_ours_already_shows() {
    let world = World::new();
    world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    world.run(&["install", "claude", "--client-version", "2.1.326", "--scope", "local"]).ended_with(0);
    assert_eq!(world.json("project/.claude/settings.local.json").get("statusLine"), None);
}

#[test]
fn a_linked_settings_file_stays_a_link_and_keeps_its_mode() {
    let world = World::new();
    world.write("home/dotfiles/claude.json", "{}");
    world.set_mode("home/dotfiles/claude.json", 0o640);
    world.write("home/.claude/other", "");
    symlink("../dotfiles/claude.json", world.path(SETTINGS)).expect("a link");
    world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    assert!(std::fs::symlink_metadata(world.path(SETTINGS)).expect("facts").is_symlink());
    assert_eq!(world.json("home/dotfiles/claude.json")["hooks"].as_object().expect("hooks").len(), 31);
    assert_eq!(world.mode("home/dotfiles/claude.json"), 0o640);
    world.run(&["uninstall", "claude"]).ended_with(0);
    assert_eq!(world.read("home/dotfiles/claude.json"), "{}");
    assert!(std::fs::symlink_metadata(world.path(SETTINGS)).expect("facts").is_symlink());
}

#[test]
fn a_broken_settings_file_is_left_as_it_is() {
    let cases = [
        ("{\n  \"a\": 1,,\n}", "not valid JSON: unexpected token in object at line 2, column 10"),
        ("{\"hooks\": 7}", "`hooks` must be an object, but it is a number"),
        ("[]", "the file must be an object, but it is an array"),
    ];
    for (text, why) in cases {
        let world = World::new();
        world.write(SETTINGS, text);
        let answer = world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(1);
        assert_eq!(
            answer.stderr,
            format!(
                "error: cannot change `[W]/home/.claude/settings.json`: {why}\n\
                 hint: correct the file first; nothing was written\n"
            )
        );
        assert_eq!(world.read(SETTINGS), text);
        assert_eq!(world.names("home"), [".claude"], "no home was made either");
    }
}

#[test]
fn a_file_that_is_no_text_is_left_as_it_is() {
    let world = World::new();
    world.write(SETTINGS, "");
    let bytes = b"{\"a\": \"\xff\"}";
    std::io::Write::write_all(&mut std::fs::File::create(world.path(SETTINGS)).expect("a file"), bytes)
        .expect("written");
    let answer = world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(1);
    assert!(answer.stderr.contains("byte 7 is not UTF-8"), "{}", answer.stderr);
    assert_eq!(std::fs::read(world.path(SETTINGS)).expect("bytes"), bytes);
}

#[test]
fn without_a_hook_binary_nothing_is_registered() {
    let world = World::without_hook();
    let answer = world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(1);
    assert!(
        answer.stderr.starts_with("error: cannot find the hook binary `[W]/bin/agent-tracer-hook`\nhint: "),
        "{}",
        answer.stderr
    );
    world.write("bin/agent-tracer-hook", "not executable");
    let answer = world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(1);
    assert!(answer.stderr.contains("is not executable\nhint: run `chmod +x"), "{}", answer.stderr);
    assert_eq!(world.names("home"), [""; 0]);
}

#[test]
fn what_keeps_the_agent_from_calling_us_is_said() {
    let world = World::new();
    world.write(SETTINGS, "{\n  // mine\n  \"disableAllHooks\": true\n}\n");
    let answer = world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    assert!(
        answer.stderr.contains("warning: Claude Code ignores all of `[W]/home/.claude/settings.json` because of a comment at line 2, column 3"),
        "{}",
        answer.stderr
    );
    assert!(answer.stderr.contains("warning: `disableAllHooks` is set"), "{}", answer.stderr);
    assert!(world.read(SETTINGS).contains("// mine"));
}

#[test]
fn an_update_from_another_folder_brings_the_entries_along() {
    let world = World::new();
    world.write(SETTINGS, "{\n  \"model\": \"opus\"\n}\n");
    world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    let old = world.path("bin/agent-tracer-hook").display().to_string();
    let text = world.read(SETTINGS).replace(&old, "/opt/old/agent-tracer-hook");
    world.write(SETTINGS, &text);
    let answer = world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    assert!(
        answer.stderr.contains("31 events brought up to date, status line brought up to date"),
        "{}",
        answer.stderr
    );
    assert!(!world.read(SETTINGS).contains("/opt/old"));
    world.run(&["uninstall", "claude"]).ended_with(0);
    assert_eq!(world.read(SETTINGS), "{\n  \"model\": \"opus\"\n}\n");
}

#[test]
fn a_change_of_home_is_said() {
    let world = World::new();
    world.run(&["install", "claude", "--client-version", "2.1.326", "--home", "[W]/there"]).ended_with(0);
    let answer = world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    assert!(
        answer.stderr.contains("note: until now events went to `[W]/there`, from now on to the default home"),
        "{}",
        answer.stderr
    );
}

#[test]
fn unknown_events_and_tools_are_refused_before_anything_is_read() {
    let world = World::new();
    let answer = world
        .run(&["install", "claude", "--client-version", "2.1.326", "--events", "Stop,Nope"])
        .ended_with(2);
    assert!(
        answer.stderr.starts_with("error: Claude Code has no event `Nope`\nhint: the events are Setup, "),
        "{}",
        answer.stderr
    );
    let answer =
        world.run(&["install", "claude", "--client-version", "2.1.326", "--tools", "bash"]).ended_with(2);
    assert_eq!(answer.stderr, "error: Claude Code has no tool `bash`\nhint: did you mean `Bash`?\n");
    world
        .run(&["install", "claude", "--client-version", "2.1.326", "--tools", "Bash,=Novel,mcp__files__.*"])
        .ended_with(0);
    assert_eq!(world.json(SETTINGS)["hooks"]["PreToolUse"][0]["matcher"], "^(Bash|Novel|mcp__files__.*)$");
}
