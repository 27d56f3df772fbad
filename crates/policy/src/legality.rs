//! The decisions that work at each event, and their outputs: one table for the reader of rules, the writer of answers and the
//! document. Its columns stand in `clients`, one per agent.
//!
//! There is a cell only if the client acts on that output. What a client cannot do is done by the nearest
//! *stricter* thing that it can ([`AnswerForm::DenyInstead`]); where there is none, the cell is missing and the rule keeps
//! silent for that agent. So an answer is never weaker than the rule.

use std::fmt::Write as _;

use agent_tracer_event::Agent;

use crate::clients::{self, Client};
use crate::words::{Decision, Event};

/// The output by which a decision reaches an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AnswerForm {
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

impl AnswerForm {
    /// Returns the form as the document spells it.
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
    pub form: AnswerForm,
    /// The evidence.
    pub known: Provenance,
}

/// Returns every decision that works.
pub fn cells() -> impl Iterator<Item = Cell> {
    clients::ALL.iter().flat_map(cells_of)
}

fn cells_of(client: &'static Client) -> impl Iterator<Item = Cell> {
    let agent = client.agent;
    let cell = move |row: &(Event, Decision, AnswerForm, Provenance)| Cell {
        agent,
        event: row.0,
        decision: row.1,
        form: row.2,
        known: row.3,
    };
    client.cells.iter().map(cell)
}

fn find(agent: Agent, event: Event, decision: Decision) -> Option<Cell> {
    clients::find(agent)
        .into_iter()
        .flat_map(cells_of)
        .find(|cell| cell.event == event && cell.decision == decision)
}

/// Returns the output by which a decision reaches an agent at an event, if it does.
#[must_use]
pub fn answer_form(agent: Agent, event: Event, decision: Decision) -> Option<AnswerForm> {
    find(agent, event, decision).map(|cell| cell.form)
}

/// Returns whether an agent has an event at all.
#[must_use]
pub fn has_event(agent: Agent, event: Event) -> bool {
    clients::find(agent).into_iter().flat_map(cells_of).any(|cell| cell.event == event)
}

/// Returns whether an agent accepts `suppressOutput` at an event.
#[must_use]
pub fn may_suppress(agent: Agent, event: Event) -> bool {
    clients::find(agent).is_some_and(|client| client.may_suppress.contains(&event))
}

/// Returns whether an agent accepts `updatedPermissions` at an event: new permission rules that come with an `allow`.
#[must_use]
pub fn may_update_permissions(agent: Agent, event: Event) -> bool {
    clients::find(agent).is_some_and(|client| client.may_update_permissions.contains(&event))
}

/// Returns the decisions that work at an event for at least one of these agents, strictest last.
#[must_use]
pub fn decisions(agents: &[Agent], event: Event) -> Vec<Decision> {
    let works =
        |decision: &&Decision| agents.iter().any(|agent| answer_form(*agent, event, **decision).is_some());
    Decision::ALL.iter().filter(works).copied().collect()
}

/// Renders the table for the document: a row per event and decision, a column per agent.
#[must_use]
pub fn markdown() -> String {
    let mut text = String::from("| event | decision |");
    let names = Agent::ALL.iter().map(|agent| format!(" {} |", agent.name()));
    text.extend(names.chain(["\n|---|---|".to_owned()]));
    text.extend(Agent::ALL.iter().map(|_| "---|"));
    text.push('\n');
    let output = |agent, event, decision| match find(agent, event, decision) {
        None => "–".to_owned(),
        Some(cell) => match cell.known {
            Provenance::Measured => cell.form.as_str().to_owned(),
            Provenance::Declared => format!("{} ¹", cell.form.as_str()),
        },
    };
    for event in Event::ALL {
        for decision in decisions(Agent::ALL, *event) {
            // Writing to a string cannot fail.
            write!(text, "| {event} | {decision} |").ok();
            for agent in Agent::ALL {
                write!(text, " {} |", output(*agent, *event, decision)).ok();
            }
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_stands_twice() {
        let all: Vec<Cell> = cells().collect();
        for (position, cell) in all.iter().enumerate() {
            let same = |other: &Cell| {
                (other.agent, other.event, other.decision) == (cell.agent, cell.event, cell.decision)
            };
            assert!(!all.iter().skip(position + 1).any(same), "{cell:?}");
        }
    }

    #[test]
    fn every_event_can_be_denied_wherever_it_exists() {
        for event in Event::ALL {
            assert!(has_event(Agent::CLAUDE_CODE, *event));
            for agent in Agent::ALL.iter().filter(|agent| has_event(**agent, *event)) {
                assert!(answer_form(*agent, *event, Decision::Deny).is_some(), "{agent} {event}");
            }
        }
    }

    #[test]
    fn what_an_agent_cannot_do_becomes_stricter_and_never_weaker() {
        for cell in cells().filter(|cell| cell.form == AnswerForm::DenyInstead) {
            assert!(matches!(cell.decision, Decision::Ask | Decision::Stop), "{cell:?}");
        }
    }
}
