//! Attachments: what the client puts into the conversation beside it. Of some thirty kinds a few tell of something that
//! happened: a hook that failed or decided, and a prompt that was put into a running turn.
//!
//! Everything else is context for the model (instructions, listings, reminders, contents of files): it is measured, and
//! not kept.

use agent_tracer_event::{CallState, Kind, Phase, Unrecognised, attributes};
use serde_json::Value;

use super::scan::Cursor;
use super::text::Text;
use super::writer::{RowWriter, put};
use super::{additions, prompts};
use crate::text::base_name;

/// Kinds that are context and no event.
// A list and no default: a kind that a newer client adds may be an event, and is counted until it stands here.
const SILENT: &[&str] = &[
    "agent_listing_delta",
    "agent_mention",
    "async_hook_response",
    "auto_mode",
    "auto_mode_exit",
    "budget_usd",
    "command_permissions",
    "companion_intro",
    "compact_file_reference",
    "compaction_reminder",
    "context_efficiency",
    "critical_system_reminder",
    "current_session_memory",
    "date",
    "date_change",
    "deferred_tools_delta",
    "diagnostics",
    "directory",
    "dynamic_skill",
    "edited_image_file",
    "edited_text_file",
    "environment",
    "file",
    "goal_status",
    "hook_additional_context",
    "hook_success",
    "hook_system_message",
    "image",
    "instructions",
    "invoked_skills",
    "mcp_instructions_delta",
    "mcp_resource",
    "memory",
    "model",
    "nested_memory",
    "new_directory",
    "new_file",
    "opened_file_in_ide",
    "output_style",
    "output_token_usage",
    "pdf_reference",
    "plan_file_reference",
    "plan_mode",
    "plan_mode_exit",
    "plan_mode_reentry",
    "prompt_snapshot",
    "relevant_memories",
    "remote_session_change",
    "selected_lines_in_ide",
    "session_context",
    "silent_turn_reminder",
    "skill_discovery",
    "skill_listing",
    "structured_output",
    "task_progress",
    "task_reminder",
    "task_status",
    "team_context",
    "teammate_mailbox",
    "teammate_shutdown_batch",
    "todo",
    "todo_reminder",
    "token_usage",
    "total_tokens_reminder",
    "ultra_effort_enter",
    "ultra_effort_exit",
    "ultramemory",
    "ultrathink_effort",
    "verify_plan_reminder",
    "workflow_keyword_request",
];

/// An attachment, as far as anybody asks for it.
#[derive(Clone, Copy, Debug, Default)]
struct Attachment<'a> {
    kind: Text<'a>,
    hook_name: Text<'a>,
    hook_event: Text<'a>,
    tool_use: Text<'a>,
    decision: Text<'a>,
    command: Text<'a>,
    prompt: Text<'a>,
    exit_code: Option<f64>,
    duration_ms: Option<u64>,
}

fn read(bytes: &[u8]) -> Option<Attachment<'_>> {
    let mut attachment = Attachment::default();
    let mut cursor = Cursor::new(bytes);
    cursor
        .members(|cursor, name| {
            let field = match &*name.name() {
                b"type" => &mut attachment.kind,
                b"hookName" => &mut attachment.hook_name,
                b"hookEvent" => &mut attachment.hook_event,
                b"toolUseID" => &mut attachment.tool_use,
                b"decision" => &mut attachment.decision,
                b"command" => &mut attachment.command,
                b"prompt" => &mut attachment.prompt,
                b"exitCode" => {
                    attachment.exit_code = cursor.number()?;
                    return Ok(());
                }
                b"durationMs" => {
                    attachment.duration_ms = cursor.count()?;
                    return Ok(());
                }
                _ => return cursor.skip(),
            };
            *field = cursor.text()?.unwrap_or_default();
            Ok(())
        })
        .ok()?;
    Some(attachment)
}

