//! Payloads as older documents spell them, each with what must come out of it.
//!
//! The law: an older spelling lands under the same name as the client's own, and nothing of it is lost.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use agent_tracer_agents::{Context, Observation, Source, read};
use agent_tracer_event::{Agent, CallState, Channel, Entry, Kind, Millis, Reading, Subject, Usage};
use agent_tracer_privacy::{Config, Level, reduce};
use serde_json::{Map, Value, json};

use crate::transcript::{Captured, read as read_transcript};

/// What a payload must say: the files whose name begins so, the kind of the event, and members of its metadata.
/// `{name}` stands for a member of the payload or of its `tool_input`.
struct Says {
    files: &'static str,
    kind: Kind,
    members: &'static [(&'static str, &'static str)],
}

const fn says(files: &'static str, kind: Kind, members: &'static [(&'static str, &'static str)]) -> Says {
    Says { files, kind, members }
}

const TABLE: &[Says] = &[
    says("hook-spec/SessionStart.", Kind::ContextSaved, &[("trigger", "{source}")]),
    says("hook-spec/SessionStart.startup", Kind::SessionStarted, &[("sessionSource", "startup")]),
    says("hook-spec/SessionEnd.", Kind::SessionEnded, &[("reason", "{reason}")]),
    says("hook-spec/SessionEnd.clear", Kind::SessionEnded, &[("completionReason", "cleared")]),
    says("hook-spec/SessionEnd.logout", Kind::SessionEnded, &[("completionReason", "explicit_exit")]),
    says("hook-spec/SessionEnd.prompt", Kind::SessionEnded, &[("completionReason", "explicit_exit")]),
    says("hook-spec/SessionEnd.resume", Kind::SessionEnded, &[("completionReason", "idle")]),
    says("hook-spec/SessionEnd.other", Kind::SessionEnded, &[("completionReason", "runtime_terminated")]),
    says("hook-spec/SessionEnd.bypass", Kind::SessionEnded, &[("completionReason", "runtime_terminated")]),
    says(
        "hook-spec/UserPromptSubmit",
        Kind::UserMessage,
        &[("prompt", "{prompt}"), ("promptOrigin", "user")],
    ),
    says(
        "hook-spec/InstructionsLoaded.",
        Kind::InstructionsLoaded,
        &[
            ("filePath", "{file_path}"),
            ("relPath", "CLAUDE.md"),
            ("memoryType", "{memory_type}"),
            ("loadReason", "{load_reason}"),
        ],
    ),
    says(
        "hook-spec/InstructionsLoaded.path_glob",
        Kind::InstructionsLoaded,
        &[("globs", "{globs}"), ("triggerFilePath", "{trigger_file_path}")],
    ),
    says(
        "hook-spec/InstructionsLoaded.include",
        Kind::InstructionsLoaded,
        &[("parentFilePath", "{parent_file_path}")],
    ),
    says(
        "hook-spec/PreToolUse.Bash.",
        Kind::TerminalCommand,
        &[
            ("timeoutMs", "120000"),
            ("runInBackground", "false"),
            ("subtypeKey", "run_test"),
            ("toolFamily", "terminal"),
        ],
    ),
    says("hook-spec/PreToolUse.PowerShell", Kind::TerminalCommand, &[("toolFamily", "terminal")]),
    says("hook-spec/PreToolUse.BashOutput", Kind::ToolUsed, &[("entityName", "{bash_id}")]),
    says("hook-spec/PreToolUse.KillShell", Kind::ToolUsed, &[("entityName", "{bash_id}")]),
    says(
        "hook-spec/PreToolUse.Monitor",
        Kind::MonitorObserved,
        &[("monitorScript", "{command}"), ("monitorDescription", "{description}")],
    ),
    says(
        "hook-spec/PreToolUse.Edit",
        Kind::ToolUsed,
        &[("editReplaceAll", "true"), ("subtypeKey", "modify_file"), ("relPath", "src/login.ts")],
    ),
    says("hook-spec/PreToolUse.Write", Kind::ToolUsed, &[("subtypeKey", "create_file")]),
    says("hook-spec/PreToolUse.NotebookEdit", Kind::ToolUsed, &[("relPath", "analysis.ipynb")]),
    says(
        "hook-spec/PreToolUse.Read",
        Kind::ToolUsed,
        &[("readOffset", "10"), ("readLimit", "50"), ("subtypeKey", "read_file"), ("subtypeGroup", "files")],
    ),
    says(
        "hook-spec/PreToolUse.Glob",
        Kind::ToolUsed,
        &[("searchPattern", "{pattern}"), ("searchPath", "{path}"), ("subtypeKey", "glob_files")],
    ),
    says(
        "hook-spec/PreToolUse.Grep",
        Kind::ToolUsed,
        &[
            ("searchPattern", "{pattern}"),
            ("searchPath", "{path}"),
            ("searchGlob", "{glob}"),
            ("grepOutputMode", "content"),
            ("grepCaseInsensitive", "true"),
            ("grepMultiline", "false"),
        ],
    ),
    says(
        "hook-spec/PreToolUse.LSP",
        Kind::ToolUsed,
        &[("subtypeKey", "grep_code"), ("operation", "lsp_references")],
    ),
    says(
        "hook-spec/PreToolUse.WebSearch",
        Kind::ToolUsed,
        &[
            ("webQuery", "{query}"),
            ("webAllowedDomains", "{allowed_domains}"),
            ("webBlockedDomains", "{blocked_domains}"),
            ("subtypeKey", "web_search"),
        ],
    ),
    says(
        "hook-spec/PreToolUse.WebFetch",
        Kind::ToolUsed,
        &[("webQuery", "{url}"), ("webPrompt", "{prompt}"), ("webUrls", "[\"https://example.com/api\"]")],
    ),
    says(
        "hook-spec/PreToolUse.Agent",
        Kind::AgentActivityLogged,
        &[
            ("agentName", "{subagent_type}"),
            ("agentDescription", "{description}"),
            ("agentModel", "{model}"),
            ("agentRunInBackground", "true"),
            ("activityType", "delegation"),
        ],
    ),
    says(
        "hook-spec/PreToolUse.Skill",
        Kind::AgentActivityLogged,
        &[("skillName", "{skill}"), ("activityType", "skill_use")],
    ),
    says(
        "hook-spec/PreToolUse.TaskCreate",
        Kind::TodoLogged,
        &[("subject", "{task_subject}"), ("description", "{task_description}"), ("todoState", "added")],
    ),
    says(
        "hook-spec/PreToolUse.TaskUpdate",
        Kind::TodoLogged,
        &[("todoId", "{task_id}"), ("todoState", "completed")],
    ),
    says("hook-spec/PreToolUse.TodoWrite", Kind::ToolUsed, &[("subtypeKey", "todo")]),
    says(
        "hook-spec/PreToolUse.AskUserQuestion",
        Kind::QuestionLogged,
        &[("questionPhase", "asked"), ("options", "{options}")],
    ),
    says("hook-spec/PreToolUse.ExitPlanMode", Kind::PlanLogged, &[("subtypeKey", "plan")]),
    says("hook-spec/PreToolUse.EnterPlanMode", Kind::ContextSaved, &[("subtypeKey", "plan")]),
    says("hook-spec/PreToolUse.EnterWorktree", Kind::WorktreeCreate, &[("sourceTool", "EnterWorktree")]),
    says("hook-spec/PreToolUse.ExitWorktree", Kind::WorktreeRemove, &[("sourceTool", "ExitWorktree")]),
    says(
        "hook-spec/PreToolUse.CronCreate",
        Kind::AgentActivityLogged,
        &[("cron", "{schedule}"), ("entityName", "{schedule}")],
    ),
    says("hook-spec/PreToolUse.CronDelete", Kind::AgentActivityLogged, &[("entityName", "{id}")]),
    says("hook-spec/PreToolUse.CronList", Kind::AgentActivityLogged, &[("sourceTool", "CronList")]),
    says("hook-spec/PreToolUse.ToolSearch", Kind::ToolUsed, &[("entityName", "{query}")]),
    says(
        "hook-spec/PreToolUse.mcp__",
        Kind::AgentActivityLogged,
        &[("mcpServer", "github"), ("mcpTool", "create_issue"), ("activityType", "mcp_call")],
    ),
    says("hook-spec/PreToolUse.Bash.subagent", Kind::TerminalCommand, &[("operation", "execute")]),
    says(
        "hook-spec/PostToolUseFailure.Bash",
        Kind::TerminalCommand,
        &[("errorClass", "non_zero_exit"), ("importance", "critical")],
    ),
    says("hook-spec/PostToolUseFailure.interrupt", Kind::TerminalCommand, &[("errorClass", "interrupt")]),
    says(
        "hook-spec/PostToolBatch",
        Kind::ContextSaved,
        &[("trigger", "tool_batch_completed"), ("itemCount", "2"), ("toolUseIds", "{tool_use_ids}")],
    ),
    says(
        "hook-spec/PermissionDenied",
        Kind::RuleLogged,
        &[("ruleStatus", "denied"), ("ruleOutcome", "auto_deny"), ("rulePolicy", "auto_mode_classifier")],
    ),
    says(
        "hook-spec/PermissionRequest",
        Kind::PermissionRequest,
        &[
            ("toolName", "Bash"),
            ("toolUseId", "{tool_use_id}"),
            ("suggestionCount", "1"),
            ("toolInputSummary", "rm -rf build"),
        ],
    ),
    says(
        "hook-spec/SubagentStart.json",
        Kind::ActionLogged,
        &[("asyncStatus", "running"), ("agentType", "{subagent_type}"), ("agentId", "{agent_id}")],
    ),
    says("hook-spec/SubagentStart.compaction", Kind::ContextSaved, &[("trigger", "compaction_helper")]),
    says(
        "hook-spec/SubagentStop.json",
        Kind::ActionLogged,
        &[("asyncStatus", "completed"), ("agentType", "{subagent_type}")],
    ),
    says(
        "hook-spec/SubagentStop.json",
        Kind::AssistantResponse,
        &[("stopReason", "end_turn"), ("lastAssistantMessage", "{last_assistant_message}")],
    ),
    says("hook-spec/SubagentStop.compaction", Kind::ContextSaved, &[("trigger", "compaction_helper")]),
    says(
        "hook-spec/TaskCreated",
        Kind::TodoLogged,
        &[("subject", "{task_name}"), ("description", "{task_description}"), ("todoState", "added")],
    ),
    says(
        "hook-spec/TaskCompleted",
        Kind::TodoLogged,
        &[("subject", "{task_name}"), ("todoState", "completed")],
    ),
    says(
        "hook-spec/Stop.json",
        Kind::AssistantResponse,
        &[("stopReason", "end_turn"), ("lastAssistantMessage", "{last_assistant_message}")],
    ),
    says(
        "hook-spec/StopFailure.",
        Kind::AssistantResponse,
        &[
            ("stopReason", "error:{error_type}"),
            ("error", "{error_type}"),
            ("errorDetails", "{error_message}"),
        ],
    ),
    says("hook-spec/PreCompact", Kind::ContextSaved, &[("trigger", "{trigger}"), ("compactPhase", "before")]),
    says("hook-spec/PreCompact.auto", Kind::ContextSaved, &[("customInstructions", "{custom_instructions}")]),
    says(
        "hook-spec/PostCompact",
        Kind::ContextSaved,
        &[("compactPhase", "after"), ("compactSummaryBytes", "49")],
    ),
    says(
        "hook-spec/CwdChanged",
        Kind::ContextSaved,
        &[("trigger", "cwd_changed"), ("oldCwd", "{old_cwd}"), ("newCwd", "{new_cwd}")],
    ),
    says("hook-spec/FileChanged", Kind::FileChanged, &[("filePath", "{file_path}"), ("relPath", ".env")]),
    says(
        "hook-spec/WorktreeCreate",
        Kind::WorktreeCreate,
        &[("worktreePath", "{worktree_path}"), ("worktreeName", "login")],
    ),
    says("hook-spec/WorktreeRemove", Kind::WorktreeRemove, &[("worktreePath", "{worktree_path}")]),
    says("hook-spec/Setup.", Kind::SetupTriggered, &[("trigger", "{trigger}")]),
    says(
        "hook-spec/UserPromptExpansion",
        Kind::UserPromptExpansion,
        &[
            ("expansionType", "slash_command"),
            ("commandName", "review"),
            ("commandArgs", "src"),
            ("commandSource", "project"),
        ],
    ),
    says(
        "hook-spec/Notification.",
        Kind::ContextSaved,
        &[
            ("trigger", "notification:{notification_type}"),
            ("notificationType", "{notification_type}"),
            ("message", "{notification_message}"),
        ],
    ),
    says(
        "hook-spec/ConfigChange.",
        Kind::ContextSaved,
        &[("trigger", "config_change:{config_source}"), ("configSource", "{config_source}")],
    ),
    says(
        "hook-spec/StatusLine.json",
        Kind::ContextSnapshot,
        &[
            ("contextWindowUsedPct", "42"),
            ("contextWindowRemainingPct", "58"),
            ("contextWindowSize", "200000"),
            ("contextWindowInputTokens", "12"),
            ("contextWindowOutputTokens", "300"),
            ("contextWindowCacheCreationTokens", "2000"),
            ("contextWindowCacheReadTokens", "81988"),
            ("rateLimitFiveHourUsedPct", "23.5"),
            ("rateLimitSevenDayUsedPct", "7"),
            ("costTotalUsd", "0.4321"),
            ("modelId", "claude-sonnet-4-6"),
            ("sessionVersion", "2.1.0"),
        ],
    ),
    says("hook-spec-older/SessionStart", Kind::SessionStarted, &[("sessionSource", "startup")]),
    says("hook-spec-older/SubagentStart", Kind::ActionLogged, &[("agentType", "general-purpose")]),
    says(
        "hook-spec-older/SubagentStop.json",
        Kind::AssistantResponse,
        &[("agentTranscriptPath", "{agent_transcript_path}"), ("stopHookActive", "false")],
    ),
    says("hook-spec-older/SubagentStop.compaction", Kind::ContextSaved, &[("agentId", "acompact-2")]),
    says(
        "hook-spec-older/PreToolUse.WebFetch",
        Kind::ToolUsed,
        &[("webUrls", "[\"https://example.com/api\"]")],
    ),
    says("hook-spec-older/PreCompact", Kind::ContextSaved, &[("compactPhase", "before")]),
    says(
        "hook-spec-older/PostCompact",
        Kind::ContextSaved,
        &[("trigger", "auto"), ("compactPhase", "after")],
    ),
    says(
        "hook-spec-codex/SessionStart.",
        Kind::ContextSaved,
        &[("trigger", "{source}"), ("model", "{model}")],
    ),
    says("hook-spec-codex/UserPromptSubmit", Kind::UserMessage, &[("promptOrigin", "user")]),
    says("hook-spec-codex/PreToolUse.Bash", Kind::TerminalCommand, &[("subtypeKey", "run_test")]),
    says("hook-spec-codex/PostToolUse.Bash", Kind::TerminalCommand, &[("outputBytes", "2")]),
    says("hook-spec-codex/PreToolUse.apply_patch", Kind::ToolUsed, &[("subtypeKey", "apply_patch")]),
    says("hook-spec-codex/PreToolUse.Edit", Kind::ToolUsed, &[("subtypeKey", "modify_file")]),
    says("hook-spec-codex/PreToolUse.Write", Kind::ToolUsed, &[("subtypeKey", "create_file")]),
    says("hook-spec-codex/PreToolUse.mcp__", Kind::AgentActivityLogged, &[("mcpServer", "github")]),
    says(
        "hook-spec-codex/PermissionRequest",
        Kind::RuleLogged,
        &[("ruleStatus", "requested"), ("ruleOutcome", "observed"), ("rulePolicy", "codex_permission")],
    ),
    says(
        "hook-spec-codex/Stop",
        Kind::AssistantResponse,
        &[("stopReason", "stop_hook"), ("stopHookActive", "false")],
    ),
    says("agent-context/PostToolUse.main", Kind::ToolUsed, &[("filePath", "{file_path}")]),
    says(
        "agent-context/PostToolUse.subagent",
        Kind::ToolUsed,
        &[("filePath", "{file_path}"), ("success", "true")],
    ),
    says("agent-context/PreToolUse.subagent", Kind::ToolUsed, &[("filePath", "{file_path}")]),
    says(
        "agent-context/PostToolUseFailure",
        Kind::ToolUsed,
        &[("errorClass", "permission"), ("durationMs", "3")],
    ),
    says("agent-context/Notification", Kind::ContextSaved, &[("message", "{message}")]),
    says("agent-context/PreCompact", Kind::ContextSaved, &[("trigger", "auto")]),
    says("agent-context/SubagentStop", Kind::AssistantResponse, &[("lastAssistantMessage", "Styled.")]),
    says("telemetry-spike/SessionStart", Kind::SessionStarted, &[]),
    says("telemetry-spike/SubagentStart", Kind::ActionLogged, &[("agentType", "tdd-reviewer")]),
    says(
        "telemetry-spike/SubagentStop.json",
        Kind::ActionLogged,
        &[("asyncStatus", "completed"), ("durationMs", "1200")],
    ),
    says(
        "telemetry-spike/SubagentStop.failed",
        Kind::ActionLogged,
        &[("asyncStatus", "failed"), ("durationMs", "1200"), ("errorClass", "unknown")],
    ),
    says(
        "telemetry-spike/PostToolUse.Read",
        Kind::ToolUsed,
        &[("skillName", "tdd"), ("durationMs", "4"), ("durationSource", "agent"), ("outputBytes", "5")],
    ),
    says("telemetry-spike/PostToolUse.command", Kind::ToolUsed, &[("skillName", "ship:release")]),
    says(
        "telemetry-spike/PostToolUse.Bash",
        Kind::TerminalCommand,
        &[("durationMs", "812"), ("importance", "critical")],
    ),
    says("telemetry-spike/SessionEnd", Kind::SessionEnded, &[("durationMs", "61000")]),
    says("hook-audit/PreToolUse.Bash", Kind::TerminalCommand, &[("timeoutMs", "120000")]),
    says("hook-audit/PostToolUse.Write", Kind::ToolUsed, &[("success", "true")]),
    says("hook-audit/PostToolUseFailure.json", Kind::TerminalCommand, &[("errorClass", "non_zero_exit")]),
    says("hook-audit/PostToolUseFailure.auto", Kind::TerminalCommand, &[("errorClass", "permission")]),
    says("hook-audit/PostToolUseFailure.permission", Kind::TerminalCommand, &[("errorClass", "permission")]),
    says("hook-audit/SubagentStart", Kind::ActionLogged, &[("agentType", "Explore")]),
    says("hook-audit/SubagentStop", Kind::ActionLogged, &[("asyncStatus", "completed")]),
    says("hook-audit/Stop", Kind::AssistantResponse, &[("stopHookActive", "true")]),
    says(
        "hook-audit/TeammateIdle",
        Kind::TeammateIdle,
        &[("teammateName", "researcher"), ("teamName", "my-project")],
    ),
    says(
        "hook-audit/TaskCompleted",
        Kind::TodoLogged,
        &[
            ("todoId", "task-001"),
            ("subject", "{task_subject}"),
            ("teammateName", "implementer"),
            ("teamName", "my-project"),
        ],
    ),
    says(
        "hook-audit/PreToolUse.Task",
        Kind::AgentActivityLogged,
        &[("agentName", "Explore"), ("agentModel", "sonnet")],
    ),
    says("hook-audit/PreToolUse.Read", Kind::ToolUsed, &[("readOffset", "10"), ("readLimit", "50")]),
    says("hook-audit/PreToolUse.Grep", Kind::ToolUsed, &[("searchGlob", "*.ts")]),
];

