//! The tools of Claude Code that coordinate, plan and ask, and the list of all of them.

use agent_tracer_event::Agent;
use serde_json::json;

use super::{check, meaning};

#[test]
fn agents_skills_and_messages() {
    let delegates = "agent.activity.logged coordination delegation coordination coordination delegate normal";
    let skill = "agent.activity.logged coordination skill_use coordination coordination invoke normal";
    check(
        Agent::CLAUDE_CODE,
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
        Agent::CLAUDE_CODE,
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
    let call = meaning(Agent::CLAUDE_CODE, "mcp__claude_ai_Slack__slack_send__now", &json!({"to": "x"}));
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
        Agent::CLAUDE_CODE,
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
        Agent::CLAUDE_CODE,
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
        Agent::CLAUDE_CODE,
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
    let entered = meaning(Agent::CLAUDE_CODE, "EnterPlanMode", &json!({}));
    assert_eq!(entered.metadata["trigger"], "mode_change:EnterPlanMode");
    let found = meaning(
        Agent::CLAUDE_CODE,
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
            let meaning = meaning(Agent::CLAUDE_CODE, name, &input);
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
