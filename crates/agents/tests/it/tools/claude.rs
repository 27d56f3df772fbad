//! The tools of Claude Code, 2.1.325 and older.

use agent_tracer_event::Agent;
use serde_json::json;

use super::{check, meaning};

const EXPLORE: &str = "tool.used exploration";

#[test]
fn files() {
    let read = format!("{EXPLORE} read_file files explore read minor");
    let edit = "tool.used implementation modify_file file_ops file modify normal";
    check(
        Agent::ClaudeCode,
        &[
            (
                "Read",
                json!({"file_path": "/home/dev/project/src/lib.rs"}),
                &read,
                "file src/lib.rs",
                "Read src/lib.rs",
            ),
            (
                "Read",
                json!({"file_path": "/home/dev/project/src/lib.rs", "offset": 10, "limit": 31}),
                &read,
                "file src/lib.rs",
                "Read src/lib.rs (lines 10–40)",
            ),
            (
                "Read",
                json!({"file_path": "/etc/hosts", "offset": 3}),
                &read,
                "file /etc/hosts",
                "Read /etc/hosts (from line 3)",
            ),
            (
                "Read",
                json!({"file_path": "/a.md", "limit": 20}),
                &read,
                "file /a.md",
                "Read /a.md (first 20 lines)",
            ),
            (
                "Read",
                json!({"file_path": "/a.pdf", "pages": "1-5"}),
                &read,
                "file /a.pdf",
                "Read /a.pdf (pages 1-5)",
            ),
            (
                "Read",
                json!({"file_path": "/home/dev/project2/x"}),
                &read,
                "file /home/dev/project2/x",
                "Read /home/dev/project2/x",
            ),
            ("Read", json!(null), &read, "-", "Read a file"),
            (
                "Write",
                json!({"file_path": "/home/dev/project/new.txt", "content": "a\nb\n"}),
                "tool.used implementation create_file file_ops file create normal",
                "file new.txt",
                "Write new.txt",
            ),
            (
                "Edit",
                json!({"file_path": "README.md", "old_string": "a", "new_string": "b"}),
                edit,
                "file README.md",
                "Edit README.md",
            ),
            (
                "MultiEdit",
                json!({"file_path": "/home/dev/project/a.rs", "edits": [{}, {}, {}]}),
                edit,
                "file a.rs",
                "Edit a.rs (3 changes)",
            ),
            (
                "NotebookEdit",
                json!({"notebook_path": "/home/dev/project/n.ipynb", "edit_mode": "insert", "new_source": "x"}),
                edit,
                "file n.ipynb",
                "Add a cell to n.ipynb",
            ),
            (
                "NotebookEdit",
                json!({"notebook_path": "n.ipynb"}),
                edit,
                "file n.ipynb",
                "Edit notebook n.ipynb",
            ),
        ],
    );
}

#[test]
fn what_a_file_tool_keeps() {
    let read =
        meaning(Agent::ClaudeCode, "Read", &json!({"file_path": "src/lib.rs", "offset": "7", "limit": 2.0}));
    assert_eq!(read.metadata["readOffset"], 7);
    assert_eq!(read.metadata["readLimit"], 2);
    assert_eq!(read.metadata["filePath"], "src/lib.rs");
    assert_eq!(read.metadata["relPath"], "src/lib.rs");
    assert_eq!(read.file_paths, ["/home/dev/project/src/lib.rs"]);
    let edit = meaning(
        Agent::ClaudeCode,
        "Edit",
        &json!({"file_path": "/p/a", "old_string": "one\ntwo", "new_string": "one", "replace_all": false}),
    );
    assert_eq!(edit.metadata["editReplaceAll"], false);
    assert_eq!((&edit.metadata["linesRemoved"], &edit.metadata["linesAdded"]), (&json!(2), &json!(1)));
    let all = meaning(
        Agent::ClaudeCode,
        "Edit",
        &json!({"old_string": "a", "new_string": "b", "replace_all": true}),
    );
    assert_eq!(all.metadata.get("linesAdded"), None, "how often is not in the input");
    let write =
        meaning(Agent::ClaudeCode, "Write", &json!({"content": {"bytes": 11, "lines": 2, "hash": "00"}}));
    assert_eq!((&write.metadata["contentBytes"], &write.metadata["contentLines"]), (&json!(11), &json!(2)));
}

