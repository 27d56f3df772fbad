//! `agent-tracer doctor`: what is wrong, and how to fix it.

use std::fs;
use std::time::{Duration, SystemTime};

use agent_tracer_spool::{Reason, Spool};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::doctor_codex::trust_all;
use crate::serve::Server;
use crate::world::World;

pub(crate) const SETTINGS: &str = "home/.claude/settings.json";
const DATA: &str = "home/.local/share/agent-tracer";

/// Returns the report, whatever it says.
pub(crate) fn report(world: &World, arguments: &[&str]) -> Value {
    let answer = world.run(&[&["doctor", "--json"], arguments].concat());
    assert_eq!(answer.stderr, "");
    let report: Value = serde_json::from_str(&answer.stdout).expect("JSON");
    let failed = report.pointer("/summary/fail").and_then(Value::as_u64).expect("a number") > 0;
    assert_eq!(answer.code, i32::from(failed), "{}", answer.stdout);
    report
}

/// Returns the checks of this name as `group state text`.
pub(crate) fn checks(report: &Value, name: &str) -> Vec<String> {
    let all = report["checks"].as_array().expect("checks");
    let text = |check: &Value, field: &str| check[field].as_str().unwrap_or_default().to_owned();
    all.iter()
        .filter(|check| check["name"] == name)
        .map(|check| format!("{} {} {}", text(check, "group"), text(check, "state"), text(check, "text")))
        .collect()
}

/// Returns how to fix what the check of this name and state found.
pub(crate) fn fix(report: &Value, name: &str) -> String {
    let all = report["checks"].as_array().expect("checks");
    let check = all.iter().find(|check| check["name"] == name && check["fix"].is_string());
    check.map(|check| check["fix"].as_str().expect("text").to_owned()).unwrap_or_default()
}

#[test]
fn an_installation_with_everything_in_place_is_well() {
    let world = World::with_real_hook();
    world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    world.run(&["install", "codex"]).ended_with(0);
    trust_all(&world, "");
    let report = report(&world, &[]);
    assert_eq!(report["summary"]["fail"], 0, "{report:#}");
    assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
    let version = env!("CARGO_PKG_VERSION");
    let expected = [
        ("hook_present", "program ok the hook binary is `[W]/bin/agent-tracer-hook`".to_owned()),
        ("versions", format!("program ok both binaries are version {version}")),
        ("home", "home ok data is in `[W]/home/.local/share/agent-tracer`".to_owned()),
        ("privacy", "home ok privacy level `actions`".to_owned()),
        ("spool", "home ok the spool is empty".to_owned()),
        ("lost", "home ok no event was lost by the hooks".to_owned()),
        ("status_line", "claude ok the status line is ours".to_owned()),
        ("trust", "codex ok Codex trusts all 14 hooks".to_owned()),
    ];
    for (name, text) in expected {
        assert_eq!(checks(&report, name), [text], "{report:#}");
    }
    assert_eq!(
        checks(&report, "hooks"),
        [
            "claude ok all 31 events are registered in `[W]/home/.claude/settings.json`",
            "codex ok all 14 events are registered in `[W]/home/.codex/hooks.json`",
        ]
    );
    assert!(checks(&report, "hook_records")[0].starts_with("program ok the hook records an event ("));
}

#[test]
fn the_human_report_is_grouped_and_ends_with_a_summary() {
    let world = World::with_real_hook();
    world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    world.write(SETTINGS, "{ \"disableAllHooks\": true, }");
    let answer = world.run(&["doctor"]).ended_with(1);
    for heading in ["Program\n", "\nHome\n", "\nClaude Code\n", "\nCodex\n", "\nServer\n"] {
        assert!(answer.stdout.contains(heading), "{heading:?} in\n{}", answer.stdout);
    }
    assert!(
        answer.stdout.contains(
            "  fail  Claude Code ignores all of `[W]/home/.claude/settings.json` because of a trailing comma at line 1, column 26\n        fix: "
        ),
        "{}",
        answer.stdout
    );
    assert!(answer.stdout.ends_with("1 thing to fix, 2 things worth a look\n"), "{}", answer.stdout);
    assert!(!answer.stdout.contains('\x1b'), "no colour without a terminal");
    let brief = world.run(&["doctor", "--brief"]).ended_with(1).stdout;
    assert!(brief.starts_with("  warn  Program: ") && brief.ends_with("worth a look\n"), "{brief}");
    assert!(!brief.contains("  ok  "), "{brief}");
}