pub(super) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/seeds")
}

/// Every payload of a hook or of the status line: `<document>/<file>` and what it holds.
pub(super) fn payloads() -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for document in std::fs::read_dir(folder()).unwrap() {
        let document = document.unwrap().path();
        let title = document.file_name().unwrap().to_str().unwrap().to_owned();
        // What is posted to the server is read by the server.
        if title == "ingest" {
            continue;
        }
        for file in std::fs::read_dir(&document).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if name.ends_with(".json") {
                let payload = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
                all.push((format!("{title}/{name}"), payload));
            }
        }
    }
    all.sort_by(|(one, _), (two, _)| one.cmp(two));
    assert!(all.len() > 150, "{}", all.len());
    all
}

/// Reads a payload as its hook would have written it.
pub(super) fn reading(name: &str, payload: &Value) -> Reading {
    let agent = if name.contains("codex") { Agent::Codex } else { Agent::ClaudeCode };
    let status_line = name.contains("/StatusLine");
    let (source, privacy) = match agent {
        Agent::Codex => (Source::Hook, agent_tracer_privacy::Source::CodexHook),
        Agent::ClaudeCode if status_line => (Source::StatusLine, agent_tracer_privacy::Source::StatusLine),
        Agent::ClaudeCode => (Source::Hook, agent_tracer_privacy::Source::ClaudeHook),
    };
    let config = Config { level: Level::Actions, ..Config::default() };
    let mut body = Vec::new();
    let whole = serde_json::to_vec(payload).unwrap();
    let reduction = reduce(&whole, privacy, &config, &mut || [7; 16], &mut body);
    assert_eq!(reduction.fault, None, "{name}");
    read(&Observation {
        agent,
        channel: Channel::Hook,
        name: "1731-812-0",
        arrived: Millis(1_790_000_000_000),
        source,
        body: &body,
        context: &Context::default(),
    })
}