#[test]
fn reading_a_skill_or_a_command_activates_it() {
    for (path, skill) in [
        ("/home/dev/project/.claude/skills/greet/SKILL.md", Some("greet")),
        ("/home/dev/.claude/plugins/x/skills/deep/er/SKILL.md", Some("er")),
        (".claude/commands/git/fixup.md", Some("git:fixup")),
        ("/home/dev/project/docs/skills.md", None),
        ("/home/dev/project/skills/greet/notes.md", None),
    ] {
        let read = meaning(Agent::ClaudeCode, "Read", &json!({"file_path": path}));
        assert_eq!(read.metadata.get("skillName").and_then(|name| name.as_str()), skill, "{path}");
        let how = skill.map(|_| "read");
        assert_eq!(read.metadata.get("skillActivation").and_then(|how| how.as_str()), how, "{path}");
    }
    let used = meaning(Agent::ClaudeCode, "Skill", &json!({"skill": "greet", "args": "Ada"}));
    assert_eq!(used.metadata["skillName"], "greet");
    assert_eq!(used.metadata["skillActivation"], "tool");
}

#[test]
fn searches() {
    let glob = format!("{EXPLORE} glob_files search explore search minor");
    let grep = format!("{EXPLORE} grep_code search explore search minor");
    let list = format!("{EXPLORE} list_files search explore list minor");
    let tools = format!("{EXPLORE} list_files search explore search minor");
    check(
        Agent::ClaudeCode,
        &[
            ("Glob", json!({"pattern": "**/*.rs"}), &glob, "file **/*.rs", "Find **/*.rs"),
            (
                "Glob",
                json!({"pattern": "*.rs", "path": "/home/dev/project/src"}),
                &glob,
                "file *.rs",
                "Find *.rs in src",
            ),
            (
                "Grep",
                json!({"pattern": "TODO", "path": "src"}),
                &grep,
                "query TODO",
                "Search for \"TODO\" in src",
            ),
            (
                "Grep",
                json!({"pattern": "TODO", "path": "/home/dev/project"}),
                &grep,
                "query TODO",
                "Search for \"TODO\"",
            ),
            (
                "Grep",
                json!({"pattern": "fn", "glob": "*.rs"}),
                &grep,
                "query fn",
                "Search for \"fn\" in *.rs",
            ),
            (
                "Grep",
                json!({"pattern": "fn", "type": "rust"}),
                &grep,
                "query fn",
                "Search for \"fn\" in rust files",
            ),
            ("Grep", json!({"pattern": "x", "output_mode": "count"}), &grep, "query x", "Count \"x\""),
            ("LS", json!({"path": "/home/dev/project/src"}), &list, "directory src", "List src"),
            ("LS", json!({"path": "/home/dev/project"}), &list, "directory .", "List files"),
            (
                "ToolSearch",
                json!({"query": "slack send"}),
                &tools,
                "query slack send",
                "Look for tools: slack send",
            ),
            (
                "ToolSearch",
                json!({"query": "select:WebFetch,Monitor"}),
                &tools,
                "query select:WebFetch,Monitor",
                "Load tools WebFetch, Monitor",
            ),
            (
                "LSP",
                json!({"operation": "goToDefinition", "filePath": "/home/dev/project/a.rs", "line": 10, "character": 4}),
                "tool.used exploration grep_code search explore lsp_goToDefinition minor",
                "file a.rs",
                "Go to definition: a.rs:10",
            ),
            (
                "LSP",
                json!({"operation": "hover", "file_path": "a.rs", "symbol": "Reading"}),
                "tool.used exploration grep_code search explore lsp_hover minor",
                "symbol Reading",
                "Hover: Reading",
            ),
            (
                "ListMcpResourcesTool",
                json!({}),
                "agent.activity.logged exploration mcp_call coordination coordination list minor",
                "-",
                "List resources of all servers",
            ),
            (
                "ReadMcpResourceTool",
                json!({"server": "demo", "uri": "demo://notes/1"}),
                "agent.activity.logged exploration mcp_call coordination coordination read minor",
                "mcp demo",
                "Read demo://notes/1 from demo",
            ),
        ],
    );
    let grep = meaning(
        Agent::ClaudeCode,
        "Grep",
        &json!({"pattern": "a.b", "path": "src/lib.rs", "glob": "*.rs", "output_mode": "content", "-i": true, "multiline": false}),
    );
    for (name, value) in [
        ("searchPattern", json!("a.b")),
        ("searchPath", json!("src/lib.rs")),
        ("searchGlob", json!("*.rs")),
        ("grepOutputMode", json!("content")),
        ("grepCaseInsensitive", json!(true)),
        ("grepMultiline", json!(false)),
    ] {
        assert_eq!(grep.metadata[name], value, "{name}");
    }
    assert_eq!(grep.file_paths, ["/home/dev/project/src/lib.rs"], "a search in one file is about it");
}

