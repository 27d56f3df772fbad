//! The commands that ask: what they answer is what the store answers.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use agent_tracer_event::{CallState, TaskId};
use agent_tracer_ledger::view::{Row, Task, ToolStat};
use agent_tracer_ledger::{Paging, Range, RowFilter, SearchFilter};
use serde_json::Value;

use crate::history::{full, json, nested, short, store, tasks};
use crate::world::World;

fn ids(answer: &Value) -> Vec<&str> {
    answer["items"]
        .as_array()
        .expect("items")
        .iter()
        .map(|task| task["id"].as_str().expect("an id"))
        .collect()
}

fn paging(limit: u32) -> Paging {
    Paging { limit, ..Paging::default() }
}

#[test]
fn tasks_are_those_of_the_store_newest_first_and_narrowed_like_there() {
    let world = full();
    let all = tasks(&world);
    let expected: Vec<&str> = all.iter().map(|task| task.id.as_str()).collect();
    assert_eq!(ids(&json(&world, &["tasks", "--limit", "1000"])), expected);
    let first = json(&world, &["tasks"]);
    assert_eq!(ids(&first), expected[..20]);
    let cursor = first["nextCursor"].as_str().expect("more").to_owned();
    assert_eq!(ids(&json(&world, &["tasks", "--cursor", &cursor])), expected[20..40]);
    let item: Task = serde_json::from_value(first["items"][0].clone()).expect("the API's shape");
    assert_eq!(item.title, all[0].title);

    let narrowed = |is_meant: &dyn Fn(&Task) -> bool| -> Vec<&str> {
        all.iter().filter(|task| is_meant(task)).map(|task| task.id.as_str()).collect()
    };
    let asked = |words: &[&str]| {
        let mut arguments = vec!["tasks", "--limit", "1000"];
        arguments.extend(words);
        let answer = json(&world, &arguments);
        ids(&answer).iter().map(|id| (*id).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(asked(&["--agent", "codex"]), narrowed(&|task| task.agent.as_str() == "codex"));
    assert_eq!(asked(&["--agent", "claude_code"]), asked(&["--agent", "claude"]));
    assert_eq!(asked(&["--kind", "background"]), narrowed(&|task| task.parent_task_id.is_some()));
    assert_eq!(asked(&["--failed-calls"]), narrowed(&|task| task.tree_failure_count > 0));
    assert_eq!(asked(&["--since", "2030-01-01"]), Vec::<String>::new());
    assert_eq!(asked(&["--until", "2000-01-01"]), Vec::<String>::new());
    let project = &all[0].project;
    assert_eq!(asked(&["--project", project]), narrowed(&|task| task.project == *project));
    assert!(!asked(&["--status", "failed,completed"]).is_empty());
}

#[test]
fn subagents_stand_below_the_task_that_started_them() {
    let world = full();
    let root = nested();
    let answer = json(&world, &["tasks", "--tree", "--limit", "1000"]);
    let nodes = answer["items"].as_array().expect("items");
    let at = nodes.iter().position(|node| node["task"]["id"] == root.as_str()).expect("the task");
    let depths: Vec<u64> =
        nodes[at..at + 3].iter().map(|node| node["depth"].as_u64().expect("a depth")).collect();
    assert_eq!(depths, [0, 1, 2]);
    let text = world.run(&["tasks", "--tree", "--limit", "1000"]).ended_with(0).stdout;
    let lines: Vec<&str> = text.lines().collect();
    let line = lines.iter().position(|line| line.contains(short(&root))).expect("the task");
    let title = |line: &str| line.find(" Scripted").or(line.find(" Delegate")).expect("a title");
    assert!(
        title(lines[line]) < title(lines[line + 1]) && title(lines[line + 1]) < title(lines[line + 2]),
        "{text}"
    );
}

#[test]
fn a_table_has_a_line_for_each_task_and_says_that_there_are_more() {
    let world = full();
    let answer = world.run(&["tasks", "--limit", "3"]).ended_with(0);
    let lines: Vec<&str> = answer.stdout.lines().collect();
    assert_eq!(lines.len(), 4, "{}", answer.stdout);
    for column in ["STATUS", "AGE", "AGENT", "PROJECT", "CALLS", "FAILED", "TOKENS", "COST", "ID", "TITLE"] {
        assert!(lines[0].contains(column), "{}", lines[0]);
    }
    for (line, task) in lines[1..].iter().zip(tasks(&world)) {
        assert!(line.contains(short(&task.id)) && line.contains(&task.title), "{line}");
    }
    assert!(answer.stderr.contains("--limit 15"), "{}", answer.stderr);
    assert!(!answer.stdout.contains('\x1b'));
}

#[test]
fn a_task_is_shown_by_any_of_its_names() {
    let world = full();
    let root = nested();
    let by_id = json(&world, &["show", &root]);
    assert_eq!(by_id["task"]["id"], root.as_str());
    assert_eq!(by_id["tree"]["items"].as_array().expect("a tree").len(), 3);
    let store = store(&world);
    let id = TaskId::parse(&root).expect("an id");
    let turns = store.turns(&id, &paging(500)).expect("turns");
    assert_eq!(by_id["turns"], serde_json::to_value(turns).expect("JSON"));
    let calls = store.tool_calls(&id, &RowFilter { paging: paging(500), ..RowFilter::default() });
    assert_eq!(by_id["toolCalls"], serde_json::to_value(calls.expect("calls")).expect("JSON"));
    let files = store.task_files(&id, true, &paging(500)).expect("files");
    assert_eq!(by_id["files"], serde_json::to_value(files).expect("JSON"));
    assert_eq!(by_id["summary"]["agents"], 2);
    for name in [short(&root), "2ebc5ab6-4a16-4d07-8e32-a49967836261", "2ebc5ab6"] {
        assert_eq!(json(&world, &["show", name])["task"]["id"], root.as_str(), "{name}");
    }
    let newest = tasks(&world).into_iter().find(|task| task.parent_task_id.is_none()).expect("a task");
    assert_eq!(json(&world, &["show", "last"])["task"]["id"], newest.id.as_str());
    let text = world.run(&["show", &root]).ended_with(0).stdout;
    for part in ["Delegate [[agent_nested]]", "Turns", "Calls", "Subagents", "tokens", "/home/dev/project"] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    for part in ["Turns (its own)", "Calls (its own)", "with subagents", "OWN CALLS", "OWN COST"] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
}

#[test]
fn a_list_counts_with_subagents_and_a_tree_each_alone() {
    let world = full();
    let root = tasks(&world).into_iter().find(|task| task.id == nested()).expect("the task");
    assert!(root.tree_tool_call_count > root.tool_call_count, "its subagents called too");
    for (arguments, heading, calls) in [
        (&["tasks", "--limit", "500"][..], " CALLS", root.tree_tool_call_count),
        (&["tasks", "--limit", "500", "--tree"], "OWN CALLS", root.tool_call_count),
    ] {
        let text = world.run(arguments).ended_with(0).stdout;
        let (head, lines) = text.split_once('\n').expect("a heading");
        let end = head.find(heading).expect("the column") + heading.len();
        let line = lines.lines().find(|line| line.contains(short(&root.id))).expect("its line");
        let before = line.get(..end).expect("a line as long as its heading");
        assert!(before.ends_with(&format!(" {calls}")), "{calls} in\n{head}\n{line}");
    }
}

#[test]
fn percentiles_of_a_part_of_a_day_are_said_to_be_of_the_whole_day() {
    let world = full();
    let part = world.run(&["tools", "--since", "2020-01-01T10:00:00Z"]).ended_with(0);
    assert!(part.stderr.contains("whole UTC days"), "{}", part.stderr);
    for whole in [&["tools"][..], &["tools", "--since", "2020-01-01T00:00:00Z"]] {
        let answer = world.run(whole).ended_with(0);
        assert!(!answer.stderr.contains("whole UTC days"), "{whole:?}: {}", answer.stderr);
    }
}

#[test]
fn a_name_that_fits_several_tasks_or_none_is_said_with_a_way_out() {
    let world = full();
    let several = world.run(&["show", "t"]).ended_with(2).stderr;
    assert!(several.contains("more than one task") && several.matches("hint: t").count() == 5, "{several}");
    let none = world.run(&["show", "missing"]).ended_with(1).stderr;
    assert!(none.contains("no task matches `missing`") && none.contains("hint: "), "{none}");
    world.run(&["show", ""]).ended_with(2);
}

#[test]
fn searches_find_what_the_store_finds() {
    let world = full();
    let store = store(&world);
    let range = Range { paging: paging(500), ..Range::default() };
    let failed = SearchFilter {
        tool: Some("Bash".to_owned()),
        state: Some(CallState::Failed.as_str().to_owned()),
        range: range.clone(),
        ..SearchFilter::default()
    };
    let expected = store.search(&failed).expect("hits");
    assert!(expected.items.len() > 5, "{}", expected.items.len());
    let answer = json(&world, &["search", "tool:Bash", "state:failed", "--limit", "500"]);
    assert_eq!(answer, serde_json::to_value(&expected).expect("JSON"));
    let words = SearchFilter { q: "canary".to_owned(), range, ..SearchFilter::default() };
    let expected = store.search(&words).expect("hits");
    let answer = json(&world, &["search", "canary", "--limit", "500"]);
    assert_eq!(answer, serde_json::to_value(&expected).expect("JSON"));
    let text = world.run(&["search", "canary", "--limit", "2"]).ended_with(0).stdout;
    assert_eq!(text.lines().count(), 4, "{text}");
    assert!(text.contains("canary") && !text.contains('⟦'), "{text}");
    let nothing = world.run(&["search", "xyzzyplugh"]).ended_with(0);
    assert!(nothing.stdout.is_empty() && nothing.stderr.contains("no matches"), "{}", nothing.stderr);
    let wrong = world.run(&["search", "state:borken"]).ended_with(2).stderr;
    assert!(wrong.contains("`failed`"), "{wrong}");
    let alone = world.run(&["search", ">10s"]).ended_with(2).stderr;
    assert!(alone.contains("hint: "), "{alone}");
}

#[test]
fn tools_are_counted_as_in_the_store() {
    let world = full();
    let range = Range { paging: paging(500), ..Range::default() };
    let expected = store(&world).tools(&range).expect("tools");
    let text = serde_json::to_string(&expected).expect("JSON");
    let expected_json: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(json(&world, &["tools"]), expected_json);
    let bash: &ToolStat = expected.items.iter().find(|tool| tool.tool == "Bash").expect("Bash");
    let text = world.run(&["tools"]).ended_with(0).stdout;
    let line = text.lines().find(|line| line.starts_with("Bash ")).expect("Bash");
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words[1..3], [bash.count.to_string(), bash.failures.to_string()], "{line}");
    let codex = json(&world, &["tools", "--agent", "codex"]);
    assert!(codex["items"].as_array().expect("items").iter().all(|tool| tool["tool"] != "Agent"));
    assert_eq!(json(&world, &["tools", "--since", "2030-01-01"])["items"], Value::Array(Vec::new()));
}

#[test]
fn the_last_rows_are_shown_and_may_be_narrowed() {
    let world = full();
    let store = store(&world);
    let mut all: Vec<Row> = Vec::new();
    loop {
        let part = store.changes(all.last().map_or(0, |row| row.seq), 500).expect("rows");
        if part.is_empty() {
            break;
        }
        all.extend(part);
    }
    let events: u64 = tasks(&world).iter().map(|task| task.event_count).sum();
    assert_eq!(all.len() as u64, events);
    let shown = |arguments: &[&str]| -> Vec<Row> {
        let mut words = vec!["tail", "--no-follow", "--json"];
        words.extend(arguments);
        let text = world.run(&words).ended_with(0).stdout;
        text.lines().map(|line| serde_json::from_str(line).expect("a row")).collect()
    };
    assert_eq!(shown(&["-n", "7"]), all[all.len() - 7..]);
    assert_eq!(shown(&["-n", "100000"]).len(), all.len());
    assert_eq!(shown(&["-n", "0"]), []);
    let prompts: Vec<Row> = all.iter().filter(|row| row.kind.as_str() == "user.message").cloned().collect();
    assert_eq!(shown(&["-n", "3", "--kind", "user.message"]), prompts[prompts.len() - 3..]);
    let root = nested();
    let tree: Vec<String> = json(&world, &["show", &root])["tree"]["items"]
        .as_array()
        .expect("a tree")
        .iter()
        .map(|node| node["task"]["id"].as_str().expect("an id").to_owned())
        .collect();
    let of_tree = all.iter().filter(|row| tree.contains(&row.task_id)).count();
    assert_eq!(shown(&["-n", "100000", "--task", &root]).len(), of_tree);
    let wrong = world.run(&["tail", "--no-follow", "--lane", "left"]).ended_with(2).stderr;
    assert!(wrong.contains("`user`"), "{wrong}");
    let text = world.run(&["tail", "--no-follow"]).ended_with(0).stdout;
    assert_eq!(text.lines().count(), 10, "{text}");
}

#[test]
fn what_happens_is_shown_while_it_happens() {
    let world = full();
    let mut child = Command::new(world.path("bin/agent-tracer"))
        .args(["tail", "-n", "1", "--kind", "user.message"])
        .env_clear()
        .env("HOME", world.path("home"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut lines = BufReader::new(child.stdout.take().expect("standard output")).lines();
    lines.next().expect("what was before").expect("text");
    let row = r#"{"type":"user","uuid":"u1","sessionId":"5a13","cwd":"/nowhere/shop","timestamp":"2026-11-15T21:10:04.001Z","promptId":"p1","message":{"role":"user","content":"something new"}}"#;
    world.write("home/.claude/projects/-nowhere-shop/5a13.jsonl", &format!("{row}\n"));
    world.run(&["import"]).ended_with(0);
    let line = lines.next().expect("what is new").expect("text");
    child.kill().expect("ended");
    child.wait().expect("ended");
    assert!(line.contains("something new") && line.contains("user.message"), "{line}");
}

#[test]
fn an_export_holds_every_task_and_every_event() {
    let world = full();
    let all = tasks(&world);
    let events: u64 = all.iter().map(|task| task.event_count).sum();
    let text = world.run(&["export"]).ended_with(0).stdout;
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.iter().filter(|line| line.get("task").is_some()).count(), all.len());
    assert_eq!(lines.iter().filter(|line| line.get("event").is_some()).count() as u64, events);
    let row: Row = serde_json::from_value(lines[1]["event"].clone()).expect("the API's shape");
    assert_eq!(row.task_id, all[0].id);
    let only =
        world.run(&["export", "--tasks-only", "--agent", "codex", "--limit", "4"]).ended_with(0).stdout;
    assert_eq!(only.lines().count(), 4);

    let answer = world.run(&["export", "--format", "csv", "--output", "events.csv"]).ended_with(0);
    assert_eq!(answer.stdout, "");
    assert!(
        answer.stderr.contains(&format!("{} tasks with {events} events", all.len())),
        "{}",
        answer.stderr
    );
    let table = world.read("project/events.csv");
    assert!(table.starts_with("task_id,task_title,"), "{table}");
    assert_eq!(table.matches("\r\n").count() as u64, events + 1);
    assert_eq!(world.mode("project/events.csv"), 0o600);
    assert_eq!(world.names("project"), ["events.csv"]);
    let table = world.run(&["export", "--format", "csv", "--tasks-only"]).ended_with(0).stdout;
    assert_eq!(table.lines().count(), all.len() + 1);
}

#[test]
fn an_export_that_cannot_be_written_leaves_nothing_behind() {
    let world = full();
    let folder = world.run(&["export", "--output", "[W]/project"]).ended_with(2).stderr;
    assert!(folder.contains("is a folder"), "{folder}");
    let missing = world.run(&["export", "--output", "missing/x.jsonl"]).ended_with(1).stderr;
    assert!(missing.contains("missing/x.jsonl"), "{missing}");
    assert_eq!(world.names("project"), Vec::<String>::new());
    world.write("project/old.jsonl", "old");
    world.run(&["export", "--limit", "1", "--output", "old.jsonl"]).ended_with(0);
    assert!(world.read("project/old.jsonl").starts_with("{\"task\":"));
}

#[test]
fn in_an_empty_home_everything_is_empty_and_says_what_to_do() {
    let world = World::without_hook();
    for arguments in [&["tasks"][..], &["tasks", "--tree"], &["search", "x"], &["tools"]] {
        let text = world.run(arguments).ended_with(0);
        assert_eq!(text.stdout, "", "{arguments:?}");
        assert!(
            text.stderr.contains("nothing is recorded") && text.stderr.contains("import"),
            "{}",
            text.stderr
        );
        assert_eq!(json(&world, arguments)["items"], Value::Array(Vec::new()), "{arguments:?}");
    }
    for arguments in [&["tail", "--no-follow"][..], &["export"]] {
        let text = world.run(arguments).ended_with(0);
        assert_eq!(text.stdout, "");
        assert!(text.stderr.contains("hint: "), "{}", text.stderr);
    }
    world.run(&["show", "last"]).ended_with(1);
    for arguments in [&["rebuild"][..], &["reread"], &["purge", "--all", "--yes"]] {
        let answer = json(&world, arguments);
        assert!(answer.is_object(), "{answer}");
    }
    assert!(!world.exists("home/.local"), "asking makes nothing");
}

#[test]
fn a_ledger_that_cannot_be_read_is_named() {
    let world = World::without_hook();
    world.write(
        "home/.local/share/agent-tracer/ledger.db",
        "this is no database, and longer than its head would be: it has more than a hundred bytes in it",
    );
    let answer = world.run(&["tasks"]).ended_with(1).stderr;
    assert!(answer.contains("ledger.db") && answer.contains("hint: "), "{answer}");
}