#[test]
fn doctor_changes_nothing() {
    let world = World::with_real_hook();
    world.run(&["doctor"]).ended_with(0);
    assert_eq!(world.names("home"), [""; 0]);
    assert_eq!(world.names("project"), [""; 0]);
    world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    let before = (world.names(DATA), world.names(&format!("{DATA}/spool/new")), world.read(SETTINGS));
    world.run(&["doctor"]).ended_with(0);
    assert_eq!((world.names(DATA), world.names(&format!("{DATA}/spool/new")), world.read(SETTINGS)), before);
}

#[test]
fn a_missing_a_mute_and_a_talkative_hook_differ() {
    let world = World::without_hook();
    let report_of = |script: Option<&str>| {
        if let Some(script) = script {
            world.write("bin/agent-tracer-hook", script);
            world.set_mode("bin/agent-tracer-hook", 0o755);
        }
        report(&world, &[])
    };
    let missing = report_of(None);
    assert_eq!(
        checks(&missing, "hook_present"),
        ["program fail the hook binary `[W]/bin/agent-tracer-hook` is missing"]
    );
    let mute = report_of(Some("#!/bin/sh\n/bin/cat > /dev/null\n"));
    assert_eq!(checks(&mute, "versions"), ["program fail the hook binary prints no version"]);
    assert_eq!(checks(&mute, "hook_records"), ["program fail the hook binary runs but records nothing"]);
    let talkative = report_of(Some("#!/bin/sh\necho agent-tracer-hook 9.9.9\n"));
    assert_eq!(
        checks(&talkative, "versions"),
        [format!(
            "program warn this is version {}, but the hook is version 9.9.9",
            env!("CARGO_PKG_VERSION")
        )]
    );
    assert_eq!(
        checks(&talkative, "hook_records"),
        ["program fail the hook binary printed an answer to an event, which it must not"]
    );
    world.set_mode("bin/agent-tracer-hook", 0o644);
    assert!(checks(&report(&world, &[]), "hook_present")[0].contains("is not executable"));
}

#[test]
fn without_any_agent_the_way_in_is_shown() {
    let world = World::with_real_hook();
    let report = report(&world, &[]);
    assert_eq!(checks(&report, "connected"), ["program warn no agent is connected, so nothing is recorded"]);
    assert_eq!(checks(&report, "hooks"), ["claude info not connected", "codex info not connected"]);
    assert_eq!(
        checks(&report, "client"),
        ["claude info `claude` is not on the `PATH`", "codex info `codex` is not on the `PATH`"]
    );
}

#[test]
fn clients_are_asked_for_their_version_and_a_silent_one_is_no_fault() {
    let mut world = World::with_real_hook();
    world.write("tools/claude", "#!/bin/sh\necho '2.1.325 (Claude Code)'\n");
    world.write("tools/codex", "#!/bin/sh\nexit 3\n");
    world.set_mode("tools/claude", 0o755);
    world.set_mode("tools/codex", 0o755);
    world.set("PATH", "[W]/tools");
    let report = report(&world, &[]);
    assert_eq!(
        checks(&report, "client"),
        ["claude ok `[W]/tools/claude` is 2.1.325 (Claude Code)", "codex info Codex is `[W]/tools/codex`"]
    );
}