#[test]
fn the_web() {
    let search = format!("{EXPLORE} web_search web explore search minor");
    let fetch = format!("{EXPLORE} web_fetch web explore fetch minor");
    check(
        Agent::ClaudeCode,
        &[
            (
                "WebSearch",
                json!({"query": "rust hooks"}),
                &search,
                "query rust hooks",
                "Search the web for \"rust hooks\"",
            ),
            (
                "WebFetch",
                json!({"url": "https://example.com/docs/a?q=1#x", "prompt": "what is it"}),
                &fetch,
                "url https://example.com/docs/a?q=1#x",
                "Fetch example.com/docs/a",
            ),
        ],
    );
    let long = "x".repeat(1000);
    let fetch =
        meaning(Agent::ClaudeCode, "WebFetch", &json!({"url": format!("https://a/{long}"), "prompt": long}));
    assert_eq!(fetch.metadata["webUrls"][0].as_str().unwrap().chars().count(), 300);
    assert_eq!(fetch.metadata["webQuery"].as_str().unwrap().chars().count(), 300);
    assert_eq!(fetch.metadata["webPrompt"].as_str().unwrap().chars().count(), 400);
    let search = meaning(
        Agent::ClaudeCode,
        "WebSearch",
        &json!({"query": long, "allowed_domains": ["a.org"], "blocked_domains": ["b.org", 3]}),
    );
    assert_eq!(search.metadata["webQuery"].as_str().unwrap().chars().count(), 300);
    assert_eq!(search.metadata["webAllowedDomains"], json!(["a.org"]));
    assert_eq!(search.metadata["webBlockedDomains"], json!(["b.org"]));
}

#[test]
fn background_shells_and_watches() {
    let reads = "tool.used exploration shell_probe shell terminal read minor";
    let stops = "tool.used implementation run_command execution terminal execute normal";
    let watches = "monitor.observed background shell_probe shell terminal monitor minor";
    check(
        Agent::ClaudeCode,
        &[
            (
                "BashOutput",
                json!({"bash_id": "b1", "filter": "err"}),
                reads,
                "shell b1",
                "Read output of background task b1",
            ),
            (
                "TaskOutput",
                json!({"task_id": "b2", "block": true}),
                reads,
                "shell b2",
                "Read output of background task b2",
            ),
            ("KillShell", json!({"shell_id": "b1"}), stops, "shell b1", "Stop background task b1"),
            ("TaskStop", json!({"task_id": "b2"}), stops, "shell b2", "Stop background task b2"),
            (
                "Monitor",
                json!({"command": "tail -f log", "description": "the log", "timeout_ms": 5}),
                watches,
                "command tail",
                "Watch: the log",
            ),
            (
                "Monitor",
                json!({"ws": {"url": "wss://x/y"}}),
                watches,
                "url wss://x/y",
                "Watch something that goes on",
            ),
        ],
    );
    let watch = meaning(
        Agent::ClaudeCode,
        "Monitor",
        &json!({"command": "tail -f log", "description": "d", "timeout_ms": 5}),
    );
    assert_eq!(watch.metadata["monitorScript"], "tail -f log");
    assert_eq!(watch.metadata["monitorDescription"], "d");
    assert_eq!(watch.metadata["timeoutMs"], 5);
}

