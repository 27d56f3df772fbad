//! The decisions that work at each event, and their outputs: one table for the reader of rules, the writer of answers and the
//! document.
//!
//! A cell stands here only if the client acts on that output. What a client cannot do is done by the nearest
//! *stricter* thing that it can ([`Means::DenyInstead`]); where there is none, the cell is missing and the rule keeps
//! silent for that agent. So an answer is never weaker than the rule.

use std::fmt::Write as _;

use agent_tracer_event::Agent;

use crate::words::{Decision, Event};

/// The output by which a decision reaches an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Means {
    /// `hookSpecificOutput.permissionDecision`, with its reason.
    Permission,
    /// `hookSpecificOutput.permissionDecision: "allow"` with `updatedInput`.
    UpdatedInput,
    /// The client cannot do this here: `permissionDecision: "deny"`, or the behaviour `deny`, instead.
    DenyInstead,
    /// `hookSpecificOutput.decision.behavior`.
    Behavior,
    /// `hookSpecificOutput.decision.behavior: "allow"` with `updatedInput`.
    BehaviorWithInput,
    /// `hookSpecificOutput.decision.behavior: "deny"` with `interrupt: true`.
    Interrupt,
    /// `decision: "block"` with its reason.
    Block,
    /// `hookSpecificOutput.additionalContext`, which the model reads.
    Context,
    /// `systemMessage`, which the human reads.
    SystemMessage,
    /// `continue: false` with `stopReason`.
    Continue,
    /// Exit code 2, with the reason on standard error.
    ExitTwo,
}

impl Means {
    /// As the document says it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Permission => "`permissionDecision`",
            Self::UpdatedInput => "`permissionDecision: allow` + `updatedInput`",
            Self::DenyInstead => "denies instead",
            Self::Behavior => "`decision.behavior`",
            Self::BehaviorWithInput => "`decision.behavior: allow` + `updatedInput`",
            Self::Interrupt => "`decision.behavior: deny` + `interrupt`",
            Self::Block => "`decision: block`",
            Self::Context => "`additionalContext`",
            Self::SystemMessage => "`systemMessage`",
            Self::Continue => "`continue: false` + `stopReason`",
            Self::ExitTwo => "exit code 2",
        }
    }
}

/// The evidence that an output works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Provenance {
    /// Seen: the client did it.
    Measured,
    /// The client's own schema or text says so.
    Declared,
}

/// One decision at one event of one agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cell {
    /// The agent.
    pub agent: Agent,
    /// The event.
    pub event: Event,
    /// The decision.
    pub decision: Decision,
    /// By which output.
    pub means: Means,
    /// The evidence.
    pub known: Provenance,
}

const fn cell(agent: Agent, event: Event, decision: Decision, means: Means, known: Provenance) -> Cell {
    Cell { agent, event, decision, means, known }
}

const CLAUDE_CODE: Agent = Agent::CLAUDE_CODE;
const CODEX: Agent = Agent::CODEX;

use Decision::{Allow, Ask, Deny, Rewrite, Warn};
use Provenance::{Declared, Measured};