#[test]
fn entries_that_point_elsewhere_or_nowhere_are_found() {
    let world = World::with_real_hook();
    world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    let hook = world.path("bin/agent-tracer-hook").display().to_string();
    let text = world.read(SETTINGS);
    world.write(SETTINGS, &text.replace(&hook, "/nowhere/agent-tracer-hook"));
    let gone = report(&world, &[]);
    assert_eq!(
        checks(&gone, "hook_path"),
        ["claude fail the registered hook `/nowhere/agent-tracer-hook` does not exist"]
    );
    assert_eq!(fix(&gone, "hook_path"), "agent-tracer install claude");
    assert_eq!(
        checks(&gone, "status_line"),
        ["claude fail the status line runs `/nowhere/agent-tracer-hook`, which does not exist"]
    );

    world.write("other/agent-tracer-hook", "");
    world.write(SETTINGS, &text.replace(&hook, "[W]/other/agent-tracer-hook"));
    let other = report(&world, &[]);
    assert_eq!(
        checks(&other, "hook_path"),
        ["claude warn the registered hook is `[W]/other/agent-tracer-hook`, not the one beside this program"]
    );
}

#[test]
fn a_hook_registered_by_name_has_to_be_on_the_path() {
    let mut world = World::with_real_hook();
    let template = world.run(&["install", "claude", "--print"]).stdout;
    world.write("project/.claude/settings.json", &template);
    let absent = report(&world, &[]);
    assert_eq!(
        checks(&absent, "hook_path"),
        ["claude fail `agent-tracer-hook` is registered by name, but it is not on the `PATH`"]
    );
    assert_eq!(fix(&absent, "hook_path"), "agent-tracer install claude --scope project");
    world.set("PATH", "[W]/bin");
    assert_eq!(checks(&report(&world, &[]), "hook_path"), [""; 0]);
}

#[test]
fn missing_events_are_named_unless_they_were_left_out_on_purpose() {
    let world = World::with_real_hook();
    world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    let mut settings = world.json(SETTINGS);
    settings["hooks"].as_object_mut().expect("hooks").remove("SubagentStop");
    world.write(SETTINGS, &settings.to_string());
    assert_eq!(
        checks(&report(&world, &[]), "hooks")[0],
        "claude warn 30 of 31 events are registered in `[W]/home/.claude/settings.json`; missing: SubagentStop"
    );
    world
        .run(&["install", "claude", "--client-version", "2.1.326", "--events", "Stop,SessionEnd"])
        .ended_with(0);
    assert_eq!(
        checks(&report(&world, &[]), "hooks")[0],
        "claude info 2 of 31 events are registered in `[W]/home/.claude/settings.json`, as chosen with `--events`"
    );
}

#[test]
fn events_that_change_the_agent_are_a_fault() {
    let world = World::with_real_hook();
    let entry =
        json!([{"hooks": [{"type": "command", "command": "[W]/bin/agent-tracer-hook", "args": ["claude"]}]}]);
    let settings = json!({"hooks": {"WorktreeCreate": entry, "MessageDisplay": entry}});
    world.write(SETTINGS, &settings.to_string());
    let report = report(&world, &[]);
    assert_eq!(
        checks(&report, "forbidden_event"),
        ["claude fail `WorktreeCreate` is registered, which breaks worktrees"]
    );
    assert_eq!(checks(&report, "opt_in_event").len(), 1);
}

#[test]
fn an_older_form_of_our_entries_is_found() {
    let world = World::with_real_hook();
    world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    let mut settings = world.json(SETTINGS);
    settings["hooks"]["Stop"][0]["hooks"][0]["async"] = json!(true);
    settings["hooks"]["PreCompact"][0].as_object_mut().expect("a group").remove("matcher");
    world.write(SETTINGS, &settings.to_string());
    assert_eq!(
        checks(&report(&world, &[]), "form"),
        ["claude warn registered in an older form: Stop, PreCompact"]
    );
    world.run(&["install", "claude", "--client-version", "2.1.326", "--tools", "Bash"]).ended_with(0);
    assert_eq!(checks(&report(&world, &[]), "form"), [""; 0], "a choice of tools is no older form");
}