#[test]
fn agents_skills_and_messages() {
    let delegates = "agent.activity.logged coordination delegation coordination coordination delegate normal";
    let skill = "agent.activity.logged coordination skill_use coordination coordination invoke normal";
    check(
        Agent::ClaudeCode,
        &[
            (
                "Agent",
                json!({"description": "look around", "prompt": "Look.", "subagent_type": "Explore"}),
                delegates,
                "agent Explore",
                "Delegate to Explore: look around",
            ),
            (
                "Task",
                json!({"prompt": "Look at all of it.\nThen report."}),
                delegates,
                "-",
                "Delegate: Look at all of it. Then report",
            ),
            ("Skill", json!({"skill": "greet", "args": "Ada"}), skill, "skill greet", "Use skill greet: Ada"),
            ("SlashCommand", json!({"command": "/review 12 now"}), skill, "skill review", "Use skill review"),
            (
                "SendMessage",
                json!({"to": "researcher", "summary": "more detail", "message": "Please…"}),
                "agent.activity.logged coordination delegation coordination coordination message normal",
                "agent researcher",
                "Tell researcher: more detail",
            ),
            (
                "ListAgents",
                json!({}),
                "agent.activity.logged coordination delegation coordination coordination list minor",
                "-",
                "List agents",
            ),
            ("Workflow", json!({"name": "release"}), delegates, "agent release", "Run workflow: release"),
            (
                "mcp__demo__add",
                json!({"a": 1}),
                "agent.activity.logged coordination mcp_call coordination coordination invoke normal",
                "mcp demo/add",
                "Call demo/add",
            ),
        ],
    );
    let agent = meaning(
        Agent::ClaudeCode,
        "Agent",
        &json!({"description": "d", "prompt": "Do it.", "subagent_type": "Explore", "model": "haiku",
                "run_in_background": true, "isolation": "worktree", "name": "scout"}),
    );
    for (name, value) in [
        ("agentName", json!("Explore")),
        ("agentDescription", json!("d")),
        ("agentModel", json!("haiku")),
        ("agentRunInBackground", json!(true)),
        ("isolation", json!("worktree")),
        ("teammateName", json!("scout")),
        ("activityType", json!("delegation")),
    ] {
        assert_eq!(agent.metadata[name], value, "{name}");
    }
    assert_eq!(agent.body.as_deref(), Some("Do it."));
    let call = meaning(Agent::ClaudeCode, "mcp__claude_ai_Slack__slack_send__now", &json!({"to": "x"}));
    assert_eq!(
        (&call.metadata["mcpServer"], &call.metadata["mcpTool"]),
        (&json!("claude_ai_Slack"), &json!("slack_send__now"))
    );
    assert_eq!(call.metadata["toolInput"], json!({"to": "x"}));
}

#[test]
fn schedules() {
    let cron = |operation: &str, importance: &str| {
        format!(
            "agent.activity.logged coordination delegation coordination coordination {operation} {importance}"
        )
    };
    check(
        Agent::ClaudeCode,
        &[
            (
                "CronCreate",
                json!({"cron": "0 9 * * 1", "prompt": "look at CI", "recurring": true}),
                &cron("create", "normal"),
                "cron 0 9 * * 1",
                "Schedule at 0 9 * * 1: look at CI",
            ),
            ("CronDelete", json!({"id": "c1"}), &cron("delete", "normal"), "cron c1", "Delete schedule c1"),
            ("CronList", json!({}), &cron("list", "minor"), "-", "List schedules"),
            (
                "ScheduleWakeup",
                json!({"delaySeconds": 300, "reason": "CI takes long"}),
                "agent.activity.logged background delegation coordination coordination create normal",
                "-",
                "Wake up in 5 min: CI takes long",
            ),
            (
                "RemoteTrigger",
                json!({"action": "list_runs", "trigger_id": "t"}),
                &cron("trigger", "normal"),
                "-",
                "Remote trigger: list runs",
            ),
        ],
    );
    let made = meaning(
        Agent::ClaudeCode,
        "CronCreate",
        &json!({"cron": "* * * * *", "prompt": "p", "recurring": false}),
    );
    assert_eq!(made.metadata["cron"], "* * * * *");
    assert_eq!(made.metadata["recurring"], false);
    assert_eq!(made.semantics.label.as_deref(), Some("Cron create"));
}