/// Every decision that works.
pub const TABLE: &[Cell] = &[
    cell(CLAUDE_CODE, Event::UserPromptSubmit, Warn, Means::Context, Measured),
    cell(CLAUDE_CODE, Event::UserPromptSubmit, Deny, Means::Block, Measured),
    cell(CLAUDE_CODE, Event::UserPromptSubmit, Decision::Stop, Means::Continue, Declared),
    cell(CLAUDE_CODE, Event::PreToolUse, Allow, Means::Permission, Measured),
    cell(CLAUDE_CODE, Event::PreToolUse, Rewrite, Means::UpdatedInput, Measured),
    cell(CLAUDE_CODE, Event::PreToolUse, Warn, Means::Context, Measured),
    cell(CLAUDE_CODE, Event::PreToolUse, Ask, Means::Permission, Measured),
    cell(CLAUDE_CODE, Event::PreToolUse, Deny, Means::Permission, Measured),
    cell(CLAUDE_CODE, Event::PreToolUse, Decision::Stop, Means::Continue, Measured),
    cell(CLAUDE_CODE, Event::PermissionRequest, Allow, Means::Behavior, Measured),
    cell(CLAUDE_CODE, Event::PermissionRequest, Rewrite, Means::BehaviorWithInput, Declared),
    cell(CLAUDE_CODE, Event::PermissionRequest, Warn, Means::SystemMessage, Declared),
    cell(CLAUDE_CODE, Event::PermissionRequest, Deny, Means::Behavior, Measured),
    cell(CLAUDE_CODE, Event::PermissionRequest, Decision::Stop, Means::Interrupt, Declared),
    cell(CLAUDE_CODE, Event::PostToolUse, Warn, Means::Context, Measured),
    cell(CLAUDE_CODE, Event::PostToolUse, Deny, Means::Block, Measured),
    cell(CLAUDE_CODE, Event::PostToolUse, Decision::Stop, Means::Continue, Declared),
    cell(CLAUDE_CODE, Event::PostToolUseFailure, Warn, Means::Context, Declared),
    cell(CLAUDE_CODE, Event::PostToolUseFailure, Deny, Means::Block, Declared),
    cell(CLAUDE_CODE, Event::PostToolUseFailure, Decision::Stop, Means::Continue, Declared),
    cell(CLAUDE_CODE, Event::Stop, Warn, Means::SystemMessage, Declared),
    cell(CLAUDE_CODE, Event::Stop, Deny, Means::Block, Measured),
    cell(CLAUDE_CODE, Event::Stop, Decision::Stop, Means::Continue, Declared),
    cell(CLAUDE_CODE, Event::SubagentStop, Warn, Means::SystemMessage, Declared),
    cell(CLAUDE_CODE, Event::SubagentStop, Deny, Means::Block, Measured),
    cell(CLAUDE_CODE, Event::SubagentStop, Decision::Stop, Means::Continue, Declared),
    cell(CLAUDE_CODE, Event::TaskCompleted, Warn, Means::SystemMessage, Declared),
    cell(CLAUDE_CODE, Event::TaskCompleted, Deny, Means::ExitTwo, Declared),
    cell(CLAUDE_CODE, Event::TaskCompleted, Decision::Stop, Means::Continue, Declared),
    cell(CLAUDE_CODE, Event::TeammateIdle, Warn, Means::SystemMessage, Declared),
    cell(CLAUDE_CODE, Event::TeammateIdle, Deny, Means::ExitTwo, Declared),
    cell(CLAUDE_CODE, Event::TeammateIdle, Decision::Stop, Means::Continue, Declared),
    cell(CODEX, Event::UserPromptSubmit, Warn, Means::Context, Declared),
    cell(CODEX, Event::UserPromptSubmit, Deny, Means::Block, Measured),
    cell(CODEX, Event::UserPromptSubmit, Decision::Stop, Means::Continue, Declared),
    // Codex refuses `allow` without a new input, `ask` and `continue: false` at the next two, and then runs the tool.
    cell(CODEX, Event::PreToolUse, Rewrite, Means::UpdatedInput, Measured),
    cell(CODEX, Event::PreToolUse, Warn, Means::Context, Measured),
    cell(CODEX, Event::PreToolUse, Ask, Means::DenyInstead, Measured),
    cell(CODEX, Event::PreToolUse, Deny, Means::Permission, Measured),
    cell(CODEX, Event::PreToolUse, Decision::Stop, Means::DenyInstead, Declared),
    cell(CODEX, Event::PermissionRequest, Allow, Means::Behavior, Declared),
    cell(CODEX, Event::PermissionRequest, Warn, Means::SystemMessage, Declared),
    cell(CODEX, Event::PermissionRequest, Deny, Means::Behavior, Declared),
    cell(CODEX, Event::PermissionRequest, Decision::Stop, Means::DenyInstead, Declared),
    cell(CODEX, Event::PostToolUse, Warn, Means::Context, Measured),
    cell(CODEX, Event::PostToolUse, Deny, Means::Block, Declared),
    cell(CODEX, Event::PostToolUse, Decision::Stop, Means::Continue, Declared),
    cell(CODEX, Event::Stop, Warn, Means::SystemMessage, Declared),
    cell(CODEX, Event::Stop, Deny, Means::Block, Measured),
    cell(CODEX, Event::Stop, Decision::Stop, Means::Continue, Declared),
    cell(CODEX, Event::SubagentStop, Warn, Means::SystemMessage, Declared),
    cell(CODEX, Event::SubagentStop, Deny, Means::Block, Declared),
    cell(CODEX, Event::SubagentStop, Decision::Stop, Means::Continue, Declared),
];