#[test]
fn losses_and_quarantine_are_shown_with_their_reasons() {
    let world = World::with_real_hook();
    world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    let spool = Spool::at(&world.path(&format!("{DATA}/spool")));
    for reason in [Reason::Full, Reason::Io, Reason::Full, Reason::Full] {
        assert!(spool.count_loss(reason));
    }
    world.write(&format!("{DATA}/spool/quarantine/00000000000000000001-1-0"), "torn");
    world.write(&format!("{DATA}/spool/quarantine/00000000000000000001-1-0.reason"), "torn");
    let report = report(&world, &[]);
    assert_eq!(checks(&report, "lost"), ["home warn 4 events lost since `install`: full 3, io 1"]);
    assert_eq!(
        checks(&report, "quarantine"),
        ["home warn 1 file was put aside because it could not be read or kept"]
    );
}

#[test]
fn a_faulty_configuration_names_line_and_level() {
    let world = World::with_real_hook();
    world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    world.write("home/.config/agent-tracer/privacy.conf", "level everything\nlevel full\nlevel metadata\n");
    let faulty = report(&world, &[]);
    assert_eq!(
        checks(&faulty, "privacy"),
        [
            "home warn `[W]/home/.config/agent-tracer/privacy.conf`, line 1: unknown level `everything`; everything is treated as `metadata` (and 1 more); the level in use is `metadata`"
        ]
    );
    assert!(fix(&faulty, "privacy").contains("level metadata"));
    world.write("home/.config/agent-tracer/privacy.conf", "level full\nexclude ~/secret/**\n");
    assert_eq!(checks(&report(&world, &[]), "privacy"), ["home ok privacy level `full`, 1 pattern excluded"]);
}

#[test]
fn what_others_may_read_is_found() {
    let world = World::with_real_hook();
    world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    world.set_mode(DATA, 0o755);
    world.set_mode(&format!("{DATA}/key"), 0o644);
    let report = report(&world, &[]);
    assert_eq!(
        checks(&report, "home"),
        ["home warn other users can read `[W]/home/.local/share/agent-tracer`"]
    );
    assert_eq!(
        checks(&report, "permissions"),
        ["home fail other users can read '[W]/home/.local/share/agent-tracer/key'"]
    );
    assert_eq!(fix(&report, "permissions"), "chmod go= '[W]/home/.local/share/agent-tracer/key'");
}

#[test]
fn another_home_than_the_registered_one_is_pointed_out() {
    let world = World::with_real_hook();
    world.run(&["install", "claude", "--client-version", "2.1.326", "--home", "[W]/tracer"]).ended_with(0);
    let other = report(&world, &[]);
    assert_eq!(
        checks(&other, "hook_home"),
        ["claude warn events go to `[W]/tracer`, not to the home of this report"]
    );
    assert_eq!(checks(&report(&world, &["--home", "[W]/tracer"]), "hook_home"), [""; 0]);
}

#[test]
fn recording_that_is_switched_off_is_pointed_out() {
    let mut world = World::with_real_hook();
    world.set("AGENT_TRACER_OFF", "1");
    assert_eq!(checks(&report(&world, &[]), "switched_off").len(), 1);
    assert!(
        checks(&report(&world, &[]), "hook_records")[0].starts_with("program ok "),
        "the trial itself is not off"
    );
    world.set("AGENT_TRACER_OFF", "0");
    assert_eq!(checks(&report(&world, &[]), "switched_off"), [""; 0]);
}

#[test]
fn the_days_left_for_the_oldest_transcript_are_counted() {
    let world = World::with_real_hook();
    world.write("home/.claude/projects/-src-shop/a.jsonl", "{}\n");
    world.write("home/.claude/projects/-src-shop/b.jsonl", "{}\n");
    world.write("home/.claude/projects/-src-shop/notes.txt", "");
    #[expect(clippy::disallowed_methods, reason = "the age of a file is a matter of the real clock")]
    let old = SystemTime::now() - Duration::from_secs(26 * 86_400 + 60);
    let touch = |name: &str, time| {
        let file = fs::File::options().write(true).open(world.path(name)).expect("a file");
        file.set_modified(time).expect("a time");
    };
    touch("home/.claude/projects/-src-shop/b.jsonl", old);
    touch("home/.claude/projects/-src-shop/notes.txt", SystemTime::UNIX_EPOCH);
    assert_eq!(
        checks(&report(&world, &[]), "transcripts"),
        ["claude warn Claude Code deletes transcripts after 30 days; the oldest has 4 left"]
    );
    world.write(SETTINGS, "{\"cleanupPeriodDays\": 365}");
    assert_eq!(
        checks(&report(&world, &[]), "transcripts"),
        ["claude info Claude Code deletes transcripts after 365 days; the oldest has 339 left"]
    );
}