/// Reads a row with an attachment.
pub(super) fn attachment(writer: &mut RowWriter<'_, '_>) {
    additions::measure(writer);
    let Some(attachment) = writer.row.attachment.and_then(read) else { return };
    let kind = attachment.kind.head(60);
    match &*kind {
        "queued_command" => prompts::steer(writer, &attachment.prompt.decode(), prompts::Steering::Attached),
        "max_turns_reached" => limited(writer),
        "hook_blocking_error" => decided(writer, &attachment, "deny", "Blocked by a hook"),
        "hook_stopped_continuation" => decided(writer, &attachment, "block_stop", "Stopped by a hook"),
        "hook_deferred_tool" => decided(writer, &attachment, "ask", "Deferred by a hook"),
        "hook_permission_decision" => {
            let outcome = match &*attachment.decision.head(20) {
                "allow" => "allow",
                "deny" => "deny",
                _ => "ask",
            };
            decided(writer, &attachment, outcome, "Decided by a hook");
        }
        "hook_non_blocking_error" | "hook_cancelled" | "hook_error_during_execution" | "hook_timeout" => {
            failed(writer, &attachment, &kind);
        }
        silent if SILENT.contains(&silent) => {}
        other => {
            let other = writer.rules.word(other);
            writer.state.counts.unrecognised += 1;
            writer.reading.unrecognised.push(Unrecognised::Row(format!("attachment/{other}")));
        }
    }
}

/// Reads a turn that came to the end that its caller had set; no answer and no hook follow.
fn limited(writer: &mut RowWriter<'_, '_>) {
    if let Some(mut turn) = writer.close_turn(CallState::Interrupted) {
        put(&mut turn.metadata, attributes::STOP_REASON, "max_turns");
        writer.push(turn);
    }
}

/// Reads the decision of a hook of the user's.
fn decided(writer: &mut RowWriter<'_, '_>, attachment: &Attachment<'_>, outcome: &str, title: &str) {
    let mut entry = writer.event(Kind::RuleLogged, Phase::Close, writer.own_key());
    entry.title = Some(titled(writer, title, attachment));
    entry.ended_at = Some(writer.at);
    put(&mut entry.metadata, attributes::RULE_STATUS, if outcome == "allow" { "allowed" } else { "denied" });
    put(&mut entry.metadata, attributes::RULE_OUTCOME, outcome);
    put(&mut entry.metadata, attributes::RULE_POLICY, "user_hook");
    about(writer, attachment, &mut entry.metadata);
    if outcome != "allow" {
        put(&mut entry.metadata, attributes::IMPORTANCE, "critical");
    }
    let call = writer.word(attachment.tool_use);
    // Hooks of other events than a tool's have an id here that is no call's.
    entry.tool_use_id = Some(call).filter(|id| id.starts_with("toolu_") || id.starts_with("srvtoolu_"));
    writer.push(entry);
}

/// Reads the failure of a hook.
fn failed(writer: &mut RowWriter<'_, '_>, attachment: &Attachment<'_>, kind: &str) {
    let mut entry = writer.event(Kind::ContextSaved, Phase::Close, writer.own_key());
    entry.title = Some(titled(
        writer,
        if kind == "hook_cancelled" { "Hook cancelled" } else { "Hook failed" },
        attachment,
    ));
    entry.ended_at = Some(writer.at);
    put(&mut entry.metadata, attributes::TRIGGER, kind);
    about(writer, attachment, &mut entry.metadata);
    writer.push(entry);
}

fn titled(writer: &RowWriter<'_, '_>, what: &str, attachment: &Attachment<'_>) -> String {
    let name = writer.word(attachment.hook_name);
    crate::text::title(&if name.is_empty() { what.to_owned() } else { format!("{what}: {name}") })
}

fn about(
    writer: &RowWriter<'_, '_>,
    attachment: &Attachment<'_>,
    metadata: &mut agent_tracer_event::Metadata,
) {
    put(metadata, attributes::HOOK_NAME, writer.word(attachment.hook_name));
    put(metadata, attributes::HOOK_EVENT, writer.word(attachment.hook_event));
    put(metadata, attributes::TOOL_USE_ID, writer.word(attachment.tool_use));
    put(metadata, attributes::EXIT_CODE, attachment.exit_code.map(|code| code as i64));
    put(metadata, attributes::DURATION_MS, attachment.duration_ms);
    // Which program it was, and not what it was called with.
    let command = attachment.command.head(400);
    let program =
        command.trim_start_matches('"').split([' ', '"']).find(|word| !word.is_empty()).unwrap_or_default();
    put(metadata, attributes::PROGRAM, writer.rules.word(base_name(program)));
    put(metadata, attributes::DECISION, Value::from(writer.word(attachment.decision)));
}