/// By which output a decision reaches an agent at an event, if it does.
#[must_use]
pub fn means(agent: Agent, event: Event, decision: Decision) -> Option<Means> {
    let found = |cell: &&Cell| cell.agent == agent && cell.event == event && cell.decision == decision;
    TABLE.iter().find(found).map(|cell| cell.means)
}

/// Returns whether an agent has an event at all.
#[must_use]
pub fn has_event(agent: Agent, event: Event) -> bool {
    TABLE.iter().any(|cell| cell.agent == agent && cell.event == event)
}

/// Returns whether an agent accepts `suppressOutput` at an event. Codex refuses the whole answer where it does not.
#[must_use]
pub const fn may_suppress(agent: Agent, event: Event) -> bool {
    match agent {
        CLAUDE_CODE => true,
        CODEX => matches!(event, Event::UserPromptSubmit | Event::Stop | Event::SubagentStop),
        _ => false,
    }
}

/// Returns whether an agent accepts `updatedPermissions` at an event: new permission rules that come with an `allow`.
#[must_use]
pub const fn may_update_permissions(agent: Agent, event: Event) -> bool {
    matches!((agent, event), (CLAUDE_CODE, Event::PermissionRequest))
}

/// The decisions that work at an event for at least one of these agents, strictest last.
#[must_use]
pub fn decisions(agents: &[Agent], event: Event) -> Vec<Decision> {
    let works = |decision: &&Decision| agents.iter().any(|agent| means(*agent, event, **decision).is_some());
    Decision::ALL.iter().filter(works).copied().collect()
}

/// The table as the document shows it: a row per event and decision, a column per agent.
#[must_use]
pub fn markdown() -> String {
    let mut text = String::from("| event | decision | Claude Code | Codex |\n|---|---|---|---|\n");
    let shown = |agent, event, decision| {
        let found =
            TABLE.iter().find(|cell| cell.agent == agent && cell.event == event && cell.decision == decision);
        match found {
            None => "–".to_owned(),
            Some(cell) => match cell.known {
                Measured => cell.means.as_str().to_owned(),
                Declared => format!("{} ¹", cell.means.as_str()),
            },
        }
    };
    for event in Event::ALL {
        for decision in decisions(Agent::ALL, *event) {
            let (claude, codex) = (shown(CLAUDE_CODE, *event, decision), shown(CODEX, *event, decision));
            // Writing to a string cannot fail.
            writeln!(text, "| {event} | {decision} | {claude} | {codex} |").ok();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_stands_twice() {
        for (position, cell) in TABLE.iter().enumerate() {
            let same = |other: &Cell| {
                (other.agent, other.event, other.decision) == (cell.agent, cell.event, cell.decision)
            };
            assert!(!TABLE.iter().skip(position + 1).any(same), "{cell:?}");
        }
    }

    #[test]
    fn every_event_can_be_denied_wherever_it_exists() {
        for event in Event::ALL {
            assert!(has_event(CLAUDE_CODE, *event));
            for agent in Agent::ALL.iter().filter(|agent| has_event(**agent, *event)) {
                assert!(means(*agent, *event, Deny).is_some(), "{agent} {event}");
            }
        }
    }

    #[test]
    fn what_an_agent_cannot_do_becomes_stricter_and_never_weaker() {
        for cell in TABLE.iter().filter(|cell| cell.means == Means::DenyInstead) {
            assert!(matches!(cell.decision, Ask | Decision::Stop), "{cell:?}");
        }
    }
}
