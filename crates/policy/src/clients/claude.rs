//! The answers that Claude Code obeys.

use agent_tracer_event::Agent;

use super::Client;
use crate::legality::Means;
use crate::legality::Provenance::{Declared, Measured};
use crate::words::Decision::{self, Allow, Ask, Deny, Rewrite, Warn};
use crate::words::Event;

pub(super) const CLIENT: Client = Client {
    agent: Agent::CLAUDE_CODE,
    cells: &[
        (Event::UserPromptSubmit, Warn, Means::Context, Measured),
        (Event::UserPromptSubmit, Deny, Means::Block, Measured),
        (Event::UserPromptSubmit, Decision::Stop, Means::Continue, Declared),
        (Event::PreToolUse, Allow, Means::Permission, Measured),
        (Event::PreToolUse, Rewrite, Means::UpdatedInput, Measured),
        (Event::PreToolUse, Warn, Means::Context, Measured),
        (Event::PreToolUse, Ask, Means::Permission, Measured),
        (Event::PreToolUse, Deny, Means::Permission, Measured),
        (Event::PreToolUse, Decision::Stop, Means::Continue, Measured),
        (Event::PermissionRequest, Allow, Means::Behavior, Measured),
        (Event::PermissionRequest, Rewrite, Means::BehaviorWithInput, Declared),
        (Event::PermissionRequest, Warn, Means::SystemMessage, Declared),
        (Event::PermissionRequest, Deny, Means::Behavior, Measured),
        (Event::PermissionRequest, Decision::Stop, Means::Interrupt, Declared),
        (Event::PostToolUse, Warn, Means::Context, Measured),
        (Event::PostToolUse, Deny, Means::Block, Measured),
        (Event::PostToolUse, Decision::Stop, Means::Continue, Declared),
        (Event::PostToolUseFailure, Warn, Means::Context, Declared),
        (Event::PostToolUseFailure, Deny, Means::Block, Declared),
        (Event::PostToolUseFailure, Decision::Stop, Means::Continue, Declared),
        (Event::Stop, Warn, Means::SystemMessage, Declared),
        (Event::Stop, Deny, Means::Block, Measured),
        (Event::Stop, Decision::Stop, Means::Continue, Declared),
        (Event::SubagentStop, Warn, Means::SystemMessage, Declared),
        (Event::SubagentStop, Deny, Means::Block, Measured),
        (Event::SubagentStop, Decision::Stop, Means::Continue, Declared),
        (Event::TaskCompleted, Warn, Means::SystemMessage, Declared),
        (Event::TaskCompleted, Deny, Means::ExitTwo, Declared),
        (Event::TaskCompleted, Decision::Stop, Means::Continue, Declared),
        (Event::TeammateIdle, Warn, Means::SystemMessage, Declared),
        (Event::TeammateIdle, Deny, Means::ExitTwo, Declared),
        (Event::TeammateIdle, Decision::Stop, Means::Continue, Declared),
    ],
    may_suppress: Event::ALL,
    may_update_permissions: &[Event::PermissionRequest],
    aliases: &[("Agent", &["Task"]), ("Task", &["Agent"])],
    unasked_tools: &[],
    refuses_bad_input: true,
};
