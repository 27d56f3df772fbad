//! The answers that Codex obeys. Where it does not accept a member, it refuses the whole answer.

use agent_tracer_event::Agent;

use super::Client;
use crate::legality::AnswerForm;
use crate::legality::Provenance::{Declared, Measured};
use crate::words::Decision::{self, Allow, Ask, Deny, Rewrite, Warn};
use crate::words::Event;

pub(super) const CLIENT: Client = Client {
    agent: Agent::CODEX,
    cells: &[
        (Event::UserPromptSubmit, Warn, AnswerForm::Context, Declared),
        (Event::UserPromptSubmit, Deny, AnswerForm::Block, Measured),
        (Event::UserPromptSubmit, Decision::Stop, AnswerForm::Continue, Declared),
        // Codex refuses `allow` without a new input, `ask` and `continue: false` at the next two, and then runs the tool.
        (Event::PreToolUse, Rewrite, AnswerForm::UpdatedInput, Measured),
        (Event::PreToolUse, Warn, AnswerForm::Context, Measured),
        (Event::PreToolUse, Ask, AnswerForm::DenyInstead, Measured),
        (Event::PreToolUse, Deny, AnswerForm::Permission, Measured),
        (Event::PreToolUse, Decision::Stop, AnswerForm::DenyInstead, Declared),
        (Event::PermissionRequest, Allow, AnswerForm::Behavior, Declared),
        (Event::PermissionRequest, Warn, AnswerForm::SystemMessage, Declared),
        (Event::PermissionRequest, Deny, AnswerForm::Behavior, Declared),
        (Event::PermissionRequest, Decision::Stop, AnswerForm::DenyInstead, Declared),
        (Event::PostToolUse, Warn, AnswerForm::Context, Measured),
        (Event::PostToolUse, Deny, AnswerForm::Block, Declared),
        (Event::PostToolUse, Decision::Stop, AnswerForm::Continue, Declared),
        (Event::Stop, Warn, AnswerForm::SystemMessage, Declared),
        (Event::Stop, Deny, AnswerForm::Block, Measured),
        (Event::Stop, Decision::Stop, AnswerForm::Continue, Declared),
        (Event::SubagentStop, Warn, AnswerForm::SystemMessage, Declared),
        (Event::SubagentStop, Deny, AnswerForm::Block, Declared),
        (Event::SubagentStop, Decision::Stop, AnswerForm::Continue, Declared),
    ],
    // At tool events Codex refuses an answer with `suppressOutput` as a whole, and then runs the tool.
    may_suppress: &[Event::UserPromptSubmit, Event::Stop, Event::SubagentStop],
    may_update_permissions: &[],
    aliases: &[
        ("apply_patch", &["Edit", "Write"]),
        ("spawn_agent", &["Agent"]),
        ("collaborationspawn_agent", &["Agent"]),
    ],
    // Rules that name one of these would be silently not in force, and a replay would count decisions that no hook
    // was asked for.
    unasked_tools: &[
        "exec",
        "wait",
        "wait_for_code",
        "write_stdin",
        "web_search",
        "web_search_call",
        "image_generation_call",
        "tool_search_call",
        "user_shell",
    ],
    refuses_bad_input: false,
};