#[test]
fn the_plugin_counts_as_a_connection() {
    let world = World::with_real_hook();
    world.write(SETTINGS, "{\"enabledPlugins\": {\"agent-tracer@agent-tracer\": true}}");
    let report = report(&world, &[]);
    assert_eq!(checks(&report, "plugin"), ["claude info connected by the plugin"]);
    assert_eq!(checks(&report, "connected"), [""; 0]);
}

#[test]
fn waiting_events_are_counted_with_their_size() {
    let world = World::with_real_hook();
    world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    world.run(&["statusline"]).ended_with(0);
    assert_eq!(checks(&report(&world, &[]), "spool"), ["home ok 1 event waits in the spool (1 KB)"]);
}

#[test]
fn text_from_settings_does_not_steer_the_terminal() {
    let world = World::with_real_hook();
    world.write(SETTINGS, r#"{"statusLine": {"type": "command", "command": "x\u001b[2Jy"}}"#);
    let seen = world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    assert!(seen.stderr.contains("x\u{fffd}[2Jy"), "{}", seen.stderr);
    let report = world.run(&["doctor"]).ended_with(0);
    assert!(report.stdout.contains("x\u{fffd}[2Jy") && !report.stdout.contains('\x1b'), "{}", report.stdout);
}

#[test]
fn a_chained_status_line_is_shown() {
    let world = World::with_real_hook();
    world.write(SETTINGS, "{\"statusLine\": {\"type\": \"command\", \"command\": \"mine\"}}");
    world.run(&["install", "claude", "--client-version", "2.1.326", "--no-statusline"]).ended_with(0);
    assert!(
        checks(&report(&world, &[]), "status_line")[0].starts_with("claude info the status line is your own")
    );
    world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    assert_eq!(
        checks(&report(&world, &[]), "status_line"),
        ["claude ok the status line is ours and runs yours (`mine`)"]
    );
}

#[test]
fn a_spool_that_is_no_folder_is_said_to_record_nothing() {
    let world = World::with_real_hook();
    world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    let spool = world.path(DATA).join("spool");
    fs::remove_dir_all(&spool).expect("the spool");
    fs::File::create(&spool).expect("a file in its place");
    let report = report(&world, &[]);
    let seen = checks(&report, "home");
    assert_eq!(
        seen,
        ["home fail nothing can be recorded: `[W]/home/.local/share/agent-tracer/spool` is not a folder"]
    );
    assert!(fix(&report, "home").starts_with("move "), "{report:#}");
}

#[test]
fn posts_that_had_to_go_are_a_loss_that_is_reported_everywhere() {
    let world = World::without_hook();
    let server = Server::start(&world);
    assert_eq!(checks(&report(&world, &[]), "lost_posts"), Vec::<String>::new());
    world.write(&format!("{DATA}/ledger.db.aside/lost"), "...");
    let seen = report(&world, &[]);
    let said = checks(&seen, "lost_posts");
    assert!(
        said.len() == 1 && said[0].starts_with("home warn 3 posted events could not be written"),
        "{said:?}"
    );
    assert!(fix(&seen, "lost_posts").contains("ledger.db.aside"));
    let health = server.get("/api/v1/health");
    assert!(health.contains("\"set_aside\":3"), "{health}");
    let metrics = server.get("/metrics");
    assert!(metrics.contains("agent_tracer_lost_total{reason=\"set_aside\"} 3"), "{metrics}");
    server.end(Signal::SIGTERM);
}
