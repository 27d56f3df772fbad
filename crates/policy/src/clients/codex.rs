//! The answers that Codex obeys. Where it does not accept a member, it refuses the whole answer.

use agent_tracer_event::Agent;

use super::Client;
use crate::legality::Means;
use crate::legality::Provenance::{Declared, Measured};
use crate::words::Decision::{self, Allow, Ask, Deny, Rewrite, Warn};
use crate::words::Event;

pub(super) const CLIENT: Client = Client {
    agent: Agent::CODEX,
    cells: &[
        (Event::UserPromptSubmit, Warn, Means::Context, Declared),
        (Event::UserPromptSubmit, Deny, Means::Block, Measured),
        (Event::UserPromptSubmit, Decision::Stop, Means::Continue, Declared),
        // Codex refuses `allow` without a new input, `ask` and `continue: false` at the next two, and then runs the tool.
        (Event::PreToolUse, Rewrite, Means::UpdatedInput, Measured),
        (Event::PreToolUse, Warn, Means::Context, Measured),
        (Event::PreToolUse, Ask, Means::DenyInstead, Measured),
        (Event::PreToolUse, Deny, Means::Permission, Measured),
        (Event::PreToolUse, Decision::Stop, Means::DenyInstead, Declared),
        (Event::PermissionRequest, Allow, Means::Behavior, Declared),
        (Event::PermissionRequest, Warn, Means::SystemMessage, Declared),
        (Event::PermissionRequest, Deny, Means::Behavior, Declared),
        (Event::PermissionRequest, Decision::Stop, Means::DenyInstead, Declared),
        (Event::PostToolUse, Warn, Means::Context, Measured),
        (Event::PostToolUse, Deny, Means::Block, Declared),
        (Event::PostToolUse, Decision::Stop, Means::Continue, Declared),
        (Event::Stop, Warn, Means::SystemMessage, Declared),
        (Event::Stop, Deny, Means::Block, Measured),
        (Event::Stop, Decision::Stop, Means::Continue, Declared),
        (Event::SubagentStop, Warn, Means::SystemMessage, Declared),
        (Event::SubagentStop, Deny, Means::Block, Declared),
        (Event::SubagentStop, Decision::Stop, Means::Continue, Declared),
    ],
    may_suppress: &[Event::UserPromptSubmit, Event::Stop, Event::SubagentStop],
    may_update_permissions: &[],
    aliases: &[
        ("apply_patch", &["Edit", "Write"]),
        ("spawn_agent", &["Agent"]),
        ("collaborationspawn_agent", &["Agent"]),
    ],
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
