//! The tools of Codex, as hooks and as rollouts name them.

use agent_tracer_event::Agent;
use serde_json::json;

use super::{check, meaning};

#[test]
fn agents_of_both_generations() {
    let delegates = "agent.activity.logged coordination delegation coordination coordination delegate normal";
    let waits = "agent.activity.logged coordination delegation coordination coordination wait minor";
    let steps = "agent.activity.logged coordination delegation coordination coordination coordinate normal";
    let tells = "agent.activity.logged coordination delegation coordination coordination message normal";
    let id = "01a1e0be-84a3-7821-97dd-747b90c57e02";
    check(
        Agent::CODEX,
        &[
            (
                "spawn_agent",
                json!({"message": "look around and report", "agent_type": "explorer"}),
                delegates,
                "agent explorer",
                "Delegate to explorer: look around and report",
            ),
            (
                "collaborationspawn_agent",
                json!({"task_name": "scout", "message": "Look"}),
                delegates,
                "agent scout",
                "Delegate to scout: Look",
            ),
            (
                "multi_agent_v1wait_agent",
                json!({"targets": [id], "timeout_ms": 20000}),
                waits,
                "-",
                "Wait for an agent",
            ),
            ("collaborationwait_agent", json!({"timeout_ms": 20000}), waits, "-", "Wait for agents"),
            ("wait", json!({"ids": [id, id]}), waits, "-", "Wait for 2 agents"),
            (
                "multi_agent_v1close_agent",
                json!({"target": id}),
                steps,
                &format!("agent {id}"),
                "Close an agent",
            ),
            ("close_agent", json!({"target": id}), steps, &format!("agent {id}"), "Close an agent"),
            (
                "multi_agent_v1send_input",
                json!({"target": id, "message": "go on"}),
                tells,
                &format!("agent {id}"),
                "Tell an agent: go on",
            ),
            (
                "collaborationsend_message",
                json!({"target": "scout", "message": "hi"}),
                tells,
                "agent scout",
                "Tell scout: hi",
            ),
            (
                "collaborationfollowup_task",
                json!({"target": "scout", "message": "more"}),
                tells,
                "agent scout",
                "Tell scout: more",
            ),
            (
                "multi_agent_v1resume_agent",
                json!({"id": id}),
                steps,
                &format!("agent {id}"),
                "Resume an agent",
            ),
            (
                "collaborationlist_agents",
                json!({}),
                "agent.activity.logged coordination delegation coordination coordination list minor",
                "-",
                "List agents",
            ),
        ],
    );
}

#[test]
fn patches() {
    let patch = |headers: &str| json!({"command": format!("*** Begin Patch\n{headers}\n*** End Patch\n")});
    let fixed = |operation: &str, importance: &str| {
        format!("tool.used implementation apply_patch file_ops file {operation} {importance}")
    };
    check(
        Agent::CODEX,
        &[
            (
                "apply_patch",
                patch("*** Add File: notes/a.txt\n+x"),
                &fixed("create", "normal"),
                "file notes/a.txt",
                "Create notes/a.txt",
            ),
            (
                "apply_patch",
                patch("*** Update File: a.rs\n@@\n-x\n+y"),
                &fixed("modify", "normal"),
                "file a.rs",
                "Edit a.rs",
            ),
            (
                "apply_patch",
                patch("*** Update File: a.rs\n*** Move to: b.rs\n@@\n-x\n+y"),
                &fixed("rename", "normal"),
                "file b.rs",
                "Move a.rs to b.rs",
            ),
            (
                "apply_patch",
                patch("*** Delete File: a.rs"),
                &fixed("delete", "critical"),
                "file a.rs",
                "Delete a.rs",
            ),
            (
                "apply_patch",
                patch("*** Add File: x/a.txt\n+x\n*** Update File: y/b.txt\n@@\n+z"),
                &fixed("patch", "normal"),
                "-",
                "Patch 2 files: a.txt, b.txt",
            ),
            ("apply_patch", json!({"command": "nonsense"}), &fixed("patch", "normal"), "-", "Apply a patch"),
            (
                "apply_patch",
                json!("*** Begin Patch\n*** Add File: q\n+1\n*** End Patch"),
                &fixed("create", "normal"),
                "file q",
                "Create q",
            ),
        ],
    );
    let whole = meaning(
        Agent::CODEX,
        "apply_patch",
        &patch("*** Update File: a.rs\n*** Move to: b.rs\n@@\n*** Add File: c"),
    );
    let reduced = json!({"command": {"bytes": 90, "lines": 6, "hash": "00", "files": [
        "*** Update File: a.rs", "*** Move to: b.rs", "*** Add File: c"]}});
    let reduced = meaning(Agent::CODEX, "apply_patch", &reduced);
    for meaning in [&whole, &reduced] {
        assert_eq!(
            meaning.metadata["fileOperations"],
            json!([
                {"path": "/home/dev/project/a.rs", "operation": "rename", "to": "/home/dev/project/b.rs"},
                {"path": "/home/dev/project/c", "operation": "create"},
            ])
        );
        assert_eq!(
            meaning.file_paths,
            ["/home/dev/project/a.rs", "/home/dev/project/b.rs", "/home/dev/project/c"]
        );
    }
    assert_eq!(reduced.metadata["patchBytes"], 90);
}