/// What a template of the table stands for in this payload.
fn expected(template: &str, payload: &Value) -> Value {
    let member = |name: &str| {
        let found = payload.get(name).or_else(|| payload.get("tool_input")?.get(name));
        found.unwrap_or_else(|| panic!("{name} is in {payload}")).clone()
    };
    if let Some((before, rest)) = template.split_once('{')
        && let Some((name, _)) = rest.split_once('}')
    {
        let value = member(name);
        return if before.is_empty() { value } else { json!(format!("{before}{}", value.as_str().unwrap())) };
    }
    serde_json::from_str(template).unwrap_or_else(|_| json!(template))
}

#[test]
fn every_payload_of_the_documents_is_understood_whole() {
    let mut wrong = Vec::new();
    for (name, payload) in payloads() {
        let reading = reading(&name, &payload);
        assert_eq!(reading.unrecognised, [], "{name}");
        if name.ends_with("StatusLine.first.json") {
            let snapshot = |entry: &Entry| entry.subject == Subject::Event(Kind::ContextSnapshot);
            assert!(!reading.entries.iter().any(snapshot), "without a percentage nothing is recorded");
            continue;
        }
        let rows: Vec<&Says> = TABLE.iter().filter(|row| name.starts_with(row.files)).collect();
        let is_pair = name.contains("/PostToolUse.") && name.starts_with("hook-spec");
        assert!(is_pair || !rows.is_empty(), "{name} is in the table");
        for row in rows {
            let found: Vec<&Entry> =
                reading.entries.iter().filter(|entry| entry.subject == Subject::Event(row.kind)).collect();
            if found.is_empty() {
                wrong.push(format!("{name}: no {}", row.kind));
            }
            for (key, template) in row.members {
                let wanted = expected(template, &payload);
                let given: Vec<Option<&Value>> = found.iter().map(|entry| entry.metadata.get(*key)).collect();
                if !given.contains(&Some(&wanted)) {
                    wrong.push(format!("{name}: {} {key} is {given:?} and should be {wanted}", row.kind));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_row_of_the_table_has_a_payload() {
    let names: Vec<String> = payloads().into_iter().map(|(name, _)| name).collect();
    for row in TABLE {
        assert!(names.iter().any(|name| name.starts_with(row.files)), "{}", row.files);
    }
}

#[test]
fn what_returned_is_the_call_that_was_attempted() {
    let all = payloads();
    let mut pairs = 0;
    for (name, attempt) in all.iter().filter(|(name, _)| name.contains("/PreToolUse.")) {
        let after = name.replace("PreToolUse", "PostToolUse");
        let Some((_, returned)) = all.iter().find(|(other, _)| *other == after) else { continue };
        if returned.get("tool_use_id").is_none() {
            continue;
        }
        let call = |payload: &Value, name: &str| {
            let reading = reading(name, payload);
            reading.entries.into_iter().find(|entry| entry.key.starts_with("tool:")).unwrap()
        };
        let (before, after) = (call(attempt, name), call(returned, &after));
        assert_eq!((&before.key, before.subject, &before.title), (&after.key, after.subject, &after.title));
        assert_eq!(before.state, Some(CallState::Running), "{name}");
        assert_eq!(after.state, Some(CallState::Succeeded), "{name}");
        pairs += 1;
    }
    assert!(pairs > 30, "{pairs}");
}

/// Members under their older and their present name, by the event they stand on.
const RENAMED: &[(&str, &str, &str)] = &[
    ("SubagentStart", "subagent_type", "agent_type"),
    ("SubagentStop", "subagent_type", "agent_type"),
    ("TaskCreated", "task_name", "task_subject"),
    ("TaskCompleted", "task_name", "task_subject"),
    ("StopFailure", "error_type", "error"),
    ("Notification", "notification_message", "message"),
    ("ConfigChange", "config_source", "source"),
    ("PostToolUse", "tool_output", "tool_response"),
];
const RENAMED_INPUTS: &[(&str, &str, &str)] = &[
    ("TaskCreate", "task_subject", "subject"),
    ("TaskCreate", "task_description", "description"),
    ("TaskUpdate", "task_id", "taskId"),
    ("CronCreate", "schedule", "cron"),
];

fn rename(members: &mut Map<String, Value>, old: &str, new: &str) -> bool {
    let Some(value) = members.remove(old) else { return false };
    members.insert(new.to_owned(), value);
    true
}

/// What a reading says, without the copy of the input as it was spelled.
fn told(reading: &Reading) -> Vec<Entry> {
    let mut entries = reading.entries.clone();
    for entry in &mut entries {
        entry.metadata.remove("toolInput");
        entry.metadata.remove("callSignature");
        // The order of members in a payload shows in nothing that people see.
        entry.metadata.sort_keys();
    }
    entries
}

#[test]
fn an_older_spelling_says_what_the_clients_own_says() {
    let mut renamed = BTreeSet::new();
    for (name, payload) in payloads() {
        let mut client = payload.clone();
        let members = client.as_object_mut().unwrap();
        let event = members.get("hook_event_name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let tool = members.get("tool_name").and_then(Value::as_str).unwrap_or_default().to_owned();
        for (on, old, new) in RENAMED {
            if *on == event && rename(members, old, new) {
                renamed.insert((*on, *old));
            }
        }
        if let Some(input) = members.get_mut("tool_input").and_then(Value::as_object_mut) {
            for (on, old, new) in RENAMED_INPUTS {
                if *on == tool && rename(input, old, new) {
                    renamed.insert((*on, *old));
                }
            }
        }
        assert_eq!(told(&reading(&name, &payload)), told(&reading(&name, &client)), "{name}");
    }
    assert_eq!(renamed.len(), RENAMED.len() + RENAMED_INPUTS.len(), "{renamed:?}");
}

#[test]
fn a_payload_of_a_subagent_is_the_subagents_and_names_its_transcript() {
    for (name, payload) in payloads().iter().filter(|(name, _)| name.starts_with("agent-context/")) {
        let reading = reading(name, payload);
        let subagent = payload.get("agent_id").is_some();
        let task = reading.entries.iter().find(|entry| entry.subject == Subject::Task).unwrap();
        let session = if subagent { "sub--f7e8d9c0" } else { "abc-123" };
        assert_eq!(task.task.runtime_session, session, "{name}");
        assert_eq!(task.metadata["agentType"], if subagent { "ui-designer" } else { "main" }, "{name}");
        assert_eq!(
            task.metadata["transcriptPath"],
            payload.get("agent_transcript_path").unwrap_or(&payload["transcript_path"]).clone(),
            "{name}"
        );
    }
}

#[test]
fn times_parents_and_failures_that_only_documents_have_are_kept() {
    let at = Millis::parse("2026-02-17T10:00:00.250Z").unwrap();
    for (name, payload) in payloads().iter().filter(|(name, _)| name.starts_with("telemetry-spike/")) {
        for entry in reading(name, payload).entries {
            assert_eq!(entry.occurred_at, at, "{name}");
            if entry.subject == Subject::Task && entry.task.runtime_session == "sub--a9" {
                assert!(
                    entry.metadata.get("parentSession").is_none_or(|parent| parent == "s-spike"),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn rows_with_the_usage_beside_the_message_are_counted_and_nothing_else_of_them_is_told() {
    let path = folder().join("telemetry-spike/s-spike.jsonl");
    let content = std::fs::read(&path).unwrap();
    let captured = Captured { scenario: "seeds".to_owned(), path, content };
    for level in [Level::Metadata, Level::Actions] {
        let told = read_transcript(&captured, level);
        assert_eq!(told.unrecognised(), [], "{level:?}");
        let entries = told.entries();
        let used: Vec<&Entry> =
            entries.iter().filter(|entry| entry.subject == Subject::Event(Kind::TokenUsage)).collect();
        assert_eq!(used.len(), 2);
        let sum =
            used.iter().fold(Usage::default(), |sum, entry| sum.plus(&Usage::read(&entry.metadata).unwrap()));
        assert_eq!(
            (sum.input_tokens, sum.output_tokens, sum.cache_read_tokens, sum.cache_creation_tokens),
            (127, 75, 1980, 60)
        );
        let cost: f64 = used.iter().filter_map(|entry| entry.metadata["clientCostUsd"].as_f64()).sum();
        assert!((cost - 0.0165).abs() < 1e-9, "{cost}");
        assert_eq!(used[0].metadata["model"], "claude-sonnet-4-20250514");
        assert_eq!(used[0].metadata["durationMs"], 950);
        let failed: Vec<&Entry> =
            entries.iter().filter(|entry| entry.subject == Subject::Event(Kind::ModelRequest)).collect();
        assert_eq!((failed.len(), &failed[0].metadata["httpStatus"]), (1, &json!(529)));
        let text = serde_json::to_string(&entries).unwrap();
        assert!(!text.contains("canary-seed-result") && !text.contains("canary-seed-system"), "{text}");
    }
}
