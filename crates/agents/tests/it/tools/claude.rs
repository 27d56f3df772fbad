//! The tools of Claude Code that read, write, search and run, 2.1.325 and older.

use agent_tracer_event::Agent;
use serde_json::json;

use super::{check, meaning};

const EXPLORE: &str = "tool.used exploration";

#[test]
fn files() {
    let read = format!("{EXPLORE} read_file files explore read minor");
    let edit = "tool.used implementation modify_file file_ops file modify normal";
    check(
        Agent::CLAUDE_CODE,
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
        meaning(Agent::CLAUDE_CODE, "Read", &json!({"file_path": "src/lib.rs", "offset": "7", "limit": 2.0}));
    assert_eq!(read.metadata["readOffset"], 7);
    assert_eq!(read.metadata["readLimit"], 2);
    assert_eq!(read.metadata["filePath"], "src/lib.rs");
    assert_eq!(read.metadata["relPath"], "src/lib.rs");
    assert_eq!(read.file_paths, ["/home/dev/project/src/lib.rs"]);
    let edit = meaning(
        Agent::CLAUDE_CODE,
        "Edit",
        &json!({"file_path": "/p/a", "old_string": "one\ntwo", "new_string": "one", "replace_all": false}),
    );
    assert_eq!(edit.metadata["editReplaceAll"], false);
    assert_eq!((&edit.metadata["linesRemoved"], &edit.metadata["linesAdded"]), (&json!(2), &json!(1)));
    let all = meaning(
        Agent::CLAUDE_CODE,
        "Edit",
        &json!({"old_string": "a", "new_string": "b", "replace_all": true}),
    );
    assert_eq!(all.metadata.get("linesAdded"), None, "how often is not in the input");
    let write =
        meaning(Agent::CLAUDE_CODE, "Write", &json!({"content": {"bytes": 11, "lines": 2, "hash": "00"}}));
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
        let read = meaning(Agent::CLAUDE_CODE, "Read", &json!({"file_path": path}));
        assert_eq!(read.metadata.get("skillName").and_then(|name| name.as_str()), skill, "{path}");
        let how = skill.map(|_| "read");
        assert_eq!(read.metadata.get("skillActivation").and_then(|how| how.as_str()), how, "{path}");
    }
    let used = meaning(Agent::CLAUDE_CODE, "Skill", &json!({"skill": "greet", "args": "Ada"}));
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
        Agent::CLAUDE_CODE,
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
        Agent::CLAUDE_CODE,
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
        Agent::CLAUDE_CODE,
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
        meaning(Agent::CLAUDE_CODE, "WebFetch", &json!({"url": format!("https://a/{long}"), "prompt": long}));
    assert_eq!(fetch.metadata["webUrls"][0].as_str().unwrap().chars().count(), 300);
    assert_eq!(fetch.metadata["webQuery"].as_str().unwrap().chars().count(), 300);
    assert_eq!(fetch.metadata["webPrompt"].as_str().unwrap().chars().count(), 400);
    let search = meaning(
        Agent::CLAUDE_CODE,
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
        Agent::CLAUDE_CODE,
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
        Agent::CLAUDE_CODE,
        "Monitor",
        &json!({"command": "tail -f log", "description": "d", "timeout_ms": 5}),
    );
    assert_eq!(watch.metadata["monitorScript"], "tail -f log");
    assert_eq!(watch.metadata["monitorDescription"], "d");
    assert_eq!(watch.metadata["timeoutMs"], 5);
}