#[test]
fn plans_todos_questions_and_worktrees() {
    let todo = |kind: &str, operation: &str, importance: &str| {
        format!("{kind} todos todo planning coordination {operation} {importance}")
    };
    check(
        Agent::ClaudeCode,
        &[
            (
                "EnterPlanMode",
                json!({}),
                "context.saved planning plan planning coordination enter normal",
                "-",
                "Enter plan mode",
            ),
            (
                "ExitPlanMode",
                json!({"plan": "# Rework the parser\n\n1. …"}),
                "plan.logged planning plan planning coordination present normal",
                "-",
                "Present plan: Rework the parser",
            ),
            (
                "TodoWrite",
                json!({"todos": [{"content": "One", "status": "completed"}, {"content": "Two", "status": "in_progress"}]}),
                &todo("tool.used", "update", "normal"),
                "-",
                "Todos (1 of 2 done): Two",
            ),
            (
                "TodoWrite",
                json!({"todos": []}),
                &todo("tool.used", "update", "normal"),
                "-",
                "Clear the todo list",
            ),
            (
                "TaskCreate",
                json!({"subject": "Write it"}),
                &todo("todo.logged", "create", "normal"),
                "-",
                "Add todo: Write it",
            ),
            (
                "TaskUpdate",
                json!({"taskId": "3", "status": "completed"}),
                &todo("todo.logged", "update", "normal"),
                "-",
                "Complete todo 3",
            ),
            (
                "TaskUpdate",
                json!({"taskId": 3, "status": "deleted"}),
                &todo("todo.logged", "update", "normal"),
                "-",
                "Drop todo 3",
            ),
            ("TaskList", json!({}), &todo("tool.used", "list", "minor"), "-", "List todos"),
            ("TaskGet", json!({"taskId": "3"}), &todo("tool.used", "read", "minor"), "-", "Read todo 3"),
            (
                "AskUserQuestion",
                json!({"questions": [{"question": "Which database?", "options": [{"label": "A"}]}, {"question": "And?"}]}),
                "question.logged questions question planning coordination ask normal",
                "-",
                "Ask: Which database? (and 1 more)",
            ),
            (
                "EnterWorktree",
                json!({"name": "wt-one"}),
                "worktree.create background vcs execution file create normal",
                "directory wt-one",
                "Enter worktree wt-one",
            ),
            (
                "ExitWorktree",
                json!({"action": "keep"}),
                "worktree.remove background vcs execution file leave normal",
                "-",
                "Leave the worktree and keep it",
            ),
            (
                "ReportFindings",
                json!({"findings": [{"file": "a.rs", "summary": "s"}, {"file": "a.rs", "summary": "t"}]}),
                "tool.used planning verify execution coordination report normal",
                "-",
                "Report 2 findings",
            ),
        ],
    );
    let entered = meaning(Agent::ClaudeCode, "EnterPlanMode", &json!({}));
    assert_eq!(entered.metadata["trigger"], "mode_change:EnterPlanMode");
    let found = meaning(
        Agent::ClaudeCode,
        "ReportFindings",
        &json!({"findings": [{"file": "a.rs"}, {"file": "a.rs"}]}),
    );
    assert_eq!(found.file_paths, ["/home/dev/project/a.rs"]);
}

/// Every name that the client's own list of tools holds, and those that it has renamed or dropped.
const NAMES: &[&str] = &[
    "Agent",
    "Artifact",
    "AskUserQuestion",
    "Bash",
    "ClaudeDesign",
    "CronCreate",
    "CronDelete",
    "CronList",
    "Edit",
    "EndConversation",
    "EnterPlanMode",
    "EnterWorktree",
    "ExitPlanMode",
    "ExitWorktree",
    "Glob",
    "Grep",
    "ListAgents",
    "ListMcpResourcesTool",
    "LSP",
    "Monitor",
    "NotebookEdit",
    "OfferChromeSetup",
    "PowerShell",
    "Projects",
    "propose_skills",
    "ProposeGoal",
    "PushNotification",
    "Read",
    "ReadMcpResourceDirTool",
    "ReadMcpResourceTool",
    "ReadNotifications",
    "RemoteTrigger",
    "ReportFindings",
    "ScheduleWakeup",
    "SendFeedback",
    "SendMessage",
    "SendUserFile",
    "SendUserMessage",
    "ShareOnboardingGuide",
    "ShowOnboardingRolePicker",
    "Skill",
    "SubagentHandback",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskStop",
    "TaskUpdate",
    "TodoWrite",
    "ToolSearch",
    "WaitForMcpServers",
    "WebFetch",
    "WebSearch",
    "Workflow",
    "Write",
    "RefreshMcpTools",
    "StructuredOutput",
    "Task",
    "KillShell",
    "KillBash",
    "ListPeers",
    "Brief",
    "ListMcpResources",
    "ReadMcpResource",
    "ReadMcpResourceDir",
    "Eval",
    "REPL",
    "TaskOutput",
    "AgentOutputTool",
    "BashOutputTool",
    "AgentOutput",
    "BashOutput",
    "TeamCreate",
    "TeamDelete",
    "MultiEdit",
    "LS",
    "NotebookRead",
    "SlashCommand",
];

#[test]
fn every_tool_of_the_client_is_known_and_says_something_even_without_an_input() {
    for name in NAMES {
        for input in [json!({}), json!(null), json!("text"), json!([1]), json!(7)] {
            let meaning = meaning(Agent::ClaudeCode, name, &input);
            assert!(meaning.recognised, "{name}");
            assert!(
                !meaning.title.is_empty() && !meaning.title.ends_with([' ', ':', '.']),
                "{name}: {:?}",
                meaning.title
            );
            assert!(
                meaning.title.starts_with(|letter: char| letter.is_uppercase()),
                "{name}: {:?}",
                meaning.title
            );
        }
    }
}
