//! The answers that Claude Code obeys.

use agent_tracer_event::Agent;

use super::Client;
use crate::legality::AnswerForm;
use crate::legality::Provenance::{Declared, Measured};
use crate::words::Decision::{self, Allow, Ask, Deny, Rewrite, Warn};
use crate::words::Event;

pub(super) const CLIENT: Client = Client {
    agent: Agent::CLAUDE_CODE,
    cells: &[
        (Event::UserPromptSubmit, Warn, AnswerForm::Context, Measured),
        (Event::UserPromptSubmit, Deny, AnswerForm::Block, Measured),
        (Event::UserPromptSubmit, Decision::Stop, AnswerForm::Continue, Declared),
        (Event::PreToolUse, Allow, AnswerForm::Permission, Measured),
        (Event::PreToolUse, Rewrite, AnswerForm::UpdatedInput, Measured),
        (Event::PreToolUse, Warn, AnswerForm::Context, Measured),
        (Event::PreToolUse, Ask, AnswerForm::Permission, Measured),
        (Event::PreToolUse, Deny, AnswerForm::Permission, Measured),
        (Event::PreToolUse, Decision::Stop, AnswerForm::Continue, Measured),
        (Event::PermissionRequest, Allow, AnswerForm::Behavior, Measured),
        (Event::PermissionRequest, Rewrite, AnswerForm::BehaviorWithInput, Declared),
        (Event::PermissionRequest, Warn, AnswerForm::SystemMessage, Declared),
        (Event::PermissionRequest, Deny, AnswerForm::Behavior, Measured),
        (Event::PermissionRequest, Decision::Stop, AnswerForm::Interrupt, Declared),
        (Event::PostToolUse, Warn, AnswerForm::Context, Measured),
        (Event::PostToolUse, Deny, AnswerForm::Block, Measured),
        (Event::PostToolUse, Decision::Stop, AnswerForm::Continue, Declared),
        (Event::PostToolUseFailure, Warn, AnswerForm::Context, Declared),
        (Event::PostToolUseFailure, Deny, AnswerForm::Block, Declared),
        (Event::PostToolUseFailure, Decision::Stop, AnswerForm::Continue, Declared),
        (Event::Stop, Warn, AnswerForm::SystemMessage, Declared),
        (Event::Stop, Deny, AnswerForm::Block, Measured),
        (Event::Stop, Decision::Stop, AnswerForm::Continue, Declared),
        (Event::SubagentStop, Warn, AnswerForm::SystemMessage, Declared),
        (Event::SubagentStop, Deny, AnswerForm::Block, Measured),
        (Event::SubagentStop, Decision::Stop, AnswerForm::Continue, Declared),
        (Event::TaskCompleted, Warn, AnswerForm::SystemMessage, Declared),
        (Event::TaskCompleted, Deny, AnswerForm::ExitTwo, Declared),
        (Event::TaskCompleted, Decision::Stop, AnswerForm::Continue, Declared),
        (Event::TeammateIdle, Warn, AnswerForm::SystemMessage, Declared),
        (Event::TeammateIdle, Deny, AnswerForm::ExitTwo, Declared),
        (Event::TeammateIdle, Decision::Stop, AnswerForm::Continue, Declared),
    ],
    may_suppress: Event::ALL,
    may_update_permissions: &[Event::PermissionRequest],
    // The tool that starts a subagent was `Task` before it was `Agent`; rules of either time mean the same.
    aliases: &[("Agent", &["Task"]), ("Task", &["Agent"])],
    unasked_tools: &[],
    refuses_bad_input: true,
};
