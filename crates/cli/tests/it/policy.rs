//! Rules from the command line: written, checked, tried, listed, trusted, and obeyed.

use serde_json::Value;

use crate::world::World;

const USER: &str = "home/.config/agent-tracer/policy.toml";
const PROJECT: &str = "project/.agent-tracer/policy.toml";

const DENY: &str = "version = 1
[[rule]]
name = \"no-delete\"
on = \"PreToolUse\"
decision = \"deny\"
reason = \"keep it\"
match.command = { effect = \"delete\" }
[[rule.example]]
tool = \"Bash\"
input = { command = \"sudo rm -rf x\" }
expect = \"deny\"
";

const ALLOW: &str = "version = 1
[[rule]]
name = \"reading\"
on = \"PreToolUse\"
decision = \"allow\"
match.tool = \"Read\"
";

fn payload(tool: &str, input: &str) -> String {
    format!(
        "{{\"session_id\": \"s\", \"cwd\": \"[W]/project\", \"hook_event_name\": \"PreToolUse\", \"tool_name\": \"{tool}\", \"tool_input\": {input}}}"
    )
}

fn deletes() -> String {
    payload("Bash", "{\"command\": \"sudo rm -rf build\"}")
}

#[test]
fn a_new_file_is_sound_and_does_nothing() {
    let world = World::new();
    let answer = world.run(&["policy", "init"]).ended_with(0);
    assert_eq!(answer.stdout, "");
    assert!(answer.stderr.contains("no rule in it is in force yet"), "{}", answer.stderr);
    assert_eq!(world.mode(USER), 0o600);
    let answer = world.run(&["policy", "check"]).ended_with(0);
    assert_eq!(answer.stdout, format!("[W]/{USER}: 0 rules\n"));
    let again = world.run(&["policy", "init"]).ended_with(1);
    assert!(again.stderr.contains("already exists"), "{}", again.stderr);
    world.run(&["policy", "init", "--project"]).ended_with(0);
    assert!(world.exists(PROJECT));
    let printed = world.run(&["policy", "init", "--print"]).ended_with(0);
    assert_eq!(printed.stdout, world.read(USER));
    let answer = world.run_with("project", &["guard", "claude"], &deletes()).ended_with(0);
    assert_eq!((answer.stdout.as_str(), answer.stderr.as_str()), ("", ""));
}

#[test]
fn faults_are_reported_with_file_line_and_column() {
    let world = World::new();
    let none = world.run(&["policy", "check"]).ended_with(1);
    assert!(none.stderr.contains("no rules") && none.stderr.contains("policy init"), "{}", none.stderr);
    world.write(USER, &DENY.replace("decision", "desicion"));
    let answer = world.run(&["policy", "check"]).ended_with(1);
    assert_eq!(
        answer.stderr,
        format!(
            "error: [W]/{USER}:2:1: `decision` is missing\nerror: [W]/{USER}:5:1: a rule has no key `desicion`\n  hint: did you mean `decision`?\n"
        )
    );
    let json: Value =
        serde_json::from_str(&world.run(&["policy", "check", "--json"]).ended_with(1).stdout).unwrap();
    assert_eq!(json["files"][0]["faults"][1]["column"], 1);
    let missing = world.run(&["policy", "check", "nowhere.toml"]).ended_with(1);
    assert!(missing.stderr.contains("no file `[W]/project/nowhere.toml`"), "{}", missing.stderr);
    // Rules that are broken are not silently not in force.
    let answer = world.run_with("project", &["guard", "claude"], &deletes()).ended_with(1);
    assert_eq!(answer.stdout, "");
    assert!(answer.stderr.contains("are not in force: 2:1: `decision` is missing"), "{}", answer.stderr);
}

#[test]
fn examples_are_tried() {
    let world = World::new();
    world.write(USER, DENY);
    let answer = world.run(&["policy", "test"]).ended_with(0);
    assert_eq!(answer.stdout, "1 example, 0 failed\n");
    world.write("project/draft.toml", &DENY.replace("expect = \"deny\"", "expect = \"ask\""));
    let answer = world.run(&["policy", "test", "draft.toml"]).ended_with(1);
    assert_eq!(answer.stdout, "1 example, 1 failed\n");
    assert_eq!(
        answer.stderr,
        "error: [W]/project/draft.toml:8: example of `no-delete` should be `ask` and is `deny` by `no-delete`\n"
    );
    world.write("project/draft.toml", ALLOW);
    let answer = world.run(&["policy", "test", "draft.toml"]).ended_with(1);
    assert!(answer.stderr.contains("no examples to run"), "{}", answer.stderr);
}

#[test]
fn a_projects_rules_are_trusted_as_they_are_and_no_longer_when_they_change() {
    let world = World::new();
    world.write(PROJECT, ALLOW);
    let reads = payload("Read", "{\"file_path\": \"a\"}");
    let state = |world: &World| {
        let listed = world.run(&["policy", "list", "--json"]).ended_with(0).stdout;
        let json: Value = serde_json::from_str(&listed).unwrap();
        format!(
            "{} {}",
            json["rules"][0]["origin"].as_str().unwrap(),
            json["rules"][0]["state"].as_str().unwrap()
        )
    };
    let said = |world: &World| world.run_with("project", &["guard", "claude"], &reads).ended_with(0).stdout;
    assert_eq!(state(&world), "project not_trusted");
    assert_eq!(said(&world), "");
    let answer = world.run(&["policy", "trust", "."]).ended_with(0);
    assert!(answer.stderr.contains("now in force: `reading` may allow"), "{}", answer.stderr);
    assert_eq!(state(&world), "trusted_project enforce");
    assert!(said(&world).contains("\"permissionDecision\":\"allow\""));
    assert_eq!(world.mode("home/.local/share/agent-tracer/policy-trust.json"), 0o600);
    world.write(PROJECT, &format!("{ALLOW}\n"));
    assert_eq!(state(&world), "project not_trusted");
    world.write(PROJECT, ALLOW);
    assert_eq!(state(&world), "trusted_project enforce");
    world.run(&["policy", "trust", ".", "--undo"]).ended_with(0);
    assert_eq!(state(&world), "project not_trusted");
    world.run(&["policy", "trust", ".", "--undo"]).ended_with(1);
    world.write(PROJECT, "version = 3");
    let broken = world.run(&["policy", "trust", "."]).ended_with(1);
    assert!(broken.stderr.contains("`version` is 3"), "{}", broken.stderr);
}

/// The rows of the table that hooks read: project, tool, rule. Empty if there is none.
fn table(world: &World) -> Vec<String> {
    let path = world.path("home/.local/share/agent-tracer/policy.tbl");
    let Ok(bytes) = std::fs::read(&path) else { return Vec::new() };
    let table = agent_tracer_policy_abi::Table::open(&bytes).expect("sound");
    assert_eq!(table.guard(), world.path("bin/agent-tracer").as_os_str().as_encoded_bytes());
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    let rows =
        table.rows().filter(|row| row.agent == b"claude_code" && matches!(row.tool, b"Bash" | b"Read"));
    rows.map(|row| format!("{} {} {}", text(row.project), text(row.tool), text(row.rule))).collect()
}

#[test]
fn applying_puts_rules_in_force_for_hooks_and_trusting_does_too() {
    let world = World::new();
    world.run(&["policy", "apply"]).ended_with(0);
    assert_eq!(table(&world), Vec::<String>::new());
    world.write(USER, DENY);
    world.write(PROJECT, ALLOW);
    let answer = world.run(&["policy", "apply"]).ended_with(0);
    assert!(answer.stderr.contains("in force: 2 rules here"), "{}", answer.stderr);
    assert_eq!(table(&world), [" Bash user/no-delete"]);
    world.run(&["policy", "trust", "."]).ended_with(0);
    let project = world.path("project");
    let trusted = format!("{} Read trusted_project/reading", project.display());
    assert_eq!(table(&world), [" Bash user/no-delete".to_owned(), trusted]);
    world.run(&["policy", "trust", ".", "--undo"]).ended_with(0);
    assert_eq!(table(&world), [" Bash user/no-delete"]);
    world.write(USER, "version = 3");
    let broken = world.run(&["policy", "apply"]).ended_with(1);
    assert!(
        broken.stderr.contains("`version` is 3") && broken.stderr.contains("hint: "),
        "{}",
        broken.stderr
    );
    assert_eq!(table(&world), [" Bash user/no-delete"], "what was in force still is");
}

#[test]
fn a_server_puts_an_edit_in_force_by_itself_and_says_what_is_wrong() {
    let world = World::without_hook();
    world.write(USER, DENY);
    let mut server = crate::serve::Server::start(&world);
    assert_eq!(table(&world), [" Bash user/no-delete"], "before the address is printed");
    world.write(USER, "version = 1\n");
    server.read_until("rules in force: 0");
    assert_eq!(table(&world), Vec::<String>::new());
    world.write(USER, &DENY.replace("deny", "denny"));
    server.read_until("are not in force");
    assert!(server.get("/api/v1/health").contains("are not in force"));
    world.write(USER, &DENY.replace("no-delete", "other"));
    server.read_until("rules in force: 1");
    assert_eq!(table(&world), [" Bash user/other"]);
    server.end(nix::sys::signal::Signal::SIGTERM);
}

/// The decisions that wait in the spool.
fn decisions(world: &World) -> Vec<Value> {
    let folder = "home/.local/share/agent-tracer/spool/new";
    let mut all = Vec::new();
    for name in world.names(folder) {
        let bytes = std::fs::read(world.path(folder).join(name)).expect("an envelope");
        let parsed = agent_tracer_spool::envelope::parse(&bytes).expect("whole");
        if parsed.header.channel == agent_tracer_spool::envelope::Channel::Decision {
            all.push(serde_json::from_slice(parsed.body).expect("JSON"));
        }
    }
    all
}

#[test]
fn without_a_server_the_real_hook_is_answered_by_the_guard_and_the_decision_is_kept() {
    let world = World::with_real_hook();
    world.write(USER, DENY);
    let hook = |input: &str| world.hook("project", "claude", input).ended_with(0);
    // No table was written yet: the first event finds the rules all the same, and writes it.
    assert_eq!(table(&world), Vec::<String>::new());
    let answer = hook(&deletes());
    assert!(!table(&world).is_empty());
    assert!(answer.stdout.contains("\"permissionDecision\":\"deny\""), "{answer:?}");
    assert_eq!(answer.stderr, "");
    for harmless in [payload("Bash", "{\"command\": \"ls\"}"), payload("Read", "{\"file_path\": \"a\"}")] {
        let answer = hook(&harmless);
        assert_eq!((answer.stdout.as_str(), answer.stderr.as_str()), ("", ""));
    }
    let decisions = decisions(&world);
    let [decision] = decisions.as_slice() else { panic!("{decisions:?}") };
    assert_eq!(decision["decision"]["answered_by"], "guard");
    assert_eq!(decision["decision"]["rules"][0]["rule"], "no-delete");
    assert_eq!(decision["session_id"], "s");
    assert_eq!(decision.get("tool_input"), None, "nothing of what the agent wanted to do");
}

#[test]
fn a_person_who_asks_the_guard_leaves_no_record() {
    let world = World::new();
    world.write(USER, DENY);
    world.run_with("project", &["guard", "claude"], &deletes()).ended_with(0);
    assert_eq!(decisions(&world), Vec::<Value>::new());
}

#[test]
fn rules_that_broke_after_they_were_in_force_still_hold_as_an_outage() {
    let world = World::with_real_hook();
    world.write(USER, &DENY.replace("match.command", "on_outage = \"deny\"\nmatch.command"));
    world.run(&["policy", "apply"]).ended_with(0);
    world.write(USER, "version = ");
    let answer = world.hook("project", "claude", &deletes()).ended_with(0);
    assert!(answer.stdout.contains("\"permissionDecision\":\"deny\""), "{answer:?}");
}

#[test]
fn lists_say_what_is_in_force() {
    let world = World::new();
    let none = world.run(&["policy", "list"]).ended_with(0);
    assert!(none.stderr.contains("no rules"), "{}", none.stderr);
    world.write(USER, DENY);
    let answer = world.run(&["policy", "list"]).ended_with(0);
    assert_eq!(
        answer.stdout,
        "RULE       FROM  STATE    DECISION  SEVERITY  ON\nno-delete  user  enforce  deny      medium    PreToolUse\n"
    );
}

#[test]
fn the_guard_answers_each_agent_in_its_words_and_nothing_else() {
    let world = World::new();
    world.write(USER, DENY);
    for agent in ["claude", "codex"] {
        let answer = world.run_with("project", &["guard", agent], &deletes()).ended_with(0);
        assert_eq!(
            answer.stdout,
            "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"[policy rule `no-delete`] keep it\"}}\n"
        );
        assert_eq!(answer.stderr, "");
    }
    let harmless = payload("Bash", "{\"command\": \"ls\"}");
    let unknown = "{\"hook_event_name\": \"SomethingNew\"}".to_owned();
    for input in [harmless, unknown] {
        let answer = world.run_with("project", &["guard", "claude"], &input).ended_with(0);
        assert_eq!((answer.stdout.as_str(), answer.stderr.as_str()), ("", ""));
    }
    for input in ["", "not json", "[]"] {
        let answer = world.run_with("project", &["guard", "claude"], input).ended_with(1);
        assert_eq!(answer.stdout, "");
        assert!(answer.stderr.starts_with("error: cannot read the event: "), "{}", answer.stderr);
    }
}

#[test]
fn a_project_cannot_take_the_users_rules_away_and_walking_away_does_not_help() {
    let mut world = World::new();
    world.write(USER, DENY);
    world.write(PROJECT, "version = \"broken\"");
    let answer = world.run_with("project", &["guard", "claude"], &deletes()).ended_with(0);
    assert!(answer.stdout.contains("\"deny\""), "{}", answer.stdout);
    assert!(answer.stderr.contains("are not in force"), "{}", answer.stderr);
    world.write(USER, "version = 1\n");
    world.write(PROJECT, DENY);
    world.write("elsewhere/.git/HEAD", "");
    let away = deletes().replace("[W]/project", "[W]/elsewhere");
    let answer = world.run_with("elsewhere", &["guard", "claude"], &away).ended_with(0);
    assert_eq!(answer.stdout, "");
    world.set("CLAUDE_PROJECT_DIR", "[W]/project");
    let answer = world.run_with("elsewhere", &["guard", "claude"], &away).ended_with(0);
    assert!(answer.stdout.contains("\"deny\""), "{}", answer.stdout);
}

#[test]
fn an_exit_code_is_the_answer_where_the_agent_reads_it() {
    // Without a counter nothing is deferred at `TaskCompleted`; the user is informed.
    let world = World::new();
    world.write(
        USER,
        "version = 1\n[[rule]]\nname = \"r\"\non = \"TaskCompleted\"\ndecision = \"deny\"\nreason = \"no\"\n",
    );
    let input = "{\"hook_event_name\": \"TaskCompleted\", \"cwd\": \"[W]/project\", \"task_id\": \"1\"}";
    let answer = world.run_with("project", &["guard", "claude"], input).ended_with(0);
    assert_eq!(answer.stdout, "{\"systemMessage\":\"not put off any longer: [policy rule `r`] no\"}\n");
}

/// Imports a session in which a folder was deleted and a file was read.
fn with_history() -> World {
    let world = World::new();
    let session = "6f1d7f31-52a5-4b70-9a55-3a7f6d1c0001";
    let row = |uuid: u32, kind: &str, message: Value| {
        serde_json::json!({"type": kind, "uuid": format!("u{uuid}"), "parentUuid": null, "isSidechain": false,
            "sessionId": session, "timestamp": format!("2026-11-15T10:00:{uuid:02}.000Z"), "cwd": "/code",
            "version": "2.1.325", "message": message})
        .to_string()
            + "\n"
    };
    let call = |id: &str, tool: &str, input: Value| {
        serde_json::json!({"id": format!("msg_{id}"), "role": "assistant", "model": "claude-opus-4-1", "type": "message",
            "content": [{"type": "tool_use", "id": id, "name": tool, "input": input}],
            "usage": {"input_tokens": 10, "output_tokens": 5}})
    };
    let text = [
        row(1, "user", serde_json::json!({"role": "user", "content": "clean up"})),
        row(2, "assistant", call("toolu_1", "Bash", serde_json::json!({"command": "sudo rm -rf build"}))),
        row(3, "assistant", call("toolu_2", "Read", serde_json::json!({"file_path": "/code/a.rs"}))),
    ]
    .concat();
    world.write(&format!("home/.claude/projects/-code/{session}.jsonl"), &text);
    world.run(&["import", "claude"]).ended_with(0);
    world
}

#[test]
fn a_draft_is_replayed_over_the_history() {
    let world = with_history();
    world.write("project/draft.toml", DENY);
    let arguments = ["policy", "backtest", "draft.toml", "--since", "2026-11-01"];
    let answer = world.run(&arguments).ended_with(0);
    let line = answer.stdout.lines().nth(1).unwrap_or_default().split_whitespace().collect::<Vec<_>>();
    assert_eq!(line, ["no-delete", "1", "0", "0", "0", "0", "0", "0"], "{}", answer.stdout);
    assert!(answer.stdout.contains("  deny    "), "{}", answer.stdout);
    assert!(answer.stderr.contains("2 calls of 1 tasks"), "{}", answer.stderr);
    let json = world.run(&[&arguments[..], &["--json"]].concat()).ended_with(0);
    let found: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(found["rules"][0]["decisions"]["denied"], 1, "{found}");
    let task = found["rules"][0]["examples"][0]["taskId"].as_str().unwrap();
    world.run(&["show", task]).ended_with(0);
    let later =
        world.run(&["policy", "backtest", "draft.toml", "--since", "2026-11-16", "--json"]).ended_with(0);
    assert_eq!(serde_json::from_str::<Value>(&later.stdout).unwrap()["calls"], 0);
}

#[test]
fn a_back_test_says_what_it_cannot_do() {
    let world = World::new();
    let none = world.run(&["policy", "backtest"]).ended_with(1);
    assert!(none.stderr.contains("no rules to replay") && none.stderr.contains("hint: "), "{}", none.stderr);
    world.write(USER, &DENY.replace("decision", "desicion"));
    let broken = world.run(&["policy", "backtest"]).ended_with(1);
    assert!(broken.stderr.contains("policy check"), "{}", broken.stderr);
    world.write(USER, DENY);
    let empty = world.run(&["policy", "backtest"]).ended_with(0);
    assert!(empty.stderr.contains("nothing is recorded"), "{}", empty.stderr);
    let when = world.run(&["policy", "backtest", "--since", "soon"]).ended_with(2);
    assert!(when.stderr.contains("invalid time `soon`"), "{}", when.stderr);
}

#[test]
fn verifiers_are_written_into_the_users_settings_and_go_with_everything_else() {
    const SETTINGS: &str = "home/.claude/settings.json";
    let world = World::new();
    let own = "{\n  \"hooks\": {\n    \"Stop\": [{\"hooks\": [{\"type\": \"prompt\", \"prompt\": \"mine\"}]}]\n  }\n}\n";
    world.write(SETTINGS, own);
    let rule = |name: &str, by: &str| {
        format!(
            "[[rule]]\nname = \"{name}\"\non = \"Stop\"\ndecision = \"deny\"\nverify = \"{by}\"\nmatch.agent = \"claude_code\"\ncondition = \"the docs follow\"\n"
        )
    };
    world.write(USER, &format!("version = 1\n{}", rule("docs", "prompt")));
    // A project's file writes nothing into the user's settings.
    world.write(PROJECT, &format!("version = 1\n{}", rule("theirs", "prompt")));
    let answer = world.run(&["policy", "apply"]).ended_with(0);
    assert!(answer.stderr.contains("install claude"), "{}", answer.stderr);
    assert_eq!(world.read(SETTINGS), own, "nothing is written where nothing is installed");
    world.run(&["install", "claude", "--client-version", "2.1.326", "--no-statusline"]).ended_with(0);
    let installed = world.read(SETTINGS);
    let output = world.run(&["policy", "check"]).ended_with(0);
    assert!(
        output.stderr.contains("verifies rule `docs` is not in") && output.stderr.contains("policy apply")
    );
    world.run(&["policy", "apply"]).ended_with(0);
    let asked = |world: &World| -> Vec<String> {
        let groups = world.json(SETTINGS)["hooks"]["Stop"].as_array().cloned().unwrap_or_default();
        let handlers = groups.iter().flat_map(|group| group["hooks"].as_array().cloned().unwrap_or_default());
        handlers
            .filter_map(|handler| {
                Some(format!("{}: {}", handler["type"].as_str()?, handler["prompt"].as_str()?))
            })
            .collect()
    };
    assert_eq!(asked(&world), ["prompt: mine", "prompt: [Agent Tracer rule `docs`] the docs follow"]);
    for command in ["check", "list"] {
        let quiet = world.run(&["policy", command]).ended_with(0);
        assert!(!quiet.stderr.contains("verifies"), "{}", quiet.stderr);
    }
    world.write(USER, &format!("version = 1\n{}", rule("docs", "agent")));
    let output = world.run(&["policy", "list"]).ended_with(0);
    assert!(output.stderr.contains("verifies an older form of rule"), "{}", output.stderr);
    world.run(&["policy", "apply"]).ended_with(0);
    assert_eq!(asked(&world), ["prompt: mine", "agent: [Agent Tracer rule `docs`] the docs follow"]);
    world.write(USER, "version = 1\n[[rule]]\nname = 7\n");
    world.run(&["policy", "apply"]).ended_with(1);
    assert_eq!(asked(&world).len(), 2, "broken rules take nothing away");
    world.write(USER, "version = 1\n");
    world.run(&["policy", "apply"]).ended_with(0);
    assert_eq!(world.read(SETTINGS), installed);
    world.write(USER, &format!("version = 1\n{}", rule("docs", "prompt")));
    world.run(&["policy", "apply"]).ended_with(0);
    world.run(&["uninstall", "claude"]).ended_with(0);
    assert_eq!(world.read(SETTINGS), own);
}
