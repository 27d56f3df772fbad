//! The facts that may carry an attribute, as a set.

use crate::entry::Subject;
use crate::kind::Kind;

/// A set of subjects: kinds of events, tasks, turns and accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carriers(u64);

impl Carriers {
    /// Returns the set of one subject.
    #[must_use]
    pub const fn of(subject: Subject) -> Self {
        let bit = match subject {
            Subject::Event(kind) => kind as u32,
            // From the top, so that a new kind takes the next free bit and moves none of these.
            Subject::Task => 61,
            Subject::Turn => 62,
            Subject::Account => 63,
        };
        Self(1 << bit)
    }

    /// Returns the union of several sets.
    #[must_use]
    pub const fn union(sets: &[Self]) -> Self {
        let mut bits = 0;
        // A loop over a pattern: iterators cannot run in a constant, and these sets are all constants.
        let mut rest = sets;
        while let [first, others @ ..] = rest {
            bits |= first.0;
            rest = others;
        }
        Self(bits)
    }

    /// Returns whether the set holds a subject.
    #[must_use]
    pub const fn contains(self, subject: Subject) -> bool {
        self.0 & Self::of(subject).0 != 0
    }

    /// Returns whether the set holds all of another.
    #[must_use]
    pub const fn includes(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns whether the set holds any of another.
    #[must_use]
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the set without another.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

/// Every kind of event.
pub const EVENTS: Carriers = {
    let mut set = Carriers(0);
    let mut rest = Kind::ALL;
    while let [first, others @ ..] = rest {
        set = Carriers::union(&[set, Carriers::of(Subject::Event(*first))]);
        rest = others;
    }
    set
};

/// The kinds that a tool call may have, by its tool.
pub const CALLS: Carriers = Carriers::union(&[
    TOOL_USED,
    TERMINAL_COMMAND,
    MONITOR_OBSERVED,
    AGENT_ACTIVITY_LOGGED,
    PLAN_LOGGED,
    QUESTION_LOGGED,
    TODO_LOGGED,
    WORKTREE_CREATE,
    WORKTREE_REMOVE,
    CONTEXT_SAVED,
]);

/// The task itself.
pub const TASK: Carriers = Carriers::of(Subject::Task);
/// A turn.
pub const TURN: Carriers = Carriers::of(Subject::Turn);
/// An account that the agent keeps.
pub const ACCOUNT: Carriers = Carriers::of(Subject::Account);

macro_rules! one_kind {
    ($($name:ident = $kind:ident,)+) => {
        $(pub(super) const $name: Carriers = Carriers::of(Subject::Event(Kind::$kind));)+
    };
}

one_kind! {
    SESSION_STARTED = SessionStarted,
    SESSION_ENDED = SessionEnded,
    USER_MESSAGE = UserMessage,
    USER_PROMPT_EXPANSION = UserPromptExpansion,
    ASSISTANT_RESPONSE = AssistantResponse,
    ASSISTANT_COMMENTARY = AssistantCommentary,
    THOUGHT_LOGGED = ThoughtLogged,
    INSTRUCTIONS_LOADED = InstructionsLoaded,
    CONTEXT_SAVED = ContextSaved,
    CONTEXT_SNAPSHOT = ContextSnapshot,
    MODEL_SWITCHED = ModelSwitched,
    MODEL_REQUEST = ModelRequest,
    TOKEN_USAGE = TokenUsage,
    TOOL_USED = ToolUsed,
    TERMINAL_COMMAND = TerminalCommand,
    MONITOR_OBSERVED = MonitorObserved,
    AGENT_ACTIVITY_LOGGED = AgentActivityLogged,
    PLAN_LOGGED = PlanLogged,
    ACTION_LOGGED = ActionLogged,
    QUESTION_LOGGED = QuestionLogged,
    TODO_LOGGED = TodoLogged,
    PERMISSION_REQUEST = PermissionRequest,
    RULE_LOGGED = RuleLogged,
    SETUP_TRIGGERED = SetupTriggered,
    FILE_CHANGED = FileChanged,
    WORKTREE_CREATE = WorktreeCreate,
    WORKTREE_REMOVE = WorktreeRemove,
    TURN_INTERRUPTED = TurnInterrupted,
    TEAMMATE_IDLE = TeammateIdle,
    UNRECOGNISED = Unrecognised,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_bit_of_its_own() {
        for kind in Kind::ALL {
            let one = Carriers::of(Subject::Event(*kind));
            assert!(EVENTS.includes(one));
            assert_eq!(Kind::ALL.iter().filter(|other| one.contains(Subject::Event(**other))).count(), 1);
        }
        assert!(!EVENTS.contains(Subject::Task));
        assert!(Carriers::union(&[CALLS, TASK]).contains(Subject::Task));
        assert!(!CALLS.includes(EVENTS));
        assert_eq!(Carriers::union(&[CALLS, TASK]).without(CALLS), TASK);
    }
}