#[test]
fn plans_goals_questions_and_images() {
    check(
        Agent::CODEX,
        &[
            (
                "update_plan",
                json!({"explanation": "starting", "plan": [{"step": "look", "status": "completed"},
                       {"step": "edit", "status": "in_progress"}, {"step": "test", "status": "pending"}]}),
                "plan.logged planning plan planning coordination update normal",
                "-",
                "Plan (1 of 3 done): edit",
            ),
            (
                "create_goal",
                json!({"objective": "Ship it"}),
                "tool.used planning plan planning coordination create normal",
                "-",
                "Set goal: Ship it",
            ),
            (
                "update_goal",
                json!({"status": "complete"}),
                "tool.used planning plan planning coordination update normal",
                "-",
                "Mark the goal as complete",
            ),
            (
                "request_user_input",
                json!({"questions": [{"id": "q1", "header": "Pick", "question": "Which?", "options": [{"label": "A"}]}]}),
                "question.logged questions question planning coordination ask normal",
                "-",
                "Ask: Which?",
            ),
            (
                "view_image",
                json!({"path": "/home/dev/project/pix.png"}),
                "tool.used exploration read_file files explore read minor",
                "file pix.png",
                "Look at pix.png",
            ),
            (
                "image_generation",
                json!({"prompt": "a cat"}),
                "tool.used implementation create_file file_ops file create normal",
                "-",
                "Make an image: a cat",
            ),
        ],
    );
    let plan = meaning(
        Agent::CODEX,
        "update_plan",
        &json!({"plan": [{"step": "look", "status": "completed"}, {"step": "go"}]}),
    );
    assert_eq!(plan.body.as_deref(), Some("[x] look\n[ ] go"));
    assert_eq!(plan.metadata["itemCount"], 2);
}

#[test]
fn the_web_and_other_tools() {
    let search = "tool.used exploration web_search web explore search minor";
    let fetch = "tool.used exploration web_fetch web explore fetch minor";
    check(
        Agent::CODEX,
        &[
            (
                "web_search",
                json!({"type": "search", "query": "codex hooks", "queries": ["codex hooks"]}),
                search,
                "query codex hooks",
                "Search the web for \"codex hooks\"",
            ),
            (
                "web_search",
                json!({"query": "", "action": {"type": "search", "queries": ["a b"]}}),
                search,
                "query a b",
                "Search the web for \"a b\"",
            ),
            (
                "web_search",
                json!({"action": {"type": "open_page", "url": "https://example.com/doc"}}),
                fetch,
                "url https://example.com/doc",
                "Fetch example.com/doc",
            ),
            (
                "web_search",
                json!({"action": {"type": "find_in_page", "url": "https://e.com/", "pattern": "hook"}}),
                fetch,
                "url https://e.com/",
                "Look for \"hook\" in e.com",
            ),
            (
                "tool_search",
                json!({"query": "echo", "limit": 5}),
                "tool.used exploration list_files search explore search minor",
                "query echo",
                "Look for tools: echo",
            ),
            (
                "mcp__lab__echo",
                json!({"text": "hi"}),
                "agent.activity.logged coordination mcp_call coordination coordination invoke normal",
                "mcp lab/echo",
                "Call lab/echo",
            ),
        ],
    );
}

#[test]
fn code_mode_frames_the_tools_that_it_calls() {
    let runs = "tool.used implementation run_command execution terminal execute normal";
    check(
        Agent::CODEX,
        &[
            (
                "exec",
                json!(
                    "const r = await Promise.all([tools.exec_command({cmd: \"ls\"}), tools.exec_command({}), tools.mcp__lab__echo({})]);"
                ),
                runs,
                "-",
                "Run code that calls exec_command, mcp__lab__echo",
            ),
            ("exec", json!("text('hi')"), runs, "-", "Run code"),
            (
                "wait",
                json!({"cell_id": "1", "yield_time_ms": 5000}),
                "tool.used implementation shell_probe shell terminal wait minor",
                "shell 1",
                "Wait for running code",
            ),
            (
                "write_stdin",
                json!({"session_id": 35893, "chars": "typed\n"}),
                runs,
                "shell 35893",
                "Type \"typed\" into command 35893",
            ),
            (
                "write_stdin",
                json!({"session_id": 50865, "chars": ""}),
                runs,
                "shell 50865",
                "Wait for command 50865",
            ),
        ],
    );
    let code = meaning(Agent::CODEX, "exec", &json!("tools.apply_patch('x')"));
    assert_eq!(code.metadata["calledTools"], json!(["apply_patch"]));
}

#[test]
fn a_request_for_permission_is_joined_to_its_attempt_whatever_codex_adds_or_trims() {
    use agent_tracer_agents::text::call_signature;
    let signature = |tool: &str, input| call_signature(Agent::CODEX, tool, &input);
    assert_eq!(
        signature("Bash", json!({"command": "touch x"})),
        signature("Bash", json!({"command": "touch x", "description": "May I?"}))
    );
    assert_ne!(
        signature("Bash", json!({"command": "touch x"})),
        signature("Bash", json!({"command": "touch y"}))
    );
    let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch";
    let reduced = |bytes: u64| json!({"command": {"bytes": bytes, "hash": bytes.to_string(), "files": ["*** Add File: a"]}});
    assert_eq!(
        signature("apply_patch", json!({"command": patch})),
        signature("apply_patch", json!({"command": format!("{patch}\n")}))
    );
    assert_eq!(signature("apply_patch", reduced(50)), signature("apply_patch", reduced(51)));
    assert_eq!(
        call_signature(Agent::CLAUDE_CODE, "X", &json!({"a": 1, "b": {"c": 2, "d": 3}})),
        call_signature(Agent::CLAUDE_CODE, "X", &json!({"b": {"d": 3, "c": 2}, "a": 1}))
    );
}
